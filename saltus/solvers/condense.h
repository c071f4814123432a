// Elimination of bilateral blocks by a direct factor (P0 eq. 62, P2 eq. 20).
//
// With B the direct rows and U the iterated ones, and A = G_BB + C:
//   Lambda_B = -A^-1 (c_B + G_BU Lambda_U)
//   G' = G_UU - G_UB A^-1 G_BU,   c' = c_U - G_UB A^-1 c_B
// and in velocity form Y' = Y_U - Y_B A^-1 G_BU, v_free' = v_free - Y_B A^-1 c_B.
#pragma once
#include "saltus/solvers/inclusion.h"

namespace saltus {

// L D L' in place of the leading n x n block (lower triangle). A pivot below `epsilon` times its
// own diagonal entry marks a dependent row: its impulse is fixed at zero. Returns how many.
int factor_ldl(Mat& A, int n, double epsilon);
void solve_ldl(const Mat& A, int n, VecRef x);

// Splits the problem and fills work.G/c or work.W/Y/v_free/b. `direct` selects whether bilateral
// blocks are eliminated; otherwise every row is iterated.
void condense(const Inclusion& problem, bool direct, SolverWorkspace& work);
// The bilateral blocks alone, all others left out: factors them once, then adds to a velocity what
// their impulses give, v += Y_B Lambda_B with Lambda_B = -A^-1 (W_B' v + b_B).
void factor_bilaterals(const Inclusion& problem, SolverWorkspace& work);
void add_bilateral_impulses(const Inclusion& problem, SolverWorkspace& work, VecRef v);
// Of the first n direct rows, the redundant ones get the values in x that the others imply; needs
// factor_bilaterals. Rounding and drift leave values that no velocity can have.
void imply_redundant(const Inclusion& problem, SolverWorkspace& work, int n, VecRef x);
// Impulses of the direct rows for given iterated ones, written into the full vector.
void expand(VecRef Lambda, const SolverWorkspace& work);

}  // namespace saltus
