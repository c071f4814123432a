// The eel of VERIFY-P4 section 10: large-amplitude elongated-body theory with added mass in the
// inertia and the wake's force at the tail, as a rod and as chains of links.
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/events.h"
#include "tests/support/swimmers.h"

namespace saltus {
namespace {

using test::Eel;
using test::expect_figure;

// Head at t = 1, 2, 5: x, y, th; twist (v.t, v.n, th_t).
constexpr double poses[3][3] = {{-0.0451533, -0.0001065, -0.2043978},
                                {-0.3306576, -0.0132373, -0.1914415},
                                {-1.6807583, -0.0577883, -0.1855080}};
constexpr double twists[3][3] = {{-.2558728, .2826218, -.6633831},
                                 {-.4197524, .2254520, -.5966785},
                                 {-.5411772, .1866169, -.5543859}};

TEST(Eel, RodMeetsTheReference) {
  const Eel eel;
  test::EventSimulation run(test::eel_rod(eel, 14, 48));
  test::drive_rod(eel, run.model, run.actuation);
  const double times[3] = {1, 2, 5};
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(run.run_until(times[k])) << run.failure;
    const char* names[3] = {"x", "y", "th"};
    Workspace work(run.model);
    forward_kinematics(run.model, run.state.q, run.state.v, work);
    const Vec6& V = work.V[run.model.body("eel.base")];
    const double twist[3] = {V[0], V[1], V[5]};
    for (int i = 0; i < 3; ++i) {
      expect_figure(fmt::format("{} at {} s", names[i], times[k]), run.state.q[i], poses[k][i],
                    1e-5);
      expect_figure(fmt::format("rate of {}", names[i]), twist[i], twists[k][i], 1e-5);
    }
  }
  run.print();
}

// The internal moment of [0, s] on [s, L]: of a rod the sum of Legendre functions whose products
// with it are the forces along the coefficients, of a chain the torque of the hinge there.
Vec drive_forces(const Model& model, const Actuation& actuation, State s) {
  s.t0 = s.t;
  s.step = 0;
  StepWorkspace work(model);
  MoreauMidpoint o;
  o.dt = 1e-6;
  EXPECT_FALSE(step(model, actuation, s, work, o).diverged);
  return work.result.drive;
}

double legendre(int k, double x) {
  double a = 1, b = x;
  for (int i = 1; i < k; ++i) a = std::exchange(b, ((2 * i + 1) * x * b - i * a) / (i + 1));
  return k == 0 ? 1 : b;
}

TEST(Eel, TorquesOfTheRod) {
  const Eel eel;
  test::EventSimulation run(test::eel_rod(eel, 20, 32));
  test::drive_rod(eel, run.model, run.actuation);
  run.options.tolerance = 1e-8;
  ASSERT_TRUE(run.run_until(9)) << run.failure;
  const RodElement& rod = run.model.rods.front();
  const Vec drive = drive_forces(run.model, run.actuation, run.state);
  const Vec force =
      drive.segment(rod.v0, rod.size) - rod.segment->K * run.state.q.segment(rod.q0, rod.size);
  const double at[7] = {.1, .25, .4, .5, .6, .75, .9};
  const double moments[7] = {.063504, .168620, .340778, .452653, .505091, .386353, .099925};
  for (int i = 0; i < 7; ++i) {
    double M = 0;
    for (int k = 0; k < rod.size; ++k) M += (2 * k + 1) * force[k] * legendre(k, 2 * at[i] - 1);
    expect_figure(fmt::format("moment at s = {} [N m]", at[i]), M, moments[i], 3e-5);
  }
  run.print();
}

// Links have one limit with the rod, at second order but for the tail: the end of the last link has
// the direction of its middle, half a link before it, and so the wake's force is off by O(l).
TEST(Eel, LinksConverge) {
  for (const bool tail : {false, true}) {
    Eel eel;
    eel.tail = tail;
    test::EventSimulation rod(test::eel_rod(eel, 14, 48));
    test::drive_rod(eel, rod.model, rod.actuation);
    rod.options.tolerance = 1e-10;
    ASSERT_TRUE(rod.run_until(1)) << rod.failure;
    const int counts[3] = {10, 50, 200};
    double off[3], torque[3];
    for (int k = 0; k < 3; ++k) {
      test::EventSimulation run(test::eel_chain(eel, counts[k]));
      test::drive_chain(eel, run.model, run.actuation);
      run.options.tolerance = 1e-8;
      ASSERT_TRUE(run.run_until(1)) << run.failure;
      off[k] = (run.state.q.head<2>() - rod.state.q.head<2>()).norm();
      const int hinge = run.model.coordinate(fmt::format("link{}", counts[k] / 2 + 1));
      torque[k] =
          drive_forces(run.model, run.actuation, run.state)[run.model.coordinates[hinge].v_index];
      fmt::print("    {} links, {} tail: head off by {:.3e} m, middle torque {:.6f} N m\n",
                 counts[k], tail ? "with" : "without", off[k], torque[k]);
    }
    const double late = std::log(off[1] / off[2]) / std::log(4);
    expect_figure("order from 10 to 50", std::log(off[0] / off[1]) / std::log(5), 2, .3);
    expect_figure("order from 50 to 200", late, tail ? 1 : 2, .3);
    expect_figure(
        "order of the torque",
        std::log(std::abs((torque[0] - torque[1]) / (torque[1] - torque[2]))) / std::log(5), 2, .4);
  }
}

// Time stepping tends to one motion at second order, and its books close at that order too.
TEST(Eel, TimeSteppingConverges) {
  const Eel eel;
  Vec2 head[3];
  double lost[3];
  for (int k = 0; k < 3; ++k) {
    test::Simulation run(test::eel_rod(eel, 10, 16), 8e-3 / (1 << k));
    test::drive_rod(eel, run.model, run.actuation);
    run.run_until(1);
    head[k] = run.state.q.head<2>();
    lost[k] = run.ledger.integrator / run.ledger.prescribed;
  }
  fmt::print("    what the scheme lost, share of the work: {:.2e}, {:.2e}, {:.2e}\n", lost[0],
             lost[1], lost[2]);
  expect_figure("order of the step",
                std::log2((head[0] - head[1]).norm() / (head[1] - head[2]).norm()), 2, .3);
  expect_figure("order of the books", std::log2(lost[1] / lost[2]), 2, .3);
  EXPECT_LE(std::abs(lost[2]), 1e-4);
}

}  // namespace
}  // namespace saltus
