// The mechanisms that the benchmarks share.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "saltus/lie/inertia.h"
#include "saltus/model/builder.h"
#include "saltus/model/state.h"

namespace saltus::bench {

// The StarlETH-like quadruped of 18 velocities: uniform boxes, 27 kg; joints x, y, y, all zero =
// legs straight down (P2).
inline Model quadruped() {
  const auto box = [](double mass, const Vec3& size, const Vec3& centre) {
    return RigidInertia{mass, centre, solid_box(mass, size)};
  };
  ModelBuilder builder;
  JointSpec root;
  root.kind = Floating{};
  builder.body("trunk", box(17, {0.5, 0.36, 0.1}, Vec3::Zero()), root);
  struct Leg {
    const char* name;
    double x, y;
  };
  for (const Leg& leg : {Leg{"LF", 0.2, 0.18}, Leg{"RF", 0.2, -0.18}, Leg{"LH", -0.2, 0.18},
                         Leg{"RH", -0.2, -0.18}}) {
    const std::string side = leg.name;
    const auto joint = [](const std::string& parent, const Vec3& axis, const Vec3& at) {
      JointSpec spec;
      spec.parent = parent;
      spec.kind = Revolute{axis};
      spec.placement = SE3::translation(at);
      return spec;
    };
    builder.body(side + ".hip", box(0.6, {0.06, 0.06, 0.06}, Vec3::Zero()),
                 joint("trunk", Vec3::UnitX(), {leg.x, leg.y, 0}));
    builder.body(side + ".thigh", box(1.5, {0.05, 0.05, 0.2}, {0, 0, -0.1}),
                 joint(side + ".hip", Vec3::UnitY(), Vec3::Zero()));
    builder.body(side + ".shank", box(0.4, {0.03, 0.03, 0.2}, {0, 0, -0.1}),
                 joint(side + ".thigh", Vec3::UnitY(), {0, 0, -0.2}));
  }
  return builder.build();
}

// Links of 0.1 m and 0.1 kg, hung on the world, axes y and z in turn.
inline Model chain(int links) {
  ModelBuilder builder;
  const RigidInertia link{0.1, {0.05, 0, 0}, solid_cylinder(0.1, 0.01, 0.1)};
  for (int i = 0; i < links; ++i) {
    JointSpec joint;
    joint.kind = Revolute{i % 2 == 0 ? Vec3::UnitY() : Vec3::UnitZ()};
    if (i > 0) {
      joint.parent = fmt::format("link{}", i - 1);
      joint.placement = SE3::translation({0.1, 0, 0});
    }
    builder.body(fmt::format("link{}", i), link, joint);
  }
  return builder.build();
}

struct NamedModel {
  const char* name;
  Model model;
};
// The mechanisms of the dynamics group.
inline std::vector<NamedModel> dynamics_models() {
  return {{"quadruped", quadruped()}, {"chain100", chain(100)}, {"chain1000", chain(1000)}};
}

// Some state, neither symmetric nor at rest; quaternions stay at identity.
inline State some_state(const Model& model) {
  State state = make_state(model);
  for (const Body& body : model.bodies)
    if (has_scalar_coordinates(body.joint))
      for (int k = 0; k < body.nq; ++k) state.q[body.q0 + k] = 0.8 * std::sin(1.7 * (body.q0 + k));
  for (int k = 0; k < model.nv; ++k) state.v[k] = std::cos(2.3 * k);
  return state;
}

}  // namespace saltus::bench
