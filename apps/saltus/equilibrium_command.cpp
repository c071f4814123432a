// saltus equilibrium: where a scene rests, and whether it stays there.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/json_number.h"
#include "saltus/analysis/rest_shape.h"
#include "saltus/base/error.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct EquilibriumArguments {
  std::string scene;
  std::vector<std::string> set;
  RestOptions options;
  double t = 0;
  bool json = false;
};

struct ProbeAtRest {
  std::string name;
  Vec3 point;
};

std::vector<ProbeAtRest> probes_of(const Scene& scene, const Model& model, const Workspace& work) {
  std::vector<ProbeAtRest> all;
  for (const Probe& p : scene.probes)
    all.push_back({p.name, p.body == "centre-of-mass" ? centre_of_mass(model, work)
                                                      : work.X[model.body(p.body)] * p.point});
  return all;
}

Json to_json(const RestReport& r, const Vec& q, const std::vector<ProbeAtRest>& probes) {
  Json j;
  j["converged"] = r.converged;
  j["iterations"] = r.iterations;
  j["residual"] = number(r.residual);
  j["gap"] = number(r.gap);
  j["energy"] = number(r.energy);
  j["least_eigenvalue"] = number(r.least_eigenvalue);
  j["stable"] = r.least_eigenvalue > 0;
  j["q"] = std::vector<double>(q.begin(), q.end());
  j["probes"] = Json::object();
  for (const ProbeAtRest& p : probes) j["probes"][p.name] = {p.point[0], p.point[1], p.point[2]};
  j["held"] = Json::array();
  for (const RestReport::Held& h : r.held)
    j["held"].push_back({{"name", h.name},
                         {"force", h.force},
                         {"contact", h.contact},
                         {"point", {h.point[0], h.point[1], h.point[2]}}});
  return j;
}

void print(const RestReport& r, const std::vector<ProbeAtRest>& probes) {
  fmt::print("{} after {} Newton steps: forces to {:.1e} of their size, gaps to {:.1e} m\n",
             r.converged ? "at rest" : "NOT at rest", r.iterations, r.residual, r.gap);
  if (r.least_eigenvalue > 0)
    fmt::print("  stable: lowest frequency {:.6g} rad/s\n", std::sqrt(r.least_eigenvalue));
  else
    fmt::print("  UNSTABLE: least eigenvalue of the tangent against M {:.6g} 1/s^2\n",
               r.least_eigenvalue);
  fmt::print("  potential energy {:.9g} J\n", r.energy);
  for (const ProbeAtRest& p : probes)
    fmt::print("  {:<24} {:>14.9g} {:>14.9g} {:>14.9g} m\n", p.name, p.point[0], p.point[1],
               p.point[2]);
  double sum = 0;
  int contacts = 0;
  for (const RestReport::Held& h : r.held)
    if (h.contact) sum += h.force, ++contacts;
  if (contacts > 0)
    fmt::print("  {} contacts push with {:.9g} N in all (without friction)\n", contacts, sum);
  for (const RestReport::Held& h : r.held)
    fmt::print("    {:<32} {:>12.6g}{}\n", h.name, h.force, h.contact ? " N" : "");
}

int equilibrium(const EquilibriumArguments& a) {
  const Scene scene = load_scene(a.scene, a.set);
  const System system = build_system(scene);
  Vec q = system.start.q;
  const RestReport report = find_rest(system.model, system.actuation, a.t, q, a.options);
  Workspace work(system.model);
  forward_kinematics(system.model, q, Vec::Zero(system.model.nv), work);
  const std::vector<ProbeAtRest> probes = probes_of(scene, system.model, work);
  if (a.json)
    fmt::print("{}\n",
               to_json(report, q, probes).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print(report, probes);
  return report.converged ? 0 : 1;
}

}  // namespace

void add_equilibrium(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<EquilibriumArguments>();
  CLI::App* c = app.add_subcommand(
      "equilibrium",
      "where a scene rests near its start, contacts without friction; its stability");
  c->add_option("scene", a->scene, "scene file")->required();
  add_overrides(*c, a->set);
  c->add_option("--at", a->t, "time of the signals [s]")->check(not_empty);
  c->add_option("--iterations", a->options.max_iterations, "Newton steps at most")
      ->check(CLI::Range(0, 100000))
      ->check(not_empty);
  c->add_flag("--json", a->json, "print JSON");
  c->callback([a, &chosen] { chosen = [a] { return equilibrium(*a); }; });
}

}  // namespace saltus::cli
