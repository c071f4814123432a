#include "saltus/forces/joint_forces.h"

namespace saltus {

Impedance motor_impedance(const MotorCommand& m, MotorScheme scheme, double x_M, double w_S,
                          double dt) {
  Impedance z;
  z.limit = m.limit * dt;
  switch (scheme) {
    case MotorScheme::midpoint:
      z.start = dt * (-m.kp * (x_M - m.reference) - m.kd * (w_S - m.rate) + m.torque);
      z.gain = 0.25 * dt * dt * m.kp + 0.5 * dt * m.kd;
      break;
    case MotorScheme::end:
      z.start =
          dt * (-m.kp * (x_M + 0.5 * dt * w_S - m.reference) - m.kd * (w_S - m.rate) + m.torque);
      z.gain = 0.5 * dt * dt * m.kp + dt * m.kd;
      break;
    case MotorScheme::start:
      z.start =
          dt * (-m.kp * (x_M - 0.5 * dt * w_S - m.reference) - m.kd * (w_S - m.rate) + m.torque);
      break;
  }
  return z;
}

Impedance passive_impedance(const Coordinate& c, double x_M, double w_S, double dt) {
  const JointDof& d = c.dof;
  Impedance z;
  z.limit = infinity;
  z.start = dt * (-d.stiffness * (x_M - d.rest) - d.damping * w_S);
  z.gain = 0.25 * dt * dt * d.stiffness + 0.5 * dt * d.damping;
  if (c.cut.valid()) z.gain += d.armature;
  return z;
}

double spring_energy(const JointDof& dof, double x) {
  return 0.5 * dof.stiffness * (x - dof.rest) * (x - dof.rest);
}

}  // namespace saltus
