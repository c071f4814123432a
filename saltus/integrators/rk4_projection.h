// P1's fixed-step integrator for dry friction (appendix A, sections A.1 and A.3): the classical
// Runge-Kutta method of order 4 that projects zero crossings of the slip ahead. At the start of a
// step, with the acceleration dv/dt of the sliding friction mu_d N at hand,
//
//   v (v + dt dv/dt) <= 0   the slip would end within the step: it is captured, v = 0 is enforced,
//                           and held for one step whatever force that takes;
//   |f| > mu_s N            what is held is released and slips for the step, with mu_d.
//
// (A.1), (A.2) are the coefficients. A capture is early by up to a step and a release late, so the
// scheme is of first order; a crossing that the line does not foresee is missed and found a step
// later. For comparison with the event-driven integrator, on models whose only set-valued elements
// are joints with dry friction.
#pragma once
#include <string_view>

#include "saltus/integrators/events/event_dynamics.h"
#include "saltus/integrators/ledger.h"
#include "saltus/integrators/mode_change.h"

namespace saltus {

struct Rk4Projection {
  static constexpr std::string_view name = "rk4-projection";
  double dt = 1e-3;  // [s]
};

class Rk4Integrator {
 public:
  // Throws InputError (check_supported of integrator.h), naming what it is, where the model has
  // other set-valued elements.
  Rk4Integrator(const Model& model, const Actuation& actuation);

  // One step of length dt; false where there is no motion: the state is then as it was. The state's
  // modes tell what is held, so that a copy of it is a restart.
  [[nodiscard]] bool step(State& state, double dt, EnergyTerms& energy);
  [[nodiscard]] const ModeDynamics& dynamics() const { return dynamics_; }

 private:
  void place_prescribed(double t, VecRef q, VecRef v) const;
  void read_modes(const State& state);
  // Captures and releases; needs the instant evaluated.
  void project(double dt);
  bool rate(double t, const State& from, const Vec& y, Vec& dy);
  [[nodiscard]] double mechanical_energy(State& state);
  void store(double dt, State& state) const;

  const Model& model_;
  const Actuation& actuation_;
  ModeDynamics dynamics_;
  Workspace work_;
  EventMode mode_;
  Evaluation now_;
  Vec y_, dy_, sum_, q_, v_;
};

}  // namespace saltus
