#include "apps/saltus/live_view.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "apps/saltus/commands.h"
#include "apps/saltus/view_api.h"
#include "apps/saltus/view_assets.h"
#include "saltus/base/error.h"

namespace saltus::cli {

LiveView::LiveView(std::FILE* out, const std::string& path, std::optional<int> port,
                   bool no_browser)
    : out_(out), control_(share_control()) {
  (void)viewer_page();
  LocalServer server;
  server.bind(port);  // here, so that a port in use is heard before the run begins
  ViewApi api(path, *control_);
  server_ = fork_server([&] {
    api.install(server);
    server.serve();
  });
  announce_viewer(out_, server.address(), no_browser);
}

LiveView::~LiveView() {
  if (server_ > 0) end_server(server_);
}

void LiveView::frame(const std::function<void()>& flush, const std::function<bool()>& stop) {
  wait_while_paused(*control_, flush, stop);
}

void LiveView::linger(const std::function<bool()>& stop) {
  control_->running = false;
  if (stop()) return;
  fmt::print(out_, "the run has ended; its page stays until Ctrl-C\n");
  std::fflush(out_);
  while (!stop() && ::waitpid(server_, nullptr, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TemporaryRun::TemporaryRun() {
  std::string name = (std::filesystem::temp_directory_path() / "saltus-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw InputError("no temporary folder for the run; give one with -o");
  folder_ = name;
}

TemporaryRun::~TemporaryRun() {
  std::error_code none;
  std::filesystem::remove_all(folder_, none);
}

}  // namespace saltus::cli
