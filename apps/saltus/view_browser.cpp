#include "apps/saltus/view_browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace saltus::cli {

namespace {

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return program.find('/') != std::string::npos && ::access(program.c_str(), X_OK) == 0;
}

// The value of an environment variable; empty where it is not set.
std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

bool open_browser(const std::string& address) {
  std::string program = environment("BROWSER");
  if (program.empty()) program = "xdg-open";
  if (program == "xdg-open" && environment("DISPLAY").empty() &&
      environment("WAYLAND_DISPLAY").empty())
    return false;
  if (!on_path(program)) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2})
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  std::string argument = address;
  const std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  pid_t process = 0;
  const int failure =
      ::posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0;
}

}  // namespace saltus::cli
