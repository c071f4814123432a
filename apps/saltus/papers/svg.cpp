#include "apps/saltus/papers/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace saltus::cli {

namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void pad(double share) {
    if (!(high > low)) {
      low -= 0.5;
      high += 0.5;
    }
    const double d = share * (high - low);
    low -= d;
    high += d;
  }
};

// A step of 1, 2 or 5 times a power of ten that gives about `count` ticks.
double tick_step(double span, int count) {
  const double raw = span / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (raw <= m * power) return m * power;
  return 10 * power;
}

std::string tick_text(double x, double step) {
  if (std::abs(x) < 1e-9 * step) x = 0;
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", x, std::min(digits, 6));
}

struct Frame {
  Range x, y;
  double left = 72, right = 16, top = 34, bottom = 52;
  double width, height;

  [[nodiscard]] double px(double v) const {
    return left + (v - x.low) / (x.high - x.low) * (width - left - right);
  }
  [[nodiscard]] double py(double v) const {
    return height - bottom - (v - y.low) / (y.high - y.low) * (height - top - bottom);
  }
  [[nodiscard]] double scale() const { return (width - left - right) / (x.high - x.low); }
};

Frame make_frame(const Plot& p) {
  Frame f;
  f.width = p.width;
  f.height = p.height;
  for (const Curve& c : p.curves)
    for (const auto& [a, b] : c.points) {
      f.x.add(a);
      f.y.add(b);
    }
  for (const Box& b : p.boxes) {
    for (const double v : {b.x1, b.x2}) f.x.add(v);
    for (const double v : {b.y1, b.y2}) f.y.add(v);
  }
  for (const Circle& c : p.circles)
    for (const int s : {-1, 1}) {
      f.x.add(c.x + s * c.r);
      f.y.add(c.y + s * c.r);
    }
  for (const Stadium& s : p.stadiums)
    for (const int k : {-1, 1}) {
      for (const double v : {s.x1, s.x2}) f.x.add(v + k * s.r);
      for (const double v : {s.y1, s.y2}) f.y.add(v + k * s.r);
    }
  for (const Arrow& a : p.arrows) {
    f.x.add(a.x + a.dx);
    f.y.add(a.y + a.dy);
  }
  if (f.x.low > f.x.high) f.x = f.y = {0, 1};
  f.x.pad(0.03);
  f.y.pad(0.06);
  if (p.x_max > p.x_min) f.x = {p.x_min, p.x_max};
  if (p.y_max > p.y_min) f.y = {p.y_min, p.y_max};
  if (p.equal_axes) {  // the height follows from one scale for both axes
    const double inner = (f.y.high - f.y.low) * f.scale();
    f.height = inner + f.top + f.bottom;
  }
  return f;
}

std::string axes(const Plot& p, const Frame& f) {
  std::string s;
  const double x0 = f.left, x1 = f.width - f.right, y0 = f.height - f.bottom, y1 = f.top;
  const auto title = [&] {
    s += fmt::format(R"(<text class="title" x="{:.1f}" y="20">{}</text>)", x0, escaped(p.title));
  };
  if (p.bare) {
    title();
    return s;
  }
  const auto ticks = [](const Range& r, int count, auto&& draw) {
    const double step = tick_step(r.high - r.low, count);
    for (double v = std::ceil(r.low / step) * step; v <= r.high + 1e-9 * step; v += step)
      draw(v, tick_text(v, step));
  };
  ticks(f.x, 8, [&](double v, const std::string& text) {
    s += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)"
                     R"(<text x="{0:.1f}" y="{3:.1f}" text-anchor="middle">{4}</text>)",
                     f.px(v), y0, y1, y0 + 16, text);
  });
  const int rows = std::max(2, static_cast<int>((y0 - y1) / 32));
  ticks(f.y, rows, [&](double v, const std::string& text) {
    s += fmt::format(R"(<line class="grid" x1="{1:.1f}" x2="{2:.1f}" y1="{0:.1f}" y2="{0:.1f}"/>)"
                     R"(<text x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5}</text>)",
                     f.py(v), x0, x1, x0 - 6, f.py(v) + 4, text);
  });
  s += fmt::format(R"(<rect class="frame" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                   x0, y1, x1 - x0, y0 - y1);
  s += fmt::format(R"(<text class="label" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                   0.5 * (x0 + x1), f.height - 14, escaped(p.x_label));
  s += fmt::format(
      R"x(<text class="label" transform="translate(16 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)x",
      0.5 * (y0 + y1), escaped(p.y_label));
  title();
  return s;
}

std::string curve(const Curve& c, const Frame& f) {
  std::string path;
  bool drawing = false;
  for (const auto& [x, y] : c.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) {
      drawing = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", f.px(x), f.py(y));
    drawing = true;
  }
  return fmt::format(R"(<path class="curve" d="{}" stroke="{}"{}/>)", path, c.colour,
                     c.dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", c.dash));
}

std::string arrow(const Arrow& a, const Frame& f) {
  const double x0 = f.px(a.x), y0 = f.py(a.y), x1 = f.px(a.x + a.dx), y1 = f.py(a.y + a.dy);
  const double length = std::hypot(x1 - x0, y1 - y0);
  if (length < 1) return "";
  const double ux = (x1 - x0) / length, uy = (y1 - y0) / length, head = std::min(8.0, length);
  return fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="{}" stroke-width="2"/>)"
                     R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z" fill="{}"/>)",
                     x0, y0, x1 - 0.7 * head * ux, y1 - 0.7 * head * uy, a.colour, x1, y1,
                     x1 - head * ux - 0.4 * head * uy, y1 - head * uy + 0.4 * head * ux,
                     x1 - head * ux + 0.4 * head * uy, y1 - head * uy - 0.4 * head * ux, a.colour);
}

std::string legend(const Plot& p, const Frame& f) {
  std::string s;
  double x = f.width - f.right - 4;
  // From the right end of the title's line, last curve first.
  for (auto c = p.curves.rbegin(); c != p.curves.rend(); ++c) {
    if (c->name.empty()) continue;
    x -= 7.0 * static_cast<double>(c->name.size()) + 4;
    s += fmt::format(R"(<text x="{:.1f}" y="20">{}</text>)", x, escaped(c->name));
    s += fmt::format(R"(<path class="curve" d="M{:.1f} 16h20" stroke="{}"{}/>)", x - 26, c->colour,
                     c->dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", c->dash));
    x -= 40;
  }
  return s;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string s;
  for (const char c : text) {
    if (c == '<')
      s += "&lt;";
    else if (c == '>')
      s += "&gt;";
    else if (c == '&')
      s += "&amp;";
    else if (c == '"')
      s += "&quot;";
    else
      s += c;
  }
  return s;
}

std::string svg(const Plot& p) {
  const Frame f = make_frame(p);
  std::string s = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-label="{2}">)"
      R"(<style>text{{font:12px system-ui,sans-serif;fill:currentColor}}.label{{font-size:13px}})"
      R"(.title{{font-size:14px;font-weight:600}}.grid{{stroke:#8884;stroke-width:1}})"
      R"(.frame{{fill:none;stroke:#888}}.curve{{fill:none;stroke-width:1.8;stroke-linejoin:round}}</style>)",
      f.width, f.height, escaped(p.title));
  s += axes(p, f);
  s += fmt::format(
      R"x(<clipPath id="clip{0}"><rect x="{1:.1f}" y="{2:.1f}" width="{3:.1f}" height="{4:.1f}"/></clipPath><g clip-path="url(#clip{0})">)x",
      std::hash<std::string>{}(p.title), f.left, f.top, f.width - f.left - f.right,
      f.height - f.top - f.bottom);
  for (const Box& b : p.boxes)
    s += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>)",
                     f.px(std::min(b.x1, b.x2)), f.py(std::max(b.y1, b.y2)),
                     f.px(std::max(b.x1, b.x2)) - f.px(std::min(b.x1, b.x2)),
                     f.py(std::min(b.y1, b.y2)) - f.py(std::max(b.y1, b.y2)), b.fill);
  for (const Circle& c : p.circles)
    s += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}"/>)", f.px(c.x),
                     f.py(c.y), c.r * f.scale(), c.fill);
  for (const Stadium& c : p.stadiums)
    s += fmt::format(
        R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="{}" stroke-width="{:.1f}" stroke-linecap="round" opacity="0.75"/>)",
        f.px(c.x1), f.py(c.y1), f.px(c.x2), f.py(c.y2), c.fill, 2 * c.r * f.scale());
  for (const Curve& c : p.curves) s += curve(c, f);
  for (const Arrow& a : p.arrows) s += arrow(a, f);
  for (const Label& l : p.labels)
    s += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", f.px(l.x),
                     f.py(l.y) + 4, escaped(l.text));
  return s + "</g>" + legend(p, f) + "</svg>\n";
}

}  // namespace saltus::cli
