// The commands of the command line: parse, run, report; no physics. Each returns the exit status:
// 0 success, 1 a failed run, 2 bad input (thrown as InputError and turned into 2 by main).
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace saltus::cli {

using Command = std::function<int()>;

// Adds the subcommand and, when it is chosen, sets `chosen`.
void add_run(CLI::App& app, Command& chosen);
void add_csv(CLI::App& app, Command& chosen);
void add_info(CLI::App& app, Command& chosen);
void add_schema(CLI::App& app, Command& chosen);
void add_papers(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_view(CLI::App& app, Command& chosen);
void add_solve(CLI::App& app, Command& chosen);
void add_bench(CLI::App& app, Command& chosen);
void add_compare(CLI::App& app, Command& chosen);
void add_modes(CLI::App& app, Command& chosen);
void add_audit(CLI::App& app, Command& chosen);
void add_feasible(CLI::App& app, Command& chosen);
void add_shape(CLI::App& app, Command& chosen);
void add_import(CLI::App& app, Command& chosen);
void add_export(CLI::App& app, Command& chosen);
void add_studies(CLI::App& app, Command& chosen);
void add_capability(CLI::App& app, Command& chosen);
void add_equilibrium(CLI::App& app, Command& chosen);
void add_frequencies(CLI::App& app, Command& chosen);

// --set, of a command that reads a scene.
inline void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "change a value of the scene: path=value")
      ->take_all()
      ->allow_extra_args(false);
}

// A check for numbers: CLI11 reads an empty text as 0.
[[nodiscard]] inline std::string not_empty(const std::string& text) {
  return text.empty() ? "expected a number, got ''" : "";
}

// Prints the viewer's address and, unless told not to, opens a browser.
void announce_viewer(std::FILE* out, const std::string& address, bool no_browser);

}  // namespace saltus::cli
