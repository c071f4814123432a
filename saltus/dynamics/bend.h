// The curve of a link of constant curvature, for small angles too.
#pragma once
#include "saltus/model/joint.h"

namespace saltus {

// Of the station `bend.at` at the angle q, in the base's frame.
struct BendCurve {
  double angle = 0, share = 0;  // phi = share q, share = s / L
  Vec3 r, slope, curvature;     // its place, dr/dq and d2r/dq2
};
[[nodiscard]] BendCurve bend_curve(const Vec3& axis, double length, double at, double q);

}  // namespace saltus
