// Springs, drags and runners of P3 in Moreau's scheme: closed forms, orders, the energy ledger.
#include <algorithm>
#include <array>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/contact/elements.h"
#include "saltus/model/worm.h"
#include "tests/support/random.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi;

// --- signals ------------------------------------------------------------------------------------

TEST(Signals, NextBreakIsWhereTheSignalJumps) {
  const BangBang steps{{0, 4, 8}, {0.5, 1, 0.5}};
  EXPECT_EQ(next_break(steps, -1), 0);
  EXPECT_EQ(next_break(steps, 0), 4);
  EXPECT_EQ(next_break(steps, 3.999), 4);
  EXPECT_EQ(next_break(steps, 4), 8);
  EXPECT_EQ(next_break(steps, 8), infinity);
  EXPECT_EQ(next_break(Constant{1}, 0), infinity);
  EXPECT_EQ(next_break(Sine{1, 2, 0, 0}, 0), infinity);
  EXPECT_EQ(next_break(Table{{1, 2}, {0, 1}, Interpolation::linear}, 1), 2);
  EXPECT_EQ(next_break(Move{0, 1, 2, 3}, 0), 2);
  EXPECT_EQ(next_break(Move{0, 1, 2, 3}, 2), 5);
  EXPECT_EQ(next_break(Move{0, 1, 2, 3}, 5), infinity);
  const Sum sum{{steps, Move{0, 1, 2, 3}}};
  EXPECT_EQ(next_break(sum, 0), 2);
  EXPECT_EQ(next_break(sum, 2), 4);
  const Square square{2, 1, 0.5, 0.25, 0.1};
  EXPECT_NEAR(next_break(square, 0.1), 0.225, 1e-15);
  EXPECT_NEAR(next_break(square, 0.3), 0.6, 1e-15);
  EXPECT_EQ(value(square, 0.15), 2);
  EXPECT_EQ(value(square, 0.4), 1);
}

// From break to break every one comes once, in both directions of omega, also far from the origin;
// the signal is zero at it to rounding and its right-hand rate is that of the coming piece.
TEST(Signals, HalfSineBreaksAtItsZeros) {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const HalfSine s{random.uniform(0.1, 2), random.uniform(0.2, 5) * (random.chance(0.5) ? 1 : -1),
                     random.uniform(-4, 4), 0};
    double t = random.uniform(-10, 100);
    for (int i = 0; i < 50; ++i) {
      const double next = next_break(s, t);
      ASSERT_GT(next, t);
      if (i > 0) { ASSERT_NEAR(next - t, pi / std::abs(s.omega), 1e-12); }
      ASSERT_NEAR(std::sin(s.omega * next + s.phase), 0, 1e-12);
      const double h = 1e-7;
      ASSERT_NEAR(rate(s, next), (value(s, next + h) - value(s, next)) / h, 1e-5);
      t = next;
    }
  }
}

TEST(Signals, MeanKnowsWhenItJumped) {
  const BangBang steps{{0, 0.3}, {2, 5}};
  EXPECT_NEAR(mean(steps, 0, 1), 0.3 * 2 + 0.7 * 5, 1e-15);
  EXPECT_EQ(mean(steps, 0, 0.3), 2);
  EXPECT_EQ(mean(steps, 0.3, 0.4), 5);
  EXPECT_NEAR(mean(Table{{0, 1, 3}, {0, 2, 0}, Interpolation::linear}, 0, 3), 1, 1e-15);
}

TEST(Signals, UndefinedOnesAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(undefined(Sine{1, 2, 3, 4}), nullptr);
  EXPECT_STREQ(undefined(Constant{nan}), "value");
  EXPECT_STREQ(undefined(Sum{{Constant{1}, BangBang{{0, 1}, {1, infinity}}}}), "values");
  EXPECT_STREQ(undefined(Square{1, 0, 0, 0.5, 0}), "period");
}

// The open-loop trot of VERIFY.md, written out once more; rates against differences of values, and
// the kinks where the foot lifts, lands and where the ramp ends.
TEST(Signals, LegGaitIsTheTrot) {
  LegGait s{false, 0.2, 0.33, 0.04, 0.05, 1.25, 0.3, 1, 0.8};
  for (const double t : {0.4, 1.1, 1.35, 1.77, 2.3, 2.9}) {
    const double tau = t - 1, p = 2 * pi * 1.25 * tau + 0.3;
    const double a = std::clamp(tau / 0.8, 0.0, 1.0);
    const double x = -0.04 * a * std::cos(p), h = 0.33 - 0.05 * a * std::max(0.0, std::sin(p));
    const double bend = std::acos(std::hypot(x, h) / 0.4);
    s.knee = false;
    EXPECT_NEAR(value(s, t), std::atan2(-x, h) + bend, 1e-15);
    s.knee = true;
    EXPECT_NEAR(value(s, t), -2 * bend, 1e-15);
    // Central differences of 1e-5 s: their error is 1e-10 times a third derivative of a few 1e2.
    for (const bool knee : {false, true}) {
      s.knee = knee;
      EXPECT_NEAR(rate(s, t), (value(s, t + 1e-5) - value(s, t - 1e-5)) / 2e-5, 1e-7);
      EXPECT_NEAR(acceleration(s, t), (rate(s, t + 1e-5) - rate(s, t - 1e-5)) / 2e-5, 1e-5);
    }
  }
  EXPECT_EQ(next_break(s, 0), 1);
  EXPECT_NEAR(next_break(s, 1), 1 + (pi - 0.3) / (2.5 * pi), 1e-14);
  EXPECT_NEAR(next_break(s, 1.77), 1.8, 1e-14);
  s.lift = 0.4;
  EXPECT_NE(undefined(s), nullptr);
}

// --- straight worms -----------------------------------------------------------------------------

struct Drive {
  int spring;
  Signal length;
};

Simulation worm(const WormSpec& spec, const std::vector<Drive>& drives, double dt) {
  ModelBuilder b;
  b.planar(spec.planar).gravity(Vec3::Zero());
  add_worm(b, spec);
  Simulation s(b, dt);
  for (const Drive& d : drives) s.actuation.lengths.push_back({d.spring, d.length});
  check(s.model, s.actuation);
  int q = 0, v = 0;
  for (const WormJoint& j : worm_joints(spec)) {
    for (const double x : j.q) s.state.q[q++] = x;
    for (const double x : j.v) s.state.v[v++] = x;
  }
  return s;
}

WormSpec straight(int n, double c) {
  WormSpec w;
  w.masses.resize(n);
  w.springs.resize(n - 1);
  for (WormSpring& s : w.springs) s.stiffness = c;
  return w;
}

// Two free masses and a spring: the mid-point rule has the frequency (2/dt) atan(w dt/2) and keeps
// the energy to rounding; against the closed form it is of second order.
TEST(StraightWorm, ConservativePairIsSecondOrder) {
  WormSpec w = straight(2, 1);
  for (WormMass& m : w.masses) m.scales = false;
  w.positions = {1.3, 0};
  std::array<double, 3> error{};
  for (int i = 0; i < 3; ++i) {
    Simulation s = worm(w, {}, 0.02 / (1 << i));
    s.run_until(10);
    error[i] = std::abs(s.state.q[0] - (1.15 + 0.15 * std::cos(std::sqrt(2) * 10)));
    expect_figure("energy that no force explains [J]", s.ledger.integrator, 0, 1e-13);
  }
  for (int i = 0; i < 2; ++i) expect_figure("order", std::log2(error[i] / error[i + 1]), 2, 0.02);
}

// P3 example 1: mass 1 held while x2 = -l_o eps (1 - cos wt), released at pi/(2w).
TEST(StraightWorm, ExampleOneIsReleasedInTime) {
  const double eps = -0.5;
  for (const double dt : {2e-3, 1e-3}) {
    Simulation s = worm(straight(2, 1), {{0, Constant{1 + eps}}}, dt);
    double released = -1;
    s.run_until(4, [&] {
      if (released < 0 && s.state.v[0] > 1e-9) released = s.state.t;
      if (released < 0) {
        ASSERT_NEAR(s.state.q[1], -eps * (1 - std::cos(s.state.t)), 1e-6);  // O(dt^2)
      }
    });
    expect_figure("release [s]", released, pi / 2, 2 * dt);
    const double v1 = -0.5 * eps * (1 - std::cos(std::sqrt(2) * (4 - pi / 2)));
    expect_figure("v1(4) [m/s]", s.state.v[0], v1, dt);
  }
}

// VERIFY.md: x(24) of Fig 4.1, x(40) of Fig 4.6 and its energy 0.25, to the order of the scheme.
TEST(StraightWorm, FiguresConvergeToTheirReferences) {
  const std::array<double, 3> steps{4e-3, 2e-3, 1e-3};
  const auto largest = [](const Simulation& s, const std::vector<double>& x) {
    double e = 0;
    for (std::size_t i = 0; i < x.size(); ++i) e = std::max(e, std::abs(s.state.q[i] - x[i]));
    return e;
  };
  std::array<double, 3> e41{}, e46{};
  for (int i = 0; i < 3; ++i) {
    Simulation a = worm(straight(2, 1),
                        {{0, BangBang{{0, 4, 8, 12, 16, 20}, {0.5, 1, 0.5, 1, 0.5, 1}}}}, steps[i]);
    a.run_until(24);
    e41[i] = largest(a, {8.09996662, 7.23549028});
    WormSpec w = straight(3, 1);
    w.masses[1].scales = false;
    w.masses[2].mass = 3;
    w.positions = {2, 0.5, 0};
    Simulation b = worm(w, {}, steps[i]);
    b.run_until(40);
    e46[i] = largest(b, {10.76417866, 10.09291715, 8.94055259});
    expect_figure("energy of Fig 4.6 [J]", b.ledger.total(), 0.25, steps[i]);
  }
  // Releases and captures are met within a step, with forces that vanish there: between first and
  // second order.
  for (int i = 0; i < 3; ++i)
    fmt::print("    dt {}: Fig 4.1 off {:.2e}, Fig 4.6 off {:.2e} m\n", steps[i], e41[i], e46[i]);
  EXPECT_LT(e41[2], 1e-5);
  EXPECT_LT(e46[2], 2e-5);
  EXPECT_LT(e41[2], 0.5 * e41[0]);
  EXPECT_LT(e46[2], 0.5 * e46[0]);
}

// The ledger of a driven worm: the muscle's work is all that comes in (P3 section 1, Remark), also
// when it jumps inside a step.
TEST(StraightWorm, MuscleWorkClosesTheLedger) {
  for (const double dt : {1e-3, 0.7e-3}) {
    WormSpec w = straight(3, 2);
    for (WormMass& m : w.masses) m.scales = false;
    Simulation s = worm(w,
                        {{0, BangBang{{0, 1.2345, 2.71}, {1, 0.5, 1.1}}},
                         {1, Sum{{HalfSine{-0.5, 2, 0.3, 1}, Sine{0.1, 5, 0, 0}}}}},
                        dt);
    s.run_until(5);
    EXPECT_GT(s.ledger.muscles, 0.01);
    // Straight: the identity is exact, so rounding remains. Spring 2 starts at l(0) = 1 -
    // sin(.3)/2.
    const double start = 0.25 * std::sin(0.3) * std::sin(0.3);
    expect_figure("work of the muscles = energy gained [J]", s.ledger.muscles,
                  s.ledger.total() - start, 1e-12);
    expect_figure("integrator [J]", s.ledger.integrator, 0, 1e-12);
  }
}

// One jump against the Remark's Delta U.
TEST(StraightWorm, JumpFeedsInWhatTheRemarkSays) {
  WormSpec w = straight(2, 3);
  for (WormMass& m : w.masses) m.scales = false;
  w.positions = {1.2, 0};
  const double tau = 0.4321;  // within a step
  Simulation s = worm(w, {{0, BangBang{{0, tau}, {1, 0.6}}}}, 1e-3);
  s.run_until(1);
  const double r = 1 + 0.2 * std::cos(std::sqrt(6.0) * tau);
  const double dU = 3 * (0.6 - 1) * (0.5 * (0.6 + 1) - r);
  expect_figure("energy fed in [J]", s.ledger.muscles, dU, 1e-6);  // r(tau) to O(dt^2)
}

TEST(StraightWorm, DampingAndDragAreBooked) {
  WormSpec w = straight(2, 1);
  w.springs[0].damping = 0.2;
  for (WormMass& m : w.masses) {
    m.drag = 0.3;
    m.friction = 0.05;
  }
  Simulation s = worm(w, {{0, Square{0.5, 1, 8, 0.5, 0}}}, 1e-3);
  s.run_until(12);
  const EnergyTerms& e = s.ledger;
  EXPECT_LT(e.dampers, -0.01);
  EXPECT_LT(e.friction, -0.001);
  // Holding scales do no work but in the step that stops a mass: O(dt) each time.
  EXPECT_NEAR(e.contacts, 0, 1e-4);
  expect_figure("integrator [J]", e.integrator, 0, 1e-12);
  const double start = 0.5 * 0.25;  // the spring of length 1 at the natural length 0.5
  expect_figure("balance [J]", e.total(),
                start + e.muscles + e.dampers + e.friction + e.contacts + e.integrator, 1e-12);
}

// A drag alone: v = v0 exp(-k t/m), second order, whatever the stiffness of the step.
TEST(Drag, SlowsDownExponentially) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("body", {2, Vec3::Zero(), solid_sphere(2, 0.1)}, joint(Floating{}));
  Drag d;
  d.name = "drag";
  d.coefficient = 3;
  b.drag(d, "body");
  Simulation s(b, 1e-2);
  s.state.v.head<3>() = Vec3(1, -2, 0.5);
  s.run_until(1);
  expect_figure("v(1)/v(0)", s.state.v[1] / -2, std::exp(-1.5), 1e-5);
  expect_figure("work of the drag [J]", s.ledger.dampers, s.ledger.kinetic - 0.5 * 2 * 5.25, 1e-13);
}

// A stiff spring does not dictate the step: w dt = 30.
TEST(Spring, StiffOneIsStable) {
  WormSpec w = straight(2, 1e9);
  for (WormMass& m : w.masses) m.scales = false;
  w.positions = {1 + 1e-6, 0};
  w.velocities = {1, 1};
  Simulation s = worm(w, {}, 1e-3);
  s.run_until(1);
  expect_figure("x1 - x2 [m]", s.state.q[0] - s.state.q[1], 1, 2e-6);
  expect_figure("x2 [m]", s.state.q[1], 1, 1e-5);
}

// --- runners in the plane -----------------------------------------------------------------------

// Two runners on a frame, the front one steered: at a fixed angle it runs on a circle at constant
// speed.
Simulation bicycle(double dt, const Signal& steering) {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  b.body("frame", {1, Vec3::Zero(), Vec3(0.1, 0.1, 0.2).asDiagonal()}, joint(Planar{}));
  Runner rear, front;
  rear.name = "rear";
  front.name = "front";
  front.point = {1, 0, 0};
  b.runner(rear, "frame").runner(front, "frame");
  Simulation s(b, dt);
  s.actuation.steering.push_back({1, steering});
  return s;
}

double side_slip(const Simulation& s, int runner) {
  const Runner& r = s.model.runners[runner];
  const RunnerRows rows =
      runner_rows(s.model, s.work.result.work, r, steering_angle(s.actuation, runner, s.state.t));
  const Vec3 v = point_velocity(s.work.result.work, r.body, s.work.result.work.X[r.body] * r.point);
  return rows.across.head<3>().dot(v);
}

// The rear runner's point goes at v along the heading, which turns by v tan(gamma)/L: a circle of
// radius L/tan(gamma). Both runners do no work.
TEST(Runners, SteeredPairRunsOnItsCircle) {
  const double gamma = 0.4, v = 1.3, T = 6;
  const double omega = v * std::tan(gamma), R = v / omega;
  std::array<double, 3> position{}, slip{}, energy{};
  for (int i = 0; i < 3; ++i) {
    Simulation s = bicycle(0.02 / (1 << i), Constant{gamma});
    s.state.v << v, 0, omega;
    s.run_until(T, [&] {
      for (int k = 0; k < 2; ++k) slip[i] = std::max(slip[i], std::abs(side_slip(s, k)));
    });
    const Vec2 at(R * std::sin(omega * T), R * (1 - std::cos(omega * T)));
    position[i] = (s.state.q.head<2>() - at).norm();
    energy[i] = std::abs(s.ledger.kinetic - 0.5 * (v * v + 0.2 * omega * omega));
    fmt::print("    dt {}: position off {:.2e} m, side slip {:.2e} m/s, energy off {:.2e} J\n",
               s.options.dt, position[i], slip[i], energy[i]);
  }
  for (int i = 0; i < 2; ++i) {
    expect_figure("order of the position", std::log2(position[i] / position[i + 1]), 2, 0.1);
    expect_figure("order of the side slip", std::log2(slip[i] / slip[i + 1]), 2, 0.2);
  }
  EXPECT_LT(energy[2], 1e-4);
}

// gamma(t) = a sin(wt): the heading rate follows v tan(gamma(t)); against a fine quadrature.
TEST(Runners, SteeringThatMovesIsSecondOrder) {
  const Sine steering{0.3, 2, 0, 0};
  std::array<double, 3> slip{}, energy{};
  for (int i = 0; i < 3; ++i) {
    Simulation s = bicycle(0.02 / (1 << i), steering);
    s.state.v << 1, 0, 0;
    s.run_until(4, [&] {
      for (int k = 0; k < 2; ++k) slip[i] = std::max(slip[i], std::abs(side_slip(s, k)));
    });
    // A runner that turns with the body carries no power; that of the steering does: the lateral
    // force meets the point's velocity across it, which is zero. So energy is kept.
    energy[i] = std::abs(s.ledger.kinetic - 0.5);
    fmt::print("    dt {}: side slip {:.2e} m/s, energy off {:.2e} J\n", s.options.dt, slip[i],
               energy[i]);
  }
  for (int i = 0; i < 2; ++i) {
    expect_figure("order of the side slip", std::log2(slip[i] / slip[i + 1]), 2, 0.2);
    expect_figure("order of the energy", std::log2(energy[i] / energy[i + 1]), 2, 0.4);
  }
}

// --- planar worms -------------------------------------------------------------------------------

struct PlanarFigure {
  double c, k, drag, gamma0, gamma1;
  Signal length;
};
Simulation planar(const PlanarFigure& f, double dt) {
  WormSpec w = straight(2, f.c);
  w.planar = true;
  w.springs[0].damping = f.k;
  for (WormMass& m : w.masses) m.drag = f.drag;
  Simulation s = worm(w, {{0, f.length}}, dt);
  s.actuation.steering = {{0, Constant{f.gamma0}}, {1, Constant{f.gamma1}}};
  return s;
}

// VERIFY.md, Fig 6.1 with l = 1.5.
TEST(PlanarWorm, Figure61ConvergesToItsReference) {
  const PlanarFigure f{4,      5,       0.3,
                       pi / 8, -pi / 8, BangBang{{0, 5, 10, 15, 20, 25}, {1.5, 1, 1.5, 1, 1.5, 1}}};
  std::array<double, 3> error{};
  for (int i = 0; i < 3; ++i) {
    Simulation s = planar(f, 4e-3 / (1 << i));
    s.run_until(30);
    error[i] = std::max({std::abs(s.state.q[0] - 0.97830366), std::abs(s.state.q[1] - 2.19593945),
                         std::abs(s.state.q[2] - 1.68782144)});
    fmt::print("    dt {}: off {:.2e}; integrator {:.1e} J of {:.3f} J by the muscle\n",
               s.options.dt, error[i], s.ledger.integrator, s.ledger.muscles);
  }
  EXPECT_LT(error[2], 2e-5);
  EXPECT_LT(error[2], 0.5 * error[0]);
}

// Three masses, the middle one in a guiding tube, runners at the ends, no damping, no scales: the
// energy stays (ERRATA.md: with P3's own equations it grows).
TEST(PlanarWorm, GuidingTubeConservesEnergy) {
  std::array<double, 3> drift{};
  for (int i = 0; i < 3; ++i) {
    WormSpec w = straight(3, 4);
    w.planar = true;
    for (WormMass& m : w.masses) m.scales = false;
    w.masses[1].tube = true;
    w.distances = {1.5, 0.8};
    Simulation s = worm(w, {}, 8e-3 / (1 << i));
    s.actuation.steering = {{0, Constant{0.5}}, {1, Constant{-0.3}}};
    const double E0 = 0.5 * 4 * (0.25 + 0.04);
    double worst = 0;
    s.run_until(5, [&] { worst = std::max(worst, std::abs(s.ledger.total() - E0)); });
    drift[i] = worst;
    fmt::print("    dt {}: energy off {:.2e} J\n", s.options.dt, worst);
  }
  for (int i = 0; i < 2; ++i)
    expect_figure("order of the energy", std::log2(drift[i] / drift[i + 1]), 2, 0.3);
}

// --- what is refused ----------------------------------------------------------------------------

template <class F>
void expect_refusal(F&& make, const std::string& path, const std::string& text) {
  try {
    make();
    ADD_FAILURE() << "nothing was refused; expected " << path << ": " << text;
  } catch (const InputError& e) {
    EXPECT_EQ(e.path(), path);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(Elements, BadOnesAreRefused) {
  ModelBuilder b;
  b.body("cart", box_inertia(1, Vec3::Ones()), joint(Prismatic{}));
  b.body("wheel", box_inertia(1, Vec3::Ones()), joint(Revolute{}));
  const auto with = [&](auto&& change) {
    return [&b, change] {
      ModelBuilder copy = b;
      change(copy);
      (void)copy.build();
    };
  };
  Runner r;
  r.name = "runner";
  expect_refusal(with([&](ModelBuilder& c) { c.runner(r, "nobody"); }), "runners[0].body",
                 "no body is called 'nobody'");
  expect_refusal(with([&](ModelBuilder& c) {
                   Runner x = r;
                   x.direction = Vec3(1, 0, 1);
                   c.runner(x, "cart");
                 }),
                 "runners[0].direction", "across the normal");
  Spring s;
  s.name = "spring";
  s.stiffness = 1;
  expect_refusal(with([&](ModelBuilder& c) { c.spring(s, "cart", "cart"); }), "springs[0].between",
                 "'cart' twice");
  expect_refusal(with([&](ModelBuilder& c) {
                   Spring x = s;
                   x.length = std::numeric_limits<double>::quiet_NaN();
                   c.spring(x, "cart", "wheel");
                 }),
                 "springs[0].length", "finite natural length");
  expect_refusal(with([&](ModelBuilder& c) {
                   Spring x = s;
                   x.axis = Vec3::UnitX();
                   c.spring(x, "wheel", "cart");
                 }),
                 "springs[0].between", "does not turn");
  expect_refusal(with([&](ModelBuilder& c) {
                   c.body("leaf", {0, Vec3::Zero(), Mat3::Zero()}, joint(Revolute{}, "cart"));
                 }),
                 "bodies[2].mass", "nothing with mass");
  Model model = b.build();
  Actuation a;
  a.lengths.push_back({0, Constant{1}});
  expect_refusal([&] { check(model, a); }, "", "no spring with number 0");
}

}  // namespace
}  // namespace saltus::test
