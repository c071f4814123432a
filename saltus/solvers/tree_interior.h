// Where Newton's method on a tree stands still.
#pragma once
#include "saltus/solvers/tree_backend.h"

namespace saltus {

// The interior-point method over the tree, and Newton from where it ends: from `start`, then from
// zero; and Newton from the best so far, all the iterations of the options. Lambda and the report,
// those of the best so far, are renewed by what is better.
void search_inside(const TreeRows& rows, const Vec& start, const ProxOptions& options, Forest& mass,
                   TreeScratch& scratch, NewtonWorkspace& newton, VecRef Lambda,
                   SolveReport& report);

}  // namespace saltus
