// Newton's linear step on a forest in O(n): rows that act on one node each (contacts with the
// world, supports) or on one unknown (motors, limits, joint friction) only add to the node's
// matrix or to the diagonal, so that
//   (M + W K W') dv = W g,   dxi = W' dv,   dLambda = g - K dxi
// is one articulated sweep (DESIGN section 5).
#pragma once
#include <span>

#include "saltus/solvers/backend.h"
#include "saltus/solvers/forest.h"
#include "saltus/solvers/prox.h"

namespace saltus {

// What a block acts on.
struct TreeRow {
  int node = -1;     // by the columns of `wrench` at its rows, or
  int unknown = -1;  // by `sign`
  double sign = 1;
};

struct TreeRows {
  std::vector<Block> blocks;  // rows from 0
  std::vector<TreeRow> at;    // per block
  Mat6X wrench;               // 6 x rows, inertial axes at the node's origin
  Vec c;                      // rows: xi without impulses
  Vec b;                      // the part of c that is no velocity
  int rows = 0;
  int tree = -1;  // of the forest; -1: all of it
};

struct TreeScratch {
  Forest::Extra extra;
  std::vector<Vec6> twist;  // of the free velocities
  Vec b, x;
  BlockMatrices K;  // what the factor was made of
  bool valid = false;
  void resize(const Forest& forest);
};

class TreeBackend {
 public:
  // `mass` has factor() of M.
  TreeBackend(const TreeRows& rows, Forest& mass, TreeScratch& scratch);
  void velocity(VecIn Lambda, VecRef xi);
  void linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi);
  void diagonal(VecRef d);

 private:
  // H^-1 W impulses, read by W'; H is M, or M with the factor's extra.
  void solve(VecIn impulses, VecRef xi, bool with_extra);
  void factor(const BlockMatrices& K);
  const TreeRows& r_;
  bool on_unknowns_ = false;  // some row acts on an unknown
  Forest& mass_;
  TreeScratch& w_;
};

static_assert(NewtonBackend<TreeBackend>);

// Newton on the forest; Lambda is the warm start and receives the solution.
[[nodiscard]] SolveReport solve_on_tree(const TreeRows& rows, VecRef Lambda,
                                        const ProxOptions& options, Forest& mass,
                                        TreeScratch& scratch, NewtonWorkspace& newton);

}  // namespace saltus
