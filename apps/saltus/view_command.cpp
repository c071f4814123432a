#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "apps/saltus/commands.h"
#include "apps/saltus/view_api.h"
#include "apps/saltus/view_assets.h"
#include "apps/saltus/view_browser.h"

namespace saltus::cli {

namespace {

struct ViewArguments {
  std::vector<std::string> runs;
  std::optional<int> port;
  bool no_browser = false;
};

int view(const ViewArguments& a) {
  (void)viewer_page();
  ViewApi api(a.runs);
  LocalServer server;
  api.install(server);
  server.bind(a.port);
  std::signal(SIGINT, [](int) { std::_Exit(0); });
  std::signal(SIGTERM, [](int) { std::_Exit(0); });
  announce_viewer(stdout, server.address(), a.no_browser);
  server.serve();
  return 0;
}

}  // namespace

void announce_viewer(std::FILE* out, const std::string& address, bool no_browser) {
  fmt::print(out, "{}\n", address);
  fmt::print(out, "the viewer is at this address until Ctrl-C\n");
  std::fflush(out);
  if (!no_browser && !open_browser(address))
    fmt::print(stderr, "saltus: found no browser to open; open the address in one\n");
}

void add_view(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ViewArguments>();
  CLI::App* c = app.add_subcommand("view", "a run in the browser, or two for comparison");
  c->add_option("runs", a->runs, "run file, and a second one to lay over it")
      ->required()
      ->expected(1, 2);
  c->add_option("--port", a->port, "port of 127.0.0.1; default: 8722, or a free one")
      ->check(CLI::Range(1, 65535));
  c->add_flag("--no-browser", a->no_browser, "only print the address");
  c->callback([a, &chosen] { chosen = [a] { return view(*a); }; });
}

}  // namespace saltus::cli
