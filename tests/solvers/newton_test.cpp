// Newton and the automatic solver on problems that defeat sweeps: mass ratios, redundant contacts,
// wedges, large friction, and random heaps of all laws.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "saltus/solvers/conflict.h"
#include "saltus/solvers/indeterminacy.h"
#include "saltus/solvers/local.h"
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

struct Range {
  int least, most;
};
// Random heaps from rest by Newton alone and by the chain, which may miss one in a hundred.
void expect_heaps_solved(int count, HeapOptions o, Range bodies, Range contacts) {
  int by_newton = 0, by_chain = 0, by_sweeps = 0;
  double newton_iterations = 0, chain_iterations = 0;
  for (const auto seed : seeds(1, count)) {
    Random random(seed);
    o.bodies = random.integer(bodies.least, bodies.most);
    o.contacts = random.integer(contacts.least, contacts.most);
    const Inclusion p = random_heap(random, o);
    const SolveReport a = solved(p, newton()).report, b = solved(p, automatic()).report;
    by_newton += a.converged;
    by_chain += b.converged;
    by_sweeps += b.converged && b.newton == 0;
    newton_iterations += a.iterations;
    chain_iterations += b.iterations;
    if (!a.converged || !b.converged)
      std::printf("[   RATE   ]   seed %llu: newton %.1e after %d, auto %.1e after %d\n",
                  static_cast<unsigned long long>(seed), a.residual, a.iterations, b.residual,
                  b.iterations);
  }
  std::printf("[   RATE   ] newton %d/%d (%.1f its), auto %d/%d (%.1f its, %d by sweeps alone)\n",
              by_newton, count, newton_iterations / count, by_chain, count,
              chain_iterations / count, by_sweeps);
  EXPECT_GE(by_chain, count - count / 100);
}

TEST(Heaps, Friction) {
  for (const double mu : {0.3, 1.0, 2.0}) {
    std::printf("mu up to %g\n", mu);
    expect_heaps_solved(500, {.mu_most = mu}, {1, 6}, {1, 16});
  }
}
TEST(Heaps, Elliptic) { expect_heaps_solved(300, {.elliptic = true}, {1, 6}, {1, 16}); }
TEST(Heaps, MassRatio) { expect_heaps_solved(300, {.mass_ratio = 1e6}, {2, 6}, {4, 16}); }
TEST(Heaps, Rolling) { expect_heaps_solved(300, {.rolling = true}, {1, 6}, {1, 12}); }
TEST(Heaps, AllLaws) {
  expect_heaps_solved(300, {.elliptic = true, .rolling = true, .mixed = true}, {1, 6}, {1, 16});
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

// --- One block, exactly
// ------------------------------------------------------------------------

// Every law on a full random block: the natural map at rounding.
TEST(LocalStep, SolvesEveryLawToRounding) {
  Worst worst("natural map of the block, relative", 1e-12);
  for (const auto seed : seeds(1, 2000)) {
    Random random(seed);
    const double mu = random.uniform(0, 1.5);
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<Law> laws{
        Bilateral{random.integer(1, 6)},
        Unilateral{},
        Interval{-random.uniform(0, 1), random.chance(0.5) ? inf : random.uniform(0, 1)},
        GivenLoad{random.log_uniform(1e-3, 1), random.log_uniform(1e-3, 1)},
        Coulomb{mu, random.chance(0.5) ? mu : random.uniform(0, 1)},
        Coulomb2{mu},
        RollingCoulomb{mu, mu, random.uniform(0, 0.5), 0},
        RollingCoulomb{mu, random.uniform(0, 1), random.uniform(0, 0.5), random.uniform(0.01, 1)}};
    for (const Law& law : laws) {
      const int n = rows_of(law);
      const bool rolls = std::holds_alternative<RollingCoulomb>(law);
      const Mat G = random.spd(n, rolls ? 0.5 : 1e-2, rolls ? 2 : 10);
      Mat6 A = Mat6::Zero();
      A.topLeftCorner(n, n) = G;
      Vec6 q = random.vector6(), x = Vec6::Zero();
      const Block block{law, 0, n, 0, 1};
      solve_block(sets_of(law), n, A, q, x);
      Inclusion p;
      p.reserve(n, 1, 0);
      p.add(law, 0, 1);
      p.G = G;
      p.c = q.head(n);
      p.has_G = true;
      const Vec xi = G * x.head(n) + q.head(n);
      const double miss = block_residual(block, x.head(n), xi, diagonal_steps(p, block)).value;
      worst.add(miss / (q.head(n).norm() + G.norm() * x.head(n).norm()), seed);
    }
  }
}

// A planar model leaves the second tangent without mass; two tangents may be one. Stick is found
// there too (it was not once, and a peg's contact stood still at 2e-3 m/s).
TEST(LocalStep, SingularTangents) {
  Worst worst("natural map of the block", 1e-12);
  for (const auto seed : seeds(1, 1000)) {
    Random random(seed);
    const bool still = random.chance(0.5);
    const Mat J = random.matrix(2, 2);
    Mat W(2, 3);
    W << J.col(0), J.col(1), (still ? 0.0 : random.uniform(-2, 2)) * J.col(1);
    const Mat G = W.transpose() * W;
    const Vec q = W.transpose() * random.vector(2);
    for (const Law& law : {Law{Coulomb{0.8, 0.8}}, Law{Coulomb{0.8, 0.3}}, Law{Coulomb{0, 0.5}}}) {
      Mat6 A = Mat6::Zero();
      A.topLeftCorner(3, 3) = G;
      Vec6 rest = Vec6::Zero(), x = Vec6::Zero();
      rest.head(3) = q;
      solve_block(sets_of(law), 3, A, rest, x);
      const Block block{law, 0, 3, 0, 1};
      Inclusion p;
      p.reserve(3, 1, 0);
      p.add(law, 0, 1);
      p.G = G;
      p.has_G = true;
      worst.add(block_residual(block, x.head(3), G * x.head(3) + q, diagonal_steps(p, block)).value,
                seed);
    }
  }
}

TEST(LocalStep, ClosedForms) {
  Worst stick("stick", 1e-12), slip("slip", 1e-12), open("separation", 0);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    Mat6 A = Mat6::Zero();
    const double g_N = random.uniform(0.5, 2), g_T = random.uniform(0.5, 2);
    A(0, 0) = g_N;
    A(1, 1) = A(2, 2) = g_T;
    const double mu = random.uniform(0.05, 1), n = random.uniform(0.1, 1);
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    const Vec2 u(std::cos(angle), std::sin(angle));
    const ConvexSets sets = sets_of(Coulomb{mu, mu});
    const auto solve = [&](double q_N, const Vec2& q_T) {
      Vec6 q = Vec6::Zero(), x = Vec6::Zero();
      q[0] = q_N;
      q.segment<2>(1) = q_T;
      solve_block(sets, 3, A, q, x);
      return Vec3(x.head<3>());
    };
    const double held = random.uniform(0, 0.99) * mu * n, speed = 1.01 + random.uniform(0, 10);
    const Vec2 t = -held * u, s = -mu * n * u;
    stick.add((solve(-g_N * n, g_T * held * u) - Vec3(n, t[0], t[1])).norm(), seed);
    slip.add((solve(-g_N * n, g_T * mu * n * speed * u) - Vec3(n, s[0], s[1])).norm(), seed);
    open.add(solve(random.uniform(0, 1), u).norm(), seed);
  }
}

// --- What a solution must do
// --------------------------------------------------------------------------

std::vector<Solver> every_solver() {
  ProxGaussSeidel exact, plain, relaxed;
  ProxJacobi jacobi;
  plain.local = ProxOptions::Local::prox;
  relaxed.auto_alpha = jacobi.auto_alpha = true;
  relaxed.alpha = 1.8;
  std::vector<Solver> list{exact, plain, relaxed, jacobi, newton(), automatic()};
  for (Solver& s : list) std::visit([](ProxOptions& o) { o.max_iterations = 20000; }, s);
  std::get<Newton>(list[4]).max_iterations = 600;
  return list;
}

TEST(Agreement, OfVelocitiesWhereTheyAreUnique) {
  // Few contacts, many bodies: W has full rank; mu small enough for one solution.
  Worst worst("velocity by six solvers", 1e-7);
  int converged = 0, count = 0;
  for (const auto seed : seeds(1, 30)) {
    Random random(seed);
    const Inclusion p = random_heap(
        random, {.bodies = 4, .contacts = 4, .mu_most = 0.3, .rolling = true, .mixed = true});
    const Outcome reference = solved(p, newton(1e-12));
    for (const Solver& solver : every_solver()) {
      const Outcome out = solved(p, solver);
      ++count;
      if (!out.report.converged) continue;
      ++converged;
      worst.add((p.Y * (out.Lambda - reference.Lambda)).norm(),
                std::string(name_of(solver)) + ", seed " + std::to_string(seed));
    }
  }
  std::printf("[   RATE   ] %d of %d solves within 20000 iterations\n", converged, count);
  EXPECT_GE(converged, count - count / 20);
}

TEST(Agreement, OfPrimalAndDualBackends) {
  Worst worst("velocity", 1e-8);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    Inclusion p = random_heap(random, {.bodies = 3, .contacts = 5, .mu_most = 0.3, .mixed = true});
    const Outcome primal = solved(p, newton(1e-12));
    p.has_M = false;
    const Outcome dual = solved(p, newton(1e-12));
    p.has_G = false;
    const Outcome velocity = solved(p, newton(1e-12));  // neither M nor G: by Y
    EXPECT_TRUE(primal.report.converged && dual.report.converged && velocity.report.converged);
    worst.add((p.Y * (primal.Lambda - dual.Lambda)).norm(), seed);
    worst.add((p.Y * (primal.Lambda - velocity.Lambda)).norm(), seed);
  }
}

TEST(Newton, WarmStartTakesNoIterationAndRunsRepeat) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Inclusion p = random_heap(random, {.elliptic = true, .rolling = true, .mixed = true});
    const Outcome cold = solved(p, newton(1e-11)), again = solved(p, newton(1e-11));
    EXPECT_EQ(cold.Lambda, again.Lambda) << "seed " << seed;
    const Outcome warm = solved(p, newton(), cold.Lambda);
    EXPECT_EQ(warm.report.iterations, 0) << "seed " << seed;
    EXPECT_LE(solved(p, automatic(), cold.Lambda).report.iterations, 1) << "seed " << seed;
  }
}

TEST(Newton, FrictionHasNoHeading) {
  Worst worst("turned problem", 1e-8);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Inclusion p = random_heap(random, {.bodies = 3, .contacts = 4, .mu_most = 0.3});
    Inclusion turned = p;
    Mat R = Mat::Identity(p.rows, p.rows);
    for (const Block& k : p.blocks)
      R.block<2, 2>(k.row + 1, k.row + 1) =
          Eigen::Rotation2Dd(random.uniform(0, 6)).toRotationMatrix();
    turned.W = p.W * R.transpose();
    turned.Y = p.Y * R.transpose();
    turned.G = R * p.G * R.transpose();
    turned.c = R * p.c;
    const Outcome a = solved(p, newton(1e-12)), b = solved(turned, newton(1e-12));
    worst.add((p.Y * a.Lambda - turned.Y * b.Lambda).norm(), seed);
  }
}

TEST(Indeterminate, IsCountedAndSharedEvenly) {
  // A box at rest on four points: 12 sticking rows, 6 freedoms. The smallest impulses are equal.
  const Inclusion p = box_tower(1, 1, 4, 0.5).problem();
  SolverWorkspace work;
  work.reserve(p.rows, 4, 6);
  Vec start = Vec::Zero(p.rows);
  start[0] = 3;  // a start that favours one corner
  AutoSolver o = automatic(1e-12);
  o.least_norm = true;
  const Outcome out = solved(p, o, start);
  EXPECT_TRUE(out.report.converged);
  EXPECT_EQ(indeterminacy(p, out.Lambda), 6);
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(out.Lambda[3 * k], 9.81e-3 / 4, 1e-9);
  const Inclusion one = random_heap(*std::make_unique<Random>(1), {.bodies = 2, .contacts = 1});
  work.reserve(one.rows, 1, 12);
  EXPECT_EQ(indeterminacy(one, solved(one, o).Lambda), 0);
}

TEST(Indeterminate, NamesThoseThatShare) {
  // A box on four points and, apart from it, a ball on one: the ball's impulse is determined.
  Bodies bodies;
  const int box = bodies.box(1, Vec3(1, 1, 1), Vec3(0, 0, 0.5));
  const int ball = bodies.sphere(1, 0.5, Vec3(5, 0, 0.5));
  bodies.contact(ball, -1, Vec3(5, 0, 0), Vec3::UnitZ(), Coulomb{0.5, 0.5});
  for (const double x : {-0.5, 0.5})
    for (const double y : {-0.5, 0.5})
      bodies.contact(box, -1, Vec3(x, y, 0), Vec3::UnitZ(), Coulomb{0.5, 0.5});
  Inclusion p = bodies.problem();
  AutoSolver o = automatic();
  o.least_norm = true;  // all four points carry
  const Vec Lambda = solved(p, o).Lambda;
  EXPECT_EQ(indeterminacy(p, Lambda), 6);
  EXPECT_EQ(indeterminate_blocks(p, Lambda), (std::vector<int>{1, 2, 3, 4}));
  p.has_G = false;  // the same by W and Y
  EXPECT_EQ(indeterminacy(p, Lambda), 6);
  EXPECT_EQ(indeterminate_blocks(p, Lambda), (std::vector<int>{1, 2, 3, 4}));
}

// --- problems without a solution

// A body along x; a row of velocity `sign v - target`, and a ball on the floor that has no part.
Inclusion held_by(const std::vector<std::pair<Law, std::pair<double, double>>>& rows) {
  Inclusion p;
  const auto n = static_cast<int>(rows.size());
  p.reserve(n + 1, n + 1, 2);
  p.v_free << 0, -0.01;
  for (int i = 0; i < n; ++i) {
    p.add(rows[i].first, 0, 1);
    p.W.col(i) << rows[i].second.first, 0;
    p.b[i] = -rows[i].second.second;
  }
  p.add(Unilateral{}, 0, 1);
  p.W.col(n) << 0, 1;
  p.Y = p.W;
  p.Y.row(1) /= 1e3;
  p.G = p.W.transpose() * p.Y;
  p.c = p.W.transpose() * p.v_free + p.b;
  p.has_G = true;
  return p;
}

TEST(NoSolution, IsProvedAndNamed) {
  const Unilateral wall;
  const Bilateral slide{1};
  // v >= 1 and -v >= 1: the least squares of the misses are at v = 0, one each.
  const Conflict walls = find_conflict(held_by({{wall, {1, 1}}, {wall, {-1, 1}}}), 1e-9);
  EXPECT_EQ(walls.blocks, (std::vector<int>{0, 1}));
  EXPECT_NEAR(walls.miss, 1, 1e-5);
  // v = 1, v = -1, and v <= 5, which is met.
  const Conflict slides =
      find_conflict(held_by({{slide, {1, 1}}, {wall, {-1, -5}}, {slide, {1, -1}}}), 1e-9);
  EXPECT_EQ(slides.blocks, (std::vector<int>{0, 2}));
  EXPECT_NEAR(slides.miss, 1, 1e-5);
  // A wall that closes on a body which nothing moves.
  const Conflict still = find_conflict(held_by({{wall, {0, 0.3}}}), 1e-9);
  EXPECT_EQ(still.blocks, (std::vector<int>{0}));
  EXPECT_NEAR(still.miss, 0.3, 1e-6);
  // Walls that touch, agree, or move apart leave a motion.
  for (const double apart : {0.0, 1e-6, 1.0})
    EXPECT_EQ(find_conflict(held_by({{wall, {1, 1}}, {wall, {-1, -1 - apart}}}), 1e-9).miss, 0);
  EXPECT_EQ(find_conflict(held_by({{slide, {1, 1}}, {slide, {2, 2}}}), 1e-9).miss, 0);
}

TEST(NoSolution, IsNotSeenWhereThereIsOne) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Inclusion p =
        random_heap(random, {.bodies = 3, .contacts = 8, .mass_ratio = seed % 2 ? 1.0 : 1e6});
    EXPECT_TRUE(find_conflict(p, 1e-9).blocks.empty()) << "seed " << seed;
  }
  EXPECT_TRUE(find_conflict(box_tower(20, 1e6, 4, 0.5).problem(), 1e-9).blocks.empty());
}

TEST(Report, PartsHistoryAndSolver) {
  const Inclusion p = box_tower(3, 100, 4, 0.5).problem();
  SolverWorkspace work;
  work.reserve(p.rows, 12, 18);
  AutoSolver o = automatic();
  o.history = true;
  Vec Lambda = Vec::Zero(p.rows);
  const SolveReport r = solve_inclusion(p, Lambda, o, work);
  EXPECT_TRUE(r.converged);
  EXPECT_EQ(r.iterations, r.sweeps + r.newton);
  EXPECT_GE(static_cast<int>(work.history.size()), r.iterations);
  EXPECT_LE(std::max(r.normal, r.tangential), 1e-10);
  EXPECT_FALSE(r.solver.empty());
}

TEST(AutoAlpha, RecoversWhereOverrelaxationDiverges) {
  int plain = 0, adapted = 0;
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Inclusion p = random_heap(random, {.bodies = 3, .contacts = 8, .mu_most = 0.5});
    ProxJacobi o;
    o.alpha = 1.9;
    o.max_iterations = 20000;
    plain += solved(p, o).report.converged;
    o.auto_alpha = true;
    adapted += solved(p, o).report.converged;
  }
  std::printf("[   RATE   ] jor, alpha 1.9: %d/50, automatic %d/50\n", plain, adapted);
  EXPECT_GE(adapted, plain);
  EXPECT_GE(adapted, 40);
}

TEST(Failure, NoSolutionIsReportedByAll) {
  // Two opposite unilateral rows asked to part both ways, and a matrix of zeros.
  Inclusion p;
  p.reserve(2, 2, 0);
  p.add(Unilateral{}, 0, 1);
  p.add(Unilateral{}, 0, 1);
  p.G = (Mat(2, 2) << 1, -1, -1, 1).finished();
  p.c = Vec::Constant(2, -1);
  p.has_G = true;
  for (const Solver& s : {Solver{newton()}, Solver{automatic()}}) {
    const Outcome out = solved(p, s);
    EXPECT_FALSE(out.report.converged);
    EXPECT_TRUE(out.Lambda.allFinite());
    EXPECT_GT(out.report.residual, 0.1);
  }
}

}  // namespace
}  // namespace saltus
