// Springs, dampers, armature of cut joints and PD motors as impedances of joint coordinates.
//
// With x the coordinate, x_M its value at the mid-point of the step and w = dx/dt:
//   midpoint   tau = -K (x_M + dt/4 (w_E - w_S) - r_M) - D ((w_S + w_E)/2 - r'_M)
//   end        tau = -K (x_M + dt/2 w_E - r_E) - D (w_E - r'_E)
//   start      tau = -K (x_S - r_S) - D (w_S - r'_S)                      (explicit, P0 eq. 43)
// The first two are linear in w_E: an Impedance with a gain. What limits a motor is kept by an
// impulse of its own (docs/actuators.md).
#pragma once
#include <string_view>

#include "saltus/dynamics/impedance.h"
#include "saltus/model/model.h"

namespace saltus {

enum class MotorScheme { midpoint, end, start };

// What a motor asks for at the instant of its scheme.
struct MotorCommand {
  double kp = 0, kd = 0;
  double reference = 0, rate = 0;
  double torque = 0;    // at the mid-point
  TorqueRange range;    // at the speed of the start
  double backlash = 0;  // width of the play between motor and joint
  double lag = 0;       // time constant of the torque [s]
  double lagged = 0;    // its torque at the start
  int motor = -1;       // of Actuation::motors
  int memory = -1;      // of State::memory: the lagged torque
};

// impulse = linear + limited; without bounds only the first, and that of the second is set-valued.
struct MotorTerms {
  Impedance linear, limited;
  // The impulse of both at a change of the rate, w_E - w_S.
  [[nodiscard]] double impulse(double rate_change) const;
};
[[nodiscard]] MotorTerms motor_terms(const MotorCommand& motor, MotorScheme scheme, double x_M,
                                     double w_S, double dt);
// The torque at the end of a step whose impulse was `impulse`: the lag's own solution.
[[nodiscard]] double lagged_torque(const MotorCommand& motor, double impulse, double dt);
// Spring, damper, and (cut coordinates only: in the tree it is in M) armature, by the mid-point.
[[nodiscard]] Impedance passive_impedance(const Coordinate& coordinate, double x_M, double w_S,
                                          double dt);
[[nodiscard]] double spring_energy(const JointDof& dof, double x);  // [J]

}  // namespace saltus
