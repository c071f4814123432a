// Small trees, as lean as they can be: links that move only, everything in inertial axes, the mass
// matrix and its factor packed along the branches. For the step of a legged robot, where a general
// recursion costs more to set up than to run.
//
// The velocities that move a link, root first, are its *path*. The path of a velocity's ancestors
// is a prefix of that of its descendants, so column k of M (and row k of L, M = L' L; Featherstone
// 2008, section 6.5) is a short array in the order of the path, and factor, solves and Delassus
// entries are loops over prefixes of such arrays.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"

namespace saltus {

// A body that moves, with all that is fixed to it.
struct CompactLink {
  int parent = -1;  // of CompactTree::links, -1: the world
  int q0 = 0, v0 = 0, nv = 0, linear = 0;
  int above = 0;  // velocities of the path that are the parent's
  JointCase joint = JointCase::fixed;
  bool placement_turned = false, body_turned = false;
  double mass = 0;
  Vec3 offset = Vec3::Zero();         // from the parent's point to the joint's base, its axes [m]
  Vec3 first = Vec3::Zero();          // mass times centre, from the point, body axes [kg m]
  Sym3 J;                             // about the point, body axes [kg m^2]
  Vec3 axis = Vec3::Zero();           // of a one-column joint, joint frame
  Mat3 placement = Mat3::Identity();  // of the joint's frame in the parent
  Mat3 body = Mat3::Identity();       // of the body in the joint's moved frame
};

// Where a body is in its carrier: axes, and its origin from the carrier's point.
struct CompactPlace {
  int link = -1;     // -1: it does not move
  bool own = false;  // the link is named after it: its axes and point are the link's
  SE3 in_link;
};

class CompactTree {
 public:
  explicit CompactTree(const Model& model);
  // Rigid bodies in small trees; those in the plane have recursions of their own.
  [[nodiscard]] static bool holds(const Model& model, const Tree& tree);

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
  void bias(const Model& model, const double* v, double* tau);
  // Velocities of the links' points and angular velocities.
  void move(const double* v);
  [[nodiscard]] double kinetic_energy(const Model& model, const double* v) const;  // after move()
  [[nodiscard]] double gravity_energy(const Model& model) const;

  [[nodiscard]] double external_power() const;  // of `external`, after move()

  // Rows of a point fixed to a link, along the columns of D, in the order of its path.
  void rows(int link, const Vec3& point, const Mat3& D, double* r0, double* r1, double* r2) const;
  // The velocity of such a point along a direction, at the velocities v.
  [[nodiscard]] double point_rate(int link, const Vec3& point, const Vec3& direction,
                                  const double* v) const;
  // z = L'^-1 w of a row along a path: with it (w, M^-1 w') = z . z' over the common prefix.
  // The row has the path's first `length` velocities.
  void half_solve(int link, int length, double* w) const;
  // Of a velocity: its link, and how many are before it on the path.
  [[nodiscard]] int link_of(int v) const { return link_of_[v]; }
  [[nodiscard]] int ancestors(int v) const { return ancestors_[v]; }
  [[nodiscard]] int length(int link) const { return links[link].above + links[link].nv; }
  [[nodiscard]] const int* path(int link) const { return path_.data() + link * width_; }
  // Of two links: how many velocities of their paths are the same.
  [[nodiscard]] int common(int a, int b) const { return common_[a * link_count() + b]; }
  [[nodiscard]] int link_count() const { return static_cast<int>(links.size()); }
  [[nodiscard]] int width() const { return width_; }  // the longest path

  // What forward_kinematics would have left: of all bodies, after place() and move().
  void publish(const Model& model, Workspace& work) const;

  std::vector<CompactLink> links;    // parents first
  std::vector<CompactPlace> bodies;  // of the model
  struct Pose {
    Mat3 R = Mat3::Identity();
    Vec3 p = Vec3::Zero(), r = Vec3::Zero();  // its point, and from the parent's [m]
  };
  std::vector<Pose> poses;
  struct Wrench {
    Vec3 f = Vec3::Zero(), n = Vec3::Zero();
  };
  std::vector<Wrench> external;  // on the links at their points, inertial axes
  bool has_external = false;

 private:
  void set_links(const Model& model, const Tree& tree);
  void set_paths();
  int width_ = 0;
  Vec3 still_moment_ = Vec3::Zero();  // mass times centre of what does not move [kg m]
  std::vector<int> path_;             // of each link, width_ apart
  std::vector<int> common_;           // of each pair of links
  std::vector<int> link_of_;          // of each velocity
  std::vector<int> ancestors_;        // of each velocity: how many
  std::vector<Vec3> axis_;  // of each velocity: linear or angular column at its link's point
  std::vector<RigidAtPoint> inertia_, composite_;  // of the links, inertial axes
  std::vector<double> column_;                     // of M, then of L: width_ apart
  Vec diagonal_, inverse_;                         // of M; 1 / of L
  struct Motion {
    Vec3 w = Vec3::Zero(), v = Vec3::Zero();
    Vec3 a = Vec3::Zero(), alpha = Vec3::Zero();
    Vec3 f = Vec3::Zero(), n = Vec3::Zero();
  };
  std::vector<Motion> motion_;
};

}  // namespace saltus
