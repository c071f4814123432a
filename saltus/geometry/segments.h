// Two segments: their nearest points, and the points on which two rods lie along each other.
#pragma once
#include "saltus/geometry/collect.h"

namespace saltus {

struct Segment {
  Vec3 centre = Vec3::Zero(), axis = Vec3::UnitX();  // unit
  double half_length = 0;                            // may be infinite
  [[nodiscard]] Vec3 at(double s) const {
    return half_length > 0 ? Vec3(centre + s * axis) : centre;
  }
};
[[nodiscard]] Segment segment_between(const Vec3& p, const Vec3& q);

struct SegmentNearest {
  double s = 0, t = 0;      // along the axes, from the centres [m]
  Vec3 on_a, on_b, normal;  // unit, from a to b; across both where the segments meet
  double distance = 0;
};
[[nodiscard]] SegmentNearest nearest(const Segment& a, const Segment& b);

// The nearest points and, where the segments are nearly parallel, both ends of their overlap, so
// that rods rest on each other. Features first + 0: the nearest points; 1 and 2: a's ends (+, -)
// against b; 3 and 4: b's ends against a.
inline constexpr double nearly_parallel = 0.1;  // sine of the angle
void segment_points(const Segment& a, double radius_a, const Segment& b, double radius_b, int first,
                    Collector& out, double parallel_below = nearly_parallel);

}  // namespace saltus
