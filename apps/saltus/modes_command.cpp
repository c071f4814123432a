// saltus modes: the sequence of modes of a run, their totals and their transition graph.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/saltus/commands.h"
#include "apps/saltus/modes_json.h"
#include "apps/saltus/modes_picture.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"
#include "saltus/runs/run_modes.h"

namespace saltus::cli {

namespace {

struct ModesArguments {
  std::string run, output;
  bool json = false, dot = false;
};

std::size_t widest(const ModeGraph& g) {
  std::size_t width = 4;
  for (const SystemMode& m : g.modes) width = std::max(width, m.name.size());
  return std::min<std::size_t>(width, 40);
}

void print_sequence(const ModeHistory& h, const ModeGraph& g) {
  const std::size_t width = widest(g);
  fmt::print("{:>14}  {:>14}  {:<{}}  cause\n", "t [s]", "duration [s]", "mode", width);
  for (const ModeStretch& s : g.stretches)
    for (std::size_t e = s.event; e < s.event + s.events; ++e) {
      const ModeEvent& event = h.events[e];
      const double until = e + 1 < h.events.size() ? h.events[e + 1].t : s.to;
      std::string cause = causes_text(h, event);
      if (event.impact) cause += cause.empty() ? "impact" : "; impact";
      if (event.impact && event.kinetic_before > 0)
        cause += fmt::format(", T {:.6g} -> {:.6g} J", event.kinetic_before, event.kinetic_after);
      fmt::print("{:>14.9f}  {:>14.9f}  {:<{}}  {}\n", event.t, until - event.t,
                 g.modes[s.mode].name, width, cause);
    }
}

void print_totals(const ModeHistory& h, const ModeGraph& g) {
  const std::size_t width = widest(g);
  const auto part = [&](const std::vector<int>& parts) {
    const std::string text = labels_text(h, parts);
    return text.empty() ? std::string("nothing") : text;
  };
  fmt::print("\n{:<{}}  {:>7}  {:>14}  holds; slips\n", "mode", width, "count", "total [s]");
  for (const SystemMode& m : g.modes)
    fmt::print("{:<{}}  {:>7}  {:>14.9f}  {}; {}\n", m.name, width, m.count, m.duration,
               part(m.holds), part(m.slips));
  fmt::print("\n{:<{}}     {:<{}}  {:>7}  {:>7}\n", "from", width, "to", width, "count", "impacts");
  for (const ModeTransition& t : g.transitions)
    fmt::print("{:<{}}  -> {:<{}}  {:>7}  {:>7}\n", g.modes[t.from].name, width, g.modes[t.to].name,
               width, t.count, t.impacts);
  fmt::print("\n");
  for (const ModePart& p : h.parts)
    if (p.label != p.name) fmt::print("{}: {}\n", p.label, p.name);
}

int show_modes(const ModesArguments& a) {
  if (std::error_code none; std::filesystem::equivalent(a.run, a.output, none))
    throw InputError(fmt::format("{}: cannot write: it is the run", a.output));
  const RunReader run(a.run);
  const ModeHistory history = read_modes(run, a.run);
  if (history.events.empty())
    throw InputError(fmt::format("{}: the run has no mode yet: it took no step", a.run));
  const ModeGraph graph = mode_graph(history);
  const auto header = nlohmann::ordered_json::parse(run.header());
  const std::string title = header.value("title", a.run);
  if (!a.output.empty())
    write_file(a.output,
               a.dot ? modes_dot(history, graph, title) : modes_svg(history, graph, title));
  if (a.json) {
    fmt::print("{}\n", modes_json(history, graph)
                           .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (a.dot && a.output.empty()) {
    fmt::print("{}", modes_dot(history, graph, title));
  } else if (a.output.empty()) {
    fmt::print("{}: {} modes, {} stretches, {} events until {:.9g} s ({})\n\n", title,
               graph.modes.size(), graph.stretches.size(), history.events.size(), history.end,
               header.value("integrator", "moreau"));
    print_sequence(history, graph);
    print_totals(history, graph);
  } else {
    fmt::print("{} ({} modes, {} transitions)\n", a.output, graph.modes.size(),
               graph.transitions.size());
  }
  return 0;
}

}  // namespace

void add_modes(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ModesArguments>();
  CLI::App* c = app.add_subcommand("modes", "what held and slipped when, and the transition graph");
  c->add_option("run", a->run, "run file")->required();
  c->add_option("-o,--output", a->output, "the transition graph as a picture (SVG)");
  c->add_flag("--dot", a->dot, "the graph in DOT, to -o or standard output");
  c->add_flag("--json", a->json, "everything as JSON");
  c->callback([a, &chosen] { chosen = [a] { return show_modes(*a); }; });
}

}  // namespace saltus::cli
