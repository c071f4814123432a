// random_tree SEED: builds a random tree and prints, as one JSON object, the same tree as MJCF and
// what Saltus computes for a random state of it: q, v, M and bias (C v - gravity), all in MuJoCo's
// order (bodies depth first). tests/test_mujoco.py compares.
//
// A MuJoCo body stands at the moved frame of a Saltus joint, so that joints sit at its origin and
// both use the same velocities: of a ball the angular velocity in the body, of a free joint the
// linear velocity in the world and the angular one in the body.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "tests/support/random_model.h"

namespace saltus {
namespace {

std::string text(const Vec3& x) { return fmt::format("{:.17g} {:.17g} {:.17g}", x[0], x[1], x[2]); }
std::string text(const Mat3& R) {
  const Quat q(R);
  return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q.w(), q.x(), q.y(), q.z());
}

// The joint elements of a kind; armature by coordinate.
std::string joint_elements(const Joint& joint, VecIn armature) {
  const auto slide = [&](const Vec3& axis, int k) {
    return fmt::format(R"(<joint type="slide" axis="{}" armature="{:.17g}"/>)", text(axis),
                       armature[k]);
  };
  const auto hinge = [&](const Vec3& axis, int k) {
    return fmt::format(R"(<joint type="hinge" axis="{}" armature="{:.17g}"/>)", text(axis),
                       armature[k]);
  };
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  if (const auto* j = std::get_if<Revolute>(&joint)) return hinge(j->axis, 0);
  if (const auto* j = std::get_if<Prismatic>(&joint)) return slide(j->axis, 0);
  if (std::holds_alternative<Planar>(joint)) return slide(x, 0) + slide(y, 1) + hinge(z, 2);
  if (std::holds_alternative<Carrier>(joint)) return slide(x, 0) + slide(y, 1) + slide(z, 2);
  if (std::holds_alternative<Spherical>(joint)) return R"(<joint type="ball"/>)";
  if (std::holds_alternative<Floating>(joint)) return R"(<freejoint/>)";
  return "";
}

struct Writer {
  const Model& model;
  std::string mjcf;
  std::vector<int> q_order, v_order;  // Saltus' index of each of MuJoCo's

  void body(int i) {
    const Body& b = model.bodies[i];
    const SE3 parent = b.parent.valid() ? model.bodies[b.parent].in_body.inverse() : SE3{};
    const SE3 X = parent * b.placement, from_body = b.in_body.inverse();
    const Vec3 com = from_body * b.rigid.com;
    const Mat3 J = from_body.R * b.rigid.about_com * from_body.R.transpose();
    mjcf += fmt::format(R"(<body name="{}" pos="{}" quat="{}">)", b.name, text(X.r), text(X.R));
    mjcf += joint_elements(b.joint, model.armature.segment(b.v0, b.nv));
    mjcf +=
        fmt::format(R"(<inertial pos="{}" mass="{:.17g}" fullinertia="{} {}"/>)", text(com),
                    b.rigid.mass, text(Vec3(J.diagonal())), text(Vec3(J(0, 1), J(0, 2), J(1, 2))));
    for (int k = 0; k < b.nq; ++k) q_order.push_back(b.q0 + k);
    for (int k = 0; k < b.nv; ++k) v_order.push_back(b.v0 + k);
    children(i);
    mjcf += "</body>";
  }
  void children(int parent) {
    for (int i = 0; i < model.body_count(); ++i) {
      if (model.bodies[i].parent == parent) body(i);
    }
  }
};

std::vector<double> list(const Vec& x) { return {x.begin(), x.end()}; }

nlohmann::json describe(std::uint64_t seed) {
  test::Random random(seed);
  test::ForestOptions options;
  options.kinds = test::Kinds::mujoco;
  const Model model = test::random_forest(random, options).build();
  const State state = test::random_state(random, model);
  Workspace work(model);
  forward_kinematics(model, state.q, state.v, work);
  crba(model, work);
  bias_force(model, work);

  Writer writer{model, "", {}, {}};
  // Inertias as they are, bodies without joints kept, nothing derived from shapes.
  writer.mjcf = fmt::format(
      R"(<mujoco><compiler angle="radian" autolimits="false" balanceinertia="false" )"
      R"(fusestatic="false" inertiafromgeom="false"/><option gravity="{}"/><worldbody>)",
      text(model.gravity));
  writer.children(world);
  writer.mjcf += "</worldbody></mujoco>";

  nlohmann::json result;
  result["seed"] = seed;
  result["mjcf"] = writer.mjcf;
  result["q"] = list(state.q(writer.q_order));
  result["v"] = list(state.v(writer.v_order));
  result["bias"] = list(work.tau_bias(writer.v_order));
  result["M"] = nlohmann::json::array();
  for (const int i : writer.v_order) {
    result["M"].push_back(list(work.M.row(i).transpose()(writer.v_order)));
  }
  std::vector<std::string> kinds;
  for (const Body& body : model.bodies) kinds.emplace_back(name_of(body.joint));
  result["kinds"] = kinds;
  return result;
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: random_tree SEED\n";
    return 2;
  }
  std::cout << saltus::describe(std::strtoull(argv[1], nullptr, 10)) << "\n";
  return 0;
}
