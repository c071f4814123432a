// Impact laws against VERIFY.md and closed forms; the dissipation principle against a grid.
#include <numbers>

#include "saltus/impacts/dissipation.h"
#include "saltus/impacts/impact.h"
#include "tests/support/check.h"
#include "tests/support/events.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using namespace test;
constexpr double pi = std::numbers::pi;

// P1's double pendulum (Table 2.1, ERRATA): slender bars of 1 m, 4.04 kg, the floor 1.5 m below the
// pivot. The tip is a sphere of 1e-12 m, so that figures are off by as much.
EventSimulation pendulum(double q1, double q2, double restitution) {
  constexpr double mass = 4.04, tip = 1e-12;
  ModelBuilder b;
  b.planar(true).gravity(Vec3(0, -9.81, 0));
  Mat3 about = Mat3::Zero();
  about.diagonal() << 0, mass / 12, mass / 12;
  const RigidInertia bar{mass, Vec3(0.5, 0, 0), about};
  b.body("upper", bar, joint(Revolute{}));
  JointSpec elbow = joint(Revolute{});
  elbow.parent = "upper";
  elbow.placement = SE3::translation(Vec3(1, 0, 0));
  b.body("lower", bar, elbow);
  b.shape("tip", "lower", SE3::translation(Vec3(1, 0, 0)), Sphere{tip});
  Mat3 up;  // z of the half-space along y
  up << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  b.shape("floor", "world", SE3{up, Vec3(0, -1.5, 0)}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.74;
  law.dynamic = 0.57 / 0.74;
  law.restitution = restitution;
  b.contact("floor", "tip", law);
  EventSimulation s(b);
  s.state.q << q1, q2;
  return s;
}

const ModeChange* first_impact(EventSimulation& s, double until) {
  for (double t = 0.05; t <= until; t += 0.05) {
    EXPECT_TRUE(s.run_until(t)) << s.failure;
    for (const ModeChange& c : s.changes)
      if (c.impact) return &c;
  }
  return nullptr;
}

struct Figures {
  double ratio = 0, x = 0;  // T+/T-, tip velocity after
};

TEST(Chain, PendulumSticksAndGains) {
  EventSimulation s = pendulum(0, 0, 1);
  s.options.impact = ChainImpact{};
  const ModeChange* c = first_impact(s, 0.6);
  ASSERT_NE(c, nullptr);
  expect_figure("time of the first impact", c->t, 0.5152715623, 1e-9);
  expect_figure("T-", c->kinetic_before, 66.02637549, 1e-7);
  expect_figure("T+/T-", c->kinetic_after / c->kinetic_before, 1.21848682, 1e-8);
}

TEST(Chain, PendulumAttenuated) {
  EventSimulation s = pendulum(0, 0, 1);
  ChainImpact law;
  law.control = EnergyControl::attenuation;
  law.energetic = 1;
  s.options.impact = law;
  const ModeChange* c = first_impact(s, 0.6);
  ASSERT_NE(c, nullptr);
  expect_figure("T+/T- with e* = 1", c->kinetic_after / c->kinetic_before, 1, 1e-12);
}

TEST(Chain, PendulumSlips) {
  for (const DissipationMethod method : {DissipationMethod::exact, DissipationMethod::nlp}) {
    EventSimulation s = pendulum(0, 0, 0);
    ChainImpact law;
    law.method = method;
    s.options.impact = law;
    const ModeChange* c = first_impact(s, 0.6);
    ASSERT_NE(c, nullptr);
    expect_figure("T+/T-, e_n = 0", c->kinetic_after / c->kinetic_before, 0.38077704, 1e-8);
  }
}

TEST(Chain, PendulumOfTable53) {
  EventSimulation s = pendulum(pi / 4, -3 * pi / 4, 1);
  s.options.impact = ChainImpact{};
  const ModeChange* c = first_impact(s, 0.6);
  ASSERT_NE(c, nullptr);
  expect_figure("time of the first impact", c->t, 0.5079637232, 1e-9);
  expect_figure("T+/T-", c->kinetic_after / c->kinetic_before, 1.08734063, 1e-8);
  expect_figure("e~", std::sqrt(c->kinetic_before / c->kinetic_after), 0.95899687, 1e-8);
}

// --- chains of balls

std::vector<double> balls(const ImpactLaw& law, double e, std::vector<double> v) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < v.size(); ++i) {
    names.push_back(fmt::format("ball{}", i));
    b.body(names.back(), ball_inertia(1, 0.1), joint(Prismatic{}));
    b.shape(names.back(), names.back(), {}, Sphere{0.1});
  }
  ContactLaw contact;
  contact.restitution = e;
  b.contact(names, names, contact);
  EventSimulation s(b);
  for (std::size_t i = 0; i < v.size(); ++i) {
    s.state.q[static_cast<int>(i)] = 0.2 * static_cast<double>(i);
    s.state.v[static_cast<int>(i)] = v[i];
  }
  s.options.impact = law;
  EXPECT_TRUE(s.run_until(0.01)) << s.failure;
  return {s.state.v.begin(), s.state.v.end()};
}

TEST(Balls, ThreeAtOnce) {
  for (const ImpactLaw& law :
       {ImpactLaw{CappedImpact{}}, ImpactLaw{NewtonImpact{}}, ImpactLaw{MoreauImpact{}},
        ImpactLaw{PoissonImpact{}}, ImpactLaw{ChainImpact{}}}) {
    fmt::print("  {}\n", name_of(law));
    const auto one = balls(law, 1, {1, 0, 0});
    expect_figure("e = 1: v1", one[0], -1.0 / 3, 1e-12);
    expect_figure("e = 1: v2", one[1], 2.0 / 3, 1e-12);
    expect_figure("e = 1: v3", one[2], 2.0 / 3, 1e-12);
    const auto half = balls(law, 0.5, {1, 0, 0});
    expect_figure("e = .5: v1", half[0], 0, 1e-12);
    expect_figure("e = .5: v2", half[1], 0.5, 1e-12);
  }
}

// Poisson's law where the first contact is inelastic and the second, which only touches, elastic:
// compression leaves (1/3, 1/3, 1/3) with impulses 2/3 and 1/3; the second gives 1/3 back, and the
// first, pressed together by it, 1/6 more.
TEST(Balls, PoissonReboundsWhatOnlyTouches) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  for (const char* name : {"a", "b", "c"}) {
    b.body(name, ball_inertia(1, 0.1), joint(Prismatic{}));
    b.shape(name, name, {}, Sphere{0.1});
  }
  ContactLaw elastic;
  elastic.restitution = 1;
  b.contact("a", "b", {});
  b.contact("b", "c", elastic);
  EventSimulation s(b);
  s.state.q << 0, 0.2, 0.4;
  s.state.v << 1, 0, 0;
  s.options.impact = PoissonImpact{};
  ASSERT_TRUE(s.run_until(0.01)) << s.failure;
  expect_figure("v1", s.state.v[0], 1.0 / 6, 1e-12);
  expect_figure("v2", s.state.v[1], 1.0 / 6, 1e-12);
  expect_figure("v3", s.state.v[2], 2.0 / 3, 1e-12);
}

// VERIFY's complaint 2: two elastic balls and a wall; elsewhere their energy doubled.
ModelBuilder two_balls_and_a_wall() {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  for (const char* name : {"ball1", "ball2"}) {
    b.body(name, ball_inertia(1, 0.1), joint(Prismatic{}));
    b.shape(name, name, {}, Sphere{0.1});
  }
  Mat3 left;  // z of the half-space along -x
  left << 0, 0, -1, 0, 1, 0, 1, 0, 0;
  b.shape("wall", "world", SE3{left, Vec3(1.1, 0, 0)}, HalfSpace{});
  ContactLaw elastic;
  elastic.restitution = 1;
  b.contact("ball1", "ball2", elastic);
  b.contact("wall", "ball2", elastic);
  return b;
}

TEST(Balls, TwoAndAWall) {
  EventSimulation exact(two_balls_and_a_wall());
  Simulation stepped(two_balls_and_a_wall(), 1e-3);
  for (State* s : {&exact.state, &stepped.state}) {
    s->q << 0.78, 0.99;
    s->v << 2, 0;
  }
  ASSERT_TRUE(exact.run_until(1)) << exact.failure;
  EXPECT_GE(exact.impacts, 3);
  // Ball, wall, ball: ball 1 leaves as fast as it came.
  expect_figure("event-driven: v1", exact.state.v[0], -2, 1e-13);
  expect_figure("event-driven: energy", 0.5 * exact.state.v.squaredNorm(), 2, 1e-13);
  double most = 0;
  stepped.run_until(1, [&] { most = std::max(most, 0.5 * stepped.state.v.squaredNorm()); });
  expect_figure("time stepping: largest energy", most, 2, 1e-12);
  expect_figure("time stepping: v1", stepped.state.v[0], -2, 1e-12);
}

// A chain of five with gaps passes the impact on, one after the other; touching, all at once.
TEST(Balls, AChain) {
  for (const double gap : {1e-3, 0.0}) {
    ModelBuilder b;
    b.gravity(Vec3::Zero());
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i) {
      names.push_back(fmt::format("ball{}", i));
      b.body(names.back(), ball_inertia(1, 0.1), joint(Prismatic{}));
      b.shape(names.back(), names.back(), {}, Sphere{0.1});
    }
    ContactLaw elastic;
    elastic.restitution = 1;
    b.contact(names, names, elastic);
    EventSimulation s(b);
    for (int i = 0; i < 5; ++i) s.state.q[i] = (0.2 + gap) * i;
    s.state.v[0] = 1;
    ASSERT_TRUE(s.run_until(0.1)) << s.failure;
    expect_figure("momentum", s.state.v.sum(), 1, 1e-12);
    expect_figure("energy", 0.5 * s.state.v.squaredNorm(), 0.5, 1e-12);
    // At once, Newton's law: v+ = -v- at the one contact that approaches, the others stay closed.
    expect_figure("the last", s.state.v[4], gap > 0 ? 1 : 0.4, 1e-12);
  }
}

// --- the dissipation principle

// A random positive definite G, velocities that approach, and from them p(x).
DissipationProblem random_problem(Random& random, int points, int dims, bool energy) {
  const int n = points * (1 + dims);
  const Mat G = random.spd(n, 0.1, 3);
  Vec c = random.vector(n, 3);
  for (int i = 0; i < points; ++i) c[i] = -random.uniform(0.1, 3);
  Vec wanted = Vec::Zero(n);
  for (int i = 0; i < points; ++i) wanted[i] = -random.uniform(0, 1) * c[i];
  DissipationProblem d;
  const Mat inverse = G.inverse();
  d.p0 = inverse * (wanted - c);
  d.P = inverse.rightCols(points * dims);
  d.u0 = Vec::Zero(points * dims);
  d.U = Mat::Identity(points * dims, points * dims);
  for (int i = 0; i < points; ++i) {
    SlipPoint k;
    k.normal = i;
    k.dims = dims;
    for (int j = 0; j < dims; ++j) {
      k.tangent[j] = points + i * dims + j;
      k.speed[j] = i * dims + j;
    }
    k.mu_s = random.uniform(0.1, 1);
    k.mu_d = k.mu_s * random.uniform(0.3, 1);
    d.points.push_back(k);
  }
  const double T = 0.5 * c.dot(inverse * c) * random.uniform(1, 2);
  d.t0 = T + d.p0.dot(c) + 0.5 * d.p0.dot(G * d.p0);
  d.t1 = d.P.transpose() * (c + G * d.p0);
  d.t2 = d.P.transpose() * G * d.P;
  if (energy) d.limit = random.uniform(0.3, 1) * T;
  d.set_feasible();
  return d;
}

// The least objective of a fine grid about the optimum and of a coarse one about everything.
double grid_value(const DissipationProblem& d, const Vec& centre, double reach, int steps) {
  double best = infinity;
  const int n = d.unknowns();
  Vec x(n);
  for (int i = -steps; i <= steps; ++i)
    for (int j = n == 2 ? -steps : 0; j <= (n == 2 ? steps : 0); ++j) {
      x[0] = centre[0] + reach * i / steps;
      if (n == 2) x[1] = centre[1] + reach * j / steps;
      if (violation(d, x) <= feasible_rounding) best = std::min(best, objective(d, x));
    }
  return best;
}

void check_small(int points, int dims, bool energy, int count) {
  Worst apart("exact - NLopt, objective", 1e-8), grid("exact above the grid", 1e-9);
  int found = 0, infeasible = 0, nlp_missed = 0;
  for (const auto seed : seeds(1, count)) {
    Random random(seed);
    const DissipationProblem d = random_problem(random, points, dims, energy);
    if (violation(d, Vec::Zero(d.unknowns())) <= 0) continue;  // sticks
    ASSERT_TRUE(is_small(d));
    const DissipationResult exact = minimise_exact(d), nlp = minimise_nlp(d);
    const double coarse =
        grid_value(d, Vec::Zero(d.unknowns()), 30, d.unknowns() == 1 ? 30000 : 150);
    if (!exact.found) {
      ++infeasible;
      EXPECT_FALSE(nlp.found) << "seed " << seed;
      EXPECT_TRUE(std::isinf(coarse)) << "seed " << seed << ": the grid found " << coarse;
      continue;
    }
    ++found;
    nlp_missed += !nlp.found;
    if (nlp.found) apart.add(std::abs(nlp.value - exact.value), seed);
    grid.add(excess(exact.value - coarse), seed);
    grid.add(excess(exact.value - grid_value(d, exact.x, 1e-2, 100)), seed);
  }
  std::printf("[  SMALL   ] %d points, %d directions: %d optima, %d infeasible, NLopt missed %d\n",
              points, dims, found, infeasible, nlp_missed);
  EXPECT_EQ(nlp_missed, 0);
  EXPECT_GT(found, count / 10);
}

TEST(Dissipation, OnePointInThePlane) { check_small(1, 1, false, 400); }
TEST(Dissipation, OnePointInThePlaneWithEnergy) { check_small(1, 1, true, 400); }
TEST(Dissipation, TwoPointsInThePlane) { check_small(2, 1, false, 150); }
TEST(Dissipation, TwoPointsInThePlaneWithEnergy) { check_small(2, 1, true, 150); }
TEST(Dissipation, OnePointInSpace) { check_small(1, 2, false, 150); }
TEST(Dissipation, OnePointInSpaceWithEnergy) { check_small(1, 2, true, 150); }

}  // namespace
}  // namespace saltus
