// What algorithms ask of a joint besides its motion (dynamics/joint_kinematics.h), so that none of
// them looks at its kind; `tools/check_layers.py` holds them to it.
#pragma once
#include "saltus/model/joint.h"

namespace saltus {

// Where in q its quaternion begins, and in v its angular velocity: the same place; -1 without one.
[[nodiscard]] int quaternion_at(const Joint& joint);
// Whether velocity k is an angle's. Strains of rods are no angles.
[[nodiscard]] bool is_angular(const Joint& joint, int k);
// Whether it leaves its body all six directions.
[[nodiscard]] bool is_floating(const Joint& joint);
// A station of a rod: its motion is that of its segment's shape (rods/reconstruction.h), all
// stations at once.
[[nodiscard]] bool is_rod(const Joint& joint);

}  // namespace saltus
