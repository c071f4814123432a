// What happens at an event: impacts, then the mode that follows.
//
// All that touches takes part at once. Velocities first: whatever closes gets an impulse by the
// impact law. Then forces: elements that rest hold, slide or open as the inclusion at acceleration
// level says (the laws of a step with accelerations for velocities). Where force and acceleration
// both vanish that is no answer; then the mode is followed for a moment and those of its statuses
// that do not last change together (P3 eq. 2.5, 2.6).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/integrators/events/event_driven.h"

namespace saltus {

namespace {

// Forces and accelerations below this share of their scales do not decide a mode by themselves.
constexpr double undecided = 1e-7;
// How long a mode is followed to see whether it lasts, in time scales: the first at which a status
// shows a sign decides about it.
constexpr double moments[] = {1e-6, 1e-4, 1e-2};
constexpr double sign_band = 1e-11;
constexpr int most_decisions = 64;
// In times of a fall over a length scale: nothing of interest changes faster.
constexpr double fastest_pace = 1e-3;
constexpr int most_enumerated = 5;  // statuses, 2^5 modes: ties; time stepping takes what is left
// A row that is held and accelerates by more than this share of the scale is not held: no force
// does it (a crank at its dead centre). What dependent rows leave is rounding of zeta, 1e-11 at
// most.
constexpr double not_kept = 1e-6;

bool lasts(const std::vector<unsigned char>& flips) {
  return std::all_of(flips.begin(), flips.end(), [](unsigned char f) { return f == 0; });
}

// The status of every element as text: modes that were tried before.
std::string fingerprint(const EventMode& mode) {
  std::string text;
  for (const Element& e : mode.elements) {
    text += e.present() ? 'c' : 'o';
    for (int i = 0; i < e.sets; ++i) text += e.set[i].slips ? 's' : 'h';
  }
  return text;
}

// Whether something slipped before, slips now, and in between stood still: the members of the two
// modes are the same, the motion is not.
bool reverses(const EventMode& before, const EventMode& after) {
  const auto same = [](const Element& a, const Element& b) {
    return a.slot == b.slot && a.key == b.key;
  };
  for (const Element& e : after.elements) {
    const auto old = std::find_if(before.elements.begin(), before.elements.end(),
                                  [&](const Element& o) { return same(o, e); });
    if (old == before.elements.end() || !old->present() || !e.present()) continue;
    for (int k = 0; k < e.sets; ++k) {
      const FrictionSet &s = e.set[k], &o = old->set[k];
      const bool turned = s.rows == 1 ? s.direction[0] != o.direction[0] : o.moving && !s.moving;
      if (s.slips && o.slips && turned) return true;
    }
  }
  return false;
}

}  // namespace

void EventIntegrator::renew_scales() {
  double fastest = 0, strongest = 0;
  for (int i = 0; i < model_.nv; ++i) {
    const double length = model_.rotational[i] ? scales_.length : 1;
    fastest = std::max(fastest, length * std::abs(here_.v[i]));
    if (now_.a.size() == model_.nv) strongest = std::max(strongest, length * std::abs(now_.a[i]));
  }
  const double g = model_.gravity.norm();
  const double least = g > 0 ? g : scales_.length;  // no gravity: one length a second squared
  scales_.velocity = std::max(fastest, 1e-2 * std::sqrt(least * scales_.length));
  // Accelerations may vanish at the very event; what a step resolves tells how fast things change.
  // Before the first step that is the time in which things move by their own size: a rotor that
  // turns at a given rate has no acceleration of its own, yet its forces change within a turn.
  // A step that friction across a slow slip makes tiny does not tell how fast forces change.
  const double pace = std::isinf(pace_) ? scales_.length / scales_.velocity
                                        : std::max(pace_, fastest_pace * fall_time());
  scales_.acceleration = std::max({strongest, 1e-3 * least, 0.1 * scales_.velocity / pace});
  scales_.force = std::max(now_.force, 1e-2 * model_.total_mass() * scales_.acceleration);
}

// The static elements as they stand, and every contact that touches, closed.
EventMode EventIntegrator::touching() {
  EventMode trial;
  trial.flanks = mode_.flanks;
  for (const Element& e : mode_.elements)
    if (!e.is_contact()) trial.elements.push_back(e);
  forward_kinematics(model_, here_.q, here_.v, work_);
  for (Element& e : trial.elements) {
    e.touches = true;
    if (e.kind != Element::Kind::normal || e.closed) continue;
    e.closed = e.touches = slot_gap(model_, work_, here_.q, here_.turns, model_.slots[e.slot]) <=
                           touching_gap * scales_.length;
  }
  finder_.find(model_, work_, touching_gap * scales_.length, found_);
  for (const Contact& c : found_) {
    const Element* old = find_contact(mode_, c.key);
    Element e = old ? *old : contact_element(model_, c.key, c.law, c.point.normal);
    e.closed = true;
    trial.elements.push_back(e);
  }
  choose_pieces(trial);
  return trial;
}

// Opens a block of the event's problem with the rows of a block of the mode.
int EventIntegrator::take_rows(const Law& law, int block, double compliance) {
  const Assembly& from = dynamics_.rows();
  const Block& k = from.blocks[block];
  const int row = problem_.open(law, from.source[block], compliance, k.length);
  problem_.wrench_a.middleCols(row, k.rows) = from.wrench_a.middleCols(k.row, k.rows);
  problem_.wrench_b.middleCols(row, k.rows) = from.wrench_b.middleCols(k.row, k.rows);
  return row;
}

void EventIntegrator::partition() {
  islands_.partition(model_, problem_);
  while (islands_.count() > static_cast<int>(island_problems_.size()))
    island_problems_.emplace_back();
}

// What the velocities say: contacts that part are open, sets that move slip.
bool EventIntegrator::classify(EventMode& trial, std::string& why) {
  const double band = bands_.velocity * scales_.velocity;
  leaving_.clear();
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    Element& e = trial.elements[i];
    const int row = now_.row[i];
    if (row < 0) continue;
    // Its sets are judged all the same: where it comes back at once, it does not open after all.
    if (e.kind == Element::Kind::normal && now_.gamma[row] > band) {
      e.closed = false;
      if (e.is_contact()) leaving_.push_back(e.key);
    }
    for (int k = 0; k < e.sets; ++k) {
      FrictionSet& s = e.set[k];
      const Vec2 u = set_velocity(s, now_.gamma, row);
      const double least = s.rows == 1 ? band : 3 * bands_.slip * scales_.velocity;
      s.slips = u.norm() > least;
      s.moving = s.slips;
      s.pinned = false;
      s.start = s.slips && u.norm() < slow_slip_ && s.rows == 2 ? slow_slip_ : 0;
      if (!s.slips) continue;
      s.direction = u.normalized();
      if (s.rows == 1 && u[0] < 0 && std::isinf(s.backward)) {
        why = fmt::format("{} moves backwards ({:.3g} m/s), which its scales forbid",
                          model_.name_of(e.place()), u[0]);
        return false;
      }
    }
  }
  return true;
}

// What is left of velocities that count as zero goes, or a slip would start where it was heading.
bool EventIntegrator::rest(const EventMode& trial) {
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_)) return false;
  return std::isfinite(dynamics_.rest_rows(here_.t, trial, here_.v, now_));
}

// The inclusion at acceleration level: which of the resting elements hold, slide or open.
bool EventIntegrator::solve_mode(EventMode& trial, std::string& why) {
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_) || !free_motion(trial, now_)) {
    why = "the mass matrix is singular or a contact is lost";
    return false;
  }
  const Vec& free = dynamics_.row_free();
  const double A =
      std::max(scales_.acceleration, free.size() > 0 ? free.lpNorm<Eigen::Infinity>() : 0.0);
  problem_.clear();
  problem_.contacts.clear();
  std::vector<int> element_of;
  int block = 0;
  bool open_question = false;
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    if (now_.row[i] < 0) continue;
    const int from = block++;
    if (e.kind == Element::Kind::friction && e.set[0].slips) continue;  // its force is known
    open_question = open_question || e.kind != Element::Kind::bilateral;
    const int row = take_rows(law_in_mode(model_, e, now_.share[i]), from, e.compliance);
    element_of.push_back(static_cast<int>(i));
    problem_.b.segment(row, e.rows) = dynamics_.bias().segment(now_.row[i], e.rows);
    problem_.gamma_S.segment(row, e.rows).setZero();
    // A slip outweighs every acceleration: the force follows its direction.
    for (int k = 0; k < e.sets; ++k)
      if (e.set[k].slips)
        for (int j = 0; j < e.set[k].rows; ++j)
          problem_.b[row + e.set[k].first + j] += 1e3 * A * e.set[k].direction[j];
  }
  if (!open_question) return true;
  partition();
  AutoSolver solver;
  solver.tolerance = 1e-11 * A;
  const Solver chosen = solver;
  for (int i = 0; i < islands_.count(); ++i) {
    IslandProblem& p = island_problems_[i];
    form_island(model_, problem_, islands_[i], chosen, dynamics_.a_free(), dynamics_.mass(), p);
    (void)solve_island(chosen, dynamics_.mass(), p);  // only a guess: what follows judges it
    end_rates(dynamics_.mass(), p, p.xi);
    int row = 0;
    for (const int b : islands_[i].blocks) {
      const Block& k = problem_.blocks[b];
      Element& e = trial.elements[element_of[b]];
      const Vec force = p.Lambda.segment(row, k.rows);
      const Vec acceleration = p.xi.segment(row, k.rows) + problem_.b.segment(k.row, k.rows);
      row += k.rows;
      guess(e, force, acceleration, A);
    }
  }
  return true;
}

void EventIntegrator::guess(Element& e, const Vec& force, const Vec& acceleration, double A) const {
  const double F = scales_.force;
  if (e.kind == Element::Kind::normal && force[0] < undecided * F &&
      acceleration[0] > undecided * A) {
    e.closed = false;
    return;
  }
  for (int k = 0; k < e.sets; ++k) {
    FrictionSet& s = e.set[k];
    if (s.slips) continue;
    const Vec2 a(acceleration[s.first], s.rows == 2 ? acceleration[s.first + 1] : 0);
    if (a.norm() <= undecided * A) continue;  // holds, or will be seen not to
    s.slips = true;
    s.pinned = s.dynamic < 1;  // until it is seen to move: unpin
    s.direction = a.normalized();
    s.start = s.rows == 2 ? slow_slip_ : 0;
  }
}

// Follows mode_ from here for `moment` time scales, into probe_.
bool EventIntegrator::follow(double moment) {
  const double h = std::min(moment * scales_.time(), 0.5 * (dynamics_.until - here_.t));
  Vec y;
  pack(y);
  if (!short_step(y, h, y_)) return false;
  probe_.t = here_.t + h;
  unpack(y_, probe_);
  return true;
}

// Friction falls to mu_d where a set that let go gets going; true where one does.
bool EventIntegrator::unpin(EventMode& trial) {
  const auto any_pinned = [&] {
    return std::any_of(trial.elements.begin(), trial.elements.end(), [](const Element& e) {
      return e.present() && e.sets > 0 && e.set[0].pinned;
    });
  };
  if (!any_pinned()) return false;
  const EventMode kept = mode_;
  mode_ = trial;
  bool any = false;
  for (const double moment : moments) {
    if (!follow(moment) || !dynamics_.prepare(probe_.t, probe_.q, probe_.v, mode_, sample_)) break;
    for (std::size_t i = 0; i < trial.elements.size(); ++i) {
      FrictionSet& s = trial.elements[i].set[0];
      if (sample_.row[i] < 0 || !s.pinned) continue;
      const double speed = s.direction.dot(set_velocity(s, sample_.gamma, sample_.row[i]));
      if (speed <= sign_band * scales_.velocity) continue;
      s.pinned = false;
      any = true;
    }
  }
  mode_ = kept;
  return any;
}

// What the mode holds though no force can: such sets slide where they are driven to, such normals
// open. Where rows depend on each other (solve_rows) forces are those of least squares, and what
// they leave is the answer.
bool EventIntegrator::unkept(const EventMode& trial, std::vector<unsigned char>& flips) {
  if (!evaluate(here_, trial, sample_)) return false;
  const Vec& free = dynamics_.row_free();
  const double A =
      std::max(scales_.acceleration, free.size() > 0 ? free.lpNorm<Eigen::Infinity>() : 0.0);
  bool any = false;
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    const int row = sample_.row[i];
    if (row < 0) continue;
    if (e.kind == Element::Kind::normal && sample_.gamma_dot[row] > not_kept * A) flips[i] |= 1U;
    for (int k = 0; k < e.sets; ++k) {
      const Vec2 a = set_velocity(e.set[k], sample_.gamma_dot, row);
      if (e.set[k].slips || a.norm() <= not_kept * A) continue;
      flips[i] |= static_cast<unsigned char>(2U << k);
      directions_[i][k] = a.normalized();
    }
    any = any || flips[i] != 0;
  }
  return any;
}

// Follows the mode for a moment; true when it could be followed.
bool EventIntegrator::violations(const EventMode& trial, std::vector<unsigned char>& flips) {
  flips.assign(trial.elements.size(), 0);
  directions_.resize(trial.elements.size(), {Vec2::UnitX(), Vec2::UnitX(), Vec2::UnitX()});
  if (unkept(trial, flips)) return true;
  std::vector<unsigned char> settled(trial.elements.size(), 0);
  const EventMode kept = mode_;
  EventMode all = trial;  // with the rows of what is open, for its rates
  for (Element& e : all.elements)
    if (e.kind == Element::Kind::normal && e.touches) e.closed = true;
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, all, sample_)) return false;
  rates_here_ = sample_.gamma;
  mode_ = trial;
  bool followed = true;
  for (const double moment : moments) {
    if (!follow(moment)) {
      followed = moment != moments[0];
      break;
    }
    if (!dynamics_.prepare(probe_.t, probe_.q, probe_.v, all, sample_)) break;
    rates_ = sample_.gamma;
    all_rows_ = sample_.row;
    if (!evaluate(probe_, trial, sample_)) break;
    judge(trial, flips, settled);
  }
  mode_ = kept;
  return followed;
}

// Signs of the statuses a moment later.
void EventIntegrator::judge(const EventMode& trial, std::vector<unsigned char>& flips,
                            std::vector<unsigned char>& settled) {
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    const auto look = [&](int bit, double value) {
      const auto mask = static_cast<unsigned char>(1U << bit);
      if ((settled[i] & mask) != 0 || std::abs(value) <= sign_band) return;
      settled[i] |= mask;
      if (value < 0) flips[i] |= mask;
      // A set that lets go slips where its force points at that moment.
      if (value < 0 && bit > 0 && !e.set[bit - 1].slips)
        directions_[i][bit - 1] = slip_direction(
            e.set[bit - 1], set_velocity(e.set[bit - 1], sample_.lambda, sample_.row[i]));
    };
    const int row = sample_.row[i];
    if (e.kind == Element::Kind::normal) {
      if (e.closed)
        look(0, sample_.lambda[row] / scales_.force);
      else if (all_rows_[i] >= 0)
        look(0, rates_[all_rows_[i]] / scales_.velocity);
    }
    if (!e.present()) continue;
    for (int k = 0; k < e.sets; ++k) {
      const FrictionSet& s = e.set[k];
      const Vec2 u = set_velocity(s, sample_.gamma, row), f = set_velocity(s, sample_.lambda, row);
      const double normal = e.kind == Element::Kind::normal ? sample_.lambda[row] : 1;
      // What slid before the event slides after it. Of others what they gained counts: a slip that
      // ended may be left with a velocity within its band that nothing can put to rest (dead
      // centre).
      if (s.slips && !s.moving)
        look(k + 1,
             s.direction.dot(u - set_velocity(s, rates_here_, all_rows_[i])) / scales_.velocity);
      else if (!s.slips)
        look(k + 1,
             set_margin(with_share(s, k == 0 ? sample_.share[i] : 1), normal, f, scales_.force));
    }
  }
}

// Turns the statuses that do not last.
void EventIntegrator::flip(EventMode& trial, const std::vector<unsigned char>& flips) const {
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    Element& e = trial.elements[i];
    if ((flips[i] & 1U) != 0) {
      e.closed = !e.closed;
      continue;
    }
    for (int k = 0; k < e.sets; ++k) {
      if ((flips[i] & (2U << k)) == 0) continue;
      FrictionSet& s = e.set[k];
      s.slips = !s.slips;
      s.pinned = s.slips && s.dynamic < 1;
      s.start = s.slips && s.rows == 2 ? slow_slip_ : 0;
      if (s.slips) s.direction = directions_[i][k];
    }
  }
}

// The mode that lasts: first with static friction, then with mu_d where things get going.
bool EventIntegrator::settle_mode(EventMode& trial, std::string& why) {
  for (int round = 0; round < most_decisions; ++round) {
    if (!explore(trial, why)) return false;
    if (!unpin(trial)) return true;
  }
  why = "friction lets go and catches again without an end";
  return false;
}

bool EventIntegrator::explore(EventMode& trial, std::string& why) {
  directions_.clear();
  std::set<std::string> tried;
  std::vector<unsigned char> flips, ever(trial.elements.size(), 0);
  for (int round = 0; round < most_decisions; ++round) {
    const bool followed = violations(trial, flips);
    if (followed && lasts(flips)) return true;
    if (!followed) break;
    for (std::size_t i = 0; i < flips.size(); ++i) ever[i] |= flips[i];
    tried.insert(fingerprint(trial));
    EventMode next = trial;
    flip(next, flips);
    if (tried.contains(fingerprint(next))) break;
    trial = next;
  }
  return enumerate(trial, ever, why);
}

// Changes that chase each other: all combinations of them.
bool EventIntegrator::enumerate(EventMode& trial, const std::vector<unsigned char>& ever,
                                std::string& why) {
  std::vector<std::pair<std::size_t, unsigned char>> bits;
  std::string places;
  for (std::size_t i = 0; i < ever.size(); ++i)
    for (int k = 0; k < 4; ++k)
      if ((ever[i] & (1U << k)) != 0) {
        bits.emplace_back(i, static_cast<unsigned char>(1U << k));
        if (places.size() < 200)
          places += (places.empty() ? "" : ", ") + model_.name_of(trial.elements[i].place());
      }
  why = fmt::format("no mode is consistent (Painleve's paradox, or contacts that contradict): {}",
                    places.empty() ? "nothing that could change" : places);
  if (bits.empty() || bits.size() > most_enumerated) return false;
  const EventMode base = trial;
  std::vector<unsigned char> flips;
  for (unsigned choice = 0; choice < 1U << bits.size(); ++choice) {
    std::vector<unsigned char> change(ever.size(), 0);
    for (std::size_t b = 0; b < bits.size(); ++b)
      if ((choice >> b & 1U) != 0) change[bits[b].first] |= bits[b].second;
    trial = base;
    flip(trial, change);
    if (violations(trial, flips) && lasts(flips)) return true;
  }
  trial = base;
  return false;
}

// The mode that follows the velocities here, into trial, which holds all that touches.
bool EventIntegrator::find_mode(EventMode& trial, std::string& why) {
  why.clear();
  choose_pieces(trial);  // of the velocities after an impact
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_) || !classify(trial, why) ||
      !rest(trial)) {
    if (why.empty()) why = "velocities: the mass matrix is singular or a contact is lost";
    return false;
  }
  return solve_mode(trial, why) && settle_mode(trial, why);
}

bool EventIntegrator::decide(std::vector<EventCause> causes, std::string& why,
                             EventReport& report) {
  const EventMode before = mode_;
  ModeChange change;
  change.t = here_.t;
  change.causes = std::move(causes);
  inadmissible_ = true;
  if (now_.a.size() == 0 && !evaluate(here_, mode_, now_)) {
    why = "the mass matrix is singular";
    return false;
  }
  renew_scales();
  EventMode trial = touching();
  if (!settle_velocities(trial, change, why)) return false;
  inadmissible_ = false;
  pass_accumulation(trial, change);
  const EventMode touching_elements = trial;
  if (!find_mode(trial, why)) {
    std::string jam;
    trial = touching_elements;
    enter_books(change, report);
    if (change.impact || change.driven != 0) {  // of a collision: a change of its own
      ModeChange jam_change;
      jam_change.t = change.t;
      jam_change.causes = change.causes;
      std::swap(change, jam_change);
      if (jam_change.impact) record(std::move(jam_change), before);
    }
    if (!jump_out(trial, change, jam)) {
      why += "; " + jam;
      return false;
    }
    if (!find_mode(trial, jam)) {
      enter_books(change, report);
      record(std::move(change), before);
      why += "; after an impact without collision the same: " + jam;
      return false;
    }
  }
  // Contacts that came out open are none of the mode's.
  std::erase_if(trial.elements, [](const Element& e) { return e.is_contact() && !e.closed; });
  std::sort(trial.elements.begin(), trial.elements.end(), [](const Element& a, const Element& b) {
    return std::pair(a.is_contact(), a.slot) < std::pair(b.is_contact(), b.slot) ||
           (a.is_contact() && b.is_contact() && a.key < b.key);
  });
  mode_ = std::move(trial);
  enter_books(change, report);
  if (!stabilise(report)) {
    why = "the mode has no motion; " + stuck_;
    return false;
  }
  renew_scales();
  record(std::move(change), before);
  return true;
}

bool EventIntegrator::resolve_event(std::vector<EventCause> causes, EventReport& report) {
  std::string why;
  note_work(1, 0);
  if (decide(std::move(causes), why, report))
    return here_.t >= landing_ || chatters() == 0 || pass_chatter(report);
  if (inadmissible_ || here_.t >= landing_) return fail(report, why);
  return step_to_a_mode(why, report);
}

void EventIntegrator::enter_books(const ModeChange& change, EventReport& report) {
  report.energy.prescribed += change.driven;
  if (!change.impact) return;
  ++report.impacts;
  report.least_share = std::min(report.least_share, change.share);
  enter(change.record, report.energy);
}

void EventIntegrator::record(ModeChange change, const EventMode& before) {
  const auto members = [](const EventMode& mode) {
    std::vector<ModeMember> list;
    for (const Element& e : mode.elements)
      if (e.kind != Element::Kind::bilateral && e.present())
        list.push_back({e.place(), status_of(e)});
    return list;
  };
  change.after = members(mode_);
  const bool told = change.impact || change.causes.front().cause == Cause::start ||
                    change.causes.front().cause == Cause::chatter || reverses(before, mode_);
  if (told || change.after != members(before)) changes_.push_back(std::move(change));
}

}  // namespace saltus
