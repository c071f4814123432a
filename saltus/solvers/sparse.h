// Gauss-Seidel on velocities for many small trees: a block reads and moves one or two segments of
// the velocity, so that a sweep costs what touches (P2 eq. 17-19 with sparse columns). Exact local
// steps; G is never formed.
#pragma once
#include <array>
#include <vector>

#include "saltus/solvers/prox.h"

namespace saltus {

struct SparseRows {
  struct Segment {
    int v = 0, size = 0;      // velocities
    std::ptrdiff_t data = 0;  // size x rows values in W and Y, column by column
  };
  std::vector<Block> blocks;                     // rows from 0
  std::vector<std::array<Segment, 2>> segments;  // per block; the second may be empty
  std::vector<double> W, Y;                      // Y = M^-1 W
  Vec v_free, b;                                 // xi = W' v + b + C Lambda
  int rows = 0, velocities = 0;
  void clear();
};

struct SparseScratch {
  Vec v, kept;
  std::vector<Mat6> A;  // G_ii + C of every block
  std::vector<ConvexSets> sets;
  std::vector<StepLengths> steps;
  std::vector<Mat3> inverse;              // of A, where the law is Coulomb's
  std::vector<std::array<double, 2>> mu;  // its coefficients; -1: another law, or A is singular
};

// xi = W' v + b for v = v_free + Y Lambda, without compliance.
void sparse_velocity(const SparseRows& rows, VecIn Lambda, SparseScratch& scratch, VecRef xi);

// Lambda is the warm start and receives the solution.
[[nodiscard]] SolveReport solve_sparse(const SparseRows& rows, VecRef Lambda,
                                       const ProxOptions& options, SparseScratch& scratch);

}  // namespace saltus
