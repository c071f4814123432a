#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "apps/saltus/commands.h"
#include "saltus/base/error.h"
#include "saltus/version.h"

namespace {

// One line, whatever the input held. Ends without the exit handlers: HDF5's crashes when a file
// could not be written.
[[noreturn]] int fail(std::string what, int status) {
  std::replace_if(
      what.begin(), what.end(), [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  fmt::print(stderr, "saltus: {}\n", what);
  std::fflush(stderr);
  std::_Exit(status);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Saltus: dynamics of locomotion with hard contact"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("saltus {} ({})", saltus::version, saltus::commit));
  saltus::cli::Command chosen;
  saltus::cli::add_run(app, chosen);
  saltus::cli::add_csv(app, chosen);
  saltus::cli::add_info(app, chosen);
  saltus::cli::add_modes(app, chosen);
  saltus::cli::add_audit(app, chosen);
  saltus::cli::add_feasible(app, chosen);
  saltus::cli::add_capability(app, chosen);
  saltus::cli::add_equilibrium(app, chosen);
  saltus::cli::add_frequencies(app, chosen);
  saltus::cli::add_shape(app, chosen);
  saltus::cli::add_schema(app, chosen);
  saltus::cli::add_papers(app, chosen);
  saltus::cli::add_report(app, chosen);
  saltus::cli::add_view(app, chosen);
  saltus::cli::add_solve(app, chosen);
  saltus::cli::add_bench(app, chosen);
  saltus::cli::add_compare(app, chosen);
  saltus::cli::add_import(app, chosen);
  saltus::cli::add_export(app, chosen);
  saltus::cli::add_studies(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    if (argc > 1 && app.get_subcommands().empty())
      fmt::print(stderr, "saltus: '{}' is no subcommand; see saltus --help\n", argv[1]);
    else
      fmt::print(stderr, "saltus: {}; see saltus --help\n", e.what());
    return 2;
  }
  try {
    const int status = chosen();
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw std::runtime_error("cannot write to standard output");
    return status;
  } catch (const saltus::InputError& e) {
    return fail(e.what(), 2);
  } catch (const std::exception& e) { return fail(e.what(), 1); }
}
