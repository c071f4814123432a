// mjcf_terms FILE: reads an MJCF file and, from standard input, a state {"q": [...], "v": [...]} in
// MuJoCo's order (empty: where the file draws the robot); prints what Saltus makes of it as one
// JSON object: M, bias, mass, centre of mass, poses, joints, pairs that may touch, motors.
// tests/test_mjcf.py compares it with MuJoCo.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/robots/robot.h"
#include "tests/support/robot_model.h"

namespace saltus {
namespace {

using nlohmann::json;

template <class Vector>
std::vector<double> list(const Vector& x) {
  return {x.data(), x.data() + x.size()};
}

json pose(const SE3& X) {
  return {{"position", list(X.r)}, {"rotation", list(Mat3(X.R.transpose()))}};
}

json pairs(const Model& model) {
  json all = json::array();
  for (std::size_t i = 0; i < model.shapes.size(); ++i)
    for (std::size_t k = i + 1; k < model.shapes.size(); ++k) {
      int a = static_cast<int>(i), b = static_cast<int>(k);
      const int low = std::min<int>(model.shapes[i].body, model.shapes[k].body),
                high = std::max<int>(model.shapes[i].body, model.shapes[k].body);
      if (low == high ||
          std::binary_search(model.excluded.begin(), model.excluded.end(), std::pair(low, high)))
        continue;
      const int law = model.law_between(a, b);
      if (law < 0) continue;
      const ContactLaw& l = model.contact_laws[law];
      all.push_back(
          {model.shapes[i].name, model.shapes[k].name, l.mu1, l.mu2, l.drilling, l.rolling});
    }
  return all;
}

json describe(const std::string& path, const json& state) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  const std::filesystem::path file(path);
  const Robot robot =
      read_mjcf(text.str(), file.filename().string(), file.parent_path().string(), RobotOptions{});
  const Model model = test::model_of(robot);
  State s = test::start_of(robot, model);
  const auto take = [&](const char* key, Vec& x) {
    const std::vector<double> given = state.value(key, std::vector<double>{});
    if (given.empty()) return;
    if (static_cast<Eigen::Index>(given.size()) != x.size())
      throw InputError(fmt::format("{} has {} numbers, the model {}", key, given.size(), x.size()));
    x = Eigen::Map<const Vec>(given.data(), x.size());
  };
  take("q", s.q);
  take("v", s.v);
  Workspace work(model);
  forward_kinematics(model, s.q, s.v, work);
  crba(model, work);
  bias_force(model, work);

  json result;
  result["q"] = list(s.q);
  result["mass"] = model.total_mass();
  result["com"] = list(centre_of_mass(model, work));
  result["bias"] = list(work.tau_bias);
  result["M"] = json::array();
  for (int i = 0; i < model.nv; ++i) result["M"].push_back(list(Vec(work.M.row(i).transpose())));
  for (int i = 0; i < model.body_count(); ++i)
    result["bodies"][model.bodies[i].name] = pose(work.X[i]);
  const auto add_shape = [&](const std::string& name, const std::string& body, const SE3& frame) {
    const SE3 X = body == "world" ? SE3() : work.X[model.body(body)];
    result["geoms"][name] = pose(X * frame);
  };
  for (const ContactShape& c : model.shapes)
    add_shape(c.name, c.body.valid() ? model.bodies[c.body].name : "world", c.frame);
  for (const VisualScene& v : robot.visuals) add_shape(v.shape.name, v.shape.body, v.shape.frame);
  for (const RobotSite& site : robot.sites) {
    const SE3 X = site.body == "world" ? SE3() : work.X[model.body(site.body)];
    result["sites"][site.name] = pose(X * site.frame);
  }
  for (const Coordinate& c : model.coordinates)
    result["joints"][c.name] = {{"armature", c.dof.armature},
                                {"stiffness", c.dof.stiffness},
                                {"rest", c.dof.rest},
                                {"damping", c.dof.damping},
                                {"friction", c.dof.friction},
                                {"lower", std::isfinite(c.dof.lower) ? json(c.dof.lower) : json()},
                                {"upper", std::isfinite(c.dof.upper) ? json(c.dof.upper) : json()}};
  result["pairs"] = pairs(model);
  result["laws"] = robot.contacts.size();
  for (const MotorScene& m : robot.motors)
    result["motors"][m.joints.at(0)] = {{"kp", m.kp},
                                        {"kd", m.kd},
                                        {"limit", std::isfinite(m.limit) ? json(m.limit) : json()},
                                        {"reference", m.reference ? value(*m.reference, 0) : 0},
                                        {"torque", m.torque ? value(*m.torque, 0) : 0}};
  result["notes"] = json::array();
  for (const RobotNote& n : robot.notes)
    result["notes"].push_back({n.kind == RobotNote::Kind::assumed ? "assumed" : "unused",
                               n.where.file, n.where.line, n.item, n.message});
  for (const RobotKeyframe& k : robot.keyframes)
    for (const auto& [joint, start] : k.joints)
      result["keyframes"][k.name][joint] = {{"q", start.q}, {"v", start.v}};
  if (robot.gravity) result["gravity"] = list(*robot.gravity);
  return result;
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: mjcf_terms FILE < STATE\n";
    return 2;
  }
  try {
    std::cout << saltus::describe(argv[1], nlohmann::json::parse(std::cin)) << "\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
