// Mechanisms of P1: what their runs do whatever law the impacts follow, or by Newton's where both
// say the same (VERIFY.md). The scenes' own laws are P1's.
#include <fmt/format.h>

#include "saltus/scene/scene.h"
#include "tests/support/events.h"

using namespace saltus;
using namespace saltus::test;

namespace {

// A scene of P1 with Newton's law, event-driven.
struct P1Run {
  System system;
  State state;
  EventIntegrator integrator;
  std::vector<ModeChange> changes;
  int events = 0, impacts = 0;
  std::string failure;

  explicit P1Run(const std::string& name, std::vector<std::string> settings = {})
      : P1Run(load_scene(fmt::format("{}/scenes/p1/{}.yaml", SALTUS_SOURCE_DIR, name),
                         with_newton(std::move(settings)))) {}
  explicit P1Run(const Scene& scene)
      : system(build_system(scene)),
        state(system.start),
        integrator(system.model, system.actuation, event_driven(scene)) {}

  static std::vector<std::string> with_newton(std::vector<std::string> settings) {
    settings.push_back("integrator.impact=newton");
    return settings;
  }
  bool run_until(double t) {
    const EventReport r = integrator.advance(state, t, 1e-3);
    for (ModeChange& c : integrator.take_changes()) changes.push_back(std::move(c));
    events += r.events;
    impacts += r.impacts;
    failure = r.failure;
    return failure.empty();
  }
  [[nodiscard]] const ModeChange* first_impact() const {
    for (const ModeChange& c : changes)
      if (c.impact) return &c;
    return nullptr;
  }
};

struct FirstImpact {
  double t, ratio;  // [s]; T+/T- where the tip sticks
};

// State just before the first impact of a pendulum, and the ratio of the energies.
P1Run before_impact(const std::string& scene, const FirstImpact& expected) {
  P1Run run(scene);
  EXPECT_TRUE(run.run_until(expected.t + 1e-3)) << run.failure;
  const ModeChange* hit = run.first_impact();
  EXPECT_TRUE(hit);
  if (!hit) return run;
  expect_figure("first impact [s]", hit->t, expected.t, 1e-10);
  expect_figure("T+/T-, stick", hit->kinetic_after / hit->kinetic_before, expected.ratio, 1e-8);
  P1Run again(scene);
  EXPECT_TRUE(again.run_until(hit->t - 1e-12)) << again.failure;
  EXPECT_EQ(again.impacts, 0);
  return again;
}

}  // namespace

TEST(P1, PendulumFromTheHorizontal) {
  const P1Run run = before_impact("pendulum-3-4-1", {0.5152715623, 1.21848682});
  const Vec &q = run.state.q, &v = run.state.v;
  expect_figure("angle of the upper bar", q[0], -1.1579178778, 1e-9);
  expect_figure("angle of the lower bar", q[0] + q[1], -0.6236850009, 1e-9);
  expect_figure("rate of the upper bar", v[0], -2.1999824175, 1e-9);
  expect_figure("rate of the lower bar", v[0] + v[1], -6.4746601567, 1e-9);
  Workspace w(run.system.model);
  forward_kinematics(run.system.model, q, v, w);
  const BodyIndex lower = run.system.model.body("lower");
  const Vec3 tip = point_velocity(w, lower, w.X[lower] * Vec3(1, 0, 0));
  expect_figure("tip velocity, x", tip.x(), -5.79651517, 1e-8);
  expect_figure("tip velocity, z", tip.z(), -6.13842525, 1e-8);
  expect_figure("T", kinetic_energy(run.system.model, v, w), 66.02637549, 1e-8);
}

TEST(P1, PendulumFolded) { (void)before_impact("pendulum-5-5", {0.5079637232, 1.08734063}); }

// Both wheels land at once; with e_n = 1 they roll off at 10/7 m/s.
TEST(P1, BicycleLandsOnBothWheels) {
  P1Run run("bicycle-3-4-2");
  ASSERT_TRUE(run.run_until(1)) << run.failure;
  const ModeChange* hit = run.first_impact();
  ASSERT_TRUE(hit);
  expect_figure("first impact [s]", hit->t, std::sqrt(9 / 9.81), 1e-12);
  EXPECT_EQ(hit->causes.size(), 2U);
  EXPECT_EQ(run.impacts, 1);
  // From just after it to 1 s it flies.
  const double flight = 1 - hit->t;
  expect_figure("velocity, x", run.state.v[0], 10.0 / 7, 1e-12);
  expect_figure("velocity, z, at the impact", run.state.v[1] + 9.81 * flight, 9.39627586, 1e-8);
  expect_figure("turn of the bar", run.state.v[2], 0, 1e-12);
  expect_figure("turn of a wheel", run.state.v[3], -20.0 / 7, 1e-12);
  expect_figure("turn of the other", run.state.v[4], -20.0 / 7, 1e-12);
}

// Elliptic wheels in rolling contact: no impacts after the landing, no chatter. The thesis had
// thousands of events here, from an approximate contact point.
TEST(P1, NoChatterInRollingContact) {
  P1Run round("bicycle-5-3-3");
  ASSERT_TRUE(round.run_until(10)) << round.failure;
  fmt::print("    circles: {} events, {} impacts in 10 s\n", round.events, round.impacts);
  EXPECT_EQ(round.impacts, 1);
  EXPECT_LE(round.events, 3);
  expect_figure("rolls on at", round.state.v[0], 10.0 / 7, 1e-9);
  // Wheels of 0.5 x 0.25 m that rock in step about their flat sides, sticking; h is the height of
  // their centres and x' = -h theta'.
  const double spin = -1.2, h = 0.25;
  P1Run oval("bicycle-4-2-alpha-0",
             {fmt::format("initial.bar={{q: [5, {}, 0], v: [{}, 0, 0]}}", h, -h * spin),
              fmt::format("initial.rear={{q: 0, v: {}}}", spin),
              fmt::format("initial.front={{q: 0, v: {}}}", spin)});
  const auto energy = [&] {
    Workspace w(oval.system.model);
    forward_kinematics(oval.system.model, oval.state.q, oval.state.v, w);
    return kinetic_energy(oval.system.model, oval.state.v, w) + 5 * 9.81 * (oval.state.q[1] - h);
  };
  const double start = energy();
  ASSERT_TRUE(oval.run_until(5)) << oval.failure;
  fmt::print("    ellipses: {} events, {} impacts in 5 s\n", oval.events, oval.impacts);
  EXPECT_EQ(oval.events + oval.impacts, 0);
  expect_figure("energy", energy(), start, 1e-10 * start);
  expect_figure("both wheels in step", oval.state.q[3] - oval.state.q[4], 0, 1e-10);
}
