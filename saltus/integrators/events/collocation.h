// Radau's collocation with five stages, of order 9 and L-stable (Hairer, Wanner: Solving Ordinary
// Differential Equations II, sections IV.5 and IV.8), for motions in which something dies out much
// faster than the rest moves: friction across a slow slip, a strong damper. Its interface is that
// of RungeKutta8.
//
// y = (x, v, integrals): positions, their velocities, and what is integrated along. The equations
// of the stages are solved by Newton's method with da/dv at the start of the step; of dx/dt only
// that it is about v, which is what is not stiff.
#pragma once
#include <Eigen/LU>

#include "saltus/integrators/events/runge_kutta.h"

namespace saltus {

class Collocation {
 public:
  static constexpr int stages = 5;
  static constexpr int order = stages + 1;  // of the error estimate

  Collocation();
  // v has nv entries, as x has; y has n.
  void resize(int nv, int n);
  // The step from (t, y) to (t + h, next()). `scale` is the tolerance of each entry, 0 for those
  // that do not count; `nudge` the differences of v behind da/dv. False when a derivative is
  // missing or Newton's method does not contract.
  [[nodiscard]] bool step(const Derivative& f, double t, const Vec& y, double h, const Vec& scale,
                          const Vec& nudge);
  [[nodiscard]] const Vec& next() const { return next_; }
  // Largest share of its tolerance that an entry's error estimate takes.
  [[nodiscard]] double error() const { return error_; }
  // h times a bound of the fastest rate of the step's start.
  [[nodiscard]] double stiffness() const { return stiffness_; }
  void interpolate(double t, Vec& y) const;
  // Remembers the last step, from which one that starts where it ended takes its first guess (what
  // friction saturates has no other way to Newton's method); and forgets it.
  void keep();
  void drop() { kept_step_ = 0; }

 private:
  bool linearise(const Derivative& f, const Vec& nudge);
  void guess();
  bool iterate(const Derivative& f, const Vec& scale);
  [[nodiscard]] double weight(int k, double x) const;
  bool estimate(const Derivative& f, const Vec& scale);

  Eigen::Matrix<double, stages, 1> node_, error_weight_;
  Eigen::Matrix<double, stages, stages> A_;
  int nv_ = 0;
  double t_ = 0, h_ = 0, error_ = 0, stiffness_ = 0;
  Vec y_, next_, at_, slope_, start_, missed_;
  Mat J_, Z_, F_, R_;  // da/dv; of the stages (columns): y - y_, derivatives, what is missing
  double kept_end_ = 0, kept_step_ = 0;  // [s]; no step: 0
  Mat kept_;                             // velocities of its stages, from its start
  Eigen::PartialPivLU<Mat> newton_, filter_;
};

}  // namespace saltus
