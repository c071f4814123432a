#include "apps/saltus/shape_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/saltus/papers/svg.h"

namespace saltus::cli {

namespace {

// Blue below zero, white at it, red above; gray where there is no number.
std::string colour(double share) {
  if (!std::isfinite(share)) return "#8b949e";
  const double s = std::clamp(share, -1.0, 1.0), rest = 1 - std::abs(s);
  const int light = static_cast<int>(255 * rest);
  return s < 0 ? fmt::format("#{:02x}{:02x}ff", light, light)
               : fmt::format("#ff{:02x}{:02x}", light, light);
}

struct Map {
  std::string title;
  std::function<double(const FormPair&)> value;
};

// The largest value that is not one of the hundredth part near singular shapes.
double scale_of(const HeightMap& heights, const Map& map) {
  std::vector<double> all;
  for (const FormPair& f : heights.cells)
    if (const double x = std::abs(map.value(f)); std::isfinite(x)) all.push_back(x);
  if (all.empty()) return 0;
  const auto at =
      all.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

Plot draw(const ShapeReport& report, const HeightMap& heights, const Map& map) {
  const ShapeSystem& s = report.system;
  const ShapePlane& plane = *s.plane;
  const double scale = scale_of(heights, map);
  Plot p;
  p.width = 520;
  p.height = 500;
  p.title = fmt::format("{}, colours to {:.3g}", map.title, scale);
  p.x_label = s.space.variables[plane.i].name;
  p.y_label = s.space.variables[plane.j].name;
  p.x_min = plane.lower[0], p.x_max = plane.upper[0];
  p.y_min = plane.lower[1], p.y_max = plane.upper[1];
  const double hx = 0.5 * (p.x_max - p.x_min) / heights.nx,
               hy = 0.5 * (p.y_max - p.y_min) / heights.ny;
  for (int j = 0; j < heights.ny; ++j)
    for (int i = 0; i < heights.nx; ++i) {
      const double x = heights.x[i], y = heights.y[j];
      const double value = map.value(heights.cells[static_cast<std::size_t>(j) * heights.nx + i]);
      // Rounding is no height: an even white.
      const double share = scale > 1e-12 ? value / scale : value * 0;
      p.boxes.push_back({x - hx, y - hy, x + hx, y + hy, colour(share)});
    }
  const char* const dashes[] = {"", "6 3", "2 2", "8 3 2 3"};
  std::size_t k = 0;
  for (const NamedPath& g : s.gaits) {
    Curve c;
    c.name = g.name;
    c.colour = "#24292f";
    c.dash = dashes[k++ % 4];
    for (int i = 0; i <= 256; ++i) {
      const Vec r = shape_at(g.shape, g.shape.start + (g.shape.end - g.shape.start) * i / 256);
      c.points.emplace_back(r[plane.i], r[plane.j]);
    }
    p.curves.push_back(c);
  }
  return p;
}

}  // namespace

std::string shape_picture(const ShapeReport& report, const std::string& title,
                          const ShapeGrid& grid) {
  const ShapeSystem& s = report.system;
  const HeightMap& heights = grid.heights;
  std::vector<Map> maps;
  maps.reserve(s.space.n() + 1);
  for (int k = 0; k < s.space.n(); ++k)
    maps.push_back(
        {fmt::format("F, {}", s.space.components[k]), [k](const FormPair& f) { return f.F[k]; }});
  if (s.medium.kind == ConnectionKind::rows)
    maps.push_back(
        {"least/largest singular value of A", [](const FormPair& f) { return f.ratio; }});
  constexpr int above = 30;
  std::string body;
  int y = above;
  for (const Map& m : maps) {
    const Plot p = draw(report, heights, m);
    body += fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">{}</svg>\n", y, p.width, p.height,
                        svg(p));
    y += p.height;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"520\" height=\"{0}\" "
      "viewBox=\"0 0 520 {0}\" font-family=\"system-ui,sans-serif\">\n"
      "<rect width=\"520\" height=\"{0}\" fill=\"white\"/>\n"
      "<text x=\"16\" y=\"22\" font-size=\"14\" font-weight=\"600\">{1}</text>\n{2}</svg>\n",
      y, escaped(fmt::format("{}: {} connection", title, name_of(s.medium.kind))), body);
}

}  // namespace saltus::cli
