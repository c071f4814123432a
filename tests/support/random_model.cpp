#include "tests/support/random_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <variant>

namespace saltus::test {

Joint random_joint(Random& random, Kinds kinds, bool at_world) {
  if (kinds == Kinds::planar) {
    const double angle = random.uniform(-3, 3);
    switch (random.integer(0, 4)) {
      case 0: return Fixed{};
      case 1: return Prismatic{Vec3(std::cos(angle), std::sin(angle), 0)};
      case 2: return Planar{};
      case 3: return Carrier{};
      default: return Revolute{Vec3(0, 0, random.chance(0.3) ? -1 : 1)};
    }
  }
  switch (random.integer(0, kinds == Kinds::mujoco && !at_world ? 7 : 8)) {
    case 0: return Fixed{};
    case 1:
    case 2: return Revolute{random.direction()};
    case 3: return Prismatic{random.direction()};
    case 4: return Planar{};
    case 5:
    case 6: return Spherical{};
    case 7: return Carrier{};
    default: return Floating{};
  }
}

SE3 random_placement(Random& random, Kinds kinds, double scale) {
  if (kinds != Kinds::planar) return random.pose(scale);
  const Vec3 r = random.vector3(scale);
  return {Eigen::AngleAxisd(random.uniform(-3, 3), Vec3::UnitZ()).toRotationMatrix(),
          Vec3(r[0], r[1], 0)};
}

std::vector<JointDof> random_dofs(Random& random, const Joint& joint,
                                  const ForestOptions& options) {
  std::vector<JointDof> dofs;
  if (!has_scalar_coordinates(joint)) return dofs;
  for (int k = 0; k < nv_of(joint); ++k) {
    JointDof dof;
    if (options.armature && random.chance(0.7)) dof.armature = random.uniform(0, 0.5);
    dof.prescribed = random.chance(options.prescribed);
    dofs.push_back(dof);
  }
  return dofs;
}

ModelBuilder random_forest(Random& random, const ForestOptions& options) {
  struct Spec {
    std::string name;
    RigidInertia inertia;
    JointSpec joint;
  };
  std::vector<Spec> specs;
  ModelBuilder builder;
  const bool planar = options.kinds == Kinds::planar;
  Vec3 gravity = random.vector3(10);
  if (planar) gravity[2] = 0;
  builder.gravity(gravity).planar(planar).coordinates(options.coordinates);
  const int count = random.integer(options.least_bodies, options.most_bodies);
  for (int i = 0; i < count; ++i) {
    const bool root = i == 0 || (!options.single_root && random.chance(0.15));
    Spec spec{"b" + std::to_string(i), random.inertia(), {}};
    if (!root) {
      // Long branches as well as bushy ones.
      const int parent = random.chance(0.5) ? i - 1 : random.integer(0, i - 1);
      spec.joint.parent = "b" + std::to_string(parent);
    }
    spec.joint.kind = random_joint(random, options.kinds, root);
    if (root && options.single_root) spec.joint.kind = Floating{};
    spec.joint.placement = random_placement(random, options.kinds, 0.7);
    if (options.kinds == Kinds::mujoco && std::holds_alternative<Floating>(spec.joint.kind)) {
      spec.joint.placement = SE3::identity();
    }
    spec.joint.in_body = random_placement(random, options.kinds, 0.3);
    spec.joint.dofs = random_dofs(random, spec.joint.kind, options);
    specs.push_back(spec);
  }
  for (int i = count - 1; i > 0; --i) std::swap(specs[i], specs[random.integer(0, i)]);
  for (const Spec& spec : specs) builder.body(spec.name, spec.inertia, spec.joint);
  if (options.added_inertia) {
    for (const Spec& spec : specs) {
      if (random.chance(0.5)) builder.added_inertia(spec.name, random.spd(6, 0.01, 1));
    }
  }
  return builder;
}

Vec random_q(Random& random, const Joint& joint) {
  if (std::holds_alternative<Spherical>(joint)) {
    const Quat q = random.quaternion();
    return Vec4(q.w(), q.x(), q.y(), q.z());
  }
  if (std::holds_alternative<Floating>(joint)) {
    const Quat q = random.quaternion();
    Vec x(7);
    x << random.vector3(), q.w(), q.x(), q.y(), q.z();
    return x;
  }
  if (std::holds_alternative<Revolute>(joint)) return random.vector(1, 3);
  return random.vector(nq_of(joint), 1);
}

State random_state(Random& random, const Model& model, double speed) {
  State state = make_state(model);
  for (const Body& body : model.bodies) {
    state.q.segment(body.q0, body.nq) = random_q(random, body.joint);
  }
  state.v = random.vector(model.nv, speed);
  return state;
}

Mat3 rotation_about(const Vec3& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
}

Mat3 rotation_of(const Vec4& q) {  // w, x, y, z
  return Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
}

SE3 joint_pose(const Joint& joint, const Vec& q) {
  struct Visitor {
    const Vec& q;
    SE3 operator()(const Fixed&) const { return {}; }
    SE3 operator()(const Revolute& j) const { return {rotation_about(j.axis, q[0]), Vec3::Zero()}; }
    SE3 operator()(const Prismatic& j) const { return SE3::translation(q[0] * j.axis); }
    SE3 operator()(const Planar&) const {
      return {rotation_about(Vec3::UnitZ(), q[2]), Vec3(q[0], q[1], 0)};
    }
    SE3 operator()(const Spherical&) const { return {rotation_of(q), Vec3::Zero()}; }
    SE3 operator()(const Floating&) const { return {rotation_of(q.tail<4>()), q.head<3>()}; }
    SE3 operator()(const Carrier&) const { return SE3::translation(q); }
    SE3 operator()(const PlanarCarrier&) const { return SE3::translation({q[0], q[1], 0}); }
    // A chord at half the angle: 2 sin(phi / 2) / phi of the arc.
    SE3 operator()(const Bend& j) const {
      const double phi = q[0] * j.at / j.length;
      const double chord = phi == 0 ? j.at : j.at * 2 * std::sin(phi / 2) / phi;
      return {rotation_about(j.axis, phi),
              rotation_about(j.axis, phi / 2) * (chord * Vec3::UnitX())};
    }
    SE3 operator()(const RodPiece&) const {
      throw std::logic_error("rods are held against saltus/rods, tests/dynamics/rod_elements_test");
    }
  };
  return std::visit(Visitor{q}, joint);
}

std::vector<SE3> body_poses(const Model& model, const Vec& q) {
  std::vector<SE3> X;
  for (const Body& body : model.bodies) {
    const SE3 parent = body.parent.valid() ? X[body.parent] : SE3::identity();
    X.push_back(parent * body.placement * joint_pose(body.joint, q.segment(body.q0, body.nq)) *
                body.in_body.inverse());
  }
  return X;
}

Vec4 quaternion_product(const Vec4& a, const Vec4& b) {
  const Quat c = Quat(a[0], a[1], a[2], a[3]) * Quat(b[0], b[1], b[2], b[3]);
  return {c.w(), c.x(), c.y(), c.z()};
}

Vec joint_flow(const Joint& joint, const Vec& q, const Vec& v, double t) {
  if (has_scalar_coordinates(joint)) return q + t * v;
  const Vec3 w = t * v.tail<3>();
  const double half = 0.5 * w.norm();
  const Vec3 vector = half == 0 ? Vec3::Zero() : Vec3(std::sin(half) * w / (2 * half));
  Vec result = q;
  result.tail<4>() =
      quaternion_product(q.tail<4>(), {std::cos(half), vector[0], vector[1], vector[2]});
  if (std::holds_alternative<Floating>(joint)) result.head<3>() += t * v.head<3>();
  return result;
}

Vec flow(const Model& model, const Vec& q, const Vec& v, double t) {
  Vec result = q;
  for (const Body& body : model.bodies) {
    result.segment(body.q0, body.nq) =
        joint_flow(body.joint, q.segment(body.q0, body.nq), v.segment(body.v0, body.nv), t);
  }
  return result;
}

}  // namespace saltus::test
