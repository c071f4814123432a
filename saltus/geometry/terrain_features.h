// The features of a terrain near a body: which cells, and the regions and normal cones of facets,
// ridges and corners.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "saltus/geometry/contact_points.h"
#include "saltus/geometry/terrain.h"

namespace saltus {

// Over the terrain's scale: below, the direction to a point is rounding; and a foot this far beyond
// a side still lies on the facet (a point found twice is dropped, a point lost is a hole).
inline constexpr double terrain_rounding = 1e-12, terrain_overlap = 1e-9;

class TerrainFeatures {
 public:
  explicit TerrainFeatures(const Terrain& terrain) : t(terrain) {}

  struct Range {  // of vertices, both ends included; cells: up to the last but one
    int i0 = 0, i1 = -1, j0 = 0, j1 = -1;
  };
  // The cells that meet a box; empty beside the grid.
  [[nodiscard]] Range cells(const Aabb& box) const {
    const auto index = [](double x, int most) {
      return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(most)));
    };
    const double u0 = (box.low.x() - t.origin.x()) / t.dx,
                 u1 = (box.high.x() - t.origin.x()) / t.dx,
                 w0 = (box.low.y() - t.origin.y()) / t.dy,
                 w1 = (box.high.y() - t.origin.y()) / t.dy;
    if (!(u1 >= 0 && w1 >= 0 && u0 <= t.nx - 1 && w0 <= t.ny - 1)) return {};
    return {index(std::floor(u0), t.nx - 2), index(std::ceil(u1), t.nx - 1),
            index(std::floor(w0), t.ny - 2), index(std::ceil(w1), t.ny - 1)};
  }

  // visit(i, j, half, facet) of every triangle.
  template <class Visit>
  void triangles(const Range& r, const Visit& visit) const {
    for (int j = r.j0; j < std::max(r.j1, r.j0 + 1) && r.j1 >= r.j0; ++j)
      for (int i = r.i0; i < std::max(r.i1, r.i0 + 1); ++i)
        for (int half = 0; half < 2; ++half) visit(i, j, half, t.facet[2 * t.cell(i, j) + half]);
  }
  // visit(ridge) of every convex ridge with an edge in the range, once.
  template <class Visit>
  void ridges(const Range& r, const Visit& visit) const {
    constexpr int di[3] = {1, 0, 1}, dj[3] = {0, 1, 1};
    for (int j = r.j0; j <= r.j1; ++j)
      for (int i = r.i0; i <= r.i1; ++i)
        for (int k = 0; k < 3; ++k) {
          const int id = edge(i, j, k);
          if (id < 0 || !t.ridges[id].convex) continue;
          const int pi = i - di[k], pj = j - dj[k];
          if (pi >= r.i0 && pj >= r.j0 && edge(pi, pj, k) == id) continue;  // seen before
          visit(id);
        }
  }
  template <class Visit>
  void corners(const Range& r, const Visit& visit) const {
    for (int j = r.j0; j <= r.j1; ++j)
      for (int i = r.i0; i <= r.i1; ++i)
        if (t.corner[t.vertex(i, j)]) visit(i, j);
  }

  // Whether a foot at (x, y) lies on the triangle. Beyond the side to a valley the facet goes on
  // for points as deep in the ground (g < 0) as they are beyond: there both sides act.
  [[nodiscard]] bool on_triangle(int i, int j, int half, double x, double y, double g) const {
    const double u = (x - t.origin.x()) / t.dx - i, w = (y - t.origin.y()) / t.dy - j;
    const auto slack = [&](int id) {
      if (id < 0) return terrain_overlap * t.scale;
      if (t.ridges[id].convex) return terrain_rounding * t.scale;
      return std::max(terrain_overlap * t.scale, -g);
    };
    const double diagonal = slack(edge(i, j, 2)) * (1 / t.dx + 1 / t.dy);
    if (half == 0)
      return w >= -slack(edge(i, j, 0)) / t.dy && u <= 1 + slack(edge(i + 1, j, 1)) / t.dx &&
             u - w >= -diagonal;
    return u >= -slack(edge(i, j, 1)) / t.dx && w <= 1 + slack(edge(i, j + 1, 0)) / t.dy &&
           w - u >= -diagonal;
  }

  struct Side {        // a ridge's own frame
    Vec3 tail, along;  // unit
    double length = 0;
    Vec3 into[2];              // into the facets, across the ridge; zero beyond the rim
    Vec3 out = Vec3::UnitZ();  // between the facets' normals
  };
  [[nodiscard]] Side side(int id) const {
    const Terrain::Ridge& r = t.ridges[id];
    Side s;
    s.tail = t.at(r.tail);
    const Vec3 d = t.at(r.head) - s.tail;
    s.length = d.norm();
    s.along = d / s.length;
    s.into[0] = s.into[1] = Vec3::Zero();
    s.out.setZero();
    if (r.left >= 0) add(s, 0, t.facets[r.left].normal, 1);
    if (r.right >= 0) add(s, 1, t.facets[r.right].normal, -1);
    if (r.left < 0 || r.right < 0) s.out -= s.into[0] + s.into[1];
    return s;
  }
  // Whether d lies in the normal cone, up to `slack` (an angle times |d|).
  [[nodiscard]] static bool in_cone(const Side& s, const Vec3& d, double slack) {
    return d.dot(s.into[0]) <= slack && d.dot(s.into[1]) <= slack;
  }
  [[nodiscard]] bool in_corner_cone(int i, int j, const Vec3& d, double slack) const {
    constexpr int di[6] = {1, 1, 0, -1, -1, 0}, dj[6] = {0, 1, 1, 0, -1, -1};
    const Vec3 v = t.at(i, j);
    for (int k = 0; k < 6; ++k) {
      const int a = i + di[k], b = j + dj[k];
      if (a < 0 || b < 0 || a >= t.nx || b >= t.ny) continue;
      const Vec3 e = t.at(a, b) - v;
      if (!(d.dot(e) <= slack * e.norm())) return false;
    }
    return true;
  }
  [[nodiscard]] bool below(const Vec3& p) const {  // in the ground
    double z = 0;
    return t.height_at(p.x(), p.y(), z) && p.z() < z;
  }
  [[nodiscard]] Vec3 middle(int i, int j, int half) const {
    return (t.at(i, j) + t.at(i + 1, j + 1) + (half == 0 ? t.at(i + 1, j) : t.at(i, j + 1))) / 3;
  }
  // Whether a ridge comes within the box at all.
  [[nodiscard]] bool meets(int id, const Aabb& box) const {
    const Vec3 p = t.at(t.ridges[id].tail), q = t.at(t.ridges[id].head);
    return (p.cwiseMax(q).array() >= box.low.array()).all() &&
           (p.cwiseMin(q).array() <= box.high.array()).all();
  }

  // Stable keys: feature k of the body with a facet, a ridge or a corner; and, after `points` such
  // features of the body, edge k with a ridge. Beyond 2^31 they wrap around.
  [[nodiscard]] std::int64_t stride() const {
    return static_cast<std::int64_t>(t.facets.size() + t.ridges.size() + t.heights.size());
  }
  [[nodiscard]] std::int64_t of_ridge(int id) const {
    return static_cast<std::int64_t>(t.facets.size()) + id;
  }
  [[nodiscard]] std::int64_t of_corner(int i, int j) const {
    return static_cast<std::int64_t>(t.facets.size() + t.ridges.size()) + t.vertex(i, j);
  }
  [[nodiscard]] int key(int k, std::int64_t feature) const {
    return static_cast<int>((k * stride() + feature) & 0x7fffffff);
  }

  const Terrain& t;

 private:
  [[nodiscard]] int edge(int i, int j, int k) const {
    return t.ridge[static_cast<std::size_t>(3) * t.vertex(i, j) + k];
  }
  static void add(Side& s, int k, const Vec3& n, double sign) {
    s.into[k] = sign * n.cross(s.along);
    s.out += n;
  }
};

}  // namespace saltus
