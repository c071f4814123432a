// Gauss-Seidel on velocities for many small trees: a block reads and moves one or two segments of
// the velocity, so that a sweep costs what touches (P2 eq. 17-19 with sparse columns). Exact local
// steps; G is never formed.
//
// Sweeps are accelerated as nonlinear conjugate gradients accelerate steepest descent (Silcowitz,
// Niebe, Erleben 2010): g = Lambda - sweep(Lambda) plays the gradient,
//   beta = min(1, |g|^2 / |g_last|^2),   Lambda <- sweep(Lambda) + beta p,   p <- beta p - g,
// in the norm of the diagonal of G. The direction is forgotten where g has turned against it or has
// grown by more than a fifth; where it only creeps up, as on the long way along a direction that
// hardly costs energy, it is kept (theirs is not, which takes three times the sweeps there).
// Where sweeps have cost as much as a sparse factor would, Newton is tried (heap.h).
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

// A contact of free bodies whose own matrix is diagonal (spheres, and all single rows), all it
// needs in one piece: such blocks are most of a heap, and their sweep is bound by memory.
struct PairBlock {
  enum class Kind : unsigned char { bilateral, unilateral, coulomb } kind = Kind::bilateral;
  std::array<double, 36> W{}, Y{};     // 6 x rows a body
  std::array<double, 3> b{};           // offset
  std::array<double, 3> own{}, per{};  // diagonal of its G + C, and one over it
  double mu = 0, compliance = 0, length = 1;
  std::array<int, 2> v{};  // first velocity of each body
  int bodies = 0, row = 0, rows = 0;
};

struct SparseScratch {
  Vec v, best;
  Vec before, v_before, direction, v_direction, weight;  // of the acceleration
  std::vector<PairBlock> pairs;
  std::vector<int> pair_of;  // of each block; -1: the general path
  std::vector<Mat6> A;       // G_ii + C of every block
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
