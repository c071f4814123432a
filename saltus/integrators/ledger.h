// The energy ledger: where the mechanical energy of a step came from and went.
#pragma once
#include "saltus/control/actuation.h"
#include "saltus/integrators/impact_record.h"

namespace saltus {

// Energies at the end of a step [J] and the work done on the system in it [J]. The sum of all work
// terms, correction and integrator error included, is the change of kinetic + potential energy.
struct EnergyTerms {
  double kinetic = 0, potential = 0;  // potential: gravity, buoyancy, springs
  double motors = 0;                  // work of motors
  double prescribed = 0;              // work of prescribed coordinates' drives
  double muscles = 0;                 // work of changing the natural lengths of springs
  double external = 0;                // user forces and wrenches; currents
  double dampers = 0;                 // and drags
  // These three gain nothing in a step of time stepping, together: LawWork.
  double contacts = 0;    // normal impulses, impacts included; scales that hold
  double friction = 0;    // tangential impulses, supports, sliding runners
  double joints = 0;      // bilateral rows, limits and dry friction of joints; edges
  double correction = 0;  // position correction
  double integrator = 0;  // what is left: error of the scheme, LawWork's gain included
  double impacts =
      0;  // part of contacts, friction, joints and prescribed: at impacts, less a gain as above

  void add_work(const EnergyTerms& step);  // sums the work terms, takes over the energies
  [[nodiscard]] double total() const { return kinetic + potential; }
  // What forces took and gave, each by its size [J].
  [[nodiscard]] double turned_over() const;
  [[nodiscard]] double work_without_integrator() const {
    return motors + prescribed + muscles + external + dampers + contacts + friction + joints +
           correction;
  }
};

// Works Lambda . (gamma_S + gamma_E)/2 of the laws that only take, over a step [J]: of contacts,
// limits and dry friction, which obey -gamma_E in N_C(Lambda) with 0 in C, so Lambda . gamma_E <=
// 0. With gamma_E = gamma_S + delta + G Lambda, where delta is what all other forces do to gamma,
//   sum Lambda . (gamma_S + gamma_E)/2 = Lambda . gamma_E - Lambda' G Lambda / 2 - Lambda . delta /
//   2:
// of the sum nothing can be gained but by the last term, which has a factor dt and is there because
// the law knows gamma at the end alone: the scheme's. (One row alone may well gain, also in the
// limit dt -> 0: friction where an impact turns the slip round takes less than the others lose by
// it.)
struct LawWork {
  double contacts = 0, friction = 0, joints = 0;
  [[nodiscard]] double sum() const { return contacts + friction + joints; }
};
// Enters the works, less a gain of their sum, which is left to the integrator's term: it is taken
// from those that gained, in proportion. `may_gain`: an impact law that does acted, nothing is
// taken.
void enter(const LawWork& work, bool may_gain, EnergyTerms& energy);

// An impact's work.
void enter(const ImpactRecord& impact, EnergyTerms& energy);

// Gravity and joint springs; needs forward_kinematics.
[[nodiscard]] double potential_energy(const Model& model, VecIn q,
                                      const std::vector<std::int32_t>& turns,
                                      const Workspace& work);
// With cables that stretch, and the springs between points at their natural lengths of time t.
[[nodiscard]] double potential_energy(const Model& model, const Actuation& actuation,
                                      const State& state, const Workspace& work);

}  // namespace saltus
