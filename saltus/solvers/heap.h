// Newton's linear step on many trees that contacts couple, by a sparse factor in velocities:
//   (1 + Y K W') dv = Y g,   dxi = W' dv,   dLambda = g - K dxi                   (backend.h)
// A block couples the velocities of one or two trees, so the matrix has the pattern of what touches
// (block_lu.h). It is scaled by D = sqrt(|W| / |Y|), about the root of the mass of each velocity:
// D (1 + Y K W') D^-1 is definite where K is, and hardly asks for other pivots than its diagonal.
#pragma once
#include <span>
#include <vector>

#include "saltus/solvers/backend.h"
#include "saltus/solvers/block_lu.h"
#include "saltus/solvers/interior_point.h"
#include "saltus/solvers/sparse.h"

namespace saltus {

struct HeapScratch {
  BlockLU lu;
  std::vector<int> node_at;               // node of a tree's first velocity
  std::vector<int> size;                  // of nodes
  std::vector<std::array<int, 2>> node;   // of each block's segments; -1: none
  std::vector<std::array<int, 2>> pairs;  // of nodes
  std::vector<int> pair_of;               // of each block; -1: one tree
  std::vector<double> W, Y;               // scaled
  Vec D, v, dv;                           // velocities
  BlockMatrices K;                        // what the factor was made of
  bool valid = false;
  int factors = 0;
  NewtonWorkspace newton;
  InteriorScratch interior;
};

class HeapBackend {
 public:
  HeapBackend(const SparseRows& rows, HeapScratch& scratch);
  void velocity(VecIn Lambda, VecRef xi);
  void linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi);
  void diagonal(VecRef d) const;

 private:
  void factor(const BlockMatrices& K);
  void add(const SparseRows::Segment& at, const SparseRows::Segment& of, const Mat6& K, int rows,
           double* to);
  void move(std::size_t block, const double* d, double* v, const std::vector<double>& Y) const;
  void read(std::size_t block, const double* v, double* xi, const std::vector<double>& W) const;
  const SparseRows& p_;
  HeapScratch& w_;
};

static_assert(NewtonBackend<HeapBackend>);

// What sweeps do not do: attempts by factors, each with other means than the one before.
class HeapNewton {
 public:
  HeapNewton(const SparseRows& rows, const ProxOptions& options, HeapScratch& scratch);
  [[nodiscard]] bool any_left() const { return next_ < attempts; }
  // What the next attempt costs at most, in sweeps: counted, not measured, or runs would differ.
  [[nodiscard]] double cost() const;
  // From Lambda; the residual of what it leaves there.
  Residual attempt(VecRef Lambda, SolveReport& report);

 private:
  static constexpr int attempts = 4;
  const SparseRows& p_;
  const ProxOptions& o_;
  HeapScratch& w_;
  HeapBackend backend_;
  int next_ = 0;
};

}  // namespace saltus
