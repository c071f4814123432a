#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/saltus/commands.h"
#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/papers.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"

namespace saltus::cli {

namespace {

struct Paper {
  const char* name;
  const char* title;
  std::string (*page)(const std::string& folder, int& misses);
};
const Paper all_papers[] = {
    {"P0", "Snake robot obstacle aided locomotion", p0_page},
    {"P1", "Hybrid simulation of impacts: chapters 2 to 5, appendix A", p1_page},
    {"P2", "An evaluation of Moreau's scheme for a legged robot", p2_page},
    {"P3", "On a class of biomorphic motion systems", p3_page},
    {"P4", "Multibody system dynamics for bio-inspired locomotion: sections 2 to 7", p4_page}};

struct PapersArguments {
  std::vector<std::string> names;
  std::string output;
};

int make_papers(const PapersArguments& a) {
  std::vector<const Paper*> chosen;
  for (const std::string& name : a.names) {
    const auto* found = std::find_if(std::begin(all_papers), std::end(all_papers),
                                     [&](const Paper& p) { return p.name == name; });
    if (found == std::end(all_papers))
      throw InputError(fmt::format("no page for '{}' yet; there are P0 to P4", name));
    chosen.push_back(found);
  }
  if (chosen.empty())
    for (const Paper& p : all_papers) chosen.push_back(&p);
  const std::string runs = a.output + "/runs";
  std::error_code failed;
  std::filesystem::create_directories(runs, failed);
  if (failed)
    throw InputError(fmt::format("{}: cannot make this folder: {}", runs, failed.message()));
  Page index("Saltus: the papers", "Theirs beside ours, made by one command.");
  std::string links;
  int total = 0;
  for (const Paper* p : chosen) {
    int misses = 0;
    const std::string path = fmt::format("{}/{}.html", a.output, p->name);
    write_file(path, p->page(runs, misses));
    fmt::print("{}: {} ({} figures outside their tolerance)\n", p->name, path, misses);
    links += fmt::format("<p><a href='{0}.html'>{0}</a>: {1}</p>\n", p->name, p->title);
    total += misses;
  }
  std::string html = index.html();
  html.insert(html.rfind("<p><small>"), links);
  write_file(a.output + "/index.html", html);
  return total == 0 ? 0 : 1;
}

}  // namespace

void add_papers(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<PapersArguments>();
  CLI::App* c =
      app.add_subcommand("papers", "figures and tables of the papers, theirs beside ours");
  c->add_option("papers", a->names, "P0, P1, P2, P3, P4; default: all");
  c->add_option("-o,--output", a->output, "folder")->required();
  c->callback([a, &chosen] { chosen = [a] { return make_papers(*a); }; });
}

}  // namespace saltus::cli
