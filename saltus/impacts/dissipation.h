// P1's dissipation principle (eq. 4.4 to 4.10, with energy 5.6 to 5.14): the tangential velocities
// after an impact in which a point slips.
//
//   min  sum_i (mu_s - mu_i)^2 + |u_i|^2
//   so that  |p_t,i| <= mu_i p_n,i,   p_n,i >= 0,   and if asked  T <= T*
//   mu_i = mu_min + (mu_s - mu_min) exp(-(|u_i| / v_s)^a),   mu_min = min(mu_d, mu_f)
//
// Normal velocities are given, so impulses p and tangential velocities u are affine in the unknowns
// x: p = p0 + P x, u = u0 + U x. x = 0 is the stick trial; mu_f = |p_t| / |p_n| there. Plain data:
// nothing here knows a body. Units are SI; as P1 has it, u is divided by 1 m/s in the objective.
#pragma once
#include <array>
#include <limits>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

struct SlipPoint {
  int normal = 0;                // of p
  int dims = 1;                  // tangential directions; 1 in the plane, 0 without friction
  std::array<int, 2> tangent{};  // of p
  std::array<int, 2> speed{};    // of u
  std::array<double, 2> scale{1,
                              1};  // mu_s / (coefficient along it): 1 where friction is isotropic
  double mu_s = 0, mu_d = 0;
  double mu_f = 0;  // <- set_feasible
};

struct DissipationProblem {
  Vec p0, u0;
  Mat P, U;
  std::vector<SlipPoint> points;
  double v_s = 1e-5;  // [m/s]
  double a = 1;
  // T(x) = t0 + t1 . x + x' t2 x / 2 [J], bounded where limit is finite.
  double t0 = 0, limit = std::numeric_limits<double>::infinity();
  Vec t1;
  Mat t2;

  [[nodiscard]] int unknowns() const { return static_cast<int>(P.cols()); }
  [[nodiscard]] bool plain() const;  // u = x
  void set_feasible();               // mu_f of every point
};

[[nodiscard]] double mu_min(const SlipPoint& point);
[[nodiscard]] double mu_at(const DissipationProblem& problem, const SlipPoint& point, double speed);
[[nodiscard]] Vec2 tangential(const SlipPoint& point, const Vec& p);  // scaled impulse
[[nodiscard]] double speed_of(const DissipationProblem& problem, const SlipPoint& point,
                              const Vec& x);
[[nodiscard]] double energy_at(const DissipationProblem& problem, const Vec& x);
[[nodiscard]] double objective(const DissipationProblem& problem, const Vec& x);
// Largest violation of a constraint, in shares of the impulses and of the energy; feasible: <= 0.
[[nodiscard]] double violation(const DissipationProblem& problem, const Vec& x);
// Violations that count as none: rounding of the impulses.
inline constexpr double feasible_rounding = 1e-10;

struct DissipationResult {
  Vec x;
  bool found = false;
  double value = std::numeric_limits<double>::infinity();  // of the objective
  int evaluations = 0;
};

// Whether the exact method serves: one unknown, or two (two points in the plane, one in space).
[[nodiscard]] bool is_small(const DissipationProblem& problem);
// Every boundary and corner of the feasible region is looked at. Points stick (u = 0, mu_s) or
// slide; within the layer of Karnopp's transition a fixed point finds mu.
[[nodiscard]] DissipationResult minimise_exact(const DissipationProblem& problem);
// NLopt: SLSQP on a convex problem for each choice of points that stick.
[[nodiscard]] DissipationResult minimise_nlp(const DissipationProblem& problem);

}  // namespace saltus
