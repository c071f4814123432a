// Energies and momenta. All need forward_kinematics.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

[[nodiscard]] double kinetic_energy(const Model& model, VecIn v, const Workspace& work);  // [J]
[[nodiscard]] double gravity_energy(const Model& model, const Workspace& work);           // [J]
[[nodiscard]] Vec3 centre_of_mass(const Model& model, const Workspace& work);             // [m]

struct Momentum {
  Vec3 linear;   // [N s]
  Vec3 angular;  // about the inertial origin [N m s]
};
[[nodiscard]] Momentum momentum(const Model& model, const Workspace& work);

}  // namespace saltus
