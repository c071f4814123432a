// Everything computed from a state, sized once from the Model. Each field names the function that
// fills it. Body quantities are in the body's frame unless the name says otherwise.
#pragma once
#include <vector>

#include "saltus/model/model.h"
#include "saltus/model/state.h"

namespace saltus {

struct Workspace {
  // <- forward_kinematics
  std::vector<SE3> X_pb;   // body in its parent
  std::vector<SE3> X;      // body in the inertial frame
  std::vector<Vec6> V;     // twist of the body
  Mat6X S;                 // 6 x nv: joint columns, body frame
  std::vector<Vec6> bias;  // (dS/dt) v of the body's joint
  // <- world_columns
  Mat6X S0;  // 6 x nv: joint columns as twists of the inertial frame at its origin
  // <- crba
  Mat M;  // mass matrix, armature included [kg, kg m, kg m^2]
  // <- factor
  Mat L;  // M' = L^T L, tree-sparse; M' = M with prescribed rows made trivial
  // <- bias_force / rnea
  Vec tau_bias;  // C(q, v) v - gravity - external: M a + tau_bias = tau
  // Input: wrenches on bodies from outside, body frame at its origin [N, N m]
  std::vector<Vec6> external;
  // Scratch of the recursions.
  std::vector<Vec6> A, F;
  std::vector<Mat6> I_a;  // composite or articulated inertia
  std::vector<Vec6> p_a;
  Mat6X U;  // articulated I S
  std::vector<Mat6> D_inv;
  Vec u, column, tau, scratch_v;

  explicit Workspace(const Model& model);
};

}  // namespace saltus
