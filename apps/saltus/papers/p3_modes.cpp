// Modes of a straight worm as pictures: when each mass is held, and which mode follows which.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "apps/saltus/papers/p3.h"

namespace saltus::cli {

namespace {

// "{1}" of runner1: the paper's names of modes.
std::string mode_name(const ModeSample& m) {
  std::string text;
  for (const std::string& member : m.members)
    text += (text.empty() ? "" : ",") + member.substr(member.find_first_of("0123456789"));
  return "{" + text + "}";
}

// The end of change i.
double end_of(const Study& s, std::size_t i) {
  return i + 1 < s.modes().size() ? s.modes()[i + 1].t : s.scene().end;
}

Plot timeline(const Study& s) {
  Plot p = plot_over_time("Fig. 4.1: which mass is held when", "mass", "t");
  p.height = 190;
  const int masses = static_cast<int>(s.scene().worm->spec.masses.size());
  for (std::size_t i = 0; i < s.modes().size(); ++i)
    for (const std::string& member : s.modes()[i].members) {
      const int k = std::stoi(member.substr(member.find_first_of("0123456789")));
      p.boxes.push_back({s.modes()[i].t, k - 0.3, end_of(s, i), k + 0.3, colour_of(k - 1)});
    }
  p.x_min = 0;
  p.x_max = s.scene().end;
  p.y_min = 0.4;
  p.y_max = masses + 0.6;
  return p;
}

// Nodes on a circle, an arrow for every transition with how often it is taken.
Plot graph(const Study& s) {
  std::map<std::string, double> time;                        // spent in each mode
  std::map<std::pair<std::string, std::string>, int> taken;  // transitions
  std::string last;
  for (std::size_t i = 0; i < s.modes().size(); ++i) {
    const std::string name = mode_name(s.modes()[i]);
    time[name] += end_of(s, i) - s.modes()[i].t;
    if (i > 0 && name != last) ++taken[{last, name}];
    last = name;
  }
  Plot p;
  p.title = "Fig. 4.1: transition graph";
  p.equal_axes = p.bare = true;
  std::map<std::string, std::pair<double, double>> at;
  constexpr double size = 0.42, ring = 1.1;
  for (const auto& [name, spent] : time) {
    const double angle = std::numbers::pi / 2 + 2 * std::numbers::pi *
                                                    static_cast<double>(at.size()) /
                                                    static_cast<double>(time.size());
    at[name] = {2 * ring * std::cos(angle), ring * std::sin(angle)};
    const auto [x, y] = at[name];
    p.circles.push_back({x, y, size, "#8b949e55"});
    p.labels.push_back({x, y + 0.1, name});
    p.labels.push_back({x, y - 0.18, fmt::format("{:.2f}", spent)});
  }
  for (const auto& [edge, count] : taken) {
    const auto [x0, y0] = at[edge.first];
    const auto [x1, y1] = at[edge.second];
    const double length = std::hypot(x1 - x0, y1 - y0);
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length, side = 0.13;
    const double x = x0 + size * ux - side * uy, y = y0 + size * uy + side * ux;
    p.arrows.push_back({x, y, (length - 2 * size) * ux, (length - 2 * size) * uy, colour_of(0)});
    p.labels.push_back({x + 0.5 * (length - 2 * size) * ux - side * uy,
                        y + 0.5 * (length - 2 * size) * uy + side * ux, fmt::format("{}", count)});
  }
  p.x_min = -4;
  p.x_max = 4;
  return p;
}

}  // namespace

void add_mode_figures(Page& page, const Study& s) {
  page.plot(timeline(s), "Modes by the sets of held masses; none held in between.", s.command());
  page.plot(graph(s),
            "The paper: the discrete states could be seen as the nodes of a transition graph. In "
            "the nodes the time spent, at the arrows how often.",
            s.command());
  const double held[][2] = {{0, 1.570796}, {4.027405, 4.682574}, {12.963180, 13.073134}};
  const char* const names[] = {"{1}", "{2}", "{2}"};
  std::vector<FigureRow> rows;
  std::size_t k = 0;
  for (std::size_t i = 0; i < s.modes().size(); ++i) {
    if (s.modes()[i].members.empty()) continue;
    const bool same = k < 3 && mode_name(s.modes()[i]) == names[k];
    page.judge(same);
    if (!same) break;
    if (k > 0)
      rows.push_back(
          {fmt::format("{} from", names[k]), s.modes()[i].t, held[k][0], "recomputed", 1e-6, ""});
    rows.push_back(
        {fmt::format("{} to", names[k]), end_of(s, i), held[k][1], "recomputed", 1e-6, ""});
    ++k;
  }
  page.judge(k == 3);
  page.table(rows, s.command());
}

}  // namespace saltus::cli
