// saltus sweep, saltus optimise: the Python package does the work (optimisers, executors and tables
// are Python's); this program becomes Python, so signals, terminal and exit status are those of the
// study.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "apps/saltus/commands.h"
#include "apps/saltus/subprocess.h"
#include "saltus/base/error.h"
#include "saltus/version.h"

namespace saltus::cli {

namespace {

// Says in one line what to do where the package is not there.
constexpr const char* hand_over = R"(
import sys
try:
    from saltus.studies.command import main
except ImportError as e:
    print(f"saltus: studies need the Python package of saltus, which {sys.executable} does not have "
          f"({e}): install it with pip install '.[studies]' in the sources of saltus, or name another "
          f"Python with SALTUS_PYTHON", file=sys.stderr)
    sys.exit(2)
sys.exit(main(sys.argv[1:]))
)";

int become_python(const std::string& command, const std::vector<std::string>& arguments) {
  const char* named = std::getenv("SALTUS_PYTHON");
  const std::string python = named != nullptr && *named != '\0' ? named : "python3";
  std::vector<std::string> all = {python, "-c", hand_over, command};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& a : all) argv.push_back(a.data());
  argv.push_back(nullptr);
  setenv("SALTUS_COMMAND_VERSION", version, 1);
  setenv("SALTUS_BIN", this_program().c_str(), 0);  // replays of the report are this program's
  execvp(python.c_str(), argv.data());
  throw InputError(
      fmt::format("studies need Python with the package of saltus: cannot start '{}': {}; name "
                  "another with SALTUS_PYTHON",
                  python, std::strerror(errno)));
}

}  // namespace

void add_studies(CLI::App& app, Command& chosen) {
  for (const auto& [name, about] :
       {std::pair{"sweep", "run every point of a study (Python)"},
        std::pair{"optimise", "search for a study's best point (Python)"}}) {
    CLI::App* c = app.add_subcommand(name, about);
    c->prefix_command();  // what follows is Python's to read
    c->set_help_flag();   // its --help, too
    c->callback(
        [c, &chosen] { chosen = [c] { return become_python(c->get_name(), c->remaining()); }; });
  }
}

}  // namespace saltus::cli
