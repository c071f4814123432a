// Time stepping of creatures of given shape keeps their net momentum to rounding (P4 eq. 16: the
// root's rows in momentum form), whatever the step; and goes where it went, at second order or
// better.
#include <gtest/gtest.h>

#include "saltus/analysis/net_motion.h"
#include "saltus/base/types.h"
#include "saltus/control/shape_gait.h"
#include "saltus/lie/so3.h"
#include "tests/support/events.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;

struct Creature {
  ModelBuilder builder;
  Actuation drives;
};

// A chain that bends about z and y in turn, with added mass on demand.
ModelBuilder chain(bool planar, bool added, const Vec3& gravity) {
  ModelBuilder b;
  b.planar(planar).gravity(gravity);
  for (int i = 0; i < 4; ++i) {
    JointSpec j;
    if (i == 0) {
      j.kind = Floating{};
      if (planar) j.kind = Planar{};
    } else {
      j = test::joint(Revolute{planar || i % 2 ? Vec3::UnitZ() : Vec3::UnitY()},
                      fmt::format("link{}", i - 1));
      j.placement = SE3::translation({0.3, 0, 0});
      j.dofs.resize(1);
      j.dofs[0].prescribed = true;
    }
    const std::string name = fmt::format("link{}", i);
    b.body(name, {1 + 0.2 * i, {0.15, 0, 0}, Vec3(1e-3, 8e-3, 9e-3).asDiagonal()}, j);
    if (added && i != 1) {
      Mat6 A = Mat6::Zero();
      A.diagonal() << 0.2, 2, planar ? 0 : 1.5, 0, 0, 0.01;
      b.added_inertia(name, A);
    }
  }
  return b;
}

void drive(test::Simulation& run) {
  for (std::size_t c = 0; c < run.model.coordinates.size(); ++c)
    if (run.model.coordinates[c].dof.prescribed) {
      const int k = static_cast<int>(c);
      run.actuation.prescribed.push_back({CoordinateIndex(k), Sine{0.7, 5, 1.1 * k, 0.1 * k}});
    }
  impose_prescribed(run.model, run.actuation, run.state);
}

// About the inertial origin.
Vec6 momentum(const Model& model, const State& s) {
  Workspace work(model);
  forward_kinematics(model, s.q, s.v, work);
  Vec6 sum = Vec6::Zero();
  for (int i = 0; i < model.body_count(); ++i)
    sum += wrench_to_parent(work.X[i], model.bodies[i].inertia * work.V[i]);
  return sum;
}
Vec3 centre(const Model& model, const State& s) {
  Workspace work(model);
  forward_kinematics(model, s.q, s.v, work);
  Vec3 sum = Vec3::Zero();
  for (int i = 0; i < model.body_count(); ++i)
    sum += model.bodies[i].rigid.mass * (work.X[i] * model.bodies[i].rigid.com);
  return sum / model.total_mass();
}

// 1e-12 of the momentum that the links have among themselves: rounding of 400 steps.
TEST(NetMomentum, StaysToRounding) {
  for (const bool planar : {true, false})
    for (const bool added : {false, true}) {
      test::Simulation run(chain(planar, added, Vec3::Zero()), 5e-3);
      drive(run);
      run.state.v[0] += 0.3;
      const Vec3 c = centre(run.model, run.state);
      const Vec6 before = momentum(run.model, run.state);
      run.run_until(2);
      expect_figure(fmt::format("{}{}: change of momentum", planar ? "plane" : "space",
                                added ? ", added mass" : ""),
                    (momentum(run.model, run.state) - before).norm(), 0, 1e-12);
      if (added) continue;
      const Vec3 way = centre(run.model, run.state) - c;
      expect_figure("centre of mass, off its straight way by",
                    (way - 2 / run.model.total_mass() * before.head<3>()).norm(), 0, 1e-12);
    }
}

// In free fall it gains its weight's impulse, and about its centre of mass nothing.
TEST(NetMomentum, FallsWithItsWeight) {
  test::Simulation run(chain(false, false, {0, 0, -9.81}), 5e-3);
  drive(run);
  const auto spin = [&] {
    const Vec6 H = momentum(run.model, run.state);
    return Vec3(H.tail<3>() - centre(run.model, run.state).cross(Vec3(H.head<3>())));
  };
  const Vec3 L = spin(), P = momentum(run.model, run.state).head<3>(),
             c = centre(run.model, run.state);
  run.run_until(1);
  expect_figure(
      "linear, off by",
      (momentum(run.model, run.state).head<3>() - P - run.model.total_mass() * Vec3(0, 0, -9.81))
          .norm(),
      0, 1e-11);
  expect_figure("about the centre of mass, off by", (spin() - L).norm(), 0, 1e-11);
  const Vec3 fallen = centre(run.model, run.state) - c - P / run.model.total_mass();
  expect_figure("centre of mass, off its parabola by", (fallen - Vec3(0, 0, -4.905)).norm(), 0,
                1e-11);
}

// The free chain of VERIFY-P4 section 2; a_1 = th_2 - th_1, a_2 = th_3 - th_2.
ModelBuilder free_chain() {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  const RigidInertia link{1, Vec3::Zero(), Vec3(1, 1, 1.0).asDiagonal() * (1.0 / 12)};
  b.body("link2", link, test::joint(Planar{}));
  for (const auto& [name, side] : {std::pair{"link1", -1.0}, {"link3", 1.0}}) {
    JointSpec j = test::joint(Revolute{side * Vec3::UnitZ()}, "link2");
    j.placement = SE3::translation({side * 0.5, 0, 0});
    j.in_body = SE3::translation({-side * 0.5, 0, 0});
    j.dofs.resize(1);
    j.dofs[0].prescribed = true;
    b.body(name, link, j);
  }
  return b;
}

// From zero momentum: second order, and the momentum of every step stays what it was.
TEST(NetMomentum, OrderOfTheMotion) {
  const double end = 2 * std::numbers::pi;
  double off[3];
  for (int k = 0; k < 3; ++k) {
    test::Simulation run(free_chain(), end / (100 << k));
    // a = (1, 1) + .5 (cos t, sin t)
    run.actuation.prescribed = {
        {run.model.coordinate("link1"), Sine{0.5, 1, std::numbers::pi / 2, 1}},
        {run.model.coordinate("link3"), Sine{0.5, 1, 0, 1}}};
    impose_prescribed(run.model, run.actuation, run.state);
    run.state.v.head<3>() << 0.031263723567350014, -0.035102896569838386, -0.12678491860337907;
    const double start = momentum(run.model, run.state).norm();
    EXPECT_LT(start, 1e-15);
    run.run_until(end);
    EXPECT_LT(momentum(run.model, run.state).norm(), 1e-13);
    off[k] = std::hypot(run.state.q[0] + 0.0171766214049, run.state.q[1] - 0.0049064920844,
                        run.state.q[2] + 0.0564793909203);
  }
  fmt::print("    off by {:.3e}, {:.3e}, {:.3e}\n", off[0], off[1], off[2]);
  // Second order at the least. A closed gait of a chain whose centre of mass is kept does better:
  // what is left is its turn, integrated over whole periods.
  EXPECT_LT(off[0], 1e-5);
  EXPECT_GT(std::log2(off[1] / off[2]), 1.9);
}

// A polygon in shape space turns at corners, where the rates of the joints jump and the twist with
// them. Event-driven they are events, passed by the jump that keeps the momentum, to 1e-13. Time
// stepping has a step across each corner, here at another place of the step every time: the
// momentum is kept to rounding there too, but the way has an error of first order, in shares of the
// step.
TEST(NetMomentum, CornersOfAPolygon) {
  const double end = 2 * std::numbers::pi;
  const std::vector<Signal> gait =
      polygon_gait({{1.5, 1}, {1.1, 1.6}, {0.5, 1.1}, {0.9, 0.4}}, end, 1);
  const auto prescribe = [&](auto& run) {
    run.actuation.prescribed = {{run.model.coordinate("link1"), gait[0]},
                                {run.model.coordinate("link3"), gait[1]}};
    impose_prescribed(run.model, run.actuation, run.state);
  };
  const Model model = free_chain().build();
  const ShapeSpace space = shape_space(model);
  const Medium medium = by_inertia(model);
  ShapePath path{Vec::Zero(2), {space.variable("link1"), space.variable("link3")}, gait, 0, end};
  const NetMotion reference = net_motion(model, space, medium, path);
  const NetTwist start = net_twist(model, space, medium, shape_at(path, 0), shape_rate(path, 0));
  const auto distance = [&](const State& s) {
    return (Vec3(s.q.head<3>()) - Vec3(reference.g.r.x(), reference.g.r.y(), reference.turn))
        .norm();
  };
  double off[3];
  const int steps[] = {101, 203, 405};  // a quarter is never a whole number of them
  for (int k = 0; k < 3; ++k) {
    test::Simulation run(free_chain(), end / steps[k]);
    prescribe(run);
    run.state.v.head<3>() = start.eta;
    double worst = 0;
    run.run_until(end, [&] { worst = std::max(worst, momentum(run.model, run.state).norm()); });
    expect_figure(fmt::format("{} steps: momentum", steps[k]), worst, 0, 1e-12);
    off[k] = distance(run.state);
  }
  fmt::print("    off by {:.3e}, {:.3e}, {:.3e}: orders {:.2f}, {:.2f}\n", off[0], off[1], off[2],
             std::log2(off[0] / off[1]), std::log2(off[1] / off[2]));
  for (int k = 0; k < 3; ++k) EXPECT_LT(off[k], 0.1 * end / steps[k]);
  test::EventSimulation events(free_chain());
  prescribe(events);
  events.state.v.head<3>() = start.eta;
  ASSERT_TRUE(events.run_until(end)) << events.failure;
  expect_figure("event-driven, off by", distance(events.state), 0, 1e-9);
  expect_figure("event-driven, momentum", momentum(events.model, events.state).norm(), 0, 1e-10);
}

}  // namespace
}  // namespace saltus
