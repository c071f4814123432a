// Which lambda_stat (P4 eq. 27, 28 and its remark on feasibility). Rows that are redundant leave
// forces open, lambda = lambda_kin + N c and tau = tau_kin + T c, and c moves nothing: so it may be
// chosen. Asked for is the c of the least torques, sum tau^2, among those with
//
//   f_N >= press,   |f_T| <= mu f_N      of every point that only pushes,
//   |tau_j| <= limit_j                   of every drive,
//
// a cone program of a few variables. It is solved by a logarithmic barrier and Newton's method; a
// first stage looks for the c with the most room.
#pragma once
#include <string>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// Forces that a point can take, linear in those of the rows:
//   f_N = normal . lambda + given,   f_T = tangent lambda,   |f_T| <= mu f_N.
struct ForceCone {
  std::string name;
  Vec normal;
  Mat tangent;  // 2 x m or 1 x m
  double mu = 1;
  double given = 0;  // a load that the rows do not know: mu of it is an axle's grip [N]
};
// What of lambda is too much for a cone: 0 within it, else how much f_N lacks [N].
[[nodiscard]] double missing_force(const ForceCone& cone, VecIn lambda, double press = 0);

// lambda = lambda + stat c, tau = tau + tau_stat c.
struct OpenForces {
  Vec lambda;    // of the rows
  Mat stat;      // m x k
  Vec tau;       // of the drives
  Mat tau_stat;  // p x k
};
struct StressOptions {
  double press = 0;        // least normal force of every cone [N]
  Vec limit;               // of the torques; empty: none
  double accuracy = 1e-9;  // of the objective, in shares of what it is for the largest force here
};
struct Stress {
  bool feasible = false;
  Vec c, lambda, tau;
  double room = 0;  // f_N that every cone has to spare at best, negative: that the worst lacks [N];
                    // as far as the torques' limits are asked for, theirs, in shares
  int iterations = 0;  // of Newton's method
};
// Throws InputError where the sizes do not fit or a friction coefficient is not positive.
[[nodiscard]] Stress choose_stress(const OpenForces& open, const std::vector<ForceCone>& cones,
                                   const StressOptions& options = {});

}  // namespace saltus
