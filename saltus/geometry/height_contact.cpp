#include "saltus/geometry/height_contact.h"

#include "saltus/geometry/ellipsoid.h"
#include "saltus/geometry/terrain_features.h"

namespace saltus {

namespace {

constexpr double flush_sine = 1e-3;  // sine by which a flush feature may miss its normal cone
constexpr double least_crossing_sine = 1e-3;  // of an edge and a ridge that cross
constexpr double on_the_ridge = 1e-7;  // over size: a corner this far outside a face rests on it
constexpr double within = 1e-9;        // over length: a crossing this far beyond an end counts

struct Ground : TerrainFeatures {
  Collector& out;
  // Regions overlap by `near`, so that what moves on finds its next feature before it loses this
  // one; nearer than `same` two feet are one point.
  const double tiny, near, same;

  Ground(const Terrain& terrain, Collector& collector)
      : TerrainFeatures(terrain),
        out(collector),
        tiny(terrain_rounding * terrain.scale),
        near(terrain_overlap * terrain.scale),
        same(0.5 * terrain_rounding * terrain.scale) {
    out.closed_first();
  }

  [[nodiscard]] Aabb around(const Vec3& p, double reach) const {
    return {p.array() - reach, p.array() + reach};
  }
  [[nodiscard]] Aabb inflated(Aabb box) const {
    box.low.array() -= out.margin();
    box.high.array() += out.margin();
    return box;
  }

  // --- a point of the body with a radius, its feature k
  void ball(const Vec3& p, double radius, int k) {
    const double reach = radius + out.margin();
    double z = 0;
    if (t.height_at(p.x(), p.y(), z) && p.z() < z) return leave(p, radius, k, z - p.z());
    if (p.z() - reach > t.high) return;
    const std::size_t first = out.size();
    const Range range = cells(around(p, reach));
    triangles(range, [&](int i, int j, int half, int f) {
      const Terrain::Facet& facet = t.facets[f];
      const double g = facet.normal.dot(p) - facet.offset;
      if (g > reach || g < -tiny) return;
      const Vec3 foot = p - g * facet.normal;
      if (on_triangle(i, j, half, foot.x(), foot.y(), g))
        out.add(g, foot, p, facet.normal, key(k, f), 0, radius);
    });
    ridges(range, [&](int id) { ball_ridge(p, radius, k, id, first); });
    corners(range, [&](int i, int j) {
      const Vec3 v = t.at(i, j), d = p - v;
      const double distance = d.norm();
      if (distance > reach || !in_corner_cone(i, j, d, near) || out.any_near(first, v, same))
        return;
      const Vec3 n = distance > tiny ? Vec3(d / distance) : Vec3::UnitZ();
      out.add(distance, v, p, n, key(k, of_corner(i, j)), 0, radius);
    });
  }
  void ball_ridge(const Vec3& p, double radius, int k, int id, std::size_t first) {
    const Side s = side(id);
    const double x = s.along.dot(p - s.tail);
    if (x < -tiny || x > s.length + tiny) return;
    const Vec3 foot = s.tail + x * s.along, d = p - foot;
    const double distance = d.norm();
    if (distance > radius + out.margin() || !in_cone(s, d, near) || out.any_near(first, foot, same))
      return;
    const Vec3 n = distance > tiny ? Vec3(d / distance) : Vec3(s.out.normalized());
    out.add(distance, foot, p, n, key(k, of_ridge(id)), 0, radius);
  }

  // A point in the ground, `depth` below the surface: out by the nearest facet, and by those that
  // form a valley with it (each lies above the other's plane), be it still above some of them.
  struct Exit {
    double g;
    int facet;
    Vec3 middle;
  };
  void leave(const Vec3& p, double radius, int k, double depth) {
    static thread_local std::vector<Exit> exits;
    exits.clear();
    triangles(cells(around(p, std::max(depth, out.margin()))), [&](int i, int j, int half, int f) {
      const Terrain::Facet& facet = t.facets[f];
      const double g = facet.normal.dot(p) - facet.offset;
      if (g > out.margin() || -g > depth + tiny) return;
      const Vec3 foot = p - g * facet.normal;
      if (on_triangle(i, j, half, foot.x(), foot.y(), g))
        exits.push_back({g, f, middle(i, j, half)});
    });
    std::sort(exits.begin(), exits.end(), [](const Exit& a, const Exit& b) {
      if ((a.g > 0) != (b.g > 0)) return b.g > 0;
      return a.g != b.g ? a.g > b.g : a.facet < b.facet;
    });
    const auto valley = [&](const Exit& a, const Exit& b) {
      const Terrain::Facet& facet = t.facets[a.facet];
      return facet.normal.dot(b.middle) >= facet.offset - near;
    };
    std::size_t taken = 0;
    for (std::size_t i = 0; i < exits.size(); ++i) {
      const bool fits = std::all_of(exits.begin(), exits.begin() + static_cast<long>(taken),
                                    [&](const Exit& e) { return valley(e, exits[i]); });
      if (!fits) continue;
      const Exit e = exits[i];
      exits[taken++] = e;
      const Vec3& n = t.facets[e.facet].normal;
      out.add(e.g, p - e.g * n, p, n, key(k, e.facet), 0, radius);
    }
  }

  // --- straight edges of the body
  // The crossing of a segment with a radius and a ridge, as lines with their common normal.
  // `accept` judges the direction from the ridge to the segment.
  template <class Accept>
  void edge_ridge(const Side& s, const Vec3& p, const Vec3& q, double radius, int feature,
                  const Accept& accept) {
    const Vec3 w = q - p;
    Vec3 n = s.along.cross(w);
    const double sine = n.norm() / w.norm();
    if (!(sine > least_crossing_sine)) return;
    n.normalize();
    if (n.dot(s.out) < 0) n = -n;
    if (!in_cone(s, n, flush_sine) || !accept(n)) return;
    const Vec3 d = p - s.tail;
    const double gap = n.dot(d);
    if (gap - radius > out.margin()) return;
    // tail + x along + gap n = p + y w, by Cramer's rule.
    const double det = s.along.cross(w).dot(n);
    const double x = d.cross(w).dot(n) / det, y = d.cross(s.along).dot(n) / det;
    if (x < -within * s.length || x > s.length * (1 + within) || y < -within || y > 1 + within)
      return;
    const Vec3 on = s.tail + x * s.along;
    out.add(gap, on, on + gap * n, n, feature, 0, radius);
  }

  // A corner under the inside of a segment.
  void corner_segment(int i, int j, const Segment& core, double radius) {
    const Vec3 v = t.at(i, j);
    const double x = core.axis.dot(v - core.centre);
    if (!(std::abs(x) < core.half_length)) return;
    const Vec3 q = core.at(x), d = q - v;
    const double distance = d.norm();
    if (distance > radius + out.margin() || distance <= tiny) return;
    Vec3 n = d / distance;
    const bool through =
        in_corner_cone(i, j, -n, flush_sine) && below(q);  // the core is in the ground
    if (!through && !in_corner_cone(i, j, n, terrain_overlap)) return;
    if (through) n = -n;
    out.add(through ? -distance : distance, v, q, n, key(2, of_corner(i, j)), 0, radius);
  }

  // --- faces of the body
  void corner_face(int i, int j, const Placed& b) {
    const Vec3 v = t.at(i, j);
    const double tolerance = on_the_ridge * b.size;
    double best = 0;
    int face = -1;
    for (int f = 0; f < static_cast<int>(b.n.size()); ++f) {
      const double g = b.n[f].dot(v) - b.offset[f];
      if (g > out.margin()) return;
      if (face >= 0 && g <= best) continue;
      if (!in_corner_cone(i, j, -b.n[f], flush_sine) || !over_face(b, f, v, tolerance)) continue;
      best = g;
      face = f;
    }
    if (face < 0) return;
    const Vec3 n = -b.n[face];
    out.add(best, v, v + best * n, n, key(b.vertices(), of_corner(i, j)));
  }
  static bool over_face(const Placed& b, int f, const Vec3& p, double tolerance) {
    const Hull::Face& face = b.hull->faces[f];
    for (int k = 0; k < face.count; ++k) {
      const Vec3 &v = b.v[b.hull->loop[face.first + k]],
                 &w = b.v[b.hull->loop[face.first + (k + 1) % face.count]];
      if ((w - v).cross(b.n[f]).normalized().dot(p - v) > tolerance) return false;
    }
    return true;
  }
  void ridge_edges(int id, const Placed& b, const Aabb& box) {
    if (!meets(id, box)) return;
    const Side s = side(id);
    for (int e = 0; e < b.edges(); ++e) {
      const Hull::Edge& edge = b.hull->edges[e];
      const Vec3 u = b.along(e).normalized();
      const auto accept = [&](const Vec3& n) {  // -n between the normals of the edge's faces
        return -n.dot(b.n[edge.left].cross(u)) <= flush_sine &&
               n.dot(b.n[edge.right].cross(u)) <= flush_sine;
      };
      edge_ridge(s, b.v[edge.tail], b.v[edge.head], 0, key(b.vertices() + 1 + e, of_ridge(id)),
                 accept);
    }
  }

  // The last resort of a smooth body that sank in beyond all facets it faces: its support point
  // against some facet that lies deepest under the surface.
  template <class Support>
  void pull_out(const Range& range, const Support& support) {
    if (out.least_gap() < 0) return;
    double deepest = 0;
    Vec3 point = Vec3::Zero();
    triangles(range, [&](int, int, int, int f) {
      const Vec3 p = support(Vec3(-t.facets[f].normal));
      double z = 0;
      if (!t.height_at(p.x(), p.y(), z) || z - p.z() <= deepest) return;
      deepest = z - p.z();
      point = p;
    });
    if (deepest > near) leave(point, 0, 11, deepest);  // after the ten points of a cylinder
  }

  // Of a body's own point on a facet, found by that facet's plane: whether it counts.
  [[nodiscard]] bool counts(int i, int j, int half, const ContactPoint& p) const {
    return on_triangle(i, j, half, p.on_a.x(), p.on_a.y(), p.gap) &&
           (p.gap >= -tiny || below(p.on_b));
  }
};

Aabb box_of(const Placed& b) {
  Aabb box{b.v[0], b.v[0]};
  for (const Vec3& v : b.v) {
    box.low = box.low.cwiseMin(v);
    box.high = box.high.cwiseMax(v);
  }
  return box;
}

}  // namespace

void terrain_ball_points(const Terrain& a, const Vec3& centre, double radius, Collector& out) {
  Ground(a, out).ball(centre, radius, 0);
}

void terrain_capsule_points(const Terrain& a, const Segment& core, double radius, Collector& out) {
  Ground ground(a, out);
  const Vec3 p = core.at(core.half_length), q = core.at(-core.half_length);
  ground.ball(p, radius, 0);
  ground.ball(q, radius, 1);
  const double reach = radius + out.margin();
  const Aabb box{p.cwiseMin(q).array() - reach, p.cwiseMax(q).array() + reach};
  const auto range = ground.cells(box);
  ground.ridges(range, [&](int id) {
    if (ground.meets(id, box))
      ground.edge_ridge(ground.side(id), p, q, radius, ground.key(2, ground.of_ridge(id)),
                        [](const Vec3&) { return true; });
  });
  ground.corners(range, [&](int i, int j) { ground.corner_segment(i, j, core, radius); });
}

void terrain_polytope_points(const Terrain& a, const Placed& b, Collector& out) {
  Ground ground(a, out);
  for (int k = 0; k < b.vertices(); ++k) ground.ball(b.v[k], 0, k);
  const Aabb box = ground.inflated(box_of(b));
  const auto range = ground.cells(box);
  ground.corners(range, [&](int i, int j) { ground.corner_face(i, j, b); });
  ground.ridges(range, [&](int id) { ground.ridge_edges(id, b, box); });
}

void terrain_cylinder_points(const Terrain& a, const PlacedCylinder& b, const Aabb& bounds,
                             Collector& out) {
  Ground ground(a, out);
  const Aabb box = ground.inflated(bounds);
  const auto range = ground.cells(box);
  ground.triangles(range, [&](int i, int j, int half, int f) {
    const Terrain::Facet& facet = a.facets[f];
    if (facet.normal.dot(b.farthest(-facet.normal)) - facet.offset > out.margin()) return;
    out.begin_part(f, ground.stride());
    plane_cylinder_points(facet.normal, facet.offset, b, out);
    out.end_part([&](const ContactPoint& p) { return ground.counts(i, j, half, p); });
  });
  static thread_local Placed room;
  ground.ridges(range, [&](int id) {
    if (!ground.meets(id, box)) return;
    const auto s = ground.side(id);
    SE3 X;
    X.r = s.tail + 0.5 * s.length * s.along;
    X.R.col(0) = s.along;
    X.R.col(1) = s.along.unitOrthogonal();
    X.R.col(2) = s.along.cross(X.R.col(1));
    place(Capsule{0, 0.5 * s.length}, X, room);
    out.begin_part(ground.of_ridge(id), ground.stride());
    polytope_cylinder_points(room, b, out);
    out.end_part(
        [&](const ContactPoint& p) { return TerrainFeatures::in_cone(s, p.normal, flush_sine); });
  });
  ground.corners(range, [&](int i, int j) {
    const Vec3 v = a.at(i, j);
    const PointDistance d = distance_to(b, v);
    if (d.distance <= out.margin() && ground.in_corner_cone(i, j, -d.normal, flush_sine))
      out.add(d.distance, v, d.on, -d.normal, ground.key(0, ground.of_corner(i, j)));
  });
  ground.pull_out(range, [&](const Vec3& n) { return b.farthest(n); });
}

void terrain_ellipsoid_points(const Terrain& a, const Ellipsoid& b, const SE3& X, Collector& out) {
  Ground ground(a, out);
  const Aabb box = ground.inflated(bounds(b, X));
  const auto range = ground.cells(box);
  const std::size_t first = out.size();
  ground.triangles(range, [&](int i, int j, int half, int f) {
    const Terrain::Facet& facet = a.facets[f];
    const Vec3 p = farthest(b, X, -facet.normal);
    const double g = facet.normal.dot(p) - facet.offset;
    if (g > out.margin()) return;
    const ContactPoint point{g, p - g * facet.normal, p, facet.normal, 0};
    if (ground.counts(i, j, half, point)) out.add(g, point.on_a, p, facet.normal, ground.key(0, f));
  });
  const auto local = [&](const Vec3& p) { return Vec3(X.R.transpose() * (p - X.r)); };
  ground.ridges(range, [&](int id) {
    if (!ground.meets(id, box)) return;
    const auto s = ground.side(id);
    const PointDistance d = distance_to_line(b, local(s.tail), X.R.transpose() * s.along);
    if (d.distance > out.margin()) return;
    const Vec3 n = -(X.R * d.normal), on_b = X * d.on, on_a = on_b - d.distance * n;
    const double x = s.along.dot(on_a - s.tail);
    if (x < 0 || x > s.length || !TerrainFeatures::in_cone(s, n, terrain_overlap)) return;
    if (!out.any_near(first, on_a, ground.same))
      out.add(d.distance, on_a, on_b, n, ground.key(0, ground.of_ridge(id)));
  });
  ground.corners(range, [&](int i, int j) {
    const Vec3 v = a.at(i, j);
    const PointDistance d = distance_to(b, local(v));
    const Vec3 n = -(X.R * d.normal);
    if (d.distance > out.margin() || !ground.in_corner_cone(i, j, n, terrain_overlap)) return;
    if (!out.any_near(first, v, ground.same))
      out.add(d.distance, v, v + d.distance * n, n, ground.key(0, ground.of_corner(i, j)));
  });
  ground.pull_out(range, [&](const Vec3& n) { return farthest(b, X, n); });
}

}  // namespace saltus
