#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "apps/saltus/commands.h"
#include "saltus/base/error.h"
#include "saltus/version.h"

int main(int argc, char** argv) {
  CLI::App app{"Saltus: dynamics of locomotion with hard contact"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("saltus {} ({})", saltus::version, saltus::commit));
  saltus::cli::Command chosen;
  saltus::cli::add_run(app, chosen);
  saltus::cli::add_csv(app, chosen);
  saltus::cli::add_info(app, chosen);
  saltus::cli::add_schema(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : 2; }
  try {
    return chosen();
  } catch (const saltus::InputError& e) {
    fmt::print(stderr, "saltus: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "saltus: {}\n", e.what());
    return 1;
  }
}
