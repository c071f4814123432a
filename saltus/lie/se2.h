// The planar group SE(2): twists are (vx, vy, w) in the body frame.
#pragma once
#include "saltus/base/types.h"

namespace saltus {

struct SE2 {
  double theta = 0;       // [rad]
  Vec2 r = Vec2::Zero();  // [m]
  [[nodiscard]] Mat2 R() const { return Eigen::Rotation2Dd(theta).toRotationMatrix(); }
  [[nodiscard]] SE2 operator*(const SE2& b) const { return {theta + b.theta, R() * b.r + r}; }
  [[nodiscard]] Vec2 operator*(const Vec2& p) const { return R() * p + r; }
  [[nodiscard]] SE2 inverse() const { return {-theta, -(R().transpose() * r)}; }
};

[[nodiscard]] SE2 exp_se2(const Vec3& V);
[[nodiscard]] Vec3 log_se2(const SE2& X);  // theta taken in (-pi, pi]
// With X = exp(V(t)): the body twist X^-1 Xdot is dexp(V) Vdot.
[[nodiscard]] Mat3 dexp_se2(const Vec3& V);

}  // namespace saltus
