// Small motions about a state: frequencies, decay and shapes of any model.
//
// About (q0, v0), with q = q0 (+) x and v = v0 + u, in the frame that moves along with v0,
//   x' = u + C x,   u' = A_q x + A_v u,   W' x = 0,   W' u + D x = 0
// A: derivatives of the accelerations of one mode (events/event_dynamics.h), every force of the
// engine in them; W: rows that hold, and D x the change of their rates W' v0. Eigenvectors are
// looked for in what these leave free. About a motion that is steady in the body's own frame, as a
// spin, this is as good as about a rest: what centrifugal forces stiffen is in A_q.
#pragma once
#include <complex>
#include <vector>

#include "saltus/analysis/rest_shape.h"

namespace saltus {

struct SmallMotion {
  std::complex<double> rate;  // of e^(rate t) [1/s]: its imaginary part is not negative
  Eigen::VectorXcd shape;     // x, of all velocities; its largest entry is 1
  [[nodiscard]] double frequency() const { return rate.imag(); }  // [rad/s]
  // Share of critical damping; negative: it grows.
  [[nodiscard]] double damping() const;
};

struct SmallMotions {
  std::vector<SmallMotion> modes;  // the slowest first; of a pair of rates one
  // The accelerations at the state, in frames that move along, by their norm sqrt(a' M a)
  // [sqrt(kg) m/s^2]: 0 where it is steady.
  double unsteady = 0;
};

// `held`: the contacts and limits that hold, as of find_rest; they hold without friction. Dry
// friction of joints and supports is left out. Throws InputError for forces that have no
// derivative there or none at all.
[[nodiscard]] SmallMotions small_motions(const Model& model, const Actuation& actuation, double t,
                                         VecIn q, VecIn v,
                                         const std::vector<RestReport::Held>& held);

}  // namespace saltus
