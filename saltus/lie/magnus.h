// One fourth-order Magnus step of g' = g xi(X) over [0, h], and its exact derivatives.
//
//   g(h) = g(0) exp(Omega),  Omega = h/2 (x1 + x2) + k [x1, x2],   k = sqrt(3) h^2/12,
//
// x1, x2: xi at the Gauss points h (1/2 -+ sqrt(3)/6). g' = g xi puts the field on the right, so
// the commutator has the sign opposite to that of Y' = A Y. Where xi varies, the discrete pose
// depends on it through dexp and the commutator: rates below are those of the discrete map itself.
#pragma once
#include <numbers>

#include "saltus/lie/generic.h"

namespace saltus {

inline constexpr double magnus_offset = std::numbers::sqrt3 / 6;  // of the points from the middle

template <class T>
class MagnusStep {
 public:
  using Twist = generic::Twist<T>;
  MagnusStep(double h, const Twist& x1, const Twist& x2)
      : half_(0.5 * h), k_(std::numbers::sqrt3 / 12 * h * h), x1_(x1), x2_(x2), e_(omega()) {
    pose = e_.pose();
  }
  generic::Pose<T> pose;  // exp(Omega)

  // Rates of Omega while x1, x2 change at dx1, dx2 (d2: twice, at constant rates).
  [[nodiscard]] Twist rate(const Twist& dx1, const Twist& dx2) const {
    return half_ * (dx1 + dx2) +
           k_ * (generic::bracket<T>(dx1, x2_) + generic::bracket<T>(x1_, dx2));
  }
  // Body twist of exp(Omega): dexp(Omega) of the rate.
  [[nodiscard]] Twist twist(const Twist& omega_rate) const { return e_.dexp(omega_rate); }
  // The twist's own rate while x1, x2 change at constant dx1, dx2.
  [[nodiscard]] Twist bias(const Twist& omega_rate, const Twist& dx1, const Twist& dx2) const {
    return e_.dexp_dot(omega_rate, omega_rate) + e_.dexp((2 * k_) * generic::bracket<T>(dx1, dx2));
  }
  // The transpose of (dx1, dx2) -> twist: what a wrench F on the moved frame does to x1 and x2.
  void pull_back(const Twist& F, Twist& f1, Twist& f2) const {
    const Twist g = e_.dexp_transposed(F);
    f1 = half_ * g + k_ * generic::dual_bracket<T>(x2_, g);
    f2 = half_ * g - k_ * generic::dual_bracket<T>(x1_, g);
  }

 private:
  [[nodiscard]] Twist omega() const {
    return half_ * (x1_ + x2_) + k_ * generic::bracket<T>(x1_, x2_);
  }
  double half_, k_;
  Twist x1_, x2_;
  generic::Exponential<T> e_;
};

}  // namespace saltus
