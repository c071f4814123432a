// Projected over-relaxed Jacobi (JOR) and Gauss-Seidel (SOR) iterations, P2 eq. 16-20.
//
//   Lambda_i <- prox_Ci(Lambda_i - alpha r_i xi_i(Lambda))
//
// JOR uses the old impulses in every xi, SOR the newest. r_i comes from the Delassus matrix: SOR
// from its diagonal, JOR from its absolute row sums (with the diagonal alone JOR diverges as soon
// as contacts couple strongly). SOR's default local step is exact instead (local.h): the block's
// own inclusion is solved with the others held, then relaxed by alpha. Bilateral blocks and
// compliant ones without a bound are either iterated too, or eliminated by a direct factor (P0 eq.
// 62, P2 eq. 20), which leaves the condensed problem in the other blocks.
//
// The automatic alpha starts at `alpha`, is halved (and the best impulses restored) when the
// natural map of a window of sweeps grows, and recovers by a tenth a window while it falls.
#pragma once
#include <array>
#include <string_view>

#include "saltus/solvers/inclusion.h"

namespace saltus {

struct ProxOptions {
  double alpha = 1.0;        // relaxation, in (0, 2)
  double tolerance = 1e-10;  // on the residual of inclusion.h [m/s]
  int max_iterations = 10000;
  enum class On { delassus, velocity } on = On::delassus;
  enum class Bilaterals { direct, prox } bilaterals = Bilaterals::direct;
  enum class Local { exact, prox } local = Local::prox;  // of SOR; JOR is always by prox
  // 1/r of Jacobi: absolute row sums of G, or as P2 its diagonal (which Gauss-Seidel always takes).
  enum class Steps { row_sums, diagonal } steps = Steps::row_sums;
  bool auto_alpha = false;
  bool least_norm = false;  // of indeterminate impulses the smallest (Newton and auto only)
  bool history = false;     // the residual of every iteration into SolverWorkspace::history
};
struct ProxJacobi : ProxOptions {
  static constexpr std::string_view name = "jor";
};
struct ProxGaussSeidel : ProxOptions {
  static constexpr std::string_view name = "sor";
};

// Why a solver ended without a solution.
enum class GaveUp : unsigned char {
  no,             // it has one
  not_all_stick,  // the guess that all do is wrong
  too_slow,       // the rate of its sweeps predicts more of them than it may take
  stood_still,    // none of its starts and steps brought it any further
  most,           // all iterations that it may take are taken
};
inline constexpr std::array gave_up_names{"no", "not all stick", "too slow", "stood still",
                                          "most iterations"};

struct SolveReport {
  int iterations = 0;    // sweeps and Newton iterations together
  double residual = 0;   // [m/s]
  int worst_block = -1;  // of the problem
  bool converged = true;
  std::string_view solver;            // the one that finished: sor, jor, newton
  double normal = 0, tangential = 0;  // parts of the residual [m/s]
  double rotational = 0;              // [rad/s]
  int sweeps = 0, newton = 0;         // how many of either
  int indeterminate = -1;             // dimension of the impulses that move nothing; -1: not asked
  GaveUp gave_up = GaveUp::no;        // the one that finished
  std::string_view before;            // the one that gave up before it, if there was one, and why
  GaveUp before_gave_up = GaveUp::no;
  int redundant = 0;  // direct rows that others imply: how their load is shared is indeterminate
};

// Lambda holds the start value (warm start) and receives the solution.
[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda, const ProxJacobi& options,
                                SolverWorkspace& work);
[[nodiscard]] SolveReport solve(const Inclusion& problem, VecRef Lambda,
                                const ProxGaussSeidel& options, SolverWorkspace& work);

// As SOR, but gives up as soon as the rate of the last sweeps predicts more than `sweeps` of them.
[[nodiscard]] SolveReport solve_bounded(const Inclusion& problem, VecRef Lambda,
                                        const ProxOptions& options, int sweeps,
                                        SolverWorkspace& work);

[[nodiscard]] inline std::string_view text_of(GaveUp why) {
  return gave_up_names[static_cast<std::size_t>(why)];
}
// Of a search that takes at most so many iterations.
[[nodiscard]] inline GaveUp end_of_search(bool converged, int iterations, int most) {
  if (converged) return GaveUp::no;
  return iterations >= most ? GaveUp::most : GaveUp::stood_still;
}

// Writes a residual and its parts into the report.
void note(const Residual& residual, double tolerance, SolveReport& report);

}  // namespace saltus
