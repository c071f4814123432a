// Everything computed from a state, sized once from the Model. Each field names the function that
// fills it. Body quantities are in the body's frame unless the name says otherwise.
#pragma once
#include <vector>

#include "saltus/dynamics/plan.h"
#include "saltus/model/model.h"
#include "saltus/model/state.h"
#include "saltus/rods/reconstruction.h"

namespace saltus {

struct Workspace {
  SharedPlan plan;  // the Model as the recursions read it
  // <- forward_kinematics
  std::vector<SE3> X;      // body in the inertial frame
  std::vector<Vec6> V;     // twist of the body
  Mat6X S;                 // 6 x ns: joint columns, body frame
  std::vector<Vec6> bias;  // (dS/dt) v of the body's joint
  // <- forward_kinematics, or move_links alone
  std::vector<LinkMotion> motion;  // inertial axes, at the joints' points; the world first
  Mat6X S_I;                       // 6 x ns: joint columns there
  std::vector<Vec3> curvature;     // d2r/dq2 of bends, whose columns turn against their base
  std::vector<RodShape> rods;      // of the segments of rods, from their bases; their rates too
  std::vector<char> idle;          // bodies that stand for nothing: touches nowhere <- put_touches
  // <- world_columns
  Mat6X S0;  // 6 x ns: joint columns as twists of the inertial frame at its origin
  // <- crba (nv x nv from its first call on; empty before)
  Mat M;  // mass matrix, armature included [kg, kg m, kg m^2]
  // <- bias_force / rnea
  Vec tau_bias;  // C(q, v) v - gravity - external: M a + tau_bias = tau
  // Input: wrenches on bodies from outside, body frame at its origin [N, N m]
  std::vector<Vec6> external;
  // Scratch of the recursions: inertial axes, at the joints' points, the world first.
  struct Wrench {
    Vec3 f, n;
  };
  struct Acceleration {
    Vec3 a, alpha;
  };
  std::vector<Acceleration> acceleration;  // the world falls upwards: gravity is its acceleration
  std::vector<Wrench> wrench;
  std::vector<RigidAtPoint> composite;        // crba
  std::vector<SymmetricInertia> articulated;  // aba; crba with added mass
  Mat6X U;                                    // articulated I S
  std::vector<Mat6> D;  // aba: factor of S' I S of joints with several columns
  std::vector<Mat> C;   // aba: the same of elements with several stations (Plan::elements)
  Mat6X B;              // aba: their [A B; B' C] over the parent's acceleration, by velocities
  Mat columns;          // crba: a wrench a velocity (f, n), depth first
  Vec u, d_inv, column, tau, scratch_v;

  explicit Workspace(const Model& model);  // makes a plan
  Workspace(const Model& model, SharedPlan shared);
};

}  // namespace saltus
