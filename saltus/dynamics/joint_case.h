// The kinds of joints, as the kernels know them: resolved once, when the Plan is made.
#pragma once

namespace saltus {

enum class JointCase : unsigned char {
  fixed,
  revolute_x,  // an axis that is a unit vector of the joint's frame turns two columns only
  revolute_y,
  revolute_z,
  revolute,
  prismatic,
  planar,
  spherical,
  floating,
  carrier,
  bend,
  rod
};

}  // namespace saltus
