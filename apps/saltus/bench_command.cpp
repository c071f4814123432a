// saltus bench: runs the benchmark programs that are built and prints our times beside the peers'.
// The programs are apart, so that the command line links no peer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/saltus/commands.h"

namespace saltus::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Program {
  const char* name;    // a file in the folder of benchmarks, or a script beside the sources
  const char* engine;  // what it measures; empty: several
  std::vector<std::string> groups;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all{{"dynamics_bench", "saltus, pinocchio", {"dynamics"}},
                                        {"solver_bench", "saltus", {"solvers"}},
                                        {"snake_bench", "saltus", {"snake"}},
                                        {"pile_bench", "saltus", {"pile"}},
                                        {"ode_bench", "ode", {"snake", "pile"}},
                                        {"bullet_bench", "bullet", {"snake", "pile"}},
                                        {"mujoco_bench.py", "mujoco", {"snake", "pile"}}};
  return all;
}

struct BenchArguments {
  std::string group = "all", folder;
  bool as_json = false, quick = false;
};

// group/case -> engine -> least time of one call or step [us]
using Times = std::map<std::string, std::map<std::string, double>>;

fs::path default_folder() {
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none);
  return self.parent_path().parent_path() / "bench";
}

std::string quoted(const fs::path& path) {
  std::string result = "'";
  for (const char c : path.string()) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("bench: cannot start a shell");
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  return pclose(pipe) == 0 ? text : std::string();
}

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

// The faster convention of a peer counts: "pinocchio-world" is pinocchio too.
void collect(const json& result, Times& times) {
  for (const json& entry : result.at("benchmarks")) {
    if (entry.value("aggregate_name", "") != "min") continue;
    const std::string name = entry.at("run_name");
    const auto cut = name.rfind('/', name.find("/iterations:") - 1);
    std::string engine = name.substr(cut + 1, name.find("/iterations:") - cut - 1);
    if (engine.starts_with("pinocchio")) engine = "pinocchio";
    const double time = microseconds(entry);
    auto& row = times[name.substr(0, cut)];
    const auto [known, fresh] = row.emplace(engine, time);
    if (!fresh) known->second = std::min(known->second, time);
  }
}

// What our programs count beside the time: means over the repetitions, of "worst ..." the largest.
using Counts = std::map<std::string, std::map<std::string, double>>;

void collect_counts(const json& result, Counts& counts) {
  static const std::vector<std::string> names{"converged [%]", "sweeps", "contacts",
                                              "worst residual [m/s]"};
  for (const json& entry : result.at("benchmarks")) {
    const std::string aggregate = entry.value("aggregate_name", ""), run = entry.at("run_name");
    for (const std::string& name : names)
      if (aggregate == (name.starts_with("worst") ? "max" : "mean") && entry.contains(name))
        counts[run.substr(0, run.find("/iterations:"))][name] = entry.at(name).get<double>();
  }
}

// False where the program is not there or fails (a peer that is not installed).
bool run_program(const Program& program, const std::string& group, const BenchArguments& a,
                 Times& times, Counts& counts) {
  const fs::path file = fs::path(a.folder) / program.name;
  if (!fs::exists(file)) return false;
  std::string command;
  if (file.extension() == ".py") {
    const fs::path python = fs::path(a.folder) / "python";
    command = fmt::format("{} {} {} 2>/dev/null", quoted(python), quoted(file),
                          group == "all" ? "" : group);
  } else {
    command = fmt::format(
        "{} --benchmark_format=json --benchmark_enable_random_interleaving=true "
        "--benchmark_report_aggregates_only=true --benchmark_repetitions={} "
        "--benchmark_min_time={} {} 2>/dev/null",
        quoted(file), a.quick ? 3 : 12, a.quick ? 0.005 : 0.02,
        group == "all" ? "" : "--benchmark_filter=^" + group + "/");
  }
  const json result = json::parse(without_nan(output_of(command)), nullptr, false);
  if (result.is_discarded()) return false;
  collect(result, times);
  collect_counts(result, counts);
  return true;
}

bool is_ours(const std::string& engine) { return engine.starts_with("saltus"); }

void print_counts(const Counts& counts) {
  for (const auto& [run, row] : counts) {
    fmt::print("\n{}:", run);
    for (const auto& [name, count] : row) fmt::print(" {} {:.3g};", name, count);
  }
  if (!counts.empty()) fmt::print("\n");
}

void print_table(const Times& times, const std::vector<std::string>& absent) {
  fmt::print("| case | engine | time [us] | ours / peer |\n|---|---|---|---|\n");
  for (const auto& [name, row] : times) {
    double ours = 0;
    for (const auto& [engine, time] : row)
      if (is_ours(engine)) ours = ours == 0 ? time : std::min(ours, time);
    for (const auto& [engine, time] : row)
      fmt::print("| {} | {} | {:.4g} | {} |\n", name, engine, time,
                 is_ours(engine) || ours == 0 ? std::string() : fmt::format("{:.2f}", ours / time));
  }
  for (const std::string& engine : absent) fmt::print("| | {} | not installed | |\n", engine);
}

int bench(const BenchArguments& a) {
  if (!fs::is_directory(a.folder))
    throw std::runtime_error(
        fmt::format("no benchmarks in {}: build them with 'make bench'", a.folder));
  Times times;
  Counts counts;
  std::vector<std::string> absent;
  for (const Program& program : programs()) {
    const auto& groups = program.groups;
    if (a.group != "all" && std::find(groups.begin(), groups.end(), a.group) == groups.end())
      continue;
    if (!run_program(program, a.group, a, times, counts)) absent.emplace_back(program.engine);
  }
  if (a.as_json) {
    fmt::print(
        "{}\n",
        json{{"unit", "us"}, {"times", times}, {"counts", counts}, {"absent", absent}}.dump(1));
  } else {
    print_table(times, absent);
    print_counts(counts);
  }
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("bench", "Speed, side by side with the peers that are there");
  auto arguments = std::make_shared<BenchArguments>();
  arguments->folder = default_folder().string();
  command->add_option("group", arguments->group, "dynamics, solvers, snake, pile or all")
      ->check(CLI::IsMember({"dynamics", "solvers", "snake", "pile", "all"}));
  command->add_option("--folder", arguments->folder, "where the benchmark programs are");
  command->add_flag("--json", arguments->as_json, "print one JSON object");
  command->add_flag("--quick", arguments->quick, "fewer repetitions");
  command->callback([arguments, &chosen] { chosen = [arguments] { return bench(*arguments); }; });
}

}  // namespace saltus::cli
