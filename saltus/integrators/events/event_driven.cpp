#include "saltus/integrators/events/event_driven.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/integrators/integrator.h"

namespace saltus {

namespace {

constexpr double safety = 0.9, least_factor = 0.2, most_factor = 6;
constexpr double most_stiff_factor = 2;  // of steps whose equations are to be solved
// Explicit steps are held back by stability where they are as long as so many times of the fastest
// motion, so many times in a row; collocation is no use where that is less than a few explicit
// ones.
constexpr double stiff_step = 2.5, mild_step = 8;
constexpr int stiff_steps = 10;
// A step below this share of the time scale, or of the time itself, makes no progress.
constexpr double least_step = 1e-13;

// The Mode of solvers/inclusion.h of an element, for those who read a state: by its first set.
unsigned char mode_byte(const Element& e) {
  if (!e.present()) return 0;
  return e.sets == 0 ? 3 : e.set[0].slips ? 2 : 1;
}

}  // namespace

EventIntegrator::EventIntegrator(const Model& model, const Actuation& actuation,
                                 const EventDriven& options)
    : model_(model),
      actuation_(actuation),
      options_(options),
      bands_(options.tolerance),
      dynamics_(model, actuation),
      finder_(model),
      projection_(model),
      work_(model),
      storage_(model),
      problem_(model),
      islands_(model),
      wrenches_(model.bodies.size(), Vec6::Zero()),
      energy_state_(make_state(model)) {
  check_supported(options, model, actuation, "");
  const int n = 2 * model.nv + powers + static_cast<int>(dynamics_.lagged.size());
  rk_.resize(n);
  collocation_.resize(model.nv, n);
  y_.setZero(n);
  scale_.setZero(n);
  derivative_ = [this](double t, const Vec& y, Vec& dy) { return derivative(t, y, dy); };
  const double g = model.gravity.norm(), length = model.length_scale;
  slow_slip_ = slip_start * (g > 0 ? std::sqrt(g * length) : length);
}

// As if nothing had been.
void EventIntegrator::forget() {
  mode_ = static_elements(model_);
  mode_.flanks = no_flanks(actuation_);
  now_.a.resize(0);
  scales_ = EventScales{.length = model_.length_scale};
  pace_ = flight_ = infinity;
  leaving_.clear();
  impact_times_.clear();
  stiff_ = false;
  stiff_steps_ = 0;
  collocation_.drop();
  chatter_ = {};
  chatter_end_ = -infinity;
  chatter_stretch_ = 0;
}

std::vector<ModeChange> EventIntegrator::take_changes() {
  std::vector<ModeChange> taken;
  taken.swap(changes_);
  return taken;
}

// y = (x, v, work, torques): exponential coordinates about here_, velocities, integrals of powers,
// torques of motors that lag. That of here_:
void EventIntegrator::pack(Vec& y) const {
  y.setZero(y_.size());
  y.segment(model_.nv, model_.nv) = here_.v;
  y.tail(here_.lagged.size()) = here_.lagged;
}

void EventIntegrator::unpack(const Vec& y, Instant& out) const {
  out.q = here_.q;
  saltus::advance(model_, out.q, y.head(model_.nv), 1.0);
  out.v = y.segment(model_.nv, model_.nv);
  out.turns = here_.turns;
  out.lagged = y.tail(here_.lagged.size());
  place_prescribed(model_, actuation_, dynamics_.signal_time(out.t), out.q);
  prescribe_rates(model_, actuation_, dynamics_.signal_time(out.t), out.v);
}

bool EventIntegrator::evaluate(const Instant& at, const EventMode& mode, Evaluation& out) {
  dynamics_.lagged = at.lagged;
  return dynamics_.evaluate(at.t, at.q, at.v, at.turns, mode, out);
}

// Here, after prepare.
bool EventIntegrator::free_motion(const EventMode& mode, Evaluation& out) {
  dynamics_.lagged = here_.lagged;
  return dynamics_.free_motion(here_.t, here_.q, here_.v, here_.turns, mode, out);
}

// Half of the bands, so that a corner at the edge of its band has been passed.
void EventIntegrator::choose_pieces(EventMode& mode) {
  const EventScales& s = scales_;
  const double gap = 0.5 * bands_.gap, force = 0.5 * bands_.force;
  dynamics_.choose_pieces(here_.t, here_.q, here_.v, here_.turns,
                          {.length = gap * s.length,
                           .angle = gap,
                           .speed = bands_.velocity * s.velocity,
                           .turn = bands_.velocity * s.velocity / s.length,
                           .force = force * s.force,
                           .moment = force * s.force * s.length},
                          mode);
}

bool EventIntegrator::derivative(double t, const Vec& y, Vec& dy) {
  const int nv = model_.nv;
  stage_.t = t;
  unpack(y, stage_);
  if (!evaluate(stage_, mode_, sample_)) return false;
  local_rates(model_, y.head(nv), stage_.v, dy.head(nv));
  dy.segment(nv, nv) = sample_.a;
  for (int i = 0; i < powers; ++i) dy[2 * nv + i] = sample_.power[i];
  dy.tail(sample_.lag_rate.size()) = sample_.lag_rate;
  return dy.allFinite();
}

void EventIntegrator::set_tolerances() {
  const int nv = model_.nv;
  scale_.setZero();  // the integrals of powers follow
  for (int i = 0; i < nv; ++i) {
    const double unit = model_.rotational[i] ? 1 / scales_.length : 1;
    scale_[i] = options_.tolerance * scales_.length * unit;
    scale_[nv + i] = options_.tolerance * std::max(scales_.velocity * unit, std::abs(here_.v[i]));
  }
  const Eigen::Index lags = here_.lagged.size();
  for (Eigen::Index i = 0; i < lags; ++i)
    scale_[scale_.size() - lags + i] =
        options_.tolerance * std::max(scales_.force * scales_.length, std::abs(here_.lagged[i]));
}

// Differences of velocities, small against the slowest slip.
void EventIntegrator::set_nudge() {
  double slowest = scales_.velocity;
  if (dynamics_.prepare(here_.t, here_.q, here_.v, mode_, trial_evaluation_))
    for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
      const Element& e = mode_.elements[i];
      const int row = trial_evaluation_.row[i];
      for (int k = 0; k < e.sets && row >= 0; ++k)
        if (e.set[k].slips && e.set[k].rows == 2)
          slowest = std::min(
              slowest,
              started_slip(e.set[k], set_velocity(e.set[k], trial_evaluation_.gamma, row)).norm());
    }
  nudge_.resize(model_.nv);
  for (int i = 0; i < model_.nv; ++i)
    nudge_[i] = std::max(1e-4 * slowest, 1e-13 * scales_.velocity) /
                (model_.rotational[i] ? scales_.length : 1);
}

bool EventIntegrator::smooth_step(const Vec& y, double h) {
  if (!stiff_) return rk_.step(derivative_, here_.t, y, h);
  set_tolerances();
  set_nudge();
  return collocation_.step(derivative_, here_.t, y, h, scale_, nudge_);
}

// A step whose error nobody looks at: by the explicit method unless it is not stable.
bool EventIntegrator::short_step(const Vec& y, double h, Vec& end) {
  set_tolerances();
  const bool explicitly = !stiff_ && rk_.step(derivative_, here_.t, y, h);
  if (explicitly) end = rk_.next();
  if (explicitly && rk_.stiffness(scale_) < stiff_step) return true;
  set_nudge();
  if (!collocation_.step(derivative_, here_.t, y, h, scale_, nudge_)) return explicitly;
  end = collocation_.next();
  return true;
}

void EventIntegrator::interpolate(double t, Vec& y) const {
  if (stiff_)
    collocation_.interpolate(t, y);
  else
    rk_.interpolate(t, y);
}

// By what the step just accepted was like.
void EventIntegrator::choose_method() {
  if (stiff_) {
    collocation_.keep();
    stiff_ = collocation_.stiffness() > mild_step;
    return;
  }
  stiff_steps_ = rk_.stiffness(scale_) > stiff_step ? stiff_steps_ + 1 : 0;
  stiff_ = stiff_steps_ == stiff_steps;
  if (stiff_) stiff_steps_ = 0;
}

double EventIntegrator::next_drive_event(double t) const {
  double next = infinity;
  const auto look = [&](const Signal& s) { next = std::min(next, next_break(s, t)); };
  for (const Motor& m : actuation_.motors) {
    look(m.reference);
    look(m.torque);
  }
  for (const Prescribed& p : actuation_.prescribed) look(p.r);
  for (const PrescribedRotation& p : actuation_.rotations)
    for (const Signal& s : p.r) look(s);
  for (const Steering& s : actuation_.steering) look(s.angle);
  for (const NaturalLength& s : actuation_.lengths) look(s.length);
  for (const StrainOffset& s : actuation_.strains) look(s.offset);
  return next;
}

bool EventIntegrator::fail(EventReport& report, const std::string& what) const {
  report.failure = fmt::format("at t = {:.9g} s {}", here_.t, what);
  return false;
}

// Kinetic and potential energy here, with natural lengths of the given instant.
double EventIntegrator::mechanical_energy(double signals_at) {
  forward_kinematics(model_, here_.q, here_.v, work_);
  energy_state_.t = signals_at;
  energy_state_.q = here_.q;
  energy_state_.turns = here_.turns;
  return kinetic_energy(model_, here_.v, work_) +
         potential_energy(model_, actuation_, energy_state_, work_);
}

// How far the next step may go: to the end, as the last one, and not over what is known to come.
double EventIntegrator::propose(double end) const {
  double h = std::min(pace_, flight_);
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    if (now_.row[i] < 0) continue;
    const Element& e = mode_.elements[i];
    for (int k = 0; k < e.sets; ++k) {
      // One that has only begun has rounding for a velocity.
      if (!e.set[k].slips || e.set[k].rows != 2 || !e.set[k].moving) continue;
      const int r = now_.row[i] + e.set[k].first;
      const Vec2 u = now_.gamma.segment<2>(r), du = now_.gamma_dot.segment<2>(r);
      if (du.isZero(0)) continue;
      // A slip that heads for zero stops there; beyond, its direction would turn at once.
      const double to_zero = -u.dot(du) / du.squaredNorm();
      if (to_zero > 0 && (u + to_zero * du).norm() < 0.2 * u.norm()) h = std::min(h, 0.8 * to_zero);
    }
  }
  // Two halves rather than a whole and a sliver.
  const double left = end - here_.t;
  if (h >= left) return left;
  return h > 0.6 * left ? 0.5 * left : h;
}

void EventIntegrator::take(const State& s) {
  here_.t = s.t;
  here_.q = s.q;
  here_.v = s.v;
  here_.turns = s.turns;
  here_.lagged.setZero(dynamics_.lagged.size());
  const Eigen::Index known = std::min(here_.lagged.size(), s.memory.size());
  here_.lagged.head(known) = s.memory.head(known);
}

void EventIntegrator::store(State& s, double dt) {
  s.t = here_.t;
  s.q = here_.q;
  s.v = here_.v;
  s.turns = here_.turns;
  if (here_.lagged.size() > 0) s.memory = here_.lagged;
  s.Lambda.setZero();
  std::fill(s.mode.begin(), s.mode.end(), 0);
  s.contacts.clear();
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    const Element& e = mode_.elements[i];
    const int row = now_.row[i];
    if (!e.is_contact()) {
      s.mode[e.slot] = mode_byte(e);
      if (row >= 0)
        s.Lambda.segment(model_.slots[e.slot].row, e.rows) = dt * now_.lambda.segment(row, e.rows);
    } else if (row >= 0) {
      ContactImpulse c;
      c.key = e.key;
      c.mode = mode_byte(e);
      for (int k = 0; k < e.rows; ++k) c.Lambda[k] = dt * now_.lambda[row + k];
      s.contacts.push_back(c);
    }
  }
  remember(s.events);
}

// Kept rows at rest, kept gaps closed; forces of the instant in now_.
bool EventIntegrator::stabilise(EventReport& report) {
  const bool gaps = !model_.cuts.empty() ||
                    std::any_of(mode_.elements.begin(), mode_.elements.end(), [](const Element& e) {
                      return e.kind == Element::Kind::normal && e.closed;
                    });
  if (gaps) {
    Mechanics mech(model_, work_, storage_, nullptr);
    mech.place(here_.q, here_.v);
    projection_.held.clear();
    for (const Element& e : mode_.elements) {
      if (!e.closed) continue;
      if (e.is_contact())
        projection_.held.push_back({e.key, false});
      else if (level_of(model_, model_.slots[e.slot]) == Level::contact)
        projection_.held.push_back({{-1, e.slot, 0}, false});
    }
    for (const Prescribed& p : actuation_.prescribed)
      projection_.target[p.coordinate] = value(p.r, dynamics_.signal_time(here_.t));
    const ProjectionReport r = project(model_, Projection::mass, here_.q, here_.v, here_.turns,
                                       work_, mech, finder_, projection_);
    report.gap_drift = std::max({report.gap_drift, r.raw_joint_gap, r.raw_penetration});
  }
  const auto stuck = [&](std::string why) {
    if (now_.lost >= 0)
      why =
          fmt::format("{} has left its shapes", model_.name_of(mode_.elements[now_.lost].place()));
    stuck_ = std::move(why);
    return false;
  };
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, mode_, now_))
    return stuck("the mass matrix is singular");
  const double drift = dynamics_.rest_rows(here_.t, mode_, here_.v, now_);
  report.drift = std::max(report.drift, drift);
  if (!(drift < 1e-3 * scales_.velocity)) {  // that is no drift: the row does not hold
    if (now_.restless < 0) return stuck("the velocities are not finite");
    return stuck(fmt::format("velocities: {} should rest and moves at {:.3g} m/s",
                             model_.name_of(mode_.elements[now_.restless].place()), drift));
  }
  if (!evaluate(here_, mode_, now_))
    return stuck("accelerations: the forces of what holds are not finite");
  note_slips();
  return true;
}

// Which slips have got going.
void EventIntegrator::note_slips() {
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    if (now_.row[i] < 0) continue;
    Element& e = mode_.elements[i];
    for (int k = 0; k < e.sets; ++k) {
      FrictionSet& s = e.set[k];
      if (!s.slips || s.rows != 2) continue;
      const Vec2 u = now_.gamma.segment<2>(now_.row[i] + s.first);
      s.moving = s.moving || u.norm() > 3 * bands_.slip * scales_.velocity;
      s.pinned = s.pinned && !s.moving;
      if (s.start == 0) continue;
      // Its direction follows its force.
      const bool slow = s.direction.dot(u) < s.start;
      s.direction = started_slip(s, u).normalized();
      if (!slow) s.start = 0;
    }
  }
}

// Takes y at t over as the new instant.
bool EventIntegrator::accept(const Vec& y, double t, EventReport& report) {
  const auto n = static_cast<Eigen::Index>(model_.coordinates.size());
  Vec before(n);
  if (!model_.cuts.empty()) {
    forward_kinematics(model_, here_.q, here_.v, work_);
    for (Eigen::Index c = 0; c < n; ++c)
      before[c] = coordinate_value(model_, work_, here_.q, here_.turns,
                                   CoordinateIndex(static_cast<int>(c)));
  }
  probe_.t = t;
  unpack(y, probe_);
  here_ = probe_;
  if (!model_.cuts.empty()) {
    forward_kinematics(model_, here_.q, here_.v, work_);
    update_turns(model_, work_, here_.q, before, here_.turns);
  }
  const auto work = y.segment(2 * model_.nv, powers);
  EnergyTerms& e = report.energy;
  e.motors += work[static_cast<int>(Power::motors)];
  e.prescribed += work[static_cast<int>(Power::prescribed)];
  e.muscles += work[static_cast<int>(Power::muscles)];
  e.external += work[static_cast<int>(Power::external)];
  e.dampers += work[static_cast<int>(Power::dampers)];
  e.friction += work[static_cast<int>(Power::friction)];
  return stabilise(report);
}

bool EventIntegrator::integrate(double end, EventReport& report) {
  set_tolerances();
  pack(y_);
  double h = propose(end);
  bool refused = false;
  int tries = 0;
  const double least =
      std::max(least_step * scales_.time(), 4e-16 * std::max(1.0, std::abs(here_.t)));
  for (;;) {
    ++tries;
    const bool whole = h >= end - here_.t;
    const bool stepped = smooth_step(y_, h);
    const double error = !stepped ? infinity : stiff_ ? collocation_.error() : rk_.error(scale_);
    const double most = stiff_ ? most_stiff_factor : most_factor;
    const int order = stiff_ ? Collocation::order : RungeKutta8::order;
    const double factor =
        error > 0 ? std::clamp(safety * std::pow(error, -1.0 / order), least_factor, most) : most;
    if (!(error <= 1)) {
      ++report.rejected;
      refused = true;
      h *= std::isfinite(error) ? std::min(factor, 0.8) : stiff_ ? 0.5 : 0.25;
      if (h > least) continue;
      if (sample_.lost >= 0) {
        ++report.events;
        return resolve_event({{Cause::feature, mode_.elements[sample_.lost].place(), 0}}, report);
      }
      return step_to_a_mode("the motion cannot be continued: the step size went to zero", report);
    }
    ++report.steps;
    const double t_next = whole ? end : here_.t + h;
    if (!stiff_ && !rk_.prepare_dense(derivative_))
      return step_to_a_mode("no dense output", report);
    const std::optional<Crossing> crossing = first_crossing(here_.t, t_next);
    flight_ = infinity;
    if (!crossing) {
      // A step that something else than its error cut short says nothing about the pace, by which
      // events are judged, too (renew_scales).
      // What was refused is not tried again at once.
      const double next = refused ? std::min(factor, 1.0) * h : factor * h;
      if (refused || next > pace_ || std::isinf(pace_)) pace_ = next;
      leaving_.clear();
      if (!accept(reached(), t_next, report))
        return step_to_a_mode("the mode has no motion; " + stuck_, report);
      choose_method();
      note_step(tries);
      return here_.t >= landing_ || chatters() == 0 || pass_chatter(report);
    }
    return take_event(*crossing, report);
  }
}

EventReport EventIntegrator::advance(State& state, double t_end, double dt) {
  EventReport report;
  const bool begins = state.events.size() == 0;
  forget();
  if (!begins) recall(state.events);
  take(state);
  landing_ = t_end;
  dynamics_.until = next_drive_event(here_.t);
  const double before = mechanical_energy(here_.t);
  if (begins && !resolve_event({{Cause::start, {}, 0}}, report)) return report;
  if (!stabilise(report)) {
    (void)fail(report, "the mode has no motion; " + stuck_);
    return report;
  }
  renew_scales();
  while (here_.t < t_end) {
    const double stop = dynamics_.until;
    if (!integrate(std::min(t_end, stop), report)) return report;
    if (report.events > options_.max_events) {
      (void)fail(report, fmt::format("more than {} events follow each other without an end",
                                     options_.max_events));
      return report;
    }
    if (here_.t < stop) continue;
    // The energy of the springs jumps with their natural lengths (P3 section 1, Remark).
    const double old = mechanical_energy(dynamics_.signal_time(stop));
    report.energy.muscles += mechanical_energy(stop) - old;
    dynamics_.until = next_drive_event(here_.t);
    if (!resolve_event({{Cause::drive, {}, 0}}, report)) return report;
  }
  EnergyTerms& e = report.energy;
  e.potential = mechanical_energy(here_.t);
  e.kinetic = kinetic_energy(model_, here_.v, work_);
  e.potential -= e.kinetic;
  e.integrator = e.total() - before - e.work_without_integrator();
  store(state, dt);
  return report;
}

}  // namespace saltus
