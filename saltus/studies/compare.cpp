#include "saltus/studies/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "saltus/contact/elements.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/studies/mode_sequence.h"

namespace saltus {

Vec sample_positions(const Model& m, const State& s, Workspace& work) {
  forward_kinematics(m, s.q, s.v, work);
  const int bodies = m.body_count(), coordinates = static_cast<int>(m.coordinates.size());
  Vec x(3 * bodies + coordinates);
  for (int i = 0; i < bodies; ++i) x.segment<3>(3 * i) = work.X[i].r;
  for (int c = 0; c < coordinates; ++c)
    x[3 * bodies + c] = coordinate_value(m, work, s.q, s.turns, CoordinateIndex(c));
  return x;
}

namespace {

constexpr double samples_of_a_run = 500;  // at least, where it has as many steps
constexpr double most_steps = 1e7;
constexpr double rounding = 1e-12;  // gaps below say nothing of an order

const double none = std::nan("");

// Positions of bodies, then joint coordinates, one row a time.
struct Trajectory {
  std::vector<double> t;
  std::vector<Vec> row;
  std::vector<ModeChange> changes;
  std::int64_t steps = 0, unconverged = 0;
  double end = 0;
};

// Changes of mode of time stepping. As ModeWatcher sees them, but for scales, which hold where they
// rest, too: without a force they could be said to do either.
class SteppedModes {
 public:
  void look(const System& s, const State& state, bool impact, Workspace& work,
            std::vector<ModeChange>& changes) {
    std::vector<ModeMember> now = members_of(s.model, state);
    fastest_ = std::max(fastest_, state.v.size() > 0 ? state.v.lpNorm<Eigen::Infinity>() : 0);
    if (!s.model.runners.empty()) add_resting_scales(s, state, work, now);
    if (begun_ && !impact && now == last_) return;
    ModeChange change;
    change.t = state.t;
    change.impact = impact;
    change.after = now;
    changes.push_back(std::move(change));
    begun_ = true;
    last_ = std::move(now);
  }

 private:
  void add_resting_scales(const System& s, const State& state, Workspace& work,
                          std::vector<ModeMember>& now) const {
    // Of a runner's two slots the one with a mode is its scales'.
    const auto is_scale = [&](int slot) {
      return runner_of(s.model.slots[slot]) >= 0 && has_mode(s.model.slots[slot]);
    };
    std::erase_if(now, [&](const ModeMember& m) {
      return m.place.slot >= 0 && is_scale(m.place.slot) && m.status != Status::holds;
    });
    const std::vector<ModeMember> held = now;
    forward_kinematics(s.model, state.q, state.v, work);
    for (int k = 0; k < static_cast<int>(s.model.slots.size()); ++k) {
      const ModeMember scale{{k, -1, -1, 0}, Status::holds};
      if (!is_scale(k) || std::find(held.begin(), held.end(), scale) != held.end()) continue;
      const bool rest = rests(s, state, work, runner_of(s.model.slots[k]));
      now.push_back({scale.place, rest ? Status::holds : Status::slips});
    }
  }
  [[nodiscard]] bool rests(const System& s, const State& state, const Workspace& work,
                           int runner) const {
    constexpr double still = 1e-9;  // of the largest velocity so far; well above the solver's
    const Runner& r = s.model.runners[runner];
    const RunnerRows rows =
        runner_rows(s.model, work, r, steering_angle(s.actuation, runner, state.t));
    const Vec3 v = point_velocity(work, r.body, work.X[r.body] * r.point);
    return std::abs(rows.along.head<3>().dot(v)) <= still * fastest_;
  }

  bool begun_ = false;
  double fastest_ = 0;
  std::vector<ModeMember> last_;
};

Trajectory by_moreau(const Scene& scene, const System& system, double dt) {
  MoreauMidpoint options = scene.stepping;
  options.dt = dt;
  StepWorkspace work(system.model);
  State state = system.start;
  SteppedModes modes;
  Trajectory r;
  r.steps = static_cast<std::int64_t>(std::floor(scene.end / dt * (1 + 1e-12)));
  const auto every = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(r.steps) / samples_of_a_run));
  while (state.step < r.steps) {
    const StepReport report = step(system.model, system.actuation, state, work, options);
    if (report.diverged || report.singular)
      throw std::runtime_error(fmt::format(
          "time stepping with dt = {:g} s {} at t = {:g} s: expected smaller steps (--dt)", dt,
          report.diverged ? "diverges" : "meets a singular mass matrix", state.t));
    r.unconverged += !report.solve().converged;
    modes.look(system, state, report.impact.impact, work.result.work, r.changes);
    if (state.step % every != 0 && state.step != r.steps) continue;
    r.t.push_back(state.t);
    r.row.push_back(sample_positions(system.model, state, work.result.work));
  }
  r.end = state.t;
  return r;
}

Trajectory by_events(const Scene& scene, const System& system, const std::vector<double>& times) {
  EventIntegrator integrator(system.model, system.actuation, event_driven(scene));
  State state = system.start;
  Workspace work(system.model);
  Trajectory r;
  for (const double t : times) {
    const EventReport report = integrator.advance(state, t, scene.stepping.dt);
    for (ModeChange& c : integrator.take_changes()) r.changes.push_back(std::move(c));
    if (!report.failure.empty())
      throw std::runtime_error("the event-driven run failed: " + report.failure);
    ++state.step;
    r.t.push_back(t);
    r.row.push_back(sample_positions(system.model, state, work));
  }
  r.end = state.t;
  return r;
}

double slack(double t) { return 1e-11 * (1 + std::abs(t)); }

// Times of all runs, those that differ only by rounding once.
std::vector<double> union_of_times(const std::vector<Trajectory>& runs) {
  std::vector<double> all;
  for (const Trajectory& r : runs) all.insert(all.end(), r.t.begin(), r.t.end());
  std::sort(all.begin(), all.end());
  all.erase(
      std::unique(all.begin(), all.end(), [](double a, double b) { return b - a <= slack(a); }),
      all.end());
  return all;
}

void find_gaps(const Model& m, const Trajectory& exact, const Trajectory& stepped,
               SteppingRun& out) {
  std::size_t k = 0;
  const int bodies = m.body_count();
  for (std::size_t i = 0; i < stepped.t.size(); ++i) {
    while (k + 1 < exact.t.size() && exact.t[k] < stepped.t[i] - 2 * slack(stepped.t[i])) ++k;
    const Vec difference = stepped.row[i] - exact.row[k];
    const auto larger = [&](TrajectoryGap& gap, double size, const std::string& what) {
      if (size <= gap.size && !gap.what.empty()) return;
      gap.size = size;
      gap.t = stepped.t[i];
      gap.what = what;
    };
    double position = 0, coordinate = 0;
    for (int b = 0; b < bodies; ++b) {
      const double gap = difference.segment<3>(3 * b).norm();
      larger(out.position, gap, m.bodies[b].name);
      position = std::max(position, gap);
    }
    for (Eigen::Index c = 3 * bodies; c < difference.size(); ++c) {
      larger(out.coordinate, std::abs(difference[c]), m.coordinates[c - 3 * bodies].name);
      coordinate = std::max(coordinate, std::abs(difference[c]));
    }
    out.position.mean += position / static_cast<double>(stepped.t.size());
    out.coordinate.mean += coordinate / static_cast<double>(stepped.t.size());
  }
}

double slope(const std::vector<SteppingRun>& runs, TrajectoryGap SteppingRun::*gap) {
  std::vector<std::pair<double, double>> points;
  for (const SteppingRun& r : runs)
    if ((r.*gap).mean > rounding) points.emplace_back(std::log(r.dt), std::log((r.*gap).mean));
  if (points.size() < 2) return none;
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [a, b] : points) {
    x += a / static_cast<double>(points.size());
    y += b / static_cast<double>(points.size());
  }
  for (const auto& [a, b] : points) {
    xx += (a - x) * (a - x);
    xy += (a - x) * (b - y);
  }
  return xx > 0 ? xy / xx : none;
}

std::string cause_text(const Model& m, const ModeChange& c) {
  std::string text;
  for (const EventCause& e : c.causes) {
    const bool nowhere = e.place.slot < 0 && e.place.shape_a < 0;
    if (!text.empty()) text += ", ";
    text += name_of(e.cause);
    if (!nowhere) text += " " + short_name(m, e.place);
  }
  return text;
}

// The impact of time stepping that is nearer to the one at t than to its neighbours; NaN: none.
double impact_beside(const std::vector<ModeChange>& stepped, double before, double t,
                     double after) {
  double best = none;
  for (const ModeChange& c : stepped)
    if (c.impact && c.t > 0.5 * (before + t) && c.t < 0.5 * (t + after) &&
        !(std::abs(c.t - t) >= std::abs(best - t)))
      best = c.t;
  return best;
}

// When the stepped run does what the events do.
void match_events(const Model& m, const Trajectory& exact, const Trajectory& stepped,
                  SteppingRun& out) {
  const std::vector<ModeSpan> first = mode_spans(exact.changes, exact.end);
  const std::vector<ModeSpan> second = mode_spans(stepped.changes, stepped.end);
  const double shortest = ignored_steps * out.dt;
  const ModeMatch match = match_modes(first, second, shortest);
  out.modes_agree = match.agree;
  if (!match.agree) {
    const auto here = [&](const std::vector<ModeSpan>& spans, int i) {
      return i < static_cast<int>(spans.size())
                 ? fmt::format("{} from {:.6g} s", text_of(m, spans[i].members), spans[i].from)
                 : std::string("nothing more");
    };
    out.difference = fmt::format("event-driven {}, time stepping {}", here(first, match.first_stop),
                                 here(second, match.second_stop));
  }
  std::vector<double> impacts;
  for (const ModeChange& c : exact.changes)
    if (c.impact) impacts.push_back(c.t);
  std::size_t impact = 0;
  for (const ModeChange& c : exact.changes) {
    double t = none;
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i].from == c.t && match.partner[i] >= 0) t = second[match.partner[i]].from;
    if (c.impact) {
      const double before = impact > 0 ? impacts[impact - 1] : -infinity;
      const double after = impact + 1 < impacts.size() ? impacts[impact + 1] : infinity;
      const bool apart = std::min(c.t - before, after - c.t) >= shortest;
      if (std::isnan(t) && apart) t = impact_beside(stepped.changes, before, c.t, after);
      ++impact;
    }
    out.times.push_back(t);
    if (!std::isnan(t)) out.event_gap = std::max(out.event_gap, std::abs(t - c.t));
  }
}

void check_steps(const Scene& scene, const std::vector<double>& dt) {
  for (const double x : dt)
    if (!(x > 0) || x > scene.end || scene.end / x > most_steps)
      throw InputError(fmt::format("--dt: expected steps from {:.3g} to {:.3g} s, got {:g}",
                                   scene.end / most_steps, scene.end, x));
}

}  // namespace

std::vector<double> fitted_steps(const Scene& scene) {
  double largest = scene.end / 1000;
  if (scene.method != Method::event_driven) largest = std::min(largest, 8 * scene.stepping.dt);
  largest = scene.end / std::ceil(scene.end / largest * (1 - 1e-12));
  return {largest, largest / 2, largest / 4, largest / 8};
}

Comparison compare(const Scene& scene, std::vector<double> dt) {
  if (dt.empty()) dt = fitted_steps(scene);
  check_steps(scene, dt);
  std::sort(dt.begin(), dt.end(), std::greater<>());
  const System system = build_system(scene);
  std::vector<Trajectory> stepped;
  stepped.reserve(dt.size());
  for (const double x : dt) stepped.push_back(by_moreau(scene, system, x));
  const Trajectory exact = by_events(scene, system, union_of_times(stepped));

  Comparison result;
  for (const ModeChange& c : exact.changes)
    result.events.push_back(
        {c.t, cause_text(system.model, c), text_of(system.model, c.after), c.impact});
  for (std::size_t i = 0; i < dt.size(); ++i) {
    SteppingRun run;
    run.dt = dt[i];
    run.steps = stepped[i].steps;
    run.unconverged = stepped[i].unconverged;
    find_gaps(system.model, exact, stepped[i], run);
    match_events(system.model, exact, stepped[i], run);
    result.runs.push_back(std::move(run));
  }
  result.position_order = slope(result.runs, &SteppingRun::position);
  result.coordinate_order = slope(result.runs, &SteppingRun::coordinate);
  return result;
}

}  // namespace saltus
