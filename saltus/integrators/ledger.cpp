#include "saltus/integrators/ledger.h"

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/forces/joint_forces.h"

namespace saltus {

void EnergyTerms::add_work(const EnergyTerms& s) {
  kinetic = s.kinetic;
  potential = s.potential;
  motors += s.motors;
  prescribed += s.prescribed;
  external += s.external;
  dampers += s.dampers;
  contacts += s.contacts;
  friction += s.friction;
  joints += s.joints;
  correction += s.correction;
  integrator += s.integrator;
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

}  // namespace saltus
