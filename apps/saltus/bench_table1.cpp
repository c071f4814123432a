// saltus bench table1: P2's Table 1, Figs 5 to 7 as figures, ours beside the paper's.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/saltus/table1.h"

namespace saltus::cli {

namespace {

using nlohmann::json;

const char* word_of(const Configuration& c) {
  return c.coordinates == std::string("as-marked") ? "extended" : c.coordinates;
}

json entry(const Configuration& c, const Timing& t) {
  json j{{"name", c.name},
         {"contact", c.hard ? "hard" : "compliant"},
         {"coordinates", word_of(c)},
         {"solver", c.hard ? c.solver : ""},
         {"bilaterals", c.bilaterals},
         {"alpha", c.alpha},
         {"evaluations_per_s", t.evaluations},
         {"realtime_factor", t.realtime},
         {"iterations", t.iterations},
         {"most_iterations", t.most_iterations},
         {"unconverged", t.unconverged},
         {"steps", t.steps},
         {"joint_gap_m", t.joint_gap},
         {"off_m", t.off},
         {"step_us", 1e6 * t.total.mean},
         {"step_deviation_us", 1e6 * t.total.deviation}};
  if (c.evaluations > 0)
    j["paper"] = {{"evaluations_per_s", c.evaluations}, {"realtime_factor", c.realtime}};
  for (std::size_t k = 0; k < t.stages.size(); ++k)
    j["stages_us"][stage_name(static_cast<StepStage>(k))] = 1e6 * t.stages[k].mean;
  return j;
}

void print_row(const Configuration& c, const Timing& t) {
  const bool theirs = c.evaluations > 0;
  fmt::print(
      "| {} | {} | {} | {} | {} | {} | {:.0f} | {} | {} | {:.1f} | {} | {:.0f} | {} |\n", c.name,
      c.hard ? "hard" : "compliant", word_of(c), c.hard ? c.solver : "-",
      *c.bilaterals != 0 ? c.bilaterals : "-", c.alpha > 0 ? fmt::format("{:g}", c.alpha) : "-",
      t.evaluations, theirs ? fmt::format("{:.0f}", c.evaluations) : "",
      theirs ? fmt::format("{:.1f}", t.evaluations / c.evaluations) : "", t.realtime,
      theirs ? fmt::format("{:.1f}", c.realtime) : "", t.iterations,
      t.unconverged > 0 ? fmt::format("{} of {} steps not converged", t.unconverged, t.steps) : "");
}

void print_stages(const std::vector<std::pair<Configuration, Timing>>& all) {
  fmt::print("\nFig. 7: microseconds of a step, mean (deviation)\n\n| name | total |");
  for (std::size_t k = 0; k < all[0].second.stages.size(); ++k)
    fmt::print(" {} |", stage_name(static_cast<StepStage>(k)));
  fmt::print("\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [c, t] : all) {
    fmt::print("| {} | {:.1f} ({:.1f}) |", c.name, 1e6 * t.total.mean, 1e6 * t.total.deviation);
    for (const Spread& s : t.stages)
      fmt::print(" {:.1f} ({:.1f}) |", 1e6 * s.mean, 1e6 * s.deviation);
    fmt::print("\n");
  }
}

json alphas(const Configuration& c, int states) {
  json j{{"name", c.name}, {"alpha", json::array()}, {"iterations", json::array()}};
  for (const auto& [alpha, n] : iterations_over_alpha(c, states)) {
    j["alpha"].push_back(alpha);
    j["iterations"].push_back(n);
  }
  return j;
}

void print_alphas(const json& all) {
  fmt::print(
      "\nFig. 6: iterations of a step over alpha; the last is the largest that converges\n\n"
      "| name | alpha: iterations |\n|---|---|\n");
  for (const json& j : all) {
    std::string text;
    for (std::size_t i = 0; i < j["alpha"].size(); ++i)
      text += fmt::format("{:.1f}: {:.0f}  ", j["alpha"][i].get<double>(),
                          j["iterations"][i].get<double>());
    fmt::print("| {} | {} |\n", j["name"].get<std::string>(), text);
  }
}

}  // namespace

int bench_table1(bool as_json, bool quick) {
  std::vector<std::pair<Configuration, Timing>> all;
  for (const Configuration& c : rows_of_table1())
    all.emplace_back(c, time_configuration(c, quick ? 1 : 5));
  json fig6 = json::array();
  for (const Configuration& c : table1())
    if (c.hard) fig6.push_back(alphas(c, quick ? 4 : 16));
  const Fig5 fig5 = figure_5();
  const std::vector<Stiffness> stiffer = towards_hard();
  const Sinking sinking = trotting_depth();
  if (as_json) {
    json j{{"table1", json::array()}, {"fig6", fig6}};
    for (const auto& [c, t] : all) j["table1"].push_back(entry(c, t));
    j["fig5"] = {{"difference_N", fig5.difference}, {"mean_force_N", fig5.mean_force}};
    for (const Stiffness& s : stiffer)
      j["towards_hard"].push_back({{"stiffness", s.stiffness},
                                   {"difference_N", s.difference},
                                   {"mean_force_N", s.mean_force}});
    j["sinking_m"] = {{"mean", sinking.mean}, {"most", sinking.most}};
    fmt::print("{}\n", j.dump(1));
    return 0;
  }
  fmt::print(
      "| name | contact | coordinates | scheme | bilaterals | alpha | evaluations/s | paper | ours "
      "/ "
      "paper | real time | paper | iterations | |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [c, t] : all) print_row(c, t);
  print_stages(all);
  print_alphas(fig6);
  fmt::print(
      "\nFig. 5: left fore foot in stance, {:.0f} ms after touch-down: hard and compliant (d = "
      "500) "
      "normal forces differ by {:.2f} N of {:.1f} N in the mean. The feet that carry the compliant "
      "robot are {:.2f} mm in the ground in the mean (paper: 4.4), {:.2f} at most.\n",
      1e3 * fig5.transient, fig5.difference, fig5.mean_force, 1e3 * sinking.mean,
      1e3 * sinking.most);
  for (const Stiffness& s : stiffer)
    fmt::print(
        "Stiffness {:g} N/m: {:.2f} N off the hard force of {:.1f} N at 0.1 ms, in the mean\n",
        s.stiffness, s.difference, s.mean_force);
  return 0;
}

}  // namespace saltus::cli
