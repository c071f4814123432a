#include "saltus/dynamics/plan.h"

#include "saltus/dynamics/mass.h"

namespace saltus {

namespace {

JointCase revolute_case(const Vec3& axis) {
  if (axis == Vec3::UnitX()) return JointCase::revolute_x;
  if (axis == Vec3::UnitY()) return JointCase::revolute_y;
  if (axis == Vec3::UnitZ()) return JointCase::revolute_z;
  return JointCase::revolute;
}

struct CaseOf {
  Link& k;
  void operator()(const Fixed&) const { k.joint = JointCase::fixed; }
  void operator()(const Revolute& j) const {
    k.joint = revolute_case(j.axis);
    k.axis = j.axis;
    k.turns = true;
  }
  void operator()(const Prismatic& j) const {
    k.joint = JointCase::prismatic;
    k.linear = 1;
    k.axis = j.axis;
  }
  void operator()(const Planar&) const {
    k.joint = JointCase::planar;
    k.linear = 2;
  }
  void operator()(const Spherical&) const { k.joint = JointCase::spherical; }
  void operator()(const Floating&) const {
    k.joint = JointCase::floating;
    k.linear = 3;
  }
  void operator()(const Carrier&) const {
    k.joint = JointCase::carrier;
    k.linear = 3;
  }
  void operator()(const PlanarCarrier&) const {
    k.joint = JointCase::carrier;
    k.linear = 2;
  }
  void operator()(const Bend& j) const {
    k.joint = JointCase::bend;
    k.mixed = true;
    k.axis = j.axis;
    k.length = j.length, k.at = j.at;
  }
  void operator()(const RodPiece& j) const {
    k.joint = JointCase::rod;
    k.mixed = true;
    k.place = j.station;
  }
};

}  // namespace

Plan::Plan(const Model& model)
    : links(model.bodies.size() + 1), armature(model.armature), forest(forest_shape(model)) {
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    Link& k = links[i + 1];
    k.parent = b.parent + 1;
    k.q0 = b.q0, k.v0 = b.v0, k.nv = b.nv;
    k.s0 = b.s0, k.station = b.station, k.stations = b.stations;
    if (k.stations > 1 && k.station == 0) elements.push_back(i + 1);
    std::visit(CaseOf{k}, b.joint);
    if (const auto* rod = std::get_if<RodPiece>(&b.joint)) {
      if (b.station == 0) rods.push_back(rod->segment);
      k.rod = static_cast<int>(rods.size()) - 1;
    }
    k.point = b.in_body.r;
    k.offset = b.placement.r - links[k.parent].point;
    k.placement = b.placement.R;
    k.body = b.in_body.R.transpose();
    k.placement_turned = k.placement != Mat3::Identity();
    k.body_turned = k.body != Mat3::Identity();
    k.mass = b.rigid.mass;
    k.com = b.rigid.com - k.point;
    const RigidInertia at_point{k.mass, k.com, b.rigid.about_com};
    k.J = Sym3::of(spatial_inertia(at_point).bottomRightCorner<3, 3>());
    const Mat6 rest = b.inertia - spatial_inertia(b.rigid);
    if (rest.cwiseAbs().maxCoeff() > 0) {
      k.added = static_cast<int>(added.size());
      added.push_back(rest);
    }
    inertia.push_back(b.inertia);
  }
  for (int k = 0; k < model.nv; ++k) held.push_back(model.prescribed[k] ? 1 : 0);
  sort_depth_first();
  if (PathPlan::holds(*this)) paths.emplace(*this);
}

void Plan::sort_depth_first() {
  const int n = static_cast<int>(links.size());
  std::vector<int> child(n, 0), sibling(n, 0);  // 0: none
  for (int i = n - 1; i >= 1; --i) {
    sibling[i] = child[links[i].parent];
    child[links[i].parent] = i;
  }
  std::vector<int> place(n, 0), open;
  for (int i = child[0]; i > 0 || !open.empty();) {
    if (i == 0) {  // back to the parent: its subtree is complete
      order[place[open.back()]].last = static_cast<int>(velocity.size());
      i = sibling[open.back()];
      open.pop_back();
      continue;
    }
    place[i] = static_cast<int>(order.size());
    const int first = static_cast<int>(velocity.size()), station = links[i].station;
    order.push_back({i, first, 0, station == 0 ? first : order[place[i - station]].first});
    if (station == 0)
      for (int k = 0; k < links[i].nv; ++k) velocity.push_back(links[i].v0 + k);
    open.push_back(i);
    i = child[i];
  }
}

}  // namespace saltus
