// Integrates g' = g twist(t, g, x), x' = f(t, g, x) on SE(3) x R^k.
//
// A step starts at g and writes g(t) = g exp(s(t)), s' = dexp^-1(s) twist (Munthe-Kaas), so the
// pose never leaves the group. (s, x) are stepped by the explicit mid-point rule in 2, 4, ... 12
// parts and extrapolated to zero part length (Gragg, Bulirsch, Stoer): an explicit Runge-Kutta
// method of order 12, its error the difference of the last two extrapolants, its step chosen by it.
#pragma once
#include <functional>

#include "saltus/lie/se3.h"

namespace saltus {

struct NetState {
  SE3 g;
  Vec x;
};

using NetRates = std::function<void(double t, const NetState& state, Vec6& twist, VecRef xdot)>;

struct NetIntegration {
  bool done = true;  // false: the step became too small at t
  double t = 0;      // reached
  int steps = 0, evaluations = 0;
  double error = 0;  // sum of the steps' estimates
  double pace = 0;   // length of the next step, for a call that goes on
};

// From t0 to t1 (either way); tolerance: of a step, absolute below one, else relative; pace: length
// of the first step, 0: a sixteenth of the way.
[[nodiscard]] NetIntegration integrate_net(const NetRates& rates, double t0, double t1,
                                           double tolerance, NetState& state, double pace = 0);

}  // namespace saltus
