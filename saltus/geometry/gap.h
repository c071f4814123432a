// Gap functions with moving contact points (P0 eq. 8-16): the signed distance between two shapes,
// where it is attained, and the normal from a to b. For closest points of smooth shapes
//   d gap/dt = n . (v_B - v_A)   at the material points there,
// so the Jacobian of the gap is that of the relative point velocity.
#pragma once
#include <array>

#include "saltus/geometry/shapes.h"
#include "saltus/lie/se3.h"

namespace saltus {

struct ContactPoint {
  double gap = 0;            // [m], negative in penetration
  Vec3 on_a = Vec3::Zero();  // inertial frame [m]
  Vec3 on_b = Vec3::Zero();
  Vec3 normal = Vec3::UnitZ();  // from a to b, unit
};

inline constexpr int max_features = 8;
using ContactPoints = std::array<ContactPoint, max_features>;

// How many contact points this pair of shapes has (a face resting has several); 0: unsupported.
[[nodiscard]] int feature_count(const Shape& a, const Shape& b);
// Fills feature_count(a, b) points. Which feature is which does not change over time.
void gap_functions(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
                   ContactPoints& points);

}  // namespace saltus
