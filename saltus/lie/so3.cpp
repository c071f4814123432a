#include "saltus/lie/so3.h"

#include <algorithm>
#include <cmath>

namespace saltus {

Mat3 hat(const Vec3& w) {
  Mat3 W;
  W << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return W;
}

RotationCoefficients rotation_coefficients(double t) {
  const double s = t * t;
  // Below 0.1 the first omitted term, t^10 / 11!, is under 3e-18.
  if (t < 0.1) {
    return {1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))),
            0.5 - s / 24 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90))),
            1.0 / 6 - s / 120 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))};
  }
  const double half = std::sin(0.5 * t) / t;  // 1 - cos t = 2 sin^2(t/2) without cancellation
  return {std::sin(t) / t, 2 * half * half, (t - std::sin(t)) / (s * t)};
}

Mat3 exp_so3(const Vec3& w) {
  const auto k = rotation_coefficients(w.norm());
  const Mat3 W = hat(w);
  return Mat3::Identity() + k.a * W + k.b * W * W;
}

Quat exp_quat(const Vec3& w) {
  const double t = w.norm();
  const double half = t < 1e-8 ? 0.5 - t * t / 48 : std::sin(0.5 * t) / t;
  return {std::cos(0.5 * t), half * w.x(), half * w.y(), half * w.z()};
}

Vec3 log_so3(const Mat3& R) {
  // By the quaternion: accurate at 0 (vector part) and at pi (scalar part).
  Quat p(R);
  if (p.w() < 0) p.coeffs() = -p.coeffs();
  const double n = p.vec().norm();
  if (n < 1e-8) return 2 * p.vec() / p.w();
  return 2 * std::atan2(n, p.w()) / n * p.vec();
}

Mat3 dexp_so3(const Vec3& w) {
  const auto k = rotation_coefficients(w.norm());
  const Mat3 W = hat(w);
  return Mat3::Identity() - k.b * W + k.c * W * W;
}

Vec3 dexp_bias_so3(const Vec3& w, const Vec3& d) {
  // dexp(w) = 1 - b W + c W^2; (dW) w' = w' x w' = 0.
  const double t = w.norm(), s = t * t;
  const RotationCoefficients k = rotation_coefficients(t);
  // (db/dt)/t and (dc/dt)/t; below a tenth their series, as the differences cancel there.
  const double db =
      t > 0.1 ? (k.a - 2 * k.b) / s : -1.0 / 12 + s / 180 - s * s / 6720 + s * s * s / 453600;
  const double dc =
      t > 0.1 ? (k.b - 3 * k.c) / s : -1.0 / 60 + s / 1260 - s * s / 60480 + s * s * s / 4989600;
  const double speed = w.dot(d);
  return -db * speed * w.cross(d) + dc * speed * w.cross(w.cross(d)) + k.c * d.cross(w.cross(d));
}

Mat3 dexp_inv_so3(const Vec3& w) {
  const double t = w.norm();
  const Mat3 W = hat(w);
  // d = (1 - a / (2 b)) / t^2 -> 1/12 + t^2/720 + t^4/30240 + ...
  double d = 0;
  if (t < 0.05) {
    const double s = t * t;
    d = 1.0 / 12 + s / 720 + s * s / 30240;
  } else {
    const auto k = rotation_coefficients(t);
    d = (1 - k.a / (2 * k.b)) / (t * t);
  }
  return Mat3::Identity() + 0.5 * W + d * W * W;
}

}  // namespace saltus
