#include "saltus/forces/wing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {

namespace {

constexpr double degree = std::numbers::pi / 180;

Vec6 force_at(const Vec3& point, const Vec3& force) { return join(force, point.cross(force)); }

Vec6 blade_wrench(const Wing& wing, const Vec3& axis_point, double dr, const Vec3& v, double w) {
  const double c = wing.width, speed = v.norm();
  if (!(speed > 0)) return Vec6::Zero();
  const Vec3 e = v / speed;
  const double cosine = std::clamp(-wing.chord.dot(e), -1.0, 1.0);
  const double a = std::acos(cosine) / degree, q = 0.5 * wing.density * c * dr * speed * speed;
  Vec3 l = -wing.chord - cosine * e;  // of length sin a; edge on it has no side
  const double sine = l.norm();
  l = sine > 1e-9 ? Vec3(l / sine) : Vec3(Vec3::Zero());
  const Vec3 force =
      q * (lift_coefficient(wing.coefficients, a) * l - drag_coefficient(wing.coefficients, a) * e);
  Vec6 wrench = force_at(axis_point + wing.pressure * c * wing.chord, force);
  if (wing.rotational != 0)
    wrench +=
        force_at(axis_point + 0.5 * c * wing.chord, -wing.rotational * wing.density * c * c * dr *
                                                        speed * w * wing.span.cross(wing.chord));
  return wrench;
}

}  // namespace

double lift_coefficient(const WingCoefficients& c, double degrees) {
  return c.lift[0] + c.lift[1] * std::sin((c.lift[2] * degrees - c.lift[3]) * degree);
}

double drag_coefficient(const WingCoefficients& c, double degrees) {
  return c.drag[0] - c.drag[1] * std::cos((c.drag[2] * degrees - c.drag[3]) * degree);
}

Vec6 wing_wrench(const Wing& wing, const Vec6& twist, const Vec3& flow) {
  Vec6 wrench = Vec6::Zero();
  const Vec3 omega = twist.tail<3>();
  const double w = omega.dot(wing.span), c2 = wing.width * wing.width;
  for (int i = 0; i < wing.blades; ++i) {
    // Strips of equal length, exact for the r^2 of a turning wing by Gauss' two points each.
    const double dr = wing.length / wing.blades;
    for (const double u : {0.5 - 0.5 / std::numbers::sqrt3, 0.5 + 0.5 / std::numbers::sqrt3}) {
      const Vec3 p = wing.root + (i + u) * dr * wing.span;
      const Vec3 v = twist.head<3>() + omega.cross(p) - flow;
      wrench += blade_wrench(wing, p, 0.5 * dr, v - v.dot(wing.span) * wing.span, w);
    }
  }
  wrench.tail<3>() -=
      wing.damping / 8 * wing.density * c2 * c2 * wing.length * w * std::abs(w) * wing.span;
  return wrench;
}

}  // namespace saltus
