// A rod: segments end to end, on a base that is clamped, hinged, free or moved.
//
// Unknowns are the base's body twist V_0 and the coefficients' rates v. A station's body twist is
//   V_i = Ad(G_i)^-1 V_b + S_i v_s,   dV_i/dt = Ad(G_i)^-1 a_b + S_i dv_s/dt + beta_i
// with V_b the twist of its segment's base (the tip of the segment before) and beta_i the rate at
// constant V_0 and v. The equations of motion are M (dV_0/dt, dv/dt) = forces.
#pragma once
#include <string>
#include <vector>

#include "saltus/rods/reconstruction.h"

namespace saltus {

struct Rod {
  std::vector<RodSegment> segments;
  std::vector<int> first;  // coefficient of each segment
  int size = 0;            // coefficients of all
};
[[nodiscard]] Rod make_rod(const std::vector<SegmentSpec>& segments,
                           const std::string& path = "rod");

struct RodState {
  SE3 base;               // of X = 0 in the world
  Vec6 V = Vec6::Zero();  // its body twist
  Vec q, v;               // coefficients and their rates
};

struct RodLoads {
  Vec3 gravity = Vec3::Zero();       // [m/s^2]
  Vec3 tip_force = Vec3::Zero();     // in the world's axes, at the tip [N]
  Vec3 tip_moment = Vec3::Zero();    // in the world's axes [N m]
  Vec6 tip_follower = Vec6::Zero();  // a wrench in the tip's own frame
};

// One node of the chain: [A B; B' C] over the base's acceleration and the segment's own, and the
// wrench and forces (f, r) that act on them.
struct RodNode {
  Mat6 A = Mat6::Zero();
  Mat6X B, Y;  // B, and B' after the forward substitution of C's factor (its transpose)
  Mat C;       // then its Cholesky factor
  Vec6 f = Vec6::Zero();
  Vec r;
};

struct RodWork {
  std::vector<RodShape> shape;            // by segment <- rod_motion
  std::vector<SE3> base;                  // of each segment, in the world
  std::vector<std::vector<Vec6>> twist;   // by segment and station: V_i
  std::vector<std::vector<Vec6>> beta;    // beta_i
  std::vector<std::vector<Vec6>> wrench;  // what acts but for accelerations <- rod_wrenches
  std::vector<RodNode> node;              // <- rod_articulated
  Mat6X J_base, J;                        // scratch of rod_mass
  void resize(const Rod& rod);
};

// Poses, columns, twists and beta of every station. Nothing below allocates after resize.
void rod_motion(const Rod& rod, const RodState& state, RodWork& work);
// Gravity, tip loads and -(I beta + V x* I V) at every station. Needs rod_motion.
void rod_wrenches(const Rod& rod, const RodLoads& loads, RodWork& work);

// M over (V_0, v), (6 + size) square. Needs rod_motion.
void rod_mass(const Rod& rod, RodWork& work, Eigen::Ref<Mat> M);
// Their forces: sum J_i' wrench_i, and -K q - D v on the coefficients. Needs rod_wrenches, whose
// wrenches at the tips of segments it changes.
void rod_forces(const Rod& rod, const RodState& state, RodWork& work, VecRef h);

// Accelerations in O(segments): nodes from the tip, their own unknowns eliminated by Cholesky.
// Needs rod_wrenches (and spends them). `a` is the base's acceleration: given if `base` is null,
// else found in the span of base's columns (constant in the base's frame), any wrench f_0 acting on
// it.
[[nodiscard]] bool rod_articulated(const Rod& rod, const RodState& state, RodWork& work,
                                   const Mat6X* base, const Vec6& f_0, Vec6& a,
                                   VecRef acceleration);

struct RodEnergy {
  double kinetic = 0, elastic = 0, gravity = 0;  // [J]
  [[nodiscard]] double total() const { return kinetic + elastic + gravity; }
};
[[nodiscard]] RodEnergy rod_energy(const Rod& rod, const RodState& state, const RodWork& work,
                                   const Vec3& gravity);
// Linear momentum and angular momentum about the origin, in the world's axes.
[[nodiscard]] Vec6 rod_momentum(const Rod& rod, const RodWork& work);
// Pose of a station in the world.
[[nodiscard]] SE3 rod_pose(const RodWork& work, int segment, int station);
[[nodiscard]] SE3 rod_tip(const Rod& rod, const RodWork& work);

}  // namespace saltus
