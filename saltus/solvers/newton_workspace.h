// Scratch of Newton's method and of its dense backends; grows at first use, then stays.
#pragma once
#include <vector>

#include "saltus/base/types.h"
#include "saltus/laws/laws.h"

namespace saltus {

// One 6 x 6 matrix a block, of which the leading rows x rows count.
using BlockMatrices = std::vector<Mat6>;

// A dense factor that is computed in place and used again while its matrix stays the same.
struct DenseFactor {
  Mat A;                    // the matrix, then its factor; larger than needed
  std::vector<int> pivots;  // row exchanges of LU
  BlockMatrices K;          // what A was made of
  std::vector<int> rows;    // dual: the rows with K != 0
  Vec rhs;                  // and right-hand side
  bool valid = false, symmetric = false;
  int factorisations = 0;
};

struct NewtonWorkspace {
  std::vector<ConvexSets> sets;           // of each block
  std::vector<StepLengths> steps;         // r of each set, in rows scaled by `scale`
  std::vector<StepLengths> judge;         // r of each set as the residual has them
  double stretch = 1;                     // times the steps of the natural map
  Vec diagonal;                           // of G
  Vec scale;                              // S: semi-axis of a row's set, 1 where it has none
  Vec compliance;                         // of each row, with the least-norm weight
  BlockMatrices K;                        // dLambda = g - K dxi
  Vec g, dLambda, dxi, xi, F;             // rows
  Vec trial, trial_xi, trial_F;           // rows
  Vec centre, shift, hat;                 // of the proximal iteration: Lambda_k, s, projection
  Vec best, kept;                         // impulses to go back to
  Vec v, dv;                              // primal backend
  std::vector<std::vector<int>> support;  // primal backend: velocities that a block moves
  DenseFactor factor;
};

}  // namespace saltus
