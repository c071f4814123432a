#include "saltus/model/builder.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "saltus/base/error.h"
#include "saltus/geometry/contact_points.h"
#include "saltus/model/layout.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

bool is_carrier(const Joint& joint, bool planar) {
  return planar ? std::holds_alternative<Planar>(joint) : std::holds_alternative<Floating>(joint);
}

}  // namespace

ModelBuilder& ModelBuilder::planar(bool yes) {
  planar_ = yes;
  return *this;
}
ModelBuilder& ModelBuilder::gravity(const Vec3& g) {
  require(g.allFinite(), "gravity", "expected three finite numbers");
  gravity_ = g;
  return *this;
}
ModelBuilder& ModelBuilder::coordinates(CoordinateSet set) {
  set_ = set;
  return *this;
}

ModelBuilder& ModelBuilder::body(const std::string& name, const RigidInertia& inertia,
                                 const JointSpec& joint) {
  const std::string path = fmt::format("bodies[{}]", bodies_.size());
  require(!name.empty() && name != "world", path + ".name", "expected a name other than 'world'");
  require(!body_of_.contains(name), path + ".name", fmt::format("the name '{}' is taken", name));
  require(!is_element(joint.kind), path + ".joint.type",
          "bends and rods are elements with stations: ModelBuilder::bend and rod, `bends` and "
          "`rods` of a scene");
  check_inertia(inertia, std::holds_alternative<Fixed>(joint.kind), path);
  check_dofs(joint, path + ".joint");
  require(!joint.driven || std::holds_alternative<Spherical>(joint.kind), path + ".joint",
          "only a spherical joint follows a rotation vector");
  check_frame(joint.placement, path + ".joint.placement");
  check_frame(joint.in_body, path + ".joint.in_body");
  BodySpec spec{name, inertia, Mat6::Zero(), joint};
  spec.joint.kind = with_unit_axis(joint.kind, path + ".joint.axis");
  if (spec.joint.name.empty()) spec.joint.name = name;
  body_of_.emplace(name, bodies_.size());
  bodies_.push_back(spec);
  return *this;
}

ModelBuilder& ModelBuilder::loop(const std::string& child, const JointSpec& joint) {
  const std::string path = fmt::format("loops[{}]", loops_.size());
  require(!joint.name.empty(), path + ".name", "expected a name");
  require(joint.parent != child, path + ".between",
          fmt::format("expected two bodies, got '{}' twice", child));
  require(!std::holds_alternative<Floating>(joint.kind), path + ".type",
          "a floating joint closes no loop");
  require(!is_element(joint.kind), path + ".type",
          fmt::format("a {} closes no loop", name_of(joint.kind)));
  check_dofs(joint, path);
  check_frame(joint.placement, path + ".at");
  check_frame(joint.in_body, path + ".in_body");
  loops_.push_back({child, joint});
  loops_.back().joint.kind = with_unit_axis(joint.kind, path + ".axis");
  return *this;
}

ModelBuilder& ModelBuilder::added_inertia(const std::string& body, const Mat6& inertia) {
  require(inertia.isApprox(inertia.transpose(), 1e-12), "added_inertia",
          "expected a symmetric 6 x 6 matrix");
  const auto found = body_of_.find(body);
  require(found != body_of_.end(), "added_inertia", fmt::format("no body is called '{}'", body));
  BodySpec& b = bodies_[found->second];
  const Mat6 total = spatial_inertia(b.inertia) + b.added + inertia;
  const double least = Eigen::SelfAdjointEigenSolver<Mat6>(total).eigenvalues()[0];
  require(
      least >= -1e-12 * total.norm(), "added_inertia",
      fmt::format("expected an inertia without negative directions, '{}' gets {}", body, least));
  b.added += inertia;
  return *this;
}

ModelBuilder& ModelBuilder::shape(const std::string& name, const std::string& body,
                                  const SE3& frame, const Shape& shape, const Surface& surface) {
  const std::string path = fmt::format("shapes[{}]", shapes_.size());
  require(shape_names_.insert(name).second, path, fmt::format("the name '{}' is taken", name));
  check_frame(frame, path + ".frame");
  check_shape(shape, path);
  check_surface(shape, surface, path);
  shapes_.push_back({name, body, frame, shape, surface});
  return *this;
}

ModelBuilder& ModelBuilder::contact(const std::string& a, const std::string& b,
                                    const ContactLaw& law) {
  return contact(std::vector{a}, std::vector{b}, law);
}

ModelBuilder& ModelBuilder::contact(const std::vector<std::string>& a,
                                    const std::vector<std::string>& b, const ContactLaw& law) {
  const std::string path = fmt::format("contacts[{}]", contacts_.size());
  check_friction(law.mu1, law.mu2, law.mu_back, law.rule, path + ".friction");
  check_dynamic(law.dynamic, law.mu_back, law.rule, path);
  require((law.mu_back < 0 && law.rule == SlipRule::normal_cone) ||
              (law.rolling == 0 && law.drilling == 0),
          path + ".friction", "with rolling friction one coefficient serves both ways");
  require(law.restitution >= 0 && law.restitution <= 1, path + ".restitution",
          fmt::format("expected a number in [0, 1], got {}", law.restitution));
  require(std::abs(law.tangential_restitution) <= 1, path + ".restitution_tangential",
          fmt::format("expected a number in [-1, 1], got {}", law.tangential_restitution));
  require(law.rolling >= 0 && std::isfinite(law.rolling), path + ".rolling",
          "expected a length >= 0");
  require(law.drilling >= 0 && std::isfinite(law.drilling), path + ".drilling",
          "expected a length >= 0");
  check_compliance(law, path);
  contacts_.push_back({a, b, law});
  return *this;
}

ModelBuilder& ModelBuilder::exclude(const std::string& a, const std::string& b) {
  excluded_.emplace_back(a, b);
  return *this;
}

ModelBuilder& ModelBuilder::support(const SupportFriction& friction, const std::string& body) {
  check_support(friction, fmt::format("supports[{}]", supports_.size()));
  supports_.push_back({friction, body});
  return *this;
}

std::string ModelBuilder::path_of(int i) const {
  return bodies_[i].path.empty() ? fmt::format("bodies[{}]", i) : bodies_[i].path;
}

std::vector<int> ModelBuilder::sorted() const {
  std::vector<int> order;
  std::vector<char> mark(bodies_.size(), 0);  // 1: on the path, 2: done
  for (std::size_t start = 0; start < bodies_.size(); ++start) {
    std::vector<int> path;
    int i = static_cast<int>(start) - bodies_[start].station;
    while (i >= 0 && mark[i] != 2) {
      const std::string where = path_of(i) + ".joint.parent";
      require(mark[i] != 1, where, fmt::format("the parents of '{}' form a loop", bodies_[i].name));
      mark[i] = 1;
      path.push_back(i);
      const std::string& parent = bodies_[i].joint.parent;
      if (parent == "world") break;
      const auto found = body_of_.find(parent);
      require(found != body_of_.end(), where,
              fmt::format("expected 'world' or a body's name, no body is called '{}'", parent));
      i = static_cast<int>(found->second);
      i -= bodies_[i].station;  // the stations of an element one after the other
    }
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      mark[*it] = 2;
      for (int k = 0; k < bodies_[*it].stations; ++k) order.push_back(*it + k);
    }
  }
  return in_one_piece(order);
}

// The bodies of a tree one after the other, trees and bodies otherwise in the given order.
std::vector<int> ModelBuilder::in_one_piece(const std::vector<int>& order) const {
  std::vector<int> tree_of(bodies_.size(), -1);
  std::vector<std::vector<int>> trees;
  for (const int i : order) {
    const JointSpec& joint = bodies_[i].joint;
    const bool root = (joint.parent == "world" || is_cut(joint)) && bodies_[i].station == 0;
    if (root) trees.emplace_back();
    const int tree = root                     ? static_cast<int>(trees.size()) - 1
                     : bodies_[i].station > 0 ? tree_of[i - 1]
                                              : tree_of[body_of_.at(joint.parent)];
    tree_of[i] = tree;
    trees[tree].push_back(i);
  }
  std::vector<int> result;
  for (const auto& t : trees) result.insert(result.end(), t.begin(), t.end());
  return result;
}

bool ModelBuilder::is_cut(const JointSpec& joint) const {
  const bool carried = joint.parent == "world" && is_carrier(joint.kind, planar_);
  return (set_ == CoordinateSet::maximal || (set_ == CoordinateSet::as_marked && joint.cut)) &&
         !carried;
}

namespace {

// In a planar model a carrier does not leave the plane.
JointSpec in_plane(JointSpec joint, bool planar) {
  if (planar && std::holds_alternative<Carrier>(joint.kind)) joint.kind = PlanarCarrier{};
  return joint;
}

// The directions a joint blocks, as rows of a cut.
Cut make_cut(const JointSpec& joint, bool planar) {
  Cut cut;
  cut.name = joint.name;
  cut.joint = joint.kind;
  cut.placement = joint.placement;
  cut.in_body = joint.in_body;
  const auto block = [&](std::initializer_list<Vec3> axes) {
    for (const Vec3& a : axes)
      if (!planar || std::abs(a.z()) < 1e-9) cut.axes.col(cut.translations++) = a;
  };
  const auto across = [](const Vec3& axis) {
    // In the plane the first direction across an in-plane axis must lie in the plane too.
    Vec3 u = Vec3::UnitZ().cross(axis);
    u = u.norm() > 1e-6 ? Vec3(u.normalized()) : axis.unitOrthogonal();
    return std::pair(u, Vec3(axis.cross(u)));
  };
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  RotationRows rotation = RotationRows::all;
  if (const auto* j = std::get_if<Revolute>(&joint.kind)) {
    cut.axis = j->axis;
    block({x, y, z});
    rotation = RotationRows::tilt;
  } else if (const auto* p = std::get_if<Prismatic>(&joint.kind)) {
    cut.axis = p->axis;
    const auto [u, w] = across(p->axis);
    block({u, w});
  } else if (std::holds_alternative<Planar>(joint.kind)) {
    block({z});
    rotation = RotationRows::tilt;
  } else if (std::holds_alternative<Spherical>(joint.kind)) {
    block({x, y, z});
    rotation = RotationRows::none;
  } else if (std::holds_alternative<Fixed>(joint.kind)) {
    block({x, y, z});
  } else if (std::holds_alternative<Floating>(joint.kind)) {
    rotation = RotationRows::none;
  }
  cut.rotation = rotation;
  cut.rotations = rotation == RotationRows::none ? 0 : rotation == RotationRows::tilt ? 2 : 3;
  if (planar) {
    cut.rotations = rotation == RotationRows::all ? 1 : 0;
    if (rotation == RotationRows::tilt) cut.rotation = RotationRows::none;
  }
  return cut;
}

}  // namespace

void ModelBuilder::add_joint(Model& model, const BodySpec& spec, int spec_index) const {
  const std::string path = path_of(spec_index) + ".joint";
  const JointSpec joint = in_plane(spec.joint, planar_);
  Body body;
  body.name = spec.name;
  body.rigid = spec.inertia;
  body.inertia = spatial_inertia(spec.inertia) + spec.added;
  const BodyIndex self(model.body_count());
  const BodyIndex parent = joint.parent == "world" ? world : model.body(joint.parent);
  if (planar_) check_planar(joint, path);

  require(!is_cut(joint) || !is_element(joint.kind), path,
          fmt::format("'{}' is a {}, which cannot be cut: expected minimal or as-marked "
                      "coordinates",
                      joint.name, name_of(joint.kind)));
  require(!is_cut(joint) || !joint.driven, path,
          fmt::format("'{}' follows a rotation vector and cannot be cut", joint.name));
  if (is_cut(joint)) {
    body.parent = world;
    body.joint = planar_ ? Joint(Planar{}) : Joint(Floating{});
    Cut c = make_cut(joint, planar_);
    c.parent = parent;
    c.child = self;
    body.cut = CutIndex(static_cast<int>(model.cuts.size()));
    model.cuts.push_back(c);
  } else {
    body.parent = parent;
    body.joint = joint.kind;
    body.placement = joint.placement;
    body.in_body = joint.in_body;
  }
  body.q0 = model.nq;
  body.v0 = model.nv;
  body.nq = nq_of(body.joint);
  body.nv = nv_of(body.joint);
  body.driven = joint.driven;
  body.station = spec.station;
  body.stations = spec.stations;
  body.s0 = model.ns;
  model.ns += body.nv;
  if (body.station == 0) {
    model.nq += body.nq;
    model.nv += body.nv;
    add_coordinates(model, joint.kind, joint.name, joint.dofs, self, body);
  } else {
    body.q0 -= body.nq;
    body.v0 -= body.nv;
    model.has_stations = true;
  }
  model.body_of.emplace(body.name, self.value);
  model.bodies.push_back(body);
}

void ModelBuilder::add_bodies(Model& model, const std::vector<int>& order) const {
  std::set<std::string> joint_names;
  for (const int i : order) {
    require(bodies_[i].station > 0 || joint_names.insert(bodies_[i].joint.name).second,
            path_of(i) + ".joint.name",
            fmt::format("the joint name '{}' is taken", bodies_[i].joint.name));
    add_joint(model, bodies_[i], i);
  }
}

namespace {

BodyIndex named_body(const Model& model, const std::string& name, const std::string& path) {
  try {
    return model.body(name);
  } catch (const InputError& e) { throw InputError(path, e.what()); }
}

// Where nothing but coefficients of rods moves between the two bodies of a loop, they are as many
// as it has rows at least, or no shape of the basis fits the clamps.
void check_clamps(const Model& m) {
  std::vector<int> rod_of(m.bodies.size(), -1);
  for (std::size_t i = 0; i < m.rods.size(); ++i)
    for (int j = 0; j < m.rods[i].stations; ++j) rod_of[m.rods[i].first + j] = static_cast<int>(i);
  int loop = 0;
  for (const Cut& cut : m.cuts) {
    if (!cut.loop) continue;
    std::set<int> path, rods;
    const auto walk = [&](BodyIndex end) {
      for (BodyIndex b = end; b.valid(); b = m.bodies[b].parent)
        if (!path.insert(b.value).second) path.erase(b.value);  // beyond where they meet
    };
    walk(cut.parent);
    walk(cut.child);
    bool others = false;
    for (const int b : path) {
      if (rod_of[b] >= 0) rods.insert(rod_of[b]);
      others = others || (rod_of[b] < 0 && nv_of(m.bodies[b].joint) > 0);
    }
    int moves = 0;
    for (const int r : rods) moves += m.rods[r].size;
    const int rows = cut.translations + cut.rotations;
    require(
        others || rods.empty() || moves >= rows, fmt::format("loops[{}]", loop),
        fmt::format("'{}' clamps a rod whose basis has {} functions by {} conditions: expected as "
                    "many functions at least",
                    cut.name, moves, rows));
    ++loop;
  }
}

}  // namespace

void ModelBuilder::add_loops(Model& model) const {
  std::set<std::string> joint_names;
  for (const BodySpec& b : bodies_) joint_names.insert(b.joint.name);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const std::string& child = loops_[i].child;
    const JointSpec joint = in_plane(loops_[i].joint, planar_);
    const std::string path = fmt::format("loops[{}]", i);
    require(joint_names.insert(joint.name).second, path + ".name",
            fmt::format("the joint name '{}' is taken", joint.name));
    const auto find = [&](const std::string& name) {
      return name == "world" ? world : named_body(model, name, path + ".between");
    };
    if (planar_) check_planar(joint, path);
    Cut cut = make_cut(joint, planar_);
    cut.parent = find(joint.parent);
    cut.child = find(child);
    cut.loop = true;
    Body of_cut;  // only says that the coordinates are those of the cut
    of_cut.cut = CutIndex(static_cast<int>(model.cuts.size()));
    model.cuts.push_back(cut);
    model.has_loops = true;
    add_coordinates(model, joint.kind, joint.name, joint.dofs, cut.child, of_cut);
  }
}

void ModelBuilder::add_shapes(Model& model) const {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const auto& s = shapes_[i];
    BodyIndex body = world;
    if (s.body != "world") body = named_body(model, s.body, fmt::format("shapes[{}].body", i));
    model.shapes.push_back({s.name, body, s.frame, s.shape, 0, s.surface});
  }
}

// Shapes named by the same sides of the same laws, of one kind, form a group; what a pair of
// groups does is decided once.
void ModelBuilder::add_contacts(Model& model) const {
  std::map<std::string, int> by_name;
  for (std::size_t i = 0; i < model.shapes.size(); ++i)
    by_name[model.shapes[i].name] = static_cast<int>(i);
  using Signature = std::vector<int>;
  std::vector<Signature> signature(model.shapes.size());
  for (std::size_t i = 0; i < model.shapes.size(); ++i)
    signature[i] = {static_cast<int>(model.shapes[i].shape.index()), model.shapes[i].body == world};
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const auto& c = contacts_[i];
    const std::string path = fmt::format("contacts[{}]", i);
    for (const auto* side : {&c.a, &c.b})
      for (const std::string& name : *side) {
        const auto found = by_name.find(name);
        require(found != by_name.end(), path, fmt::format("no shape is called '{}'", name));
        signature[found->second].push_back(2 * static_cast<int>(i) + (side == &c.b ? 1 : 0));
      }
    if (c.a.size() == 1 && c.b.size() == 1)
      require(model.shapes[by_name.at(c.a[0])].body != model.shapes[by_name.at(c.b[0])].body, path,
              fmt::format("'{}' and '{}' belong to the same body", c.a[0], c.b[0]));
    model.contact_laws.push_back(c.law);
    model.has_compliant = model.has_compliant || c.law.compliant();
  }
  std::map<Signature, int> group_of;
  for (std::size_t i = 0; i < model.shapes.size(); ++i)
    model.shapes[i].group =
        group_of.emplace(signature[i], static_cast<int>(group_of.size())).first->second;
  const int n = model.groups = static_cast<int>(group_of.size());
  model.group_law.assign(static_cast<std::size_t>(n) * n, {});
  const auto on_side = [](const Signature& s, int law, int side) {
    return std::find(s.begin() + 2, s.end(), 2 * law + side) != s.end();
  };
  for (const auto& [first, g] : group_of)
    for (const auto& [second, h] : group_of) {
      if (first[1] && second[1]) continue;  // two things of the world
      GroupLaw& law = model.group_law[g * n + h];
      for (int i = 0; i < static_cast<int>(contacts_.size()) && law.law < 0; ++i) {
        if (on_side(first, i, 0) && on_side(second, i, 1))
          law = {i, false};
        else if (on_side(first, i, 1) && on_side(second, i, 0))
          law = {i, true};
      }
      if (law.law >= 0) check_touch(model, g, h, law.law);
    }
  for (const auto& [a, b] : excluded_) {
    const int i = named_body(model, a, "exclude"), k = named_body(model, b, "exclude");
    model.excluded.emplace_back(std::min(i, k), std::max(i, k));
  }
  std::sort(model.excluded.begin(), model.excluded.end());
}

void ModelBuilder::check_touch(const Model& model, int g, int h, int law) {
  const auto of_group = [&](int group) -> const ContactShape& {
    return *std::find_if(model.shapes.begin(), model.shapes.end(),
                         [&](const ContactShape& s) { return s.group == group; });
  };
  const Shape &a = of_group(g).shape, &b = of_group(h).shape;
  require(can_touch(a, b), fmt::format("contacts[{}]", law),
          fmt::format("contact of a {} with a {} is not supported", name_of(a), name_of(b)));
}

void ModelBuilder::add_supports(Model& model) const {
  for (std::size_t i = 0; i < supports_.size(); ++i) {
    SupportFriction friction = supports_[i].friction;
    friction.body = named_body(model, supports_[i].body, fmt::format("supports[{}].body", i));
    friction.normal.normalize();
    model.supports.push_back(friction);
  }
}

Model ModelBuilder::build() const {
  Model model;
  model.planar = planar_;
  model.gravity = gravity_;
  const std::vector<int> order = sorted();
  add_bodies(model, order);
  add_rods(model);
  add_loops(model);
  check_clamps(model);
  add_shapes(model);
  add_contacts(model);
  add_supports(model);
  add_elements(model);
  add_gap_contacts(model);
  add_cables(model);
  refuse_massless(model, order);
  lay_out(model);
  return model;
}

}  // namespace saltus
