// saltus feasible: the feasible set of a scene's next impact (P1 Figs 4.1 to 4.5).
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/feasible_picture.h"
#include "apps/saltus/json_number.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct FeasibleArguments {
  std::string scene, output;
  std::vector<std::string> set;
  FeasibleOptions options;
  bool json = false;
};

Json to_json(const NextImpact& impact) {
  Json j;
  j["t"] = impact.t;
  j["curves"] = Json::array();
  for (const FeasibleCurve& c : impact.curves) {
    Json mu = Json::array();
    for (const double x : c.mu) mu.push_back(number(x));
    j["curves"].push_back({{"contact", impact.model.name_of(c.contact)},
                           {"restitution", c.restitution},
                           {"mu_s", c.mu_s},
                           {"mu_d", c.mu_d},
                           {"mu_f", number(c.mu_f)},
                           {"sticking_pulls", c.sticking_pulls},
                           {"v_before", c.before},
                           {"chosen_v", number(c.chosen_v)},
                           {"chosen_mu", number(c.chosen_mu)},
                           {"energy_ratio", c.energy_ratio},
                           {"path", name_of(c.path)},
                           {"v", c.v},
                           {"mu", mu},
                           {"p_n", c.p_n}});
  }
  return j;
}

std::string csv_of(const NextImpact& impact) {
  std::string text = "contact,restitution,v_t (m/s),mu,p_n (N s)\n";
  for (const FeasibleCurve& c : impact.curves)
    for (std::size_t i = 0; i < c.v.size(); ++i)
      text += fmt::format("{},{},{},{},{}\n", impact.model.name_of(c.contact), c.restitution,
                          c.v[i], c.mu[i], c.p_n[i]);
  return text;
}

// A velocity without the rounding of one that sticks.
double tidy(double v, double scale) { return std::abs(v) < 1e-12 * (1 + std::abs(scale)) ? 0 : v; }

void print(const NextImpact& impact) {
  fmt::print("impact at t = {:.9f} s\n\n", impact.t);
  fmt::print("{:<28} {:>5} {:>12} {:>10} {:>7} {:>7} {:>13} {:>10} {:>9}  {}\n", "contact", "e_n",
             "v_t before", "mu_f", "mu_s", "mu_d", "v_t chosen", "mu", "T+/T-", "how");
  for (const FeasibleCurve& c : impact.curves)
    fmt::print(
        "{:<28} {:>5.2f} {:>12.6g} {:>10} {:>7.4g} {:>7.4g} {:>13.6g} {:>10.4g} {:>9.4f}  {}\n",
        impact.model.name_of(c.contact), c.restitution, c.before,
        fmt::format("{:.4g}{}", c.mu_f, c.sticking_pulls ? "*" : ""), c.mu_s, c.mu_d,
        tidy(c.chosen_v, c.before), c.chosen_mu, c.energy_ratio, name_of(c.path));
  fmt::print(
      "\nmu_f: coefficient that sticking needs; *: its normal impulse would pull, no coefficient "
      "does.\n"
      "Chosen by P1's chain (docs/impacts.md); the curve of a contact is drawn with the others "
      "sticking.\n");
}

int feasible(const FeasibleArguments& a) {
  const Scene scene = load_scene(a.scene, a.set);
  const std::string ending = std::filesystem::path(a.output).extension();
  if (!a.output.empty() && ending != ".svg" && ending != ".csv")
    throw InputError(a.output, "expected a name that ends in .svg or .csv");
  const NextImpact impact = next_impact(scene, a.options);
  if (!a.output.empty())
    write_file(a.output, ending == ".svg" ? picture_of(impact, scene.title) : csv_of(impact));
  if (a.json)
    fmt::print("{}\n", to_json(impact).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print(impact);
  return 0;
}

}  // namespace

void add_feasible(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<FeasibleArguments>();
  CLI::App* c = app.add_subcommand(
      "feasible",
      "friction that each velocity after a scene's next impact would need (P1 Fig. 4.1-4.5)");
  c->add_option("scene", a->scene, "scene file (YAML)")->required();
  add_overrides(*c, a->set);
  c->add_option("--restitution", a->options.restitution,
                "coefficients e_n to draw: a,b,c; default 0,0.25,0.5,0.75,1")
      ->delimiter(',')
      ->check(not_empty);
  c->add_option("--skip", a->options.skip, "impacts to pass before the one that is shown")
      ->check(not_empty);
  c->add_option("--reach", a->options.reach,
                "largest tangential velocity shown [m/s]; default: four times the fastest before")
      ->check(not_empty);
  c->add_option("-o,--output", a->output, "picture (.svg) or data (.csv)");
  c->add_flag("--json", a->json, "print everything as JSON");
  c->callback([a, &chosen] { chosen = [a] { return feasible(*a); }; });
}

}  // namespace saltus::cli
