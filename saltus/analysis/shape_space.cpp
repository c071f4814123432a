#include "saltus/analysis/shape_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/QR>
#include <variant>

#include "saltus/analysis/shape_columns.h"
#include "saltus/base/error.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/lie/so3.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

namespace {

// The joint at its coordinates q: pose of the body in its parent, columns in the body's frame.
void place(const Body& body, VecIn q, SE3& X, Mat6X& S) {
  SE3 moved;
  Columns6 columns = Columns6::Zero();
  Vec6 bias;
  joint_kinematics(body.joint, q, Vec::Zero(body.nv), moved, columns, bias);
  X = body.placement * moved * body.in_body.inverse();
  S.resize(6, body.nv);
  for (int i = 0; i < body.nv; ++i) S.col(i) = twist_to_parent(body.in_body, columns.col(i));
}

Vec zero_of(const Joint& joint) {
  Vec q = Vec::Zero(nq_of(joint));
  joint_coordinates(joint, SE3{}, q);
  return q;
}

// The group that the root's joint moves in, and the twists of its algebra at the root body.
void set_group(const Body& root, ShapeSpace& space) {
  const Mat3& R = root.in_body.R;
  if (std::holds_alternative<Floating>(root.joint)) {
    space.group = NetGroup::se3;
    space.basis = Mat6::Identity();
    space.components = {"Vx", "Vy", "Vz", "Om_x", "Om_y", "Om_z"};
  } else if (std::holds_alternative<Planar>(root.joint)) {
    space.group = NetGroup::se2;
    space.basis = Mat6X::Zero(6, 3);
    space.basis.topLeftCorner<3, 2>() = R.leftCols<2>();
    space.basis.bottomRightCorner<3, 1>() = R.col(2);
    space.components = {"Vx", "Vy", "Om"};
  } else {
    SE3 X;
    place(root, zero_of(root.joint), X, space.basis);
    if (std::holds_alternative<Spherical>(root.joint)) {
      space.group = NetGroup::so3;
      space.components = {"Om_x", "Om_y", "Om_z"};
    } else if (std::holds_alternative<Revolute>(root.joint)) {
      space.group = NetGroup::circle;
      space.components = {"Om"};
    } else if (std::holds_alternative<Prismatic>(root.joint)) {
      space.group = NetGroup::line;
      space.components = {"V"};
    } else if (std::holds_alternative<Carrier>(root.joint) ||
               std::holds_alternative<PlanarCarrier>(root.joint)) {
      space.group = NetGroup::translations;
      space.components = {"Vx", "Vy", "Vz"};
      space.components.resize(static_cast<std::size_t>(root.nv));
    } else {
      throw InputError(fmt::format("the root '{}' hangs on a {} joint, which moves in no group",
                                   root.name, name_of(root.joint)));
    }
  }
}

void add_variables(const Model& model, int index, ShapeSpace& space) {
  const Body& b = model.bodies[index];
  if (b.nv == 0) return;
  if (b.station > 0) {  // the variables of its element
    space.first[index] = space.first[index - b.station];
    return;
  }
  space.first[index] = space.p();
  const bool ball = std::holds_alternative<Spherical>(b.joint);
  if (!ball && !has_scalar_coordinates(b.joint))
    throw InputError(fmt::format("the {} joint of '{}' is no shape: only the root may float",
                                 name_of(b.joint), b.name));
  for (int i = 0; i < b.nv; ++i) {
    ShapeVariable v{b.name, BodyIndex(index), i, ball};
    if (ball)
      v.name += fmt::format(".{}", "xyz"[i]);
    else
      for (const Coordinate& c : model.coordinates)
        if (c.v_index == b.v0 + i && !c.cut.valid()) {
          v.name = c.name;
          v.rotational = c.rotational;
          v.lower = c.dof.lower;
          v.upper = c.dof.upper;
        }
    space.variables.push_back(v);
  }
}

BodyIndex find_root(const Model& model, ShapeSpace& space) {
  int root = -1;
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    space.moves[i] = b.parent != world && space.moves[b.parent];
    if (space.moves[i] || b.nv == 0) continue;
    if (root >= 0)
      throw InputError(
          fmt::format("expected one tree on one moving root; '{}' and '{}' both hang on the world",
                      model.bodies[root].name, b.name));
    root = i;
    space.moves[i] = 1;
  }
  if (root < 0) throw InputError("nothing moves: every body is fixed to the world");
  return BodyIndex(root);
}

// A planar creature's reference must see the same plane, or its twists would not be planar ones.
void check_reference(const Model& model, const ShapeSpace& space) {
  if (space.reference == space.root || space.group == NetGroup::se3) return;
  const std::string& name = model.bodies[space.reference].name;
  if (space.group != NetGroup::se2)
    throw InputError(
        fmt::format("the net group is {}: the reference must be the root '{}', not "
                    "'{}'",
                    name_of(space.group), model.bodies[space.root].name, name));
  ShapeSpace seen = space;
  seen.reference = space.root;
  const ShapeColumns straight = shape_columns(model, seen, Vec::Zero(space.p()));
  const Vec3 normal = space.basis.col(2).tail<3>();
  for (int i = space.reference; i != space.root; i = model.bodies[i].parent) {
    const Mat6X& S = straight.shape[i];
    bool plane = (straight.X[i].R * normal - normal).norm() < 1e-12;
    for (int k = 0; k < S.cols(); ++k)
      plane = plane && S.col(k).tail<3>().cross(normal).norm() < 1e-12 &&
              std::abs(S.col(k).head<3>().dot(normal)) < 1e-12;
    if (!plane)
      throw InputError(fmt::format("the reference '{}' leaves the plane of the root at '{}'", name,
                                   model.bodies[i].name));
  }
}

}  // namespace

std::string_view name_of(NetGroup group) {
  constexpr std::string_view names[] = {"SE(3)", "SE(2)", "SO(3)", "R^n", "R", "SO(2)"};
  return names[static_cast<int>(group)];
}

int ShapeSpace::variable(const std::string& name) const {
  std::vector<std::string> known;
  for (int i = 0; i < p(); ++i) {
    if (variables[i].name == name) return i;
    known.push_back(variables[i].name);
  }
  throw InputError(
      fmt::format("no shape variable is called '{}'; there are: {}", name, fmt::join(known, ", ")));
}

ShapeSpace shape_space(const Model& model, const std::string& reference) {
  if (!model.cuts.empty())
    throw InputError(fmt::format("expected minimal coordinates: joint '{}' is {}",
                                 model.cuts[0].name, model.cuts[0].loop ? "a closed loop" : "cut"));
  ShapeSpace space;
  space.moves.assign(model.bodies.size(), 0);
  space.first.assign(model.bodies.size(), -1);
  space.root = find_root(model, space);
  space.reference = reference.empty() ? space.root : model.body(reference);
  if (!space.moves[space.reference])
    throw InputError(fmt::format("the reference '{}' does not move", reference));
  set_group(model.bodies[space.root], space);
  space.to_net = space.basis.completeOrthogonalDecomposition().pseudoInverse();
  for (int i = 0; i < model.body_count(); ++i)
    if (i != space.root && space.moves[i]) add_variables(model, i, space);
  check_reference(model, space);
  return space;
}

Vec shape_q(const Model& model, const ShapeSpace& space, VecIn r) {
  Vec q = Vec::Zero(model.nq);
  for (const Body& b : model.bodies) q.segment(b.q0, b.nq) = zero_of(b.joint);
  for (int i = 0; i < space.p(); ++i) {
    const ShapeVariable& v = space.variables[i];
    const Body& b = model.bodies[v.body];
    if (!v.rotation) {
      q[b.q0 + v.component] = r[i];
    } else if (v.component == 0) {
      const Quat turned = exp_quat(r.segment<3>(i));
      q.segment<4>(b.q0) << turned.w(), turned.vec();
    }
  }
  return q;
}

Vec shape_of(const Model& model, const ShapeSpace& space, VecIn q) {
  Vec r(space.p());
  for (int i = 0; i < space.p(); ++i) {
    const ShapeVariable& v = space.variables[i];
    const Body& b = model.bodies[v.body];
    if (!v.rotation) {
      r[i] = q[b.q0 + v.component];
    } else if (v.component == 0) {
      const Quat p(q[b.q0], q[b.q0 + 1], q[b.q0 + 2], q[b.q0 + 3]);
      r.segment<3>(i) = log_so3(p.normalized().toRotationMatrix());
    }
  }
  return r;
}

Mat rate_map(const ShapeSpace& space, VecIn r) {
  Mat T = Mat::Identity(space.p(), space.p());
  for (int i = 0; i < space.p(); ++i)
    if (space.variables[i].rotation && space.variables[i].component == 0)
      T.block<3, 3>(i, i) = dexp_so3(r.segment<3>(i));
  return T;
}

Vec rate_bias(const ShapeSpace& space, VecIn r, VecIn rdot) {
  Vec bias = Vec::Zero(space.p());
  for (int i = 0; i < space.p(); ++i) {
    if (!space.variables[i].rotation || space.variables[i].component != 0) continue;
    bias.segment<3>(i) = dexp_bias_so3(r.segment<3>(i), rdot.segment<3>(i));
  }
  return bias;
}

Vec root_velocities(const Model& model, const ShapeSpace& space, VecIn q_root, const Vec6& twist) {
  const Body& root = model.bodies[space.root];
  SE3 X;
  Mat6X S;
  place(root, q_root, X, S);
  return S.completeOrthogonalDecomposition().solve(twist);
}

}  // namespace saltus
