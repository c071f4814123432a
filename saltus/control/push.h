// A push on a body: an impulse at a time, or spread evenly over a duration.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"

namespace saltus {

struct Push {
  BodyIndex body;
  double at = 0, duration = 0;  // [s]; 0: within one step
  Vec3 impulse = Vec3::Zero();  // inertial axes [N s]
  Vec3 point = Vec3::Zero();    // in the body [m]
};

// Adds the wrenches (body frame) that give, over the step from t_S to t_E, the impulse that falls
// into it.
void add_pushes(const std::vector<Push>& pushes, double t_S, double t_E, const Workspace& work,
                std::vector<Vec6>& external);

}  // namespace saltus
