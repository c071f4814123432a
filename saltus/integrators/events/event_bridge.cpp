// Where events chatter, or no mode lasts, time stepping goes over it.
//
// The inclusion of measures always has a next step, and it is what a mode is the limit of. It is
// taken in steps of a ten-thousandth of the time of a fall over a length scale or less, over
// stretches that double while the chatter goes on, and recorded as such (Cause::chatter): its error
// is that of time stepping, of first order in those steps.
#include <algorithm>
#include <cmath>

#include "saltus/dynamics/coordinates.h"
#include "saltus/integrators/events/event_driven.h"

namespace saltus {

namespace {

// All in times of a fall over a length scale.
constexpr double largest_step = 1e-4;
constexpr double first_try = 1e-6, last_try = 0.1;  // where no mode lasts
constexpr double last_stretch = 0.25;               // where events chatter
constexpr double creeping = 1e-4;                   // slips slower, in lengths over that time
// A run chatters where events and steps take more work than this in a window; steps, refused ones
// too, count where something creeps, since friction across a slow slip is stiff. (A ball that
// bounces with e = 0.99 has 280 impacts in the second window before it is passed; P2's trot creeps
// with 1000 steps.)
struct Window {
  double time;
  int work, work_of_element, work_of_event, work_of_step;
};
constexpr Window windows[] = {{1e-3, 240, 32, 2, 0}, {3e-2, 2400, 160, 8, 1}};

}  // namespace

double EventIntegrator::fall_time() const { return scales_.length / (slow_slip_ / slip_start); }

void EventIntegrator::note_work(int events, int steps) {
  for (std::size_t i = 0; i < chatter_.size(); ++i) {
    Chatter& c = chatter_[i];
    if (here_.t - c.since > windows[i].time * fall_time()) c = {here_.t, 0};
    c.work += windows[i].work_of_event * events + windows[i].work_of_step * steps;
  }
}

void EventIntegrator::note_step(int tries) {
  for (std::size_t i = 0; i < mode_.elements.size(); ++i) {
    const int row = now_.row[i];
    if (row < 0) continue;
    for (int k = 0; k < mode_.elements[i].sets; ++k) {
      const FrictionSet& s = mode_.elements[i].set[k];
      if (!s.slips || s.rows != 2 ||
          set_velocity(s, now_.gamma, row).norm() > creeping * scales_.length / fall_time())
        continue;
      note_work(0, 1 + 8 * (tries - 1));
      return;
    }
  }
}

// For how long it was watched to do so, in times of a fall; 0: it does not.
double EventIntegrator::chatters() const {
  const auto present = std::count_if(mode_.elements.begin(), mode_.elements.end(),
                                     [](const Element& e) { return e.present(); });
  for (std::size_t i = 0; i < chatter_.size(); ++i)
    if (chatter_[i].work >
        windows[i].work + windows[i].work_of_element * static_cast<double>(present))
      return windows[i].time;
  return 0;
}

// The mode that a step ended with: what it held is at rest.
void EventIntegrator::take_mode_of(const State& s) {
  EventMode held = static_elements(model_);
  held.flanks = mode_.flanks;
  for (Element& e : held.elements) {
    const unsigned char mode = s.mode[e.slot];
    e.closed = mode != 0;
    for (int k = 0; k < e.sets; ++k) e.set[k].slips = mode != 1;
  }
  for (const Contact& c : stepping_->result.assembly.contacts) {
    if (c.mode == 0) continue;
    const Element* old = find_contact(mode_, c.key);
    Element e = contact_element(model_, c.key, c.law, c.point.normal);
    if (old) e.tangent_axis = old->tangent_axis;
    if (old) e.patch = old->patch;
    e.closed = true;
    for (int k = 0; k < e.sets; ++k) e.set[k].slips = k > 0 || c.mode != 1;
    held.elements.push_back(e);
  }
  std::sort(held.elements.begin(), held.elements.end(), [](const Element& a, const Element& b) {
    return std::pair(a.is_contact(), a.slot) < std::pair(b.is_contact(), b.slot) ||
           (a.is_contact() && b.is_contact() && a.key < b.key);
  });
  choose_pieces(held);
  mode_ = std::move(held);
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, mode_, now_)) return;
  for (std::size_t i = 0; i < mode_.elements.size(); ++i)
    for (int k = 0; k < mode_.elements[i].sets && now_.row[i] >= 0; ++k) {
      FrictionSet& set = mode_.elements[i].set[k];
      const Vec2 u = set_velocity(set, now_.gamma, now_.row[i]);
      set.moving = set.slips;
      if (set.slips && u.norm() > 0) set.direction = u.normalized();
    }
}

// From here to `end`, which no jump of a drive comes before.
bool EventIntegrator::step_over(double end, EventReport& report) {
  if (!stepping_) stepping_ = std::make_unique<StepWorkspace>(model_);
  const double time = end - here_.t;
  const double n = std::max(1.0, std::ceil(time / (largest_step * fall_time())));
  AutoSolver solver;
  solver.tolerance = 1e-12 * scales_.velocity;
  MoreauMidpoint options;
  options.dt = time / n;
  options.solver = solver;
  options.impact = options_.impact;
  State s = make_state(model_);
  s.t = s.t0 = here_.t;
  s.q = here_.q;
  s.v = here_.v;
  s.turns = here_.turns;
  s.memory = here_.lagged;
  for (double i = 0; i < n; ++i) {
    const StepReport r = step(model_, actuation_, s, *stepping_, options);
    if (r.diverged || r.singular) return false;
    report.energy.add_work(r.energy);
    report.impacts += r.struck;
  }
  report.stepped += time;
  here_.t = end;
  here_.q = s.q;
  here_.v = s.v;
  here_.turns = s.turns;
  here_.lagged = s.memory.head(here_.lagged.size());
  place_prescribed(model_, actuation_, dynamics_.signal_time(end), here_.q);
  prescribe_rates(model_, actuation_, dynamics_.signal_time(end), here_.v);
  take_mode_of(s);
  const double drift = report.drift;  // a step's rows rest where they were at its mid-point
  const bool stable = stabilise(report);
  report.drift = drift;
  return stable;
}

void EventIntegrator::record_stretch(double from, const EventMode& before) {
  ModeChange change;
  change.t = from;
  change.causes.push_back({Cause::chatter, {}, here_.t});
  record(std::move(change), before);
}

// Time stepping from here on until a mode lasts, at most to the landing or a jump of a drive.
bool EventIntegrator::step_to_a_mode(const std::string& why, EventReport& report) {
  const double from = here_.t;
  const EventMode before = mode_;
  const auto recorded = static_cast<std::ptrdiff_t>(changes_.size());
  std::string last = why;
  // Where it was just so, from there on longer.
  const double T = fall_time();
  const bool goes_on = here_.t - chatter_end_ < 4 * chatter_stretch_;
  const double first = goes_on ? std::min(4 * chatter_stretch_ / T, last_try) : first_try;
  for (double stretch = first; stretch <= last_try; stretch *= 4) {
    chatter_stretch_ = stretch * T;
    const double end = std::min({here_.t + chatter_stretch_, landing_, dynamics_.until});
    if (!(end > here_.t)) break;
    if (!step_over(end, report)) return fail(report, why + "; nor do time steps go over it");
    if (end == landing_ || end == dynamics_.until ||
        decide({{Cause::chatter, {}, end}}, last, report)) {
      chatter_end_ = here_.t;
      record_stretch(from, before);  // before what was found at its end
      std::rotate(changes_.begin() + recorded, changes_.end() - 1, changes_.end());
      return true;
    }
  }
  return fail(report, last);
}

// A stretch of chatter.
bool EventIntegrator::pass_chatter(EventReport& report) {
  const double T = fall_time(), from = here_.t;
  const bool goes_on = here_.t - chatter_end_ < 4 * chatter_stretch_;
  chatter_stretch_ =
      std::max(goes_on ? std::min(2 * chatter_stretch_, last_stretch * T) : 0.0, chatters() * T);
  const EventMode before = mode_;
  const double end = std::min({here_.t + chatter_stretch_, landing_, dynamics_.until});
  for (Chatter& c : chatter_) c = {end, 0};
  if (!(end > here_.t)) return true;
  if (!step_over(end, report)) return fail(report, "chatter cannot be passed: " + stuck_);
  chatter_end_ = end;
  record_stretch(from, before);
  if (end == landing_ || end == dynamics_.until) return true;
  std::string why;
  return decide({{Cause::chatter, {}, end}}, why, report) || step_to_a_mode(why, report);
}

}  // namespace saltus
