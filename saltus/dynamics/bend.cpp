#include "saltus/dynamics/bend.h"

#include <cmath>

namespace saltus {

namespace {

// f = sin(x) / x and g = (1 - cos(x)) / x with two derivatives each.
struct Arc {
  double f, df, ddf, g, dg, ddg;
};

// sum (-1)^k x^(2k) / (2k + 1)! and sum (-1)^k x^(2k + 1) / (2k + 2)!, term by term: at |x| = 1 the
// twelfth is below 1e-26.
Arc by_series(double x) {
  Arc a{0, 0, 0, 0, 0, 0};
  double c = 1, power = 1;  // (-1)^k / (2k + 1)! and x^(2k)
  const double square = x * x;
  for (int k = 0; k < 12; ++k) {
    const int n = 2 * k;
    const double d = c / (n + 2);  // (-1)^k / (2k + 2)!
    a.f += c * power;
    a.g += d * power * x;
    a.dg += d * (n + 1) * power;
    // The powers below x^(2k) of the derivatives, from the next term on.
    const double next = -c / ((n + 2) * (n + 3)), after = next / (n + 4);
    a.df += next * (n + 2) * power * x;
    a.ddf += next * (n + 2) * (n + 1) * power;
    a.ddg += after * (n + 3) * (n + 2) * power * x;
    c = next;
    power *= square;
  }
  return a;
}

Arc arc(double x) {
  if (std::abs(x) < 1) return by_series(x);
  const double s = std::sin(x), c = std::cos(x);
  Arc a{};
  a.f = s / x;
  a.df = (c - a.f) / x;
  a.ddf = -(s + 2 * a.df) / x;
  a.g = (1 - c) / x;
  a.dg = (s - a.g) / x;
  a.ddg = (c - 2 * a.dg) / x;
  return a;
}

}  // namespace

BendCurve bend_curve(const Vec3& axis, double length, double at, double q) {
  BendCurve b;
  b.share = at / length;
  b.angle = b.share * q;
  const Arc a = arc(b.angle);
  const Vec3 x = Vec3::UnitX(), n = axis.cross(x);
  b.r = at * (a.f * x + a.g * n);
  b.slope = (at * b.share) * (a.df * x + a.dg * n);
  b.curvature = (at * b.share * b.share) * (a.ddf * x + a.ddg * n);
  return b;
}

}  // namespace saltus
