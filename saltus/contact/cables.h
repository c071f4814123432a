// Lengths and directions of cables (model/model.h). All need forward_kinematics.
#pragma once
#include "saltus/contact/assembly.h"

namespace saltus {

// Of the straight pieces [m].
[[nodiscard]] double straight_length(const Workspace& work, const Cable& cable);
// r, with the pulleys' coordinates as value(CoordinateIndex) gives them [m].
template <class Value>
[[nodiscard]] double cable_length(const Workspace& work, const Cable& cable, const Value& value) {
  double r = straight_length(work, cable);
  for (const GapTerm& p : cable.pulleys) r += p.gap * value(p.coordinate);
  return r;
}
// The wrench about the inertial origin with which dr/dt = wrench . V + that of the other bodies.
[[nodiscard]] Vec6 stretch_wrench(const Workspace& work, const Cable& cable, BodyIndex body);
// dr/dv of a cable that is a row of velocities, one a term of `run`, times a factor.
void stretch_terms(const Model& model, const Workspace& work, const Cable& cable, double factor,
                   GapContact& run);
// dr/dv over all velocities.
[[nodiscard]] Vec stretch_column(const Model& model, const Workspace& work, const Cable& cable);

// c (r - l) of a cable's spring, which is slack or not [N], and its energy [J].
[[nodiscard]] double spring_tension(const Cable& cable, double length, double natural);
[[nodiscard]] double spring_energy(const Cable& cable, double length, double natural);
// What its damper takes in a step [J]; gammas are those of its row, -dr/dt.
[[nodiscard]] double damper_work(const Cable& cable, const CableRow& row, double dt, double Lambda,
                                 double gamma_S, double gamma_mean);

}  // namespace saltus
