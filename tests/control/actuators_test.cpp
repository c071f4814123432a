// Motors: servos, gears, limits, speed-torque curves, lag and backlash against closed forms, with
// orders of convergence and the energy ledger.
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/integrators/events/event_driven.h"
#include "saltus/model/layout.h"
#include "tests/support/random.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double J = 0.02;  // of the wheel [kg m^2]

// A wheel about z: no gravity, one coordinate.
ModelBuilder wheel(const JointDof& dof = {}, double inertia = J) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  JointSpec j = joint(Revolute{Vec3::UnitZ()});
  j.dofs = {dof};
  b.body("wheel", {1, Vec3::Zero(), inertia * Mat3::Identity()}, j);
  return b;
}

Motor motor() {
  Motor m;
  m.coordinate = CoordinateIndex(0);
  return m;
}

Motor dc_motor(double stall, double no_load) {
  Motor m = motor();
  m.speeds = {0, no_load};
  m.torques = {stall, 0};
  m.torque = Constant{1e3};  // full throttle
  return m;
}

// Largest error of the speed against a closed form.
template <class F>
double worst_speed(const Motor& m, const JointDof& dof, double dt, double end, F&& exact) {
  Simulation sim(wheel(dof), dt);
  sim.actuation.motors = {m};
  double worst = 0;
  sim.run_until(end,
                [&] { worst = std::max(worst, std::abs(sim.state.v[0] - exact(sim.state.t))); });
  const double balance = sim.ledger.total() - sim.ledger.motors - sim.ledger.dampers -
                         sim.ledger.joints - sim.ledger.friction;
  EXPECT_NEAR(balance, 0, 1e-10) << "the ledger closes";
  return worst;
}

void expect_order(const std::string& what, double coarse, double fine, double order, double slack) {
  const double seen = std::log2(coarse / fine);
  expect_figure("order of " + what, seen, order, slack);
}

// Whatever the rate does, the impulse is what the servo asks for, or the curve where that is less:
// both are straight lines of the rate, and so the sum of the linear and the limited part must bend
// where they cross.
TEST(MotorTerms, AreTheLesserOfServoAndCurve) {
  Random random(11);
  const double dt = 1e-2;
  for (int trial = 0; trial < 2000; ++trial) {
    MotorCommand c;
    c.kp = random.uniform(0, 5);
    c.kd = random.chance(0.3) ? 0 : random.uniform(0, 2);
    c.reference = random.uniform(-1, 1);
    c.torque = random.uniform(-1, 1);
    const double w_S = random.uniform(-3, 3), slope = random.uniform(0.01, 1);
    c.range = {-random.uniform(0.1, 2), random.uniform(0.1, 2)};
    (w_S > 0 ? c.range.upper_slope : c.range.lower_slope) = slope;
    const MotorTerms t = motor_terms(c, MotorScheme::midpoint, 0, w_S, dt);
    const double start = dt * (c.kp * c.reference - c.kd * w_S + c.torque);
    const double gain = 0.25 * dt * dt * c.kp + 0.5 * dt * c.kd;
    const bool upper = start >= 0;
    for (int i = 0; i < 10; ++i) {
      const double dw = random.uniform(-0.5, 0.5);
      const double asked = start - gain * dw;
      const double high = dt * (c.range.upper - 0.5 * c.range.upper_slope * dw);
      const double low = dt * (c.range.lower - 0.5 * c.range.lower_slope * dw);
      // The bound of the other side is the start's, and counts from the line with the lesser gain.
      if (upper ? asked < dt * (c.range.lower + 0.6) : asked > dt * (c.range.upper - 0.6)) continue;
      ASSERT_NEAR(t.impulse(dw), upper ? std::min(asked, high) : std::max(asked, low), 1e-15)
          << "trial " << trial;
    }
  }
}

// J dw/dt = stall (1 - w/w0): w = w0 (1 - exp(-t stall/(J w0))).
TEST(SpeedTorqueCurve, SpinsUpExponentially) {
  const double stall = 0.5, no_load = 40, T = J * no_load / stall;
  const auto exact = [&](double t) { return -no_load * std::expm1(-t / T); };
  const double coarse = worst_speed(dc_motor(stall, no_load), {}, 2e-2, 5, exact);
  const double fine = worst_speed(dc_motor(stall, no_load), {}, 1e-2, 5, exact);
  expect_figure("spin-up, worst error of the speed [rad/s]", fine, 0, 1e-4);
  expect_order("the spin-up", coarse, fine, 2, 0.1);
  // A step a hundred times the time constant: implicit bounds neither oscillate nor overshoot.
  const double slow = 0.5;  // or the step would turn it by half a turn
  Simulation sim(wheel(), 100 * J * slow / stall);
  sim.options.motors = MotorScheme::end;
  sim.actuation.motors = {dc_motor(stall, slow)};
  for (int i = 0; i < 50; ++i) {
    const double before = sim.state.v[0];
    (void)sim.step();
    EXPECT_GE(sim.state.v[0], before);
    EXPECT_LE(sim.state.v[0], slow);
  }
  expect_figure("after long steps [rad/s]", sim.state.v[0], slow, 1e-12);
}

TEST(SpeedTorqueCurve, RangeInBothDirectionsAndBehindAGear) {
  Motor m = dc_motor(2, 10);
  m.gear = -5;
  const TorqueRange r = torque_range(m, 1);  // the motor turns backwards at half its no-load speed
  EXPECT_DOUBLE_EQ(r.upper, 5 * 1.0);        // driving: half of its stall torque
  EXPECT_DOUBLE_EQ(r.lower, -5 * 2.0);       // braking: all of it
  EXPECT_DOUBLE_EQ(r.upper_slope, 25 * 0.2);
  EXPECT_DOUBLE_EQ(r.lower_slope, 0);
  m.speeds = {0, 4, 10};
  m.torques = {2, 2, 0.5};
  m.gear = 1;
  EXPECT_DOUBLE_EQ(torque_range(m, 7).upper, 1.25);
  EXPECT_DOUBLE_EQ(torque_range(m, 7).upper_slope, 0.25);
  EXPECT_DOUBLE_EQ(torque_range(m, 20).upper, 0.5);
  EXPECT_DOUBLE_EQ(torque_range(m, -7).lower, -1.25);
  EXPECT_DOUBLE_EQ(torque_range(m, -7).upper, 2);
}

// A stiff servo under the curve: where it asks for more it is the curve's motor, and it ends on its
// reference.
TEST(SpeedTorqueCurve, BoundsAStiffServo) {
  Motor m = dc_motor(0.5, 40);
  m.torque = Constant{0};
  m.servo = Servo::velocity;
  m.kd = 50;
  m.reference = Constant{20};
  const double T = J * 40 / 0.5, reached = T * std::log(2.0);  // 20 rad/s on the curve
  const auto exact = [&](double t) { return t < reached ? -40 * std::expm1(-t / T) : 20.0; };
  const double coarse = worst_speed(m, {}, 4e-3, 2, exact);
  const double fine = worst_speed(m, {}, 2e-3, 2, exact);
  // The servo cuts in within 0.5 N m / 50 N m s = 0.01 rad/s of its reference.
  expect_figure("servo on the curve, worst error [rad/s]", fine, 0, 1.2e-2);
  EXPECT_LE(fine, coarse);
}

// u = 1 - exp(-t/T) in units of the command: J w = c (t - T (1 - exp(-t/T))), exactly.
TEST(Lag, StepResponseIsExactForAnyStep) {
  const double T = 0.05, c = 0.01;  // slow: a step may not turn it by half a turn
  Motor m = motor();
  m.torque = Constant{c};
  m.lag = T;
  const auto exact = [&](double t) { return c / J * (t + T * std::expm1(-t / T)); };
  for (const double dt : {1e-4, 1e-2, 0.25})
    expect_figure(fmt::format("lagged torque, dt = {} s [rad/s]", dt),
                  worst_speed(m, {}, dt, 1, exact), 0, 1e-11);
}

// T J x''' + J x'' + kd x' + kp x = 0 by its roots; order two.
TEST(Lag, InAServoLoop) {
  const auto final_angle = [](double dt) {
    Motor m = motor();
    m.kp = 2;
    m.kd = 0.2;
    m.lag = 0.02;
    m.reference = Constant{1};
    Simulation sim(wheel(), dt);
    sim.actuation.motors = {m};
    sim.run_until(0.4);
    return sim.state.q[0];
  };
  const double a = final_angle(4e-3), b = final_angle(2e-3), c = final_angle(1e-3);
  expect_order("the lagged servo", std::abs(a - b), std::abs(b - c), 2, 0.15);
  // The closed form: eigenvalues of the third-order system.
  Eigen::Matrix3d A;
  A << 0, 1, 0, 0, 0, 1 / J, -2 / 0.02, -0.2 / 0.02, -1 / 0.02;  // x, w, tau; error e = x - 1
  Eigen::Vector3d y(-1, 0, 0), k = y;
  // exp(A t) by its Taylor series in 400 pieces: exact to rounding.
  const Eigen::Matrix3d h = A * (0.4 / 400);
  for (int i = 0; i < 400; ++i) {
    k = y;
    for (int n = 1; n < 20; ++n) {
      k = h * k / n;
      y += k;
    }
  }
  expect_figure("lagged servo at 0.4 s, extrapolated [rad]", c + (c - b) / 3, 1 + y[0], 1e-6);
}

TEST(Lag, BoundsTheCommand) {
  Motor m = motor();
  m.kd = 100;
  m.servo = Servo::velocity;
  m.reference = Constant{1e3};  // out of reach: the command is the limit
  m.limit = 0.3;
  m.lag = 0.05;
  const auto exact = [&](double t) { return 0.3 / J * (t + 0.05 * std::expm1(-t / 0.05)); };
  expect_figure("limited and lagged [rad/s]", worst_speed(m, {}, 1e-3, 1, exact), 0, 1e-9);
}

TEST(Lag, ACheckpointResumesBitByBit) {
  const auto make = [] {
    Motor m = motor();
    m.kp = 2;
    m.kd = 0.2;
    m.lag = 0.02;
    m.limit = 0.7;
    m.reference = Sine{1, 7, 0, 0};
    auto sim = std::make_unique<Simulation>(wheel(), 1e-3);
    sim->actuation.motors = {m};
    return sim;
  };
  const auto whole = make(), first = make(), second = make();
  whole->run_until(1);
  first->run_until(0.5);
  const auto bytes = to_bytes(first->state);
  second->state = from_bytes(second->model, bytes.data(), bytes.size());
  EXPECT_EQ(second->state.memory.size(), 1);
  while (second->state.step < 1000) (void)second->step();
  EXPECT_TRUE(whole->state == second->state);
}

// A geared motor on a pendulum: frequency sqrt(m g l/(J + gear^2 rotor)); its torque is gear-fold.
TEST(Gear, ReflectsTheRotor) {
  const double mass = 1.5, l = 0.4, rotor = 1e-5, gear = 100;
  ModelBuilder b;
  JointSpec j = joint(Revolute{Vec3::UnitY()});
  b.body("pendulum", {mass, Vec3(0, 0, -l), 0.01 * Mat3::Identity()}, j);
  Simulation sim(b, 1e-3);
  add_armature(sim.model, CoordinateIndex(0), gear * gear * rotor);
  sim.state.q[0] = 1e-4;  // small: sin x = x to 1e-8
  const double inertia = 0.01 + mass * l * l + gear * gear * rotor;
  const double omega = std::sqrt(mass * 9.81 * l / inertia);
  double crossing = 0, last = sim.state.q[0];
  sim.run_until(2, [&] {
    if (crossing == 0 && last > 0 && sim.state.q[0] <= 0)
      crossing = sim.state.t - 1e-3 * sim.state.q[0] / (sim.state.q[0] - last);
    last = sim.state.q[0];
  });
  expect_figure("quarter period with a rotor [s]", crossing, pi / 2 / omega, 2e-6);
}

TEST(Gear, TorqueAndLimitsAreTheMotors) {
  Motor m = motor();
  m.gear = 20;
  m.torque = Constant{0.05};
  expect_figure("geared torque [rad/s]",
                worst_speed(m, {}, 1e-3, 1, [](double t) { return 20 * 0.05 / J * t; }), 0, 1e-10);
  m.limit = 0.02;
  expect_figure("and its limit [rad/s]",
                worst_speed(m, {}, 1e-3, 1, [](double t) { return 20 * 0.02 / J * t; }), 0, 1e-10);
}

TEST(Limits, MayDifferByDirection) {
  Motor m = motor();
  m.kd = 10;
  m.servo = Servo::velocity;
  m.lower = -0.1;
  m.upper = 0.4;
  m.reference = BangBang{{0, 1}, {1e3, -1e3}};
  expect_figure("asymmetric limits [rad/s]",
                worst_speed(m, {}, 1e-3, 3,
                            [](double t) {
                              return 0.4 / J * std::min(t, 1.0) - 0.1 / J * std::max(t - 1, 0.0);
                            }),
                0, 1e-8);
}

// kd (r - w) = friction + damping w.
TEST(VelocityServo, SteadyStateAgainstFriction) {
  JointDof dof;
  dof.friction = 0.3;
  dof.damping = 0.01;
  Motor m = motor();
  m.servo = Servo::velocity;
  m.kd = 0.5;
  m.reference = Constant{6};
  Simulation sim(wheel(dof), 1e-3);
  sim.actuation.motors = {m};
  sim.run_until(2);
  expect_figure("steady speed [rad/s]", sim.state.v[0], (0.5 * 6 - 0.3) / 0.51, 1e-9);
  expect_figure("its torque [N m]", sim.work.result.motor_force[0], 0.3 + 0.01 * sim.state.v[0],
                1e-9);
}

// --- backlash -----------------------------------------------------------------------------------

Motor loose(double width) {
  Motor m = motor();
  m.kp = 400;
  m.kd = 4;
  m.backlash = width;
  return m;
}

// A load that turns round pushes the joint from one flank to the other: x = -+(b/2 + tau/kp).
TEST(Backlash, TheJointLiesOnOneFlankOrTheOther) {
  const double width = 0.05, load = 2;
  Simulation sim(wheel(), 1e-3);
  Motor m = loose(width);
  sim.actuation.motors = {m};
  double t_load = 1;
  sim.actuation.user = [&](const Model&, const Workspace&, double t, VecIn, VecIn, VecRef tau,
                           std::vector<Vec6>&) { tau[0] = t < t_load ? load : -load; };
  sim.run_until(1);
  expect_figure("pushed forwards [rad]", sim.state.q[0], width / 2 + load / 400, 1e-9);
  expect_figure("torque there [N m]", sim.work.result.motor_force[0], -load, 1e-7);
  sim.run_until(2);
  expect_figure("pushed back [rad]", sim.state.q[0], -(width / 2 + load / 400), 1e-9);
}

// In the play nothing acts: the wheel crosses it at constant speed and loses none.
TEST(Backlash, IsFreeInTheBand) {
  const double width = 0.2, speed = 0.5;
  Simulation sim(wheel(), 1e-3);
  sim.actuation.motors = {loose(width)};
  sim.state.q[0] = -0.0999;
  sim.state.v[0] = speed;
  sim.run_until(0.399, [&] { EXPECT_EQ(sim.state.v[0], speed); });
  sim.run_until(0.45);
  EXPECT_LT(sim.state.v[0], speed);
  // The far flank pushes back and never pulls.
  EXPECT_LE(sim.work.result.motor_force[0], 0);
  sim.run_until(2, [&] { EXPECT_LE(sim.work.result.motor_force[0] * sim.state.q[0], 0); });
  EXPECT_NEAR(sim.ledger.total() - 0.5 * J * speed * speed, sim.ledger.motors, 1e-12);
}

// Free travel to the flank, then J x'' + kd x' + kp x = 0 until the force would pull.
TEST(Backlash, MeetsTheFlankToFirstOrder) {
  const double width = 0.02, speed = 1;
  const auto rebound = [&](double dt) {
    Simulation sim(wheel(), dt);
    Motor m = loose(width);
    m.kp = 100;
    m.kd = 0.5;
    sim.actuation.motors = {m};
    sim.state.v[0] = speed;
    sim.run_until(0.07);
    return sim.state.v[0];
  };
  // z = x - b/2: z = (v0/wd) e^{-s t} sin(wd t), leaves where kp z + kd z' = 0.
  const double s = 0.5 / (2 * J), wd = std::sqrt(100 / J - s * s);
  const auto z = [&](double t) { return speed / wd * std::exp(-s * t) * std::sin(wd * t); };
  const auto dz = [&](double t) {
    return speed * std::exp(-s * t) * (std::cos(wd * t) - s / wd * std::sin(wd * t));
  };
  double lo = pi / 2 / wd, hi = pi / wd;
  for (int i = 0; i < 100; ++i) {
    const double mid = 0.5 * (lo + hi);
    (100 * z(mid) + 0.5 * dz(mid) > 0 ? lo : hi) = mid;
  }
  const double exact = dz(lo);
  EXPECT_LT(0.01 / speed + lo, 0.07) << "it has left the flank";
  double errors[3];
  for (int i = 0; i < 3; ++i) errors[i] = std::abs(rebound(2e-4 / (1 << i)) - exact);
  expect_figure("speed after the flank [rad/s]", rebound(5e-5), exact, 5e-3);
  fmt::print("    errors {:.2e} {:.2e} {:.2e}\n", errors[0], errors[1], errors[2]);
  EXPECT_LT(errors[2], errors[0]);
}

// The lost motion of a slow gait: a joint with dry friction follows its reference half the play
// behind, and what it travels is the reference's travel less the play.
TEST(Backlash, IsLostMotion) {
  const double width = 0.05, A = 0.3;
  JointDof dof;
  dof.friction = 0.5;
  Motor m = loose(width);
  m.reference = Sine{A, 1, 0, 0};
  Simulation sim(wheel(dof), 1e-3);
  sim.actuation.motors = {m};
  double most = 0, least = 0;
  sim.run_until(4 * pi, [&] {
    if (sim.state.t < 2 * pi) return;
    most = std::max(most, sim.state.q[0]);
    least = std::min(least, sim.state.q[0]);
  });
  // At the turning point the flank pushes with the friction less what slows the wheel down, J A.
  const double push = dof.friction - J * A;
  expect_figure("travel of the joint [rad]", most - least, 2 * A - width - 2 * push / 400, 1e-6);
}

// A hard play: the motor's side is a body with the rotor's inertia, and the wheel turns on it
// between two stops. They have no restitution, so that after a hit both go on together:
// v = rotor v0/(rotor + J).
TEST(Backlash, HardStopsConserveMomentum) {
  const double rotor = 0.05, half = 0.1;
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("rotor", {1, Vec3::Zero(), rotor * Mat3::Identity()}, joint(Revolute{Vec3::UnitZ()}));
  JointSpec play = joint(Revolute{Vec3::UnitZ()}, "rotor");
  JointDof dof;
  dof.lower = -half;
  dof.upper = half;
  play.dofs = {dof};
  b.body("wheel", {1, Vec3::Zero(), J * Mat3::Identity()}, play);
  Simulation sim(b, 1e-3);
  sim.state.v << 1, -1;  // the rotor turns, the wheel is at rest
  sim.run_until(0.09);
  EXPECT_NEAR(sim.state.v.sum(), 0, 1e-15);
  sim.run_until(0.2);
  expect_figure("together after the hit [rad/s]", sim.state.v.sum(), rotor / (rotor + J), 1e-9);
  expect_figure("half the play apart [rad]", sim.state.q[1], -half, 1e-9);
}

// --- the event-driven integrator ----------------------------------------------------------------

TEST(EventDrivenMotors, CurveAndGearAgreeWithTimeStepping) {
  Motor m = dc_motor(0.5, 40);
  m.gear = 2;
  Simulation sim(wheel(), 1e-3);
  sim.actuation.motors = {m};
  sim.run_until(1);
  EventIntegrator events(sim.model, sim.actuation, EventDriven{});
  State state = make_state(sim.model);
  const EventReport report = events.advance(state, 1, 1e-3);
  EXPECT_EQ(report.failure, "");
  const double T = J * 40 / (4 * 0.5);
  expect_figure("event-driven [rad/s]", state.v[0], -20 * std::expm1(-1 / T), 1e-8);
  expect_figure("time stepping [rad/s]", sim.state.v[0], state.v[0], 1e-5);
}

// A lagging torque that time stepping left is where the event-driven run begins.
TEST(EventDrivenMotors, ALagGoesOnFromTimeStepping) {
  const double T = 0.2, torque = 0.3;
  Simulation sim(wheel(), 1e-3);
  Motor m = motor();
  m.torque = Constant{torque};
  m.lag = T;
  sim.actuation.motors = {m};
  sim.run_until(0.1);
  expect_figure("stepped [N m]", sim.state.memory[0], -torque * std::expm1(-0.1 / T), 1e-12);
  EventIntegrator events(sim.model, sim.actuation, EventDriven{});
  const EventReport report = events.advance(sim.state, 0.5, 1e-3);
  EXPECT_EQ(report.failure, "");
  expect_figure("event-driven [N m]", sim.state.memory[0], -torque * std::expm1(-0.5 / T), 1e-11);
  expect_figure("speed [rad/s]", sim.state.v[0], torque / J * (0.5 + T * std::expm1(-0.5 / T)),
                1e-9);
}

TEST(Motors, FaultsAreNamed) {
  Simulation sim(wheel());
  const auto refused = [&](const std::function<void(Motor&)>& spoil, const char* what) {
    Motor m = motor();
    m.kp = 1;
    spoil(m);
    sim.actuation.motors = {m};
    try {
      check(sim.model, sim.actuation);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  refused([](Motor& m) { m.gear = 0; }, "a gear that is not 0");
  refused([](Motor& m) { m.lag = -1; }, "a lag >= 0");
  refused([](Motor& m) { m.lower = 1; }, "limits around 0");
  refused([](Motor& m) { m.servo = Servo::velocity; }, "no kp");
  refused([](Motor& m) { m.backlash = -0.1; }, "a backlash >= 0");
  refused([](Motor& m) { m.backlash = 0.1, m.lag = 0.1; }, "either backlash or lag");
  refused([](Motor& m) { m.backlash = 0.1, m.kp = 0; }, "kp > 0");
  refused([](Motor& m) { m.speeds = {0, 1}; }, "as many torques");
  refused([](Motor& m) { m.speeds = {1, 2}, m.torques = {1, 0}; }, "begins at speed 0");
  refused([](Motor& m) { m.speeds = {0, 2, 1}, m.torques = {1, 0.5, 0}; }, "ascending");
  refused([](Motor& m) { m.speeds = {0, 2}, m.torques = {1, 2}; }, "do not rise");
}

}  // namespace
}  // namespace saltus::test
