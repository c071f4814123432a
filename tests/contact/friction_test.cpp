// Friction with forward, backward and lateral coefficients, and Hu's rule: the sets against brute
// force, every solver against the law itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/solvers/solve.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
constexpr double pi = std::numbers::pi;

struct Sides {
  double forward, lateral, backward;
};
Sides random_sides(Random& random) {
  return {random.log_uniform(0.05, 2), random.log_uniform(0.05, 2), random.log_uniform(0.05, 2)};
}

// --- the set ------------------------------------------------------------------------------------

Vec2 boundary(const Sides& s, double angle) {
  const double c = std::cos(angle);
  return {(c > 0 ? s.backward : s.forward) * c, s.lateral * std::sin(angle)};
}

TEST(TwoHalfEllipses, ProxIsTheNearestPoint) {
  for (const auto seed : seeds(1, 60)) {
    Random random(seed);
    const Sides s = random_sides(random);
    const Vec2 p = random.vector(2, 3);
    Vec x = p;
    prox_law(GivenLoad{s.forward, s.lateral, s.backward}, x);
    const double a = p.x() > 0 ? s.backward : s.forward;
    if (std::hypot(p.x() / a, p.y() / s.lateral) <= 1) {
      EXPECT_EQ(x, Vec(p));
      continue;
    }
    double nearest = 1e300;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i)
      nearest = std::min(nearest, (boundary(s, 2 * pi * i / n) - p).norm());
    // A grid point is at most a half step of the boundary away, and the distance is flat there.
    EXPECT_NEAR((x - p).norm(), nearest, 1e-5) << "seed " << seed;
    EXPECT_NEAR(std::hypot(x[0] / (x[0] > 0 ? s.backward : s.forward), x[1] / s.lateral), 1, 1e-12);
  }
}

TEST(TwoHalfEllipses, EqualCoefficientsAreTheEllipse) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const double a = random.uniform(0.1, 1), b = random.uniform(0.1, 1);
    Vec x = random.vector(3, 2), y = x;
    prox_law(Coulomb{a, b, a}, x);
    prox_law(Coulomb{a, b}, y);
    EXPECT_EQ(x, y);
  }
}

// --- the law ------------------------------------------------------------------------------------

// What sliding at u makes: the force that dissipates most, or Hu's.
Vec2 sliding(const Sides& s, SlipRule rule, const Vec2& u) {
  const Vec2 axes(u.x() > 0 ? s.forward : s.backward, s.lateral);
  if (rule == SlipRule::hu) return -axes.cwiseProduct(u) / u.norm();
  const Vec2 v = axes.cwiseProduct(u);
  return -axes.cwiseProduct(v) / v.norm();
}

TEST(NaturalMap, VanishesExactlyWhereTheLawHolds) {
  for (const SlipRule rule : {SlipRule::normal_cone, SlipRule::hu})
    for (const auto seed : seeds(1, 200)) {
      Random random(seed);
      const Sides s = random_sides(random);
      const double r = random.log_uniform(0.1, 10);
      const ConvexSet set = sets_of(GivenLoad{s.forward, s.lateral, s.backward, rule})[0];
      const Vec u = random.vector(2, 1);
      const Vec Lambda = sliding(s, rule, u);
      Vec x = Lambda;
      natural(set, 1, r, u, x);
      EXPECT_NEAR((x - Lambda).norm(), 0, 1e-12) << "sliding, seed " << seed;
      EXPECT_LT(Lambda.dot(u), 0) << "friction takes energy";
      Vec inside = random.uniform(0, 0.99) * Lambda;
      x = inside;
      natural(set, 1, r, Vec::Zero(2), x);
      EXPECT_NEAR((x - inside).norm(), 0, 1e-14) << "sticking, seed " << seed;
      x = inside;
      natural(set, 1, r, u, x);
      EXPECT_GT((x - inside).norm(), 1e-6) << "sliding inside the set, seed " << seed;
      // The same force at another velocity.
      const Vec turned = Vec2(-u[1], u[0]);
      x = Lambda;
      natural(set, 1, r, turned, x);
      EXPECT_GT((x - Lambda).norm(), 1e-6);
    }
}

// --- solvers ------------------------------------------------------------------------------------

struct Named {
  std::string name;
  Solver solver;
};
std::vector<Named> solvers() {
  std::vector<Named> all;
  const auto add = [&](const std::string& name, auto kind) {
    kind.tolerance = 1e-11;
    kind.max_iterations = 20000;
    all.push_back({name, kind});
  };
  ProxGaussSeidel exact;
  exact.local = ProxOptions::Local::exact;
  add("sor", ProxGaussSeidel{});
  add("sor, exact", exact);
  add("jor", ProxJacobi{});
  add("newton", Newton{});
  add("auto", AutoSolver{});
  return all;
}

Inclusion problem_of(const std::vector<Law>& laws, Random& random) {
  int rows = 0;
  for (const Law& l : laws) rows += rows_of(l);
  Inclusion p;
  p.reserve(rows, static_cast<int>(laws.size()), rows);
  for (const Law& l : laws) p.add(l, 0, 1);
  // Masses of one order, rows coupled mildly: then the problem has one solution by all accounts.
  Mat A = Mat::Identity(rows, rows);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j) A(i, j) += 0.2 / rows * random.uniform(-1, 1);
  p.W.setIdentity(rows, rows);
  p.G = A * A.transpose();
  p.Y = p.G;
  p.c = random.vector(rows, 2);
  p.v_free = p.c;
  p.b.setZero(rows);
  p.has_G = true;
  return p;
}

// |Lambda - law(u)| of one tangential pair, where it slides; else how far outside or how fast.
double miss(const Sides& s, SlipRule rule, double normal, const Vec2& Lambda, const Vec2& u) {
  if (u.norm() > 1e-7) return (Lambda - normal * sliding(s, rule, u)).norm();
  const Vec2 axes(Lambda.x() > 0 ? s.backward : s.forward, s.lateral);
  return std::max(Lambda.cwiseQuotient(axes).norm() - normal, 0.0);
}

class EverySolver : public ::testing::TestWithParam<SlipRule> {};

TEST_P(EverySolver, SolvesSupportsAndContacts) {
  const SlipRule rule = GetParam();
  for (const Named& n : solvers()) {
    int failed = 0, sliding_pairs = 0;
    double worst = 0;
    for (const auto seed : seeds(1, 100)) {
      Random random(seed);
      std::vector<Law> laws;
      std::vector<Sides> sides;
      for (int i = 0; i < 4; ++i) {
        sides.push_back(random_sides(random));
        const Sides& s = sides.back();
        if (i % 2 == 0)
          laws.emplace_back(GivenLoad{s.forward, s.lateral, s.backward, rule});
        else
          laws.emplace_back(Coulomb{s.forward, s.lateral, s.backward, rule});
      }
      const Inclusion p = problem_of(laws, random);
      SolverWorkspace work;
      work.reserve(p.rows, 4, p.rows);
      Vec Lambda = Vec::Zero(p.rows);
      const SolveReport report = solve_inclusion(p, Lambda, n.solver, work);
      if (!report.converged) {
        ++failed;
        continue;
      }
      const Vec xi = p.G * Lambda + p.c;
      for (int i = 0; i < 4; ++i) {
        const Block& k = p.blocks[i];
        const bool contact = k.rows == 3;
        const double normal = contact ? Lambda[k.row] : 1;
        const int T = k.row + (contact ? 1 : 0);
        const Vec2 u = xi.segment<2>(T);
        sliding_pairs += normal > 0 && u.norm() > 1e-7;
        worst = std::max(worst, miss(sides[i], rule, normal, Lambda.segment<2>(T), u));
      }
    }
    fmt::print("    {:<11} {:<12} unsolved {} of 100, {} sliding, misses the law by {:.1e} N s\n",
               rule == SlipRule::hu ? "hu" : "normal cone", n.name, failed, sliding_pairs, worst);
    EXPECT_EQ(failed, 0) << n.name;
    EXPECT_GT(sliding_pairs, 100);
    EXPECT_LT(worst, 1e-8) << n.name;  // tolerance over the slowest slip that counts
  }
}
INSTANTIATE_TEST_SUITE_P(Rules, EverySolver,
                         ::testing::Values(SlipRule::normal_cone, SlipRule::hu));

// With equal coefficients both rules and both sides are Coulomb's disc.
TEST(EqualCoefficients, AreCoulombs) {
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const double mu = random.uniform(0.1, 1);
    Random same(seed + 1000), again(seed + 1000);
    const Inclusion a = problem_of({Coulomb{mu, mu}, GivenLoad{mu, mu}}, same);
    const Inclusion b =
        problem_of({Coulomb{mu, mu, mu, SlipRule::hu}, GivenLoad{mu, mu, mu, SlipRule::hu}}, again);
    AutoSolver solver;
    solver.tolerance = 1e-13;
    Vec x = Vec::Zero(5), y = x;
    SolverWorkspace work;
    work.reserve(5, 2, 5);
    EXPECT_TRUE(solve_inclusion(a, x, solver, work).converged);
    EXPECT_TRUE(solve_inclusion(b, y, solver, work).converged);
    EXPECT_NEAR((x - y).norm(), 0, 1e-11) << "seed " << seed;
  }
}

}  // namespace
}  // namespace saltus
