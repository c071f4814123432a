// Rods in time: both integrators against each other, against saltus/rods and against references.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/forces/rod_forces.h"
#include "saltus/rods/statics.h"
#include "tests/rods/rod_cases.h"
#include "tests/rods/rod_flight.h"
#include "tests/support/allocations.h"
#include "tests/support/check.h"
#include "tests/support/events.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;

constexpr double g = 9.81;

SegmentSpec rubber(double length, std::vector<StrainBasis> basis) {
  SegmentSpec s;
  s.length = length;
  s.material = {5e6, 0.5, 1100, 0, 1};
  s.section = CircleSection{0.005};
  s.basis = std::move(basis);
  return s;
}
std::vector<StrainBasis> bending(int count) {
  return {{Strain::torsion, BasisKind::legendre, 1},
          {Strain::bend_y, BasisKind::legendre, count},
          {Strain::bend_z, BasisKind::legendre, count}};
}
RodSpec rod_of(const std::vector<SegmentSpec>& segments, const Joint& base = Fixed{}) {
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = base;
  rod.segments = segments;
  return rod;
}
Vec3 place_of(const test::Simulation& run, const char* body) { return run.pose(body).r; }

// VERIFY-P4 section 12: hinged, straight along x, released; a full Reissner rod in the plane. The
// reference has six digits; 12 functions a half leave 4e-5 of the layer at the hinge.
TEST(RodSteps, RubberPendulum) {
  const SegmentSpec half = rubber(0.5, {{Strain::stretch, BasisKind::legendre, 4},
                                        {Strain::shear_y, BasisKind::legendre, 4},
                                        {Strain::bend_z, BasisKind::legendre, 12}});
  EnergyTerms ledger;
  const auto places = [&](double dt) {
    ModelBuilder builder;
    RodSpec rod = rod_of({half, half}, Revolute{Vec3::UnitZ()});
    builder.planar(true).gravity({0, -g, 0}).rod(rod);
    test::Simulation run(builder, dt);
    Vec all(12);
    for (int k = 0; k < 3; ++k) {
      run.run_until(0.1 * (k + 1));
      all.segment<2>(4 * k) = place_of(run, "rod.tip").head<2>();
      all.segment<2>(4 * k + 2) = place_of(run, "rod.s1.tip").head<2>();
    }
    ledger = run.ledger;
    return all;
  };
  Vec reference(12);
  reference << .993597, -.048894, .493469, -.048100,  // t = .1: tip, middle
      .941896, -.198113, .442051, -.206140,           // .2
      .797986, -.424497, .314657, -.384932;           // .3
  const Vec a = places(4e-3), b = places(2e-3), c = places(1e-3);
  fmt::print("    at dt = 4, 2, 1 ms off by {:.2e}, {:.2e}, {:.2e}\n", (a - reference).norm(),
             (b - reference).norm(), (c - reference).norm());
  expect_figure("order of the step", std::log2((a - b).norm() / (b - c).norm()), 2, 0.3);
  EXPECT_LE((c - reference).lpNorm<Eigen::Infinity>(), 5e-5);
  // It began at rest at zero energy.
  expect_figure("energy gained by the scheme, of the kinetic", ledger.integrator / ledger.kinetic,
                0, 2e-5);
  expect_figure("kinetic energy at 0.3 s [J]", ledger.kinetic, .2693479, 3e-5);
}

// VERIFY-P4 section 12, Simo and Vu-Quoc: spun up in 15 s to 6 rad/s. The tip lags by 0.573835 at
// t = 6.7620 and is 5.1429e-4 farther out in the end, whatever the step: forces taken at an
// averaged configuration would add L (Om dt)^2/8, 1.8e-4 at 2 ms.
TEST(RodSteps, SpinUp) {
  using std::numbers::pi;
  SegmentSpec spec;
  spec.length = 10;
  spec.basis = {{Strain::stretch, BasisKind::legendre, 4},
                {Strain::shear_y, BasisKind::legendre, 4},
                {Strain::bend_z, BasisKind::legendre, 8}};
  Vec6 H, I;
  H << 2.8e7, 1e7, 1e7, 1.4e4, 1.4e4, 1.4e4;
  I << 1.2, 1.2, 1.2, 6e-4, 6e-4, 6e-4;
  spec.given = [H, I](double) { return test::diagonal_rod(H, I); };
  spec.points = 24;
  // A spline of the angle: 1e-9 off; beyond the run, for it comes to rest at its end.
  const auto angle = [](double t) {
    return t > 15 ? 6 * t - 45
                  : .4 * (t * t / 2 + std::pow(7.5 / pi, 2) * (std::cos(2 * pi * t / 15) - 1));
  };
  std::vector<double> times, angles;
  for (int k = 0; k <= 1000; ++k) times.push_back(.05 * k), angles.push_back(angle(.05 * k));
  double lags[2], ends[2], peak_at[2];
  for (int k = 0; k < 2; ++k) {
    ModelBuilder builder;
    RodSpec rod = rod_of({spec}, Revolute{Vec3::UnitZ()});
    rod.joint.dofs.resize(1);
    rod.joint.dofs[0].prescribed = true;
    builder.planar(true).gravity(Vec3::Zero()).rod(rod);
    test::Simulation run(builder, k == 0 ? 4e-3 : 2e-3);
    run.actuation.prescribed = {{CoordinateIndex(0), make_spline(times, angles, false)}};
    check(run.model, run.actuation);
    double peak = 0, at = 0, sum = 0, late = 0;
    int count = 0;
    run.run_until(21, [&] {
      const double a = angle(run.state.t), t = run.state.t;
      const Vec3 tip = place_of(run, "rod.tip");
      const double along = std::cos(a) * tip.x() + std::sin(a) * tip.y(),
                   lag = -std::sin(a) * tip.x() + std::cos(a) * tip.y();
      if (lag < peak) peak = lag, at = t;
      if (t > 16) sum += along - 10, ++count, late = std::max(late, std::abs(lag));
    });
    lags[k] = peak, peak_at[k] = at, ends[k] = sum / count;
    expect_figure("lag in the end: it goes on vibrating a little", late, 0, 5e-3);
    fmt::print(
        "    dt {:.0e}: lag {:.6f} at {:.4f}, extension {:.5e}, scheme's gain {:.1e} J of {:.1e}\n",
        run.options.dt, peak, at, ends[k], run.ledger.integrator, run.ledger.kinetic);
  }
  expect_figure("lag, extrapolated", lags[1] + (lags[1] - lags[0]) / 3, -0.573835, 1e-6);
  expect_figure("its time", peak_at[1], 6.7620, 4e-3);
  expect_figure("extension at 2 ms", ends[1], 5.1429e-4, 1e-6);
  expect_figure("that at 4 ms less it", ends[0] - ends[1], 0, 1e-8);
}

// Event-driven against a Runge-Kutta run of saltus/rods: two ways to the same motion.
TEST(RodSteps, EventDrivenAsTheRodAlone) {
  const SegmentSpec spec = rubber(0.4, bending(2));
  test::Flight alone;
  alone.rod = make_rod({spec});
  alone.loads.gravity = {0, 0, -g};
  alone.begin();
  alone.run(0.1, 4000);
  ModelBuilder builder;
  builder.rod(rod_of({spec}));
  test::EventSimulation run(builder);
  run.options.tolerance = 1e-12;
  ASSERT_TRUE(run.run_until(0.1)) << run.failure;
  fmt::print("    {} steps of order 8\n", run.steps);
  expect_figure("coefficients, apart", (run.state.q - alone.state.q).norm(), 0,
                1e-9 * alone.state.q.norm());
  expect_figure("energy, of the kinetic", run.ledger.integrator / run.ledger.kinetic, 0, 1e-9);
}

// A free rod, bent and thrown: coefficients move the centre of mass against the base, so that the
// scheme keeps momenta and energy to its order, as in any tree of joints.
TEST(RodSteps, FreeFlight) {
  const SegmentSpec spec = rubber(0.5, bending(3));
  const auto drift = [&](double dt) {
    ModelBuilder builder;
    builder.gravity(Vec3::Zero()).rod(rod_of({spec, spec}, Floating{}));
    test::Simulation run(builder, dt);
    test::Random random(7);
    run.state.q.tail(run.model.nq - 7) = random.vector(run.model.nq - 7, 0.3);
    run.state.v.head<6>() = random.vector(6, 2);
    Workspace w(run.model);
    const auto measure = [&] {
      forward_kinematics(run.model, run.state.q, run.state.v, w);
      const Momentum h = momentum(run.model, w);
      Eigen::Matrix<double, 7, 1> x;
      x << h.linear, h.angular,
          kinetic_energy(run.model, run.state.v, w) + elastic_energy(run.model, run.state.q);
      return x;
    };
    const auto start = measure();
    run.run_until(0.4);
    const auto end = measure();
    return Vec3((end - start).head<3>().norm() / start.head<3>().norm(),
                (end - start).segment<3>(3).norm() / start.segment<3>(3).norm(),
                std::abs(end[6] / start[6] - 1));
  };
  const Vec3 coarse = drift(5e-4), fine = drift(2.5e-4);
  fmt::print("    linear {:.2e} -> {:.2e}, angular {:.2e} -> {:.2e}, energy {:.2e} -> {:.2e}\n",
             coarse[0], fine[0], coarse[1], fine[1], coarse[2], fine[2]);
  for (int k = 0; k < 3; ++k) {
    EXPECT_LE(fine[k], 2e-3);
    EXPECT_GE(coarse[k] / fine[k], 3);
  }
}

// Steel, and a step of ten milliseconds against waves of microseconds: the mid-point is stable and
// keeps the energy, theta = 1 takes some, and the ledger says what.
TEST(RodSteps, StiffnessDoesNotDictateTheStep) {
  for (const double theta : {0.5, 1.0}) {
    SegmentSpec spec = rubber(1, bending(3));
    spec.material.E = 2e11;
    ModelBuilder builder;
    RodSpec rod = rod_of({spec}, Revolute{Vec3::UnitY()});
    rod.theta.fill(theta);
    builder.rod(rod);
    test::Simulation run(builder, 0.01);
    run.state.q[0] = 0.3;
    double most = 0, elastic = 0;
    run.run_until(2, [&] {
      most = std::max(most, run.ledger.kinetic);
      elastic = std::max(elastic, elastic_energy(run.model, run.state.q));
    });
    const auto name = fmt::format("theta = {}: ", theta);
    expect_figure(name + "scheme's gain, of the largest kinetic", run.ledger.integrator / most, 0,
                  2e-2);
    fmt::print("    {}dampers {:.2e} J, most elastic {:.2e} J, most kinetic {:.2e} J\n", name,
               run.ledger.dampers, elastic, most);
    if (theta == 0.5)
      EXPECT_EQ(run.ledger.dampers, 0);
    else
      EXPECT_LT(run.ledger.dampers, 0);
  }
}

// What theta takes is in the books: one coefficient, bent and let go; the loss of the ledger is
// that of the energy to rounding.
TEST(RodSteps, LossOfThetaIsInTheLedger) {
  SegmentSpec spec = rubber(0.4, {{Strain::bend_z, BasisKind::constant, 1}});
  ModelBuilder builder;
  RodSpec rod = rod_of({spec});
  rod.theta.fill(0.8);
  builder.planar(true).gravity(Vec3::Zero()).rod(rod);
  test::Simulation run(builder, 0.02);
  run.state.q[0] = 0.01;  // small: the mass hardly changes
  const double start = elastic_energy(run.model, run.state.q);
  run.run_until(10);
  const double lost = start - run.ledger.total();
  fmt::print("    of {:.3e} J {:.3e} J are lost\n", start, lost);
  EXPECT_GT(lost, 0.1 * start);
  expect_figure("loss in the ledger, of the loss", -run.ledger.dampers / lost, 1, 1e-6);
}

// A damped rod comes to rest where statics puts it: the same K, S and weights.
TEST(RodSteps, ComesToRestInEquilibrium) {
  SegmentSpec spec = rubber(0.5, bending(4));
  spec.material.viscosity = 2e6;  // near critical for the slowest mode
  spec.section = CircleSection{0.01};
  const Rod alone = make_rod({spec});
  Vec q = Vec::Zero(alone.size);
  const RodLoads loads{.gravity = {0, 0, -g}};
  const EquilibriumReport rest = equilibrium(alone, SE3{}, loads, q);
  ASSERT_TRUE(rest.converged);
  ModelBuilder builder;
  builder.rod(rod_of({spec}));
  test::Simulation run(builder, 5e-3);
  run.run_until(14);
  expect_figure("speed at the end", run.state.v.norm(), 0, 1e-10);
  // The step's own equilibrium is that of the forces, whatever dt: 1e-10 is what is left of v.
  expect_figure("coefficients, off equilibrium", (run.state.q - q).norm() / q.norm(), 0, 1e-9);
}

// A muscle changes the strain at which a coefficient is at rest: without weight the rod follows,
// and what the muscle gives is what viscosity takes and what is stored.
TEST(RodSteps, MusclesAndPrescribedCoefficients) {
  SegmentSpec spec = rubber(0.4, {{Strain::bend_z, BasisKind::legendre, 2}});
  spec.material.viscosity = 2e6;
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero()).rod(rod_of({spec}));
  test::Simulation run(builder, 2e-3);
  Table ramp;
  ramp.times = {0, 1};
  ramp.values = {0, 2};
  run.actuation.strains = {{run.model.coordinate("rod.bend_z.0"), ramp}};
  check(run.model, run.actuation);
  run.run_until(15);
  expect_figure("its coefficient at the end", run.state.q[0], 2, 1e-6);
  const EnergyTerms& e = run.ledger;
  EXPECT_GT(e.muscles, 0);
  expect_figure("what the books lack, of the muscle's work", e.integrator / e.muscles, 0, 1e-4);

  ModelBuilder given;
  RodSpec rod = rod_of({spec});
  rod.prescribed = {"bend_z.0"};
  given.planar(true).gravity(Vec3::Zero()).rod(rod);
  test::Simulation moved(given, 2e-3);
  moved.actuation.prescribed = {{moved.model.coordinate("rod.bend_z.0"), ramp}};
  moved.run_until(1);
  expect_figure("prescribed, at its end", moved.state.q[0], 2, 1e-12);
  // Slowly: the drive holds against the spring, dU/dq = K q.
  moved.run_until(8);
  const double hold = moved.model.rods[0].segment->K(0, 0) * 2;
  expect_figure("the drive's force at rest", moved.work.result.drive[0] / hold, 1, 1e-6);
}

// Event-driven with a contact at the tip: a clamped rod swings down onto a plane and bounces. Time
// stepping tends to the same with its step.
TEST(RodSteps, EventDrivenWithContactAtTheTip) {
  SegmentSpec spec = rubber(0.4, {{Strain::bend_y, BasisKind::legendre, 2}});
  spec.section = CircleSection{0.01};
  spec.material.viscosity = 1e4;
  ModelBuilder builder;
  builder.rod(rod_of({spec}));
  builder.shape("ground", "world", SE3::translation({0, 0, -0.05}), HalfSpace{});
  builder.shape("tip", "rod.tip", {}, Sphere{0});
  ContactLaw law;
  law.restitution = 0.5;
  builder.contact("tip", "ground", law);
  constexpr double end = 0.12;
  test::EventSimulation exact(builder);
  ASSERT_TRUE(exact.run_until(end)) << exact.failure;
  fmt::print("    {} impacts, {} events, {} steps\n", exact.impacts, exact.events, exact.steps);
  EXPECT_GE(exact.impacts, 1);
  const EnergyTerms& e = exact.ledger;
  EXPECT_LT(e.contacts, 0);
  expect_figure("what the books lack, of the kinetic", e.integrator / e.kinetic, 0, 1e-8);
  double off[2];
  for (int k = 0; k < 2; ++k) {
    test::Simulation run(builder, k == 0 ? 1e-3 : 2.5e-4);
    run.run_until(end);
    off[k] = (run.state.q - exact.state.q).norm() / exact.state.q.norm();
  }
  fmt::print("    time stepping off by {:.1e} at 1 ms, {:.1e} at 0.25 ms\n", off[0], off[1]);
  EXPECT_LE(off[1], 5e-3);
}

// Squeezed to nothing a section has no strain: the step says so, and leaves the state as it was.
TEST(RodSteps, ASqueezedSectionIsReported) {
  ModelBuilder builder;
  builder.gravity(Vec3::Zero())
      .rod(rod_of({rubber(0.4, {{Strain::stretch, BasisKind::constant, 2}})}));
  test::Simulation run(builder, 1e-3);
  run.actuation.strains = {{run.model.coordinate("rod.stretch.1"), Constant{-3}}};
  bool reported = false;
  for (int i = 0; i < 1000 && !reported; ++i) {
    const State before = run.state;
    const StepReport r = step(run.model, run.actuation, run.state, run.work, run.options);
    if (!r.diverged) continue;
    reported = true;
    EXPECT_EQ(run.model.bodies[run.model.v_body[r.culprit]].name, "rod.1");
    EXPECT_EQ(run.state.q, before.q);
    fmt::print("    reported at t = {:.3f} s, strain {:.3f}\n", run.state.t, 1 + run.state.q[1]);
  }
  EXPECT_TRUE(reported);
}

// A step allocates only to hold more contacts than any step before: the second time the same steps
// need nothing.
TEST(RodSteps, DoNotAllocate) {
#if !SALTUS_COUNTS
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  const SegmentSpec spec = rubber(0.2, bending(2));
  const RodSpec rod = rod_of({spec, spec}, Floating{});
  ModelBuilder builder;
  builder.rod(rod);
  builder.shape("ground", "world", {}, HalfSpace{});
  for (const auto& names : station_names(rod))
    for (const std::string& name : names) {
      builder.shape(name, name, {}, Sphere{0.005});
      builder.contact(name, "ground", {});
    }
  test::Simulation run(builder, 1e-3);
  run.state.q[2] = 0.02;
  run.actuation.strains = {{run.model.coordinate("rod.s1.bend_y.0"), Sine{1, 10, 0, 0}}};
  const State start = run.state;
  for (int i = 0; i < 150; ++i) (void)run.step();
  run.state = start;
  std::size_t count = 0;
  for (int i = 0; i < 150; ++i) {
    const std::size_t before = test::allocations;
    const StepReport r = step(run.model, run.actuation, run.state, run.work, run.options);
    count += test::allocations - before;
    ASSERT_FALSE(r.diverged);
  }
  expect_figure("allocations in 150 steps", static_cast<double>(count), 0, 0);
}

}  // namespace
}  // namespace saltus
