// The event-driven integrator against closed forms and VERIFY.md.
#include "tests/support/events.h"

#include <numbers>

#include "saltus/model/worm.h"

using namespace saltus;
using namespace saltus::test;

namespace {

constexpr double pi = std::numbers::pi;

WormSpec straight(std::vector<double> masses, std::vector<double> stiffness) {
  WormSpec w;
  for (const double m : masses) w.masses.push_back({.mass = m});
  for (const double c : stiffness) w.springs.push_back({.stiffness = c});
  return w;
}

EventSimulation worm(const WormSpec& spec) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  if (spec.planar) b.planar(true);
  add_worm(b, spec);
  EventSimulation s(b);
  for (const WormJoint& j : worm_joints(spec)) {
    const Body& body = s.model.bodies[s.model.body(j.body)];
    for (std::size_t i = 0; i < j.q.size(); ++i) s.state.q[body.q0 + static_cast<int>(i)] = j.q[i];
    for (std::size_t i = 0; i < j.v.size(); ++i) s.state.v[body.v0 + static_cast<int>(i)] = j.v[i];
  }
  return s;
}

ModelBuilder ball(double restitution, double mu = 0) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {.mu1 = mu, .mu2 = mu, .restitution = restitution});
  return b;
}

}  // namespace

// P3 example 1, first choice: x2 = -l eps (1 - cos wt), mass 1 released at pi/2.
TEST(Events, ExampleOneReleasesOnTime) {
  EventSimulation s = worm(straight({1, 1}, {1}));
  s.actuation.lengths = {{0, Constant{0.5}}};
  ASSERT_TRUE(s.run_until(1.0)) << s.failure;
  expect_figure("x2(1)", s.state.q[1], 0.5 * (1 - std::cos(1.0)), 1e-12);
  ASSERT_TRUE(s.run_until(3.0)) << s.failure;
  s.print();
  ASSERT_EQ(s.changes.size(), 2U);
  expect_figure("release", s.changes[1].t, pi / 2, 1e-12);
  const double phase = std::sqrt(2.0) * (3 - pi / 2);
  expect_figure("v1(3)", s.state.v[0], 0.25 * (1 - std::cos(phase)), 1e-12);
  expect_figure("v2(3)", s.state.v[1], 0.25 * (1 + std::cos(phase)), 1e-12);
}

TEST(Events, MeanSpeedFactorsAreRootsOfK) {
  EventSimulation s = worm(straight({1, 1}, {1}));
  BangBang l{{0}, {0.5}};
  std::vector<double> middles;  // of the free phases
  double t = 0;
  for (int k = 1; k <= 16; ++k) {
    t += k == 1 ? pi / 2 : std::atan(1 / std::sqrt(k - 1.0));  // rest
    middles.push_back(t + 0.5 * pi / std::sqrt(2.0));
    t += pi / std::sqrt(2.0);  // free, until the other mass stands
    l.times.push_back(t);
    l.values.push_back(k % 2 == 1 ? 1 : 0.5);
  }
  s.options.tolerance = 1e-14;
  s.actuation.lengths = {{0, l}};
  for (int k = 1; k <= 16; ++k) {
    ASSERT_TRUE(s.run_until(middles[k - 1])) << s.failure;
    expect_figure(fmt::format("factor {}", k), (s.state.v[0] + s.state.v[1]) / 0.5, std::sqrt(k),
                  1e-12);
  }
}

TEST(Events, FigureFourSixReleasesBothAtOnce) {
  WormSpec w = straight({1, 1, 3}, {1, 1});
  w.masses[1].scales = false;
  w.positions = {2, 0.5, 0};
  EventSimulation s = worm(w);
  ASSERT_TRUE(s.run_until(40)) << s.failure;
  s.print();
  const double x[] = {10.76417866, 10.09291715, 8.94055259};
  for (int i = 0; i < 3; ++i)
    expect_figure(fmt::format("x{}(40)", i + 1), s.state.q[i], x[i], 1e-8);
  ASSERT_GE(s.changes.size(), 2U);
  expect_figure("release of both", s.changes[1].t, pi / (2 * std::sqrt(2.0)), 1e-12);
  EXPECT_EQ(s.held(s.changes[1]), "");
  expect_figure("energy", s.ledger.total(), 0.25, 1e-10);
}

TEST(Events, FigureFourOne) {
  EventSimulation s = worm(straight({1, 1}, {1}));
  s.actuation.lengths = {{0, BangBang{{0, 4, 8, 12, 16, 20}, {0.5, 1, 0.5, 1, 0.5, 1}}}};
  ASSERT_TRUE(s.run_until(24)) << s.failure;
  s.print();
  expect_figure("x1(24)", s.state.q[0], 8.09996662, 1e-8);
  expect_figure("x2(24)", s.state.q[1], 7.23549028, 1e-8);
}

TEST(Events, BouncingBallComesToRest) {
  for (const auto& [e, rest] : {std::pair(0.5, 1.354570923), std::pair(0.9, 8.578949179)}) {
    EventSimulation s(ball(e));
    s.state.q[2] = 1.1;
    ASSERT_TRUE(s.run_until(10, 0.01)) << s.failure;
    double end = 0;
    for (const ModeChange& c : s.changes)
      for (const EventCause& k : c.causes)
        if (k.cause == Cause::accumulation) end = k.value;
    fmt::print("      {} impacts, {} steps\n", s.impacts, s.steps);
    expect_figure(fmt::format("rest, e = {}", e), end, std::sqrt(2 / 9.81) * (1 + e) / (1 - e),
                  1e-9);
    expect_figure("to the digits of VERIFY.md", end, rest, 1e-9);
    EXPECT_NEAR(s.state.q[2], 0.1, 1e-12);
    EXPECT_EQ(s.state.v[2], 0);
  }
}

TEST(Events, RestitutionOverFifteenBounces) {
  EventSimulation s(ball(0.75));
  s.state.q[2] = 1.1;
  ASSERT_TRUE(s.run_until(3.2, 0.01)) << s.failure;
  ASSERT_GE(s.impacts, 15);
  int n = 0;
  double worst = 0;
  for (const ModeChange& c : s.changes)
    if (c.impact && n++ < 15)
      worst = std::max(worst, std::abs(std::sqrt(c.kinetic_after / c.kinetic_before) - 0.75));
  expect_figure("worst restitution", worst, 0, 1e-9);
}

// v = 5/7 v0 after 2 v0/(7 mu g), distance 12 v0^2/(49 mu g).
TEST(Events, SkidTurnsToRolling) {
  EventSimulation s(ball(0, 0.3));
  s.state.q[2] = 0.1;
  s.state.v[0] = 2;
  const double t = 2 * 2 / (7 * 0.3 * 9.81);
  ASSERT_TRUE(s.run_until(1, 0.1)) << s.failure;
  s.print();
  ASSERT_EQ(s.changes.size(), 2U);
  expect_figure("rolls from", s.changes[1].t, t, 1e-9);
  expect_figure("speed", s.state.v[0], 10.0 / 7, 1e-9);
  expect_figure("x(1)", s.state.q[0], 12 * 4 / (49 * 0.3 * 9.81) + 10.0 / 7 * (1 - t), 1e-8);
}
