#include "saltus/lie/se3.h"

#include <cmath>

#include "saltus/lie/so3.h"

namespace saltus {

Mat6 adjoint(const SE3& X) {
  Mat6 A;
  A << X.R, hat(X.r) * X.R, Mat3::Zero(), X.R;
  return A;
}

Mat6 bracket_matrix(const Vec6& V) {
  Mat6 A;
  A << hat(V.tail<3>()), hat(V.head<3>()), Mat3::Zero(), hat(V.tail<3>());
  return A;
}

SE3 exp_se3(const Vec6& V) {
  const Vec3 w = V.tail<3>();
  // The left differential of exp carries the linear part: r = dexp(-w) v.
  return {exp_so3(w), dexp_so3(-w) * V.head<3>()};
}

Vec6 log_se3(const SE3& X) {
  const Vec3 w = log_so3(X.R);
  return join(dexp_inv_so3(-w) * X.r, w);
}

namespace {

// dexp(V) = [D(w) Q(v, w); 0 D(w)], D = dexp_so3; Q is the derivative of D(w) v-wise:
// the off-diagonal block of the series sum (-1)^k ad^k / (k + 1)!.
Mat3 dexp_coupling(const Vec3& v, const Vec3& w) {
  const double t = w.norm();
  const double s = t * t;
  const Mat3 W = hat(w), U = hat(v);
  const auto k = rotation_coefficients(t);
  // Derivatives of b and c by s = t^2 (b' = db/ds): series where the closed form cancels.
  double db = 0, dc = 0;
  if (t < 0.2) {
    db = -1.0 / 24 + s * (1.0 / 360 - s * (1.0 / 13440 - s * (1.0 / 907200 - s / 95800320)));
    dc = -1.0 / 120 + s * (1.0 / 2520 - s * (1.0 / 120960 - s * (1.0 / 9979200 - s / 1245404160)));
  } else {
    db = (k.a - 2 * k.b) / (2 * s);
    dc = (k.b - 3 * k.c) / (2 * s);
  }
  // D(w) = I - b W + c W^2 as a function on the group algebra: vary w along v.
  const double ds = 2 * w.dot(v);
  return -k.b * U - db * ds * W + k.c * (W * U + U * W) + dc * ds * W * W;
}

}  // namespace

Mat6 dexp_se3(const Vec6& V) {
  Mat6 A = Mat6::Zero();
  const Mat3 D = dexp_so3(V.tail<3>());
  A << D, dexp_coupling(V.head<3>(), V.tail<3>()), Mat3::Zero(), D;
  return A;
}

Mat6 dexp_inv_se3(const Vec6& V) {
  Mat6 A = Mat6::Zero();
  const Mat3 D = dexp_inv_so3(V.tail<3>());
  A << D, -D * dexp_coupling(V.head<3>(), V.tail<3>()) * D, Mat3::Zero(), D;
  return A;
}

}  // namespace saltus
