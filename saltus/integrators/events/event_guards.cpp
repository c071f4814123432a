// Guards: when a mode ends.
#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_driven.h"

namespace saltus {

namespace {

// Instants of a step at which guards are looked at; a dip between two of them is found by the
// parabola through three.
constexpr int samples_per_step = 8;
constexpr int root_iterations = 80;
constexpr double far_off = 0.1;  // in length scales: an edge further away is as far as that

}  // namespace

// Guards of elements have the same place in every list of one mode; those of open contacts follow,
// sorted by key.
const EventIntegrator::Guard* EventIntegrator::find(const std::vector<Guard>& list,
                                                    const Guard& like) {
  if (like.place >= 0)
    return like.place < static_cast<int>(list.size()) ? &list[like.place] : nullptr;
  const auto at = std::lower_bound(
      list.begin(), list.end(), like,
      [](const Guard& g, const Guard& l) { return g.place >= 0 || g.key < l.key; });
  return at != list.end() && at->key == like.key ? &*at : nullptr;
}

bool EventIntegrator::guards_at(const Instant& at, std::vector<Guard>& out) {
  out.clear();
  if (!evaluate(at, mode_, trial_evaluation_)) return false;
  const Evaluation& now = trial_evaluation_;
  for (int i = 0; i < static_cast<int>(mode_.elements.size()); ++i) {
    const Element& e = mode_.elements[i];
    const int row = now.row[i];
    if (e.kind == Element::Kind::normal && e.closed)
      out.push_back({GuardKind::force, i, -1, {}, now.lambda[row] / scales_.force, bands_.force});
    if (e.kind == Element::Kind::normal && !e.closed && !e.is_contact())
      out.push_back({GuardKind::gap,
                     i,
                     -1,
                     {},
                     slot_gap(model_, dynamics_.work(), at.q, at.turns, model_.slots[e.slot]) /
                         scales_.length,
                     bands_.gap});
    if (!e.present()) continue;
    for (int k = 0; k < e.sets; ++k) {
      const FrictionSet& s = e.set[k];
      const int r = row + s.first;
      const Vec2 u(now.gamma[r], s.rows == 2 ? now.gamma[r + 1] : 0);
      const Vec2 f(now.lambda[r], s.rows == 2 ? now.lambda[r + 1] : 0);
      if (!s.slips) {
        const double normal = e.kind == Element::Kind::normal ? now.lambda[row] : 1;
        out.push_back(
            {GuardKind::stick,
             i,
             k,
             {},
             set_margin(with_share(s, k == 0 ? now.share[i] : 1), normal, f, scales_.force),
             bands_.force});
      } else if (s.rows == 1) {
        out.push_back(
            {GuardKind::slip, i, k, {}, s.direction[0] * u[0] / scales_.velocity, bands_.velocity});
      } else {
        // A slip that has begun but not yet got anywhere cannot end.
        const double speed = (s.start > 0 ? s.direction.dot(u) : u.norm()) / scales_.velocity;
        out.push_back({GuardKind::slip, i, k, {}, s.moving ? speed - bands_.slip : 1.0, 0});
      }
    }
  }
  corners_at(at, out);
  for (int i = 0; i < static_cast<int>(out.size()); ++i) out[i].place = i;
  if (model_.contact_laws.empty()) return true;
  finder_.find(model_, dynamics_.work(), 0.1 * scales_.length, found_);
  for (const Contact& c : found_) {
    const Element* e = find_contact(mode_, c.key);
    if (!e || !e->closed)
      out.push_back({GuardKind::gap, -1, -1, c.key, c.point.gap / scales_.length, bands_.gap});
  }
  return true;
}

// Corners of forces; after evaluate.
void EventIntegrator::corners_at(const Instant& at, std::vector<Guard>& out) {
  for (int i = 0; i < static_cast<int>(mode_.elements.size()); ++i) {
    const Element& e = mode_.elements[i];
    if (!e.is_contact() || !e.present()) continue;
    for (int side = 0; side < 2; ++side)
      if (const double room = dynamics_.room_on_map(e, dynamics_.contact(i), side);
          std::isfinite(room))
        out.push_back(
            {GuardKind::map, i, side, {}, std::min(room / scales_.length, far_off), bands_.gap});
  }
  for (int k = 0; k < static_cast<int>(mode_.flanks.size()); ++k) {
    const Motor& m = actuation_.motors[k];
    if (m.backlash == 0) continue;
    const double unit = model_.coordinates[m.coordinate].rotational ? 1 : scales_.length,
                 moment = scales_.force * scales_.length / unit;
    const int side = side_of(mode_.flanks[k]);
    const auto play = dynamics_.play_of(at.t, at.q, at.v, at.turns, k, side);
    const double within = 0.5 * m.backlash - (side == 0 ? std::abs(play.error) : side * play.error);
    out.push_back({GuardKind::flank, k, 0, {}, (side == 0 ? within : -within) / unit, bands_.gap});
    const double push = side * play.asked / moment;
    out.push_back({GuardKind::flank,
                   k,
                   1,
                   {},
                   side == 0                 ? 1
                   : pushes(mode_.flanks[k]) ? push
                                             : -push,
                   bands_.force});
  }
}

bool EventIntegrator::guards_on_step(double t, std::vector<Guard>& out) {
  interpolate(t, y_);
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

// Where over the samples of a step a guard has its first zero.
std::optional<EventIntegrator::Bracket> EventIntegrator::bracket(const Guard& like) {
  const auto at = [&](std::size_t k) {
    const Guard* g = find(samples_[k], like);
    return g ? g->value : 0.1;
  };
  const bool leaves =
      like.place < 0 && std::find(leaving_.begin(), leaving_.end(), like.key) != leaving_.end();
  bool armed = !leaves && at(0) > like.band;
  if (like.band == 0 && at(0) <= 0) return Bracket{like, 0, sample_times_[0], sample_times_[0]};
  for (std::size_t k = 1; k < samples_.size(); ++k) {
    const double g = at(k), low = sample_times_[k - 1], high = sample_times_[k];
    if (armed) {
      if (g <= 0) return Bracket{like, 0, low, high};
      if (k + 1 < samples_.size()) {  // a dip between samples
        const double before = at(k - 1), after = at(k + 1);
        const double bend = before - 2 * g + after;
        if (g < before && g < after && bend > 0) {
          const double shift = 0.5 * (before - after) / bend;
          const double dip = sample_times_[k] + shift * (high - low);
          if (g - 0.125 * (before - after) * (before - after) / bend < 0.1 * g &&
              value_on_step(like, dip) <= 0)
            return Bracket{like, 0, shift < 0 ? low : sample_times_[k], dip};
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
      if (value_on_step(like, t) > enough) return Bracket{like, 0, t, high};
    }
    return Bracket{like, -like.band, low, high};
  }
  return std::nullopt;
}

// The first zero of all: bisection with the secant of whichever guard comes first, all guards at
// once, since one evaluation tells them all; to the last bit of t.
EventIntegrator::Crossing EventIntegrator::first_zero(std::vector<Bracket>& all) {
  const auto by_end = [](const Bracket& x, const Bracket& y) { return x.high < y.high; };
  double b = std::min_element(all.begin(), all.end(), by_end)->high, a = here_.t;
  std::erase_if(all, [&](const Bracket& k) { return k.low > b; });
  for (const Bracket& k : all) a = k.low > a && k.high == b ? k.low : a;
  const auto values = [&](double t, std::vector<double>& out) {
    const bool good = guards_on_step(t, guard_scratch_);
    out.resize(all.size());
    bool crossed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Guard* g = good ? find(guard_scratch_, all[i].guard) : nullptr;
      out[i] = (!good ? -1 : g ? g->value : 0.1) - all[i].level;
      crossed = crossed || (t >= all[i].low && out[i] <= 0);
    }
    return crossed;
  };
  std::vector<double> fa, fb, f;
  (void)values(b, fb);
  if (a == b || values(a, fa)) return {a, all.front().guard, all.front().level};
  for (int i = 0; i < root_iterations; ++i) {
    double t = b;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (fb[k] <= 0 && fa[k] > 0) t = std::min(t, a + (b - a) * fa[k] / (fa[k] - fb[k]));
    if (i % 3 == 2 || !(t > a && t < b)) t = 0.5 * (a + b);
    if (t <= a || t >= b || b - a <= 2e-16 * std::max(1.0, std::abs(b))) break;
    if (values(t, f)) {
      b = t;
      fb = f;
    } else {
      a = t;
      fa = f;
    }
  }
  std::size_t first = 0;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (fb[k] <= 0 && (fb[first] > 0 || fa[k] < fa[first])) first = k;
  return {b, all[first].guard, all[first].level};
}

std::optional<EventIntegrator::Crossing> EventIntegrator::first_crossing(double t, double t_next) {
  if (mode_.elements.empty() && mode_.flanks.empty() && model_.contact_laws.empty())
    return std::nullopt;
  samples_.resize(samples_per_step + 1);
  sample_times_.resize(samples_per_step + 1);
  std::vector<Guard> all;
  for (int k = 0; k <= samples_per_step; ++k) {
    sample_times_[k] = k < samples_per_step ? t + (t_next - t) * k / samples_per_step : t_next;
    if (!guards_on_step(sample_times_[k], samples_[k])) samples_[k].clear();
    for (const Guard& g : samples_[k])
      if (g.place >= 0 ? k == 0 : true) all.push_back(g);
  }
  // Open contacts come and go from sample to sample: each once.
  const auto contacts =
      std::find_if(all.begin(), all.end(), [](const Guard& g) { return g.place < 0; });
  std::stable_sort(contacts, all.end(),
                   [](const Guard& x, const Guard& y) { return x.key < y.key; });
  all.erase(std::unique(contacts, all.end(),
                        [](const Guard& x, const Guard& y) { return x.key == y.key; }),
            all.end());
  std::vector<Bracket> found;
  for (const Guard& g : all)
    if (const auto k = bracket(g)) found.push_back(*k);
  if (found.empty()) return std::nullopt;
  return first_zero(found);
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
    pack(y_);
    if (!smooth_step(y_, t - here_.t)) return false;
    y = reached();
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
  Vec y;
  pack(y);
  if (t > here_.t && !polish(crossing, t, y))
    return step_to_a_mode("an event cannot be reached", report);
  if (t > here_.t) pace_ = std::max(pace_, t - here_.t);
  // All guards within their bands are one event.
  probe_.t = std::max(t, here_.t);
  unpack(y, probe_);
  std::vector<EventCause> causes;
  const auto cause_of = [&](const Guard& g) {
    if (g.kind == GuardKind::flank) return EventCause{Cause::drive, {}, 0};
    Place place = g.place >= 0 ? mode_.elements[g.element].place()
                               : Place{-1, g.key.a, g.key.b, g.key.feature};
    if (g.kind == GuardKind::map) return EventCause{Cause::feature, place, 0};
    return EventCause{static_cast<Cause>(static_cast<int>(Cause::gap) + static_cast<int>(g.kind)),
                      place, 0};
  };
  causes.push_back(cause_of(crossing.guard));
  if (guards_at(probe_, guard_scratch_))
    for (const Guard& g : guard_scratch_)
      if (!g.same(crossing.guard) && std::abs(g.value) <= g.band && was_positive(g))
        causes.push_back(cause_of(g));
  if (!accept(y, std::max(t, here_.t), report))
    return step_to_a_mode("an event has no motion; " + stuck_, report);
  return resolve_event(std::move(causes), report);
}

// Whether a guard had room at the start of the step; those that rested at zero are no cause.
bool EventIntegrator::was_positive(const Guard& g) const {
  if (samples_.empty()) return false;
  const Guard* start = find(samples_[0], g);
  // An open contact that is not in the list was far away.
  return start ? start->value > start->band : g.place < 0;
}

}  // namespace saltus
