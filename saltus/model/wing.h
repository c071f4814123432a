// A flapping wing as blade elements: quasi-steady forces of each strip on the motion of its pitch
// axis (forces/wing.h).
#pragma once
#include "saltus/base/types.h"

namespace saltus {

// Of the angle of attack a in degrees (Dickinson, Lehmann and Sane 1999):
//   C_L = lift[0] + lift[1] sin(lift[2] a - lift[3]),  C_D = drag[0] - drag[1] cos(drag[2] a -
//   drag[3])
struct WingCoefficients {
  double lift[4] = {0.225, 1.58, 2.13, 7.2};
  double drag[4] = {1.92, 1.55, 2.04, 9.82};
};

struct Wing {
  Vec3 root = Vec3::Zero();     // where the pitch axis begins, in the body [m]
  Vec3 span = Vec3::UnitX();    // of the axis, unit, in the body
  Vec3 chord = -Vec3::UnitZ();  // from the axis to the trailing edge, unit, across the span
  double length = 0;            // R [m]
  double width = 0;             // c [m]
  double density = 1.225;       // of the fluid [kg/m^3]
  WingCoefficients coefficients;
  double pressure = 0.4;  // centre of pressure behind the axis, of the chord
  double damping = 5;     // C of the couple -C/8 density c^4 w |w| a length, w about the span
  double rotational = 0;  // C of the force -C density c^2 |v| w, normal to the wing; thin: pi 3/4
  int blades = 4;         // strips of the span, each with two Gauss points
};

}  // namespace saltus
