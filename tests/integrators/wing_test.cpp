// Flapping wings by blade elements: VERIFY.md (Dickinson's coefficients, mean lift in hover) and
// the wing of VERIFY-P4 section 11 that pitches by itself.
#include "saltus/forces/wing.h"

#include <gtest/gtest.h>

#include "saltus/forces/fluid.h"
#include "tests/support/events.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;
constexpr double pi = std::numbers::pi, R = .05, c = .015, m = 2e-5, f = 20;

TEST(Wing, CoefficientsOfDickinson) {
  expect_figure("C_L at 45 degrees", lift_coefficient({}, 45), 1.804561, 5e-7);
  expect_figure("C_D at 45 degrees", drag_coefficient({}, 45), 1.703746, 5e-7);
}

Wing plate() {
  Wing w;
  w.length = R;
  w.width = c;
  return w;
}

// Stroke about z (prescribed), pitch about the span on a spring.
ModelBuilder flapper(const Wing& wing, double k) {
  ModelBuilder builder;
  builder.gravity(Vec3::Zero());
  JointSpec stroke = test::joint(Revolute{Vec3::UnitZ()});
  stroke.dofs.resize(1);
  stroke.dofs[0].prescribed = true;
  builder.body("root", {}, stroke);
  JointSpec pitch = test::joint(Revolute{Vec3::UnitX()}, "root");
  pitch.dofs.resize(1);
  pitch.dofs[0].stiffness = k;
  const Mat3 J = Vec3(m * c * c / 12, m * (R * R + c * c) / 12, m * R * R / 12).asDiagonal();
  builder.body("wing", {m, {R / 2, 0, -c / 2}, J}, pitch);
  Fluid air;
  air.wing = std::make_shared<const Wing>(wing);
  return builder.fluid(air, "wing");
}

double lift_now(const Model& model, const State& s) {
  Workspace work(model);
  forward_kinematics(model, s.q, s.v, work);
  const int b = model.body("wing");
  const Vec6 F = fluid_force(model.fluids[0], model.gravity, s.t, work.X[b], work.V[b]).wrench;
  return (work.X[b].R * F.head<3>()).z();
}

// VERIFY.md: .25 rho S r2^2 R^2 (pi f Phi)^2 C_L, of a rectangle r2^2 = 1/3.
TEST(Wing, MeanLiftInHover) {
  Wing w = plate();
  w.coefficients = {{1.3, 0, 0, 0}, {0, 0, 0, 0}};
  w.damping = 0;
  const double amplitude = pi / 3;
  ModelBuilder builder = flapper(w, 1e-3);
  test::EventSimulation run(builder);
  double sum = 0;
  const int n = 400;
  for (int k = 0; k < n; ++k) {
    const double p = 2 * pi * k / n;
    run.state.q << amplitude * std::sin(p), 0;
    run.state.v << amplitude * 2 * pi * f * std::cos(p), 0;
    sum += lift_now(run.model, run.state) / n;
  }
  const double expected =
      .25 * 1.225 * (R * c) / 3 * R * R * std::pow(pi * f * 2 * amplitude, 2) * 1.3;
  expect_figure("mean lift [N]", sum, expected, 1e-12);
}

TEST(Wing, PitchesByItself) {
  test::EventSimulation run(flapper(plate(), 1.6e-4));
  run.actuation.prescribed = {{CoordinateIndex(0), Sine{pi / 3, 2 * pi * f, 0, 0}}};
  impose_prescribed(run.model, run.actuation, run.state);
  const double T = 1 / f;
  ASSERT_TRUE(run.run_until(12 * T)) << run.failure;
  const double degree = pi / 180;
  expect_figure("pitch at mid-stroke [deg]", run.state.q[1] / degree, -40.42962, 5e-3);
  double most = 0, sum = 0;
  const int n = 1000;
  for (int k = 1; k <= n; ++k) {
    ASSERT_TRUE(run.run_until((12 + static_cast<double>(k) / n) * T)) << run.failure;
    most = std::max(most, std::abs(run.state.q[1]));
    sum += lift_now(run.model, run.state) / n;
  }
  expect_figure("amplitude of the pitch [deg]", most / degree, 45.10316, 5e-3);
  expect_figure("mean lift of a wing [N]", sum, 5.685868e-3, 6e-7);
  expect_figure("two wings carry [g]", 2 * sum / 9.81 * 1e3, 1.159198, 1.2e-4);
}

}  // namespace
}  // namespace saltus
