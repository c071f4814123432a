#include "saltus/integrators/events/event_driven.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"

namespace saltus {

namespace {

// Accelerations along a kept contact are found by moving it on, which must not end its feature;
// facets of a height field end at their sides. Empty: the contact has no height field.
std::string left_facet(const Model& m, const Element& e) {
  if (!e.is_contact()) return "";
  const bool field = std::holds_alternative<HeightField>(m.shapes[e.key.a].shape) ||
                     std::holds_alternative<HeightField>(m.shapes[e.key.b].shape);
  if (!field) return "";
  return fmt::format(
      "{} moves off a facet of the height field: event-driven can follow contacts "
      "within facets and impacts, rolling or sliding over bends needs time stepping",
      m.name_of(e.place()));
}

constexpr double safety = 0.9, least_factor = 0.2, most_factor = 6;
// A step below this share of the time scale, or of the time itself, makes no progress.
constexpr double least_step = 1e-13;
// Slips in two directions that begin have this share of the speed of a fall over a length scale to
// find their direction (started_slip). P2's trot moves by 2e-11 m from 1e-5 to 1e-4.
constexpr double slip_start = 1e-4;

// Statuses of an element in a byte of State: its Mode by the first set in the two lowest bits, then
// one bit for each other set that slips, one
// for the first that is moving, two for the tangent's axis of a contact, one for the first that is
// pinned.
unsigned char bits_of(const Element& e) {
  if (!e.present()) return 0;
  unsigned bits = e.sets == 0 ? 3U : e.set[0].slips ? 2U : 1U;  // Mode of solvers/inclusion.h
  for (int i = 1; i < e.sets; ++i) bits |= e.set[i].slips ? 2U << i : 0U;
  if (e.sets > 0 && e.set[0].slips && e.set[0].moving) bits |= 16U;
  if (e.is_contact()) bits |= static_cast<unsigned>(e.tangent_axis) << 5;
  // What moves is not pinned: together these say that it has not yet got going.
  if (e.sets > 0 && (e.set[0].pinned || (e.set[0].moving && e.set[0].start > 0))) bits |= 128U;
  return static_cast<unsigned char>(bits);
}

// The way back; the directions of slips are those of their forces.
void restore(Element& e, unsigned bits, const double* Lambda, double slow_slip) {
  if (e.kind == Element::Kind::normal) e.closed = bits != 0;
  for (int i = 0; i < e.sets; ++i) {
    FrictionSet& s = e.set[i];
    s.slips = i == 0 ? (bits & 3U) == 2U : (bits >> (i + 1) & 1U) != 0;
    s.moving = i == 0 && (bits & 16U) != 0;  // of the others their speed will tell
    s.pinned = i == 0 && (bits & 128U) != 0 && !s.moving;
    s.start = s.slips && s.rows == 2 && (!s.moving || (bits & 128U) != 0) ? slow_slip : 0;
    if (s.slips)
      s.direction = slip_direction(s, {Lambda[s.first], s.rows == 2 ? Lambda[s.first + 1] : 0});
  }
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
  if (const ContactShape* s = first_surface(model))
    throw InputError(fmt::format(
        "expected time stepping: the event-driven integrator knows no friction map and no surface "
        "velocity, shape '{}' has one",
        s->name));
  if (model.has_compliant)
    throw InputError(
        "expected time stepping: the event-driven integrator knows hard contacts only, "
        "a contact of the scene is compliant");
  const int n = 2 * model.nv + powers;
  rk_.resize(n);
  y_.setZero(n);
  scale_.setZero(n);
  derivative_ = [this](double t, const Vec& y, Vec& dy) { return derivative(t, y, dy); };
  scales_.length = model.length_scale;
  const double g = model.gravity.norm();
  slow_slip_ = slip_start * (g > 0 ? std::sqrt(g * scales_.length) : scales_.length);
}

std::vector<ModeChange> EventIntegrator::take_changes() {
  std::vector<ModeChange> taken;
  taken.swap(changes_);
  return taken;
}

// y = (x, v, work): exponential coordinates about here_, velocities, integrals of powers.
void EventIntegrator::unpack(const Vec& y, Instant& out) const {
  out.q = here_.q;
  saltus::advance(model_, out.q, y.head(model_.nv), 1.0);
  out.v = y.segment(model_.nv, model_.nv);
  out.turns = here_.turns;
  for (const Prescribed& p : actuation_.prescribed) {
    const Coordinate& c = model_.coordinates[p.coordinate];
    if (c.q_index < 0) continue;
    out.q[c.q_index] = value(p.r, dynamics_.signal_time(out.t));
    out.v[c.v_index] = rate(p.r, dynamics_.signal_time(out.t));
  }
}

bool EventIntegrator::derivative(double t, const Vec& y, Vec& dy) {
  const int nv = model_.nv;
  stage_.t = t;
  unpack(y, stage_);
  if (!dynamics_.evaluate(t, stage_.q, stage_.v, stage_.turns, mode_, sample_)) return false;
  local_rates(model_, y.head(nv), stage_.v, dy.head(nv));
  dy.segment(nv, nv) = sample_.a;
  for (int i = 0; i < powers; ++i) dy[2 * nv + i] = sample_.power[i];
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
}

double EventIntegrator::next_drive_event(double t) const {
  double next = infinity;
  const auto look = [&](const Signal& s) { next = std::min(next, next_break(s, t)); };
  for (const Motor& m : actuation_.motors) {
    look(m.reference);
    look(m.torque);
  }
  for (const Prescribed& p : actuation_.prescribed) look(p.r);
  for (const Steering& s : actuation_.steering) look(s.angle);
  for (const NaturalLength& s : actuation_.lengths) look(s.length);
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
}

void EventIntegrator::resume_mode(const State& s) {
  for (Element& e : mode_.elements)
    restore(e, s.mode[e.slot], s.Lambda.data() + model_.slots[e.slot].row, slow_slip_);
  for (const ContactImpulse& c : s.contacts) {
    int a = c.key.a, b = c.key.b;
    Element e = contact_element(model_, c.key, model_.law_between(a, b), Vec3::UnitZ());
    restore(e, c.mode, c.Lambda.data(), slow_slip_);
    e.tangent_axis = c.mode >> 5 & 3U;
    mode_.elements.push_back(e);
  }
  pace_ = s.pace > 0 ? s.pace : infinity;
}

void EventIntegrator::store(State& s, double dt) {
  s.t = here_.t;
  s.q = here_.q;
  s.v = here_.v;
  s.turns = here_.turns;
  s.pace = pace_;
  s.Lambda.setZero();
  std::fill(s.mode.begin(), s.mode.end(), 0);
  s.contacts.clear();
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    const Element& e = mode_.elements[i];
    const int row = now_.row[i];
    if (!e.is_contact()) {
      s.mode[e.slot] = bits_of(e);
      if (row >= 0)
        s.Lambda.segment(model_.slots[e.slot].row, e.rows) = dt * now_.lambda.segment(row, e.rows);
    } else if (row >= 0) {
      ContactImpulse c;
      c.key = e.key;
      c.mode = bits_of(e);
      for (int k = 0; k < e.rows; ++k) c.Lambda[k] = dt * now_.lambda[row + k];
      s.contacts.push_back(c);
    }
  }
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
      else if (model_.slots[e.slot].kind == BlockKind::gap_contact)
        projection_.held.push_back({{-1, e.slot, 0}, false});
    }
    for (const Prescribed& p : actuation_.prescribed)
      projection_.target[p.coordinate] = value(p.r, dynamics_.signal_time(here_.t));
    const ProjectionReport r = project(model_, Projection::mass, here_.q, here_.v, here_.turns,
                                       work_, mech, finder_, projection_);
    report.gap_drift = std::max({report.gap_drift, r.raw_joint_gap, r.raw_penetration});
  }
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, mode_, now_)) return false;
  const double drift = dynamics_.rest_rows(here_.t, mode_, here_.v, now_);
  report.drift = std::max(report.drift, drift);
  if (!(drift < 1e-3 * scales_.velocity)) return false;  // that is no drift: the row does not hold
  if (!dynamics_.evaluate(here_.t, here_.q, here_.v, here_.turns, mode_, now_)) return false;
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
      // Its direction follows its force, as a restart has it.
      const bool slow = s.direction.dot(u) < s.start;
      s.direction = started_slip(s, u).normalized();
      if (!slow) s.start = 0;
    }
  }
}

// A restart reads the direction of a slip from its force; where there is none (mu_d = 0), from its
// velocity.
void EventIntegrator::aim_slips() {
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    if (now_.row[i] < 0) continue;
    Element& e = mode_.elements[i];
    for (int k = 0; k < e.sets; ++k) {
      FrictionSet& s = e.set[k];
      const Vec2 u = set_velocity(s, now_.gamma, now_.row[i]);
      if (s.slips && s.dynamic == 0 && !u.isZero(0)) s.direction = u.normalized();
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
  const auto work = y.tail(powers);
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
  y_.setZero();
  y_.segment(model_.nv, model_.nv) = here_.v;
  double h = propose(end);
  const double least =
      std::max(least_step * scales_.time(), 4e-16 * std::max(1.0, std::abs(here_.t)));
  for (;;) {
    const bool whole = h >= end - here_.t;
    const bool stepped = rk_.step(derivative_, here_.t, y_, h);
    const double error = stepped ? rk_.error(scale_) : infinity;
    const double factor = error > 0
                              ? std::clamp(safety * std::pow(error, -1.0 / RungeKutta8::order),
                                           least_factor, most_factor)
                              : most_factor;
    if (!(error <= 1)) {
      ++report.rejected;
      h *= std::isfinite(error) ? std::min(factor, 0.8) : 0.25;
      if (h > least) continue;
      if (sample_.lost >= 0) {
        if (const std::string left = left_facet(model_, mode_.elements[sample_.lost]);
            !left.empty())
          return fail(report, left);
        ++report.events;
        return resolve_event({{Cause::feature, mode_.elements[sample_.lost].place(), 0}}, report);
      }
      return fail(report, "the motion cannot be continued: the step size went to zero");
    }
    ++report.steps;
    const double t_next = whole ? end : here_.t + h;
    if (!rk_.prepare_dense(derivative_)) return fail(report, "no dense output");
    const std::optional<Crossing> crossing = first_crossing(here_.t, t_next);
    flight_ = infinity;
    if (!crossing) {
      if (!whole || h >= pace_ || std::isinf(pace_)) pace_ = h * factor;
      leaving_.clear();
      if (!accept(rk_.next(), t_next, report)) return fail(report, "the mode has no motion");
      return true;
    }
    return take_event(*crossing, report);
  }
}

EventReport EventIntegrator::advance(State& state, double t_end, double dt) {
  EventReport report;
  const bool resumes = !begun_ && state.pace > 0;
  take(state);
  dynamics_.until = next_drive_event(here_.t);
  const double before = mechanical_energy(here_.t);
  if (!begun_) {
    mode_ = static_elements(model_);
    if (resumes) resume_mode(state);
    begun_ = true;
    if (!resumes && !resolve_event({{Cause::start, {}, 0}}, report)) return report;
  }
  if (!stabilise(report)) {
    (void)fail(report, "the mode has no motion");
    return report;
  }
  if (resumes) aim_slips();
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
