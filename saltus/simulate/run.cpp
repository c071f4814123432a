#include "saltus/simulate/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/forces/flow.h"
#include "saltus/problems/problem_file.h"
#include "saltus/scene/document.h"
#include "saltus/simulate/recorder.h"
#include "saltus/simulate/run_summary.h"
#include "saltus/simulate/run_totals.h"
#include "saltus/simulate/start_check.h"
#include "saltus/simulate/step_watch.h"
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

System system_in(const Scene& scene, const std::shared_ptr<const Flow>& flow) {
  System system = build_system(scene);
  if (flow) use_flow(system.model, flow);
  return system;
}

struct SceneRun {
  // The step with which the gains of an episode passed its bound.
  struct BrokenStep {
    std::int64_t step = 0;  // 0: none did
    double t = 0, depth = 0, turn = 0;
    int body = 0;  // that turned most
    Place at;
  };

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
  Integration integration;
  bool stepping = scene.method == Method::moreau;
  UndeterminedCounter undetermined;
  bool dumped = false;
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t frame_every = 1, checkpoint_every = 1;
  bool frame_written = false;  // by the last step
  BrokenStep broke;            // the first
  StepWatch watch;             // a resumed run knows what happened since

  SceneRun(const Scene& s, const RunOptions& o)
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

  MetricEvaluator make_metrics() const {
    try {
      return {system.model, scene.probes, scene.metrics, scene.end};
    } catch (const InputError& e) { throw scene.document->error(e.path(), e.message()); }
  }

  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(Clock::now() - began).count();
  }

  // At the state that is there.
  [[nodiscard]] std::vector<std::string> too_fast() {
    forward_kinematics(system.model, state.q, state.v, work.result.work);
    return watch.start(system.model, work.result.work, scene.stepping.dt);
  }

  // Time stepping only: event-driven runs refuse what they cannot begin with themselves.
  void look_at_start() {
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

  void start() {
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
    try {
      state = from_bytes(system.model, saved.state.data() + head, saved.state.size() - head);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", options.resume_from, e.what()));
    }
    if (state.step != saved.step || state.step > last_step || !is_sound(system.model, state) ||
        !totals.are_of(system.model))
      throw InputError(fmt::format("{}: the last checkpoint is damaged", options.resume_from));
    if (state.memory.size() < memory_of(system.actuation) + sensors.memory())
      throw InputError(
          fmt::format("{}: the checkpoint does not fit this scene", options.resume_from));
    try {
      sensors.start(work.result.work, state);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", options.resume_from, e.what()));
    }
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

  // The contact of a step that was deepest in its middle, or what else was worst.
  [[nodiscard]] Place contact_of(const StepReport& r) const {
    Place place = r.projection.deepest == Place{} ? r.worst : r.projection.deepest;
    double deepest = 0;
    for (const Contact& c : work.result.assembly.contacts) {
      if (!(c.point.gap < deepest)) continue;
      deepest = c.point.gap;
      place = {.shape_a = c.key.a, .shape_b = c.key.b, .feature = c.key.feature};
    }
    return place;
  }

  // Of the episode that goes on until one of them is over and broken, then of that one. A resumed
  // run knows what happened since.
  void watch_books(const StepReport& r) {
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

  void watch_step(const StepReport& r) {
    watch_books(r);
    watch.look(work.result, state, scene.stepping.dt);
  }

  void fail(const std::string& why) {
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

  // With the episode that goes on.
  [[nodiscard]] EnergyBooks closed_books() const {
    EnergyBooks b = state.books;
    close_episode(b);
    return b;
  }

  [[nodiscard]] std::string at(const Place& place) const {
    return place == Place{} ? "" : fmt::format(" at {}", system.model.name_of(place));
  }

  [[nodiscard]] std::string books_text(const EnergyBooks& b) const {
    const EnergyTally& e = b.worst_episode;
    std::string text = fmt::format(
        "the steps of an episode gained {:.3g} J, {:.2g} of the {:.3g} J that moved in it (allowed "
        "{:g}), the most by the step to t = {:.6g} s{}",
        e.gained, b.worst, e.scale(), energy_bound, e.most_t, at(e.at));
    if (broke.step > 0) {
      text += fmt::format("; the books broke first with step {} to t = {:.6g} s{}", broke.step,
                          broke.t, at(broke.at));
      if (broke.depth > 0) text += fmt::format(", {:.2g} m deep before correction", broke.depth);
      if (broke.turn > 0)
        text += fmt::format(", body '{}' turned most, {:.2g} rad",
                            system.model.bodies[broke.body].name, broke.turn);
    }
    return text + "; a shorter time.step, or maximal coordinates, gain less (docs/energy.md)";
  }

  // Compliant contacts are explicit forces: what they gain is told, and a matter of dt.
  void judge_books() {
    const EnergyBooks b = closed_books();
    if (b.broken == 0 || system.model.has_compliant || options.allow_gain) return;
    result.status = RunStatus::gained;
    result.message = books_text(b);
  }

  [[nodiscard]] Json books_json() const {
    const EnergyBooks b = closed_books();
    Json j = {{"bound", energy_bound},
              {"broken_episodes", static_cast<std::int64_t>(b.broken)},
              {"worst_share", b.worst},
              {"paid", totals.paid}};
    if (b.broken > 0) {
      j["t"] = b.worst_episode.most_t;
      if (broke.step > 0) {
        j["first_step"] = broke.step;
        j["first_t"] = broke.t;
      }
      j["message"] = books_text(b);
    }
    return j;
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

  // Of the last advance.
  void note_impacts() {
    for (const ImpactRecord* record : integration.impacts()) {
      totals.add(*record);
      if (recorder) recorder->impact(*record, state.step);
    }
  }
  void note_modes() {
    if (recorder && !integration.changes().empty())
      recorder->modes(integration.changes(), state.step);
  }

  bool one_step() {
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

  // Time steps that missed their tolerance: the first is dumped on request, and those that are
  // worse than all before are searched for a contradiction until one is found.
  void look_into_failing(const StepReport& r) {
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

  // For `saltus solve`.
  void dump_failing(const StepReport& r) {
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
          totals.unconverged, state.step, options_of(scene.stepping.solver).tolerance,
          totals.worst_residual_step, totals.worst_residual_time, totals.worst_residual,
          system.model.name_of(totals.worst_residual_place));
      result.message += no_solution();
      return;
    }
    judge_books();
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
    const std::optional<LocomotionReport> report = locomotion_report(system.actuation, state);
    if (!report) return nullptr;  // before the first step
    const LocomotionReport& r = *report;
    const Locomotion& l = *locomotion_of(system.actuation);
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
    const char* const names[] = {"completed", "unconverged", "diverged", "stopped", "gained"};
    j["scene"] = scene.document->name();
    j["title"] = scene.title;
    j["status"] = names[static_cast<int>(result.status)];
    if (!result.message.empty()) j["message"] = result.message;
    if (!result.warnings.empty()) j["warnings"] = result.warnings;
    if (!result.note.empty()) j["note"] = result.note;
    if (options.forced()) j["resumable"] = false;
    j["saltus_version"] = version;
    j["t"] = state.t;
    j["steps"] = state.step;
    j["dt"] = scene.stepping.dt;
    j["wall_s"] = wall_s;
    j["steps_per_s"] = steps / std::max(wall_s, 1e-9);
    j["integrator"] = integrator_name(integrator_of(scene));
    if (scene.method == Method::event_driven)
      j["events"] = static_cast<std::int64_t>(totals.events);
    if (records_modes(scene)) j["mode_changes"] = static_cast<std::int64_t>(totals.mode_changes);
    j["solver"] = name_of(scene.stepping.solver);
    if (stepping) j["storage"] = name_of(storage_of(scene.stepping, system.model));
    j["coordinates"] = system.model.nv;
    j["mean_iterations"] = totals.iterations / std::max<double>(1, static_cast<double>(state.step));
    j["max_iterations"] = static_cast<std::int64_t>(totals.most_iterations);
    if (stepping) j["solved_by"] = to_json(totals.solvers);
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
    j["impact_law"] = name_of(scene.stepping.impact);
    j["impacts_that_gained"] = static_cast<std::int64_t>(totals.gains);
    if (totals.gains > 0) {
      j["most_gained"] = totals.most_gained;
      j["most_gained_time"] = totals.most_gained_time;
    }
    j["impact_fallbacks"] = static_cast<std::int64_t>(totals.fallbacks);
    j["steps_in_pieces"] = static_cast<std::int64_t>(totals.pieced);
    j["most_pieces"] = static_cast<std::int64_t>(totals.most_pieces);
    j["unsettled_steps"] = static_cast<std::int64_t>(totals.unsettled);
    if (stepping) j["books"] = books_json();
    j["worst_energy_error"] = totals.worst_error;
    j["worst_energy_error_time"] = totals.worst_error_time;
    if (dumped) j["dumped"] = options.dump;
    j["energy"] = energy_json();
    if (locomotion_of(system.actuation)) j["locomotion"] = locomotion_json();
    j["metrics"] = Json::object();
    for (const auto& m : metrics.results(system.model))
      j["metrics"][m.name] = m.value ? Json(*m.value) : Json(nullptr);
    result.summary = std::make_shared<RunSummary>(RunSummary{std::move(j)});
  }

  RunResult finish() {
    result.state = state;
    if (stepping)
      for (std::string& line : watch.lines(system.model, scene.stepping.dt))
        result.warnings.push_back(std::move(line));
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
    throw InputError("a run with a force or a flow of the user cannot be resumed");
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
