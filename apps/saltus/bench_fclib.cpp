#include "apps/saltus/bench_fclib.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "apps/saltus/subprocess.h"

namespace saltus::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) result.push_back(cell);
  return result;
}

struct Reference {
  double residual = 0;
  std::string solver;
};

// The best residual known of each file; empty without a manifest.
std::map<std::string, Reference> references(const fs::path& manifest) {
  std::map<std::string, Reference> result;
  std::ifstream in(manifest);
  std::string line;
  if (!std::getline(in, line)) return result;
  const std::vector<std::string> head = cells(line);
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
  };
  const auto file = column("file"), residual = column("siconos_rel_residual"),
             solver = column("siconos_solver");
  while (std::getline(in, line)) {
    const std::vector<std::string> row = cells(line);
    if (row.size() <= std::max({file, residual, solver}) || row[residual].empty()) continue;
    result[row[file]] = {std::strtod(row[residual].c_str(), nullptr), row[solver]};
  }
  return result;
}

std::vector<fs::path> problem_files(const fs::path& folder) {
  std::vector<fs::path> files;
  const fs::path inner = folder / "problems";
  const fs::path& from = fs::is_directory(inner) ? inner : folder;
  if (!fs::is_directory(from)) return files;
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.path().extension() == ".dat" || entry.path().extension() == ".hdf5")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// What a program prints of a file, or {"error": ...}.
json answer(const std::string& command) {
  const json result = json::parse(output_of(command).text, nullptr, false);
  return result.is_object() ? result : json{{"error", fmt::format("failed: {}", command)}};
}

bool met(const json& entry) {
  const json& ours = entry["saltus"];
  return ours.value("converged", false) && ours["literature_relative"] <= entry["target"];
}

std::string columns(const json& result, const std::string& solver) {
  if (result.contains("error")) return fmt::format("{} | | |", result["error"].get<std::string>());
  return fmt::format("{} | {:.1e} | {} | {:.4g}", result[solver].get<std::string>(),
                     result["literature_relative"].get<double>(), result["iterations"].get<int>(),
                     1e3 * result["cpu_seconds"].get<double>());
}

}  // namespace

json bench_fclib(const fs::path& problems, const fs::path& siconos) {
  const auto best = references(problems / "MANIFEST.csv");
  json entries = json::array();
  for (const fs::path& file : problem_files(problems)) {
    json entry{{"file", file.filename().string()}, {"target", 1e-8}};
    entry["saltus"] = answer(
        fmt::format("{} solve {} --cold --json --repeat 5", quoted(this_program()), quoted(file)));
    if (fs::exists(siconos))
      entry["siconos"] = answer(fmt::format("{} {}", quoted(siconos), quoted(file)));
    if (const auto known = best.find(file.filename().string()); known != best.end()) {
      entry["best"] = {{"residual", known->second.residual}, {"solver", known->second.solver}};
      // The manifest is rounded to two digits: half a unit of the last is granted.
      entry["target"] = std::min(1e-8, known->second.residual * 1.05);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool print_fclib(const json& entries, bool with_siconos) {
  fmt::print(
      "| problem | kind | rows | ours: by | residual | iterations | ms | Siconos: by | residual | "
      "iterations | ms | manifest | ours meets it |\n|---|---|---|---|---|---|---|---|---|---|---|"
      "---|---|\n");
  bool all = true;
  for (const json& e : entries) {
    const json& ours = e["saltus"];
    all = all && met(e);
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", e["file"].get<std::string>(),
               ours.value("kind", ""), ours.value("rows", 0), columns(ours, "finished_by"),
               e.contains("siconos") ? columns(e["siconos"], "solver") : "not installed | | |",
               e.contains("best") ? fmt::format("{:.1e} {}", e["best"]["residual"].get<double>(),
                                                e["best"]["solver"].get<std::string>())
                                  : "",
               met(e) ? "yes" : "NO");
  }
  if (!with_siconos) fmt::print("\nSiconos is not installed: its columns are empty.\n");
  return all;
}

}  // namespace saltus::cli
