// Stokes drag, quadratic drag, buoyancy and a uniform current on rigid bodies (model.h, Fluid).
//
//   V  = twist of the body against the fluid, its frame: (v - R' current, omega)
//   F  = -K V - T' (c_i |V_c,i| V_c,i)_i,    V_c = T V at the centre of what is displaced
//   K' = K + T' diag(2 c_i |V_c,i|) T        its slope, -dF/dV: symmetric, without negative
//   directions
//
// Buoyancy, -lift gravity at the centre, has an energy: lift gravity . p.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

struct FluidForce {
  Vec6 wrench = Vec6::Zero();  // all of it on the body, its frame
  Mat6 slope = Mat6::Zero();   // K'
  double lost = 0;             // power of the drag on V, never positive [W]
  double carried = 0;          // power of the current: of the drag on the fluid's velocity [W]
};
// On a body at X with the twist V, its frame.
[[nodiscard]] FluidForce fluid_force(const Fluid& fluid, const Vec3& gravity, const SE3& X,
                                     const Vec6& twist);

// Of buoyancy [J]; needs forward_kinematics.
[[nodiscard]] double buoyancy_energy(const Model& model, const Workspace& work);

}  // namespace saltus
