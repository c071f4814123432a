// What the kernels read of a Model: one flat table without strings or variants, in the order they
// read it. Made once, then shared by whoever steps the Model, which does not change afterwards.
// Both storages (contact/mechanics.h) read it and nothing else of bodies and joints.
//
// A body's *point* is the origin of its own joint's frame. Seen from there, in axes that do not
// turn, a revolute joint has no linear column and going to the parent is a translation.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "saltus/dynamics/joint_case.h"
#include "saltus/dynamics/path_plan.h"
#include "saltus/lie/articulated.h"
#include "saltus/model/model.h"
#include "saltus/solvers/forest.h"

namespace saltus {

struct Link {
  int parent = 0;  // in the table of links, where 0 is the world and body i is i + 1
  int q0 = 0, v0 = 0, nv = 0;
  int s0 = 0;                     // its first column; v0 where no element has several stations
  int station = 0, stations = 1;  // its place in its element, whose links follow each other
  JointCase joint = JointCase::fixed;
  // At its point every column is either linear or angular: the first `linear` ones, and the others.
  // Those of stations are both (`mixed`), and turn against their base.
  int linear = 0;
  bool mixed = false;
  bool turns = false;                                  // one column, angular
  bool placement_turned = false, body_turned = false;  // else those rotations are the identity
  int added = -1;                                      // in Plan::added
  double mass = 0;                                     // rigid part [kg]
  Vec3 offset = Vec3::Zero();  // from the parent's point to this joint's base, parent's axes [m]
  Vec3 com = Vec3::Zero();     // from the point, body axes [m]
  Sym3 J;                      // rigid part about the point, body axes [kg m^2]
  Vec3 axis = Vec3::Zero();    // of a one-column joint, joint frame
  Vec3 point = Vec3::Zero();   // of the joint in the body [m]
  double length = 0, at = 0;   // of a bend, and the arc length of its station [m]
  int rod = -1, place = 0;     // of a rod: its segment in Plan::rods, and which station of that
  Mat3 placement = Mat3::Identity();  // of the joint's frame in the parent
  Mat3 body = Mat3::Identity();       // of the body in the joint's moved frame
};

struct Plan {
  std::vector<Link> links;  // the world first
  // Depth first: a subtree is a range of `order`, and its velocities a range of `velocity`.
  struct Branch {
    int link = 0;
    int first = 0, last = 0;  // its own velocities' and, up to `last`, its subtree's
    int own = 0;              // its own: `first` but for later stations of an element
  };
  std::vector<Branch> order;
  std::vector<int> velocity;
  std::vector<int> elements;  // first links of elements with several stations
  std::vector<std::shared_ptr<const RodSegment>> rods;
  std::vector<Mat6> added;  // what a body's inertia has beyond the rigid part, at its origin

  std::vector<Mat6> inertia;      // of each body, whole, at its origin in its frame
  Vec armature;                   // of each velocity, on the diagonal of M [kg, kg m^2]
  std::vector<char> held;         // velocities whose motion is given
  ForestShape forest;             // the nodes of M as a Forest
  std::optional<PathPlan> paths;  // of small trees whose M is kept along paths

  explicit Plan(const Model& model);

 private:
  void sort_depth_first();
};

using SharedPlan = std::shared_ptr<const Plan>;

// Where a body is and how it moves: inertial axes, at its point. <- forward_kinematics
struct LinkMotion {
  Mat3 R = Mat3::Identity();   // body axes in the inertial frame
  Vec3 r = Vec3::Zero();       // from the parent's point [m]
  Vec3 origin = Vec3::Zero();  // the point [m]
  Vec3 w = Vec3::Zero();       // angular velocity
  Vec3 v = Vec3::Zero();       // velocity of the point
  // Acceleration that velocities alone give over the parent's, of the point and angular:
  // w_p x (w_p x r + 2 v_rel) and w_p x w_rel.
  Vec3 c_linear = Vec3::Zero(), c_angular = Vec3::Zero();
};

}  // namespace saltus
