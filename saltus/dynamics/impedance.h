// The linear law that springs, dampers, armature and motors impose on one joint coordinate in one
// step: impulse = start - gain (rate_E - rate_S), within bounds. With gain > 0 the term is
// implicit, so that a stiff gain does not dictate the step.
#pragma once
#include "saltus/model/model.h"

namespace saltus {

struct Impedance {
  double start = 0;  // impulse if the rate did not change [N m s] or [N s]
  double gain = 0;   // [kg m^2] or [kg]
  double lower = -infinity, upper = infinity;  // of the impulse
};

// What a drive can give at one speed w of its joint [N m] or [N], and how its bounds fall with the
// speed, -d/dw >= 0 [N m s/rad] or [N s/m].
struct TorqueRange {
  double lower = -infinity, upper = infinity;
  double lower_slope = 0, upper_slope = 0;
};

}  // namespace saltus
