// Guards: when a mode ends.
#include <algorithm>
#include <cmath>

#include "saltus/contact/rows.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/event_driven.h"

namespace saltus {

namespace {

// Instants of a step at which guards are looked at; a dip between two of them is found by the
// parabola through three.
constexpr int samples_per_step = 8;
constexpr int root_iterations = 80;

}  // namespace

const EventIntegrator::Guard* EventIntegrator::find(const std::vector<Guard>& list,
                                                    const Guard& like) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const Guard& g) { return g.same(like); });
  return at != list.end() ? &*at : nullptr;
}

bool EventIntegrator::guards_at(const Instant& at, std::vector<Guard>& out) {
  out.clear();
  if (!dynamics_.evaluate(at.t, at.q, at.v, at.turns, mode_, trial_evaluation_)) return false;
  const Evaluation& now = trial_evaluation_;
  for (int i = 0; i < static_cast<int>(mode_.elements.size()); ++i) {
    const Element& e = mode_.elements[i];
    const int row = now.row[i];
    if (e.kind == Element::Kind::normal && e.closed)
      out.push_back({GuardKind::force, i, -1, {}, now.lambda[row] / scales_.force, bands_.force});
    if (e.kind == Element::Kind::normal && !e.closed && !e.is_contact())
      out.push_back({GuardKind::gap, i, -1, {}, limit_gap(at, e) / scales_.length, bands_.gap});
    if (!e.present()) continue;
    for (int k = 0; k < e.sets; ++k) {
      const FrictionSet& s = e.set[k];
      const int r = row + s.first;
      const Vec2 u(now.gamma[r], s.rows == 2 ? now.gamma[r + 1] : 0);
      const Vec2 f(now.lambda[r], s.rows == 2 ? now.lambda[r + 1] : 0);
      if (!s.slips) {
        const double normal = e.kind == Element::Kind::normal ? now.lambda[row] : 1;
        out.push_back(
            {GuardKind::stick, i, k, {}, set_margin(s, normal, f, scales_.force), bands_.force});
      } else if (s.rows == 1) {
        out.push_back(
            {GuardKind::slip, i, k, {}, s.direction[0] * u[0] / scales_.velocity, bands_.velocity});
      } else {
        // A slip that has begun but not yet got anywhere cannot end.
        const double speed = u.norm() / scales_.velocity;
        out.push_back({GuardKind::slip, i, k, {}, s.moving ? speed - bands_.slip : 1.0, 0});
      }
    }
  }
  if (model_.contact_laws.empty()) return true;
  finder_.find(model_, dynamics_.work(), 0.1 * scales_.length, found_);
  for (const Contact& c : found_) {
    const bool closed =
        std::any_of(mode_.elements.begin(), mode_.elements.end(),
                    [&](const Element& e) { return e.is_contact() && e.closed && e.key == c.key; });
    if (!closed)
      out.push_back({GuardKind::gap, -1, -1, c.key, c.point.gap / scales_.length, bands_.gap});
  }
  return true;
}

double EventIntegrator::limit_gap(const Instant& at, const Element& e) const {
  const BlockSlot& s = model_.slots[e.slot];
  const JointDof& dof = model_.coordinates[s.index].dof;
  const double x =
      coordinate_value(model_, dynamics_.work(), at.q, at.turns, CoordinateIndex(s.index));
  return s.feature == 1 ? dof.upper - x : x - dof.lower;
}

bool EventIntegrator::guards_on_step(double t, std::vector<Guard>& out) {
  rk_.interpolate(t, y_);
  probe_.t = t;
  unpack(y_, probe_);
  return guards_at(probe_, out);
}

// A guard's value on the dense output; an open contact that is far away is as open as can be.
double EventIntegrator::value_on_step(const Guard& guard, double t) {
  if (!guards_on_step(t, guard_scratch_)) return -1;
  const Guard* g = find(guard_scratch_, guard);
  return g ? g->value : 0.1;
}

// The zero of guard - level between low (above it) and high (below it): bisection with secants
// (Illinois), to the last bit of t.
double EventIntegrator::root(const Guard& guard, double level, double low, double high) {
  double a = low, b = high;
  double fa = value_on_step(guard, a) - level, fb = value_on_step(guard, b) - level;
  if (fa <= 0) return a;
  for (int i = 0; i < root_iterations && fb != 0; ++i) {
    double t = a + (b - a) * fa / (fa - fb);
    if (i % 4 == 3 || !(t > a && t < b)) t = 0.5 * (a + b);
    if (t <= a || t >= b) break;
    const double f = value_on_step(guard, t) - level;
    if (f > 0) {
      a = t;
      fa = f;
      fb *= i % 4 == 2 ? 1 : 0.5;
    } else {
      b = t;
      fb = f;
      fa *= i % 4 == 2 ? 1 : 0.5;
    }
    if (b - a <= 2e-16 * std::max(1.0, std::abs(b))) break;
  }
  return b;
}

// The first zero of one guard over the samples of a step.
std::optional<EventIntegrator::Crossing> EventIntegrator::cross(const Guard& like) {
  const auto at = [&](std::size_t k) {
    const Guard* g = find(samples_[k], like);
    return g ? g->value : 0.1;
  };
  const bool leaves =
      like.element < 0 && std::find(leaving_.begin(), leaving_.end(), like.key) != leaving_.end();
  bool armed = !leaves && at(0) > like.band;
  if (like.band == 0 && at(0) <= 0) return Crossing{sample_times_[0], like, 0};
  const auto crossing = [&](double level, double low, double high) {
    return Crossing{root(like, level, low, high), like, level};
  };
  for (std::size_t k = 1; k < samples_.size(); ++k) {
    const double g = at(k), low = sample_times_[k - 1], high = sample_times_[k];
    if (armed) {
      if (g <= 0) return crossing(0, low, high);
      if (k + 1 < samples_.size()) {  // a dip between samples
        const double before = at(k - 1), after = at(k + 1);
        const double bend = before - 2 * g + after;
        if (g < before && g < after && bend > 0) {
          const double shift = 0.5 * (before - after) / bend;
          const double dip = sample_times_[k] + shift * (high - low);
          if (g - 0.125 * (before - after) * (before - after) / bend < 0.1 * g &&
              value_on_step(like, dip) <= 0)
            return crossing(0, shift < 0 ? low : sample_times_[k], dip);
        }
      }
      continue;
    }
    const double enough = leaves ? 0 : like.band;
    if (g > enough) {
      armed = true;
      continue;
    }
    if (g >= -like.band && !(leaves && g < 0)) continue;
    // It went below before it was seen above: look closer, from the start on.
    for (int j = 12; j >= 1; --j) {
      const double t = low + (high - low) * std::ldexp(1.0, -j);
      if (value_on_step(like, t) > enough) return crossing(0, t, high);
    }
    return crossing(-like.band, low, high);
  }
  return std::nullopt;
}

std::optional<EventIntegrator::Crossing> EventIntegrator::first_crossing(double t, double t_next) {
  if (mode_.elements.empty() && model_.contact_laws.empty()) return std::nullopt;
  samples_.resize(samples_per_step + 1);
  sample_times_.resize(samples_per_step + 1);
  std::vector<Guard> all;
  for (int k = 0; k <= samples_per_step; ++k) {
    sample_times_[k] = k < samples_per_step ? t + (t_next - t) * k / samples_per_step : t_next;
    if (!guards_on_step(sample_times_[k], samples_[k])) samples_[k].clear();
    for (const Guard& g : samples_[k])
      if (g.element >= 0 ? k == 0 : !find(all, g)) all.push_back(g);
  }
  std::optional<Crossing> first;
  for (const Guard& g : all)
    if (const auto c = cross(g); c && (!first || c->t < first->t)) first = c;
  return first;
}

// Steps to the crossing itself, and once more to where the guard then vanishes.
bool EventIntegrator::polish(Crossing& c, double& t, Vec& y) {
  t = c.t;
  const double slope_step = 1e-4 * (c.t - here_.t);
  const double slope =
      slope_step > 0
          ? (value_on_step(c.guard, c.t) - value_on_step(c.guard, c.t - slope_step)) / slope_step
          : 0;
  for (int i = 0; t > here_.t; ++i) {
    y_.setZero();
    y_.segment(model_.nv, model_.nv) = here_.v;
    if (!rk_.step(derivative_, here_.t, y_, t - here_.t)) return false;
    y = rk_.next();
    probe_.t = t;
    unpack(y, probe_);
    if (!guards_at(probe_, guard_scratch_)) return false;
    const Guard* g = find(guard_scratch_, c.guard);
    if (!g || slope == 0 || i == 3) return true;
    const double shift = (g->value - c.level) / slope;
    if (!(std::abs(shift) < 0.01 * (t - here_.t)) ||
        std::abs(shift) <= 2e-16 * std::max(1.0, std::abs(t)))
      return true;
    t -= shift;
  }
  return false;
}

bool EventIntegrator::take_event(Crossing crossing, EventReport& report) {
  ++report.events;
  double t = crossing.t;
  Vec y = Vec::Zero(y_.size());
  y.segment(model_.nv, model_.nv) = here_.v;
  if (t > here_.t && !polish(crossing, t, y)) return fail(report, "an event cannot be reached");
  if (t > here_.t) pace_ = std::max(pace_, t - here_.t);
  // All guards within their bands are one event.
  probe_.t = std::max(t, here_.t);
  unpack(y, probe_);
  std::vector<EventCause> causes;
  const auto cause_of = [&](const Guard& g) {
    Place place = g.element >= 0 ? mode_.elements[g.element].place()
                                 : Place{-1, g.key.a, g.key.b, g.key.feature};
    return EventCause{static_cast<Cause>(static_cast<int>(Cause::gap) + static_cast<int>(g.kind)),
                      place, 0};
  };
  causes.push_back(cause_of(crossing.guard));
  if (guards_at(probe_, guard_scratch_))
    for (const Guard& g : guard_scratch_)
      if (!g.same(crossing.guard) && std::abs(g.value) <= g.band && was_positive(g))
        causes.push_back(cause_of(g));
  if (!accept(y, std::max(t, here_.t), report)) return fail(report, "an event has no motion");
  return resolve_event(std::move(causes), report);
}

// Whether a guard had room at the start of the step; those that rested at zero are no cause.
bool EventIntegrator::was_positive(const Guard& g) const {
  const Guard* start = samples_.empty() ? nullptr : find(samples_[0], g);
  return start && start->value > start->band;
}

}  // namespace saltus
