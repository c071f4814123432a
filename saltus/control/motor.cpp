// What a motor can give, and what makes it one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/control/actuation.h"

namespace saltus {

namespace {

struct Available {
  double torque, slope;  // slope = -d torque/d speed >= 0
};

// To the right of a speed >= 0.
Available available(const Motor& m, double speed) {
  const auto next = std::upper_bound(m.speeds.begin(), m.speeds.end(), speed);
  if (next == m.speeds.end()) return {m.torques.back(), 0};
  const auto k = next - m.speeds.begin();
  const double width = m.speeds[k] - m.speeds[k - 1], fall = m.torques[k - 1] - m.torques[k];
  return {m.torques[k - 1] - fall * (speed - m.speeds[k - 1]) / width, fall / width};
}

}  // namespace

TorqueRange torque_range(const Motor& m, double joint_speed) {
  const double gear = std::abs(m.gear);
  const double w = m.gear * joint_speed;  // of the motor
  TorqueRange r{std::max(-m.limit, m.lower), std::min(m.limit, m.upper)};
  if (!m.speeds.empty()) {
    const Available driving = available(m, std::abs(w)), braking = available(m, 0);
    const Available forwards = w >= 0 ? driving : braking, back = w <= 0 ? driving : braking;
    if (forwards.torque < r.upper) {
      r.upper = forwards.torque;
      r.upper_slope = w >= 0 ? forwards.slope : 0;
    }
    if (-back.torque > r.lower) {
      r.lower = -back.torque;
      r.lower_slope = w <= 0 ? back.slope : 0;
    }
  }
  if (m.gear < 0) r = {-r.upper, -r.lower, r.upper_slope, r.lower_slope};
  return {gear * r.lower, gear * r.upper, gear * gear * r.lower_slope, gear * gear * r.upper_slope};
}

int memory_of(const std::vector<Motor>& motors) {
  return static_cast<int>(
      std::count_if(motors.begin(), motors.end(), [](const Motor& m) { return m.lag > 0; }));
}

namespace {

const char* fault_of_curve(const Motor& m) {
  if (m.speeds.size() != m.torques.size()) return "expected as many torques as speeds";
  if (m.speeds.empty()) return nullptr;
  if (m.speeds.front() != 0) return "expected a curve that begins at speed 0";
  for (std::size_t i = 0; i < m.speeds.size(); ++i) {
    if (!(m.torques[i] >= 0) || !std::isfinite(m.torques[i]) || !std::isfinite(m.speeds[i]))
      return "expected finite speeds and torques >= 0";
    if (i > 0 && !(m.speeds[i] > m.speeds[i - 1])) return "expected ascending speeds";
    if (i > 0 && !(m.torques[i] <= m.torques[i - 1]))
      return "expected torques that do not rise with the speed";
  }
  return nullptr;
}

const char* fault_of_play(const Motor& m) {
  if (!(m.backlash >= 0) || !std::isfinite(m.backlash)) return "expected a backlash >= 0";
  if (m.backlash == 0) return nullptr;
  if (m.servo != Servo::position || m.kp == 0)
    return "expected a position servo with kp > 0 behind the backlash: without a reference the "
           "motor's side of it needs a body of its own (docs/actuators.md)";
  if (m.lag > 0)
    return "expected either backlash or lag: with both, the motor's side of the play needs a body "
           "of its own (docs/actuators.md)";
  return nullptr;
}

}  // namespace

const char* fault_of(const Motor& m) {
  if (m.gear == 0 || !std::isfinite(m.gear)) return "expected a gear that is not 0";
  if (!(m.kp >= 0 && m.kd >= 0) || !std::isfinite(m.kp + m.kd)) return "expected gains >= 0";
  if (!(m.limit > 0)) return "expected a limit > 0";
  if (!(m.lower <= 0 && m.upper >= 0)) return "expected limits around 0";
  if (!(m.lag >= 0) || !std::isfinite(m.lag)) return "expected a lag >= 0";
  if (m.servo == Servo::velocity && m.kp != 0) return "expected no kp in a velocity servo";
  if (const char* fault = fault_of_curve(m)) return fault;
  return fault_of_play(m);
}

}  // namespace saltus
