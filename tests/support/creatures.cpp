#include "tests/support/creatures.h"

#include <fmt/format.h>

#include "saltus/model/builder.h"

namespace saltus::test {

namespace {

RigidInertia plane_inertia(double mass, double about_z, const Vec3& com = Vec3::Zero()) {
  // The moments about x and y play no part in the plane; these belong to some flat body.
  return {mass, com, Vec3(0.5 * about_z, 0.5 * about_z, about_z).asDiagonal()};
}

JointSpec hinge(const std::string& name, const std::string& parent, const Vec3& in_parent,
                const Vec3& in_body) {
  JointSpec j;
  j.name = name;
  j.parent = parent;
  j.kind = Revolute{};
  j.placement.r = in_parent;
  j.in_body.r = in_body;
  return j;
}

JointSpec on_plane() {
  JointSpec j;
  j.kind = Planar{};
  return j;
}

Runner axle(const std::string& name, const Vec3& point = Vec3::Zero()) {
  Runner r;
  r.name = name;
  r.point = point;
  return r;
}

}  // namespace

Model chain(const std::vector<ChainLink>& links, int root) {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  const auto name = [](int i) { return fmt::format("link{}", i + 1); };
  const auto add = [&](int i, const JointSpec& joint) {
    b.body(name(i), plane_inertia(links[i].mass, links[i].inertia), joint);
    if (!links[i].added.isZero()) b.added_inertia(name(i), links[i].added);
  };
  add(root, on_plane());
  for (int i = root + 1; i < static_cast<int>(links.size()); ++i)
    add(i, hinge(fmt::format("a{}", i), name(i - 1), {links[i - 1].reach, 0, 0},
                 {-links[i].reach, 0, 0}));
  for (int i = root - 1; i >= 0; --i) {  // a_i turns the parent against the child: axis -z
    JointSpec j = hinge(fmt::format("a{}", i + 1), name(i + 1), {-links[i + 1].reach, 0, 0},
                        {links[i].reach, 0, 0});
    j.kind = Revolute{-Vec3::UnitZ()};
    add(i, j);
  }
  return b.build();
}

Model wheeled_snake(int modules) {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  for (int i = 1; i <= modules; ++i) {
    const std::string name = fmt::format("module{}", i);
    b.body(name, plane_inertia(1, 1.0 / 12),
           i == 1 ? on_plane()
                  : hinge(fmt::format("r{}", i - 1), fmt::format("module{}", i - 1), {-0.5, 0, 0},
                          {0.5, 0, 0}));
    b.runner(axle(fmt::format("axle{}", i)), name);
  }
  return b.build();
}

Model falling_cat() {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  const auto half = [](double side) {
    return RigidInertia{1, {0, 0, 0.3 * side}, Vec3(0.08, 0.08, 0.02).asDiagonal()};
  };
  JointSpec root, joint;
  root.kind = Floating{};
  joint.name = "back";
  joint.parent = "front";
  joint.kind = Spherical{};
  b.body("front", half(1), root).body("rear", half(-1), joint);
  return b.build();
}

Model snakeboard() {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  // m = 6 and J = .1654 in all; rotor and trucks turn about their centres, so that some of both may
  // be theirs without any change: a body needs a mass.
  const double rotor = 1, truck = 0.1, l = 0.2;
  b.body("board", plane_inertia(6 - rotor - 2 * truck, 0.1654 - 2 * truck * l * l), on_plane());
  b.body("rotor", plane_inertia(rotor, 0.072), hinge("psi", "board", Vec3::Zero(), Vec3::Zero()));
  b.body("front", plane_inertia(truck, 0.0013), hinge("phi_f", "board", {l, 0, 0}, Vec3::Zero()));
  b.body("rear", plane_inertia(truck, 0.0013), hinge("phi_b", "board", {-l, 0, 0}, Vec3::Zero()));
  b.runner(axle("front axle"), "front").runner(axle("rear axle"), "rear");
  return b.build();
}

Model trikke() {
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  b.body("base", plane_inertia(10, 1.2, {0.4, 0, 0}), on_plane());
  b.body("arm", plane_inertia(3, 0.15, {0.2, 0, 0}), hinge("phi", "base", {1, 0, 0}, {0, 0, 0}));
  b.body("rider", plane_inertia(20, 0.5, {-0.3, 0, 0}),
         hinge("gam", "base", {0.4, 0, 0}, {0, 0, 0}));
  b.runner(axle("rear axle"), "base").runner(axle("front axle", {-0.1, 0, 0}), "arm");
  return b.build();
}

}  // namespace saltus::test
