// Islands: trees that blocks couple, directly or through others. Each is a problem of its own, and
// is handed to the solvers in the form that suits it:
//
//   dense    up to a few hundred velocities: G = W' Y, W and Y = M^-1 W as plain matrices; every
//            solver
//   tree     one long tree, blocks that act on one body or one velocity each: Newton by articulated
//            sweeps, O(n)
//   sparse   many trees: Gauss-Seidel on velocities, a sweep costs what touches; factors by blocks
#pragma once
#include <array>
#include <vector>

#include "saltus/contact/assembly.h"
#include "saltus/solvers/solve.h"
#include "saltus/solvers/sparse.h"
#include "saltus/solvers/tree_backend.h"

namespace saltus {

struct Island {
  std::vector<int> blocks;  // of the assembly, ascending
  std::vector<int> trees;   // of the model, ascending
  int rows = 0;
  int velocities = 0;
};

class Islands {
 public:
  explicit Islands(const Model& model);
  // Groups the blocks of an assembly; islands without blocks are left out.
  void partition(const Model& model, const Assembly& assembly);
  void clear() { count_ = 0; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const Island& operator[](int i) const { return islands_[i]; }

 private:
  int root(int tree);
  std::vector<int> above_;      // union-find over trees
  std::vector<int> island_of_;  // of each root
  std::vector<Island> islands_;
  int count_ = 0;
};

enum class Route { dense, tree, sparse };

// Islands of more velocities than this are not made dense, where another route serves them.
inline constexpr int dense_limit = 240;
// One tree is swept rather than made dense from this many velocities on (measured:
// docs/solvers.md).
inline constexpr int tree_limit = 24;

// Islands of at most this many rows that the tree or the sparse route did not solve are tried again
// with dense matrices.
inline constexpr int fallback_rows = 900;

// Which route an island takes. Only `auto` and `newton` know the tree; JOR and explicit choices of
// an iteration are dense.
[[nodiscard]] Route route_of(const Model& model, const Assembly& assembly, const Island& island,
                             const Solver& solver);

// The part of a block's columns that lies in one tree.
struct Span {
  int tree = -1, at = 0, size = 0;  // local velocities
};

// An island's problem on its own, in one of the forms, and what solves it. Sized by its island;
// allocates when an island of another size takes its place.
struct IslandProblem {
  Route route = Route::dense;
  Inclusion problem;  // dense
  SolverWorkspace work;
  TreeRows tree;
  TreeScratch tree_work;
  SparseRows sparse;
  SparseScratch sparse_work;

  int rows = 0;
  Vec Lambda, restitution, gamma_S, drift;  // rows
  std::vector<char> is_contact;             // per block
  // Per block: mu_d / mu_s, e_n, and P1's mu_f where it was computed.
  std::vector<double> dynamic, rebound, feasible;
  bool at_impact = false;                  // the rows of an impact, not of a step with its forces
  std::vector<int> trees;                  // of the island
  std::vector<int> offset;                 // first local velocity of each
  std::vector<std::array<Span, 2>> spans;  // per block
  Vec scratch, xi;
  Vec impact_Lambda, impact_gamma, newton_gamma;  // of impact laws

  [[nodiscard]] const std::vector<Block>& blocks() const;
  void reserve(int row_count);
};

// Fills the problem. Needs a factored forest; v_free is the model's.
void form_island(const Model& model, const Assembly& assembly, const Island& island,
                 const Solver& solver, VecIn v_free, Forest& mass, IslandProblem& out);
// The part of a dense problem that does not depend on where its columns come from: blocks, offsets,
// free velocity, start rates. The caller fills G and c, and W and Y if they are asked for.
void open_dense(const Model& model, const Assembly& assembly, const Island& island, VecIn v_free,
                IslandProblem& out);
// Another free velocity for the same rows.
void renew_free(const Model& model, const Assembly& assembly, const Island& island, VecIn v_free,
                Forest& mass, IslandProblem& out);
// The part of it that does not depend on where the columns come from; the caller fills c.
void renew_dense(const Model& model, const Assembly& assembly, const Island& island, VecIn v_free,
                 IslandProblem& out);
// v += M^-1 W Lambda of the bilateral blocks alone; dense, after factor_bilaterals.
void add_joint_impulses(const Model& model, const Island& island, IslandProblem& problem, VecRef v);
// Adds to the offsets of the rows.
void add_offset(VecIn offset, IslandProblem& island);
// Solves for island.Lambda.
[[nodiscard]] SolveReport solve_island(const Solver& solver, Forest& mass, IslandProblem& island);
// gamma_E of the rows at island.Lambda: without offsets and compliance.
void end_rates(Forest& mass, IslandProblem& island, VecRef gamma);
// Impulses back to the assembly.
void store_impulses(const Island& island, const IslandProblem& from, Assembly& assembly);

}  // namespace saltus
