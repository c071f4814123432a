// The interior-point method by itself, from rest, judged by the one residual; and the bound of the
// chain on what has no solution.
#include <gtest/gtest.h>

#include "saltus/solvers/interior_point.h"
#include "saltus/solvers/solve.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

namespace saltus {
namespace {

using namespace test;

struct Found {
  Vec Lambda;
  Residual residual;
  int steps = 0;
};

// Without Newton's last digits: near is all that the chain asks of it.
Found found(const Inclusion& p, double coupling, double tolerance = 1e-4) {
  Found out{Vec::Zero(p.rows), {}, 0};
  NewtonWorkspace work;
  InteriorScratch scratch;
  scratch.coupling = coupling;
  ProxOptions o;
  o.tolerance = tolerance;
  DualBackend backend(p, work);
  out.residual =
      interior_point(p.blocks, p.rows, o, 40, backend, work, scratch, out.Lambda, out.steps);
  return out;
}

// A block of mass m on the ground at speed v: it stops, or slides on under full friction.
Inclusion sliding(double m, double mu, double fall, const Vec2& v) {
  Inclusion p;
  p.reserve(3, 1, 0);
  p.add(Coulomb{mu, mu}, 0, 1);
  p.G.setIdentity(3, 3);
  p.G /= m;
  p.has_G = true;
  p.c.head(3) << -fall, v.x(), v.y();
  return p;
}

TEST(InteriorPoint, ABlockThatSlidesAndOneThatStops) {
  for (const double coupling : {0.0, 1.0}) {
    const Found slides = found(sliding(2, 0.5, 1, Vec2(3, 4)), coupling, 1e-6);
    // To 1e-6 m/s, 2 kg and what a turned direction of slip hides: 1e-5 N s.
    // Lambda_N = m fall, friction mu Lambda_N against (3, 4)/5
    EXPECT_LT((slides.Lambda - Vec3(2, -0.6, -0.8)).norm(), 1e-5) << coupling;
    const Found stops = found(sliding(2, 0.5, 1, Vec2(0.3, 0.2)), coupling, 1e-6);
    EXPECT_LT((stops.Lambda - Vec3(2, -0.6, -0.4)).norm(), 1e-5) << coupling;
  }
}

TEST(InteriorPoint, BoundsOnBothSides) {
  Inclusion p;
  p.reserve(2, 2, 0);
  p.add(Interval{-1, 2}, 0, 1);
  p.add(Interval{-1, 2}, 0, 1);
  p.G.setIdentity(2, 2);
  p.has_G = true;
  p.c.head(2) << -5, 0.5;  // to its upper bound; inside
  const Found x = found(p, 0, 1e-6);
  EXPECT_LT((x.Lambda - Vec2(2, -0.5)).norm(), 1e-5);
}

// The two couplings together, as the chain tries them: nearly every heap. One in twenty is left to
// the other links.
void expect_found(HeapOptions o) {
  constexpr int count = 100;
  int solved = 0;
  double steps = 0;
  for (const auto seed : seeds(1, count)) {
    Random random(seed);
    o.bodies = random.integer(1, 6);
    o.contacts = random.integer(1, 16);
    const Inclusion p = random_heap(random, o);
    Found x = found(p, 0);
    steps += x.steps;
    if (x.residual.value > 1e-4) {
      x = found(p, 1);
      steps += x.steps;
    }
    solved += x.residual.value <= 1e-4;
  }
  std::printf("[   RATE   ] interior point %d/%d, %.1f steps\n", solved, count, steps / count);
  EXPECT_GE(solved, count - count / 20);
}

TEST(InteriorPoint, RandomHeaps) { expect_found({}); }
// At 1e6 it is 83 in 100: the rest are Newton's and the sweeps'.
TEST(InteriorPoint, RandomHeapsOfUnequalMasses) { expect_found({.mass_ratio = 1e3}); }
TEST(InteriorPoint, RandomHeapsOfAllLaws) { expect_found({.rolling = true, .mixed = true}); }

// Two joints that ask for different speeds of one body: the chain sees that no velocity will do,
// and stops after its first Newton search.
TEST(Chain, StopsWhereRowsContradictEachOther) {
  Inclusion p;
  p.reserve(2, 2, 0);
  p.add(Bilateral{1}, 0, 1);
  p.add(Bilateral{1}, 0, 1);
  p.G.setOnes(2, 2);
  p.has_G = true;
  p.c.head(2) << 1, 1.01;
  AutoSolver o;
  SolverWorkspace work;
  work.reserve(2, 2, 0);
  Vec Lambda = Vec::Zero(2);
  const SolveReport r = solve_inclusion(p, Lambda, Solver(o), work);
  EXPECT_FALSE(r.converged);
  EXPECT_LE(r.residual, 0.01);
  EXPECT_LE(r.iterations, o.sweeps + o.newton_iterations + o.newton_iterations / 2);
}

// Whatever it is given, the chain ends after the number of iterations that docs/solvers.md states.
constexpr int most_iterations = 5490;
TEST(Chain, EndsAfterTheStatedNumberOfIterations) {
  AutoSolver o;
  o.tolerance = 1e-300;  // nothing meets it
  for (const auto seed : seeds(1, 5)) {
    Random random(seed);
    const Inclusion p = random_heap(random, {.bodies = 3, .contacts = 6});
    SolverWorkspace work;
    work.reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
    Vec Lambda = Vec::Zero(p.rows);
    EXPECT_LE(solve_inclusion(p, Lambda, Solver(o), work).iterations, most_iterations);
  }
}

}  // namespace
}  // namespace saltus
