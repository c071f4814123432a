#include "saltus/integrators/rk4_projection.h"

#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/integrators/integrator.h"

namespace saltus {

Rk4Integrator::Rk4Integrator(const Model& model, const Actuation& actuation)
    : model_(model),
      actuation_(actuation),
      dynamics_(model, actuation),
      work_(model),
      mode_(static_elements(model)) {
  check_supported(Rk4Projection{}, model, actuation, "");
  for (Vec* x : {&y_, &dy_, &sum_}) x->setZero(2 * model.nv + powers);
}

void Rk4Integrator::place_prescribed(double t, VecRef q, VecRef v) const {
  saltus::place_prescribed(model_, actuation_, t, q);
  prescribe_rates(model_, actuation_, t, v);
}

void Rk4Integrator::read_modes(const State& s) {
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    FrictionSet& set = mode_.elements[i].set[0];
    const auto mode = static_cast<Mode>(s.mode[mode_.elements[i].slot]);
    const double u = now_.gamma[now_.row[i]];
    set.slips = mode != Mode::stick && u != 0;
    set.direction[0] = u < 0 ? -1 : 1;
  }
}

void Rk4Integrator::project(double dt) {
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    FrictionSet& set = mode_.elements[i].set[0];
    const int row = now_.row[i];
    if (set.slips) {
      set.slips = now_.gamma[row] * (now_.gamma[row] + dt * now_.gamma_dot[row]) > 0;
      continue;
    }
    const Vec2 force(now_.lambda[row], 0);
    set.slips = set_margin(set, 1, force, 1) < 0;
    if (set.slips) set.direction = slip_direction(set, force);
  }
}

// y = (x, v, work): exponential coordinates about the start of the step, velocities, integrals of
// powers.
bool Rk4Integrator::rate(double t, const State& from, const Vec& y, Vec& dy) {
  const int nv = model_.nv;
  q_ = from.q;
  advance(model_, q_, y.head(nv), 1.0);
  v_ = y.segment(nv, nv);
  place_prescribed(t, q_, v_);
  if (!dynamics_.evaluate(t, q_, v_, from.turns, mode_, now_)) return false;
  local_rates(model_, y.head(nv), v_, dy.head(nv));
  dy.segment(nv, nv) = now_.a;
  for (int i = 0; i < powers; ++i) dy[2 * nv + i] = now_.power[i];
  return dy.allFinite();
}

double Rk4Integrator::mechanical_energy(State& s) {
  forward_kinematics(model_, s.q, s.v, work_);
  return kinetic_energy(model_, s.v, work_) + potential_energy(model_, actuation_, s, work_);
}

void Rk4Integrator::store(double dt, State& s) const {
  s.Lambda.setZero();
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    const Element& e = mode_.elements[i];
    s.mode[e.slot] = static_cast<unsigned char>(e.set[0].slips ? Mode::slip : Mode::stick);
    s.Lambda[model_.slots[e.slot].row] = dt * now_.lambda[now_.row[i]];
  }
}

bool Rk4Integrator::step(State& s, double dt, EnergyTerms& energy) {
  SALTUS_ASSERT(fits(model_, s) && dt > 0);
  const int nv = model_.nv;
  State start = s;
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * dt, h = t_E - s.t;
  const double before = mechanical_energy(start);
  if (!dynamics_.prepare(s.t, s.q, s.v, mode_, now_)) return false;
  read_modes(s);
  if (!dynamics_.evaluate(s.t, s.q, s.v, s.turns, mode_, now_)) return false;
  project(h);
  // Captured: v = 0 of the joint is enforced.
  if (!dynamics_.prepare(s.t, start.q, start.v, mode_, now_)) return false;
  (void)dynamics_.rest_rows(s.t, mode_, start.v, now_);

  constexpr double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  sum_.setZero();
  sum_.segment(nv, nv) = start.v;
  for (int k = 0; k < 4; ++k) {
    y_.setZero();
    y_.segment(nv, nv) = start.v;
    if (k > 0) y_ += node[k] * h * dy_;
    if (!rate(start.t + node[k] * h, start, y_, dy_)) return false;
    sum_ += weight[k] * h * dy_;
  }
  s.t = t_E;
  advance(model_, s.q, sum_.head(nv), 1.0);
  s.v = sum_.segment(nv, nv);
  place_prescribed(t_E, s.q, s.v);
  if (!dynamics_.evaluate(t_E, s.q, s.v, s.turns, mode_, now_)) return false;
  ++s.step;
  store(dt, s);

  energy = {};
  const auto work = sum_.tail(powers);
  energy.motors = work[static_cast<int>(Power::motors)];
  energy.prescribed = work[static_cast<int>(Power::prescribed)];
  energy.muscles = work[static_cast<int>(Power::muscles)];
  energy.external = work[static_cast<int>(Power::external)];
  energy.dampers = work[static_cast<int>(Power::dampers)];
  energy.friction = work[static_cast<int>(Power::friction)];
  energy.potential = mechanical_energy(s);
  energy.kinetic = kinetic_energy(model_, s.v, work_);
  energy.potential -= energy.kinetic;
  energy.integrator = energy.total() - before - energy.work_without_integrator();
  return true;
}

}  // namespace saltus
