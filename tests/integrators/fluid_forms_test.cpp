// Closed forms of slender swimmers (VERIFY.md): Lighthill's filament, Taylor's sheet to its leading
// order, the mean thrust of elongated-body theory; and what fluids refuse.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/forces/fluid.h"
#include "saltus/rods/gauss.h"
#include "tests/support/events.h"
#include "tests/support/swimmers.h"

namespace saltus {
namespace {

using test::Eel;
using test::expect_figure;
constexpr double pi = std::numbers::pi;

// One wave y = b sin x of a filament, by its arc length s.
struct SineFilament {
  double b;
  [[nodiscard]] double stretch(double x) const { return std::hypot(1.0, b * std::cos(x)); }
  [[nodiscard]] double curvature(double x) const {
    return -b * std::sin(x) / std::pow(stretch(x), 3);
  }
  [[nodiscard]] double slope(double x) const {  // of the curvature along s
    const double h = 1e-3;                      // sixth order: 1e-15 and rounding 1e-13
    const auto k = [&](int i) { return curvature(x + i * h) - curvature(x - i * h); };
    return (45 * k(1) - 9 * k(2) + k(3)) / (60 * h) / stretch(x);
  }
  [[nodiscard]] double place(double s) const {  // x at s, by Newton on a Gauss sum
    double x = s / length() * 2 * pi;
    for (int k = 0; k < 30; ++k) x -= (arc(x) - s) / stretch(x);
    return x;
  }
  [[nodiscard]] double arc(double x) const {
    double sum = 0;
    static const auto points = gauss_points(40);
    for (const GaussPoint& g : points) sum += g.weight * x * stretch(g.x * x);
    return sum;
  }
  [[nodiscard]] double length() const { return arc(2 * pi); }
};

// Coefficients of a function along a segment, by least squares.
Vec fit(const RodSegment& segment, const std::function<double(double)>& f) {
  Mat gram = Mat::Zero(segment.size, segment.size);
  Vec right = Vec::Zero(segment.size);
  for (const GaussPoint& g : gauss_points(80)) {
    const double X = g.x * segment.spec.length;
    const Vec b = basis_at(segment, X).row(5);
    gram += g.weight * b * b.transpose();
    right += g.weight * b * f(X);
  }
  return gram.llt().solve(right);
}

// Speed of an endless filament over that of its wave: the shape slides along itself
// backwards, and the mean force along x of one wave vanishes.
double filament_speed(double b, double ratio) {
  const SineFilament wave{b};
  SegmentSpec s;
  s.length = wave.length();
  s.basis = {{Strain::bend_z, BasisKind::legendre, 36}};
  s.points = 400;  // Magnus' steps leave 1e-6 with 60 stations, and fall with their fourth power
  s.given = [](double) { return test::diagonal_rod(Vec6::Ones(), Vec6::Ones()); };
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = Planar{};
  rod.segments = {s};
  FluidSection section;
  section.resistance = {ratio, 1, 1};
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero()).rod(rod);
  builder.fluid_along({[section](double) { return section; }, nullptr, {}}, "rod");
  const Model model = builder.build();
  const RodSegment& segment = *model.rods[0].segment;
  State state = make_state(model);
  state.q[2] = std::atan(b);
  state.q.tail(segment.size) =
      fit(segment, [&](double X) { return wave.curvature(wave.place(X)); });
  // In the frame of the wave sections run backwards along it: s of the material falls at speed 1,
  // so curvature at a section changes by -(its slope), the base slides by -t and turns by -kappa.
  state.v.tail(segment.size) = -fit(segment, [&](double X) { return wave.slope(wave.place(X)); });
  const double th = state.q[2];
  double force[2];
  for (int k = 0; k < 2; ++k) {  // at no speed of the frame, and at one
    state.v[0] = -std::cos(th) + k;
    state.v[1] = -std::sin(th);
    state.v[2] = -wave.curvature(0);
    Workspace work(model);
    forward_kinematics(model, state.q, state.v, work);
    force[k] = 0;
    for (const Fluid& f : model.fluids) {
      const SE3& X = work.X[f.body];
      const Vec6 F = fluid_force(f, model.gravity, 0, X, work.V[f.body]).wrench;
      force[k] += (X.R * F.head<3>()).x();
    }
  }
  // The frame of the wave moves at W against the fluid, and at V = 2 pi / length against the
  // animal.
  const double W = -force[0] / (force[1] - force[0]), V = 2 * pi / wave.length();
  return 1 - W / V;
}

TEST(FluidForms, LighthillsFilament) {
  expect_figure("U/V at bk = 1, ratio 1/2", filament_speed(1, .5), .238752398, 5e-9);
}

// Local drag with the ratio 2 has Taylor's leading order b^2 k^2/2 (of c; its next term is Stokes
// flow's own, -19/16 b^2 k^2, which no local drag knows).
TEST(FluidForms, TaylorsSheetToItsLeadingOrder) {
  const auto share = [](double b) { return filament_speed(b, .5) / (b * b / 2); };
  const double near = share(.04), nearer = share(.02);
  expect_figure("U/c over b^2 k^2/2, bk -> 0", nearer + (nearer - near) / 3, 1, 1e-6);
}

// T = m/4 b^2 (omega^2 - U^2 k^2) in the mean, against CdS: of small motion, so of the share
// 1e-4 of the amplitude, squared.
TEST(FluidForms, MeanThrustOfElongatedBodyTheory) {
  const double rho = 1000, ma = rho * pi * .1 * .1 / 4, b = .06, k = 2 * pi / .8, w = 3 * pi;
  const double small = 1e-4;
  Fluid tail;
  tail.end = {Vec3::Zero(), Vec3::UnitX(), Mat3(Vec3(0, ma, 0).asDiagonal())};
  const auto thrust = [&](double U) {
    double mean = 0;
    const int n = 64;
    for (int i = 0; i < n; ++i) {
      const double p = 2 * pi * i / n;
      const double slope = -small * b * k * std::sin(p), heave = small * b * w * std::sin(p);
      SE3 X;
      const double th = std::atan(slope);
      X.R << std::cos(th), -std::sin(th), 0, std::sin(th), std::cos(th), 0, 0, 0, 1;
      const Vec6 V = join(X.R.transpose() * Vec3(-U, heave, 0), Vec3::Zero());
      mean -= (X.R * fluid_force(tail, Vec3::Zero(), 0, X, V).wrench.head<3>()).x() / n;
    }
    return mean / (small * small);
  };
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double U = 0.5 * (low + high);
    (thrust(U) > 0.5 * rho * .01 * U * U ? low : high) = U;
  }
  expect_figure("speed [m/s]", low, .339857274, 1e-8);
}

// An elastic swimmer that stretches as it bends, with Legendre functions, in a perfect fluid.
ModelBuilder stretching(double ma) {
  SegmentSpec s;
  s.length = 1;
  s.basis = {{Strain::stretch, BasisKind::legendre, 3}, {Strain::bend_z, BasisKind::legendre, 4}};
  s.points = 8;
  Vec6 H = Vec6::Constant(30);
  s.given = [H](double) { return test::diagonal_rod(H, Vec6::Ones()); };
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = Planar{};
  rod.segments = {s};
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero()).rod(rod);
  FluidSection section;
  section.added = {0, ma, 0};
  if (ma > 0) builder.fluid_along({[section](double) { return section; }, nullptr, {}}, "rod");
  return builder;
}

// Both forms of the law on a rod that stretches, at a random state and acceleration. Ours: the
// inertia of the added mass, and its flux on the stretch. The other: per rest length the force
// -d/dt (A w n), and on the change of dx/dX the flux G = A/(1 + e) (u w n - w^2 t/2), whose part
// along n is the couple; d/dt by differences along the motion.
TEST(FluidForms, BothFormsAgreeWhereARodStretches) {
  const double ma = 2;
  const Model wet = stretching(ma).build(), dry = stretching(0).build();
  const RodElement& rod = wet.rods.front();
  test::Random random(11);
  const Vec q = 0.4 * random.vector(wet.nq), v = random.vector(wet.nv), a = random.vector(wet.nv);
  Workspace at(wet), bare(dry);
  Vec tau(wet.nv), tau_dry(wet.nv);
  forward_kinematics(wet, q, v, at);
  rnea(wet, a, at, tau);
  forward_kinematics(dry, q, v, bare);
  rnea(dry, a, bare, tau_dry);
  Vec ours = tau_dry - tau, other = Vec::Zero(wet.nv);
  const double h = 1e-4;
  const auto state = [&](double t) {
    return std::pair<Vec, Vec>(q + t * v + 0.5 * t * t * a, v + t * a);
  };
  for (const Fluid& f : wet.fluids) {
    const FluidForce force = fluid_force(f, wet.gravity, 0, at.X[f.body], at.V[f.body]);
    add_stretch(wet, f, force, q, 1, ours);
    // The other form.
    const auto momentum = [&](double t) -> Vec3 {  // A w n of this share of the length
      const auto [qt, vt] = state(t);
      Workspace w(wet);
      forward_kinematics(wet, qt, vt, w);
      const Vec3 n = w.X[f.body].R.col(1);
      return f.added(1, 1) * w.V[f.body].y() * n;
    };
    const Vec3 rate =
        (8 * (momentum(h) - momentum(-h)) - (momentum(2 * h) - momentum(-2 * h))) / (12 * h);
    const SE3& X = at.X[f.body];
    int heavy = f.body - rod.first;
    const auto station = std::find_if(rod.segment->stations.begin(), rod.segment->stations.end(),
                                      [&](const RodStation& s) { return s.heavy && heavy-- == 0; });
    const Vec stretch = basis_at(*rod.segment, station->X).row(0);
    const double u = at.V[f.body].x(), w = at.V[f.body].y();
    const auto along = [&](const Vec& x) { return 1 + stretch.dot(x.segment(rod.q0, rod.size)); };
    const Vec3 G = f.added(1, 1) / along(q) * (u * w * X.R.col(1) - 0.5 * w * w * X.R.col(0));
    for (int i = 0; i < wet.nv; ++i) {
      const auto moved = [&](double e) {
        Workspace x(wet);
        const Vec at_e = q + e * Vec::Unit(wet.nq, i);
        forward_kinematics(wet, at_e, v, x);
        return std::pair<Vec3, Vec3>(x.X[f.body].r, along(at_e) * x.X[f.body].R.col(0));
      };
      const auto p1 = moved(h), m1 = moved(-h), p2 = moved(2 * h), m2 = moved(-2 * h);
      const Vec3 dx = (8 * (p1.first - m1.first) - (p2.first - m2.first)) / (12 * h);
      const Vec3 slope = (8 * (p1.second - m1.second) - (p2.second - m2.second)) / (12 * h);
      other[i] -= rate.dot(dx) + G.dot(slope);
    }
  }
  EXPECT_LT((ours - other).norm(), 1e-9 * other.norm());
  RecordProperty("without", std::to_string((tau_dry - tau - other).norm() / other.norm()));
  EXPECT_GT((tau_dry - tau - other).norm(), 1e-2 * other.norm());  // the term is not small
}

// Moved sideways at w, a rod along x is stretched by the flux at its ends: EA e (1 + e) = A w^2/2.
TEST(FluidForms, SidewaysMotionStretchesARod) {
  const double EA = 50, ma = 20, w = 2;
  SegmentSpec s;
  s.length = 1;
  s.basis = {{Strain::stretch, BasisKind::legendre, 1}};
  s.points = 4;
  s.given = [&](double) {
    RodProperties p = test::diagonal_rod(Vec6::Constant(EA), Vec6::Ones());
    p.damping = 8 * Mat6::Identity();
    return p;
  };
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = Prismatic{Vec3::UnitY()};
  JointDof given;
  given.prescribed = true;
  rod.joint.dofs = {given};
  rod.segments = {s};
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero()).rod(rod);
  FluidSection section;
  section.added = {0, ma, 0};
  builder.fluid_along({[section](double) { return section; }, nullptr, {}}, "rod");
  const auto drive = [&](auto& run) {
    run.actuation.prescribed = {{CoordinateIndex(0), Table{{0, 100}, {0, 100 * w}}}};
    impose_prescribed(run.model, run.actuation, run.state);
  };
  test::Simulation stepped(builder, 1e-2);
  drive(stepped);
  stepped.run_until(3);
  test::EventSimulation events(builder);
  drive(events);
  ASSERT_TRUE(events.run_until(3)) << events.failure;
  const double e = 0.5 * (std::sqrt(1 + 2 * ma * w * w / EA) - 1);
  expect_figure("stretch, time stepping", stepped.state.q[1], e, 1e-9);
  expect_figure("stretch, event-driven", events.state.q[1], e, 1e-9);
}

void expect_refusal(const std::function<void()>& build, const std::string& words) {
  try {
    build();
    ADD_FAILURE() << "accepted: " << words;
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(FluidForms, BadInput) {
  const auto built = [](const FluidSection& section, double half) {
    ModelBuilder builder;
    builder.body("b", {1, Vec3::Zero(), Mat3::Identity()}, test::joint(Planar{}));
    builder.fluid_along({[section](double) { return section; }, nullptr, {0, half}}, "b", 1,
                        Vec3::Zero(), 2);
  };
  FluidSection bad;
  bad.added = {0, -1, 0};
  expect_refusal([&] { built(bad, 0); }, "expected numbers >= 0, got 0, -1, 0 at X = ");
  FluidSection heavy;
  heavy.added = {0, 1, 1};
  expect_refusal([&] { built(heavy, .1); }, "no added mass at a surface");
  FluidSection none;
  none.displaced = std::nan("");
  expect_refusal([&] { built(none, 0); }, "displaced");
}

// Added mass a million times the body's is inertia like any other. A plate that turns and slides in
// a perfect fluid keeps its energy; across its axis it is so heavy that it swings along it at
// sqrt(1e6) times its turning rate, which the step resolves.
TEST(FluidForms, HeavyAddedMass) {
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero());
  builder.body("plate", {1e-3, Vec3::Zero(), 1e-6 * Mat3::Identity()}, test::joint(Planar{}));
  FluidSection section;
  section.added = {0, 1e3, 0};
  builder.fluid_along({[section](double) { return section; }, nullptr, {}}, "plate", 1,
                      Vec3::Zero(), 2);
  test::Simulation run(builder, 1e-3);
  run.state.v << .01, .005, .01;
  const auto energy = [&] {
    Workspace work(run.model);
    forward_kinematics(run.model, run.state.q, run.state.v, work);
    return kinetic_energy(run.model, run.state.v, work);
  };
  const double before = energy();
  run.run_until(2);
  expect_figure("energy kept", energy() / before, 1, 1e-6);
}

}  // namespace
}  // namespace saltus
