// Small trees, as lean as they can be: links that move only, everything in inertial axes, the mass
// matrix and its factor packed along the branches. For the step of a legged robot, where a general
// recursion costs more to set up than to run.
//
// With the paths of path_plan.h column k of M (and row k of L, M = L' L; Featherstone 2008, section
// 6.5) is a short array in the order of the path, and factor, solves and Delassus entries are loops
// over prefixes of such arrays.
#pragma once
#include <vector>

#include "saltus/dynamics/plan.h"
#include "saltus/dynamics/workspace.h"

namespace saltus {

class PathTree {
 public:
  explicit PathTree(SharedPlan plan);  // one that has paths

  // Poses of the links, and the joints' columns.
  void place(const double* q);
  // Inertias in inertial axes; after place().
  void turn_inertias();
  // M + diag(extra), and M + diag(extra) = L' L; after turn_inertias(). False when singular, and
  // `culprit` is the velocity.
  void mass_matrix(const Vec& extra);
  [[nodiscard]] bool factor(int& culprit);
  void solve(double* x) const;        // (L' L)^-1 x
  void solve_lower(double* x) const;  // L^-1 x: the second half of it
  // tau of M a + tau = forces at the velocities v: quadratic terms and gravity.
  void bias(const Vec3& gravity, const double* v, double* tau);
  // Velocities of the links' points and angular velocities; nothing where they are there already.
  void move(const double* v);
  [[nodiscard]] double kinetic_energy(const double* v) const;  // after move()

  // Rows of up to four wrenches on a link (six numbers each, inertial axes, about `origin`): an
  // entry for each velocity of the link's path.
  void rows(int link, const Vec3& origin, const double* wrenches, int count, Pack* w) const;
  // z = L'^-1 w of up to four rows along a path: with it (w, M^-1 w') = z . z' over the common
  // prefix. The rows have the path's first `length` velocities.
  void half_solve(int link, int length, Pack* w) const;
  [[nodiscard]] const PathPlan& plan() const { return *paths_; }
  [[nodiscard]] Vec3 point(int link) const;  // after place() [m]

  // Of all bodies: twists at their origins in inertial axes, and, after place(), poses.
  void twists(const double* v, std::vector<Vec6>& V);
  void publish_poses(std::vector<SE3>& X) const;
  // What forward_kinematics would have left: of all bodies, after place() and move().
  void publish(Workspace& work) const;

  struct Wrench {
    Vec3 f = Vec3::Zero(), n = Vec3::Zero();
  };
  std::vector<Wrench> external;  // on the links at their points, inertial axes
  bool has_external = false;

 private:
  void turn_angles(const double* q);
  void pack_columns();
  struct alignas(pack_alignment) Pose {
    Pack3x3 R;
    Pack p = {}, r = {};  // its point, and from the parent's [m]
  };
  struct alignas(pack_alignment) Motion {
    Pack w = {}, v = {};
    Pack a = {}, alpha = {};
    Pack f = {}, n = {};
  };
  SharedPlan plan_;
  const PathPlan* paths_;  // of plan_
  Packs sin_, cos_;        // of the angles  <- place
  std::vector<Pose> poses_;
  Packs axis_;  // of each velocity: linear or angular column at its link's point
  std::vector<PackedInertia> inertia_, composite_;  // of the links, inertial axes
  // Of M, then of L, the plan's width apart; after the ancestors the diagonal, then nothing.
  std::vector<double> column_;
  Vec inverse_;         // 1 / diagonal of L
  Packs packed_;        // the pieces of L
  mutable Packs work_;  // a vector of Packs: what solves work on
  std::vector<Motion> motion_;
  Vec moved_;           // the velocities of motion_  <- move
  bool moves_ = false;  // whether it has them, at the last place()
};

}  // namespace saltus
