#include "apps/saltus/live.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>

namespace saltus::cli {

SharedControl share_control() {
  void* memory = ::mmap(nullptr, sizeof(LiveControl), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory for the live view");
  return {new (memory) LiveControl,
          [](LiveControl* control) { ::munmap(control, sizeof(LiveControl)); }};
}

void wait_while_paused(LiveControl& control, const std::function<void()>& flush,
                       const std::function<bool()>& stop) {
  if (!control.paused) return;
  if (control.granted > 0) {
    --control.granted;
    return;
  }
  flush();
  control.waiting = true;
  while (control.paused && control.granted == 0 && !stop())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  control.waiting = false;
  if (control.granted > 0) --control.granted;
}

int fork_server(const std::function<void()>& serve) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start the server process");
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(0);  // it ended before the line above
  std::signal(SIGINT, SIG_IGN);              // the parent decides
  int status = 0;
  try {
    serve();
  } catch (const std::exception& e) {
    fmt::print(stderr, "saltus: the viewer's server: {}\n", e.what());
    status = 1;
  }
  std::_Exit(status);
}

void end_server(int process) {
  ::kill(process, SIGTERM);
  ::waitpid(process, nullptr, 0);
}

}  // namespace saltus::cli
