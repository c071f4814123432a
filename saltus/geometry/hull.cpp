#include "saltus/geometry/hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "saltus/base/error.h"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace saltus {

namespace {

constexpr int max_vertices = 4096;   // keys of edge pairs stay within an int
constexpr double thinnest = 1e-9;    // thickness over size below which points are in one plane
constexpr double same_point = 1e-9;  // distance over size below which points are one

// Farthest point by a measure, and that measure.
template <class Measure>
std::pair<std::size_t, double> farthest(const std::vector<Vec3>& points, const Measure& measure) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = measure(points[i]);
    if (x > most) most = x, best = i;
  }
  return {best, most};
}

// The points, nearly equal ones as the first of them: a robot's mesh has corners that were one and
// differ by what a file format or a rotation left of it.
class Merged {
 public:
  Merged(const Vec3& origin, double distance)
      : origin_(origin), distance_(distance), cell_(coarse * distance) {}

  void add(const Vec3& point) {
    const Vec3 p = point - origin_;
    if (distance_ > 0 && is_known(p)) return;
    points.push_back(point);
    if (distance_ > 0) cells_[cell_of(p)].push_back(p);
  }
  std::vector<Vec3> points;

 private:
  using Cell = std::array<std::int64_t, 3>;
  static constexpr double coarse = 1000;  // so that a ball around a point is mostly in one cell

  [[nodiscard]] Cell cell_of(const Vec3& p) const {
    Cell c{};
    for (int i = 0; i < 3; ++i) c[i] = std::llround(std::floor(p[i] / cell_));
    return c;
  }
  [[nodiscard]] bool is_known(const Vec3& p) const {
    const Cell low = cell_of(p - Vec3::Constant(distance_)),
               high = cell_of(p + Vec3::Constant(distance_));
    Cell c{};
    for (c[0] = low[0]; c[0] <= high[0]; ++c[0])
      for (c[1] = low[1]; c[1] <= high[1]; ++c[1])
        for (c[2] = low[2]; c[2] <= high[2]; ++c[2]) {
          const auto found = cells_.find(c);
          if (found == cells_.end()) continue;
          for (const Vec3& q : found->second)
            if ((q - p).norm() <= distance_) return true;
        }
    return false;
  }

  Vec3 origin_;
  double distance_, cell_;
  std::map<Cell, std::vector<Vec3>> cells_;  // points about the origin
};

std::vector<Vec3> distinct(const std::vector<Vec3>& points, double share) {
  if (points.size() < 4)
    throw InputError(fmt::format("expected at least 4 points of a hull, got {}", points.size()));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!points[i].allFinite()) throw InputError(fmt::format("point {} is not finite", i));
  const Vec3 p = points[0];
  const double size = farthest(points, [&](const Vec3& q) { return (q - p).stableNorm(); }).second;
  if (!std::isfinite(size)) throw InputError("the points are too far apart");
  Merged merged(p, share * size);
  for (const Vec3& q : points) merged.add(q);
  if (merged.points.size() < 4)
    throw InputError(
        fmt::format("expected at least 4 distinct points of a hull, got {}", merged.points.size()));
  return std::move(merged.points);
}

void check_thickness(const std::vector<Vec3>& points) {
  const Vec3 p = points[0];
  const auto [i, length] = farthest(points, [&](const Vec3& q) { return (q - p).norm(); });
  const Vec3 u = (points[i] - p) / length;
  const auto [j, width] = farthest(points, [&](const Vec3& q) { return u.cross(q - p).norm(); });
  if (width <= thinnest * length) throw InputError("the points lie on one line");
  const Vec3 n = u.cross(points[j] - p).normalized();
  const double height =
      farthest(points, [&](const Vec3& q) { return std::abs(n.dot(q - p)); }).second;
  if (height <= thinnest * length) throw InputError("the points lie in one plane");
}

// qhull's own data, freed with it.
class Qhull {
 public:
  explicit Qhull(std::vector<double>& coordinates)
      : quiet_(std::fopen("/dev/null", "w")) {  // the library never prints
    qh_zero(&qh_, quiet_);
    char command[] = "qhull";
    failed_ = qh_new_qhull(&qh_, 3, static_cast<int>(coordinates.size() / 3), coordinates.data(),
                           False, command, quiet_, quiet_) != 0;
  }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;
  ~Qhull() {
    qh_freeqhull(&qh_, !qh_ALL);
    int left = 0, total = 0;
    qh_memfreeshort(&qh_, &left, &total);
    if (quiet_) std::fclose(quiet_);
  }
  [[nodiscard]] bool failed() const { return failed_; }

  // Corners of each face, counter-clockwise from outside, as indices of the points.
  std::vector<std::vector<int>> loops() {
    std::vector<std::vector<int>> result;
    for (facetT* facet = qh_.facet_list; facet && facet->next; facet = facet->next) {
      setT* corners = qh_facet3vertex(&qh_, facet);
      std::vector<int>& loop = result.emplace_back();
      for (int k = 0; k < qh_setsize(&qh_, corners); ++k) {
        const auto* vertex = static_cast<vertexT*>(corners->e[k].p);
        loop.push_back(qh_pointid(&qh_, vertex->point));
      }
      qh_settempfree(&qh_, &corners);
    }
    return result;
  }

 private:
  std::FILE* quiet_;
  qhT qh_;
  bool failed_ = false;
};

// Twice the vector area of a loop (Newell).
Vec3 loop_area(const std::vector<Vec3>& p, const std::vector<int>& loop) {
  Vec3 area = Vec3::Zero();
  for (std::size_t k = 1; k + 1 < loop.size(); ++k)
    area += (p[loop[k]] - p[loop[0]]).cross(p[loop[k + 1]] - p[loop[0]]);
  return area;
}

void add_faces(const std::vector<Vec3>& points, std::vector<std::vector<int>> loops, Hull& hull) {
  std::vector<int> number(points.size(), -1);
  for (const auto& loop : loops)
    for (const int i : loop) number[i] = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (number[i] == 0) {
      number[i] = static_cast<int>(hull.vertices.size());
      hull.vertices.push_back(points[i]);
    }
  for (auto& loop : loops) {  // a canonical order: bits do not depend on qhull's
    for (int& i : loop) i = number[i];
    std::rotate(loop.begin(), std::min_element(loop.begin(), loop.end()), loop.end());
  }
  std::sort(loops.begin(), loops.end());
  const Vec3 inside =
      std::accumulate(hull.vertices.begin(), hull.vertices.end(), Vec3(Vec3::Zero())) /
      static_cast<double>(hull.vertices.size());
  for (auto& loop : loops) {
    Vec3 n = loop_area(hull.vertices, loop).normalized();
    if (n.dot(hull.vertices[loop[0]] - inside) < 0) {
      std::reverse(loop.begin() + 1, loop.end());
      n = -n;
    }
    double offset = -std::numeric_limits<double>::infinity();
    for (const int i : loop) offset = std::max(offset, n.dot(hull.vertices[i]));
    hull.faces.push_back(
        {static_cast<int>(hull.loop.size()), static_cast<int>(loop.size()), n, offset});
    hull.loop.insert(hull.loop.end(), loop.begin(), loop.end());
  }
}

// Integrals over the volume as a sum over tetrahedra to an inner point.
void add_mass_properties(Hull& hull) {
  const Vec3 o = hull.vertices[0];
  const std::vector<int> t = hull.triangles();
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (std::size_t k = 0; k < t.size(); k += 3) {
    const Vec3 a = hull.vertices[t[k]] - o, b = hull.vertices[t[k + 1]] - o,
               c = hull.vertices[t[k + 2]] - o, s = a + b + c;
    const double v = a.dot(b.cross(c)) / 6;
    hull.volume += v;
    first += v / 4 * s;
    second +=
        v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  const Vec3 mean = first / hull.volume;
  hull.centroid = o + mean;
  hull.second_moment = second - hull.volume * mean * mean.transpose();
  for (const Vec3& p : hull.vertices) hull.size = std::max(hull.size, (p - hull.centroid).norm());
}

}  // namespace

std::vector<int> Hull::triangles() const {
  std::vector<int> result;
  for (const Face& face : faces)
    for (int k = 1; k + 1 < face.count; ++k)
      for (const int i : {0, k, k + 1}) result.push_back(loop[face.first + i]);
  return result;
}

void connect(Hull& hull) {
  std::map<std::pair<int, int>, int> known;
  hull.loop_edge.resize(hull.loop.size());
  for (int f = 0; f < static_cast<int>(hull.faces.size()); ++f) {
    const Hull::Face& face = hull.faces[f];
    for (int k = 0; k < face.count; ++k) {
      const int tail = hull.loop[face.first + k],
                head = hull.loop[face.first + (k + 1) % face.count];
      const auto [entry, is_new] =
          known.try_emplace(std::minmax(tail, head), static_cast<int>(hull.edges.size()));
      if (is_new) {
        hull.edges.push_back({tail, head, f, f});
      } else {
        hull.edges[entry->second].right = f;
      }
      hull.loop_edge[face.first + k] = entry->second;
    }
  }
}

namespace {

std::shared_ptr<Hull> hull_of_distinct(const std::vector<Vec3>& corners) {
  check_thickness(corners);
  std::vector<double> coordinates;  // about the first point: qhull rounds relative to their size
  for (const Vec3& p : corners)
    for (int i = 0; i < 3; ++i) coordinates.push_back(p[i] - corners[0][i]);
  Qhull qhull(coordinates);
  if (qhull.failed()) throw InputError("qhull finds no hull of these points");
  auto hull = std::make_shared<Hull>();
  add_faces(corners, qhull.loops(), *hull);
  return hull;
}

ConvexHull finished(std::shared_ptr<Hull> hull) {
  connect(*hull);
  add_mass_properties(*hull);
  return {std::move(hull)};
}

}  // namespace

ConvexHull convex_hull(const std::vector<Vec3>& points) {
  std::shared_ptr<Hull> hull = hull_of_distinct(distinct(points, same_point));
  if (hull->vertices.size() > max_vertices)
    throw InputError(fmt::format("expected a hull of at most {} vertices, got {}", max_vertices,
                                 hull->vertices.size()));
  return finished(std::move(hull));
}

CoarseHull coarse_hull(const std::vector<Vec3>& points) {
  CoarseHull result;
  std::vector<Vec3> corners = distinct(points, same_point);
  std::shared_ptr<Hull> hull = hull_of_distinct(corners);
  result.vertices = hull->vertices.size();
  for (double share = 1e-4; hull->vertices.size() > max_vertices; share *= 2) {
    corners = distinct(hull->vertices, share);
    result.merged =
        share * farthest(points, [&](const Vec3& q) { return (q - points[0]).norm(); }).second;
    hull = hull_of_distinct(corners);
  }
  result.hull = finished(std::move(hull));
  return result;
}

RigidInertia solid_hull(double mass, const Hull& hull) {
  const Mat3 C = mass / hull.volume * hull.second_moment;
  return {mass, hull.centroid, C.trace() * Mat3::Identity() - C};
}

}  // namespace saltus
