// The momentum of body and fluid in a given flow: P4's balance with vorticity (24),
//
//   (P, sigma)_shape + (P, sigma)_net + (P, sigma)_v = const   where nothing else acts,
//
// all about the inertial origin. Of bodies with added mass, V_b = V_net + V_shape, the first as if
// the joints stood still. Of the vorticity term the integral over the bodies' surfaces is, for
// bodies small against the distance of the vortices, -(A + displaced mass) U: what of the flow's
// own momentum the bodies stand in for. The other integral, the vortices' own impulse, is given
// with the flow and does not feel the bodies; `missing` is the wrench that it would have to take up
// for the balance to hold,
//
//   -U x* A (V - U)  and  of the displaced mass  m ((v - U) . grad) U,
//
// so small `missing` against the other forces is where the one-way coupling is good.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

struct MomentumBalance {
  Vec6 shape = Vec6::Zero(), net = Vec6::Zero();  // with added mass [N s, N m s]
  Vec6 flow = Vec6::Zero();                       // of the surfaces [N s, N m s]
  Vec6 missing = Vec6::Zero();                    // [N, N m]
};
// Needs forward_kinematics.
[[nodiscard]] MomentumBalance momentum_balance(const Model& model, const Workspace& work, double t);

}  // namespace saltus
