// Rows that all give way.
#pragma once
#include "saltus/solvers/inclusion.h"

namespace saltus {

// (G + C) Lambda = -c with C > 0 in every row and no sets, in velocities: what is cheap where rows
// are many more than those. Needs W and Y.
void solve_soft(const Inclusion& problem, VecRef Lambda, NewtonWorkspace& work);

}  // namespace saltus
