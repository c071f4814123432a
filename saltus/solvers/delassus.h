// Large problems whose Delassus matrix is given as sparse: friction problems from files, where no
// mechanism is known. Blocks are few rows each, and a block meets few others.
//
//   1. Gauss-Seidel with exact local steps, accelerated as nonlinear conjugate gradients are
//      (sparse.h has the rule), from the warm start;
//   2. Newton on the natural map (newton.h): (1 + K G) dLambda = g over the rows that act, by a
//      sparse LU factor;
//   3. sweeps again, up to max_iterations, with P2's local steps where exact ones go round in
//      circles.
// Allocates; not for steps.
#pragma once
#include <Eigen/SparseCore>
#include <vector>

#include "saltus/solvers/prox.h"

namespace saltus {

struct SparseDelassus {
  std::vector<Block> blocks;  // rows from 0
  Eigen::SparseMatrix<double, Eigen::RowMajor> G;
  Vec c;
  [[nodiscard]] int rows() const { return static_cast<int>(c.size()); }
};

// xi = G Lambda + c + C Lambda
[[nodiscard]] Vec relative_velocity(const SparseDelassus& problem, VecIn Lambda);
// The residual of inclusion.h where the rows' velocity is known, and where it follows from Lambda.
[[nodiscard]] Residual residual(const SparseDelassus& problem, VecIn Lambda, VecIn xi);
[[nodiscard]] Residual residual(const SparseDelassus& problem, VecIn Lambda);

// Lambda is the warm start and receives the solution, or the best impulses met.
[[nodiscard]] SolveReport solve(const SparseDelassus& problem, VecRef Lambda,
                                const ProxOptions& options);

}  // namespace saltus
