#include "saltus/integrators/ledger.h"

#include <algorithm>

#include "saltus/contact/elements.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/forces/joint_forces.h"

namespace saltus {

void EnergyTerms::add_work(const EnergyTerms& s) {
  kinetic = s.kinetic;
  potential = s.potential;
  motors += s.motors;
  prescribed += s.prescribed;
  muscles += s.muscles;
  external += s.external;
  dampers += s.dampers;
  contacts += s.contacts;
  friction += s.friction;
  joints += s.joints;
  correction += s.correction;
  integrator += s.integrator;
  impacts += s.impacts;
}

void enter(const LawWork& work, bool may_gain, EnergyTerms& e) {
  const double gain = work.sum();
  const auto gained = [](double x) { return std::max(x, 0.0); };
  double keep = 1;  // of what gained
  if (gain > 0 && !may_gain)
    keep -= gain / (gained(work.contacts) + gained(work.friction) + gained(work.joints));
  const auto entry = [&](double x) { return x > 0 ? keep * x : x; };
  e.contacts += entry(work.contacts);
  e.friction += entry(work.friction);
  e.joints += entry(work.joints);
}

void enter(const ImpactRecord& r, EnergyTerms& e) {
  e.contacts += r.normal + r.attenuated + r.accumulated;
  e.friction += r.tangential;
  e.joints += r.joints;
  e.prescribed += r.drives;
  e.impacts += r.work();
}

double potential_energy(const Model& model, VecIn q, const std::vector<std::int32_t>& turns,
                        const Workspace& work) {
  double U = gravity_energy(model, work);
  for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
    const JointDof& dof = model.coordinates[i].dof;
    if (dof.stiffness > 0)
      U += spring_energy(
          dof, coordinate_value(model, work, q, turns, CoordinateIndex(static_cast<int>(i))));
  }
  return U;
}

double potential_energy(const Model& model, const Actuation& actuation, const State& state,
                        const Workspace& work) {
  double U = potential_energy(model, state.q, state.turns, work);
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& s = model.springs[i];
    const double stretch =
        spring_row(work, s).length - natural_length(model, actuation, static_cast<int>(i), state.t);
    U += 0.5 * s.stiffness * stretch * stretch;
  }
  return U;
}

}  // namespace saltus
