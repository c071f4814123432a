#include "saltus/forces/joint_forces.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus {

namespace {

// Position and rate by which the scheme takes the error: x = x_M + ahead dt w_S.
double ahead(MotorScheme scheme) {
  return scheme == MotorScheme::midpoint ? 0 : scheme == MotorScheme::end ? 0.5 : -0.5;
}

// The PD law without any bound.
Impedance servo(const MotorCommand& m, MotorScheme scheme, double x, double w_S, double dt) {
  Impedance z;
  z.start = dt * (-m.kp * (x - m.reference) - m.kd * (w_S - m.rate) + m.torque);
  if (scheme == MotorScheme::midpoint) z.gain = 0.25 * dt * dt * m.kp + 0.5 * dt * m.kd;
  if (scheme == MotorScheme::end) z.gain = 0.5 * dt * dt * m.kp + dt * m.kd;
  return z;
}

// Through the play of a gear: a flank that touches pushes and never pulls, and in between nothing
// is transmitted. The flank is chosen by the error at the scheme's instant, as contacts are by
// their gap.
void engage(double x, MotorCommand& m) {
  if (m.backlash == 0) return;
  const double error = m.reference - x, half = 0.5 * m.backlash;
  if (error > half) {
    m.reference -= half;
    m.range.lower = std::max(m.range.lower, 0.0);
    m.range.lower_slope = 0;
  } else if (error < -half) {
    m.reference += half;
    m.range.upper = std::min(m.range.upper, 0.0);
    m.range.upper_slope = 0;
  } else {
    m.kp = m.kd = m.torque = 0;
  }
}

double within(const Impedance& z, double rate_change) {
  return std::clamp(z.start - z.gain * rate_change, z.lower, z.upper);
}

// asked within bounds that do not move: as it is, clamped, or an impulse of its own.
MotorTerms bound(const Impedance& asked, double lower, double upper) {
  MotorTerms t;
  t.linear = asked;
  if (std::isinf(lower) && std::isinf(upper)) return t;
  if (asked.gain == 0) {
    t.linear.start = std::clamp(asked.start, lower, upper);
    return t;
  }
  t.linear = Impedance{};
  t.limited = asked;
  t.limited.lower = lower;
  t.limited.upper = upper;
  return t;
}

// The lesser (upper side) or the larger (lower side) of two laws that are both linear in the rate:
// the one with the smaller gain, and what the other falls short of it. The bound of the other side
// is that of the start: a command that passes over the whole range within a step meets it to O(dt).
MotorTerms lesser(Impedance asked, Impedance most, bool upper, double other) {
  if (asked.gain < most.gain) std::swap(asked, most);
  MotorTerms t;
  t.linear = {most.start, most.gain};
  t.limited = {asked.start - most.start, asked.gain - most.gain};
  const double far = other - most.start;
  t.limited.lower = upper ? std::min(far, 0.0) : 0;
  t.limited.upper = upper ? 0 : std::max(far, 0.0);
  if (t.limited.gain == 0) {
    t.linear.start += within(t.limited, 0);
    t.limited = Impedance{};
  }
  return t;
}

// The part of a step's mean torque that its command has: T u' = c - u with c kept gives the mean
// u_S + a (c - u_S), a = 1 - (1 - e^-x)/x with x = dt/T.
double lag_share(double x) {
  if (x < 1e-2) return x / 2 - x * x / 6 + x * x * x / 24 - x * x * x * x / 120;
  return 1 + std::expm1(-x) / x;
}

}  // namespace

double MotorTerms::impulse(double rate_change) const {
  return within(linear, rate_change) + (limited.gain > 0 ? within(limited, rate_change) : 0);
}

MotorTerms motor_terms(const MotorCommand& motor, MotorScheme scheme, double x_M, double w_S,
                       double dt) {
  MotorCommand m = motor;
  const double x = x_M + ahead(scheme) * dt * w_S;
  engage(x, m);
  const Impedance asked = servo(m, scheme, x, w_S, dt);
  const bool upper = asked.start >= 0;
  const TorqueRange& r = m.range;
  // The bound at the speed of the scheme's instant; explicitly: at the start.
  const double part = scheme == MotorScheme::midpoint ? 0.5 : scheme == MotorScheme::end ? 1 : 0;
  Impedance most;
  most.start = dt * (upper ? r.upper : r.lower);
  most.gain = part * dt * (upper ? r.upper_slope : r.lower_slope);
  MotorTerms t = most.gain > 0 ? lesser(asked, most, upper, dt * (upper ? r.lower : r.upper))
                               : bound(asked, dt * r.lower, dt * r.upper);
  if (m.lag == 0) return t;
  const double a = lag_share(dt / m.lag);
  for (Impedance* z : {&t.linear, &t.limited}) {
    z->start *= a;
    z->gain *= a;
    z->lower *= a;
    z->upper *= a;
  }
  t.linear.start += (1 - a) * dt * m.lagged;
  return t;
}

double lagged_torque(const MotorCommand& m, double impulse, double dt) {
  const double x = dt / m.lag;
  // impulse = dt (u_S + a (c - u_S)), and at the end u = u_S + (1 - e^-x) (c - u_S).
  return m.lagged - std::expm1(-x) * (impulse / dt - m.lagged) / lag_share(x);
}

Impedance passive_impedance(const Coordinate& c, double x_M, double w_S, double dt) {
  const JointDof& d = c.dof;
  Impedance z;
  z.start = dt * (-d.stiffness * (x_M - d.rest) - d.damping * w_S);
  z.gain = 0.25 * dt * dt * d.stiffness + 0.5 * dt * d.damping;
  if (c.cut.valid()) z.gain += d.armature;
  return z;
}

double spring_energy(const JointDof& dof, double x) {
  return 0.5 * dof.stiffness * (x - dof.rest) * (x - dof.rest);
}

}  // namespace saltus
