// Where two shapes touch or nearly touch: the signed distance (gap), the two surface points and the
// normal from a to b (P0 eq. 8-16). Every reported point keeps
//   d gap/dt = n . (v_B - v_A)   at the material points there,
// while its feature exists, so the Jacobian of the gap is that of the relative point velocity.
#pragma once
#include <array>

#include "saltus/geometry/shapes.h"
#include "saltus/lie/se3.h"

namespace saltus {

struct ContactPoint {
  double gap = 0;            // [m], negative in penetration
  Vec3 on_a = Vec3::Zero();  // inertial frame [m]
  Vec3 on_b = Vec3::Zero();
  Vec3 normal = Vec3::UnitZ();  // from a to b, unit; on_b - on_a = gap normal
  int feature = 0;              // stable key, >= 0: which parts of the two shapes touch here
};

inline constexpr int max_features = 8;
struct Manifold {
  std::array<ContactPoint, max_features> points;
  int count = 0;
};

// Contact points of the pair with gap <= margin, sorted by feature. Features are stable keys: the
// same pair of vertices, edges or faces gives the same number from step to step (warm start).
void contact_points(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b, double margin,
                    Manifold& out);

[[nodiscard]] bool can_touch(const Shape& a, const Shape& b);  // a supported pair, in any order

struct Aabb {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();  // inertial frame [m]
};
// The box along the inertial axes round a shape; infinite where the shape is: all of space for a
// half-space, along its axis for a peg.
[[nodiscard]] Aabb bounds(const Shape& shape, const SE3& X);

}  // namespace saltus
