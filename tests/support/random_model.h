// Random forests of bodies with every kind of joint, and a kinematics of their own to test against.
#pragma once
#include <string>
#include <vector>

#include "saltus/model/builder.h"
#include "saltus/model/state.h"
#include "tests/support/random.h"

namespace saltus::test {

enum class Kinds {
  all,     // every joint anywhere
  mujoco,  // what MuJoCo has too: floating at the world only, placed at its origin
  planar   // what moves in the x-y plane
};

struct ForestOptions {
  int least_bodies = 1, most_bodies = 12;
  Kinds kinds = Kinds::all;
  bool single_root = false;  // one tree whose root floats
  bool armature = true;
  bool added_inertia = false;
  double prescribed = 0;  // share of prescribed scalar coordinates
  CoordinateSet coordinates = CoordinateSet::as_marked;
};

Joint random_joint(Random& random, Kinds kinds, bool at_world);
SE3 random_placement(Random& random, Kinds kinds, double scale);
std::vector<JointDof> random_dofs(Random& random, const Joint& joint, const ForestOptions& options);
// Bodies b0, b1, ... with parents of lower number, handed to the builder in any order.
ModelBuilder random_forest(Random& random, const ForestOptions& options);
Vec random_q(Random& random, const Joint& joint);
State random_state(Random& random, const Model& model, double speed = 2);

// Kinematics written again from the comments of joint.h and model.h.
Mat3 rotation_about(const Vec3& axis, double angle);
Mat3 rotation_of(const Vec4& q);  // w, x, y, z
SE3 joint_pose(const Joint& joint, const Vec& q);
std::vector<SE3> body_poses(const Model& model, const Vec& q);
Vec4 quaternion_product(const Vec4& a, const Vec4& b);
// q after the time t at constant v.
Vec joint_flow(const Joint& joint, const Vec& q, const Vec& v, double t);
Vec flow(const Model& model, const Vec& q, const Vec& v, double t);

// Derivative at 0 by central differences of order 8: truncation h^8 f^(9)/630.
template <class F>
auto derivative(const F& f, double h) {
  using Result = decltype(f(h));
  Result sum = 0.8 * (f(h) - f(-h));
  sum -= 0.2 * (f(2 * h) - f(-2 * h));
  sum += 4.0 / 105 * (f(3 * h) - f(-3 * h));
  sum -= 1.0 / 280 * (f(4 * h) - f(-4 * h));
  return Result(sum / h);
}

}  // namespace saltus::test
