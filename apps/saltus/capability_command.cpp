// saltus capability: the acceleration of a point that a scene's actuators can give (P1 chapter 6).
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/capability_picture.h"
#include "apps/saltus/commands.h"
#include "apps/saltus/json_number.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CapabilityArguments {
  std::string scene, output;
  std::vector<std::string> set, field;
  std::vector<double> direction{0, 0, 1}, up;
  CapabilityRequest request;
  bool json = false;
};

Vec3 vector_of(const char* option, const std::vector<double>& x) {
  if (x.size() != 3)
    throw InputError(option, fmt::format("expected x,y,z, got {} numbers", x.size()));
  return {x[0], x[1], x[2]};
}

Json to_json(const Capability& c) {
  if (!c.feasible) return nullptr;
  return {{"value", c.value},
          {"error", number(c.error)},
          {"torques", std::vector<double>(c.tau.begin(), c.tau.end())},
          {"forces", std::vector<double>(c.force.begin(), c.force.end())}};
}

Json to_json(const CapabilityReport& r) {
  Json j;
  j["direction"] = std::vector<double>(r.direction.begin(), r.direction.end());
  j["actuators"] = Json::array();
  for (const Actuator& a : r.stance.actuators)
    j["actuators"].push_back({{"joint", a.name}, {"lower", a.lower}, {"upper", a.upper}});
  j["held_at"] = Json::array();
  for (std::size_t i = 0; i < r.stance.blocks.size(); ++i)
    j["held_at"].push_back({{"name", r.stance.names[i]},
                            {"row", r.stance.blocks[i].row},
                            {"rows", r.stance.blocks[i].rows}});
  j["redundant"] = r.stance.N.cols();
  j["directional"] = to_json(r.directional);
  j["free"] = to_json(r.free);
  j["held"] = to_json(r.held);
  return j;
}

void print_one(const char* name, const Capability& c, const char* about) {
  if (c.feasible)
    fmt::print("  {:<12} {:>14.9g} m/s^2   {}\n", name, c.value, about);
  else
    fmt::print("  {:<12} {:>14} {:7} {}\n", name, "infeasible", "", about);
}

void print(const CapabilityReport& r, const std::string& point) {
  fmt::print("acceleration of {} along ({:.6g}, {:.6g}, {:.6g})\n", point, r.direction[0],
             r.direction[1], r.direction[2]);
  print_one("directional", r.directional, "the other accelerations zero (P1 eq. 6.4 to 6.6)");
  print_one("free", r.free, "the other accelerations float");
  print_one("held", r.held, "and the forces it is held by keep their laws");
  if (r.held.feasible && r.held.error > 1e-9 * std::abs(r.held.value))
    fmt::print("  {:<12} an upper bound, reached to {:.1e} m/s^2\n", "", r.held.error);
  const Capability& best = r.held.feasible ? r.held : r.free;
  fmt::print("  by the torques of '{}' [N m, N]:\n", r.held.feasible ? "held" : "free");
  for (std::size_t i = 0; i < r.stance.actuators.size(); ++i) {
    const Actuator& a = r.stance.actuators[i];
    fmt::print("    {:<24} {:>12.6g} of {:.6g} to {:.6g}\n", a.name, best.tau[static_cast<int>(i)],
               a.lower, a.upper);
  }
  fmt::print("  held at {} place{}{}\n", r.stance.blocks.size(),
             r.stance.blocks.size() == 1 ? "" : "s", r.stance.blocks.empty() ? "" : " [N]:");
  for (std::size_t i = 0; i < r.stance.blocks.size(); ++i) {
    const Block& b = r.stance.blocks[i];
    fmt::print("    {:<24}", r.stance.names[i]);
    for (int k = 0; k < b.rows; ++k) fmt::print(" {:>12.6g}", best.force[b.row + k]);
    fmt::print("\n");
  }
  if (r.stance.N.cols() > 0)
    fmt::print("    {} of these forces are shared at will: they are redundant\n",
               r.stance.N.cols());
}

int capability(CapabilityArguments a) {
  const Scene scene = load_scene(a.scene, a.set);
  a.request.direction = vector_of("--direction", a.direction);
  if (!a.up.empty()) a.request.up = vector_of("--up", a.up);
  if (!a.output.empty() && std::filesystem::path(a.output).extension() != ".svg")
    throw InputError(a.output, "expected a name that ends in .svg");
  if (!a.field.empty()) {
    if (a.field.size() != 2) throw InputError("--field", "expected two, JOINT=FROM:TO:COUNT each");
    if (a.output.empty()) throw InputError("--field", "expected -o FILE.svg with it");
    const CapabilityField field =
        capability_field(scene, a.request, field_axis(a.field[0]), field_axis(a.field[1]));
    write_file(a.output, field_picture(field, scene.title));
    return 0;
  }
  const CapabilityReport report = capability_of(scene, a.request);
  if (!a.output.empty()) write_file(a.output, outline_picture(report, scene.title));
  if (a.json)
    fmt::print("{}\n", to_json(report).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print(report, a.request.point);
  return 0;
}

}  // namespace

void add_capability(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<CapabilityArguments>();
  CLI::App* c = app.add_subcommand(
      "capability", "the acceleration of a point that a scene's actuators can give (P1 chapter 6)");
  c->add_option("scene", a->scene, "scene file (YAML); its start, at rest")->required();
  add_overrides(*c, a->set);
  a->request.point = "centre-of-mass";
  c->add_option("--point", a->request.point, "BODY, BODY:x,y,z or centre-of-mass (default)");
  c->add_option("--direction", a->direction, "x,y,z; default: 0,0,1")->delimiter(',');
  c->add_option("--pin", a->request.pins, "a point that is held all ways: BODY or BODY:x,y,z")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option("--foot", a->request.feet,
                "a point that pushes within --friction: BODY or BODY:x,y,z")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option("--friction", a->request.friction, "coefficient of the --foot points");
  c->add_option("--up", a->up, "x,y,z: the ground's normal at --foot; default: against gravity")
      ->delimiter(',');
  c->add_option("--limit", a->request.limit, "of every torque, besides the motors' own [N m, N]");
  c->add_option("--joints", a->request.joints,
                "which joints are driven: a pattern; default: with motors");
  c->add_option("--touch", a->request.touch, "shapes nearer than this hold [m]; default: 1e-6");
  c->add_option("--field", a->field, "JOINT=FROM:TO:COUNT, twice: a map over two joints, with -o")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option("-o,--output", a->output,
                "picture (.svg): accelerations in three planes, or the map");
  c->add_flag("--json", a->json, "print everything as JSON");
  c->callback([a, &chosen] { chosen = [a] { return capability(*a); }; });
}

}  // namespace saltus::cli
