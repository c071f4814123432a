#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/live_view.h"
#include "saltus/simulate/run.h"
#include "saltus/simulate/run_summary.h"
#include "saltus/studies/local_check.h"

namespace saltus::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

struct RunArguments {
  std::string dump;
  int threads = 1;
  std::string scene, output, resume;
  std::vector<std::string> set;
  bool json = false, quiet = false, allow_gain = false;
  bool view = false, no_browser = false;
  bool check = false;  // the exact run beside it
  double check_window = 0;
  std::optional<int> port;  // of the viewer
};

void draw_progress(double t, double end, double speed) {
  constexpr int width = 40;
  const int filled = static_cast<int>(width * t / end);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  fmt::print(stderr, "\r[{}] t = {:.3f} of {:g} s, {:.0f} steps/s ", bar, t, end, speed);
}

std::string number(const nlohmann::ordered_json& x) {
  return x.is_number() ? fmt::format("{:.9g}", x.get<double>()) : "not reached";
}

void print_undetermined(const nlohmann::ordered_json& u) {
  const auto n = [&](const char* key) { return u[key].get<long>(); };
  if (n("found") > 0) {
    fmt::print(
        "  undetermined    {} of {} steps looked at leave impulses of contacts open (most {}), the "
        "first at t = {:.6g} s:\n                  ",
        n("found"), n("examined"), n("most"), u["first_t"].get<double>());
    for (const auto& name : u["at"])
      fmt::print("{}{}", &name == &u["at"].front() ? "" : ", ", name.get<std::string>());
    const long more = n("count") - static_cast<long>(u["at"].size());
    fmt::print("{}\n", more > 0 ? fmt::format(" and {} more", more) : "");
  }
  if (n("left_out") > 0)
    fmt::print("                  {} of {} steps looked at have islands too large to count\n",
               n("left_out"), n("examined"));
}

void print_impacts(const nlohmann::ordered_json& s) {
  const long impacts = s["impacts"].get<long>(), gains = s["impacts_that_gained"].get<long>();
  if (impacts == 0) return;
  fmt::print("  impacts         {} under the law '{}'{}\n", impacts,
             s["impact_law"].get<std::string>(), gains > 0 ? "" : ", no impact gained energy");
  if (gains > 0)
    fmt::print(
        "                  {} gained kinetic energy, the most {:.3g} % at t = {:.6g} s (saltus "
        "audit)\n",
        gains, 100 * s["most_gained"].get<double>(), s["most_gained_time"].get<double>());
  if (const long n = s["impact_fallbacks"].get<long>(); n > 0)
    fmt::print("                  {} fell back to the capped law\n", n);
}

void print_books(const nlohmann::ordered_json& s) {
  const auto n = [&](const char* key) { return s[key].get<long>(); };
  if (const long pieces = n("steps_in_pieces"); pieces > 0)
    fmt::print("  in pieces       {} steps, the most {}\n", pieces, n("most_pieces"));
  if (const long unsettled = n("unsettled_steps"); unsettled > 0)
    fmt::print("  unsettled       {} steps turn too far for their mean velocity to be found\n",
               unsettled);
  if (!s.contains("books")) return;
  const auto& b = s["books"];
  fmt::print("  books           steps gained at most {:.2g} of what moved (allowed {:g})",
             b["worst_share"].get<double>(), b["bound"].get<double>());
  if (const double paid = b["paid"].get<double>(); paid != 0)
    fmt::print(", velocities paid {:.3g} J", paid);
  fmt::print("\n");
  if (const long broken = b["broken_episodes"].get<long>(); broken > 0)
    fmt::print("                  {} episodes GAINED MORE: {}\n", broken,
               b["message"].get<std::string>());
}

void print_locomotion(const nlohmann::ordered_json& l) {
  if (l.is_null()) return;
  if (l["fell"].is_null())
    fmt::print("  locomotion      the robot did not fall; largest tilt {:.3g} rad\n",
               l["largest_tilt"].get<double>());
  else
    fmt::print("  locomotion      {}\n", l["fell"]["message"].get<std::string>());
  const auto pair = [&](const char* key) {
    return fmt::format("{:.4g} ({:.4g} wanted)", l[key]["mean"].get<double>(),
                       l[key]["wanted"].get<double>());
  };
  fmt::print(
      "                  over {:.4g} s: forward {} m/s, lateral {} m/s, yaw rate {} rad/s, height "
      "{} m\n",
      l["measured_s"].get<double>(), pair("forward"), pair("lateral"), pair("yaw_rate"),
      pair("height"));
  if (const double share = l["saturated"].get<double>(); share > 0)
    fmt::print("                  {:.2g} % of the ticks had a torque at its limit\n", 100 * share);
  if (const double share = l["infeasible"].get<double>(); share > 0)
    fmt::print("                  {:.2g} % of the ticks missed the tolerance of their forces\n",
               100 * share);
}

// Which solver finished how many steps, and why others gave up before.
void print_solvers(const nlohmann::ordered_json& s) {
  std::string text;
  for (const auto& [name, steps] : s["finished"].items())
    if (name != "none")
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, steps.get<long>());
  if (text.empty()) return;  // nothing touched
  fmt::print("  finished by     {} steps\n", text);
  for (const auto& [name, reasons] : s["gave_up"].items())
    for (const auto& [why, steps] : reasons.items())
      fmt::print("                  {} gave up in {}: {}\n", name, steps.get<long>(), why);
}

void print_summary(const nlohmann::ordered_json& s, const std::string& output) {
  const auto d = [&](const char* key) { return s[key].get<double>(); };
  if (!s["title"].get<std::string>().empty()) fmt::print("{}\n", s["title"].get<std::string>());
  fmt::print("  t               {:.9g} s in {} steps of {:g} s\n", d("t"), s["steps"].get<long>(),
             d("dt"));
  fmt::print("  wall time       {:.3f} s, {:.0f} steps/s, {:.2g} x real time\n", d("wall_s"),
             d("steps_per_s"), d("steps_per_s") * d("dt"));
  fmt::print(
      "  solver          {}{}, {:.1f} iterations a step (most {}), worst residual {:.1e} m/s\n",
      s["solver"].get<std::string>(),
      s.contains("storage") ? " on " + s["storage"].get<std::string>() : "", d("mean_iterations"),
      s["max_iterations"].get<long>(), d("worst_residual"));
  if (s.contains("solved_by")) print_solvers(s["solved_by"]);
  fmt::print("  unconverged     {} steps\n", s["unconverged_steps"].get<long>());
  fmt::print("  penetration     {:.2e} m after correction, {:.2e} m before\n", d("max_penetration"),
             d("max_raw_penetration"));
  if (s["penetrating_steps"].get<long>() > 0)
    fmt::print("                  {} steps above 1e-6 m, the deepest at t = {:.6g} s: {}\n",
               s["penetrating_steps"].get<long>(), d("deepest_time"),
               s["deepest_at"].get<std::string>());
  fmt::print("  joint gap       {:.2e} m after correction, {:.2e} m before\n", d("max_joint_gap"),
             d("max_raw_joint_gap"));
  if (s["open_joint_steps"].get<long>() > 0)
    fmt::print("                  {} steps above 1e-6 m\n", s["open_joint_steps"].get<long>());
  if (s["redundant_rows"].get<long>() > 0)
    fmt::print("                  {} redundant rows: how joints share that load is indeterminate\n",
               s["redundant_rows"].get<long>());
  print_undetermined(s["undetermined_steps"]);
  if (s.contains("note")) fmt::print("  note            {}\n", s["note"].get<std::string>());
  if (s.contains("start_loop_gap") && d("start_loop_gap") > 1e-9)
    fmt::print("  assembled       loop {} was {:.2e} m open at the start\n",
               s["start_loop"].get<std::string>(), d("start_loop_gap"));
  fmt::print("  energy [J]     ");
  for (const auto& [name, value] : s["energy"].items())
    if (value.get<double>() != 0) fmt::print(" {} {:.4g}", name, value.get<double>());
  fmt::print("\n");
  print_impacts(s);
  print_books(s);
  if (s.contains("locomotion")) print_locomotion(s["locomotion"]);
  for (const auto& [name, value] : s["metrics"].items())
    fmt::print("  {:<15} {}\n", name, number(value));
  if (s.contains("dumped")) fmt::print("  dumped          {}\n", s["dumped"].get<std::string>());
  if (!output.empty()) fmt::print("  written         {}\n", output);
}

nlohmann::ordered_json check_json(const LocalCheck& c) {
  const auto error = [](const LocalError& e) {
    return nlohmann::ordered_json{{"position", e.position},
                                  {"of", e.body},
                                  {"coordinate", e.coordinate},
                                  {"of_joint", e.joint}};
  };
  nlohmann::ordered_json j = {{"dt", c.dt},
                              {"window_s", c.window},
                              {"windows", c.windows.size()},
                              {"checked_s", c.checked},
                              {"parted", c.parted},
                              {"failed", c.failed},
                              {"mean_per_s", error(c.mean)},
                              {"worst_per_s", error(c.worst)},
                              {"worst_from", c.worst_from},
                              {"failures", nlohmann::ordered_json::array()}};
  for (const CheckWindow& w : c.windows)
    if (!w.failure.empty()) j["failures"].push_back({{"from", w.from}, {"message", w.failure}});
  return j;
}

void print_check(const LocalCheck& c) {
  fmt::print("  checked         {} windows of {:g} s against the exact run beside them",
             c.windows.size(), c.window);
  if (c.parted > 0) fmt::print(", {} ended early: the two had parted", c.parted);
  fmt::print("\n");
  if (c.checked > 0) {
    fmt::print(
        "                  dt = {:g} s costs {:.2e} m/s and {:.2e} a second of joint coordinates\n",
        c.dt, c.mean.position, c.mean.coordinate);
    if (c.worst.position > 0)
      fmt::print("                  worst {:.2e} m/s ({}), from t = {:.6g} s\n", c.worst.position,
                 c.worst.body, c.worst_from);
  }
  if (c.failed == 0) return;
  fmt::print("                  {} windows without an exact run, the first: ", c.failed);
  for (const CheckWindow& w : c.windows)
    if (!w.failure.empty()) {
      fmt::print("{}\n", w.failure);
      return;
    }
}

int run_scene(const RunArguments& a) {
  if (a.scene.empty() == a.resume.empty())
    throw InputError("expected either a scene or --resume RUN.h5");
  if (!a.resume.empty() && !a.set.empty())
    throw InputError("--set cannot change a run that is resumed");
  if (!a.resume.empty() && a.check)
    throw InputError("--check goes from the start of a scene: expected a scene, got --resume");
  if (a.check_window != 0 && !a.check)
    throw InputError("--check-window is the length of windows of --check, which is not there");
  const Scene scene = a.resume.empty() ? load_scene(a.scene, a.set) : scene_of_run(a.resume);
  RunOptions options;
  options.output = !a.output.empty() ? a.output : a.resume;
  options.resume_from = a.resume;
  options.dump = a.dump;
  options.threads = a.threads;
  options.allow_gain = a.allow_gain;
  if (std::error_code none; std::filesystem::equivalent(a.scene, options.output, none))
    throw InputError(fmt::format("{}: cannot write: it is the scene", options.output));
  std::optional<TemporaryRun> temporary;
  if (a.view && options.output.empty()) options.output = temporary.emplace().path();
  std::optional<LiveView> live;
  const auto stopped = [] { return interrupted != 0; };
  if (a.view) {
    live.emplace(a.json ? stderr : stdout, options.output, a.port, a.no_browser);
    options.on_frame = [&live, stopped](const std::function<void()>& flush) {
      live->frame(flush, stopped);
      return !stopped();
    };
  }
  std::signal(SIGINT, on_interrupt);
  if (a.view) std::signal(SIGTERM, on_interrupt);
  const bool draw = !a.quiet && !a.json && isatty(STDERR_FILENO);
  options.progress = [draw](double t, double end, double speed) {
    if (draw) draw_progress(t, end, speed);
    return interrupted == 0;
  };
  if (a.check) check_supported_beside(scene);  // before a long run, not after it
  const RunResult result = run(scene, options);
  std::optional<LocalCheck> check;
  if (a.check && result.status != RunStatus::diverged && interrupted == 0)
    check = check_locally(scene, {a.check_window, [draw](double t, double end) {
                                    if (draw) draw_progress(t, end, 0);
                                    return interrupted == 0;
                                  }});
  if (draw) fmt::print(stderr, "\r{:90}\r", "");
  if (a.json) {
    nlohmann::ordered_json summary = result.summary->json;
    if (check) summary["check"] = check_json(*check);
    fmt::print("{}\n",
               summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (!a.quiet) {
    print_summary(result.summary->json, options.output);
    if (check) print_check(*check);
  }
  std::fflush(stdout);
  if (!a.quiet)
    for (const std::string& line : result.warnings)
      fmt::print(stderr, "saltus: warning: {}\n", line);
  if (!result.message.empty()) fmt::print(stderr, "saltus: {}\n", result.message);
  if (live) live->linger(stopped);
  if (result.status == RunStatus::gained) return 3;
  return result.status == RunStatus::completed ? 0 : 1;
}

}  // namespace

void add_run(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* c = app.add_subcommand("run", "simulate a scene");
  c->add_option("scene", a->scene, "scene file (YAML)");
  add_overrides(*c, a->set);
  c->add_option("-o,--output", a->output, "run file (HDF5)");
  c->add_option("--resume", a->resume, "continue a run file from its last checkpoint");
  c->add_option("--dump", a->dump,
                "the first step that misses its tolerance, as a problem for `saltus solve` (JSON)");
  c->add_option("--threads", a->threads, "islands and contacts side by side; the same bits")
      ->check(CLI::Range(1, 1024));
  c->add_flag("--allow-gain", a->allow_gain,
              "steps that gain energy beyond the bound do not fail the run (status 3)");
  c->add_flag("--check", a->check,
              "run it event-driven beside, in windows: what dt costs, in error per second");
  c->add_option("--check-window", a->check_window,
                "their length [s]; default: a hundredth of the run, ten steps at least")
      ->check(CLI::PositiveNumber);
  c->add_flag("--json", a->json, "print the summary as JSON");
  c->add_flag("--view", a->view, "show the run in the browser while it computes");
  c->add_option("--port", a->port, "port of the viewer")->check(CLI::Range(1, 65535));
  c->add_flag("--no-browser", a->no_browser, "with --view: only print the address");
  c->add_flag("-q,--quiet", a->quiet, "print nothing but errors");
  c->callback([a, &chosen] { chosen = [a] { return run_scene(*a); }; });
}

}  // namespace saltus::cli
