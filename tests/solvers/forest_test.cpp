// The forest against dense matrices: nodes of any width, one station or several.
#include "saltus/solvers/forest.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
using test::Worst;

// A random forest beside its stations' Jacobians.
struct Grown {
  Forest forest;
  std::vector<Mat> J;  // 6 x unknowns, of each station
  Mat H;               // dense
  std::vector<int> held;

  Grown(Random& random, bool planar, bool stations, bool hold, int widest) {
    ForestShape s;
    s.planar = planar;
    const int trees = random.integer(1, 3);
    for (int t = 0; t < trees; ++t) {
      const int begin = s.nodes(), elements = random.integer(1, 8);
      s.tree_begin.push_back(begin);
      s.unknown_begin.push_back(s.unknowns);
      for (int e = 0; e < elements; ++e) {
        const int parent = e == 0 ? -1 : random.integer(begin, s.nodes() - 1);
        const int dim = random.integer(e == 0 ? 1 : 0, widest);
        const int count = stations ? random.integer(1, 4) : 1;
        for (int j = 0; j < count; ++j) {
          s.parent.push_back(parent);
          s.first.push_back(s.unknowns);
          s.dim.push_back(dim);
          s.tree.push_back(t);
          s.stations.push_back(j == 0 ? count : 0);
        }
        s.unknowns += dim;
      }
    }
    s.tree_begin.push_back(s.nodes());
    s.unknown_begin.push_back(s.unknowns);
    if (!stations) s.stations.clear();
    forest.resize(s);
    fill(random, hold);
  }

  void fill(Random& random, bool hold) {
    const ForestShape& s = forest.shape();
    H.setZero(s.unknowns, s.unknowns);
    for (int k = 0; k < s.unknowns; ++k) {
      // Elements of more unknowns than their stations have inertia for rest on this.
      const double d = random.uniform(0.1, 1);
      forest.set_diagonal(k, d);
      H(k, k) += d;
    }
    for (int i = 0; i < s.nodes(); ++i) {
      Mat6 T = Mat6::Identity();
      Vec3 r = random.vector3();
      if (s.planar) r.z() = 0;
      if (s.parent[i] < 0) r.setZero();
      T.topRightCorner<3, 3>() << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
      const Mat6 A = random.spd(6, 0.1, 2);
      forest.set_node(i, r, A);
      Mat own = s.parent[i] >= 0 ? Mat(T * J[s.parent[i]]) : Mat(Mat::Zero(6, s.unknowns));
      for (int c = 0; c < s.dim[i]; ++c) {
        Vec6 S = random.vector6();
        if (s.planar) S[2] = S[3] = S[4] = 0;
        forest.set_column(i, c, S);
        own.col(s.first[i] + c) += S;
      }
      H += own.transpose() * A * own;
      J.push_back(own);
      if (s.stations[i] == 0 || s.dim[i] == 0 || random.chance(0.5)) continue;
      const Mat K = random.spd(s.dim[i], 0.1, 1);
      forest.set_block(i, K);
      H.block(s.first[i], s.first[i], s.dim[i], s.dim[i]) += K;
    }
    if (!hold) return;
    for (int k = 0; k < s.unknowns; ++k)
      if (random.chance(0.3)) {
        forest.hold(k);
        held.push_back(k);
      }
  }

  // The solution with held unknowns at zero.
  [[nodiscard]] Vec solved(Mat A, Vec b) const {
    for (const int k : held) {
      A.row(k).setZero();
      A.col(k).setZero();
      A(k, k) = 1;
      b[k] = 0;
    }
    return A.partialPivLu().solve(b);
  }
};

template <class Check>
void everywhere(Check&& check) {
  for (const bool planar : {true, false})
    for (const bool stations : {false, true})
      for (const bool hold : {false, true})
        for (const int widest : {1, 6, 20})
          for (const auto seed : seeds(1, 10)) {
            Random random(seed);
            check(Grown(random, planar, stations, hold, widest), random, seed);
          }
}

double off(const Vec& x, const Vec& y) { return (x - y).norm() / (1e-3 + y.norm()); }

TEST(Forest, AnyWidthAndStations) {
  Worst product("H x against dense", 1e-13), solve("H^-1 b against dense", 1e-11);
  Worst twist("twists against J x", 1e-13), wrench("J' f", 1e-13), branch("one wrench", 1e-11);
  Worst own("diagonal of the inverse, and w' Omega w", 1e-11), force("one unknown", 1e-11);
  everywhere([&](Grown g, Random& random, std::uint64_t seed) {
    const ForestShape& s = g.forest.shape();
    const int n = s.unknowns, nodes = s.nodes();
    Vec x = random.vector(n), y(n);
    g.forest.multiply(x, y);
    product.add(off(y, g.H * x), seed);
    for (int t = 0; t < s.trees(); ++t) {
      const int at = s.unknown_begin[t], count = s.unknown_begin[t + 1] - at;
      Mat H(count, count);
      g.forest.dense(t, H);
      product.add((H - g.H.block(at, at, count, count)).norm() / g.H.norm(), seed);
    }
    std::vector<Vec6> V(nodes), f(nodes);
    g.forest.twists(x, V);
    Vec load = random.vector(n);
    const Vec b = load;
    for (int i = 0; i < nodes; ++i) {
      f[i] = random.vector6();
      if (s.planar) f[i][2] = f[i][3] = f[i][4] = 0;
      twist.add((V[i] - g.J[i] * x).norm() / (1 + V[i].norm()), seed);
      load += g.J[i].transpose() * f[i];
    }
    g.forest.gather(f, y);
    wrench.add(off(y, load - b), seed);
    ASSERT_TRUE(g.forest.factor()) << seed;
    const Vec exact = g.solved(g.H, load);
    g.forest.solve(-1, b.data(), f.data(), x.data(), &V);
    solve.add(off(x, exact), seed);
    for (int i = 0; i < nodes; ++i)
      twist.add(1e-2 * (V[i] - g.J[i] * exact).norm() / (1e-3 + exact.norm()), seed);
    g.forest.compliance();
    for (int i = 0; i < nodes; ++i) {
      const int t = s.tree[i], at = s.unknown_begin[t], count = s.unknown_begin[t + 1] - at;
      const Vec row = g.J[i].transpose() * f[i], moved = g.solved(g.H, row);
      g.forest.solve_wrench(i, f[i], x.data());
      branch.add(off(x.head(count), moved.segment(at, count)), seed);
      g.forest.row(i, f[i], x.data());
      wrench.add(off(x.head(count), row.segment(at, count)), seed);
      Vec free = row;
      for (const int k : g.held) free[k] = 0;
      own.add(std::abs(g.forest.compliance_along(i, f[i]) - free.dot(moved)) / (1e-3 + f[i].norm()),
              seed);
    }
    for (int k = 0; k < n; ++k) {
      const int t = s.tree[g.forest.node_of(k)], at = s.unknown_begin[t];
      const int count = s.unknown_begin[t + 1] - at;
      const Vec moved = g.solved(g.H, Vec::Unit(n, k));
      g.forest.solve_unknown(k, 1, x.data());
      force.add(off(x.head(count), moved.segment(at, count)), seed);
      own.add(std::abs(g.forest.compliance_of(k) - moved[k]), seed);
    }
  });
}

TEST(Forest, AnyWidthWithAnExtra) {
  Worst solve("(H + extra)^-1 b against dense", 1e-10);
  for (const bool symmetric : {true, false})
    everywhere([&](Grown g, Random& random, std::uint64_t seed) {
      const ForestShape& s = g.forest.shape();
      const int n = s.unknowns;
      Mat H = g.H;
      Forest::Extra extra = g.forest.make_extra();
      extra.K.setZero(s.pivots);
      for (int i = 0; i < s.nodes(); ++i) {
        const int dim = s.dim[i], first = s.first[i];
        if (s.stations[i] > 0 && dim > 0) {
          const Mat K = random.spd(dim, 0.1, 1);
          Eigen::Map<Mat>(extra.K.data() + s.pivot[i], dim, dim) = K;
          H.block(first, first, dim, dim) += K;
        }
        if (random.chance(0.3)) continue;
        const int rows = random.integer(1, 6);
        Mat6X W = random.matrix(6, rows);
        if (s.planar) W.middleRows<3>(2).setZero();
        Mat6 K = Mat6::Zero();
        K.topLeftCorner(rows, rows) = random.spd(rows, 0.1, 1);
        if (!symmetric && rows > 1) {
          K(0, 1) += 0.2;
          K(1, 0) -= 0.2;
        }
        extra.add(i, K, rows, W, 0);
        const Mat JW = g.J[i].transpose() * W;
        H += JW * K.topLeftCorner(rows, rows) * JW.transpose();
      }
      extra.d = random.vector(n).cwiseAbs();
      for (const int k : g.held) extra.d[k] = 0;
      H.diagonal() += extra.d;
      ASSERT_TRUE(g.forest.factor(&extra)) << seed;
      const Vec b = random.vector(n);
      Vec x(n);
      g.forest.solve(-1, b.data(), nullptr, x.data(), nullptr, true);
      solve.add(off(x, g.solved(H, b)), seed);
    });
}

}  // namespace
}  // namespace saltus
