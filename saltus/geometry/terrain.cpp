#include "saltus/geometry/terrain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr int most_heights = 1 << 25;  // indices of edges and triangles are ints
constexpr double in_plane = 1e-13;     // over the scale: a vertex this near a plane lies in it

void check(const Terrain& t) {
  if (t.nx < 2 || t.ny < 2)
    throw InputError(fmt::format("expected at least 2 x 2 heights, got {} x {}", t.nx, t.ny));
  if (static_cast<long long>(t.nx) * t.ny > most_heights)
    throw InputError(
        fmt::format("expected at most {} heights, got {} x {}", most_heights, t.nx, t.ny));
  if (t.heights.size() != static_cast<std::size_t>(t.nx) * static_cast<std::size_t>(t.ny))
    throw InputError(fmt::format("expected {} x {} heights, got {}", t.nx, t.ny, t.heights.size()));
  if (!(t.dx > 0 && t.dy > 0 && std::isfinite(t.width()) && std::isfinite(t.depth())))
    throw InputError(fmt::format("expected a positive spacing, got {} and {}", t.dx, t.dy));
  if (!t.origin.allFinite()) throw InputError("expected a finite origin");
  for (std::size_t k = 0; k < t.heights.size(); ++k)
    if (!std::isfinite(t.heights[k]))
      throw InputError(fmt::format("expected finite heights, got {} in row {}, column {}",
                                   t.heights[k], k / t.nx + 1, k % t.nx + 1));
}

// Triangle by triangle: vertices, and the triangles beyond its three sides.
struct Builder {
  Terrain& t;
  std::vector<int> queue{};

  [[nodiscard]] std::array<int, 3> corners(int triangle) const {
    const int c = triangle / 2, i = c % (t.nx - 1), j = c / (t.nx - 1);
    if (triangle % 2 == 0) return {t.vertex(i, j), t.vertex(i + 1, j), t.vertex(i + 1, j + 1)};
    return {t.vertex(i, j), t.vertex(i + 1, j + 1), t.vertex(i, j + 1)};
  }
  [[nodiscard]] int triangle(int i, int j, int half) const {  // -1: none
    if (i < 0 || j < 0 || i >= t.nx - 1 || j >= t.ny - 1) return -1;
    return 2 * t.cell(i, j) + half;
  }
  [[nodiscard]] std::array<int, 3> neighbours(int tri) const {
    const int c = tri / 2, i = c % (t.nx - 1), j = c / (t.nx - 1);
    if (tri % 2 == 0) return {triangle(i, j - 1, 1), triangle(i + 1, j, 1), tri + 1};
    return {triangle(i - 1, j, 0), triangle(i, j + 1, 0), tri - 1};
  }

  // Grows a facet from its first triangle: all that lies in that triangle's own plane, so that
  // a gently curved surface does not become one facet by small steps.
  void grow(int first) {
    const auto [a, b, c] = corners(first);
    const Vec3 n = (t.at(b) - t.at(a)).cross(t.at(c) - t.at(a)).normalized();
    const double offset = n.dot(t.at(a));
    const int id = static_cast<int>(t.facets.size());
    t.facets.push_back({n, offset});
    t.facet[first] = id;
    queue.assign(1, first);
    while (!queue.empty()) {
      const int at = queue.back();
      queue.pop_back();
      for (const int next : neighbours(at)) {
        if (next < 0 || t.facet[next] >= 0) continue;
        const auto v = corners(next);
        const bool inside = std::all_of(v.begin(), v.end(), [&](int k) {
          return std::abs(n.dot(t.at(k)) - offset) <= in_plane * t.scale;
        });
        if (!inside) continue;
        t.facet[next] = id;
        queue.push_back(next);
      }
    }
  }

  // The facets to the left and right of edge k of vertex (i, j), seen along it; -2: no such edge.
  [[nodiscard]] std::array<int, 2> sides(int i, int j, int k) const {
    const auto of = [&](int tri) { return tri < 0 ? -1 : t.facet[tri]; };
    if (k == 0 && i + 1 < t.nx) return {of(triangle(i, j, 0)), of(triangle(i, j - 1, 1))};
    if (k == 1 && j + 1 < t.ny) return {of(triangle(i - 1, j, 0)), of(triangle(i, j, 1))};
    if (k == 2 && i + 1 < t.nx && j + 1 < t.ny)
      return {of(triangle(i, j, 1)), of(triangle(i, j, 0))};
    return {-2, -2};
  }

  // Whether the facets of an edge bend down from each other: the far vertex of the left triangle
  // lies below the right one's plane.
  [[nodiscard]] bool is_convex(int i, int j, int k, int right) const {
    const Vec3 far = k == 0 ? t.at(i + 1, j + 1) : k == 1 ? t.at(i - 1, j) : t.at(i, j + 1);
    const Terrain::Facet& f = t.facets[right];
    return f.normal.dot(far) < f.offset;
  }

  void add_edge(int i, int j, int k) {
    const auto [left, right] = sides(i, j, k);
    if (left == -2 || left == right) return;
    const int v = t.vertex(i, j), step = k == 0 ? 1 : k == 1 ? t.nx : t.nx + 1;
    const bool before = k == 0 ? i > 0 : k == 1 ? j > 0 : i > 0 && j > 0;
    int& id = t.ridge[static_cast<std::size_t>(3) * v + k];
    if (before) {  // goes on straight between the same facets
      const int last = t.ridge[static_cast<std::size_t>(3) * (v - step) + k];
      if (last >= 0 && t.ridges[last].left == left && t.ridges[last].right == right) {
        id = last;
        t.ridges[last].head = v + step;
        return;
      }
    }
    id = static_cast<int>(t.ridges.size());
    const bool rim = left < 0 || right < 0;
    t.ridges.push_back({v, v + step, left, right, rim || is_convex(i, j, k, right)});
  }

  void build() {
    t.facet.assign(static_cast<std::size_t>(2) * (t.nx - 1) * (t.ny - 1), -1);
    t.ridge.assign(static_cast<std::size_t>(3) * t.nx * t.ny, -1);
    t.corner.assign(t.heights.size(), 0);
    for (int tri = 0; tri < static_cast<int>(t.facet.size()); ++tri)
      if (t.facet[tri] < 0) grow(tri);
    for (int j = 0; j < t.ny; ++j)
      for (int i = 0; i < t.nx; ++i)
        for (int k = 0; k < 3; ++k) add_edge(i, j, k);
    for (const Terrain::Ridge& r : t.ridges) t.corner[r.tail] = t.corner[r.head] = 1;
  }
};

}  // namespace

double Terrain::thickness() const { return (high - low) + std::max(width(), depth()); }

bool Terrain::height_at(double x, double y, double& z) const {
  constexpr double rounding = 1e-12;  // of the number of intervals: the rim belongs to the grid
  const double u = (x - origin.x()) / dx, w = (y - origin.y()) / dy;
  const double slack = rounding * std::max(nx, ny);
  if (!(u >= -slack && w >= -slack && u <= nx - 1 + slack && w <= ny - 1 + slack)) return false;
  const int i = std::clamp(static_cast<int>(u), 0, nx - 2),
            j = std::clamp(static_cast<int>(w), 0, ny - 2);
  const Facet& f = facets[facet[2 * cell(i, j) + (w - j > u - i ? 1 : 0)]];
  z = (f.offset - f.normal.x() * x - f.normal.y() * y) / f.normal.z();
  return true;
}

HeightField height_field(int nx, int ny, double dx, double dy, const Vec2& origin,
                         std::vector<double> heights) {
  auto made = std::make_shared<Terrain>();
  Terrain& t = *made;
  t.nx = nx;
  t.ny = ny;
  t.dx = dx;
  t.dy = dy;
  t.origin = origin;
  t.heights = std::move(heights);
  check(t);
  const auto [low, high] = std::minmax_element(t.heights.begin(), t.heights.end());
  t.low = *low;
  t.high = *high;
  t.scale = std::max({std::abs(t.low), std::abs(t.high), t.width(), t.depth(), std::abs(origin.x()),
                      std::abs(origin.y())});
  Builder{t}.build();
  return {std::move(made)};
}

HeightField height_field(int nx, int ny, double dx, double dy, std::vector<double> heights) {
  return height_field(nx, ny, dx, dy, {-0.5 * (nx - 1) * dx, -0.5 * (ny - 1) * dy},
                      std::move(heights));
}

}  // namespace saltus
