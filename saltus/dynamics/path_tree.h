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

#include "saltus/dynamics/packed.h"
#include "saltus/dynamics/workspace.h"

namespace saltus {

// Mass, first moment m c and moment of inertia about a point.
struct alignas(pack_alignment) PackedInertia {
  double mass = 0;
  Pack first = {};  // [kg m]
  Pack3x3 J;        // [kg m^2]
};

// A body that moves, with all that is fixed to it.
struct alignas(pack_alignment) PathLink {
  int parent = -1;  // of PathTree::links, -1: the world
  int q0 = 0, v0 = 0, nv = 0, linear = 0;
  int above = 0;   // velocities of the path that are the parent's
  int angle = -1;  // of a joint that turns about an axis of its frame: which of PathTree's angles
  JointCase joint = JointCase::fixed;
  bool placement_turned = false, body_turned = false;
  PackedInertia inertia;  // about the point, body axes
  Pack offset = {};       // from the parent's point to the joint's base, its axes [m]
  Pack axis = {};         // of a one-column joint, joint frame
  Pack3x3 placement;      // of the joint's frame in the parent
  Pack3x3 body;           // of the body in the joint's moved frame
};

// Where a body is in its carrier: axes, and its origin from the carrier's point.
struct PathPlace {
  int link = -1;     // -1: it does not move
  bool own = false;  // the link is named after it: its axes and point are the link's
  SE3 in_link;
};

class PathTree {
 public:
  explicit PathTree(const Model& model);
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
  // Velocities of the links' points and angular velocities; nothing where they are there already.
  void move(const double* v);
  [[nodiscard]] double kinetic_energy(const Model& model, const double* v) const;  // after move()

  // Rows of up to four wrenches on a link (six numbers each, inertial axes, about `origin`): an
  // entry for each velocity of the link's path.
  void rows(int link, const Vec3& origin, const double* wrenches, int count, Pack* w) const;
  // z = L'^-1 w of up to four rows along a path: with it (w, M^-1 w') = z . z' over the common
  // prefix. The rows have the path's first `length` velocities.
  void half_solve(int link, int length, Pack* w) const;
  // Of a velocity: its link, and how many are before it on the path.
  [[nodiscard]] int link_of(int v) const { return link_of_[v]; }
  [[nodiscard]] int ancestors(int v) const { return ancestors_[v]; }
  [[nodiscard]] int length(int link) const { return links[link].above + links[link].nv; }
  [[nodiscard]] const int* path(int link) const { return path_.data() + link * width_; }
  // Of two links: how many velocities of their paths are the same.
  [[nodiscard]] int common(int a, int b) const { return common_[a * link_count() + b]; }
  [[nodiscard]] int link_count() const { return static_cast<int>(links.size()); }
  [[nodiscard]] int width() const { return width_; }  // the longest path, rounded up to a Pack
  [[nodiscard]] Vec3 point(int link) const;           // after place() [m]

  // Of all bodies: twists at their origins in inertial axes, and, after place(), poses.
  void twists(const double* v, std::vector<Vec6>& V);
  void publish_poses(std::vector<SE3>& X) const;
  // What forward_kinematics would have left: of all bodies, after place() and move().
  void publish(const Model& model, Workspace& work) const;

  std::vector<PathLink> links;    // parents first
  std::vector<PathPlace> bodies;  // of the model
  struct Wrench {
    Vec3 f = Vec3::Zero(), n = Vec3::Zero();
  };
  std::vector<Wrench> external;  // on the links at their points, inertial axes
  bool has_external = false;

 private:
  void set_links(const Model& model, const Tree& tree);
  void set_angles();
  void set_paths();
  void set_segments();
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
  // Four entries at most of a column of L: where they are in the path, and whole Packs of a vector
  // in which every chain of links begins with a Pack of its own.
  struct Piece {
    int at, count, pack;
  };
  std::vector<int> angles_;  // where the angles are in q, whole Packs of them
  Packs sin_, cos_;          // of the angles  <- place
  int width_ = 0;
  std::vector<int> path_;           // of each link, width_ apart
  std::vector<int> common_;         // of each pair of links
  std::vector<int> link_of_;        // of each velocity
  std::vector<int> ancestors_;      // of each velocity: how many
  std::vector<Piece> pieces_;       // of each velocity's ancestors
  std::vector<int> first_piece_;    // of each velocity, and the end
  std::vector<int> own_piece_;      // of each velocity: the first of its own segment
  std::vector<int> segment_start_;  // of each velocity: the first ancestor in its segment
  std::vector<int> place_of_;       // of each velocity in a vector of Packs
  std::vector<Pose> poses_;
  Packs axis_;  // of each velocity: linear or angular column at its link's point
  std::vector<PackedInertia> inertia_, composite_;  // of the links, inertial axes
  // Of M, then of L, width_ apart; after the ancestors the diagonal, then nothing.
  std::vector<double> column_;
  Vec inverse_;         // 1 / diagonal of L
  Packs packed_;        // the pieces of L
  mutable Packs work_;  // a vector of Packs: what solves work on
  std::vector<Motion> motion_;
  Vec moved_;           // the velocities of motion_  <- move
  bool moves_ = false;  // whether it has them, at the last place()
};

}  // namespace saltus
