#include "saltus/simulate/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_step.h"
#include "saltus/integrators/rk4_projection.h"
#include "saltus/problems/problem_file.h"
#include "saltus/scene/document.h"
#include "saltus/simulate/recorder.h"
#include "saltus/simulate/run_summary.h"
#include "saltus/simulate/run_totals.h"
#include "saltus/version.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Totals, metrics and state in one blob; the state's part grows with its contacts.
std::vector<std::uint8_t> pack(const State& state, const Totals& totals,
                               const std::vector<double>& metrics) {
  std::vector<std::uint8_t> bytes(sizeof(Totals) + metrics.size() * sizeof(double));
  std::memcpy(bytes.data(), &totals, sizeof totals);
  if (!metrics.empty())
    std::memcpy(bytes.data() + sizeof totals, metrics.data(), metrics.size() * sizeof(double));
  const auto state_bytes = to_bytes(state);
  bytes.insert(bytes.end(), state_bytes.begin(), state_bytes.end());
  return bytes;
}

struct SceneRun {
  const Scene& scene;
  const RunOptions& options;
  System system;
  StepWorkspace work;
  SensorBank sensors;
  MetricEvaluator metrics;
  State state;
  Totals totals;
  std::unique_ptr<Recorder> recorder;
  RunResult result;
  Clock::time_point began = Clock::now();
  MoreauMidpoint integrator = scene.integrator;
  std::unique_ptr<EventIntegrator> events;  // instead of time stepping
  std::unique_ptr<Rk4Projection> rk4;       // instead of time stepping
  ModeWatcher watcher;
  std::vector<ModeChange> changes;  // of the last step
  UndeterminedCounter undetermined;
  bool dumped = false;
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t frame_every = 1, checkpoint_every = 1;
  bool frame_written = false;  // by the last step

  SceneRun(const Scene& s, const RunOptions& o)
      : scene(s),
        options(o),
        system(build_system(s)),
        work(system.model),
        sensors(system.model, system.sensors, s.integrator.dt, memory_of(system.actuation)),
        metrics(make_metrics()),
        state(system.start) {
    system.actuation.user = o.controller ? o.controller(sensors) : o.force;
    make_integrator();
    integrator.threads = o.threads;
    integrator.keep_failing = o.dump.empty() ? examined_rows : std::numeric_limits<int>::max();
    const double dt = s.integrator.dt;
    last_step = static_cast<std::int64_t>(std::ceil(s.end / dt - 1e-9));
    const auto every = [&](double interval) {
      return static_cast<std::int64_t>(std::clamp(std::round(interval / dt), 1.0, 1e18));
    };
    frame_every = every(s.output.interval);
    checkpoint_every = every(s.output.checkpoint);
  }

  MetricEvaluator make_metrics() const {
    try {
      return {system.model, scene.probes, scene.metrics, scene.end};
    } catch (const InputError& e) { throw scene.document->error(e.path(), e.message()); }
  }

  void make_integrator() {
    try {
      if (scene.events)
        events = std::make_unique<EventIntegrator>(system.model, system.actuation, *scene.events);
      if (scene.rk4_projection)
        rk4 = std::make_unique<Rk4Projection>(system.model, system.actuation);
    } catch (const InputError& e) {
      if (e.path().empty()) throw;
      throw scene.document->error(e.path(), e.message());
    }
  }

  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(Clock::now() - began).count();
  }

  void start() {
    forward_kinematics(system.model, state.q, state.v, work.work);
    metrics.start(system.model, state, work.work);
    sensors.start(work.work, state);
    EnergyTerms& e = totals.ledger;
    e.kinetic = kinetic_energy(system.model, state.v, work.work);
    e.potential = potential_energy(system.model, system.actuation, state, work.work);
    if (system.model.has_compliant)
      e.potential +=
          stored_energy(system.model, state, work.work, work.finder, work.compliant.contacts);
    totals.start_energy = e.total();
    open_recorder();
    if (recorder) {
      recorder->frame(system, state, work, totals.ledger, 0);
      recorder->sensors(sensors);
    }
    write_checkpoint();
  }

  void open_recorder(bool publish = true) {
    if (options.output.empty()) return;
    const bool checkpoints = !options.forced();
    recorder = std::make_unique<Recorder>(options.output, scene, system, checkpoints, publish);
  }

  void resume() {
    const RunReader old(options.resume_from);
    if (old.checkpoint_count() == 0)
      throw InputError(
          fmt::format("{}: there is no checkpoint to resume from", options.resume_from));
    if (const int known = RunFileSpec().checkpoint_version; old.checkpoint_version() != known)
      throw InputError(fmt::format(
          "{}: its checkpoints are of version {} (saltus {}), this saltus resumes version {}; run "
          "its scene again",
          options.resume_from, old.checkpoint_version(), old.version(), known));
    const auto saved = old.checkpoint(old.checkpoint_count() - 1);
    const std::size_t head = sizeof(Totals) + metrics.memory().size() * sizeof(double);
    if (saved.state.size() < head)
      throw InputError(
          fmt::format("{}: the checkpoint does not fit this scene", options.resume_from));
    std::memcpy(&totals, saved.state.data(), sizeof totals);
    std::vector<double> memory(metrics.memory().size());
    if (!memory.empty())
      std::memcpy(memory.data(), saved.state.data() + sizeof totals,
                  memory.size() * sizeof(double));
    metrics.restore(memory);
    state = from_bytes(system.model, saved.state.data() + head, saved.state.size() - head);
    if (state.step != saved.step || state.step < 0 || state.step > last_step)
      throw InputError(fmt::format("{}: the last checkpoint is damaged", options.resume_from));
    if (state.memory.size() < memory_of(system.actuation) + sensors.memory())
      throw InputError(
          fmt::format("{}: the checkpoint does not fit this scene", options.resume_from));
    sensors.start(work.work, state);
    first_step = state.step;
    open_recorder(false);  // a kill must not cost what is there: published when all is copied
    if (!recorder) return;
    recorder->copy(old, state.step);
    for (std::size_t i = 0; i < old.checkpoint_count(); ++i) {
      const auto c = old.checkpoint(i);
      recorder->checkpoint(c.step, c.state);
    }
    recorder->flush();
    recorder->publish();
  }

  void write_checkpoint() {
    if (!recorder) return;
    if (!options.forced()) recorder->checkpoint(state.step, pack(state, totals, metrics.memory()));
    recorder->flush();
  }

  void diverge(const StepReport& r) {
    result.status = RunStatus::diverged;
    const std::string body =
        r.culprit >= 0 ? system.model.bodies[system.model.v_body[r.culprit]].name : "?";
    result.message = fmt::format(
        "the run {} at t = {:.6g} s, body '{}' (last residual {:.2e} m/s); the last good state is "
        "step {}{}",
        r.singular ? "met a singular mass matrix" : "diverged", state.t, body, r.solve().residual,
        state.step,
        recorder && !options.forced() ? fmt::format(", kept as a checkpoint in {}", options.output)
                                      : "");
    result.message += no_solution();
    write_checkpoint();
  }

  // The first step found that has none, as the end of a message.
  [[nodiscard]] std::string no_solution() const {
    const NoSolution& n = totals.no_solution;
    if (n.at.count == 0) return "";
    return fmt::format(
        "; step {} at t = {:.6g} s has no solution: no motion meets {}{}, the nearest misses by "
        "{:.2e} m/s",
        n.step, n.time, text_of(system.model, n.at), n.at.count > 1 ? " together" : "", n.miss);
  }

  // To the next landing, event by event.
  StepReport land(bool& good) {
    EventReport report;
    const StepReport r =
        event_step(system.model, *events, state, work, scene.integrator.dt, report);
    changes = events->take_changes();
    totals.events += report.events;
    good = report.failure.empty();
    if (good) return r;
    result.status = RunStatus::diverged;
    result.message = fmt::format("{}; the last good state is step {}{}", report.failure, state.step,
                                 recorder && !options.forced()
                                     ? fmt::format(", kept as a checkpoint in {}", options.output)
                                     : "");
    note_impacts(r);
    if (recorder) recorder->modes(changes, state.step);
    write_checkpoint();
    return r;
  }

  StepReport projected_step(bool& good) {
    StepReport r;
    good = rk4->step(state, scene.integrator.dt, r.energy);
    if (!good) {
      r.singular = true;
      diverge(r);
      return r;
    }
    forward_kinematics(system.model, state.q, state.v, work.work);
    work.motor_force = rk4->dynamics().motor_force();
    work.drive = rk4->dynamics().drive();
    changes.clear();
    if (scene.output.modes) watcher.look(system.model, state, false, changes);
    return r;
  }

  StepReport time_step(bool& good) {
    const StepReport r = step(system.model, system.actuation, state, work, integrator);
    if (work.failing_island >= 0) look_into_failing(r);
    good = !r.diverged && !r.singular;
    if (!good) diverge(r);
    changes.clear();
    if (good && scene.output.modes) watcher.look(system.model, state, r.impact.impact, changes);
    return r;
  }

  // The impacts of the last step.
  void note_impacts(const StepReport& r) {
    const auto note = [&](const ImpactRecord& record) {
      totals.add(record);
      if (recorder) recorder->impact(record, state.step);
    };
    if (r.struck) note(work.record);
    for (const ModeChange& c : changes)
      if (events && c.impact) note(c.record);
  }

  bool one_step() {
    bool good = true;
    const StepReport r = events ? land(good) : rk4 ? projected_step(good) : time_step(good);
    if (!good) return false;
    totals.add(state, r);
    sensors.step(work, state);
    note_impacts(r);
    metrics.step(
        system.model, state, work.work,
        {.drive_work = totals.ledger.motors + totals.ledger.prescribed + totals.ledger.muscles,
         .energy_error = totals.energy_error,
         .joint_gap = r.projection.joint_gap});
    const bool frame = state.step % frame_every == 0 || state.step == last_step;
    const int open =
        frame && !events && !rk4 ? undetermined.look(work, state, totals.undetermined) : 0;
    totals.mode_changes += static_cast<double>(changes.size());
    if (recorder) {
      recorder->step(state, r, wall());
      if (!changes.empty()) recorder->modes(changes, state.step);
      recorder->sensors(sensors);
      frame_written = frame;
      if (frame_written) recorder->frame(system, state, work, totals.ledger, open);
      if (state.step % checkpoint_every == 0) write_checkpoint();
    }
    return true;
  }

  // Steps that missed their tolerance: the first is dumped on request, and those that are worse
  // than all before are searched for a contradiction until one is found.
  void look_into_failing(const StepReport& r) {
    const Island& island = work.islands[work.failing_island];
    if (!options.dump.empty() && !dumped) dump_failing(r);
    if (totals.no_solution.at.count == 0 && island.rows <= examined_rows &&
        r.solve().residual > totals.worst_residual)
      totals.no_solution = look_for_solution(work, options_of(integrator.solver).tolerance, state);
    const bool dump_later = !options.dump.empty() && !dumped;
    const int examine_later = totals.no_solution.at.count == 0 ? examined_rows : 0;
    integrator.keep_failing = dump_later ? std::numeric_limits<int>::max() : examine_later;
  }

  // For `saltus solve`.
  void dump_failing(const StepReport& r) {
    const IslandProblem& p = work.failing;
    std::vector<std::string> names;
    for (const int block : work.islands[work.failing_island].blocks)
      names.push_back(system.model.name_of(work.assembly.place(block)));
    write_problem(options.dump, p.problem, p.Lambda.head(p.rows), names,
                  options_of(integrator.solver).tolerance,
                  fmt::format("{}: the step to t = {:.9g} s, residual {:.3e} m/s",
                              scene.document->name(), state.t, r.solve().residual));
    dumped = true;
  }

  void stop() {
    result.status = RunStatus::stopped;
    result.message = fmt::format("stopped at t = {:.6g} s", state.t);
    write_checkpoint();
  }

  void loop() {
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
          totals.unconverged, state.step, options_of(scene.integrator.solver).tolerance,
          totals.worst_residual_step, totals.worst_residual_time, totals.worst_residual,
          system.model.name_of(totals.worst_residual_place));
      result.message += no_solution();
    }
  }

  [[nodiscard]] Json energy_json() const {
    const EnergyTerms& e = totals.ledger;
    return {{"kinetic", e.kinetic},
            {"potential", e.potential},
            {"change", e.total() - totals.start_energy},
            {"motors", e.motors},
            {"prescribed", e.prescribed},
            {"muscles", e.muscles},
            {"external", e.external},
            {"dampers", e.dampers},
            {"contacts", e.contacts},
            {"friction", e.friction},
            {"joints", e.joints},
            {"correction", e.correction},
            {"integrator", e.integrator},
            {"impacts", e.impacts}};
  }

  [[nodiscard]] Json undetermined_json() const {
    const Undetermined& u = totals.undetermined;
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    Json j = {{"examined", whole(u.examined)},
              {"found", whole(u.found)},
              {"left_out", whole(u.left_out)}};
    if (u.found > 0) {
      j["most"] = whole(u.most);
      j["first_step"] = whole(u.first_step);
      j["first_t"] = u.first_time;
      j["count"] = u.at.count;
      j["at"] = names_of(system.model, u.at);
    }
    return j;
  }

  [[nodiscard]] Json locomotion_json() const {
    const Locomotion& l = *system.actuation.locomotion;
    const int memory = memory_of(system.actuation.motors);
    if (state.memory.size() < memory + memory_of(l)) return nullptr;  // before the first step
    const LocomotionReport r = report_of(l, state.memory.data() + memory);
    const auto pair = [](double wanted, double mean) {
      return Json{{"wanted", wanted}, {"mean", mean}};
    };
    Json j = {{"trunk", system.model.bodies[l.robot.root].name},
              {"fell", nullptr},
              {"measured_s", r.measured},
              {"forward", pair(r.wanted_forward, r.forward)},
              {"lateral", pair(r.wanted_lateral, r.lateral)},
              {"yaw_rate", pair(r.wanted_yaw_rate, r.yaw_rate)},
              {"height", pair(l.height, r.height)},
              {"largest_tilt", r.largest_tilt},
              {"saturated", r.saturated},
              {"infeasible", r.infeasible}};
    if (r.fall != Fall::none)
      j["fell"] = {{"t", r.fall_time},
                   {"why", text_of(r.fall)},
                   {"message", fmt::format("the robot fell at t = {:.6g} s: {}", r.fall_time,
                                           text_of(r.fall))}};
    return j;
  }

  void summarise() {
    const double wall_s = wall();
    const auto steps = static_cast<double>(state.step - first_step);
    Json j;
    const char* const names[] = {"completed", "unconverged", "diverged", "stopped"};
    j["scene"] = scene.document->name();
    j["title"] = scene.title;
    j["status"] = names[static_cast<int>(result.status)];
    if (!result.message.empty()) j["message"] = result.message;
    if (options.forced()) j["resumable"] = false;
    j["saltus_version"] = version;
    j["t"] = state.t;
    j["steps"] = state.step;
    j["dt"] = scene.integrator.dt;
    j["wall_s"] = wall_s;
    j["steps_per_s"] = steps / std::max(wall_s, 1e-9);
    j["integrator"] = integrator_name(scene);
    if (events) j["events"] = static_cast<std::int64_t>(totals.events);
    if (events || scene.output.modes)
      j["mode_changes"] = static_cast<std::int64_t>(totals.mode_changes);
    j["solver"] = name_of(scene.integrator.solver);
    if (!events && !scene.rk4_projection)
      j["storage"] = name_of(storage_of(scene.integrator, system.model));
    j["coordinates"] = system.model.nv;
    j["mean_iterations"] = totals.iterations / std::max<double>(1, static_cast<double>(state.step));
    j["max_iterations"] = static_cast<std::int64_t>(totals.most_iterations);
    j["unconverged_steps"] = static_cast<std::int64_t>(totals.unconverged);
    j["worst_residual"] = totals.worst_residual;
    j["worst_residual_time"] = totals.worst_residual_time;
    j["worst_residual_at"] = system.model.name_of(totals.worst_residual_place);
    j["max_penetration"] = totals.penetration;
    j["max_raw_penetration"] = totals.raw_penetration;
    if (system.model.has_compliant) j["max_sinking"] = totals.sinking;
    j["penetrating_steps"] = static_cast<std::int64_t>(totals.penetrating);
    if (totals.penetrating > 0) {
      j["deepest_time"] = totals.deepest_time;
      j["deepest_at"] = system.model.name_of(totals.deepest);
    }
    j["open_joint_steps"] = static_cast<std::int64_t>(totals.open_joints);
    j["max_joint_gap"] = totals.joint_gap;
    j["max_raw_joint_gap"] = totals.raw_joint_gap;
    j["redundant_rows"] = static_cast<std::int64_t>(totals.redundant);
    j["undetermined_steps"] = undetermined_json();
    if (const NoSolution& n = totals.no_solution; n.at.count > 0)
      j["no_solution"] = {{"step", static_cast<std::int64_t>(n.step)},
                          {"t", n.time},
                          {"miss", n.miss},
                          {"count", n.at.count},
                          {"at", names_of(system.model, n.at)}};
    if (system.closure.loop >= 0) {
      j["start_loop_gap"] = system.closure.gap;
      j["start_loop"] = system.model.cuts[system.closure.loop].name;
    }
    j["impacts"] = static_cast<std::int64_t>(totals.impacts);
    j["least_restitution_share"] = totals.least_share;
    j["impact_law"] = name_of(events ? scene.events->impact : scene.integrator.impact);
    j["impacts_that_gained"] = static_cast<std::int64_t>(totals.gains);
    if (totals.gains > 0) {
      j["most_gained"] = totals.most_gained;
      j["most_gained_time"] = totals.most_gained_time;
    }
    j["impact_fallbacks"] = static_cast<std::int64_t>(totals.fallbacks);
    j["worst_energy_error"] = totals.worst_error;
    j["worst_energy_error_time"] = totals.worst_error_time;
    if (dumped) j["dumped"] = options.dump;
    j["energy"] = energy_json();
    if (system.actuation.locomotion) j["locomotion"] = locomotion_json();
    j["metrics"] = Json::object();
    for (const auto& m : metrics.results(system.model))
      j["metrics"][m.name] = m.value ? Json(*m.value) : Json(nullptr);
    result.summary = std::make_shared<RunSummary>(RunSummary{std::move(j)});
  }

  RunResult finish() {
    result.state = state;
    summarise();
    if (recorder) recorder->finish(result.summary_json());
    return result;
  }
};

}  // namespace

std::string RunResult::summary_json() const {
  return summary->json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunResult run(const Scene& scene, const RunOptions& options) {
  if (options.forced() && !options.resume_from.empty())
    throw InputError("a run with a force of the user cannot be resumed");
  SceneRun runner(scene, options);
  if (options.resume_from.empty())
    runner.start();
  else
    runner.resume();
  runner.loop();
  return runner.finish();
}

Scene scene_of_run(const std::string& path) {
  const RunReader reader(path);
  // Where the scene names robot files, the header has it with these written out.
  const auto header = nlohmann::json::parse(reader.header(), nullptr, false);
  const auto text = [&](const char* key) -> std::optional<std::string> {
    if (!header.is_object() || !header.contains(key) || !header[key].is_string())
      return std::nullopt;
    return header[key].get<std::string>();
  };
  Document document = Document::from_text(text("complete_scene").value_or(reader.scene()), path);
  if (const auto folder = text("folder")) document.set_folder(*folder);
  return read_scene(document);
}

}  // namespace saltus
