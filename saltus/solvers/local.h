// The exact solution of one block by itself: with the block's own matrix A = G_ii + C_i and the
// velocity q of its rows at a zero impulse of the block (all others held),
//
//   find x in C:   -(A x + q) in N_C(x).
//
// Separation: x = 0 if q_N >= 0. Stick: x = -A^-1 q if that lies in C. Slip: with D^1/2 the
// diagonal of semi-axes (mu1, mu2; or those of a given load) and x_T = D^1/2 y, the velocity is
// opposed to the normal of the ellipse, so that with the normal row eliminated (Schur complement S,
// r)
//
//   (D^1/2 S D^1/2 + s 1) y = -D^1/2 r,    |y| = x_N(y)  (or 1: given load),    s >= 0,
//
// one scalar equation in s (tests/solvers/solvers_test.cpp derives it; P2 section 3.3 iterates on
// it). With rolling sets the pair (N, T) and the others are solved in turn until the block's
// natural map is at rounding.
#pragma once
#include "saltus/solvers/inclusion.h"

namespace saltus {

// x: start value on entry (used by blocks with rolling sets, and where nothing moves a row).
void solve_block(const ConvexSets& sets, int rows, const Mat6& A, const Vec6& q, Vec6& x);

}  // namespace saltus
