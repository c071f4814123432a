// Rows of runners, wheels and springs (P3, P4): what turns velocities into sliding speeds and rates
// of length. All need forward_kinematics.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

// Wrenches on the runner's body, inertial axes at the body's origin: along e and across, along g.
struct RunnerRows {
  Vec6 along, across;
};
[[nodiscard]] RunnerRows runner_rows(const Model& model, const Workspace& work,
                                     const Runner& runner, double angle);

// Of a disc on its plane: wrenches on its body at the lowest point, inertial axes at the body's
// origin, along the heading a x n, across it and off the plane. A disc that lies flat has no lowest
// point: then they are not numbers.
struct WheelRows {
  Vec6 along, across, off;
  Vec3 lowest;  // inertial
};
[[nodiscard]] WheelRows wheel_rows(const Workspace& work, const Wheel& wheel);

// Wrench about the inertial origin on b, reversed on a: rate of length = wrench.V_b - wrench.V_a.
struct SpringRow {
  Vec6 wrench = Vec6::Zero();
  double length = 0;  // r [m]
};
[[nodiscard]] SpringRow spring_row(const Workspace& work, const Spring& spring);

// Wrenches of a drag's rows on its body, inertial axes at the body's origin: x, y and z.
[[nodiscard]] Eigen::Matrix<double, 6, 3> drag_rows(const Workspace& work, const Drag& drag);

// In a step a spring's impulse is start - gain (w_E - w_S), as that of a joint's spring: by the
// mid-point, gain = dt^2 c/4 + dt k/2.
[[nodiscard]] inline double implicit_gain(const Spring& s, double dt) {
  return dt * (0.25 * dt * s.stiffness + 0.5 * s.damping);
}
[[nodiscard]] inline double implicit_gain(const Drag& d, double dt) {
  return 0.5 * dt * d.coefficient;
}

}  // namespace saltus
