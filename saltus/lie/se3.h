// The group SE(3) of poses, twists (v, w) and wrenches (f, m): linear part first, body frame.
//
//   X = (R, r) maps body to parent: p_parent = R p_body + r
//   Ad_X (v, w)     = (R v + r x R w, R w)          twist of the body frame -> parent frame
//   Ad_X^-T (f, m)  = (R f, R m + r x R f)           wrench of the body frame -> parent frame
//   ad_V W          = (w1 x v2 + v1 x w2, w1 x w2)   Lie bracket
//   ad*_V (f, m)    = (w x f, w x m + v x f)         its dual on wrenches, V x* F
#pragma once
#include "saltus/base/types.h"

namespace saltus {

struct SE3 {
  Mat3 R = Mat3::Identity();
  Vec3 r = Vec3::Zero();  // [m]

  [[nodiscard]] static SE3 identity() { return {}; }
  [[nodiscard]] static SE3 translation(const Vec3& p) { return {Mat3::Identity(), p}; }
  [[nodiscard]] SE3 operator*(const SE3& b) const { return {R * b.R, R * b.r + r}; }
  [[nodiscard]] Vec3 operator*(const Vec3& p) const { return R * p + r; }
  [[nodiscard]] SE3 inverse() const { return {R.transpose(), -(R.transpose() * r)}; }
};

[[nodiscard]] inline Vec6 join(const Vec3& linear, const Vec3& angular) {
  Vec6 x;
  x << linear, angular;
  return x;
}

// Twists and wrenches seen from the other frame of X = (R, r).
[[nodiscard]] inline Vec6 twist_to_parent(const SE3& X, const Vec6& V) {
  const Vec3 w = X.R * V.tail<3>();
  return join(X.R * V.head<3>() + X.r.cross(w), w);
}
[[nodiscard]] inline Vec6 twist_to_body(const SE3& X, const Vec6& V) {
  const Vec3 w = V.tail<3>();
  return join(X.R.transpose() * (V.head<3>() + w.cross(X.r)), X.R.transpose() * w);
}
[[nodiscard]] inline Vec6 wrench_to_parent(const SE3& X, const Vec6& F) {
  const Vec3 f = X.R * F.head<3>();
  return join(f, X.R * F.tail<3>() + X.r.cross(f));
}
[[nodiscard]] inline Vec6 wrench_to_body(const SE3& X, const Vec6& F) {
  const Vec3 f = F.head<3>();
  return join(X.R.transpose() * f, X.R.transpose() * (F.tail<3>() - X.r.cross(f)));
}
[[nodiscard]] inline Vec6 bracket(const Vec6& A, const Vec6& B) {  // ad_A B
  const Vec3 w = A.tail<3>();
  return join(w.cross(B.head<3>()) + A.head<3>().cross(B.tail<3>()), w.cross(B.tail<3>()));
}
[[nodiscard]] inline Vec6 dual_bracket(const Vec6& V, const Vec6& F) {  // V x* F
  const Vec3 w = V.tail<3>();
  return join(w.cross(F.head<3>()), w.cross(F.tail<3>()) + V.head<3>().cross(F.head<3>()));
}

[[nodiscard]] Mat6 adjoint(const SE3& X);          // Ad_X
[[nodiscard]] Mat6 bracket_matrix(const Vec6& V);  // ad_V

[[nodiscard]] SE3 exp_se3(const Vec6& V);
[[nodiscard]] Vec6 log_se3(const SE3& X);
// With X = exp(V(t)): the body twist X^-1 Xdot is dexp(V) Vdot.
[[nodiscard]] Mat6 dexp_se3(const Vec6& V);
[[nodiscard]] Mat6 dexp_inv_se3(const Vec6& V);

}  // namespace saltus
