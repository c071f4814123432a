// Contact of solid cylinders (flat ends, axis x).
//
// A cylinder rests on a plane with the lowest point of each rim (it may roll, and its gap is exact
// at any tilt) and, when it nearly stands on an end, with four points of that rim fixed in the
// body, which carry a standing cylinder without a preferred direction. When it stands to within
// rounding the lowest point has no direction, and the fixed four are all.
//
// Against other shapes the direction n of greatest separation
//   sigma(n) = min n . b - max n . a
// is the best of a finite list that contains the maximiser: faces, caps, vertices, edges against
// the side or a rim (one equation in one angle), and for two cylinders rim against rim (Newton).
#pragma once
#include "saltus/geometry/collect.h"
#include "saltus/geometry/polytope.h"
#include "saltus/geometry/segments.h"

namespace saltus {

struct PlacedCylinder {
  Vec3 centre = Vec3::Zero();
  Mat3 R = Mat3::Identity();  // axis: the first column
  double radius = 0, half_length = 0;

  [[nodiscard]] Vec3 axis() const { return R.col(0); }
  [[nodiscard]] Vec3 farthest(const Vec3& n) const;  // support point
  [[nodiscard]] Segment core() const { return {centre, axis(), half_length}; }
};
[[nodiscard]] PlacedCylinder place(const Cylinder& cylinder, const SE3& X);
[[nodiscard]] PointDistance distance_to(const PlacedCylinder& a, const Vec3& p);

// In each the cylinder is b, except against another cylinder.
void plane_cylinder_points(const Vec3& n, double offset, const PlacedCylinder& b, Collector& out);
void polytope_cylinder_points(const Placed& a, const PlacedCylinder& b, Collector& out);
void cylinder_cylinder_points(const PlacedCylinder& a, const PlacedCylinder& b, Collector& out);

}  // namespace saltus
