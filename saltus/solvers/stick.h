// The guess that nothing slips or parts: one linear system, and its solution is one of the laws if
// it lies in their sets.
//
// Rows of intervals (dry friction of joints, motors with a limit) whose warm start is at a bound
// are taken to stay there; one that its bound drives back comes loose, one that would need more
// goes to its bound, a few times. A row that depends on others (the fourth leg of a table) keeps
// the impulse that it had; where nothing was loaded, about its share of the least norm.
#pragma once
#include "saltus/solvers/prox.h"

namespace saltus {

// Larger problems are not tried: a factor costs the cube of the rows.
inline constexpr int most_sticking_rows = 64;
// The share of its diagonal below which a pivot is none.
inline constexpr double dependent_row = 1e-10;

// Whether the warm start speaks for it; cheap.
[[nodiscard]] bool may_stick(const Inclusion& problem, VecIn Lambda);
// As other solvers, but where it does not converge Lambda is left as it was. Needs G.
[[nodiscard]] SolveReport solve_sticking(const Inclusion& problem, VecRef Lambda, double tolerance,
                                         SolverWorkspace& work);
// Bilateral rows alone: (G + C) Lambda = -c; dependent rows (a pivot below `rank` of the diagonal)
// keep what they had. False where the matrix is no number. Needs G.
[[nodiscard]] bool solve_bilateral(const Inclusion& problem, double rank, VecRef Lambda,
                                   SolverWorkspace& work);
// The rows in work.direct_rows alone, for another c: (G + C) x = -c there, 0 elsewhere; rows that
// depend on others are taken out of direct_rows. False where the matrix is no number.
[[nodiscard]] bool solve_rows(const Inclusion& problem, VecIn c, double rank, VecRef x,
                              SolverWorkspace& work);

}  // namespace saltus
