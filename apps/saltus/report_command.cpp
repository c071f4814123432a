#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/saltus/commands.h"
#include "apps/saltus/report_data.h"
#include "apps/saltus/view_assets.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"
#include "saltus/version.h"

namespace saltus::cli {

namespace {

struct ReportArguments {
  std::string run, output;
  double size_cap = 8;  // [MB]
};

std::string base64(const std::string& bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// JSON inside a script element: no text of the run may end it.
std::string inside_script(const nlohmann::ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

int report(const ReportArguments& a) {
  const std::string page(viewer_page());
  const std::size_t mark = page.find(report_mark);
  if (mark == std::string::npos) throw InputError("the viewer has no place for a report's data");
  if (std::error_code none; std::filesystem::equivalent(a.run, a.output, none))
    throw InputError(fmt::format("{}: cannot write: it is the run", a.output));
  const RunReader run(a.run);
  const double cap = a.size_cap * 1e6;
  // What the page holds beside the rows: itself, the header, the scene.
  const double fixed = static_cast<double>(page.size() + run.scene().size() + run.header().size() +
                                           run.summary().size()) *
                           1.05 +
                       20e3;
  if (fixed >= cap)
    throw InputError(
        fmt::format("--size-cap: this page needs {:.1f} MB without any frame", fixed / 1e6));
  ReportData data = report_data(a.run, run, static_cast<std::size_t>((cap - fixed) * 3 / 4));
  data.info["reporter"] = fmt::format("saltus {} ({})", version, commit);
  const std::string text =
      page.substr(0, mark) + R"(<script type="application/json" id="saltus-run">)" +
      inside_script(data.info) +
      R"(</script><script type="application/octet-stream" id="saltus-data">)" + base64(data.bytes) +
      "</script>" + page.substr(mark + report_mark.size());
  write_file(a.output, text);
  fmt::print("{} ({:.1f} MB)\n  {}\n", a.output, static_cast<double>(text.size()) / 1e6,
             data.info["decimated"].get<std::string>());
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ReportArguments>();
  CLI::App* c = app.add_subcommand("report", "one page that opens anywhere: replay and plots");
  c->add_option("run", a->run, "run file")->required();
  c->add_option("-o,--output", a->output, "page (HTML)")->required();
  c->add_option("--size-cap", a->size_cap, "largest size of the page [MB]; default: 8")
      ->check(CLI::Range(0.1, 500.0));
  c->callback([a, &chosen] { chosen = [a] { return report(*a); }; });
}

}  // namespace saltus::cli
