// The way of a foot through the air: twice continuously differentiable, at rest at both ends.
//
//   p = a + (b - a) (10 s^3 - 15 s^4 + 6 s^5) + clearance 64 s^3 (1 - s)^3 up,   s in [0, 1]
#pragma once
#include "saltus/base/types.h"

namespace saltus {

struct FootMotion {
  Vec3 p = Vec3::Zero(), v = Vec3::Zero(), a = Vec3::Zero();  // [m], [m/s], [m/s^2]
};

// `clearance` [m] over the straight line in the middle; `time` [s] is that of the whole swing.
[[nodiscard]] FootMotion swing_foot(const Vec3& from, const Vec3& to, const Vec3& up,
                                    double clearance, double s, double time);

}  // namespace saltus
