#include "saltus/control/swing.h"

#include <algorithm>

namespace saltus {

FootMotion swing_foot(const Vec3& from, const Vec3& to, const Vec3& up, double clearance, double s,
                      double time) {
  s = std::clamp(s, 0.0, 1.0);
  const double u = 1 - s, su = s * u, rate = 1 / time;
  const double x = s * s * s * (10 - 15 * s + 6 * s * s), dx = 30 * su * su;
  const double ddx = 60 * su * (u - s);
  const double z = 64 * su * su * su, dz = 192 * su * su * (u - s);
  const double ddz = 384 * su * ((u - s) * (u - s) - su);
  const Vec3 way = to - from, lift = clearance * up;
  return {from + x * way + z * lift, rate * (dx * way + dz * lift),
          rate * rate * (ddx * way + ddz * lift)};
}

}  // namespace saltus
