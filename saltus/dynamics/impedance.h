// The linear law that springs, dampers, armature and motors impose on one joint coordinate in one
// step: impulse = start - gain (rate_E - rate_S). With gain > 0 the term is implicit, so that a
// stiff gain does not dictate the step.
#pragma once

namespace saltus {

struct Impedance {
  double start = 0;  // impulse if the rate did not change [N m s] or [N s]
  double gain = 0;   // [kg m^2] or [kg]
  double limit = 0;  // largest |impulse|; infinity where there is none
};

}  // namespace saltus
