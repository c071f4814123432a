#include "saltus/model/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/model/joint_traits.h"
#include "saltus/rods/segment.h"

namespace saltus {

void add_coordinates(Model& model, const Joint& kind, const std::string& joint_name,
                     const std::vector<JointDof>& dofs, BodyIndex self, const Body& body) {
  if (!has_scalar_coordinates(kind)) return;
  const auto* rod = std::get_if<RodPiece>(&kind);
  const int n = nv_of(kind);  // but for rods at most x, y, theta
  const bool planar = std::holds_alternative<Planar>(kind);
  const char* const suffix[] = {".x", ".y", planar ? ".theta" : ".z"};
  for (int i = 0; i < n; ++i) {
    Coordinate c;
    c.name = rod      ? joint_name + "." + coefficient_name(*rod->segment, i)
             : n == 1 ? joint_name
                      : joint_name + suffix[i];
    c.body = self;
    c.component = i;
    c.rotational = is_angular(kind, i);
    c.cut = body.cut;
    if (!c.cut.valid()) {
      c.q_index = body.q0 + i;
      c.v_index = body.v0 + i;
    }
    if (!dofs.empty()) c.dof = dofs.size() == 1 ? dofs[0] : dofs[i];
    model.coordinate_of.emplace(c.name, static_cast<int>(model.coordinates.size()));
    model.coordinates.push_back(c);
  }
}

namespace {

// The builder sorts the bodies of a tree into one piece.
void lay_out_trees(Model& model) {
  model.tree.clear();
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.bodies[i].parent.valid() && model.bodies[i].station == 0) {
      model.tree_begin.push_back(i);
      model.tree_v.push_back(model.bodies[i].v0);
    }
    model.tree.push_back(static_cast<int>(model.tree_begin.size()) - 1);
    SALTUS_ASSERT(!model.bodies[i].parent.valid() ||
                  model.tree[model.bodies[i].parent] == model.tree[i]);
  }
  model.tree_begin.push_back(model.body_count());
  model.tree_v.push_back(model.nv);
}

void lay_out_velocities(Model& model) {
  model.v_body.assign(model.nv, -1);
  model.prescribed.assign(model.nv, 0);
  model.rotational.assign(model.nv, 0);
  model.armature.setZero(model.nv);
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& body = model.bodies[i];
    if (body.station > 0) continue;
    for (int k = 0; k < body.nv; ++k) {
      model.v_body[body.v0 + k] = i;
      model.rotational[body.v0 + k] = is_angular(body.joint, k);
    }
  }
  for (const Body& b : model.bodies) {
    if (!b.driven) continue;
    for (int k = 0; k < b.nv; ++k) model.prescribed[b.v0 + k] = 1;
    model.any_prescribed = true;
  }
  for (const Coordinate& c : model.coordinates) {
    if (c.v_index < 0) continue;
    model.armature[c.v_index] = c.dof.armature;
    model.prescribed[c.v_index] = c.dof.prescribed;
    model.any_prescribed |= c.dof.prescribed;
  }
}

void lay_out_slots(Model& model) {
  const auto add = [&](BlockKind kind, int index, int feature, int rows) {
    if (rows == 0) return;
    model.slots.push_back({kind, index, feature, model.lambda_rows, rows});
    model.lambda_rows += rows;
  };
  for (std::size_t i = 0; i < model.cuts.size(); ++i) {
    add(BlockKind::cut_translation, static_cast<int>(i), 0, model.cuts[i].translations);
    add(BlockKind::cut_rotation, static_cast<int>(i), 0, model.cuts[i].rotations);
  }
  for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
    const Coordinate& c = model.coordinates[i];
    const int k = static_cast<int>(i);
    if (c.cut.valid()) add(BlockKind::coordinate, k, 0, 1);
    model.motor_slot.push_back(static_cast<int>(model.slots.size()));
    add(BlockKind::motor, k, 0, 1);
    if (c.dof.friction > 0) add(BlockKind::joint_friction, k, 0, 1);
    if (std::isfinite(c.dof.lower)) add(BlockKind::joint_limit, k, 0, 1);
    if (std::isfinite(c.dof.upper)) add(BlockKind::joint_limit, k, 1, 1);
  }
  for (std::size_t i = 0; i < model.supports.size(); ++i)
    add(BlockKind::support, static_cast<int>(i), 0, 2);
  for (std::size_t i = 0; i < model.runners.size(); ++i) {
    const Runner& r = model.runners[i];
    if (r.edge) add(BlockKind::edge, static_cast<int>(i), 0, 1);
    if (r.scales || r.friction > 0) add(BlockKind::scale, static_cast<int>(i), 0, 1);
  }
  for (std::size_t i = 0; i < model.springs.size(); ++i)
    add(BlockKind::spring, static_cast<int>(i), 0, 1);
  for (std::size_t i = 0; i < model.drags.size(); ++i)
    add(BlockKind::drag, static_cast<int>(i), 0, model.planar ? 2 : 3);
  for (std::size_t i = 0; i < model.gap_contacts.size(); ++i)
    add(BlockKind::gap_contact, static_cast<int>(i), 0, model.gap_contacts[i].mu > 0 ? 2 : 1);
  for (std::size_t i = 0; i < model.wheels.size(); ++i) {
    add(BlockKind::wheel, static_cast<int>(i), 0, model.wheels[i].sideways ? 1 : 2);
    add(BlockKind::wheel_plane, static_cast<int>(i), 0, model.wheels[i].pressed ? 1 : 0);
  }
  for (std::size_t i = 0; i < model.cables.size(); ++i)
    add(BlockKind::cable, static_cast<int>(i), 0, 1);
}

// Bodies that move in the plane each on its own, about their centres of mass, turn without
// gyroscopic moments.
bool any_quadratic_terms(const Model& model) {
  return std::any_of(model.bodies.begin(), model.bodies.end(), [](const Body& b) {
    const bool alone = !b.parent.valid() && std::holds_alternative<Planar>(b.joint);
    return !alone || !b.inertia.topRightCorner<3, 3>().isZero(0) || !b.in_body.r.isZero(0) ||
           !Mat3(b.inertia.topLeftCorner<3, 3>()).isApprox(b.inertia(0, 0) * Mat3::Identity());
  });
}

// A typical distance between joints or across a shape, to weigh rad/s against m/s.
double typical_length(const Model& model) {
  double sum = 0;
  int count = 0;
  const auto take = [&](double x) {
    if (x > 1e-12) sum += x, ++count;
  };
  for (const Body& b : model.bodies) {
    if (b.parent.valid() && b.nv > 0) take(b.placement.r.norm() + b.in_body.r.norm());
    if (const auto* bend = std::get_if<Bend>(&b.joint)) {
      if (b.station == 0) take(bend->length);
      continue;
    }
    if (const auto* rod = std::get_if<RodPiece>(&b.joint)) {
      if (b.station == 0) take(rod->segment->spec.length);
      continue;
    }
    if (b.rigid.mass > 0) take(std::sqrt(b.rigid.about_com.trace() / b.rigid.mass));
  }
  for (const Cut& c : model.cuts) take(c.placement.r.norm() + c.in_body.r.norm());
  return count ? sum / count : 1.0;
}

}  // namespace

void lay_out(Model& model) {
  lay_out_trees(model);
  lay_out_velocities(model);
  lay_out_slots(model);
  model.quadratic_terms = any_quadratic_terms(model) || !model.fluids.empty();
  model.length_scale = typical_length(model);
}

BodyIndex Model::body(const std::string& name) const {
  if (const auto found = body_of.find(name); found != body_of.end())
    return BodyIndex(found->second);
  throw InputError(fmt::format("no body is called '{}'", name));
}

CoordinateIndex Model::coordinate(const std::string& name) const {
  if (const auto found = coordinate_of.find(name); found != coordinate_of.end())
    return CoordinateIndex(found->second);
  throw InputError(fmt::format("no joint coordinate is called '{}'", name));
}

int Model::law_between(int& a, int& b) const {
  if (groups == 0) return -1;
  const GroupLaw& g = group_law[shapes[a].group * groups + shapes[b].group];
  if (g.law >= 0 && g.swap) std::swap(a, b);
  return g.law;
}

std::string_view name_of(BlockKind kind) {
  constexpr std::string_view names[] = {
      "cut_translation", "cut_rotation", "coordinate", "motor",  "joint_friction", "joint_limit",
      "support",         "edge",         "scale",      "spring", "drag",           "gap_contact",
      "wheel",           "wheel_plane",  "cable"};
  return names[static_cast<int>(kind)];
}

std::string Model::name_of(const Place& place) const {
  if (place.shape_a >= 0)
    return fmt::format("contact {} - {}", shapes[place.shape_a].name, shapes[place.shape_b].name);
  if (place.slot < 0) return "none";
  const BlockSlot& s = slots[place.slot];
  switch (s.kind) {
    case BlockKind::cut_translation:
    case BlockKind::cut_rotation: return "joint " + cuts[s.index].name;
    case BlockKind::support: return "support of " + bodies[supports[s.index].body].name;
    case BlockKind::edge:
    case BlockKind::scale: return "runner " + runners[s.index].name;
    case BlockKind::spring: return "spring " + springs[s.index].name;
    case BlockKind::drag: return "drag " + drags[s.index].name;
    case BlockKind::gap_contact: return "contact " + gap_contacts[s.index].name;
    case BlockKind::wheel:
    case BlockKind::wheel_plane: return "wheel " + wheels[s.index].name;
    case BlockKind::cable: return "cable " + cables[s.index].name;
    default: return "joint coordinate " + coordinates[s.index].name;
  }
}

double Model::total_mass() const {
  double m = 0;
  for (const Body& b : bodies) m += b.rigid.mass;
  return m;
}

void add_armature(Model& model, CoordinateIndex coordinate, double inertia) {
  Coordinate& c = model.coordinates[coordinate];
  c.dof.armature += inertia;
  if (c.v_index >= 0) model.armature[c.v_index] += inertia;
}

}  // namespace saltus
