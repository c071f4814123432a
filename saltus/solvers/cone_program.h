// The least of a strongly convex quadratic over friction cones:
//
//   min 1/2 f' G f + c' f,    f_i in K_i = {f_N >= 0, |f_T| <= mu_i f_N}.
//
// It is not the contact problem: there the slip of a cone's block adds mu |xi_T| to its normal
// velocity (De Saxce), here xi = G f + c itself meets the cone, xi in K*, f in K, f' xi = 0. So the
// normal forces are chosen together with the friction that they allow, and the answer is unique.
//
// With tangential parts scaled by mu every K is {|y_T| <= y_N}, whose projection P has a closed
// form. The free optimum is tried first; then Newton's method follows the central path, the optima
// of
//   tau (1/2 y' G y + c' y) - sum log(y_N^2 - |y_T|^2),   tau = 1 ... 1e11,
// which no start and no degeneracy can stop, and from its end polishes the natural map
// y - P(y - r xi) to the tolerance.
#pragma once
#include <array>

#include "saltus/base/types.h"

namespace saltus {

struct ConeProgram {
  static constexpr int most = 4;  // cones
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3 * most, 3 * most>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3 * most, 1>;
  Matrix G;                       // symmetric, positive definite
  Vector c;                       // blocks of (N, T1, T2)
  std::array<double, most> mu{};  // > 0
  [[nodiscard]] int cones() const { return static_cast<int>(c.size()) / 3; }
};

struct ConeReport {
  int iterations = 0;
  double residual = 0;  // largest entry of the natural map, in the unit of f
  bool converged = true;
};

// Nearest point of {|x_T| <= x_N}.
[[nodiscard]] Vec3 project_on_cone(const Vec3& x);

// f receives the solution; no allocation.
[[nodiscard]] ConeReport solve(const ConeProgram& problem, ConeProgram::Vector& f,
                               double tolerance = 1e-10);

}  // namespace saltus
