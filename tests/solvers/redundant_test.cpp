// More rows than freedom: soft rows solved in velocities, and a body on many points on a tree.
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "saltus/solvers/soft_rows.h"
#include "saltus/solvers/tree_interior.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using namespace test;

// Both forms of the velocities, with M and without, beside (G + C) Lambda = -c.
TEST(SoftRows, AreTheLinearSystem) {
  Worst miss("(G + C) Lambda + c, of c", 1e-9);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const int nv = random.integer(1, 8), rows = random.integer(1, 30);
    Inclusion p;
    p.reserve(rows + 1, rows, nv);
    while (p.rows < rows) p.add(Bilateral{random.integer(1, 2)}, random.uniform(1e-4, 1e-2), 1);
    const int n = p.rows;
    Mat root(nv, nv), W(nv, n);
    for (int j = 0; j < nv; ++j) root.col(j) = random.vector(nv);
    for (int j = 0; j < n; ++j) W.col(j) = random.vector(nv);
    const Mat M = root * root.transpose() + Mat::Identity(nv, nv);
    p.W.leftCols(n) = W;
    p.Y.leftCols(n) = M.lu().solve(W);
    p.c.head(n) = random.vector(n);
    Mat G = W.transpose() * p.Y.leftCols(n);
    for (const Block& k : p.blocks)
      for (int r = k.row; r < k.row + k.rows; ++r) G(r, r) += k.compliance;
    for (const bool with_mass : {false, true}) {
      if (with_mass) p.M = M;
      p.has_M = with_mass;
      NewtonWorkspace work;
      Vec Lambda = Vec::Zero(n);
      solve_soft(p, Lambda, work);
      miss.add((G * Lambda + p.c.head(n)).norm() / p.c.head(n).norm(), seed);
    }
  }
}

// A free body of unit inertia on the corners of a plate.
struct Plate {
  Forest mass;
  TreeRows rows;
  TreeScratch scratch;
  explicit Plate(int points) {
    ForestShape shape;
    shape.parent = {-1};
    shape.first = shape.tree = {0};
    shape.dim = {6};
    shape.tree_begin = {0, 1};
    shape.unknown_begin = {0, 6};
    shape.unknowns = 6;
    mass.resize(shape);
    mass.set_node(0, Vec3::Zero(), Mat6::Identity());
    for (int k = 0; k < 6; ++k) mass.set_column(0, k, Vec6::Unit(k));
    rows.wrench.setZero(6, 3 * points);
    rows.b.setZero(3 * points);
    rows.c.setZero(3 * points);
    rows.tree = 0;
    for (int i = 0; i < points; ++i) {
      rows.blocks.push_back({Coulomb{0.5, 0.5}, rows.rows, 3});
      rows.at.push_back({0});
      const Vec3 arm(i % 2 == 0 ? 1 : -1, (i / 2) % 2 == 0 ? 1 : -1, -0.1);
      for (int r = 0; r < 3; ++r) {
        const Vec3 d = Vec3::Unit(r == 0 ? 2 : r - 1);
        rows.wrench.col(rows.rows + r) = join(d, arm.cross(d));
      }
      rows.rows += 3;
    }
  }
};

// From rest, where Newton's method was given nothing: what is found is one solution of many.
TEST(TreeInterior, FindsOneOfManySolutions) {
  Worst miss("residual [m/s]", 1e-9);
  for (const auto seed : seeds(1, 30)) {
    Random random(seed);
    Plate p(8);
    ASSERT_TRUE(p.mass.factor());
    const Vec6 v = random.vector(6) - 2 * Vec6::Unit(2);
    for (int r = 0; r < p.rows.rows; ++r) p.rows.c[r] = p.rows.wrench.col(r).dot(v);
    ProxOptions o;
    o.tolerance = 1e-9;
    o.max_iterations = 300;
    NewtonWorkspace work;
    SolveReport report;
    report.residual = 1e9;
    report.converged = false;
    Vec Lambda = Vec::Zero(p.rows.rows);
    search_inside(p.rows, Vec::Zero(p.rows.rows), o, p.mass, p.scratch, work, Lambda, report);
    EXPECT_TRUE(report.converged) << "seed " << seed;
    // Asked again, Newton's method has nothing to do.
    const SolveReport again = solve_on_tree(p.rows, Lambda, o, p.mass, p.scratch, work);
    EXPECT_EQ(again.iterations, 0);
    miss.add(again.residual, seed);
  }
}

}  // namespace
}  // namespace saltus
