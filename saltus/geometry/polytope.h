// Contact of solids with plane faces: boxes, hulls, and the core of a capsule (a segment with a
// radius). Separating axes (face normals, crossed edges) find the direction of least overlap, the
// reference face clips the other solid's face, and each point gets the normal of its own pair of
// features (vertex and face, edge and edge), for which its gap has the rate n . (v_B - v_A).
#pragma once
#include <vector>

#include "saltus/geometry/collect.h"
#include "saltus/geometry/hull.h"

namespace saltus {

// A hull in the frame in which the pair is looked at.
struct Placed {
  const Hull* hull = nullptr;  // topology
  std::vector<Vec3> v, n;      // vertices; outward face normals
  std::vector<double> offset;  // of the faces
  double radius = 0;           // the solid is everything within it of the polytope
  double size = 0;

  [[nodiscard]] int vertices() const { return static_cast<int>(v.size()); }
  [[nodiscard]] int edges() const { return static_cast<int>(hull->edges.size()); }
  [[nodiscard]] Vec3 along(int edge) const {
    return v[hull->edges[edge].head] - v[hull->edges[edge].tail];
  }
};
void place(const Box& box, const SE3& X, Placed& out);
void place(const ConvexHull& hull, const SE3& X, Placed& out);
void place(const Capsule& capsule, const SE3& X, Placed& out);

// The face round the vertex nearest along n that faces n most.
[[nodiscard]] int incident_face(const Placed& q, const Vec3& n);

// Points with gap <= margin; at most one of the two is a segment.
void polytope_points(const Placed& a, const Placed& b, Collector& out);

// Distance of a point from a polytope, negative inside, where it is attained and outward direction.
struct PointDistance {
  double distance = 0;
  Vec3 on = Vec3::Zero(), normal = Vec3::UnitZ();
};
[[nodiscard]] PointDistance distance_to(const Placed& a, const Vec3& p);

}  // namespace saltus
