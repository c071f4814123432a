// The inclusion problem of one step as plain data, and the one residual that judges every solver.
//
//   xi_i = sum_j G_ij Lambda_j + c_i + C_i Lambda_i,    -xi_i in N_Ci(Lambda_i)     (P2 eq. 12)
//
// G = W' M^-1 W is the Delassus matrix, c the velocity of the rows without impulses (with
// restitution and offsets), C_i >= 0 a compliance (implicit springs, motors). Two forms:
//   Delassus   G and c are given;
//   velocity   W, Y = M^-1 W and the free velocity are given, and xi = W' v + b + C Lambda with
//              v = v_free + Y Lambda: G is never formed (P2 eq. 17-19).
// Nothing here knows a body; a file of friction problems from elsewhere can be fed as it is.
#pragma once
#include <vector>

#include "saltus/base/types.h"
#include "saltus/laws/laws.h"
#include "saltus/solvers/newton_workspace.h"

namespace saltus {

struct Block {
  Law law;
  int row = 0;            // first row
  int rows = 0;           // rows_of(law)
  double compliance = 0;  // [1/kg] (rotational: 1/(kg m^2)); adds to the diagonal of G
  double length = 1;      // turns angular rows' rad/s into m/s for the residual [m]; else 1
};

struct Inclusion {
  int rows = 0;
  std::vector<Block> blocks;
  Vec c;  // rows
  Mat G;  // rows x rows; unused in velocity form
  // Velocity form.
  Mat W, Y;    // nv x rows
  Vec v_free;  // nv
  Vec b;       // rows: xi = W' v + b + C Lambda;  c = W' v_free + b
  bool has_G = false;
  // The mass matrix, where whoever fills the problem has it: Newton then works in nv velocities
  // by M + W K W', which is cheaper than its rows when contacts are redundant.
  Mat M;  // nv x nv, symmetric positive definite
  bool has_M = false;

  // Sizes for at most `max_rows` rows and `nv` velocities; later use does not allocate.
  void reserve(int max_rows, int max_blocks, int nv);
  void clear();
  // Appends a block; the caller fills W, c (or b) of its rows.
  int add(const Law& law, double compliance, double length);
};

// A Cholesky factor of rows of G + C, and the matrix that it is of: asked for again with the same
// entries it is there already, and nobody has to say when it is not.
struct RowFactor {
  // Lower triangles, rows padded to fours; L has 1 / diagonal on its diagonal. One column more than
  // rows: in A the compliances, in L what the substitutions work on.
  Mat A, L;
  double rank = -1;       // below this share of its diagonal a pivot is none
  int size = -1;          // of A
  std::vector<int> kept;  // rows of A that do not depend on those before them
};

// Scratch of the residual and of the solvers; sized once.
struct SolverWorkspace {
  Vec xi, v;           // relative velocities (rows), velocities (nv)   <- relative_velocity
  Mat factor;          // L D L' of the direct rows, G_BB + C             <- condense
  Mat G_BU, coupling;  // and (G_BB + C)^-1 G_BU                          <- condense
  Mat G;               // condensed Delassus matrix of the iterated rows  <- condense
  Mat W, Y;            // iterated columns of the velocity form           <- condense
  Vec c, b, v_free;    // condensed c, offsets, free velocity             <- condense
  Vec direct;          // impulses of the direct rows
  int redundant = 0;   // direct rows that depend on others; their impulse is zero  <- condense
  // A direct row depends on those before it if its pivot is below this share of its diagonal
  // entry: the squared sine of its angle to them. Rounding of G is about 1e-15.
  double rank_tolerance = 1e-12;
  Vec Lambda, next;                             // impulses of the iterated rows, and JOR's new ones
  std::vector<int> direct_rows, iterated_rows;  // rows of the problem          <- condense
  std::vector<Block> blocks;                    // iterated blocks, renumbered  <- condense
  std::vector<StepLengths> steps;               // r of each
  std::vector<ConvexSets> sets;                 // and its convex sets
  std::vector<Mat6> diagonal_blocks;            // and its own matrix, G_ii + C
  Vec best, previous;           // impulses of the iterated rows: best so far, before a sweep
  std::vector<double> history;  // residual of every iteration, on request
  NewtonWorkspace newton;       // of newton.h; grows at its first use
  Vec start, candidate;         // of the whole problem            <- solve_inclusion
  Vec compliance;               // of each row                     <- solve_sticking
  RowFactor stick;              // of direct_rows                  <- stick.cpp
  void reserve(int max_rows, int max_blocks, int nv);
};

// Entry of the Delassus matrix, in either form.
[[nodiscard]] inline double delassus(const Inclusion& p, int i, int j) {
  return p.has_G ? p.G(i, j) : p.W.col(i).dot(p.Y.col(j));
}

// Relative velocities xi of the problem at Lambda (Delassus or velocity form).
void relative_velocity(const Inclusion& problem, VecIn Lambda, Vec& xi, Vec& v);

// The natural map of the laws, scaled: max over convex sets of |Lambda - prox(Lambda - r xi)| / r,
// with r = 1 / (largest diagonal entry of the set). Units m/s: the velocity by which a set misses
// its law. Zero if and only if solved. The parts say by which kind of set: angular rows enter the
// value times their block's length.
struct Residual {
  double value = 0;       // [m/s]
  int block = -1;         // where it is attained
  double normal = 0;      // worst of normal and bilateral sets [m/s]
  double tangential = 0;  // worst of friction sets and intervals [m/s]
  double rotational = 0;  // worst of angular sets [rad/s]
};
[[nodiscard]] Residual residual(const Inclusion& problem, VecIn Lambda, SolverWorkspace& work);

// How a block stands at a solution. Closed: it carries load and has no friction that could stick.
enum class Mode : unsigned char { open = 0, stick = 1, slip = 2, closed = 3 };
[[nodiscard]] Mode mode_of(const Block& block, VecIn Lambda);

// The parts of a block's natural map with one r per convex set. Shared by residual and solvers.
struct BlockResidual {
  double value = 0;                                   // [m/s]
  double normal = 0, tangential = 0, rotational = 0;  // [m/s], [m/s], [rad/s]
};
[[nodiscard]] BlockResidual block_residual(const Block& block, VecIn Lambda, VecIn xi,
                                           const StepLengths& r);
// The same where sets_of(block.law) is known.
[[nodiscard]] BlockResidual block_residual(const Block& block, const ConvexSets& sets, VecIn Lambda,
                                           VecIn xi, const StepLengths& r);

// Counts block `index` in the worst of all; false when it is not a number, which ends the search.
bool take_worst(const BlockResidual& of_block, int index, Residual& worst);

// r = 1 / largest diagonal entry of each convex set of the block (P2: one r per set).
[[nodiscard]] StepLengths diagonal_steps(const Inclusion& problem, const Block& block);

}  // namespace saltus
