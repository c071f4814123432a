// The elastic and viscous forces of rods along the coefficients of their strains:
//
//   tau = -K (q - a) - D v,   U = (q - a)' K (q - a) / 2,   a: offsets of muscles
//
// K and D are constant (rods/segment.h). Vectors over all velocities of the model.
#pragma once
#include "saltus/model/model.h"

namespace saltus {

struct RodPowers {
  double dampers = 0;  // -v' D v [W]
  double muscles = 0;  // -(q - a)' K da/dt [W]
};
// Adds tau. `a_rate`: of the offsets.
RodPowers add_rod_forces(const Model& model, VecIn q, VecIn v, VecIn a, VecIn a_rate, VecRef tau);
[[nodiscard]] double elastic_energy(const RodElement& rod, const double* strain);  // x = q - a [J]
// Without muscles.
[[nodiscard]] double elastic_energy(const Model& model, VecIn q);

}  // namespace saltus
