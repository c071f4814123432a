#include "saltus/lie/se2.h"

#include <cmath>
#include <numbers>

#include "saltus/lie/so3.h"

namespace saltus {

namespace {

// V = [s -c; c s] with s = sin t / t, c = (1 - cos t)/t: r = V v.
Mat2 translation_map(double theta) {
  const auto k = rotation_coefficients(std::abs(theta));
  Mat2 V;
  V << k.a, -k.b * theta, k.b * theta, k.a;
  return V;
}

}  // namespace

SE2 exp_se2(const Vec3& V) { return {V.z(), translation_map(V.z()) * V.head<2>()}; }

Vec3 log_se2(const SE2& X) {
  const double theta = std::remainder(X.theta, 2 * std::numbers::pi);
  Vec3 V;
  V << translation_map(theta).inverse() * X.r, theta;
  return V;
}

Mat3 dexp_se2(const Vec3& V) {
  const double t = V.z();
  const auto k = rotation_coefficients(std::abs(t));
  Mat3 D = Mat3::Identity();
  // Body side: R' V(theta) for the linear part, and the derivative of r by theta, turned to the
  // body.
  D.topLeftCorner<2, 2>() << k.a, k.b * t, -k.b * t, k.a;
  // Column of thetadot: sum (-1)^k ad^k/(k+1)! gives (t c - ...) in closed form.
  const double x = V.x(), y = V.y();
  D(0, 2) = -k.b * y + k.c * t * x;
  D(1, 2) = k.b * x + k.c * t * y;
  return D;
}

}  // namespace saltus
