// Inclusion problems in files: read from the formats of the literature, written and read in our
// own.
//
//   .dat    Siconos text, local `d nc W q mu` or global `d nc M H f w mu`; dense, sparse block or
//           sparse matrices; d = 2, 3, or 5 with rolling (then mu, mu_r)
//   .hdf5   FCLIB: /fclib_local, /fclib_global, and either with _rolling
//   .json   ours: any laws, names, warm start, tolerance; exact to the bit
//
// u = W r + q, contact by contact with the normal first, u^ = u + mu |u_T| in the dual cone, r in
// the cone. A global problem M v = H r + f, u = H' v + w is reduced: W = H' M^-1 H, q = w + H' M^-1
// f, with M as the file has it, unsymmetric or not. Bad input throws InputError naming the file and
// the line or dataset.
#pragma once
#include <Eigen/SparseCore>
#include <memory>
#include <string>
#include <vector>

#include "saltus/solvers/delassus.h"
#include "saltus/solvers/inclusion.h"
#include "saltus/solvers/literature.h"
#include "saltus/solvers/solve.h"

namespace saltus {

struct GlobalProblem;  // M, H, f, w and a factor of M

struct ProblemFile {
  std::string path, title, format;  // "siconos", "fclib", "saltus"
  bool global = false, rolling = false;
  int dimension = 0;  // rows of a contact; 0: mixed
  Inclusion problem;
  SparseDelassus large;            // instead of `problem`, where the file has many rows
  std::vector<std::string> names;  // of the blocks
  Vec Lambda;                      // warm start; zero from the literature's files
  double tolerance = 0;            // as the file asks; 0: it does not
  double asymmetry = 0;            // max |G - G'| / max |G|, of M in a global problem
  // How far below zero eigenvalues of G reach, a power of ten times its largest entry, as digits
  // that were lost in printing leave them; 0: rounding alone.
  double indefinite = 0;
  std::shared_ptr<const GlobalProblem> global_parts = {};
  [[nodiscard]] bool is_large() const { return large.rows() > 0; }
  [[nodiscard]] const std::vector<Block>& blocks() const {
    return is_large() ? large.blocks : problem.blocks;
  }
  [[nodiscard]] int rows() const { return is_large() ? large.rows() : problem.rows; }
};

// Problems of more rows than `most_dense` whose matrix has few entries are kept sparse.
[[nodiscard]] ProblemFile read_problem(const std::string& path, int most_dense = 900);

// How impulses meet the problem as the file states it: of a global one, the velocities are those
// that M v = H r + f gives with the file's own M.
struct ProblemVerdict {
  Residual residual;
  LiteratureResidual literature;
};
[[nodiscard]] ProblemVerdict judge(const ProblemFile& file, VecIn Lambda, SolverWorkspace& work);

// The file's problem by a solver (large ones by delassus.h whatever it is). Where an indefinite
// matrix leaves it unsolved, by proximal steps G + s 1 with s beyond its least eigenvalue, down to
// 1e-8 in the residual of the literature, which then is what `converged` means. The report is of
// the matrix of the file.
[[nodiscard]] SolveReport solve_problem(const ProblemFile& file, VecRef Lambda,
                                        const Solver& solver, SolverWorkspace& work);

// Ours. names may be empty; Lambda is the start that the solver was given.
void write_problem(const std::string& path, const Inclusion& problem, VecIn Lambda,
                   const std::vector<std::string>& names, double tolerance,
                   const std::string& title);

}  // namespace saltus
