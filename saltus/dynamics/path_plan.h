// The part of the Plan that small trees need: links that move only, and what is known of their
// paths.
//
// The velocities that move a link, root first, are its *path*. The path of a velocity's ancestors
// is a prefix of that of its descendants, so that what belongs to a velocity and its ancestors is a
// short array in the order of the path.
#pragma once
#include <vector>

#include "saltus/dynamics/joint_case.h"
#include "saltus/dynamics/packed.h"
#include "saltus/lie/se3.h"

namespace saltus {

struct Plan;

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

struct PathPlan {
  std::vector<PathLink> links;    // parents first
  std::vector<PathPlace> bodies;  // of the model
  int velocities = 0;             // of the model
  int width = 0;                  // the longest path, rounded up to a Pack
  std::vector<int> angles;        // where the angles are in q, whole Packs of them
  std::vector<int> path;          // of each link, width apart
  std::vector<int> common;        // of each pair of links: how many velocities of their paths agree
  std::vector<int> link_of;       // of each velocity
  std::vector<int> ancestors;     // of each velocity: how many
  // Four entries at most of a column of L: where they are in the path, and whole Packs of a vector
  // in which every chain of links begins with a Pack of its own.
  struct Piece {
    int at, count, pack;
  };
  std::vector<Piece> pieces;       // of each velocity's ancestors
  std::vector<int> first_piece;    // of each velocity, and the end
  std::vector<int> own_piece;      // of each velocity: the first of its own segment
  std::vector<int> segment_start;  // of each velocity: the first ancestor in its segment
  std::vector<int> place_of;       // of each velocity in a vector of Packs
  int packs = 0;                   // of such a vector

  // Of a plan that `holds`.
  explicit PathPlan(const Plan& plan);
  // Rigid bodies in small trees; those in the plane have recursions of their own.
  [[nodiscard]] static bool holds(const Plan& plan);

  [[nodiscard]] int link_count() const { return static_cast<int>(links.size()); }
  [[nodiscard]] int length(int link) const { return links[link].above + links[link].nv; }
  [[nodiscard]] const int* path_of(int link) const { return path.data() + link * width; }

 private:
  void set_links(const Plan& plan);
  void set_angles();
  void set_paths();
  void set_segments();
};

}  // namespace saltus
