// Set-valued force laws. A law is a small struct and one function, prox, and owns its whole block:
//
//   -xi in N_C(Lambda)  <=>  Lambda = prox_C(Lambda - r xi)          (P0 eq. 53, P2 eq. 13)
//
// xi is the block's velocity (with restitution, offset and compliance), Lambda its impulse. A block
// has one r per convex set, never per row: with two r in one disc the slip direction is wrong.
// Impulses are in N s (rotational rows N m s), velocities in m/s (rad/s).
#pragma once
#include <concepts>
#include <string_view>
#include <variant>

#include "saltus/base/types.h"

namespace saltus {

// All of R^dim: joints, knife edges, rolling.
struct Bilateral {
  static constexpr std::string_view name = "bilateral";
  int dim = 1;
};
// Lambda >= 0: feet, pegs, joint limits.
struct Unilateral {
  static constexpr std::string_view name = "unilateral";
};
// lower <= Lambda <= upper: relay (dry joint friction), torque-limited motors.
struct Interval {
  static constexpr std::string_view name = "interval";
  double lower = 0, upper = 0;  // impulses [N s] or [N m s]
};
// Lambda_T in an ellipse of fixed semi-axes: friction under a given load (P0 eq. 50, 52).
struct GivenLoad {
  static constexpr std::string_view name = "given-load";
  double a = 0, b = 0;  // semi-axes mu_1 N dt, mu_2 N dt [N s]
};
// Order (N, T1, T2): Lambda_N >= 0 and Lambda_T in Lambda_N times an ellipse (a disc: mu1 = mu2).
struct Coulomb {
  static constexpr std::string_view name = "coulomb";
  double mu1 = 0, mu2 = 0;  // coefficients along T1 and T2 [-]
};

using Law = std::variant<Bilateral, Unilateral, Interval, GivenLoad, Coulomb>;

// The two step lengths of a block: r for its first convex set, r_T for Coulomb's tangential one.
struct StepLengths {
  double r = 1, r_T = 1;
};

[[nodiscard]] constexpr int dim(const Bilateral& law) { return law.dim; }
[[nodiscard]] constexpr int dim(const Unilateral&) { return 1; }
[[nodiscard]] constexpr int dim(const Interval&) { return 1; }
[[nodiscard]] constexpr int dim(const GivenLoad&) { return 2; }
[[nodiscard]] constexpr int dim(const Coulomb&) { return 3; }

// x <- prox_C(x), in place, no allocation. For Coulomb the normal comes first, then its own disc
// (P2 eq. 13): the friction set depends on the normal impulse just found.
void prox(const Bilateral& law, VecRef x);
void prox(const Unilateral& law, VecRef x);
void prox(const Interval& law, VecRef x);
void prox(const GivenLoad& law, VecRef x);
void prox(const Coulomb& law, VecRef x);

template <class L> concept SetValuedLaw = requires(const L& law, VecRef x) {
  { L::name } -> std::convertible_to<std::string_view>;
  { dim(law) } -> std::convertible_to<int>;  // rows of the block
  prox(law, x);
};
static_assert(SetValuedLaw<Bilateral> && SetValuedLaw<Unilateral> && SetValuedLaw<Interval> &&
              SetValuedLaw<GivenLoad> && SetValuedLaw<Coulomb>);

[[nodiscard]] int rows_of(const Law& law);
void prox_law(const Law& law, VecRef x);  // the dispatcher

// The nearest point of the ellipse (x/a)^2 + (y/b)^2 <= 1; a, b >= 0, degenerate axes allowed.
[[nodiscard]] Vec2 project_on_ellipse(const Vec2& p, double a, double b);

}  // namespace saltus
