#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/json_number.h"
#include "saltus/scene/document.h"
#include "saltus/studies/compare.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t printed_events = 40;  // --json has all

struct CompareArguments {
  std::string scene;
  std::vector<std::string> set;
  std::vector<double> dt;
  bool json = false;
};

Json gap_json(const TrajectoryGap& g) {
  return {{"size", g.size}, {"mean", g.mean}, {"t", g.t}, {"of", g.what}};
}

Json to_json(const Scene& scene, const Comparison& c) {
  Json j;
  j["scene"] = scene.document->name();
  j["title"] = scene.title;
  j["end"] = scene.end;
  j["ignored_steps"] = ignored_steps;
  j["events"] = Json::array();
  for (const ComparedEvent& e : c.events)
    j["events"].push_back({{"t", e.t}, {"cause", e.cause}, {"mode", e.mode}, {"impact", e.impact}});
  j["runs"] = Json::array();
  for (const SteppingRun& r : c.runs) {
    Json times = Json::array();
    for (const double t : r.times) times.push_back(number(t));
    Json run = {{"dt", r.dt},
                {"steps", r.steps},
                {"unconverged_steps", r.unconverged},
                {"position_gap", gap_json(r.position)},
                {"coordinate_gap", gap_json(r.coordinate)},
                {"event_gap", r.event_gap},
                {"modes_agree", r.modes_agree},
                {"times", times}};
    if (!r.difference.empty()) run["difference"] = r.difference;
    j["runs"].push_back(run);
  }
  j["position_order"] = number(c.position_order);
  j["coordinate_order"] = number(c.coordinate_order);
  return j;
}

std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void print_events(const Comparison& c) {
  fmt::print("\nevents [s]{:49}event-driven", "");
  for (const SteppingRun& r : c.runs) fmt::print("{:>13}", fmt::format("dt {:.4g}", r.dt));
  fmt::print("\n");
  for (std::size_t i = 0; i < std::min(c.events.size(), printed_events); ++i) {
    const ComparedEvent& e = c.events[i];
    fmt::print("  {:<24} {:<30} {:>14.9f}", shortened((e.impact ? "impact: " : "") + e.cause, 24),
               shortened(e.mode, 30), e.t);
    for (const SteppingRun& r : c.runs)
      fmt::print("{:>13}", std::isnan(r.times[i]) ? "-" : fmt::format("{:.6f}", r.times[i]));
    fmt::print("\n");
  }
  if (c.events.size() > printed_events)
    fmt::print("  ... and {} more (--json has all)\n", c.events.size() - printed_events);
}

std::string gap_text(const TrajectoryGap& g) {
  if (g.what.empty()) return "none";
  return fmt::format("{:.2e} {:.2e} {}", g.size, g.mean, shortened(g.what, 11));
}

std::string order_text(double order, const TrajectoryGap& g) {
  if (g.what.empty()) return "";
  return std::isnan(order) ? "none (the gaps are rounding)" : fmt::format("{:.2f}", order);
}

void print_comparison(const Scene& scene, const Comparison& c) {
  fmt::print("{}: event-driven beside time stepping (Moreau), 0 to {:g} s\n",
             scene.title.empty() ? scene.document->name() : scene.title, scene.end);
  print_events(c);
  const auto line = [](const auto&... cells) {
    fmt::print("{:>12} {:>8} {:>30} {:>30} {:>13}  {}\n", cells...);
  };
  fmt::print("\n");
  line("dt [s]", "steps", "gap of positions [m], mean", "of joint coordinates, mean",
       "of events [s]", "modes");
  for (const SteppingRun& r : c.runs) {
    line(fmt::format("{:.6g}", r.dt), r.steps, gap_text(r.position), gap_text(r.coordinate),
         fmt::format("{:.2e}", r.event_gap), r.modes_agree ? "agree" : "differ");
    if (r.unconverged > 0)
      fmt::print("{:>12} {} steps missed the solver's tolerance\n", "", r.unconverged);
  }
  line("order", "", order_text(c.position_order, c.runs.front().position),
       order_text(c.coordinate_order, c.runs.front().coordinate), "", "");
  for (const SteppingRun& r : c.runs)
    if (!r.modes_agree) fmt::print("dt {:.4g}: modes part at {}\n", r.dt, r.difference);
  fmt::print(
      "\nGaps are the largest and the mean over common times; the order is the means' "
      "least-squares "
      "slope\nover dt. Modes agree if the sequences of what holds or slips are equal once modes "
      "shorter than {:g} "
      "dt are left\nout (-). Time stepping changes its mode at the end of the first step in it.\n",
      ignored_steps);
}

int compare_scene(const CompareArguments& a) {
  const Scene scene = load_scene(a.scene, a.set);
  const Comparison c = compare(scene, a.dt);
  if (a.json)
    fmt::print("{}\n", to_json(scene, c).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_comparison(scene, c);
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<CompareArguments>();
  CLI::App* c = app.add_subcommand("compare", "event-driven beside time stepping at several steps");
  c->add_option("scene", a->scene, "scene file (YAML)")->required();
  add_overrides(*c, a->set);
  c->add_option("--dt", a->dt, "steps of time stepping [s], a,b,c; default: four, each half")
      ->delimiter(',')
      ->check(not_empty);
  c->add_flag("--json", a->json, "print the comparison as JSON");
  c->callback([a, &chosen] { chosen = [a] { return compare_scene(*a); }; });
}

}  // namespace saltus::cli
