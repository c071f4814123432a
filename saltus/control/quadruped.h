// The four legs of a robot, found in its model: chains of scalar joints that leave a floating trunk
// and end in a foot. Bodies that are fixed to each other count as one.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "saltus/control/gait.h"
#include "saltus/dynamics/workspace.h"

namespace saltus {

inline constexpr int most_leg_joints = 6;

struct Leg {
  std::vector<CoordinateIndex> joints;  // from the trunk to the foot: 3 to 6
  ShapeIndex foot;                      // the shape that touches the ground
  BodyIndex body;                       // that it sits on
  Vec3 point = Vec3::Zero();            // its centre, in the body [m]
  double radius = 0;                    // of a sphere, else 0 [m]
};

struct Quadruped {
  BodyIndex root;                   // whose joint floats
  std::vector<int> trunk;           // root and what is fixed to it
  std::array<Leg, leg_count> legs;  // LF, RF, LH, RH: x is forwards and y to the left
  [[nodiscard]] bool in_trunk(int body) const;
};

// The robot whose trunk is fixed to the body `trunk`, or, without a name, the only one. `feet`
// names the shapes LF, RF, LH, RH; empty: the sphere (else the shape) at the end of each chain.
// Throws InputError, `path` in front: what is there where four legs were expected.
[[nodiscard]] Quadruped find_quadruped(const Model& model, VecIn q, const std::string& trunk,
                                       const std::vector<std::string>& feet,
                                       const std::string& path);

}  // namespace saltus
