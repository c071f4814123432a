#include "apps/saltus/capability_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace saltus::cli {

namespace {

Curve closed_curve(const char* name, const std::vector<Vec2>& corners, const char* colour,
                   const char* dash) {
  Curve c{name, {}, colour, dash};
  for (const Vec2& p : corners) c.points.emplace_back(p[0], p[1]);
  if (!corners.empty()) c.points.push_back(c.points.front());
  return c;
}

std::string page(const std::string& title, const std::vector<Plot>& plots) {
  constexpr int above = 30;
  int y = above;
  std::string body = fmt::format(
      "<text x=\"72\" y=\"22\" font-size=\"14\" font-weight=\"600\">{}</text>\n", escaped(title));
  for (const Plot& p : plots) {
    body += fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">{}</svg>\n", y, p.width, p.height,
                        svg(p));
    y += p.height;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{0}\" "
      "viewBox=\"0 0 720 {0}\" font-family=\"system-ui,sans-serif\">\n"
      "<rect width=\"720\" height=\"{0}\" fill=\"white\"/>\n{1}</svg>\n",
      y, body);
}

// Dark blue over green to yellow.
std::string shade(double share) {
  constexpr std::array<std::array<double, 3>, 5> stops = {
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto k = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  std::array<int, 3> c{};
  for (std::size_t i = 0; i < 3; ++i)
    c[i] = static_cast<int>(
        std::lround(stops[k][i] + (at - static_cast<double>(k)) * (stops[k + 1][i] - stops[k][i])));
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

Plot map_of(const CapabilityField& f, const std::vector<Capability>& values, const char* what) {
  Plot p;
  p.x_label = f.x.name;
  p.y_label = f.y.name;
  double least = infinity, most = -infinity;
  for (const Capability& c : values)
    if (c.feasible) least = std::min(least, c.value), most = std::max(most, c.value);
  p.title = most >= least ? fmt::format("{}: {:.4g} (dark) to {:.4g} m/s^2", what, least, most)
                          : fmt::format("{}: infeasible everywhere", what);
  const double dx = (f.x.to - f.x.from) / (f.x.count - 1),
               dy = (f.y.to - f.y.from) / (f.y.count - 1);
  for (int j = 0; j < f.y.count; ++j)
    for (int i = 0; i < f.x.count; ++i) {
      const Capability& c = values[static_cast<std::size_t>(j) * f.x.count + i];
      if (!c.feasible) continue;
      const double x = f.x.from + i * dx, y = f.y.from + j * dy;
      p.boxes.push_back({x - 0.5 * dx, y - 0.5 * dy, x + 0.5 * dx, y + 0.5 * dy,
                         shade(most > least ? (c.value - least) / (most - least) : 1)});
    }
  p.x_min = f.x.from - 0.5 * dx;
  p.x_max = f.x.to + 0.5 * dx;
  p.y_min = f.y.from - 0.5 * dy;
  p.y_max = f.y.to + 0.5 * dy;
  return p;
}

}  // namespace

std::vector<Plot> outline_plots(const CapabilityReport& report) {
  std::vector<Plot> plots;
  for (const auto& [a, b] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    const Vec3 x = Vec3::Unit(a), y = Vec3::Unit(b);
    Plot p;
    p.equal_axes = true;
    p.x_label = fmt::format("a_{} [m/s^2]", "xyz"[a]);
    p.y_label = fmt::format("a_{} [m/s^2]", "xyz"[b]);
    p.curves.push_back(closed_curve("torques alone", capability_outline(report.stance, x, y, false),
                                    "#57606a", "4 3"));
    p.curves.push_back(closed_curve("with the forces it is held by",
                                    capability_outline(report.stance, x, y, true), "#1f6feb", ""));
    plots.push_back(std::move(p));
  }
  return plots;
}

std::vector<Plot> field_plots(const CapabilityField& field) {
  return {map_of(field, field.directional, "directional"),
          map_of(field, field.held, "with the forces it is held by")};
}

std::string outline_picture(const CapabilityReport& report, const std::string& title) {
  return page(title, outline_plots(report));
}

std::string field_picture(const CapabilityField& field, const std::string& title) {
  return page(title, field_plots(field));
}

}  // namespace saltus::cli
