#include "saltus/simulate/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/forces/flow.h"
#include "saltus/problems/problem_file.h"
#include "saltus/scene/document.h"
#include "saltus/simulate/scene_run.h"
#include "saltus/simulate/start_check.h"

namespace saltus {

namespace {

System system_in(const Scene& scene, const std::shared_ptr<const Flow>& flow) {
  System system = build_system(scene);
  if (flow) use_flow(system.model, flow);
  return system;
}

}  // namespace

SceneRun::SceneRun(const Scene& s, const RunOptions& o)
    : scene(s),
      options(o),
      system(system_in(s, o.flow)),
      work(system.model),
      sensors(system.model, system.sensors, s.stepping.dt, memory_of(system.actuation)),
      metrics(make_metrics()),
      state(system.start),
      integration(system.model, system.actuation, integrator_of(s)),
      watch(system.model) {
  system.actuation.user = o.controller ? o.controller(sensors) : o.force;
  integration.watch_modes(s.output.modes);
  if (MoreauMidpoint* moreau = integration.time_stepping()) {
    moreau->threads = o.threads;
    moreau->keep_failing = o.dump.empty() ? examined_rows : std::numeric_limits<int>::max();
  }
  const double dt = s.stepping.dt;
  last_step = static_cast<std::int64_t>(std::ceil(s.end / dt - 1e-9));
  const auto every = [&](double interval) {
    return static_cast<std::int64_t>(std::clamp(std::round(interval / dt), 1.0, 1e18));
  };
  frame_every = every(s.output.interval);
  checkpoint_every = every(s.output.checkpoint);
}

MetricEvaluator SceneRun::make_metrics() const {
  try {
    return {system.model, scene.probes, scene.metrics, scene.end};
  } catch (const InputError& e) { throw scene.document->error(e.path(), e.message()); }
}

std::vector<std::string> SceneRun::too_fast() {
  forward_kinematics(system.model, state.q, state.v, work.result.work);
  return watch.start(system.model, work.result.work, scene.stepping.dt);
}

void SceneRun::look_at_start() {
  if (!stepping) return;
  std::vector<std::string>& told = result.warnings;
  told = overlaps_at(system.model, state);
  for (std::string& line : beyond_limits_at(system.model, state)) told.push_back(std::move(line));
  if (!told.empty() && scene.overlap == Overlap::refuse)
    throw scene.document->error(
        "overlap", fmt::format("{}{}; move them apart, or `overlap: separate`", told.front(),
                               told.size() > 1 ? ", and others" : ""));
  if (!told.empty() && scene.overlap == Overlap::separate) {
    for (std::string& line : told) line += ", moved apart";
    if (const double left = separate(system.model, state); left > penetration_allowed)
      told.push_back(fmt::format("{:.3g} m of it could not be mended", left));
  }
  for (std::string& line : too_fast()) told.push_back(std::move(line));
  result.note = untouchable(system.model);
}

void SceneRun::start() {
  look_at_start();
  forward_kinematics(system.model, state.q, state.v, work.result.work);
  metrics.start(system.model, state, work.result.work);
  sensors.start(work.result.work, state);
  EnergyTerms& e = totals.ledger;
  e.kinetic = kinetic_energy(system.model, state.v, work.result.work);
  e.potential = potential_energy(system.model, system.actuation, state, work.result.work);
  if (system.model.has_compliant)
    e.potential += stored_energy(system.model, state, work.result.work, work.scratch.finder,
                                 work.scratch.compliant.contacts);
  totals.start_energy = e.total();
  open_recorder();
  if (recorder) {
    recorder->frame(system, state, work.result, totals.ledger, 0);
    recorder->sensors(sensors);
  }
  write_checkpoint();
}

Place SceneRun::contact_of(const StepReport& r) const {
  Place place = r.projection.deepest == Place{} ? r.worst : r.projection.deepest;
  double deepest = 0;
  for (const Contact& c : work.result.assembly.contacts) {
    if (!(c.point.gap < deepest)) continue;
    deepest = c.point.gap;
    place = {.shape_a = c.key.a, .shape_b = c.key.b, .feature = c.key.feature};
  }
  return place;
}

void SceneRun::watch_books(const StepReport& r) {
  const EnergyBooks& b = state.books;
  if (b.broken > 0) return;
  if (!(b.episode.gained - b.rounding > energy_bound * b.episode.scale())) {
    broke.step = 0;  // or no longer: more moves now
    return;
  }
  if (broke.step > 0) return;
  broke = {state.step, state.t, r.projection.raw_penetration, 0, 0, contact_of(r)};
  for (int i = 0; i < system.model.body_count(); ++i) {
    const double turn = scene.stepping.dt * work.result.work.V[i].tail<3>().norm();
    if (!(turn > broke.turn)) continue;
    broke.turn = turn;
    broke.body = i;
  }
}

void SceneRun::watch_step(const StepReport& r) {
  watch_books(r);
  watch.look(work.result, state, scene.stepping.dt);
}

void SceneRun::fail(const std::string& why) {
  result.status = RunStatus::diverged;
  result.message = fmt::format("{}; the last good state is step {}{}", why, state.step,
                               recorder && !options.forced()
                                   ? fmt::format(", kept as a checkpoint in {}", options.output)
                                   : "");
  result.message += no_solution();
  if (const EnergyBooks b = closed_books(); b.worst > energy_bound)
    result.message += fmt::format("; {}", books_text(b));
  else if (stepping)
    result.message += "; a shorter time.step may do";
  if (stepping)
    for (const std::string& line : too_fast()) result.message += fmt::format("; {}", line);
  note_impacts();
  note_modes();
  write_checkpoint();
}

void SceneRun::judge_books() {
  const EnergyBooks b = closed_books();
  if (b.broken == 0 || system.model.has_compliant || options.allow_gain) return;
  result.status = RunStatus::gained;
  result.message = books_text(b);
}

void SceneRun::note_impacts() {
  for (const ImpactRecord* record : integration.impacts()) {
    totals.add(*record);
    if (recorder) recorder->impact(*record, state.step);
  }
}

void SceneRun::note_modes() {
  if (recorder && !integration.changes().empty())
    recorder->modes(integration.changes(), state.step);
}

bool SceneRun::one_step() {
  const AdvanceReport report = integration.advance(state, work);
  const StepReport& r = report.step;
  totals.events += report.events;
  if (work.result.failing_island >= 0) look_into_failing(r);
  if (!report.failure.empty()) {
    fail(report.failure);
    return false;
  }
  totals.add(state, r);
  if (stepping) watch_step(r);
  sensors.step(work.result, state);
  note_impacts();
  metrics.step(
      system.model, state, work.result.work,
      {.drive_work = totals.ledger.motors + totals.ledger.prescribed + totals.ledger.muscles,
       .energy_error = totals.energy_error,
       .joint_gap = r.projection.joint_gap});
  const bool frame = state.step % frame_every == 0 || state.step == last_step;
  const int open =
      frame && stepping ? undetermined.look(work.result, state, totals.undetermined) : 0;
  totals.mode_changes += static_cast<double>(integration.changes().size());
  if (recorder) {
    recorder->step(state, r, wall());
    note_modes();
    recorder->sensors(sensors);
    frame_written = frame;
    if (frame_written) recorder->frame(system, state, work.result, totals.ledger, open);
    if (state.step % checkpoint_every == 0) write_checkpoint();
  }
  return true;
}

void SceneRun::look_into_failing(const StepReport& r) {
  MoreauMidpoint& moreau = *integration.time_stepping();
  const Island& island = work.result.islands[work.result.failing_island];
  if (!options.dump.empty() && !dumped) dump_failing(r);
  if (totals.no_solution.at.count == 0 && island.rows <= examined_rows &&
      r.solve().residual > totals.worst_residual)
    totals.no_solution = look_for_solution(work.result, work.result.failing_tolerance, state);
  const bool dump_later = !options.dump.empty() && !dumped;
  const int examine_later = totals.no_solution.at.count == 0 ? examined_rows : 0;
  moreau.keep_failing = dump_later ? std::numeric_limits<int>::max() : examine_later;
}

void SceneRun::dump_failing(const StepReport& r) {
  const IslandProblem& p = work.result.failing;
  std::vector<std::string> names;
  for (const int block : work.result.islands[work.result.failing_island].blocks)
    names.push_back(system.model.name_of(work.result.assembly.place(block)));
  write_problem(options.dump, p.problem, p.Lambda.head(p.rows), names,
                work.result.failing_tolerance,
                fmt::format("{}: the step to t = {:.9g} s, residual {:.3e} m/s",
                            scene.document->name(), state.t, r.solve().residual));
  dumped = true;
}

void SceneRun::stop() {
  result.status = RunStatus::stopped;
  result.message = fmt::format("stopped at t = {:.6g} s", state.t);
  write_checkpoint();
}

void SceneRun::loop() {
  double next = 0;
  while (state.step < last_step) {
    if (!one_step()) return;
    if (frame_written && options.on_frame && !options.on_frame([&] { recorder->flush(); }))
      return stop();
    // Looking at the clock costs little beside a step; every 16th is often enough.
    if (state.step % 16 != 0) continue;
    const double now = wall();
    if (now < next) continue;
    next = now + 0.1;
    if (recorder) recorder->flush();
    const double speed = static_cast<double>(state.step - first_step) / std::max(now, 1e-9);
    const bool go_on = !options.progress || options.progress(state.t, scene.end, speed);
    if (!go_on && state.step < last_step) return stop();  // a run that is over was not stopped
  }
  if (totals.unconverged > 0 && !scene.allow_unconverged) {
    result.status = RunStatus::unconverged;
    result.message = fmt::format(
        "{} of {} steps missed the tolerance of {:.1e} m/s; the worst, step {} at t = {:.6g} s, "
        "has a residual of {:.2e} m/s at {}",
        totals.unconverged, state.step, options_of(scene.stepping.solver).tolerance,
        totals.worst_residual_step, totals.worst_residual_time, totals.worst_residual,
        system.model.name_of(totals.worst_residual_place));
    result.message += no_solution();
    return;
  }
  judge_books();
}

RunResult SceneRun::finish() {
  result.state = state;
  if (stepping)
    for (std::string& line : watch.lines(system.model, scene.stepping.dt))
      result.warnings.push_back(std::move(line));
  summarise();
  if (recorder) recorder->finish(result.summary_json());
  return result;
}

RunResult run(const Scene& scene, const RunOptions& options) {
  if (options.forced() && !options.resume_from.empty())
    throw InputError("a run with a force or a flow of the user cannot be resumed");
  SceneRun runner(scene, options);
  if (options.resume_from.empty())
    runner.start();
  else
    runner.resume();
  runner.loop();
  return runner.finish();
}

}  // namespace saltus
