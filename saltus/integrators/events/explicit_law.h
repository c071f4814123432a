// P3's explicit switching law, eq. (3.1) and (3.2): for a straight worm the reaction of the scales
// is a function of velocity and force,
//
//   lambda = -1/2 (1 - sign v) (1 - sign f) f,   sign 0 = 0,   m dv/dt = f + lambda,
//
// so its motion is a plain, discontinuous differential equation. As printed, integrated by the
// classical Runge-Kutta method at a fixed step: a held mass trembles about v = 0 by O(dt), so
// the scheme is of first order. A third way to the same numbers, not a way to run.
#pragma once
#include <vector>

#include "saltus/control/actuation.h"

namespace saltus {

class ExplicitLaw {
 public:
  // Throws InputError, naming what it is, where the model holds anything but point masses on one
  // line with springs and drags along it and scales without friction.
  ExplicitLaw(const Model& model, const Actuation& actuation);

  // From t to t + dt.
  void step(double t, double dt, Vec& x, Vec& v);

 private:
  struct Link {  // a spring: of the bodies (-1: the world) a behind b
    int spring, a, b;
    double offset;  // length at x = 0 [m]
  };
  void rate(double t, const Vec& x, const Vec& v, Vec& acceleration);

  const Model& model_;
  const Actuation& actuation_;
  Vec3 line_ = Vec3::UnitX();
  Vec mass_, drag_, gravity_;
  std::vector<char> scaled_;
  std::vector<Link> links_;
  Vec force_, x_, v_, dv_, sum_x_, sum_v_;  // scratch
};

}  // namespace saltus
