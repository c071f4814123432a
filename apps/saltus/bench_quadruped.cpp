#include "apps/saltus/bench_quadruped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/saltus/subprocess.h"

namespace saltus::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string>& engine_programs() {
  static const std::vector<std::string> all{"saltus", "mujoco", "dart", "bullet", "ode"};
  return all;
}

json output_of_program(const fs::path& program, const std::string& what, bool quick) {
  const std::string command =
      fmt::format("{} {}{}", quoted(program), what, quick ? " --quick" : "");
  const Output output = output_of(command + " 2>/dev/null");
  json result = json::parse(output.text, nullptr, false);
  if (output.status != 0 || result.is_discarded())
    throw std::runtime_error(
        fmt::format("{} failed; to see why: {}", program.filename().string(), command));
  return result;
}

// Adds the steps a second of another round.
void merge_times(const json& round, json& engines) {
  for (const json& one : round) {
    const auto known = std::find_if(engines.begin(), engines.end(), [&](const json& e) {
      return e.at("engine") == one.at("engine");
    });
    for (const auto& [name, speeds] : one.at("time").items())
      for (const json& x : speeds) (*known)["time"][name].push_back(x);
  }
}

double best(const json& speeds) { return *std::max_element(speeds.begin(), speeds.end()); }
double median(const json& speeds) {
  auto x = speeds.get<std::vector<double>>();
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

const json* find(const json& engines, const std::string& name) {
  for (const json& e : engines)
    if (e.at("engine") == name) return &e;
  return nullptr;
}

std::string ratio(const json& time, const json* mujoco, const char* name) {
  if (mujoco == nullptr) return "";
  return fmt::format("{:.2f}", best(time.at(name)) / best(mujoco->at("time").at(name)));
}

void print_speeds(const json& engines) {
  const json* mujoco = find(engines, "mujoco");
  fmt::print(
      "| engine | stand [1/s] | trot [1/s] | slope [1/s] | stand / MuJoCo | trot / MuJoCo |\n"
      "|---|---|---|---|---|---|\n");
  for (const json& e : engines) {
    const json& time = e.at("time");
    fmt::print("| {} |", e.at("engine").get<std::string>());
    for (const char* name : {"stand", "trot", "slope"})
      fmt::print(" {:.0f} ({:.0f}) |", best(time.at(name)), median(time.at(name)));
    fmt::print(" {} | {} |\n", ratio(time, mujoco, "stand"), ratio(time, mujoco, "trot"));
  }
}

void print_measures(const json& result) {
  const json& truth = result.at("truth");
  fmt::print(
      "\n| engine | penetration, stand [mm] | trot [mm] | creep on 15 deg [mm/s] | slip in contact "
      "[mm/s] | energy error [J] | error at 0.4 s [mm] | at 0.8 s [mm] | 1 ms: at 0.4 s [mm] | at "
      "0.8 s [mm] |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const json& e : result.at("engines")) {
    const json &m = e.at("measure"), &trot = m.at("trot").at("2.5"), &fine = m.at("trot").at("1");
    const auto mm = [](const json& j, const char* key) { return 1e3 * j.at(key).get<double>(); };
    fmt::print(
        "| {} | {:.2g} | {:.2g} | {:.2g} | {:.0f} | {:+.3f} | {:.3g} | {:.3g} | {:.3g} | {:.3g} "
        "|\n",
        e.at("engine").get<std::string>(), mm(m.at("stand"), "penetration"),
        mm(trot, "penetration"), mm(m.at("slope"), "creep"), mm(trot, "slip_speed"),
        trot.at("contact_loss").get<double>() - truth.at("contact_loss").get<double>(),
        mm(trot, "error_0.4"), mm(trot, "error_0.8"), mm(fine, "error_0.4"), mm(fine, "error_0.8"));
  }
  fmt::print("| truth | 0 | 0 | 0 | {:.0f} | 0 | 0 | 0 | 0 | 0 |\n",
             1e3 * truth.at("slip_speed").get<double>());
}

}  // namespace

json bench_quadruped(const fs::path& folder, bool quick) {
  json result{{"step_s", 2.5e-3}, {"engines", json::array()}, {"absent", json::array()}};
  const auto program = [&](const std::string& engine) { return folder / ("quadruped_" + engine); };
  if (!fs::exists(program("saltus")))
    throw std::runtime_error(fmt::format(
        "no quadruped_saltus in {}: build it with 'make bench-build'", folder.string()));
  result["truth"] = output_of_program(program("saltus"), "truth", quick);
  std::vector<std::string> there;
  for (const std::string& engine : engine_programs()) {
    if (!fs::exists(program(engine))) {
      result["absent"].push_back({{"engine", engine}, {"why", "not installed"}});
      continue;
    }
    try {
      for (json& one : output_of_program(program(engine), "measure", quick))
        result["engines"].push_back(std::move(one));
      there.push_back(engine);
    } catch (const std::exception& e) {
      result["absent"].push_back({{"engine", engine}, {"why", e.what()}, {"failed", true}});
    }
  }
  for (int round = 0; round < (quick ? 1 : 5); ++round)
    for (const std::string& engine : there)
      merge_times(output_of_program(program(engine), "time", quick), result["engines"]);
  return result;
}

void print_quadruped(const json& result) {
  fmt::print(
      "Steps of 2.5 ms a second of CPU on one core: the best of the runs (their median).\n\n");
  print_speeds(result.at("engines"));
  print_measures(result);
  fmt::print("\n");
  for (const json& e : result.at("engines"))
    fmt::print("- {} {}: {}\n", e.at("engine").get<std::string>(),
               e.at("version").get<std::string>(), e.at("settings").get<std::string>());
  for (const json& e : result.at("absent"))
    fmt::print("- {}: {}\n", e.at("engine").get<std::string>(), e.at("why").get<std::string>());
}

}  // namespace saltus::cli
