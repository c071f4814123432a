#include <fmt/format.h>

#include <algorithm>

#include "saltus/scene/document.h"
#include "saltus/simulate/run_summary.h"
#include "saltus/simulate/scene_run.h"
#include "saltus/version.h"

namespace saltus {

std::string SceneRun::at(const Place& place) const {
  return place == Place{} ? "" : fmt::format(" at {}", system.model.name_of(place));
}

EnergyBooks SceneRun::closed_books() const {
  EnergyBooks b = state.books;
  close_episode(b);
  return b;
}

std::string SceneRun::books_text(const EnergyBooks& b) const {
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

std::string SceneRun::no_solution() const {
  const NoSolution& n = totals.no_solution;
  if (n.at.count == 0) return "";
  return fmt::format(
      "; step {} at t = {:.6g} s has no solution: no motion meets {}{}, the nearest misses by "
      "{:.2e} m/s",
      n.step, n.time, text_of(system.model, n.at), n.at.count > 1 ? " together" : "", n.miss);
}

SceneRun::Json SceneRun::books_json() const {
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

SceneRun::Json SceneRun::energy_json() const {
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

SceneRun::Json SceneRun::undetermined_json() const {
  const Undetermined& u = totals.undetermined;
  const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
  Json j = {
      {"examined", whole(u.examined)}, {"found", whole(u.found)}, {"left_out", whole(u.left_out)}};
  if (u.found > 0) {
    j["most"] = whole(u.most);
    j["first_step"] = whole(u.first_step);
    j["first_t"] = u.first_time;
    j["count"] = u.at.count;
    j["at"] = names_of(system.model, u.at);
  }
  return j;
}

SceneRun::Json SceneRun::locomotion_json() const {
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
                 {"message",
                  fmt::format("the robot fell at t = {:.6g} s: {}", r.fall_time, text_of(r.fall))}};
  return j;
}

void SceneRun::summarise() {
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
  if (scene.method == Method::event_driven) j["events"] = static_cast<std::int64_t>(totals.events);
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

std::string RunResult::summary_json() const {
  return summary->json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace saltus
