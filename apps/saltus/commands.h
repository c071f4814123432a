// The commands of the command line: parse, run, report; no physics. Each returns the exit status:
// 0 success, 1 a failed run, 2 bad input (thrown as InputError and turned into 2 by main).
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

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
void add_import(CLI::App& app, Command& chosen);
void add_export(CLI::App& app, Command& chosen);

// Prints the viewer's address and, unless told not to, opens a browser.
void announce_viewer(std::FILE* out, const std::string& address, bool no_browser);

}  // namespace saltus::cli
