// Projected over-relaxed Jacobi (JOR) and Gauss-Seidel (SOR) iterations, P2 eq. 16-20.
//
//   Lambda_i <- prox_Ci(Lambda_i - alpha r_i xi_i(Lambda))
//
// JOR uses the old impulses in every xi, SOR the newest. r_i comes from the Delassus matrix: SOR
// from its diagonal, JOR from its absolute row sums (with the diagonal alone JOR diverges as soon
// as contacts couple strongly). Bilateral blocks and compliant ones without a bound are either
// iterated too, or eliminated by a direct factor (P0 eq. 62, P2 eq. 20), which leaves the
// condensed problem in the other blocks.
#pragma once
#include <string_view>
#include <variant>

#include "saltus/solvers/inclusion.h"

namespace saltus {

struct ProxOptions {
  double alpha = 1.0;        // relaxation, in (0, 2)
  double tolerance = 1e-10;  // on the residual of inclusion.h [m/s]
  int max_iterations = 10000;
  enum class On { delassus, velocity } on = On::delassus;
  enum class Bilaterals { direct, prox } bilaterals = Bilaterals::direct;
};
struct ProxJacobi : ProxOptions {
  static constexpr std::string_view name = "jor";
};
struct ProxGaussSeidel : ProxOptions {
  static constexpr std::string_view name = "sor";
};
using Solver = std::variant<ProxGaussSeidel, ProxJacobi>;

struct SolveReport {
  int iterations = 0;
  double residual = 0;   // [m/s]
  int worst_block = -1;  // of the problem
  bool converged = true;
  int redundant = 0;  // direct rows that others imply: how their load is shared is indeterminate
};

// Lambda holds the start value (warm start) and receives the solution.
[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda, const ProxJacobi& options,
                                SolverWorkspace& work);
[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda,
                                const ProxGaussSeidel& options, SolverWorkspace& work);
[[nodiscard]] SolveReport solve_inclusion(const Inclusion& problem, VecRef Lambda,
                                          const Solver& solver, SolverWorkspace& work);

[[nodiscard]] const ProxOptions& options_of(const Solver& solver);
[[nodiscard]] std::string_view name_of(const Solver& solver);

}  // namespace saltus
