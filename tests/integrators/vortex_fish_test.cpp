// Flows: the passive fish of VERIFY-P4 section 11 in a vortex street, Galilean invariance, and the
// momentum of body and fluid.
#include <gtest/gtest.h>

#include "saltus/base/error.h"
#include "saltus/forces/flow.h"
#include "saltus/forces/fluid.h"
#include "tests/support/events.h"
#include "tests/support/swimmers.h"

namespace saltus {
namespace {

using std::numbers::pi;
using test::Eel;
using test::expect_figure;

VortexStreet street() {
  VortexStreet s;
  s.stream = {1, 0, 0};
  s.period = 1;
  s.carried = 1 - .565 / 2 * std::tanh(pi * .281);
  s.rows = {{0, .281 / 2, -.565}, {.5, -.281 / 2, .565}};
  return s;
}

// VERIFY-P4 section 11, [C].
TEST(Flows, VortexStreet) {
  expect_figure("speed of the rows", street().carried, .8000428137, 1e-10);
  const FlowAt at = flow_at(street(), {.1, .05, 0}, .3);
  expect_figure("u", at.velocity.x(), .56345944, 1e-8);
  expect_figure("v", at.velocity.y(), .43182704, 1e-8);
  EXPECT_TRUE(flow_at(street(), {.1, 500, 0}, .3).velocity.allFinite());
}

// Gradient and rate of every flow against differences of fourth order.
TEST(Flows, DerivativesAreThoseOfTheVelocity) {
  WaveFlow wave;
  wave.amplitude = .1;
  wave.wave_number = 2;
  wave.omega = std::sqrt(9.81 * 2);
  wave.heading = Vec3(3, 4, 0) / 5;
  LinearFlow shear;
  shear.gradient(0, 1) = 2;
  shear.gradient(2, 0) = -.3;
  for (const Flow& flow : {Flow(street()), Flow(wave), Flow(shear)}) {
    const Vec3 x(.13, -.21, -.3);
    const double t = .7, h = 2e-4;
    const auto slope = [&](const Vec3& dx, double dt) {
      const auto side = [&](int k) {
        return Vec3(flow_at(flow, x + k * h * dx, t + k * h * dt).velocity);
      };
      return Vec3((8 * (side(1) - side(-1)) - (side(2) - side(-2))) / (12 * h));
    };
    const FlowAt at = flow_at(flow, x, t);
    for (int j = 0; j < 3; ++j)
      EXPECT_LE((slope(Vec3::Unit(j), 0) - at.gradient.col(j)).norm(), 1e-9);
    EXPECT_LE((slope(Vec3::Zero(), 1) - at.rate).norm(), 1e-9);
  }
  const Flow broken = UserFlow{[](const Vec3&, double) {
    FlowAt at;
    at.velocity.x() = std::nan("");
    return at;
  }};
  try {
    (void)flow_at(broken, {1, 2, 3}, .5);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& e) {
    EXPECT_NE(e.message().find("(1, 2, 3) at t = 0.5 s"), std::string::npos) << e.message();
  }
}

// Links on a rail along x: the nose may slide and turn.
ModelBuilder fish(int n, double kd, bool tail, const Flow& water) {
  const double l = 1.0 / n, H = .2, mb = pi * H * .08 / 4, ma = pi * H * H / 4, EI = 1e-3;
  const auto flow = std::make_shared<const Flow>(water);
  FluidSection section;
  section.drag = {H * .01, H / 2, 0};
  section.added = {0, ma, 0};
  section.displaced = mb;
  const FluidAlong along{[section](double) { return section; }, flow, {}};
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero());
  builder.body("nose", {}, test::joint(Prismatic{Vec3::UnitX()}));
  RigidInertia inertia{mb * l, {l / 2, 0, 0}, mb * l * l * l / 12 * Mat3::Identity()};
  for (int k = 1; k <= n; ++k) {
    JointSpec j = test::joint(Revolute{Vec3::UnitZ()}, "nose");
    if (k > 1) {
      j.parent = fmt::format("link{}", k - 1);
      j.placement = SE3::translation({l, 0, 0});
      j.dofs.resize(1);
      j.dofs[0].stiffness = EI / l;
      j.dofs[0].damping = kd;
    }
    const std::string name = fmt::format("link{}", k);
    builder.body(name, inertia, j);
    builder.fluid_along(along, name, l, {l / 2, 0, 0}, 1);
  }
  Fluid end;
  end.flow = flow;
  if (tail) end.end = {{l, 0, 0}, Vec3::UnitX(), Mat3(Vec3(0, ma, 0).asDiagonal())};
  return builder.fluid(end, fmt::format("link{}", n));
}

TEST(VortexFish, GoesUpstreamByItsTail) {
  test::EventSimulation run(fish(6, 2e-4, true, street()));
  run.state.q[0] = -.5;
  const double times[5] = {1, 2, 5, 10, 20};
  const double heads[5] = {-.5726654, -.7424104, -1.5636671, -3.2126223, -6.6398206};
  double at[5];
  for (int k = 0; k < 5; ++k) {
    ASSERT_TRUE(run.run_until(times[k])) << run.failure;
    at[k] = run.state.q[0];
    expect_figure(fmt::format("head at {} s", times[k]), at[k], heads[k], 1e-6);
  }
  expect_figure("mean speed 10..20 s", (at[4] - at[3]) / 10, -.3427198, 1e-7);
  const EnergyTerms& e = run.ledger;
  fmt::print("    energy: from flow and wake {:.6g} J, drag and dampers {:.6g} J\n", e.external,
             e.dampers);
  EXPECT_GT(e.external, 0);  // of the flow
  expect_figure("what the ledger lacks [J]", e.total() - e.work_without_integrator(), 0, 1e-9);
  run.print();
}

TEST(VortexFish, TwelveLinks) {  // VERIFY-P4 section 11, the finer of its two
  test::EventSimulation run(fish(12, 4e-4, true, street()));
  run.state.q[0] = -.5;
  const double times[3] = {1, 2, 5}, heads[3] = {-.5728244, -.7441203, -1.5718660};
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(run.run_until(times[k])) << run.failure;
    expect_figure(fmt::format("head at {} s", times[k]), run.state.q[0], heads[k], 1e-7);
  }
}

TEST(VortexFish, WithoutTheTailTermItIsCarriedAway) {
  test::EventSimulation run(fish(6, 2e-4, false, street()));
  run.state.q[0] = -.5;
  ASSERT_TRUE(run.run_until(5)) << run.failure;
  fmt::print("    head at 5 s: {:.6g}\n", run.state.q[0]);
  EXPECT_GT(run.state.q[0], 0);
}

TEST(VortexFish, TimeSteppingConverges) {
  double x[2];
  for (int k = 0; k < 2; ++k) {
    test::Simulation run(fish(6, 2e-4, true, street()), k == 0 ? 4e-3 : 2e-3);
    run.state.q[0] = -.5;
    run.run_until(2);
    x[k] = run.state.q[0] + .7424104;
    const EnergyTerms& e = run.ledger;
    expect_figure("what the scheme lost [J]", e.integrator, 0, 1e-4);
  }
  fmt::print("    off by {:.3e}, {:.3e} at 4, 2 ms\n", x[0], x[1]);
  expect_figure("order of the step", std::log2(std::abs(x[0] / x[1])), 2, 0.4);
}

// Whoever moves with a uniform flow sees water at rest: forces of added mass, drag and tail.
TEST(Flows, GalileanInvariance) {
  const Vec3 U(.7, -.4, 0);
  Vec end[2];
  for (int k = 0; k < 2; ++k) {
    const Flow water = LinearFlow{k == 0 ? Vec3(Vec3::Zero()) : U, Mat3::Zero(), Vec3::Zero()};
    Eel eel;
    ModelBuilder builder;
    builder.planar(true).gravity(Vec3::Zero());
    builder.body("hull", {2, {.1, .05, 0}, Mat3::Identity() * .3}, test::joint(Planar{}));
    FluidAlong along = eel.along();
    along.flow = std::make_shared<const Flow>(water);
    builder.fluid_along(along, "hull", 1, {.2, .3, 0}, 3);
    Fluid tail = eel.end({.7, .3, 0});
    tail.flow = along.flow;
    builder.fluid(tail, "hull");
    test::EventSimulation run(builder);
    run.state.q << 0, 0, .4;
    // The frame's own velocities: those of the base in the world.
    run.state.v << 1, .3, 2;
    if (k == 1) run.state.v.head<2>() += U.head<2>();
    ASSERT_TRUE(run.run_until(1)) << run.failure;
    if (k == 1) run.state.q.head<2>() -= U.head<2>();
    end[k] = run.state.q;
  }
  expect_figure("difference", (end[0] - end[1]).norm(), 0, 1e-9);
}

// A perfect fluid without wake: the momentum of body and fluid stays, whatever the joints do.
TEST(Flows, MomentumOfBodyAndFluidIsKept) {
  Eel eel;
  eel.Ct = eel.Cn = 0;
  eel.tail = false;
  eel.wave.ramp = 0;
  test::EventSimulation run(test::eel_chain(eel, 6));
  test::drive_chain(eel, run.model, run.actuation);
  const auto momentum = [&] {
    Workspace work(run.model);
    forward_kinematics(run.model, run.state.q, run.state.v, work);
    Vec6 sum = Vec6::Zero();
    for (int i = 0; i < run.model.body_count(); ++i)
      sum += wrench_to_parent(work.X[i], run.model.bodies[i].inertia * work.V[i]);
    return sum;
  };
  impose_prescribed(run.model, run.actuation, run.state);
  const Vec6 before = momentum();
  ASSERT_TRUE(run.run_until(3)) << run.failure;
  fmt::print("    momentum {:.3g}\n", before.norm());
  expect_figure("change of momentum, share", (momentum() - before).norm() / before.norm(), 0,
                1e-10);
}

}  // namespace
}  // namespace saltus
