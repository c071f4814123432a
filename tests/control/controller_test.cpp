// Controllers of the user: ticks, memory and held torques against the recursion they make of a
// wheel, v_n+1 = v_n + T tau_n/J with T = 1/rate.
#include "saltus/control/controller.h"

#include "saltus/base/error.h"
#include "saltus/integrators/integrator.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double J = 0.02;      // of a wheel [kg m^2]
constexpr double rate = 100.0;  // [Hz]

ModelBuilder wheels(int n, const JointDof& dof = {}) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  JointSpec j = joint(Revolute{Vec3::UnitZ()});
  j.dofs = {dof};
  for (int i = 0; i < n; ++i)
    b.body(fmt::format("wheel{}", i), {1, Vec3::Zero(), J * Mat3::Identity()}, j);
  return b;
}

// tau = -gain v; counts its ticks in its memory.
std::shared_ptr<const Controller> damper(int coordinate, double gain, double at_rate = rate) {
  return std::make_shared<UserController>(at_rate, 2,
                                          std::vector<CoordinateIndex>{CoordinateIndex(coordinate)},
                                          [=](const ControlTick& k) {
                                            k.memory[0] += 1;
                                            k.memory[1] += k.first;
                                            k.torque[0] = -gain * k.state.v[coordinate];
                                          });
}

TEST(UserController, DampsAsTheRecursionSays) {
  constexpr double gain = 0.3;  // a sampled damper may overshoot: 1 - T gain/J = 0.85 here
  for (const double dt : {1e-2, 2.5e-3, 1e-3}) {
    Simulation sim(wheels(1), dt);
    sim.actuation.controllers = {damper(0, gain)};
    check(sim.model, sim.actuation);
    sim.state.v[0] = 3;
    double exact = 3;
    for (int n = 1; n <= 50; ++n) {
      sim.run_until(n / rate);
      exact *= 1 - gain / (rate * J);
      // A tick is a few roundings of v, and so is each of its steps.
      ASSERT_NEAR(sim.state.v[0], exact, 1e-13 * 3) << "dt = " << dt << ", tick " << n;
    }
    const double* own = own_memory(sim.state.memory.data());
    EXPECT_EQ(own[0], 50);
    EXPECT_EQ(own[1], 1) << "the first tick is told once";
    EXPECT_EQ(sim.state.memory.size(), memory_of(sim.actuation));
  }
}

// Of several, with a motor that remembers in front of them: each has its own rate and memory.
TEST(UserController, PartsOfTheMemoryStayApart) {
  Simulation sim(wheels(2), 1e-3);
  Motor lagging;
  lagging.coordinate = CoordinateIndex(0);
  lagging.lag = 0.1;
  lagging.torque = Constant{0.5};
  sim.actuation.motors = {lagging};
  sim.actuation.controllers = {damper(1, 0.2, 100), damper(1, 0.1, 250)};
  sim.state.v[1] = 1;
  sim.run_until(0.2);
  ASSERT_EQ(sim.state.memory.size(), 1 + 2 * (1 + 2 + 1));
  const double* first = sim.state.memory.data() + 1;
  const double* second = first + memory_of(*sim.actuation.controllers[0]);
  EXPECT_EQ(own_memory(first)[0], 20);
  EXPECT_EQ(own_memory(second)[0], 50);
  // The torque is the sum of what both hold.
  const double held = *held_torques(*sim.actuation.controllers[0], first) +
                      *held_torques(*sim.actuation.controllers[1], second);
  EXPECT_NEAR(sim.work.result.motor_force[1], held, 1e-15);
  // 0.5 (1 - e^(-t/lag)): the lag's own memory was not touched.
  EXPECT_NEAR(sim.state.memory[0], -0.5 * std::expm1(-2.0), 1e-12);
}

TEST(UserController, ACopyOfTheStateIsARestart) {
  Simulation whole(wheels(1)), other(wheels(1));
  whole.actuation.controllers = other.actuation.controllers = {damper(0, 0.3, 130)};
  whole.state.v[0] = 1;
  whole.run_until(0.037);  // between two ticks
  other.state = whole.state;
  whole.run_until(0.2);
  other.run_until(0.2);
  EXPECT_EQ(to_bytes(whole.state), to_bytes(other.state));
}

TEST(UserController, WhatIsWrongIsNamed) {
  Simulation sim(wheels(1));
  const auto refused = [&](std::shared_ptr<const Controller> c, const char* what) {
    sim.actuation.controllers = {std::move(c)};
    try {
      check(sim.model, sim.actuation);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  refused(damper(0, 1, 0), "expected a rate > 0, got 0");
  refused(damper(0, 1, std::nan("")), "expected a rate > 0");
  refused(damper(3, 1), "no coordinate with number 3");
  refused(std::make_shared<UserController>(1, -1, std::vector<CoordinateIndex>{}, nullptr),
          "expected a memory >= 0, got -1");
}

TEST(UserController, ActsInTimeStepsOnly) {
  Simulation sim(wheels(1));
  sim.actuation.controllers = {damper(0, 1)};
  check_supported(MoreauMidpoint{}, sim.model, sim.actuation, "");
  for (const Integrator& other : {Integrator(EventDriven{}), Integrator(Rk4Projection{})})
    EXPECT_THROW(check_supported(other, sim.model, sim.actuation, ""), InputError);
}

}  // namespace
}  // namespace saltus::test
