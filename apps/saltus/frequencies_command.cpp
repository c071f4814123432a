// saltus frequencies: small motions of a scene about its rest, or about its start in motion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "apps/saltus/commands.h"
#include "apps/saltus/json_number.h"
#include "saltus/base/error.h"
#include "saltus/integrators/small_motions.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct FrequenciesArguments {
  std::string scene;
  std::vector<std::string> set;
  double t = 0;
  int count = 10;
  bool start = false;
  bool json = false;
};

// Of every velocity, as tables of joints name it.
std::vector<std::string> velocity_names(const Model& model) {
  std::vector<std::string> names(model.nv);
  for (int k = 0; k < model.nv; ++k) {
    const Body& b = model.bodies[model.v_body[k]];
    names[k] = b.nv == 1 ? b.name : fmt::format("{}.{}", b.name, k - b.v0);
  }
  for (const Coordinate& c : model.coordinates)
    if (c.v_index >= 0) names[c.v_index] = c.name;
  return names;
}

std::string largest_of(const SmallMotion& m, const std::vector<std::string>& names) {
  Eigen::Index most = 0;
  if (m.shape.size() == 0) return "";
  (void)m.shape.cwiseAbs().maxCoeff(&most);
  return names[most];
}

Json to_json(const SmallMotions& found, const std::vector<std::string>& names, std::size_t count) {
  Json j;
  j["unsteady"] = number(found.unsteady);
  j["velocities"] = names;
  j["modes"] = Json::array();
  for (std::size_t i = 0; i < std::min(count, found.modes.size()); ++i) {
    const SmallMotion& m = found.modes[i];
    Json shape = Json::array();
    for (const std::complex<double>& x : m.shape) shape.push_back({x.real(), x.imag()});
    j["modes"].push_back({{"frequency", number(m.frequency())},
                          {"hertz", number(m.frequency() / (2 * std::numbers::pi))},
                          {"growth", number(m.rate.real())},
                          {"damping", number(m.damping())},
                          {"largest", largest_of(m, names)},
                          {"shape", shape}});
  }
  return j;
}

void print(const SmallMotions& found, const std::vector<std::string>& names, std::size_t count,
           bool about_rest) {
  if (found.modes.empty()) fmt::print("nothing is free to move\n");
  if (!about_rest)
    fmt::print("about the start; accelerations there {:.3g} (0: a steady motion)\n",
               found.unsteady);
  if (!found.modes.empty())
    fmt::print("{:>4} {:>14} {:>14} {:>13} {:>10}  {}\n", "", "rad/s", "Hz", "growth 1/s",
               "damping", "largest");
  for (std::size_t i = 0; i < std::min(count, found.modes.size()); ++i) {
    const SmallMotion& m = found.modes[i];
    fmt::print("{:>4} {:>14.8g} {:>14.8g} {:>13.5g} {:>10.5g}  {}\n", i + 1, m.frequency(),
               m.frequency() / (2 * std::numbers::pi), m.rate.real(), m.damping(),
               largest_of(m, names));
  }
  if (count < found.modes.size())
    fmt::print("  and {} more (--count)\n", found.modes.size() - count);
}

int frequencies(const FrequenciesArguments& a) {
  const Scene scene = load_scene(a.scene, a.set);
  const System system = build_system(scene);
  const bool about_rest = !a.start && system.start.v.isZero(0);
  Vec q = system.start.q;
  RestReport rest;
  if (about_rest) {
    rest = find_rest(system.model, system.actuation, a.t, q);
    if (!rest.converged) {
      fmt::print(
          stderr,
          "saltus: error: no rest was found near the start (residual {:.1e}); --start looks at "
          "the start itself\n",
          rest.residual);
      return 1;
    }
  }
  const SmallMotions found =
      small_motions(system.model, system.actuation, a.t, q, system.start.v, rest.held);
  const std::vector<std::string> names = velocity_names(system.model);
  const auto count = static_cast<std::size_t>(a.count);
  if (a.json)
    fmt::print("{}\n",
               to_json(found, names, count).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print(found, names, count, about_rest);
  return 0;
}

}  // namespace

void add_frequencies(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<FrequenciesArguments>();
  CLI::App* c = app.add_subcommand(
      "frequencies", "small motions about a rest near the start, or about a start in motion");
  c->add_option("scene", a->scene, "scene file")->required();
  add_overrides(*c, a->set);
  c->add_option("--at", a->t, "time of the signals [s]")->check(not_empty);
  c->add_option("--count", a->count, "how many, the slowest first; default 10")
      ->check(CLI::Range(1, 100000))
      ->check(not_empty);
  c->add_flag("--start", a->start, "about the start, at rest or not");
  c->add_flag("--json", a->json, "print JSON, with the shapes");
  c->callback([a, &chosen] { chosen = [a] { return frequencies(*a); }; });
}

}  // namespace saltus::cli
