// Rods under hard contact: statics with line contact, waves, falls.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/analysis/rest_shape.h"
#include "saltus/forces/rod_forces.h"
#include "saltus/lie/so3.h"
#include "saltus/rods/segment.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;
constexpr double pi = std::numbers::pi;

RodSpec rod_of(const std::vector<SegmentSpec>& segments, const Joint& base = Fixed{}) {
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = base;
  rod.segments = segments;
  return rod;
}
SE3 facing_y(double height) { return {exp_so3(-pi / 2 * Vec3::UnitX()), {0, height, 0}}; }

// A point at every station of the rod, against `ground`.
void touch(ModelBuilder& builder, const RodSpec& rod, const ContactLaw& law, double radius = 0) {
  for (const auto& names : station_names(rod))
    for (const std::string& name : names) {
      builder.shape(name, name, {}, Sphere{radius});
      builder.contact(name, "ground", law);
    }
}
double normal_force(const test::Simulation& run) {
  double sum = 0;
  for (const ContactImpulse& c : run.state.contacts) sum += c.Lambda[0] / run.options.dt;
  return sum;
}

// VERIFY-P4 section 9: a cantilever of length 4 lowered onto a frictionless plane at h = 0.1, EI =
// w = 1. The clamp moment is sqrt(2 EI w h) for every h; the reaction in all is R + w (L - l).
TEST(RodContact, CantileverLoweredOntoAPlane) {
  double off[2], shear_off[2];
  for (int k = 0; k < 2; ++k) {
    const int segments = k == 0 ? 10 : 20;
    SegmentSpec s = test::unit_rod({{Strain::bend_z, BasisKind::linear, 1}});
    s.length = 4.0 / segments;
    s.points = 4;
    const RodSpec rod = rod_of(std::vector<SegmentSpec>(segments, s));
    ModelBuilder builder;
    builder.planar(true).gravity({0, -1, 0}).rod(rod);
    builder.shape("ground", "world", facing_y(-0.1), HalfSpace{});
    touch(builder, rod, {});
    test::Simulation run(builder, 0.01);
    Vec q = run.state.q;
    const RestReport rest = find_rest(run.model, run.actuation, 0, q);
    fmt::print("    {} segments: {} Newton steps, residual {:.1e}, gap {:.1e}, eigenvalue {:.3g}\n",
               segments, rest.iterations, rest.residual, rest.gap, rest.least_eigenvalue);
    ASSERT_TRUE(rest.converged);
    EXPECT_GT(rest.least_eigenvalue, 0);
    double reaction = 0;
    for (const auto& h : rest.held) reaction += h.force;
    off[k] = std::abs(-q[0] - std::sqrt(0.2));  // the hat at the clamp; EI = 1
    shear_off[k] = std::abs(4 - reaction - 1.0937960052);
    fmt::print("    clamp moment {:.7f}, clamp shear {:.7f}\n", -q[0], 4 - reaction);
    // It stays there in time, with the same forces.
    run.state.q = q;
    run.run_until(0.5);
    expect_figure("time stepping stays", (run.state.q - q).norm() / q.norm(), 0, 1e-6);
    expect_figure("its reaction, of that of statics", normal_force(run) / reaction, 1, 1e-3);
  }
  EXPECT_LE(off[1], 4e-3);
  EXPECT_LE(shear_off[1], 1e-2);
  EXPECT_LT(off[1], off[0]);
}

// VERIFY-P4 section 9: a bar onto a rigid wall, c = rhoA = 1, no restitution asked for: the wave
// returns after 2L/c, the impulse is 2 m v. Discrete bars: 2 % at 100 pieces. At a hundredth of c:
// the strain is -v/c, and at -1 sections are squeezed to nothing.
TEST(RodContact, BarAgainstAWall) {
  constexpr double speed = 0.01;
  double off[2];
  for (int k = 0; k < 2; ++k) {
    const int n = k == 0 ? 50 : 100;
    SegmentSpec s = test::unit_rod({{Strain::stretch, BasisKind::constant, 1}});
    s.length = 1.0 / n;
    s.points = 2;
    const RodSpec rod = rod_of(std::vector<SegmentSpec>(n, s), Prismatic{Vec3::UnitX()});
    ModelBuilder builder;
    builder.gravity(Vec3::Zero()).rod(rod);
    builder.shape("ground", "world", {exp_so3(-pi / 2 * Vec3::UnitY()), {1, 0, 0}}, HalfSpace{});
    builder.shape("tip", "rod.tip", {}, Sphere{0});
    builder.contact("tip", "ground", {});
    test::Simulation run(builder, 0.5 / n);
    run.state.v[0] = speed;
    double impulse = 0, last = 0;
    run.run_until(2.5, [&] {
      for (const ContactImpulse& c : run.state.contacts) {
        impulse += c.Lambda[0];
        if (c.Lambda[0] > 0) last = run.state.t;
      }
    });
    impulse /= speed;
    off[k] = std::abs(impulse - 2);
    fmt::print("    {} pieces: impulse {:.6f}, last contact {:.4f}, energy error {:.1e}\n", n,
               impulse, last, run.ledger.integrator + run.ledger.correction);
    if (n == 100) {
      expect_figure("impulse, of 2 m v", impulse / 2, 1, 0.02);
      expect_figure("last contact, of 2 L/c", last / 2, 1, 0.02);
    }
  }
  EXPECT_LT(off[1], off[0]);
}

// VERIFY-P4 section 9: bar 1 (length 1) onto bar 2 at rest (length 2), the same section: in contact
// for 2 L1/c; then bar 1 rests and bar 2 leaves at v L1/L2, half the energy in its vibration.
TEST(RodContact, BarAgainstALongerBar) {
  constexpr double speed = 0.01;
  constexpr int n = 50;
  SegmentSpec s = test::unit_rod({{Strain::stretch, BasisKind::constant, 1}});
  s.length = 1.0 / n;
  s.points = 2;
  const RodSpec first = rod_of(std::vector<SegmentSpec>(n, s), Prismatic{Vec3::UnitX()});
  RodSpec second = rod_of(std::vector<SegmentSpec>(2 * n, s), Prismatic{Vec3::UnitX()});
  second.name = "other";
  second.joint.placement = SE3::translation({1, 0, 0});
  ModelBuilder builder;
  builder.gravity(Vec3::Zero()).rod(first).rod(second);
  builder.shape("tip", "rod.tip", {}, Sphere{0});
  builder.shape("ground", "other.base", {exp_so3(-pi / 2 * Vec3::UnitY()), Vec3::Zero()},
                HalfSpace{});
  builder.contact("tip", "ground", {});
  test::Simulation run(builder, 0.5 / n);
  run.state.v[0] = speed;
  double impulse = 0;
  const auto sum = [&] {
    for (const ContactImpulse& c : run.state.contacts) impulse += c.Lambda[0];
  };
  // The force is v/2 until 2 L1/c. From then on the ends stay together without force: when a
  // contact is the last is not to be told.
  run.run_until(1, sum);
  expect_figure("impulse after L1/c, of m v", impulse / speed, 0.5, 0.02);
  run.run_until(2, sum);
  expect_figure("impulse after 2 L1/c, of m v", impulse / speed, 1, 0.02);
  run.run_until(2.5, sum);
  const double kept = run.ledger.kinetic + elastic_energy(run.model, run.state.q);
  expect_figure("impulse, of m v", impulse / speed, 1, 1e-3);
  expect_figure("energy that is left", kept / (0.5 * speed * speed), 1, 0.02);
}

// A straight rod that falls flat, e = 0: all sections stop at once, nothing vibrates.
TEST(RodContact, FallsFlat) {
  SegmentSpec s;
  s.length = 0.25;
  s.material = {1e6, 0.3, 1000, 0, 1};
  s.section = CircleSection{0.01};
  s.basis = {{Strain::torsion, BasisKind::legendre, 1},
             {Strain::bend_y, BasisKind::legendre, 2},
             {Strain::bend_z, BasisKind::legendre, 2}};
  const RodSpec rod = rod_of({s, s}, Floating{});
  ModelBuilder builder;
  builder.rod(rod);
  builder.shape("ground", "world", {}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.5;
  touch(builder, rod, law, 0.01);
  test::Simulation run(builder, 1e-3);
  run.state.q[2] = 0.03;
  double deepest = 0;
  for (int i = 0; i < 500; ++i) deepest = std::max(deepest, run.step().projection.penetration);
  const double weight = run.model.total_mass() * 9.81;
  expect_figure("deepest penetration after correction [m]", deepest, 0, 1e-9);
  expect_figure("speed at rest", run.state.v.norm(), 0, 1e-6);
  expect_figure("normal force at rest, of the weight", normal_force(run) / weight, 1, 1e-6);
  expect_figure("it stays straight", run.state.q.tail(run.model.nq - 7).norm(), 0, 1e-6);
}

}  // namespace
}  // namespace saltus
