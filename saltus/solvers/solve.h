// The choice of a solver, and the automatic one.
//
// AutoSolver: a chain, each link starting from the best impulses so far:
//   0. where nothing slipped, the guess that all sticks (stick.h): one linear system;
//      then a warm start that meets the tolerance, which stays as it is;
//   1. Gauss-Seidel with exact local steps from the warm start, at most `sweeps` of them, given up
//      as soon as their rate predicts more;
//   2. Newton, from there and from the warm start, a tenth of `newton_iterations` each;
//   3. where rows contradict each other, the end;
//   4. the interior-point method on several paths, and Newton from where each ends;
//   5. a few rounds of relaxed sweeps (plain prox, automatic alpha), twice as many each time, and
//      Newton from where they end;
//   6. exact sweeps from zero, and relaxed ones from the best so far, at most 1000 each;
//   7. the best so far, reported as not converged.
// With `rounds` 0 it ends after the first search of 2, which has all of `newton_iterations`.
#pragma once
#include <variant>

#include "saltus/solvers/newton.h"
#include "saltus/solvers/prox.h"

namespace saltus {

struct AutoSolver : ProxOptions {
  static constexpr std::string_view name = "auto";
  AutoSolver() { local = Local::exact; }
  int sweeps = 50;
  int newton_iterations = 300;
  int rounds = 5;
};

using Solver = std::variant<ProxGaussSeidel, ProxJacobi, Newton, AutoSolver>;

[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda, const AutoSolver& options,
                                SolverWorkspace& work);
// Lambda holds the start value (warm start) and receives the solution.
[[nodiscard]] SolveReport solve_inclusion(const Inclusion& problem, VecRef Lambda,
                                          const Solver& solver, SolverWorkspace& work);

[[nodiscard]] const ProxOptions& options_of(const Solver& solver);
[[nodiscard]] std::string_view name_of(const Solver& solver);

}  // namespace saltus
