#include "apps/saltus/modes_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "apps/saltus/papers/svg.h"

namespace saltus::cli {

namespace {

constexpr std::size_t most_nodes = 32;  // more cannot be told apart
constexpr std::size_t most_lines = 40;  // of the legend
constexpr std::array<const char*, 8> colours = {"#1f6fc4", "#d2562a", "#2d8a4e", "#8a4fc0",
                                                "#b58a00", "#c23b78", "#0f8aa0", "#6b6f76"};

struct Point {
  double x = 0, y = 0;
  Point operator+(const Point& o) const { return {x + o.x, y + o.y}; }
  Point operator-(const Point& o) const { return {x - o.x, y - o.y}; }
  Point operator*(double s) const { return {s * x, s * y}; }
  [[nodiscard]] double length() const { return std::hypot(x, y); }
  [[nodiscard]] Point left() const { return {y, -x}; }  // on a page, where y points down
};

struct Node {
  int mode = -1;
  Point at, out;  // `out`: away from the middle, unit
  double radius = 0;
};

// Those that last longest, in the order of their first appearance.
std::vector<int> chosen(const ModeGraph& g) {
  std::vector<int> all(g.modes.size());
  std::iota(all.begin(), all.end(), 0);
  if (all.size() <= most_nodes) return all;
  std::stable_sort(all.begin(), all.end(),
                   [&](int a, int b) { return g.modes[a].duration > g.modes[b].duration; });
  all.resize(most_nodes);
  std::sort(all.begin(), all.end());
  return all;
}

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

class Picture {
 public:
  Picture(const ModeHistory& h, const ModeGraph& g) : history_(h), graph_(g) {
    const std::vector<int> modes = chosen(g);
    const auto n = static_cast<double>(modes.size());
    ring_ = n < 2 ? 0 : std::max(130.0, 62 * n / (2 * std::numbers::pi));
    middle_ = {ring_ + 190, ring_ + 150};
    double longest = 0;
    for (const int m : modes) longest = std::max(longest, g.modes[m].duration);
    of_.assign(g.modes.size(), -1);
    for (const int m : modes) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(nodes_.size()) / n;
      Node node;
      node.mode = m;
      node.out = {std::sin(angle), -std::cos(angle)};
      node.at = middle_ + node.out * ring_;
      // The area shows how long the mode lasted.
      node.radius = 10 + 16 * std::sqrt(longest > 0 ? g.modes[m].duration / longest : 0);
      of_[m] = static_cast<int>(nodes_.size());
      nodes_.push_back(node);
    }
    // As in the viewer's strip: grey where nothing holds.
    std::size_t used = 0;
    for (const SystemMode& m : g.modes)
      colours_.push_back(m.name == "{}" ? "#a4adb6" : colours[used++ % colours.size()]);
    for (const ModeTransition& t : g.transitions)
      if (shown(t)) most_ = std::max(most_, t.count);
  }

  std::string svg(const std::string& title) const {
    const std::vector<std::string> lines = legend();
    const double height = std::max(2 * middle_.y, 80 + 18.0 * static_cast<double>(lines.size()));
    std::string s = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" )"
        R"(height="{1:.0f}" role="img" aria-label="Transition graph of modes: {2}">)"
        R"(<style>text{{font:13px system-ui,sans-serif;fill:currentColor}})"
        R"(.title{{font-size:15px;font-weight:600}}.note{{font-size:12px}})"
        R"(.name{{font-weight:600}}.edge{{fill:none;stroke:#77808a}}.head{{fill:#77808a}}</style>)",
        2 * middle_.x + 430, height, escaped(title));
    s += fmt::format(R"(<text class="title" x="20" y="28">{}</text>)", escaped(title));
    for (const ModeTransition& t : graph_.transitions)
      if (shown(t)) s += t.from == t.to ? loop(t) : edge(t);
    for (const Node& n : nodes_) s += node(n);
    double y = 56;
    for (const std::string& line : lines) {
      s += fmt::format(R"(<text class="note" x="{:.0f}" y="{:.0f}">{}</text>)", 2 * middle_.x, y,
                       escaped(line));
      y += 18;
    }
    return s + "</svg>\n";
  }

 private:
  bool shown(const ModeTransition& t) const { return of_[t.from] >= 0 && of_[t.to] >= 0; }
  double width(const ModeTransition& t) const {
    return 1.2 + 4 * std::sqrt(static_cast<double>(t.count - 1) / std::max(1, most_ - 1));
  }

  static std::string head(Point tip, Point along, double size) {
    const Point back = tip - along * size, side = along.left() * (0.42 * size);
    return fmt::format(R"(<path class="head" d="M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z"/>)",
                       tip.x, tip.y, back.x + side.x, back.y + side.y, back.x - side.x,
                       back.y - side.y);
  }

  std::string tip_text(const ModeTransition& t) const {
    std::string causes;
    for (std::size_t i = 0; i < t.causes.size() && i < 6; ++i)
      causes += (i == 0 ? "" : " | ") + t.causes[i];
    if (t.causes.size() > 6) causes += fmt::format(" | {} more", t.causes.size() - 6);
    return escaped(fmt::format("{} to {}: {} times, {} of them impacts; {}",
                               graph_.modes[t.from].name, graph_.modes[t.to].name, t.count,
                               t.impacts, causes));
  }

  // An arc that bends to its left: there and back do not cover each other.
  std::string edge(const ModeTransition& t) const {
    const Node &a = nodes_[of_[t.from]], &b = nodes_[of_[t.to]];
    const Point way = b.at - a.at;
    const Point control = (a.at + b.at) * 0.5 + way.left() * 0.18;
    const auto toward = [](Point from, Point to) {
      return (to - from) * (1 / (to - from).length());
    };
    const Point start = a.at + toward(a.at, control) * (a.radius + 2);
    const Point along = toward(control, b.at), end = b.at - along * (b.radius + 3);
    const double size = 8 + 1.5 * width(t);
    const Point stop = end - along * (0.8 * size);
    const Point label = start * 0.25 + control * 0.5 + stop * 0.25 + toward(a.at, b.at).left() * 9;
    return fmt::format(
        R"(<g><title>{}</title><path class="edge" stroke-width="{:.2f}" d="M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}"/>{}<text class="note" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text></g>)",
        tip_text(t), width(t), start.x, start.y, control.x, control.y, stop.x, stop.y,
        head(end, along, size), label.x, label.y + 4, t.count);
  }

  std::string loop(const ModeTransition& t) const {
    const Node& n = nodes_[of_[t.from]];
    const Point out = n.out, side = out.left();
    const auto rim = [&](double s) {  // a point of the circle, 35 degrees off the outward line
      return n.at + (out * 0.82 + side * (0.57 * s)) * (n.radius + 3);
    };
    const Point start = rim(1), end = rim(-1), far = n.at + out * (n.radius + 46);
    const Point c1 = far + side * 34, c2 = far - side * 34;
    const Point along = (end - c2) * (1 / (end - c2).length());
    const double size = 8 + 1.5 * width(t);
    const Point stop = end - along * (0.8 * size), label = n.at + out * (n.radius + 48);
    return fmt::format(
        R"(<g><title>{}</title><path class="edge" stroke-width="{:.2f}" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"/>{}<text class="note" text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text></g>)",
        tip_text(t), width(t), start.x, start.y, c1.x, c1.y, c2.x, c2.y, stop.x, stop.y,
        head(end, along, size), label.x, label.y + 4, t.count);
  }

  bool has_loop(int mode) const {
    return std::any_of(graph_.transitions.begin(), graph_.transitions.end(),
                       [&](const ModeTransition& t) { return t.from == mode && t.to == mode; });
  }

  std::string node(const Node& n) const {
    const SystemMode& m = graph_.modes[n.mode];
    std::string s =
        fmt::format(R"(<g><title>{}</title><circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}"/>)",
                    escaped(fmt::format("{}: {} times, {:.6g} s", m.name, m.count, m.duration)),
                    n.at.x, n.at.y, n.radius, colours_[n.mode]);
    if (n.mode == graph_.stretches.front().mode)
      s += fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="none" stroke="currentColor" stroke-width="1.5"/>)",
          n.at.x, n.at.y, n.radius + 4);
    // Beside the circle, away from the middle; beyond a loop.
    const double gap = n.radius + (has_loop(n.mode) ? 62 : 14);
    const Point at = n.at + n.out * gap;
    const char* anchor = n.out.x > 0.3 ? "start" : n.out.x < -0.3 ? "end" : "middle";
    const double down = n.out.y > 0.3 ? 12 : n.out.y < -0.3 ? -14 : 0;
    s += fmt::format(
        R"(<text class="name" text-anchor="{0}" x="{1:.1f}" y="{2:.1f}">{3}</text><text class="note" text-anchor="{0}" x="{1:.1f}" y="{4:.1f}">{5:.4g} s</text></g>)",
        anchor, at.x, at.y + down, escaped(cut(m.name, 22)), at.y + down + 15, m.duration);
    return s;
  }

  std::vector<std::string> legend() const {
    std::vector<std::string> lines = {
        "Circle: a mode, the set of what holds ({}: nothing).",
        "~x: the contact x slips. Area: how long it lasted in all.",
        "Ring: the first mode.",
        "Arrow: a change of mode; its number and width: how often.",
        "Loop: impacts that leave the mode as it was.",
        fmt::format("{} of {} modes are shown{}", nodes_.size(), graph_.modes.size(),
                    nodes_.size() == graph_.modes.size() ? "." : ", those that last longest."),
        ""};
    for (const ModePart& p : history_.parts) {
      if (lines.size() == most_lines) {
        lines.emplace_back("... (saltus modes lists them all)");
        break;
      }
      if (p.label != p.name) lines.push_back(cut(fmt::format("{}: {}", p.label, p.name), 60));
    }
    return lines;
  }

  const ModeHistory& history_;
  const ModeGraph& graph_;
  std::vector<Node> nodes_;
  std::vector<int> of_;  // node of each mode; -1: left out
  std::vector<const char*> colours_;
  double ring_ = 0;
  Point middle_;
  int most_ = 1;
};

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + "\"";
}

}  // namespace

std::string modes_svg(const ModeHistory& h, const ModeGraph& g, const std::string& title) {
  return Picture(h, g).svg(title);
}

std::string modes_dot(const ModeHistory&, const ModeGraph& g, const std::string& title) {
  std::string s = fmt::format("digraph modes {{\n  label={}\n", quoted(title));
  for (std::size_t i = 0; i < g.modes.size(); ++i) {
    const SystemMode& m = g.modes[i];
    s += fmt::format("  m{} [label={}{}]\n", i,
                     quoted(fmt::format("{}\n{} x, {:.4g} s", m.name, m.count, m.duration)),
                     static_cast<int>(i) == g.stretches.front().mode ? ", peripheries=2" : "");
  }
  for (const ModeTransition& t : g.transitions)
    s += fmt::format("  m{} -> m{} [label={}, weight={}]\n", t.from, t.to,
                     quoted(fmt::format("{}", t.count)), t.count);
  return s + "}\n";
}

}  // namespace saltus::cli
