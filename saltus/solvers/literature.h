// The residual of the literature on friction problems (Acary, Bremond, Huber 2018; Siconos'
// fc3d_compute_error): with u = G r + c and K the second-order cone of a contact,
//
//   e_c = r_c - P_K(r_c - u_c - (mu |u_T|, 0, 0)),   absolute = |e|,
//   relative = absolute / max(|c|, |r|, |u|).
//
// It mixes impulses and velocities, so it is no judge here (inclusion.h has that); it is printed to
// compare. Blocks other than isotropic contacts enter by their own prox with r = 1.
#pragma once
#include "saltus/solvers/inclusion.h"

namespace saltus {

struct LiteratureResidual {
  double absolute = 0, relative = 0;
};
[[nodiscard]] LiteratureResidual literature_residual(const Inclusion& problem, VecIn Lambda,
                                                     SolverWorkspace& work);
// The same where the rows' velocity is known.
[[nodiscard]] LiteratureResidual literature_residual(const std::vector<Block>& blocks, VecIn c,
                                                     VecIn Lambda, VecIn xi);

}  // namespace saltus
