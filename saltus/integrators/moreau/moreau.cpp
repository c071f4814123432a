#include "saltus/integrators/moreau/moreau.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/integrators/moreau/timed_step.h"

namespace saltus {

StepResult::StepResult(const Model& model) : work(model), assembly(model), islands(model) {
  motor_force.setZero(static_cast<Eigen::Index>(model.coordinates.size()));
  drive.setZero(model.nv);
  end.t = std::numeric_limits<double>::quiet_NaN();
  end.q.setZero(model.nq);
  end.v.setZero(model.nv);
  end.lengths.setZero(static_cast<Eigen::Index>(model.springs.size()));
}

FluidTerms::FluidTerms(const Model& model) {
  if (model.fluids.empty()) return;
  const std::size_t n = model.bodies.size();
  for (const Fluid& f : model.fluids)
    if (std::find(bodies.begin(), bodies.end(), f.body.value) == bodies.end())
      bodies.push_back(f.body);
  gain.assign(n, Mat6::Zero());
  for (auto* x : {&start, &mean, &wrench}) x->assign(n, Vec6::Zero());
  gathered.setZero(model.nv);
}

StepScratch::StepScratch(const Model& model, const SharedPlan& plan)
    : forest(model),
      finder(model),
      touches(model),
      rods(model),
      fluids(model),
      elements(model),
      wrenches(model.bodies.size(), Vec6::Zero()),
      twists_S(model.bodies.size(), Vec6::Zero()),
      twists_E(model.bodies.size(), Vec6::Zero()),
      slowed_twists(model.bodies.size(), Vec6::Zero()),
      settled_twists(model.bodies.size(), Vec6::Zero()),
      projection(model),
      books(model) {
  const auto n = static_cast<Eigen::Index>(model.coordinates.size());
  terms.resize(n);
  commands.resize(n);
  passive.resize(n);
  motor.resize(n);
  values_start.setZero(n);
  q_S.setZero(model.nq);
  q_M.setZero(model.nq);
  q_W.setZero(model.nq);
  for (Vec* x : {&v_S,       &v_E,          &v_free,        &v_before,       &v_mean,
                 &extra,     &impulse,      &start_impulse, &tau_user,       &rhs,
                 &rate_jump, &gathered,     &applied,       &increment,      &mean,
                 &image,     &image_before, &missing,       &missing_before, &missing_change,
                 &change})
    x->setZero(model.nv);
  if (PathStorage::holds(model, *plan)) paths = std::make_unique<PathStorage>(plan);
}

void check_options(const MoreauMidpoint& o, const Model& model, const std::string& path) {
  check_impact_law(o.impact, model, path + "impact");
  std::string why;
  if (is_dense(o.impact)) why = fmt::format("for the impact law {} asks for M", name_of(o.impact));
  if (o.storage == Storage::paths && (!why.empty() || !PathStorage::holds(model, &why)))
    throw InputError(
        path + "storage",
        fmt::format("expected auto or forest: the model cannot be kept along paths, {}", why));
}

namespace {

// P1's chain and Poisson's law ask for M itself, which only the forest has.
bool paths_serve(const MoreauMidpoint& o) {
  return o.storage != Storage::forest && !is_dense(o.impact);
}

}  // namespace

Storage storage_of(const MoreauMidpoint& o, const Model& model) {
  return paths_serve(o) && PathStorage::holds(model) ? Storage::paths : Storage::forest;
}

int first_diverged(const Model& model, VecIn v, double dt) {
  for (int i = 0; i < model.nv; ++i)
    if (!(std::abs(v[i]) < (model.rotational[i] ? std::numbers::pi / dt : divergence_speed)))
      return i;
  return -1;
}

namespace {

// `lap` is told after each stage which one it was: timed_step's clock, else nothing.
template <class Lap>
StepReport take_step(Stepper& k, const Lap& lap) {
  const Model& m = k.m;
  StepResult& out = k.out;
  StepScratch& w = k.w;
  const MoreauMidpoint& o = k.o;
  StepReport report;
  report.storage = k.mech.storage();
  out.assembly.joints_at_end = o.projection != Projection::root_fixed;
  k.start();  // q_M; kinematics and M there
  if (m.touches > 0 && !m.has_compliant) k.choose_touches();
  k.joint_terms();  // springs, dampers, motors
  lap(StepStage::smooth);
  if (m.has_compliant) k.compliant_forces();  // at q_M and v_S, part of h
  lap(StepStage::impulses);
  k.user_forces();
  lap(StepStage::smooth);
  w.finder.threads = o.threads;
  if (!m.has_compliant) w.finder.find(m, out.work, contact_margin(m), out.assembly.contacts);
  report.contacts = static_cast<int>(out.assembly.contacts.size());
  lap(StepStage::contacts);
  do {  // once, unless a motor that was taken to stay below its torque limit does not
    k.load_gains();
    if (w.rods.no_stress >= 0) {
      report.culprit = w.rods.no_stress;
      report.diverged = report.no_stress = true;
      return report;
    }
    lap(StepStage::smooth);
    if (!k.factor_mass(report.culprit)) {
      report.singular = true;
      return report;
    }
    k.cut_impulses();
    lap(StepStage::factor);
    k.open_rows();
    lap(StepStage::contacts);
    k.guess_mean();  // M (v_free - v_S) = dt h
    lap(StepStage::smooth);
    k.form_islands();
    lap(StepStage::delassus);
    for (;;) {  // once or twice, unless velocities jump
      k.solve_islands(report);
      k.end_velocity();  // v_E = v_free + M^-1 W Lambda
      k.capture(report);
      lap(StepStage::impulses);
      report.culprit = first_diverged(m, w.v_E, o.dt);
      if (report.culprit < 0 && !m.rods.empty()) report.culprit = k.first_squeezed();
      if (report.culprit >= 0) {
        report.diverged = true;
        return report;
      }
      if (k.mean_found(report)) break;
      lap(StepStage::smooth);
      k.renew_islands();
      lap(StepStage::delassus);
    }
  } while (!k.motors_within());
  k.find_impacts(report);
  k.keep_impulses();
  k.finish(report);
  lap(StepStage::end);
  return report;
}

Mechanics mechanics_of(const Model& m, StepWorkspace& w, const MoreauMidpoint& o) {
  return {m, w.result.work, w.scratch.forest, paths_serve(o) ? w.scratch.paths.get() : nullptr};
}

// Most pieces that a step is taken in where it is too long for what moves.
constexpr int most_pieces = 64;
// The defect of a step, as a share of what moves in its episode, from which on it is too long.
constexpr double unresolved_defect = 0.02;
// What velocities may owe, as a share of the bound: where what moves is the momentum that a part
// must keep, only its configuration is left to be wrong, and that is a matter of dt.
constexpr double unresolved_debt = 0.05;
// And by how much its velocities may not be those of their mean, as a share of them.
constexpr double unresolved_mean = 1e-3;

bool is_unresolved(const StepReport& r, const State& s) {
  if (r.diverged) return true;
  if (r.mean_missed > unresolved_mean * (1 + s.v.lpNorm<Eigen::Infinity>())) return true;
  // What begins to move has no energy yet to compare with but what the step gives it.
  const double moved = s.books.episode.scale() + r.energy.turned_over();
  if (r.owed > unresolved_debt * energy_bound * moved + s.books.rounding) return true;
  // And what begins inside each other is lifted apart by a step of any length.
  const double overlap = s.step == 1 ? r.energy.correction : 0;
  return std::abs(r.energy_error() + r.paid - overlap) >
         unresolved_defect * moved + s.books.rounding;
}

// Keeps the room of those that were there before.
void keep_record(StepResult& r) {
  const auto at = static_cast<std::size_t>(r.earlier_count++);
  if (at == r.earlier.size()) r.earlier.emplace_back();
  r.earlier[at] = r.record;
}

void scale_impulses(double factor, State& s) {
  s.Lambda *= factor;
  for (ContactImpulse& c : s.contacts)
    for (double& x : c.Lambda) x *= factor;
}

// What the pieces of a step say together.
void join(const StepReport& piece, StepReport& all) {
  const StepReport last = all;
  all = piece;
  all.energy = last.energy;
  all.energy.add_work(piece.energy);
  all.cut_work += last.cut_work;
  all.paid += last.paid;
  all.owed += last.owed;
  all.mean_missed = std::max(piece.mean_missed, last.mean_missed);
  all.repeated += last.repeated;
  all.impact.solve.iterations += last.solve().iterations;
  all.projection.iterations += last.projection.iterations;
  if (last.solve().residual > piece.solve().residual) {
    all.impact.solve.residual = last.solve().residual;
    all.worst = last.worst;
  }
  all.impact.solve.converged = piece.solve().converged && last.solve().converged;
  all.impact.impact = piece.impact.impact || last.impact.impact;
  all.impact.s = std::min(piece.impact.s, last.impact.s);
  all.projection.raw_penetration =
      std::max(piece.projection.raw_penetration, last.projection.raw_penetration);
  all.projection.raw_joint_gap =
      std::max(piece.projection.raw_joint_gap, last.projection.raw_joint_gap);
}

// What is left of the rates of cuts at the start of a step, O(dt^2) and more where light bodies
// turn fast, is nothing to a force, but an impact would work on it: then they are brought to rest
// first.
template <class Lap>
StepReport take_settled_step(Stepper& k, const Lap& lap) {
  StepScratch& w = k.w;
  if (k.m.cuts.empty() || k.o.projection != Projection::mass) return take_step(k, lap);
  w.start = k.s;
  const double earlier_gain = k.earlier_gain;
  StepReport report = take_step(k, lap);
  const double moved = k.s.books.episode.scale() + report.energy.turned_over();
  if (!report.struck || report.singular || report.diverged ||
      !(report.cut_work > unresolved_debt * energy_bound * moved + k.s.books.rounding))
    return report;
  k.s = w.start;
  k.earlier_gain = earlier_gain;
  k.mech.place(k.s.q, k.s.v);
  const double lost = k.settle_joints();
  report = take_step(k, lap);
  report.energy.joints += lost;
  report.cut_work += lost;
  return report;
}

constexpr int most_repeats = 8;

// Where a rod is too deep between its stations at the end it is given a place there, and the step
// is taken again.
template <class Lap>
StepReport take_touching_step(Stepper& k, const Lap& lap) {
  if (k.m.touches == 0 || k.m.has_compliant) return take_settled_step(k, lap);
  StepScratch& w = k.w;
  w.untouched = k.s;
  w.touches_given = false;
  const double earlier_gain = k.earlier_gain;
  for (int repeated = 0;; ++repeated) {
    StepReport report = take_settled_step(k, lap);
    report.repeated = repeated;
    if (report.singular || report.diverged) return report;
    double deepest = 0;
    w.next_touches = k.s.touches;
    const bool more = k.touches_missing(w.next_touches, deepest);
    if (!more || repeated == most_repeats) {
      report.projection.penetration = std::max(report.projection.penetration, deepest);
      return report;
    }
    k.s = w.untouched;
    k.earlier_gain = earlier_gain;
    k.s.touches = w.next_touches;
    w.touches_given = true;
  }
}

// Of equal length. False where one of them diverges or is singular: `all` says so.
template <class Lap>
bool take_pieces(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                 const MoreauMidpoint& whole, double t_E, int pieces, StepReport& all,
                 const Lap& lap) {
  MoreauMidpoint o = whole;
  o.dt = whole.dt / pieces;
  const double t_S = w.scratch.begin.t, length = t_E - t_S;
  s = w.scratch.begin;
  scale_impulses(1.0 / pieces, s);
  w.result.earlier_count = 0;
  all = {};
  bool resolved = true;
  double gain = 0;
  for (int i = 0; i < pieces; ++i) {
    const double begin = s.t, end = i + 1 < pieces ? t_S + length * (i + 1) / pieces : t_E;
    o.poses = whole.poses && i + 1 == pieces;
    Stepper k{m,
              act,
              s,
              w.result,
              w.scratch,
              o,
              {begin, 0.5 * (begin + end), end},
              mechanics_of(m, w, o),
              gain};
    const StepReport r = take_touching_step(k, lap);
    gain = k.earlier_gain;
    if (r.diverged || r.singular) {
      all.diverged = r.diverged;
      all.no_stress = r.no_stress;
      all.singular = r.singular;
      all.culprit = r.culprit;
      return false;
    }
    resolved = resolved && !is_unresolved(r, s);
    if (r.struck) keep_record(w.result);
    const bool struck = all.struck || r.struck;
    join(r, all);
    all.struck = struck;
  }
  if (all.struck) --w.result.earlier_count;  // the last is `record`
  all.pieces = pieces;
  s.step = w.scratch.begin.step + 1;
  scale_impulses(pieces, s);
  for (Contact& c : w.result.assembly.contacts)
    for (double& x : c.Lambda) x *= pieces;
  return resolved;
}

template <class Lap>
StepReport take_whole_step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                           const MoreauMidpoint& o, const Lap& lap) {
  SALTUS_ASSERT(fits(m, s) && fits(m, w.result.work));
  SALTUS_ASSERT(o.dt > 0);
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * o.dt;
  w.scratch.begin = s;
  w.scratch.whole_step = o.dt;
  w.result.earlier_count = 0;
  Stepper k{
      m, act, s, w.result, w.scratch, o, {s.t, 0.5 * (s.t + t_E), t_E}, mechanics_of(m, w, o)};
  StepReport report = take_touching_step(k, lap);
  // Explicit motors are there to show what an explicit gain does to a step.
  if (report.singular || o.motors == MotorScheme::start || !is_unresolved(report, s)) return report;
  for (int pieces = 2; pieces <= most_pieces; pieces *= 2)
    if (take_pieces(m, act, s, w, o, t_E, pieces, report, lap) || report.singular) break;
  if (report.diverged || report.singular) s = w.scratch.begin;
  return report;
}

}  // namespace

StepReport step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                const MoreauMidpoint& o) {
  return take_whole_step(m, act, s, w, o, [](StepStage) {});
}

StepReport timed_step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                      const MoreauMidpoint& o, StepTimes& times) {
  const auto cpu_time = [] {  // of this thread: what else the machine does stays out
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double last = cpu_time();
  return take_whole_step(m, act, s, w, o, [&](StepStage stage) {
    const double now = cpu_time();
    times.seconds[static_cast<std::size_t>(stage)] += now - last;
    last = now;
  });
}

void impose_prescribed(const Model& model, const Actuation& actuation, State& state) {
  SALTUS_ASSERT(fits(model, state));
  place_prescribed(model, actuation, state.t, state.q);
  prescribe_rates(model, actuation, state.t, state.v);
}

}  // namespace saltus
