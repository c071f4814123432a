// Newton and the automatic solver on problems that defeat sweeps: mass ratios, redundant contacts,
// wedges, large friction, and random heaps of all laws.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "saltus/solvers/solve.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

namespace saltus {
namespace {

using namespace test;

struct Outcome {
  Vec Lambda;
  SolveReport report;
  double seconds = 0;
};

Outcome solved(const Inclusion& p, const Solver& solver, const Vec& start) {
  SolverWorkspace work;
  work.reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
  Outcome out{start, {}, 0};
  const auto begin = std::chrono::steady_clock::now();
  out.report = solve_inclusion(p, out.Lambda, solver, work);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}
Outcome solved(const Inclusion& p, const Solver& solver) {
  return solved(p, solver, Vec::Zero(p.rows));
}

Newton newton(double tolerance = 1e-10) {
  Newton o;
  o.tolerance = tolerance;
  o.max_iterations = 600;
  return o;
}
AutoSolver automatic(double tolerance = 1e-10) {
  AutoSolver o;
  o.tolerance = tolerance;
  return o;
}

struct Rate {
  int count = 0, newton = 0, automatic = 0, gs = 0;
  double newton_iterations = 0, auto_iterations = 0;
  std::vector<std::uint64_t> failed;
};

Rate rate(std::uint64_t first, int count, const std::function<Inclusion(Random&)>& make) {
  Rate r;
  for (const auto seed : seeds(first, count)) {
    Random random(seed);
    const Inclusion p = make(random);
    const Outcome a = solved(p, newton()), b = solved(p, automatic());
    ++r.count;
    r.newton += a.report.converged;
    r.automatic += b.report.converged;
    r.gs += b.report.converged && b.report.newton == 0;
    r.newton_iterations += a.report.iterations;
    r.auto_iterations += b.report.iterations;
    if (!a.report.converged) r.failed.push_back(seed);
    if (!a.report.converged || !b.report.converged)
      std::printf("[   RATE   ]   seed %llu: newton %.1e after %d, auto %.1e after %d\n",
                  static_cast<unsigned long long>(seed), a.report.residual, a.report.iterations,
                  b.report.residual, b.report.iterations);
  }
  std::printf("[   RATE   ] newton %d/%d (%.1f its), auto %d/%d (%.1f its, %d by sweeps alone)\n",
              r.newton, r.count, r.newton_iterations / r.count, r.automatic, r.count,
              r.auto_iterations / r.count, r.gs);
  return r;
}

TEST(Heaps, Friction) {
  for (const double mu : {0.3, 1.0, 2.0}) {
    std::printf("mu up to %g\n", mu);
    const Rate r = rate(1, 500, [&](Random& random) {
      return random_heap(
          random,
          {.bodies = random.integer(1, 6), .contacts = random.integer(1, 16), .mu_most = mu});
    });
    EXPECT_GE(r.automatic, r.count - r.count / 100);
  }
}
TEST(Heaps, Elliptic) {
  const Rate r = rate(1, 300, [&](Random& random) {
    return random_heap(
        random,
        {.bodies = random.integer(1, 6), .contacts = random.integer(1, 16), .elliptic = true});
  });
  EXPECT_GE(r.automatic, r.count - r.count / 100);
}
TEST(Heaps, MassRatio) {
  const Rate r = rate(1, 300, [&](Random& random) {
    return random_heap(
        random,
        {.bodies = random.integer(2, 6), .contacts = random.integer(4, 16), .mass_ratio = 1e6});
  });
  EXPECT_GE(r.automatic, r.count - r.count / 100);
}
TEST(Heaps, Rolling) {
  const Rate r = rate(1, 300, [&](Random& random) {
    return random_heap(
        random,
        {.bodies = random.integer(1, 6), .contacts = random.integer(1, 12), .rolling = true});
  });
  EXPECT_GE(r.automatic, r.count - r.count / 100);
}
TEST(Heaps, AllLaws) {
  const Rate r = rate(1, 300, [&](Random& random) {
    return random_heap(random, {.bodies = random.integer(1, 6),
                                .contacts = random.integer(1, 16),
                                .elliptic = true,
                                .rolling = true,
                                .mixed = true});
  });
  EXPECT_GE(r.automatic, r.count - r.count / 100);
}

void expect_solved(const std::string& name, const Inclusion& p) {
  for (const Solver& solver : {Solver{newton()}, Solver{automatic()}}) {
    const Outcome out = solved(p, solver);
    std::printf("[  SOLVED  ] %-34s %-6s %4d its (%d sweeps, %d newton, by %s) %.1e m/s %.2f ms\n",
                name.c_str(), std::string(name_of(solver)).c_str(), out.report.iterations,
                out.report.sweeps, out.report.newton, std::string(out.report.solver).c_str(),
                out.report.residual, 1e3 * out.seconds);
    EXPECT_TRUE(out.report.converged) << name;
  }
}

TEST(Stacks, BoxTowersOfAnyMassRatio) {
  for (const double ratio : {1.0, 1e2, 1e4, 1e6})
    for (const int points : {4, 8})
      expect_solved("5 boxes, ratio " + std::to_string(ratio) + ", " + std::to_string(points),
                    box_tower(5, ratio, points, 0.5).problem());
  expect_solved("20 boxes", box_tower(20, 1, 4, 0.5).problem());
  expect_solved("20 boxes, ratio 1e6", box_tower(20, 1e6, 4, 0.5).problem());
}
TEST(Stacks, CornerAndWedge) {
  for (const double mu : {0.0, 0.3, 1.0, 2.0}) {
    expect_solved("corner, mu " + std::to_string(mu), corner(mu).problem());
    for (const double angle : {0.05, 0.2, 0.5})
      expect_solved("wedge " + std::to_string(angle) + ", mu " + std::to_string(mu),
                    wedge(angle, mu, 4).problem());
  }
}

}  // namespace
}  // namespace saltus
