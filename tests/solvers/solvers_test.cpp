// The inclusion problem: closed forms of one contact, random problems solved in every way, and the
// residual that judges them.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "saltus/solvers/condense.h"
#include "saltus/solvers/inclusion.h"
#include "saltus/solvers/prox.h"
#include "saltus/solvers/solve.h"
#include "saltus/solvers/stick.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::eps;
using test::Random;
using test::seeds;
using test::Worst;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Row {
  Law law;
  double compliance = 0, length = 1;
};

// A problem in both forms: c = W' v_free + b, G = W' Y, Y = M^-1 W.
Inclusion make_problem(const std::vector<Row>& rows, const Mat& M, const Mat& W, const Vec& v_free,
                       const Vec& b) {
  Inclusion problem;
  problem.reserve(static_cast<int>(W.cols()), static_cast<int>(rows.size()),
                  static_cast<int>(W.rows()));
  problem.clear();
  for (const Row& row : rows) problem.add(row.law, row.compliance, row.length);
  problem.W = W;
  problem.Y = W;
  if (W.cols() > 0) problem.Y = M.ldlt().solve(W);  // Eigen reads element 0 even of no columns
  problem.v_free = v_free;
  problem.b = b;
  problem.c = W.transpose() * v_free + b;
  problem.G = W.transpose() * problem.Y;
  problem.G = 0.5 * (problem.G + problem.G.transpose()).eval();
  problem.has_G = true;
  return problem;
}

// G and c as given: M = G^-1 and W = 1 are a velocity form of the same problem.
Inclusion delassus_problem(const std::vector<Row>& rows, const Mat& G, const Vec& c) {
  const auto n = G.rows();
  Inclusion problem = make_problem(rows, Mat::Identity(n, n), Mat::Identity(n, n), c, Vec::Zero(n));
  problem.Y = G;
  problem.G = G;
  return problem;
}

// The same problem as velocity solvers get it: G was never formed.
Inclusion without_G(Inclusion problem) {
  problem.G.setConstant(std::nan(""));
  problem.has_G = false;
  return problem;
}

SolverWorkspace make_workspace(const Inclusion& problem) {
  SolverWorkspace work;
  work.reserve(problem.rows, static_cast<int>(problem.blocks.size()),
               static_cast<int>(problem.W.rows()));
  return work;
}

struct Solution {
  Vec Lambda, xi;
  SolveReport report;
};

Solution solved(const Inclusion& problem, const Solver& solver, const Vec& start) {
  SolverWorkspace work = make_workspace(problem);
  Solution result{start, Vec::Zero(problem.rows), {}};
  result.report = solve_inclusion(problem, result.Lambda, solver, work);
  result.xi = problem.W.transpose() * (problem.v_free + problem.Y * result.Lambda) + problem.b;
  for (const Block& block : problem.blocks) {
    result.xi.segment(block.row, block.rows) +=
        block.compliance * result.Lambda.segment(block.row, block.rows);
  }
  return result;
}
Solution solved(const Inclusion& problem, const Solver& solver) {
  return solved(problem, solver, Vec::Zero(problem.rows));
}

double judge(const Inclusion& problem, const Vec& Lambda) {
  SolverWorkspace work = make_workspace(problem);
  return residual(problem, Lambda, work).value;
}

constexpr double tolerance = 1e-12;  // of the solvers here, on the residual [m/s]

template <class Kind>
Kind options(ProxOptions::On on, ProxOptions::Bilaterals bilaterals) {
  Kind kind;
  kind.tolerance = tolerance;
  kind.max_iterations = 200000;
  kind.on = on;
  kind.bilaterals = bilaterals;
  return kind;
}
struct NamedSolver {
  std::string name;
  Solver solver;
  bool velocity;
};
std::vector<NamedSolver> all_solvers() {
  std::vector<NamedSolver> list;
  for (const auto on : {ProxOptions::On::delassus, ProxOptions::On::velocity}) {
    for (const auto bilaterals : {ProxOptions::Bilaterals::direct, ProxOptions::Bilaterals::prox}) {
      const bool velocity = on == ProxOptions::On::velocity;
      const std::string suffix =
          std::string(velocity ? ", velocity" : ", delassus") +
          (bilaterals == ProxOptions::Bilaterals::direct ? ", direct" : ", prox");
      list.push_back({"sor" + suffix, options<ProxGaussSeidel>(on, bilaterals), velocity});
      list.push_back({"jor" + suffix, options<ProxJacobi>(on, bilaterals), velocity});
    }
  }
  return list;
}
Solver reference_solver() {
  auto solver =
      options<ProxGaussSeidel>(ProxOptions::On::delassus, ProxOptions::Bilaterals::direct);
  solver.tolerance = 1e-13;
  return solver;
}

// --- One contact in closed form
// -------------------------------------------------------------------

// Every solver finds `exact`; the error of an impulse is the residual over the least eigenvalue.
void expect_solution(const Inclusion& problem, const Vec& exact, double size, Worst& worst,
                     std::uint64_t seed) {
  EXPECT_LE(judge(problem, exact), 1e-12) << "the closed form is no solution, seed " << seed;
  for (const NamedSolver& named : all_solvers()) {
    const Solution ours = solved(named.velocity ? without_G(problem) : problem, named.solver);
    EXPECT_TRUE(ours.report.converged) << named.name << ", seed " << seed;
    EXPECT_LE(ours.report.residual, tolerance) << named.name << ", seed " << seed;
    worst.add((ours.Lambda - exact).norm() / size, seed);
  }
}

TEST(OneContact, Separation) {
  Worst worst("Lambda", 0);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    Vec c = random.vector(3);
    c[0] = random.uniform(1e-6, 1);
    const Mat G = random.spd(3, 0.5, 2);
    if (c[0] <= 0) continue;
    expect_solution(delassus_problem({{Coulomb{0.3, 0.5}}}, G, c), Vec::Zero(3), 1, worst, seed);
  }
}

TEST(OneContact, Stick) {        // Lambda = -G^-1 c inside the cone
  Worst worst("Lambda", 1e-11);  // 1e-12 m/s, eigenvalues from 0.5
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Mat G = random.spd(3, 0.5, 2);
    const Coulomb law{random.uniform(0.1, 1), random.uniform(0.1, 1)};
    Vec Lambda(3);
    const double angle = random.uniform(0, 2 * std::numbers::pi), inside = random.uniform(0, 0.99);
    Lambda[0] = random.uniform(0.1, 2);
    Lambda[1] = inside * law.mu1 * Lambda[0] * std::cos(angle);
    Lambda[2] = inside * law.mu2 * Lambda[0] * std::sin(angle);
    expect_solution(delassus_problem({{law}}, G, -G * Lambda), Lambda, 1, worst, seed);
  }
}

TEST(OneContact, SlipUncoupled) {  // G = diag(g_N, g_T, g_T): everything explicit
  Worst worst("Lambda", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const double g_N = random.uniform(0.5, 2), g_T = random.uniform(0.5, 2);
    const double mu = random.uniform(0.05, 1), normal = random.uniform(0.1, 1);
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    const double speed = g_T * mu * normal * random.uniform(1.01, 10);
    const Vec c = Vec3(-g_N * normal, speed * std::cos(angle), speed * std::sin(angle));
    const Vec exact = Vec3(normal, -mu * normal * std::cos(angle), -mu * normal * std::sin(angle));
    const Mat G = Vec3(g_N, g_T, g_T).asDiagonal();
    expect_solution(delassus_problem({{Coulomb{mu, mu}}}, G, c), exact, 1, worst, seed);
  }
}

TEST(OneContact, SlipCoupledByAScalarRoot) {
  // In slip xi_T = -s D^-1 Lambda_T, D = diag(mu1^2, mu2^2): Lambda = -(G + s diag(0, D^-1))^-1 c
  // with s >= 0 such that Lambda_T is on the ellipse of Lambda_N.
  Worst worst("Lambda", 1e-11);
  int cases = 0;
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Mat G = random.spd(3, 0.6, 1.6);
    const double mu = random.uniform(0.05, 0.6);
    const Coulomb law{mu, random.chance(0.5) ? mu : random.uniform(0.05, 0.6)};
    Vec c = random.vector(3, 2);
    c[0] = -random.uniform(0.5, 2);
    const auto impulse = [&](double s) {
      Mat A = G;
      A(1, 1) += s / (law.mu1 * law.mu1);
      A(2, 2) += s / (law.mu2 * law.mu2);
      return Vec(-A.ldlt().solve(c));
    };
    const auto beyond = [&](const Vec& Lambda) {
      return std::hypot(Lambda[1] / law.mu1, Lambda[2] / law.mu2) - Lambda[0];
    };
    if (beyond(impulse(0)) <= 0) continue;  // sticks
    double lower = 0, upper = 1;
    while (beyond(impulse(upper)) > 0) upper *= 2;
    for (int k = 0; k < 200; ++k) {
      const double middle = 0.5 * (lower + upper);
      (beyond(impulse(middle)) > 0 ? lower : upper) = middle;
    }
    const Vec exact = impulse(upper);
    if (exact[0] <= 1e-3) continue;
    ++cases;
    expect_solution(delassus_problem({{law}}, G, c), exact, 1, worst, seed);
  }
  EXPECT_GE(cases, 50);
}

TEST(OneContact, SlipDirectionDoesNotDependOnTheHeading) {
  Worst worst("turned problem", 1e-11);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Mat G = random.spd(3, 0.6, 1.6);
    Vec c = random.vector(3, 2);
    c[0] = -random.uniform(0.5, 2);
    Mat R = Mat::Identity(3, 3);
    R.bottomRightCorner(2, 2) =
        Eigen::Rotation2Dd(random.uniform(0, 2 * std::numbers::pi)).toRotationMatrix();
    const std::vector<Row> law{{Coulomb{0.3, 0.3}}};
    const Solution a = solved(delassus_problem(law, G, c), reference_solver());
    const Solution b =
        solved(delassus_problem(law, R * G * R.transpose(), R * c), reference_solver());
    worst.add((R * a.Lambda - b.Lambda).norm(), seed);
  }
}

TEST(OneRow, UnilateralComplianceIntervalBilateral) {
  Worst worst("Lambda", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const double g = random.uniform(0.5, 3), c = random.uniform(-2, 2);
    const double C = random.chance(0.3) ? 0 : random.log_uniform(1e-3, 1e3);
    const double lower = random.uniform(-1, 0.2), upper = lower + random.uniform(0, 1);
    const double free = -c / (g + C);
    const Mat G = Mat::Constant(1, 1, g);
    const Vec cc = Vec::Constant(1, c);
    const auto one = [&](const Law& law, double exact) {
      const double length = random.chance(0.5) ? 1 : 0.2;
      // In units of the free impulse: the residual is in m/s and the row's stiffness is g + C.
      expect_solution(delassus_problem({{law, C, length}}, G, cc), Vec::Constant(1, exact),
                      1 / length, worst, seed);
    };
    one(Unilateral{}, std::max(free, 0.0));
    one(Bilateral{1}, free);
    one(Interval{lower, upper}, std::clamp(free, lower, upper));
    one(Interval{lower, lower}, lower);
    one(Interval{-infinity, infinity}, free);
    one(Interval{lower, infinity}, std::max(free, lower));
  }
}

TEST(OneRow, BilateralBlockIsALinearSystem) {
  Worst worst("Lambda", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const int n = random.integer(1, 6);
    const Mat G = random.spd(n, 0.5, 2);
    const Vec c = random.vector(n);
    const double C = random.chance(0.5) ? 0 : random.uniform(0, 1);
    const Vec exact = -(G + C * Mat::Identity(n, n)).ldlt().solve(c);
    expect_solution(delassus_problem({{Bilateral{n}, C}}, G, c), exact, 1, worst, seed);
  }
}

TEST(OneContact, GivenLoadIsAProjectionInTheMetricOfG) {
  // G = g 1: the impulse is the projection of the sticking one on the ellipse.
  Worst worst("Lambda", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const double g = random.uniform(0.5, 3);
    const Vec c = random.vector(2, 2);
    const GivenLoad law{random.uniform(0.01, 1), random.uniform(0.01, 1)};
    const Vec exact = project_on_ellipse(-c / g, law.a, law.b);
    expect_solution(delassus_problem({{law}}, g * Mat::Identity(2, 2), c), exact, 1, worst, seed);
  }
}

// --- Random problems
// ------------------------------------------------------------------------------

enum class Mix { convex, coulomb };

// Rows that do not depend on each other (nv >= rows), masses of one order.
Inclusion random_problem(Random& random, Mix mix) {
  std::vector<Row> rows;
  int count = 0;
  const int blocks = random.integer(2, 7);
  for (int k = 0; k < blocks; ++k) {
    Row row{Unilateral{}};
    switch (random.integer(0, 4)) {
      case 0: row.law = Bilateral{random.integer(1, 3)}; break;
      case 1: row.law = Unilateral{}; break;
      case 2: {
        const double lower = random.uniform(-1, 0);
        row.law = Interval{lower, lower + random.uniform(0, 2)};
        break;
      }
      case 3: row.law = GivenLoad{random.uniform(0.05, 1), random.uniform(0.05, 1)}; break;
      default:
        if (mix == Mix::coulomb) row.law = Coulomb{random.uniform(0, 0.4), random.uniform(0, 0.4)};
    }
    if (random.chance(0.2)) row.compliance = random.uniform(0, 1);
    if (random.chance(0.2)) row.length = random.uniform(0.1, 0.5);
    count += rows_of(row.law);
    rows.push_back(row);
  }
  const int nv = count + random.integer(0, 5);
  // W has singular values in [0.7, 1.4]: conditioned well enough for JOR with every law.
  const Mat Q = Eigen::HouseholderQR<Mat>(random.matrix(nv, nv)).householderQ();
  const Mat W = Q.leftCols(count) * random.spd(count, 0.7, 1.4);
  return make_problem(rows, random.spd(nv, 0.5, 2), W, random.vector(nv),
                      0.3 * random.vector(count));
}

// |Lambda - exact| <= bound * residual for strongly monotone problems: the usual error bound of the
// natural map, (1 + r L)/(r m) with m, L the extreme eigenvalues of G + C, and the spread of r and
// of the blocks' length scales.
double error_bound(const Inclusion& problem) {
  Mat A = problem.G;
  double shortest = 1;
  for (const Block& block : problem.blocks) {
    A.diagonal().segment(block.row, block.rows).array() += block.compliance;
    shortest = std::min(shortest, block.length);
  }
  const Vec values = Eigen::SelfAdjointEigenSolver<Mat>(A).eigenvalues();
  const double least = values.minCoeff(), largest = values.maxCoeff();
  const double r_most = 1 / A.diagonal().minCoeff();
  const double sets = std::sqrt(2.0 * static_cast<double>(problem.blocks.size()));
  return sets * (1 + r_most * largest) / least / shortest;
}

TEST(RandomProblems, EverySolverAgrees) {
  for (const Mix mix : {Mix::convex, Mix::coulomb}) {
    // The difference of two solutions of residual 1e-12 over the bound above; with Coulomb's law
    // (no convex problem) the bound is only a measure, hence the 10.
    Worst worst(mix == Mix::convex ? "convex laws: Lambda, over the bound"
                                   : "with Coulomb: Lambda, over the bound",
                mix == Mix::convex ? 2 * tolerance : 10 * tolerance);
    for (const auto seed : seeds(1, 200)) {
      Random random(seed);
      const Inclusion problem = random_problem(random, mix);
      const double bound = error_bound(problem);
      const Solution reference = solved(problem, reference_solver());
      ASSERT_TRUE(reference.report.converged) << "seed " << seed;
      for (const NamedSolver& named : all_solvers()) {
        const Inclusion form = named.velocity ? without_G(problem) : problem;
        const Solution ours = solved(form, named.solver, random.vector(problem.rows));
        EXPECT_TRUE(ours.report.converged) << named.name << ", seed " << seed;
        EXPECT_LE(ours.report.residual, tolerance) << named.name << ", seed " << seed;
        worst.add((ours.Lambda - reference.Lambda).norm() / bound,
                  named.name + ", seed " + std::to_string(seed));
      }
    }
  }
}

TEST(RandomProblems, ImpulsesObeyTheLaws) {
  // Straight from the definition, not through prox: set, sign and complementarity.
  Worst worst("violation of a law", 1e-11);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    const Solution ours = solved(problem, reference_solver());
    for (const Block& block : problem.blocks) {
      const Vec Lambda = ours.Lambda.segment(block.row, block.rows);
      const Vec xi = block.length * ours.xi.segment(block.row, block.rows);
      const auto normal = [&](double L, double x) {
        worst.add(test::excess(-L), seed);
        worst.add(test::excess(-x), seed);
        worst.add(std::min(std::abs(L), std::abs(x)), seed);
      };
      const auto tangential = [&](const Vec2& L, const Vec2& x, double a, double b) {
        if (a == 0 || b == 0) return;
        const double level = std::hypot(L[0] / a, L[1] / b);
        worst.add(test::excess(level - 1) * std::min(a, b), seed);
        if (level < 1 - 1e-9) {
          worst.add(x.norm(), seed);  // sticks
        } else {  // maximal dissipation: -xi . L is the support function of the ellipse
          worst.add(std::abs(-x.dot(L) - std::hypot(a * x[0], b * x[1])), seed);
        }
      };
      if (std::holds_alternative<Bilateral>(block.law)) worst.add(xi.norm(), seed);
      if (std::holds_alternative<Unilateral>(block.law)) normal(Lambda[0], xi[0]);
      if (const auto* law = std::get_if<Interval>(&block.law)) {
        worst.add(test::excess(law->lower - Lambda[0]), seed);
        worst.add(test::excess(Lambda[0] - law->upper), seed);
        if (Lambda[0] > law->lower + 1e-9) worst.add(test::excess(xi[0]), seed);
        if (Lambda[0] < law->upper - 1e-9) worst.add(test::excess(-xi[0]), seed);
      }
      if (const auto* law = std::get_if<GivenLoad>(&block.law)) {
        tangential(Lambda, xi, law->a, law->b);
      }
      if (const auto* law = std::get_if<Coulomb>(&block.law)) {
        normal(Lambda[0], xi[0]);
        tangential(Lambda.tail<2>(), xi.tail<2>(), law->mu1 * Lambda[0], law->mu2 * Lambda[0]);
      }
    }
  }
}

TEST(RandomProblems, RelaxationDoesNotChangeTheSolution) {
  Worst worst("Lambda, over the bound", 10 * tolerance);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    const Solution reference = solved(problem, reference_solver());
    for (const double alpha : {0.3, 0.7, 1.0, 1.3}) {
      auto solver =
          options<ProxGaussSeidel>(ProxOptions::On::delassus, ProxOptions::Bilaterals::prox);
      solver.alpha = alpha;
      const Solution ours = solved(problem, solver);
      EXPECT_TRUE(ours.report.converged) << "alpha " << alpha << ", seed " << seed;
      worst.add((ours.Lambda - reference.Lambda).norm() / error_bound(problem), seed);
    }
  }
}

TEST(RandomProblems, TheWorkspaceHasNoMemory) {  // one workspace for all, larger than needed
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    SolverWorkspace shared;
    shared.reserve(64, 16, static_cast<int>(problem.W.rows()));
    for (const NamedSolver& named : all_solvers()) {
      const Inclusion form = named.velocity ? without_G(problem) : problem;
      const Solution fresh = solved(form, named.solver);
      Vec Lambda = Vec::Zero(problem.rows);
      const SolveReport report = solve_inclusion(form, Lambda, named.solver, shared);
      EXPECT_EQ(Lambda, fresh.Lambda) << named.name << ", seed " << seed;
      EXPECT_EQ(report.iterations, fresh.report.iterations) << named.name << ", seed " << seed;
    }
  }
}

TEST(RandomProblems, LargerReservedArraysAreFine) {
  // As a stepper uses it: arrays sized for the most rows, and fewer in use.
  Worst worst("Lambda", 0);
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    const Inclusion exact = random_problem(random, Mix::coulomb);
    const int nv = static_cast<int>(exact.W.rows()), n = exact.rows;
    Inclusion large;
    large.reserve(n + 7, static_cast<int>(exact.blocks.size()) + 3, nv);
    large.clear();
    for (const Block& block : exact.blocks) large.add(block.law, block.compliance, block.length);
    ASSERT_EQ(large.rows, n);
    large.W.leftCols(n) = exact.W;
    large.Y.leftCols(n) = exact.Y;
    large.G.topLeftCorner(n, n) = exact.G;
    large.c.head(n) = exact.c;
    large.b.head(n) = exact.b;
    large.v_free = exact.v_free;
    large.has_G = true;
    SolverWorkspace work;
    work.reserve(n + 7, static_cast<int>(exact.blocks.size()) + 3, nv);
    for (const NamedSolver& named : all_solvers()) {
      Vec Lambda = Vec::Zero(n);
      const SolveReport report = solve_inclusion(large, Lambda, named.solver, work);
      EXPECT_TRUE(report.converged) << named.name << ", seed " << seed;
      worst.add((Lambda - solved(exact, named.solver).Lambda).norm(), seed);
    }
  }
}

// --- The residual
// ---------------------------------------------------------------------------------

// The header's definition, written again: one r per convex set, from the largest diagonal entry.
// The friction set of Coulomb's law is that of the normal impulse at hand.
Residual residual_by_definition(const Inclusion& problem, const Vec& Lambda) {
  Mat A = problem.G;
  for (const Block& block : problem.blocks) {
    A.diagonal().segment(block.row, block.rows).array() += block.compliance;
  }
  const Vec xi = A * Lambda + problem.c;
  Residual worst;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const auto set = [&](int first, int rows, const Law& law) {
      const int row = block.row + first;
      const double r = 1 / A.diagonal().segment(row, rows).maxCoeff();
      Vec x = Lambda.segment(row, rows) - r * xi.segment(row, rows);
      prox_law(law, x);
      const double miss = block.length * (Lambda.segment(row, rows) - x).norm() / r;
      if (miss > worst.value) worst = {miss, static_cast<int>(k)};
    };
    if (const auto* law = std::get_if<Coulomb>(&block.law)) {
      set(0, 1, Unilateral{});
      const double normal = std::max(0.0, Lambda[block.row]);
      set(1, 2, GivenLoad{law->mu1 * normal, law->mu2 * normal});
    } else {
      set(0, block.rows, block.law);
    }
  }
  return worst;
}

TEST(Residual, IsTheScaledNaturalMap) {
  Worst worst("against the definition, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    const Vec Lambda = random.vector(problem.rows);
    const Residual exact = residual_by_definition(problem, Lambda);
    for (const Inclusion& form : {problem, without_G(problem)}) {
      SolverWorkspace work = make_workspace(form);
      const Residual ours = residual(form, Lambda, work);
      worst.add(std::abs(ours.value - exact.value) / exact.value, seed);
      EXPECT_EQ(ours.block, exact.block) << "seed " << seed;
    }
  }
}

TEST(Residual, ZeroAtTheSolutionAndNowhereElse) {
  Worst at("residual at the solution", 1e-13);
  Worst missed("|perturbation| over the bound times the residual", 1.0);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::convex);
    const Solution exact = solved(problem, reference_solver());
    at.add(judge(problem, exact.Lambda), seed);
    for (const double size : {1e-6, 1e-3, 1.0}) {
      const Vec moved = exact.Lambda + size * random.vector(problem.rows);
      const double distance = (moved - exact.Lambda).norm() - 1e-12;
      missed.add(distance / (error_bound(problem) * judge(problem, moved)), seed);
    }
  }
}

TEST(Residual, HasTheUnitsOfAVelocity) {
  // Scaling all masses by k scales the impulses by k and leaves velocities and the residual.
  Worst worst("residual of the scaled problem, relative", 1e-12);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    const Vec Lambda = random.vector(problem.rows);
    Inclusion heavy = problem;
    const double k = random.log_uniform(1e-3, 1e3);
    heavy.G /= k;
    heavy.Y /= k;
    for (Block& block : heavy.blocks) {
      block.compliance /= k;
      if (auto* law = std::get_if<Interval>(&block.law)) *law = {k * law->lower, k * law->upper};
      if (auto* law = std::get_if<GivenLoad>(&block.law)) *law = {k * law->a, k * law->b};
    }
    const double expected = judge(problem, Lambda);
    worst.add(std::abs(judge(heavy, k * Lambda) - expected) / expected, seed);
  }
}

TEST(Residual, RelativeVelocityInBothForms) {
  Worst worst("xi", 1e-14), velocity("v", 1e-14);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    const Vec Lambda = random.vector(problem.rows);
    Mat A = problem.G;
    for (const Block& block : problem.blocks) {
      A.diagonal().segment(block.row, block.rows).array() += block.compliance;
    }
    const Vec exact = A * Lambda + problem.c;
    SolverWorkspace work = make_workspace(problem);
    relative_velocity(problem, Lambda, work.xi, work.v);
    worst.add((work.xi.head(problem.rows) - exact).norm(), seed);
    relative_velocity(without_G(problem), Lambda, work.xi, work.v);
    worst.add((work.xi.head(problem.rows) - exact).norm(), seed);
    velocity.add((work.v - problem.v_free - problem.Y * Lambda).norm(), seed);
  }
}

// --- Given load: convex, unique velocity
// ----------------------------------------------------------

// More friction points than a body has freedoms: impulses are not unique, velocities are.
Inclusion given_load_problem(Random& random) {
  const int nv = 3, points = random.integer(3, 6);
  std::vector<Row> rows;
  for (int k = 0; k < points; ++k) {
    rows.push_back({GivenLoad{random.uniform(0.1, 1), random.uniform(0.1, 1)}});
  }
  return make_problem(rows, random.spd(nv, 0.5, 2), random.matrix(nv, 2 * points),
                      random.vector(nv, 3), Vec::Zero(2 * points));
}

TEST(GivenLoadProblems, VelocityIsUnique) {
  // M-strongly monotone in v: |v1 - v2|_M^2 <= |xi residuals| |Lambda|, so tolerance^(1/2) is the
  // guarantee; SOR stops much nearer.
  Worst worst("velocity from two starts and two solvers", 1e-7);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Inclusion problem = given_load_problem(random);
    const Solution first = solved(problem, reference_solver());
    for (const NamedSolver& named : all_solvers()) {
      const Inclusion form = named.velocity ? without_G(problem) : problem;
      const Solution second = solved(form, named.solver, random.vector(problem.rows, 2));
      EXPECT_TRUE(second.report.converged) << named.name << ", seed " << seed;
      worst.add((problem.Y * (first.Lambda - second.Lambda)).norm(), seed);
    }
  }
}

TEST(WarmStart, OneIterationAtTheSolution) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Inclusion problem =
        seed % 2 == 0 ? given_load_problem(random) : random_problem(random, Mix::coulomb);
    for (const NamedSolver& named : all_solvers()) {
      const Inclusion form = named.velocity ? without_G(problem) : problem;
      Solver strict = named.solver;  // at the solution: well inside the tolerance of the warm solve
      std::visit([](ProxOptions& o) { o.tolerance = 0.1 * tolerance; }, strict);
      const Solution cold = solved(form, strict);
      EXPECT_TRUE(cold.report.converged) << named.name << ", seed " << seed;
      const Solution warm = solved(form, named.solver, cold.Lambda);
      EXPECT_LE(warm.report.iterations, 1) << named.name << ", seed " << seed;
      EXPECT_LE(warm.report.residual, tolerance) << named.name << ", seed " << seed;
      EXPECT_TRUE(warm.report.converged);
    }
  }
}

// --- Redundancy, conditioning, failure
// ------------------------------------------------------------

TEST(Redundant, RepeatedBilateralRows) {
  // A joint closed twice: impulses are shared somehow, velocities are those of the joint alone.
  Worst worst("velocity with repeated rows", 1e-10), closed("rate of the joint", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const int nv = 8, n = 3;
    const Mat M = random.spd(nv, 0.5, 2), W = random.matrix(nv, n), contact = random.matrix(nv, 3);
    const Vec v_free = random.vector(nv);
    Mat once(nv, n + 3), twice(nv, 2 * n + 3);
    once << W, contact;
    twice << W, random.spd(n, 0.5, 2)(0, 0) * W, contact;  // scaled rows: dependent, not equal
    const Law law = Coulomb{0.2, 0.2};
    const Inclusion simple =
        make_problem({{Bilateral{n}}, {law}}, M, once, v_free, Vec::Zero(n + 3));
    const Inclusion redundant = make_problem({{Bilateral{n}}, {Bilateral{n}}, {law}}, M, twice,
                                             v_free, Vec::Zero(2 * n + 3));
    const Solution exact = solved(simple, reference_solver());
    ASSERT_TRUE(exact.report.converged) << "seed " << seed;
    for (const NamedSolver& named : all_solvers()) {
      const Inclusion form = named.velocity ? without_G(redundant) : redundant;
      const Solution ours = solved(form, named.solver);
      EXPECT_TRUE(ours.report.converged) << named.name << ", seed " << seed;
      EXPECT_TRUE(ours.Lambda.allFinite()) << named.name << ", seed " << seed;
      worst.add((redundant.Y * ours.Lambda - simple.Y * exact.Lambda).norm(), seed);
      closed.add(ours.xi.head(2 * n).norm(), seed);
      if (options_of(named.solver).bilaterals == ProxOptions::Bilaterals::direct) {
        EXPECT_EQ(ours.Lambda.segment(n, n), Vec::Zero(n)) << "rows that depend carry no impulse";
      }
    }
  }
}

TEST(Redundant, DirectFactorMarksDependentRows) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const int n = random.integer(2, 8), rank = random.integer(1, n);
    const Mat B = random.matrix(n, rank);
    Mat A = B * B.transpose();
    const Mat before = A;
    const Vec x = random.vector(n), rhs = before * x;
    EXPECT_EQ(factor_ldl(A, n, 1e-10), n - rank) << "seed " << seed;
    Vec y = rhs;
    solve_ldl(A, n, y);
    EXPECT_TRUE(y.allFinite()) << "seed " << seed;
    // Any solution of the consistent system will do; pivots down to 1e-10 lose that many digits.
    EXPECT_LE((before * y - rhs).norm(), 1e-5 * rhs.norm()) << "seed " << seed;
    int zeros = 0;
    for (const double entry : y) zeros += entry == 0 ? 1 : 0;
    EXPECT_GE(zeros, n - rank) << "dependent rows carry no impulse, seed " << seed;
  }
}

TEST(DirectFactor, SolvesAndUsesTheLowerTriangleOnly) {
  Worst worst("solve_ldl, relative", 1e-13);  // condition number 100
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const int n = random.integer(1, 10), size = n + random.integer(0, 3);
    const Mat A = random.spd(size, 0.1, 10);
    const Vec x = random.vector(n);
    Mat factor = A;
    factor.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
    EXPECT_EQ(factor_ldl(factor, n, 1e-12), 0) << "seed " << seed;
    Vec y = A.topLeftCorner(n, n) * x;
    solve_ldl(factor, n, y);
    worst.add((y - x).norm() / x.norm(), seed);
  }
}

TEST(Failure, IsReportedNotSilent) {
  int missed = 0;
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    for (const NamedSolver& named : all_solvers()) {
      Solver solver = named.solver;
      std::visit([](ProxOptions& o) { o.max_iterations = 1; }, solver);
      const Inclusion form = named.velocity ? without_G(problem) : problem;
      const Solution ours = solved(form, solver);
      EXPECT_LE(ours.report.iterations, 1);
      EXPECT_TRUE(ours.Lambda.allFinite());
      // The reported residual is that of the returned impulses, by the one judge.
      EXPECT_NEAR(ours.report.residual, judge(form, ours.Lambda), 1e-13)
          << named.name << ", seed " << seed;
      EXPECT_EQ(ours.report.converged, judge(form, ours.Lambda) <= tolerance)
          << named.name << ", seed " << seed;
      SolverWorkspace work = make_workspace(form);
      if (!ours.report.converged) {  // and it says which block missed
        EXPECT_EQ(ours.report.worst_block, residual(form, ours.Lambda, work).block)
            << named.name << ", seed " << seed;
      }
      missed += ours.report.converged ? 0 : 1;
    }
  }
  EXPECT_GE(missed, 200);  // of 400: one iteration is not enough for coupled problems
}

TEST(Failure, ReportedResidualIsTheJudgesAtSuccessToo) {
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion problem = random_problem(random, Mix::coulomb);
    for (const NamedSolver& named : all_solvers()) {
      const Inclusion form = named.velocity ? without_G(problem) : problem;
      const Solution ours = solved(form, named.solver);
      EXPECT_NEAR(ours.report.residual, judge(form, ours.Lambda), 1e-14) << named.name;
      EXPECT_LE(judge(form, ours.Lambda), tolerance * (1 + 1e-3)) << named.name;
    }
  }
}

TEST(Failure, UnsolvableContactIsNotCalledSolved) {
  // Two opposite unilateral rows asked to move apart both ways: no solution exists.
  Mat G(2, 2);
  G << 1, -1, -1, 1;
  const Inclusion problem =
      delassus_problem({{Unilateral{}}, {Unilateral{}}}, G, Vec::Constant(2, -1.0));
  for (const NamedSolver& named : all_solvers()) {
    Solver solver = named.solver;
    std::visit([](ProxOptions& o) { o.max_iterations = 100; }, solver);
    const Solution ours = solved(named.velocity ? without_G(problem) : problem, solver);
    EXPECT_FALSE(ours.report.converged) << named.name;
    EXPECT_GT(ours.report.residual, 0.1) << named.name;
  }
}

TEST(Failure, NotANumberIsNotConverged) {
  Vec c(1);
  c << std::nan("");
  const Inclusion problem = delassus_problem({{Unilateral{}}}, Mat::Identity(1, 1), c);
  for (const NamedSolver& named : all_solvers()) {
    Solver solver = named.solver;
    std::visit([](ProxOptions& o) { o.max_iterations = 10; }, solver);
    const Solution ours = solved(named.velocity ? without_G(problem) : problem, solver);
    EXPECT_FALSE(ours.report.converged) << named.name;
  }
}

TEST(Empty, NoBlocksIsSolved) {
  const Inclusion problem =
      make_problem({}, Mat::Identity(2, 2), Mat::Zero(2, 0), Vec::Ones(2), Vec::Zero(0));
  for (const NamedSolver& named : all_solvers()) {
    const Solution ours = solved(problem, named.solver);
    EXPECT_TRUE(ours.report.converged) << named.name;
    EXPECT_EQ(ours.report.residual, 0) << named.name;
  }
}

TEST(Stack, MassRatios) {
  // A column of n unit masses, the top one heavier: impulses are the weights above, exactly. Rows
  // are the gaps; the load is one second of gravity (in steps of dt = 1e-3: Lambda = m g dt).
  Worst worst("impulses of a stack, relative", 1e-9);
  for (const double ratio : {1.0, 10.0, 100.0}) {
    constexpr int n = 4;
    const double load = 9.81e-3;
    Vec m = Vec::Ones(n);
    m[n - 1] = ratio;
    Mat W = Mat::Zero(n, n);
    std::vector<Row> rows;
    for (int k = 0; k < n; ++k) {
      W(k, k) = 1;
      if (k > 0) W(k - 1, k) = -1;
      rows.push_back({Unilateral{}});
    }
    const Inclusion problem =
        make_problem(rows, m.asDiagonal(), W, Vec::Constant(n, -load), Vec::Zero(n));
    Vec exact(n);
    for (int k = 0; k < n; ++k) exact[k] = load * m.tail(n - k).sum();
    for (const NamedSolver& named : all_solvers()) {
      const Solution ours = solved(named.velocity ? without_G(problem) : problem, named.solver);
      EXPECT_TRUE(ours.report.converged) << named.name << " ratio " << ratio;
      // 1e-12 m/s times the condition of the stack, n^2 ratio, over the load.
      worst.add((ours.Lambda - exact).norm() / exact.norm() / ratio, named.name);
    }
  }
}

// --- Modes
// ----------------------------------------------------------------------------------------

TEST(Modes, OpenStickSlip) {
  Inclusion problem;
  problem.reserve(8, 4, 1);
  problem.clear();
  problem.add(Coulomb{0.5, 0.25}, 0, 1);
  problem.add(Unilateral{}, 0, 1);
  problem.add(GivenLoad{1, 2}, 0, 1);
  const Block &contact = problem.blocks[0], &normal = problem.blocks[1],
              &support = problem.blocks[2];
  EXPECT_EQ(contact.row, 0);
  EXPECT_EQ(normal.row, 3);
  EXPECT_EQ(support.row, 4);
  EXPECT_EQ(support.rows, 2);
  // A block's Lambda, rows of the block.
  EXPECT_EQ(mode_of(contact, Vec3(0, 0, 0)), Mode::open);
  EXPECT_EQ(mode_of(contact, Vec3(1, 0.1, 0.1)), Mode::stick);
  EXPECT_EQ(mode_of(contact, Vec3(1, 0.5, 0)), Mode::slip);
  EXPECT_EQ(mode_of(contact, Vec3(1, 0, -0.25)), Mode::slip);
  EXPECT_EQ(mode_of(normal, Vec::Zero(1)), Mode::open);
  EXPECT_EQ(mode_of(normal, Vec::Ones(1)), Mode::closed);
  EXPECT_EQ(mode_of(support, Vec2(0.5, 0.5)), Mode::stick);
  EXPECT_EQ(mode_of(support, Vec2(0, 2)), Mode::slip);
}

TEST(Names, OfSolvers) {
  EXPECT_EQ(name_of(Solver{ProxGaussSeidel{}}), "sor");
  EXPECT_EQ(name_of(Solver{ProxJacobi{}}), "jor");
  ProxJacobi jacobi;
  jacobi.alpha = 0.7;
  EXPECT_EQ(options_of(Solver{jacobi}).alpha, 0.7);
}

// Rows brought to rest together: against a dense factor, of every size up to two packs beyond what
// is tried for sticking, with compliances, another right side for the same matrix, another matrix
// of the same size, and rows that depend on those before them.
TEST(Stick, FactorsAnyRows) {
  Worst independent("G x + c, rows that do not depend", 1e-12), left("rows that do", 1e-12);
  SolverWorkspace work;
  work.reserve(80, 80, 1);
  for (int n = 1; n <= 72; ++n) {
    Random random(n);
    const Mat W = Mat::NullaryExpr(n + 4, n, [&] { return random.uniform(-1, 1); });
    std::vector<Row> rows;
    for (int i = 0; i < n; ++i) rows.push_back({Bilateral{1}, i % 5 == 2 ? 0.3 : 0.0});
    for (const int twins : {0, 1, 2}) {
      Mat G = W.transpose() * W;
      // Some rows are twins of the first, without compliance.
      std::vector<int> of;
      for (int i = 0; i < n; ++i) of.push_back(twins > 0 && i % 7 == 6 - twins ? 0 : i);
      Mat twin(n, n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) twin(i, j) = G(of[i], of[j]);
      std::vector<Row> own = rows;
      for (int i = 0; i < n; ++i)
        if (of[i] != i || i == 0) own[i].compliance = 0;
      for (int again = 0; again < 2; ++again) {
        const Vec c = random.vector(n);
        Vec same = c;
        for (int i = 0; i < n; ++i) same[i] = c[of[i]];
        const Inclusion p = delassus_problem(own, twin, same);
        Vec x = Vec::Zero(80);
        ASSERT_TRUE(solve_bilateral(p, 1e-10, x, work));
        for (int i = 0; i < n; ++i) {
          const double rest = twin.row(i).dot(x.head(n)) + own[i].compliance * x[i] + same[i];
          (of[i] == i ? independent : left).add(std::abs(rest) / (1 + x.norm()), n);
          if (of[i] != i) { EXPECT_EQ(x[i], 0) << n; }
        }
        // And some of the rows alone.
        work.direct_rows.clear();
        for (int i = 0; i < n; i += 2) work.direct_rows.push_back(i);
        Vec some = Vec::Zero(n);
        ASSERT_TRUE(solve_rows(p, same, 1e-10, some, work));
        for (int i = 0; i < n; ++i) {
          const double rest = twin.row(i).dot(some) + own[i].compliance * some[i] + same[i];
          if (i % 2 == 0)
            left.add(std::abs(rest) / (1 + some.norm()), n);
          else
            EXPECT_EQ(some[i], 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace saltus
