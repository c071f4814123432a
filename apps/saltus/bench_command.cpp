// saltus bench: runs the benchmark programs that are built and prints our times beside the peers'.
// The programs are apart, so that the command line links no peer.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/saltus/bench_fclib.h"
#include "apps/saltus/bench_quadruped.h"
#include "apps/saltus/commands.h"
#include "apps/saltus/subprocess.h"
#include "apps/saltus/table1.h"

namespace saltus::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Program {
  const char* name;  // a file in the folder of benchmarks, or a script beside the sources
  std::vector<std::string> engines, groups;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all{
      {"dynamics_bench", {"saltus", "pinocchio"}, {"dynamics"}},
      {"simbody_bench", {"simbody"}, {"dynamics"}},
      {"dart_bench", {"dart"}, {"dynamics", "snake"}},
      {"solver_bench", {"saltus"}, {"solvers"}},
      {"siconos_bench", {"siconos"}, {"solvers"}},
      {"snake_bench", {"saltus"}, {"snake"}},
      {"robot_bench", {"saltus", "by-hand"}, {"robot"}},
      {"pile_bench", {"saltus"}, {"pile"}},
      {"ode_bench", {"ode"}, {"snake", "pile"}},
      {"bullet_bench", {"bullet"}, {"snake", "pile"}},
      {"mujoco_bench.py", {"mujoco"}, {"snake", "pile"}},
      {"creatures_bench.py", {"saltus", "mujoco"}, {"creatures"}}};
  return all;
}

struct BenchArguments {
  std::string group = "all", folder, problems;
  bool as_json = false, quick = false;
};

struct Time {
  double us = 0;                      // the least time of one call or step [us]
  int problems = 1;                   // or steps, timed in turn
  int unconverged = 0;                // of them
  double residual = -1;               // the worst [m/s]; -1: not given
  double sweeps = -1, contacts = -1;  // of a step in the mean; -1: not given
  double penetration = -1;            // the deepest [m]; -1: not given
};

// group/case -> engine -> time
using Times = std::map<std::string, std::map<std::string, Time>>;

// Google Benchmark writes the spread of a counter that is always zero as NaN, which is no JSON.
std::string without_nan(std::string text) {
  for (const std::string bad : {": -NaN", ": NaN"})
    for (std::size_t at = 0; (at = text.find(bad, at)) != std::string::npos;)
      text.replace(at, bad.size(), ": null");
  return text;
}

double microseconds(const json& entry) {
  const std::string unit = entry.at("time_unit");
  return entry.at("cpu_time").get<double>() * (unit == "ms" ? 1e3 : unit == "us" ? 1 : 1e-3);
}

// The least time and the largest counts of the repetitions. The faster convention of a peer counts:
// "pinocchio-world" is pinocchio too.
void collect(const json& result, Times& times) {
  for (const json& entry : result.at("benchmarks")) {
    const std::string aggregate = entry.value("aggregate_name", "");
    if (aggregate != "min" && aggregate != "max") continue;
    const std::string name = entry.at("run_name");
    const auto cut = name.rfind('/', name.find("/iterations:") - 1);
    std::string engine = name.substr(cut + 1, name.find("/iterations:") - cut - 1);
    if (engine.starts_with("pinocchio")) engine = "pinocchio";
    Time& time = times[name.substr(0, cut)][engine];
    if (aggregate == "min") {
      const double us = microseconds(entry);
      time.us = time.us == 0 ? us : std::min(time.us, us);
    } else {
      time.problems = static_cast<int>(entry.value("problems", 1.0));
      time.unconverged = static_cast<int>(entry.value("unconverged", 0.0));
      time.residual = entry.value("residual", -1.0);
      time.sweeps = entry.value("sweeps", -1.0);
      time.contacts = entry.value("contacts", -1.0);
      time.penetration = entry.value("penetration", -1.0);
    }
  }
}

// Empty, or what went wrong with a program that is there.
std::string run_program(const Program& program, const BenchArguments& a, Times& times) {
  const fs::path file = fs::path(a.folder) / program.name;
  if (!fs::exists(file)) return {};
  std::string command;
  if (file.extension() == ".py") {
    const fs::path python = fs::path(a.folder) / "python";
    command =
        fmt::format("{} {} {}", quoted(python), quoted(file), a.group == "all" ? "" : a.group);
  } else {
    command = fmt::format(
        "{} --benchmark_format=json --benchmark_enable_random_interleaving=true "
        "--benchmark_report_aggregates_only=true --benchmark_repetitions={} "
        "--benchmark_min_time={} {}",
        quoted(file), a.quick ? 3 : 12, a.quick ? 0.005 : 0.02,
        a.group == "all" ? "" : "--benchmark_filter=^" + a.group + "/");
  }
  const Output output = output_of(command + " 2>/dev/null");
  const json result = json::parse(without_nan(output.text), nullptr, false);
  if (output.status != 0 || result.is_discarded())
    return fmt::format("{} failed; to see why: {}", program.name, command);
  collect(result, times);
  return {};
}

bool is_ours(const std::string& engine) { return engine.starts_with("saltus"); }

// The least of our times that solved all it was given.
double our_best(const std::map<std::string, Time>& row) {
  double best = 0;
  for (const auto& [engine, time] : row)
    if (is_ours(engine) && time.unconverged == 0)
      best = best == 0 ? time.us : std::min(best, time.us);
  return best;
}

std::string note(const Time& time) {
  std::vector<std::string> parts;
  if (time.unconverged > 0)
    parts.push_back(fmt::format("{} of {} not solved", time.unconverged, time.problems));
  if (time.residual >= 0) parts.push_back(fmt::format("to {:.0e} m/s", time.residual));
  if (time.sweeps >= 0) parts.push_back(fmt::format("{:.0f} sweeps", time.sweeps));
  if (time.contacts >= 0) parts.push_back(fmt::format("{:.0f} contacts", time.contacts));
  if (time.penetration >= 0) parts.push_back(fmt::format("{:.1e} m deep", time.penetration));
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Missing {
  std::string group, engine, why;
};

// The engines of the group(s) without a time.
std::vector<Missing> missing(const Times& times, const std::string& wanted,
                             const std::set<std::string>& failed) {
  std::vector<Missing> result;
  const auto seen = [&](const std::string& group, const std::string& engine) {
    return std::any_of(times.begin(), times.end(), [&](const auto& row) {
      return row.first.starts_with(group + "/") &&
             std::any_of(row.second.begin(), row.second.end(),
                         [&](const auto& time) { return time.first.starts_with(engine); });
    });
  };
  for (const Program& program : programs())
    for (const std::string& group : program.groups)
      for (const std::string& engine : program.engines)
        if ((wanted == "all" || wanted == group) && !seen(group, engine))
          result.push_back(
              {group, engine, failed.contains(program.name) ? "failed" : "not installed"});
  return result;
}

void print_table(const Times& times, const std::vector<Missing>& absent) {
  fmt::print("| case | engine | time [us] | ours / peer | |\n|---|---|---|---|---|\n");
  for (const auto& [name, row] : times) {
    const double ours = our_best(row);
    for (const auto& [engine, time] : row)
      fmt::print(
          "| {} | {} | {:.4g} | {} | {} |\n", name, engine, time.us,
          is_ours(engine) || ours == 0 ? std::string() : fmt::format("{:.2f}", ours / time.us),
          note(time));
  }
  for (const Missing& m : absent) fmt::print("| {} | {} | {} | | |\n", m.group, m.engine, m.why);
}

json to_json(const Times& times, const std::vector<Missing>& absent) {
  json result{{"unit", "us"}, {"times", json::object()}, {"absent", json::array()}};
  for (const auto& [name, row] : times)
    for (const auto& [engine, time] : row) {
      json& entry = result["times"][name][engine];
      entry = {{"time", time.us}, {"problems", time.problems}, {"unconverged", time.unconverged}};
      if (time.residual >= 0) entry["residual_m_s"] = time.residual;
      if (time.sweeps >= 0) entry["sweeps"] = time.sweeps;
      if (time.contacts >= 0) entry["contacts"] = time.contacts;
      if (time.penetration >= 0) entry["penetration_m"] = time.penetration;
    }
  for (const Missing& m : absent)
    result["absent"].push_back({{"group", m.group}, {"engine", m.engine}, {"why", m.why}});
  return result;
}

// 1 where one of ours misses its target.
int fclib(const BenchArguments& a) {
  const fs::path siconos = fs::path(a.folder) / "siconos_fclib";
  const json entries = bench_fclib(a.problems, siconos);
  if (a.as_json) {
    fmt::print("{}\n", entries.dump(1));
    return 0;
  }
  if (entries.empty()) {
    fmt::print(
        "fclib: skipped, no problems in '{}' (--problems or SALTUS_FCLIB names the folder)\n",
        a.problems);
    return 0;
  }
  return print_fclib(entries, fs::exists(siconos)) ? 0 : 1;
}

// 1 where a program that is there failed.
int quadruped(const BenchArguments& a) {
  const json result = bench_quadruped(a.folder, a.quick);
  if (a.as_json)
    fmt::print("{}\n", result.dump(1));
  else
    print_quadruped(result);
  const auto failed = [](const json& e) { return e.contains("failed"); };
  return std::any_of(result["absent"].begin(), result["absent"].end(), failed) ? 1 : 0;
}

int bench(const BenchArguments& a) {
  if (a.group == "fclib") return fclib(a);
  if (a.group == "table1") return bench_table1(a.as_json, a.quick);
  if (!fs::is_directory(a.folder))
    throw std::runtime_error(
        fmt::format("no benchmarks in {}: build them with 'make bench'", a.folder));
  if (a.group == "quadruped") return quadruped(a);
  Times times;
  std::set<std::string> failed;
  for (const Program& program : programs()) {
    const auto& groups = program.groups;
    if (a.group != "all" && std::find(groups.begin(), groups.end(), a.group) == groups.end())
      continue;
    if (const std::string trouble = run_program(program, a, times); !trouble.empty()) {
      fmt::print(stderr, "bench: {}\n", trouble);
      failed.insert(program.name);
    }
  }
  const std::vector<Missing> absent = missing(times, a.group, failed);
  if (a.as_json)
    fmt::print("{}\n", to_json(times, absent).dump(1));
  else
    print_table(times, absent);
  return failed.empty() ? 0 : 1;
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("bench", "Speed, side by side with the peers that are there");
  auto arguments = std::make_shared<BenchArguments>();
  arguments->folder = (this_program().parent_path().parent_path() / "bench").string();
  const char* problems = std::getenv("SALTUS_FCLIB");
  arguments->problems = problems != nullptr ? problems : "../shared/fclib";
  command
      ->add_option(
          "group", arguments->group,
          "dynamics, solvers, snake, robot, pile, creatures or all of these; fclib: problem "
          "files; quadruped: P2's robot in every engine; table1: P2's configurations")
      ->check(CLI::IsMember({"dynamics", "solvers", "snake", "robot", "pile", "creatures", "all",
                             "fclib", "quadruped", "table1"}));
  command->add_option("--folder", arguments->folder, "where the benchmark programs are");
  command->add_option("--problems", arguments->problems,
                      "of fclib: the folder with MANIFEST.csv and problems/");
  command->add_flag("--json", arguments->as_json, "print one JSON object");
  command->add_flag("--quick", arguments->quick, "fewer repetitions");
  command->callback([arguments, &chosen] { chosen = [arguments] { return bench(*arguments); }; });
}

}  // namespace saltus::cli
