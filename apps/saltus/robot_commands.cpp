// Commands on robot files: import, export.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/write_file.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/joint_traits.h"
#include "saltus/robots/robot.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct RobotArguments {
  std::string file, base = "from-file";
  bool strict = false;
  std::vector<std::string> package_paths;
};

struct ImportArguments : RobotArguments {
  bool json = false, dynamics = false;
  std::vector<double> q, v;
};

RobotOptions options_of(const RobotArguments& a) {
  RobotOptions o;
  if (a.base == "fixed") o.base = RobotBase::fixed;
  if (a.base == "floating") o.base = RobotBase::floating;
  o.strict = a.strict;
  o.package_paths = a.package_paths;
  return o;
}

Vec given_or(const std::vector<double>& given, const Vec& usual, const char* option) {
  if (given.empty()) return usual;
  if (static_cast<Eigen::Index>(given.size()) != usual.size())
    throw InputError(
        fmt::format("{}: expected {} numbers, got {}", option, usual.size(), given.size()));
  return Eigen::Map<const Vec>(given.data(), usual.size());
}

Json numbers(const Vec& x) { return std::vector<double>(x.begin(), x.end()); }

// M and the bias at a state, and where each joint has its coordinates in it.
Json dynamics_json(const Robot& robot, const ImportArguments& a) {
  const System system = build_system(scene_of(robot));
  const Model& model = system.model;
  State state = system.start;
  state.q = given_or(a.q, state.q, "--q");
  state.v = given_or(a.v, state.v, "--v");
  Json joints = Json::array();
  for (const Body& b : model.bodies) {
    const int first = quaternion_at(b.joint);
    if (first >= 0 && std::abs(state.q.segment<4>(b.q0 + first).norm() - 1) > 1e-6)
      throw InputError(fmt::format("--q: expected a unit quaternion for '{}'", b.name));
    if (b.nv > 0)
      joints.push_back({{"body", b.name}, {"q0", b.q0}, {"v0", b.v0}, {"nq", b.nq}, {"nv", b.nv}});
  }
  Workspace work(model);
  forward_kinematics(model, state.q, state.v, work);
  crba(model, work);
  bias_force(model, work);
  Json j = {{"joints", joints}, {"q", numbers(state.q)}, {"v", numbers(state.v)}};
  const Vec3 com = centre_of_mass(model, work);
  j["com"] = {com.x(), com.y(), com.z()};
  j["kinetic_energy"] = kinetic_energy(model, state.v, work);
  const Mat M = work.M.selfadjointView<Eigen::Lower>();
  j["M"] = Json::array();
  for (int i = 0; i < model.nv; ++i) j["M"].push_back(numbers(M.row(i)));
  j["bias"] = numbers(work.tau_bias);
  return j;
}

// What a model cannot be made of is refused here, too; loops that had to be closed are noted.
void check_model(Robot& robot) {
  const System system = build_system(scene_of(robot));
  constexpr double rounding = 1e-9;  // of the length scale
  if (!(system.closure.gap > rounding * system.model.length_scale)) return;
  const std::string& name = system.model.cuts[system.closure.loop].name;
  SourceLine where{robot.file, 0};
  for (std::size_t i = 0; i < robot.loops.size(); ++i)
    if (robot.loops[i].joint.name == name) where = robot.loop_lines[i];
  robot.notes.push_back({RobotNote::Kind::changed, where, fmt::format("loop '{}'", name),
                         fmt::format("the file leaves it open by {:.3g} m: closed at the start by "
                                     "the smallest motion",
                                     system.closure.gap)});
}

int import_robot(const ImportArguments& a) {
  Robot robot = load_robot(a.file, options_of(a));
  const bool dynamics = a.dynamics || !a.q.empty() || !a.v.empty();
  if (!a.json) {
    try {
      check_model(robot);
    } catch (const InputError&) {
      fmt::print("{}", report_text(robot));
      throw;
    }
    fmt::print("{}", report_text(robot));
    return 0;
  }
  check_model(robot);
  Json report = Json::parse(report_json(robot));
  if (dynamics) report["dynamics"] = dynamics_json(robot, a);
  fmt::print("{}\n", report.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

struct ExportArguments : RobotArguments {
  std::string output;
  std::vector<std::string> set;
};

int export_scene(const ExportArguments& a) {
  const bool robot = is_robot_file(a.file);
  if (robot && !a.set.empty()) throw InputError("--set: expected a scene, this is a robot file");
  if (!robot && a.base != "from-file")
    throw InputError("--base: expected a robot file; a scene has it in robots[].base");
  if (!robot && (a.strict || !a.package_paths.empty()))
    throw InputError(fmt::format("{}: expected a robot file; a scene has it in robots[]",
                                 a.strict ? "--strict" : "--package-path"));
  const Scene scene =
      robot ? scene_of(load_robot(a.file, options_of(a))) : load_scene(a.file, a.set);
  (void)build_system(scene);
  const std::string text = complete_text(scene);
  if (a.output.empty())
    fmt::print("{}", text);
  else
    write_file(a.output, text);
  return 0;
}

void add_robot_options(CLI::App* c, RobotArguments& a) {
  c->add_option("--base", a.base, "from-file (default), fixed or floating")
      ->check(CLI::IsMember({"from-file", "fixed", "floating"}));
  c->add_flag("--strict", a.strict, "refuse what would be mended and reported");
  c->add_option("--package-path", a.package_paths,
                "a package, or a folder of packages, that the robot's files may be in; several: "
                "one each")
      ->allow_extra_args(false);
}

}  // namespace

void add_import(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ImportArguments>();
  CLI::App* c = app.add_subcommand(
      "import", "what is understood of a robot file (URDF, MJCF, SDF), assumed, and not used");
  c->add_option("file", a->file, "robot file")->required();
  c->add_flag("--json", a->json, "as JSON");
  add_robot_options(c, *a);
  c->add_flag("--dynamics", a->dynamics, "with --json: mass matrix and bias, too");
  c->add_option("--q", a->q, "coordinates for --dynamics; default: the start")->delimiter(',');
  c->add_option("--v", a->v, "velocities for --dynamics; default: the start")->delimiter(',');
  c->callback([a, &chosen] { chosen = [a] { return import_robot(*a); }; });
}

void add_export(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ExportArguments>();
  CLI::App* c = app.add_subcommand("export",
                                   "a robot file or a scene as a scene that needs no "
                                   "other file");
  c->add_option("file", a->file, "robot file or scene")->required();
  c->add_option("-o,--output", a->output, "file; default: standard output");
  add_robot_options(c, *a);
  c->add_option("--set", a->set, "of a scene: path=value");
  c->callback([a, &chosen] { chosen = [a] { return export_scene(*a); }; });
}

}  // namespace saltus::cli
