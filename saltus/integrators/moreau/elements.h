// Springs and drags in a step of Moreau's scheme (theory.md, section 10).
#pragma once
#include "saltus/contact/assembly.h"
#include "saltus/control/actuation.h"
#include "saltus/integrators/ledger.h"

namespace saltus {

// What a step knows of them.
struct ElementTerms {
  explicit ElementTerms(const Model& model);
  bool edges = false;  // any runner has one
  Vec start;           // impulse at the start velocity, rows as in State::Lambda [N s]
  Vec natural;         // mean natural length of each spring over the step [m]
  Vec length;          // of each spring at the start of the step [m]
  Vec length_end;      // and at its end
  Vec spring_rate;     // mean over the step [m/s]
};

// Lengths of the springs; needs forward_kinematics.
void spring_lengths(const Model& model, const Workspace& work, Vec& lengths);

// The impulses of springs and drags at the start velocity, added to the wrenches on bodies
// (inertial axes at their origins). Needs the kinematics of the mid-point with v_S.
void element_impulses(const Model& model, const Actuation& actuation, double t_S, double t_E,
                      const Workspace& work, ElementTerms& terms, std::vector<Vec6>& wrenches);

// The rate of a spring over the step, and what its damper took [J].
[[nodiscard]] double damper_work(const Model& model, const BlockSlot& slot, double dt, double rate,
                                 ElementTerms& terms);
// Work of changing the natural lengths: -c (l_E - l_S) (r - l) with r and l at the change, be it a
// jump (P3 section 1, Remark) or smooth.
[[nodiscard]] double muscle_work(const Model& model, const Actuation& actuation, double t_S,
                                 double t_E, const ElementTerms& terms);

}  // namespace saltus
