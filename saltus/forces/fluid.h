// What a fluid does to bodies and to sections of slender ones (model.h, Fluid; docs/fluids.md).
//
// With U the flow at `centre`, V = (v - R' U, omega) the twist against it in the body's frame and
// s the wet share:
//   drag        -s (K V + T' (c_i |V_c,i| V_c,i)_i),   V_c = T V at the centre
//   its slope   s (K + T' diag(2 c_i |V_c,i|) T), -dF/dV: symmetric, without negative directions
//   pressure    lift (s (-gravity) + DU/Dt),   DU/Dt = dU/dt + (U . grad) U
//   added mass  its inertia A is the body's, whose -(A dV_b/dt + V_b x* A V_b) holds the Munk
//   couple
//               and the force at the head; of the flow there remain
//               A (d(R' U)/dt, 0) - V x* A V + V_b x* A V_b,   V_b the body's own twist,
//               d/dt following the body: R' (dU/dt + (v . grad) U) - omega x R' U
//   end         G = u p - (v . p) t / 2,  p = m v,  u = v . t: the flux of added momentum that the
//               end sheds (Lighthill 1971), v against the flow there, t outward, m per length.
//   stretch     the flux G along the body works on dx', the change of its tangent: the couple is in
//               A's inertia, and where a rod stretches, x' = (1 + e) t, -G.t de = w.(m w)/2 de is
//               left, w across. A and what it is of are per rest length: a section that stretches
//               becomes thinner and keeps its volume, m = A/(1 + e) per length.
//
// Buoyancy has an energy: of what is wet, lift gravity . p.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

struct FluidForce {
  Vec6 wrench = Vec6::Zero();  // all of it on the body, its frame
  Mat6 slope = Mat6::Zero();   // of the drag
  double lost = 0;             // power of the drag on V, never positive [W]
  double given = 0;            // power of the flow and of the wake, all else but buoyancy [W]
  double flux = 0;             // w.(A w)/2, w across x [J]
};
// On a body at X with the twist V, its frame.
[[nodiscard]] FluidForce fluid_force(const Fluid& fluid, const Vec3& gravity, double t,
                                     const SE3& X, const Vec6& twist);

// What the flux does to the stretch of a rod, where the fluid is at a station of one: its force
// along the coefficients times `scale`, and its power, which is not in `given`.
void add_stretch(const Model& model, const Fluid& fluid, const FluidForce& force, VecIn q,
                 double scale, VecRef tau);
[[nodiscard]] double stretch_power(const Model& model, const Fluid& fluid, const FluidForce& force,
                                   VecIn q, VecIn v);

// Of buoyancy [J]; needs forward_kinematics.
[[nodiscard]] double buoyancy_energy(const Model& model, const Workspace& work);

}  // namespace saltus
