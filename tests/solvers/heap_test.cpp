// Factors of matrices in blocks beside dense ones; Newton's step on them beside the dense backend;
// and what sweeps alone do not solve.
#include "saltus/solvers/heap.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

namespace saltus {
namespace {

using Pairs = std::vector<std::array<int, 2>>;

struct Entries {
  std::mt19937 chance;
  double operator()() { return std::uniform_real_distribution<double>(-1, 1)(chance); }
  int index(int n) { return std::uniform_int_distribution<int>(0, n - 1)(chance); }
};

TEST(BlockLU, SolvesWhatADenseFactorSolves) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Entries random{std::mt19937(seed)};
    const int nodes = 1 + random.index(60);
    std::vector<int> size(nodes), begin(1, 0);
    for (int& s : size) {
      s = 1 + random.index(7);
      begin.push_back(begin.back() + s);
    }
    Pairs pairs;  // some of them twice, and the other way round
    for (int k = 0; nodes > 1 && k < 2 * nodes; ++k) {
      const int a = random.index(nodes), b = (a + 1 + random.index(nodes - 1)) % nodes;
      pairs.push_back({a, b});
    }
    BlockLU lu;
    lu.analyse(size, pairs);
    for (int round = 0; round < 2; ++round) {  // numbers change, the pattern stays
      lu.set_identity();
      Mat A = Mat::Identity(begin.back(), begin.back());
      const auto add = [&](double* block, int i, int j) {
        for (int c = 0; c < size[j]; ++c)
          for (int r = 0; r < size[i]; ++r) {
            const double x = random();
            block[c * size[i] + r] += x;
            A(begin[i] + r, begin[j] + c) += x;
          }
      };
      for (int i = 0; i < nodes; ++i) add(lu.diagonal(i), i, i);
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        add(lu.coupling(static_cast<int>(p), false), pairs[p][0], pairs[p][1]);
        add(lu.coupling(static_cast<int>(p), true), pairs[p][1], pairs[p][0]);
      }
      ASSERT_TRUE(lu.factor());
      Vec b(begin.back());
      for (double& x : b) x = random();
      Vec x = b;
      lu.solve(x);
      const Vec exact = A.partialPivLu().solve(b);
      // Pivots come from a front only: a growth of 1e4 is allowed for.
      EXPECT_LT((A * x - b).norm(), 1e-9 * A.norm() * exact.norm());
    }
  }
}

TEST(BlockLU, SaysThatAMatrixIsSingular) {
  BlockLU lu;
  const std::vector<int> size{2, 1};
  const Pairs pairs{{0, 1}};
  lu.analyse(size, pairs);
  lu.set_identity();
  lu.diagonal(0)[3] = 0;
  EXPECT_FALSE(lu.factor());
}

// Bodies of six velocities with a diagonal mass matrix, contacts of three rows between them.
SparseRows random_heap(unsigned seed, int bodies, int contacts) {
  Entries random{std::mt19937(seed)};
  SparseRows p;
  p.velocities = 6 * bodies;
  p.v_free.resize(p.velocities);
  for (double& x : p.v_free) x = random();
  p.b.resize(3 * contacts);
  for (double& x : p.b) x = 0.1 * random();
  Vec mass(p.velocities);
  for (double& x : mass) x = 1.5 + random();
  for (int i = 0; i < contacts; ++i) {
    p.blocks.push_back({Coulomb{0.5, 0.5}, p.rows, 3, i % 4 == 0 ? 0.1 : 0.0, 1});
    p.rows += 3;
    std::array<SparseRows::Segment, 2> segments;
    const int a = i < bodies ? i : random.index(bodies);  // every body touches
    const int b = (a + 1 + random.index(bodies - 1)) % bodies;
    for (int k = 0; k < (i % 5 == 0 ? 1 : 2); ++k) {
      segments[k] = {6 * (k == 0 ? a : b), 6, static_cast<std::ptrdiff_t>(p.W.size())};
      for (int n = 0; n < 18; ++n) {
        p.W.push_back(random());
        p.Y.push_back(p.W.back() / mass[segments[k].v + n % 6]);
      }
    }
    p.segments.push_back(segments);
  }
  return p;
}

Inclusion dense(const SparseRows& p) {
  Inclusion d;
  d.reserve(p.rows, static_cast<int>(p.blocks.size()), p.velocities);
  Mat W = Mat::Zero(p.velocities, p.rows), Y = W;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    d.add(p.blocks[i].law, p.blocks[i].compliance, p.blocks[i].length);
    for (const auto& s : p.segments[i])
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < s.size; ++k) {
          W(s.v + k, p.blocks[i].row + r) += p.W[s.data + r * s.size + k];
          Y(s.v + k, p.blocks[i].row + r) += p.Y[s.data + r * s.size + k];
        }
  }
  d.G = W.transpose() * Y;
  d.c = W.transpose() * p.v_free + p.b;
  d.has_G = true;
  return d;
}

TEST(HeapBackend, StepsAsTheDenseOneDoes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const SparseRows p = random_heap(seed, 8, 20);
    const Inclusion d = dense(p);
    Entries random{std::mt19937(seed)};
    NewtonWorkspace work;
    HeapScratch scratch;
    DualBackend one(d, work);
    HeapBackend two(p, scratch);
    Vec Lambda(p.rows), g(p.rows);
    for (double& x : Lambda) x = random();
    for (double& x : g) x = random();
    Vec a(p.rows), b(p.rows), da(p.rows), db(p.rows);
    one.diagonal(a);
    two.diagonal(b);
    EXPECT_LT((a - b).norm(), 1e-13 * a.norm());
    one.velocity(Lambda, a);
    two.velocity(Lambda, b);
    EXPECT_LT((a - b).norm(), 1e-13 * a.norm());
    BlockMatrices K(p.blocks.size());
    for (Mat6& k : K) {
      Mat3 B;
      for (int i = 0; i < 9; ++i) B(i / 3, i % 3) = random();
      k.topLeftCorner<3, 3>() = 100 * B * B.transpose();
      k(0, 1) += 10;  // slip: not symmetric
    }
    K[1].topLeftCorner<3, 3>().setZero();  // an open contact
    one.linear(K, g, a, da);
    two.linear(K, g, b, db);
    EXPECT_LT((da - db).norm(), 1e-8 * da.norm());
    EXPECT_LT((a - b).norm(), 1e-8 * a.norm());
  }
}

// A tower of n masses on each other, one velocity each: every impulse is known, and sweeps take
// about n^2.
SparseRows column(int n, double m, double dt) {
  SparseRows p;
  p.velocities = n;
  p.v_free = Vec::Constant(n, -9.81 * dt);
  p.b = Vec::Zero(n);
  for (int i = 0; i < n; ++i) {
    p.blocks.push_back({Unilateral{}, i, 1, 0, 1});
    std::array<SparseRows::Segment, 2> segments;
    for (int k = 0; k < (i == 0 ? 1 : 2); ++k) {
      segments[k] = {i - k, 1, static_cast<std::ptrdiff_t>(p.W.size())};
      p.W.push_back(k == 0 ? 1 : -1);
      p.Y.push_back(p.W.back() / m);
    }
    p.segments.push_back(segments);
  }
  p.rows = n;
  return p;
}

TEST(SolveSparse, FactorsDoWhatSweepsDoNot) {
  constexpr int n = 400;
  constexpr double m = 2, dt = 1e-3;
  const SparseRows p = column(n, m, dt);
  ProxOptions o;
  o.tolerance = 1e-9;
  SparseScratch scratch;
  Vec few = Vec::Zero(n);
  o.max_iterations = 190;  // too few for a factor
  const SolveReport swept = solve_sparse(p, few, o, scratch);
  EXPECT_FALSE(swept.converged);
  EXPECT_EQ(swept.newton, 0);
  Vec Lambda = Vec::Zero(n);
  o.max_iterations = 10000;
  const SolveReport report = solve_sparse(p, Lambda, o, scratch);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.solver, "newton");
  EXPECT_GT(report.newton, 0);
  EXPECT_LT(report.sweeps, 2000);
  EXPECT_EQ(report.iterations, report.sweeps + report.newton);
  // Every row misses by the tolerance at most: velocities add up along the column, and so do they.
  const double most = 0.5 * n * (n + 1) * m * o.tolerance;
  for (int i = 0; i < n; ++i) EXPECT_NEAR(Lambda[i], (n - i) * m * 9.81 * dt, most);
  // A solution stays as it is, to the bit, without a sweep.
  Vec again = Lambda;
  EXPECT_EQ(solve_sparse(p, again, o, scratch).iterations, 0);
  EXPECT_EQ((again - Lambda).cwiseAbs().maxCoeff(), 0);
}

TEST(SolveSparse, BoundsItsWork) {  // rows that contradict each other: no solver converges
  SparseRows p = column(50, 1, 1e-3);
  p.b[0] = -1;  // the floor moves up, and a ceiling does not give way
  p.blocks.push_back({Unilateral{}, p.rows++, 1, 0, 1});
  p.segments.push_back({SparseRows::Segment{0, 1, static_cast<std::ptrdiff_t>(p.W.size())}, {}});
  p.W.push_back(-1);
  p.Y.push_back(-1);
  p.b = (Vec(51) << p.b, Vec::Zero(1)).finished();
  ProxOptions o;
  o.tolerance = 1e-9;
  o.max_iterations = 3000;
  SparseScratch scratch;
  Vec Lambda = Vec::Zero(p.rows);
  const SolveReport report = solve_sparse(p, Lambda, o, scratch);
  EXPECT_FALSE(report.converged);
  EXPECT_TRUE(Lambda.allFinite());
  EXPECT_LE(report.sweeps, o.max_iterations);
  EXPECT_LE(report.newton, 6 + 50 + 70 + 100);
  EXPECT_GT(report.residual, o.tolerance);
  EXPECT_LE(report.residual, 1);  // the floor's speed
}

}  // namespace
}  // namespace saltus
