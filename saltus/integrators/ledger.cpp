#include "saltus/integrators/ledger.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/contact/cables.h"
#include "saltus/contact/elements.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/forces/fluid.h"
#include "saltus/forces/joint_forces.h"
#include "saltus/forces/rod_forces.h"
#include "saltus/rods/segment.h"

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

double EnergyTerms::turned_over() const {
  double sum = 0;
  for (const double x :
       {motors, prescribed, muscles, external, dampers, contacts, friction, joints})
    sum += std::abs(x);
  return sum;
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
  double U = gravity_energy(model, work) + buoyancy_energy(model, work);
  for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
    const JointDof& dof = model.coordinates[i].dof;
    if (dof.stiffness > 0)
      U += spring_energy(
          dof, coordinate_value(model, work, q, turns, CoordinateIndex(static_cast<int>(i))));
  }
  return U + elastic_energy(model, q);
}

namespace {

// What muscles change of it: x = q - a in place of q.
double muscle_energy(const Model& model, const Actuation& actuation, const State& state) {
  double U = 0;
  std::array<double, most_coefficients> x;
  auto next = actuation.strains.begin();
  for (const RodElement& r : model.rods) {
    const double* q = state.q.data() + r.q0;
    std::copy(q, q + r.size, x.begin());
    bool any = false;
    for (; next != actuation.strains.end() && next->coordinate < r.coordinate + r.size; ++next) {
      x[next->coordinate - r.coordinate] -= value(next->offset, state.t);
      any = true;
    }
    if (any) U += elastic_energy(r, x.data()) - elastic_energy(r, q);
  }
  return U;
}

}  // namespace

double potential_energy(const Model& model, const Actuation& actuation, const State& state,
                        const Workspace& work) {
  double U = potential_energy(model, state.q, state.turns, work);
  if (!actuation.strains.empty()) U += muscle_energy(model, actuation, state);
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const Spring& s = model.springs[i];
    const double stretch =
        spring_row(work, s).length - natural_length(model, actuation, static_cast<int>(i), state.t);
    U += 0.5 * s.stiffness * stretch * stretch;
  }
  for (const Cable& c : model.cables) {
    if (!c.stretches || c.driven) continue;
    const double r = cable_length(work, c, [&](CoordinateIndex i) {
      return coordinate_value(model, work, state.q, state.turns, i);
    });
    U += spring_energy(c, r, c.length);
  }
  return U;
}

}  // namespace saltus
