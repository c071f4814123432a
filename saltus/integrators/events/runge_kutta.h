// Dormand and Prince's embedded Runge-Kutta pair of order 8 (error estimates of orders 5 and 3)
// with dense output of order 7 (Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I,
// section II.10). Plain vectors: what they mean is the caller's.
#pragma once
#include <array>
#include <functional>

#include "saltus/base/types.h"

namespace saltus {

// f(t, y) into the last argument; false where there is no derivative (the step is then refused).
using Derivative = std::function<bool(double, const Vec&, Vec&)>;

class RungeKutta8 {
 public:
  static constexpr int order = 8;

  void resize(int n);
  // The step from (t, y) to (t + h, next()). False when a derivative is missing.
  [[nodiscard]] bool step(const Derivative& f, double t, const Vec& y, double h);
  [[nodiscard]] const Vec& next() const { return next_; }
  // Largest share of its tolerance that an entry's error estimate takes; `scale` is the tolerance
  // of each entry, 0 for those that do not count.
  [[nodiscard]] double error(const Vec& scale) const;
  // How many times of the fastest motion the step is long, by its last two stages, which are at the
  // same instant. Where it is near 6, stability holds the step back.
  [[nodiscard]] double stiffness(const Vec& scale) const;
  // Three more stages; then interpolate() is valid on the whole step.
  [[nodiscard]] bool prepare_dense(const Derivative& f);
  void interpolate(double t, Vec& y) const;

 private:
  static constexpr int stages = 12, all_stages = 16, powers = 7;
  bool stage(const Derivative& f, int s);
  double t_ = 0, h_ = 0;
  Vec y_, next_, at_;
  std::array<Vec, all_stages> k_;  // derivatives; k_[12] is that of next()
  std::array<Vec, powers> dense_;
};

}  // namespace saltus
