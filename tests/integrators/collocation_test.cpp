// Radau's collocation: its order, its stability, its error estimate, and what it is for.
#include "saltus/integrators/events/collocation.h"

#include <cmath>

#include "tests/support/check.h"
#include "tests/support/events.h"

using namespace saltus;
using namespace saltus::test;

namespace {

// x' = v, v' = a(t, x, v), and the integral of v^2.
template <class Acceleration>
Derivative oscillator(Acceleration a) {
  return [a](double t, const Vec& y, Vec& dy) {
    dy[0] = y[1];
    dy[1] = a(t, y[0], y[1]);
    dy[2] = y[1] * y[1];
    return true;
  };
}

struct Outcome {
  Vec y;
  double worst_error = 0, dense = 0;
};

// n steps of size h; `exact` of t for the dense output.
template <class Exact>
Outcome run(const Derivative& f, Vec y, double h, int n, Exact exact) {
  Collocation c;
  c.resize(1, 3);
  const Vec scale = Vec3(1e-12, 1e-12, 0), nudge = Vec::Constant(1, 1e-6);
  Outcome out;
  for (int i = 0; i < n; ++i) {
    EXPECT_TRUE(c.step(f, i * h, y, h, scale, nudge));
    out.worst_error = std::max(out.worst_error, c.error() * 1e-12);
    for (const double share : {0.1, 0.3, 0.7}) {
      Vec at;
      c.interpolate((i + share) * h, at);
      out.dense = std::max(out.dense, std::abs(at[0] - exact((i + share) * h)));
    }
    y = c.next();
  }
  out.y = y;
  return out;
}

// A block that creeps at V behind a spring with a damper: across the slip friction is stiff at the
// rate mu g / V, a hundred thousand times in the time of the run. It creeps across as well at
// first, which friction ends.
constexpr double creep = 5e-5;
EventSimulation creeping() {
  constexpr double mu = 0.5, g = 9.81, m = 2;
  ModelBuilder b;
  b.gravity({0, 0, -g});
  JointSpec hand = joint(Prismatic{Vec3::UnitX()});
  hand.dofs = {JointDof{}};
  hand.dofs[0].prescribed = true;
  b.body("hand", {1, Vec3::Zero(), Mat3::Zero()}, hand);
  b.body("block", box_inertia(m, {0.2, 0.2, 0.2}), joint(Carrier{}));
  b.shape("block", "block", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "block", {.mu1 = mu, .mu2 = mu});
  Spring s;
  s.name = "spring";
  s.stiffness = 50;
  s.damping = 20;
  s.axis = Vec3::UnitX();
  b.spring(s, "hand", "block");
  EventSimulation sim(b);
  const double ahead = mu * m * g / s.stiffness;  // the stretch at which it slips
  sim.actuation.prescribed = {
      {CoordinateIndex(0), Table{{0, 1000}, {ahead, ahead + 1000 * creep}}}};
  impose_prescribed(sim.model, sim.actuation, sim.state);
  const Body& block = sim.model.bodies[sim.model.body("block")];
  sim.state.q[block.q0 + 2] = 0.1;
  sim.state.v.segment<2>(block.v0) = Vec2(creep, 0.1 * creep);
  return sim;
}

}  // namespace

TEST(Collocation, IsOfOrderNine) {
  const auto f = oscillator([](double, double x, double) { return -x; });
  const auto exact = [](double t) { return std::cos(t); };
  const Vec start = Vec3(1, 0, 0);
  const double coarse = std::abs(run(f, start, 1.0, 2, exact).y[0] - std::cos(2));
  const Outcome fine = run(f, start, 0.5, 4, exact);
  const double error = std::abs(fine.y[0] - std::cos(2));
  std::printf("      errors %.2e, %.2e: order %.2f\n", coarse, error, std::log2(coarse / error));
  EXPECT_NEAR(std::log2(coarse / error), 9, 0.7);
  // Integrals along: of sin^2.
  EXPECT_NEAR(fine.y[2], 1 - std::sin(4) / 4, 1e-9);
  // The estimate is of a lower order, so above what the step misses.
  EXPECT_GT(fine.worst_error, error);
  const double dense = run(f, start, 0.25, 8, exact).dense;
  std::printf("      dense output %.2e, %.2e\n", fine.dense, dense);
  EXPECT_GT(fine.dense / dense, 40);  // of order 6
}

// A step a million times as long as what dies out: the rest is as exact as ever.
TEST(Collocation, StepsOverWhatDiesOut) {
  const double rate = 1e7;
  const auto f = oscillator(
      [rate](double t, double, double v) { return -rate * (v - std::cos(t)) - std::sin(t); });
  const auto exact = [](double t) { return std::sin(t); };
  const Outcome r = run(f, Vec3(0, 1, 0), 0.1, 10, exact);
  EXPECT_LT(std::abs(r.y[0] - std::sin(1)), 1e-10);
  EXPECT_LT(std::abs(r.y[1] - std::cos(1)), 1e-10);
  EXPECT_LT(r.dense, 1e-8);
  EXPECT_LT(r.worst_error, 1e-6);
  // From off that motion: gone after one step.
  const Outcome off = run(f, Vec3(0, 1.01, 0), 0.1, 1, exact);
  EXPECT_LT(std::abs(off.y[1] - std::cos(0.1)), 1e-6);
}

TEST(Collocation, RefusesWhatDoesNotContract) {
  const auto f = oscillator([](double, double, double v) { return v > 0 ? -1e6 : 1e6; });
  Collocation c;
  c.resize(1, 3);
  EXPECT_FALSE(c.step(f, 0, Vec3(0, 0.5, 0), 1, Vec3(1e-12, 1e-12, 0), Vec::Constant(1, 1e-6)));
}

TEST(Collocation, ASlowSlipTakesFewSteps) {
  EventSimulation sim = creeping();
  ASSERT_TRUE(sim.run_until(1, 0.05)) << sim.failure;
  sim.print();
  const int v0 = sim.model.bodies[sim.model.body("block")].v0;
  EXPECT_LT(sim.steps, 500);
  EXPECT_NEAR(sim.state.v[v0], creep, 1e-3 * creep);
  EXPECT_NEAR(sim.state.v[v0 + 1], 0, 1e-10);
  EXPECT_LT(std::abs(sim.ledger.integrator), 1e-12);
}

// The method at work is part of the state: a new integrator at every landing does the same.
TEST(Collocation, GoesOnWithTheSameBits) {
  EventSimulation whole = creeping(), resumed = creeping();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_TRUE(whole.run_until(0.01 * i)) << whole.failure;
    ASSERT_TRUE(resumed.run_until(0.01 * i)) << resumed.failure;
    EXPECT_EQ(whole.state.q, resumed.state.q) << i;
    EXPECT_EQ(whole.state.v, resumed.state.v) << i;
    EXPECT_EQ(whole.state.events, resumed.state.events) << i;
    resumed.integrator.reset();
  }
}
