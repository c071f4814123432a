// Quasi-steady force of a wing by blade elements (model/wing.h; Sane and Dickinson 2002). Of a
// blade of length dr at r along the axis, with v its velocity against the fluid there less the part
// along the span, c the chord's direction and w the turning about the span:
//   a     = angle between v and -c (0: edge on, 90 degrees: broadside)
//   force = density c dr |v|^2/2 (C_L l - C_D v/|v|) behind the axis,  l across v towards -c
//           - C_rot density c^2 dr |v| w (span x c)                    at the middle of the chord
//   couple about the span: -C/8 density c^4 dr w |w|
#pragma once
#include "saltus/lie/se3.h"
#include "saltus/model/wing.h"

namespace saltus {

[[nodiscard]] double lift_coefficient(const WingCoefficients& c, double degrees);
[[nodiscard]] double drag_coefficient(const WingCoefficients& c, double degrees);

// On a body with the twist V, its frame; `flow`: velocity of the fluid at the wing, body frame.
[[nodiscard]] Vec6 wing_wrench(const Wing& wing, const Vec6& twist, const Vec3& flow);

}  // namespace saltus
