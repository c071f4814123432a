// The rotation group SO(3): exponential, logarithm and their differentials.
//
//   exp(w)  = I + a W + b W^2,   W = hat(w),  a = sin t / t,  b = (1 - cos t) / t^2,  t = |w|
//   dexp(w) = I - b W + c W^2,   c = (t - sin t) / t^3
//
// dexp is right-trivialised to the body: with R = exp(w(t)), R' Rdot = hat(dexp(w) wdot).
#pragma once
#include "saltus/base/types.h"

namespace saltus {

[[nodiscard]] Mat3 hat(const Vec3& w);
[[nodiscard]] Mat3 exp_so3(const Vec3& w);
[[nodiscard]] Vec3 log_so3(const Mat3& R);  // |w| <= pi
[[nodiscard]] Mat3 dexp_so3(const Vec3& w);
[[nodiscard]] Mat3 dexp_inv_so3(const Vec3& w);
// (d/dt dexp(w)) wdot: the body's angular acceleration is dexp(w) wddot + this.
[[nodiscard]] Vec3 dexp_bias_so3(const Vec3& w, const Vec3& wdot);
[[nodiscard]] Quat exp_quat(const Vec3& w);  // the unit quaternion of exp_so3(w)

// (1 - cos t)/t^2 and (t - sin t)/t^3, series near zero.
struct RotationCoefficients {
  double a, b, c;  // sin t / t, (1 - cos t)/t^2, (t - sin t)/t^3
};
[[nodiscard]] RotationCoefficients rotation_coefficients(double t);

}  // namespace saltus
