// The recursions over the tree. Free functions over (Model, Workspace). Those without q need
// forward_kinematics (or move_links) first; those with q do the kinematics they need themselves and
// leave X, V and S as they were. Conventions: M a + C(q, v) v - gravity - external = tau.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

// Inverse dynamics: tau for the acceleration a (armature included). Uses work.external.
void rnea(const Model& model, VecIn a, Workspace& work, VecRef tau);
void rnea(const Model& model, VecIn q, VecIn v, VecIn a, Workspace& work, VecRef tau);
// tau_bias = rnea with a = 0.
void bias_force(const Model& model, Workspace& work);
// Mass matrix work.M, armature included.
void crba(const Model& model, Workspace& work);
void crba(const Model& model, VecIn q, Workspace& work);
// Forward dynamics in O(n): a for the joint forces tau.
void aba(const Model& model, VecIn tau, Workspace& work, VecRef a);
void aba(const Model& model, VecIn q, VecIn v, VecIn tau, Workspace& work, VecRef a);

}  // namespace saltus
