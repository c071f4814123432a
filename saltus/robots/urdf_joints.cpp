// Joints and transmissions of a URDF.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "saltus/robots/urdf_parts.h"

namespace saltus::urdf {

namespace {

Vec3 read_axis(const Element& joint, Context& context) {
  const Element axis = joint.child("axis");
  if (!axis) {
    context.assume(joint, "no <axis>: 1 0 0");
    return Vec3::UnitX();
  }
  const std::optional<Vec3> xyz = axis.vec3("xyz");
  if (!xyz) throw axis.error("the attribute 'xyz' is missing");
  const double length = xyz->stableNorm();
  if (!(length > 1e-12)) throw axis.error("xyz", "expected a direction, got zero");
  if (std::abs(length - 1) > 1e-3)
    context.assume(axis, fmt::format("xyz has the length {:.6g}: taken as a direction", length));
  return *xyz / length;
}

// A rotation that turns z to `axis`, a unit vector; the least one, about x where axis is -z.
Mat3 z_to(const Vec3& axis) {
  if (axis == Vec3::UnitZ()) return Mat3::Identity();
  const Vec3 across = Vec3::UnitZ().cross(axis);
  if (across.isZero(0)) return Vec3(1, -1, -1).asDiagonal();
  return Quat(1 + axis.z(), across.x(), across.y(), 0).normalized().toRotationMatrix();
}

double not_negative(const Element& e, const char* attribute) {
  const double x = e.number(attribute).value_or(0);
  if (x < 0) throw e.error(attribute, fmt::format("expected a number >= 0, got {}", x));
  return x;
}

void read_range(const Element& joint, const Element& limit, Context& context, JointDof& dof) {
  if (!limit) {
    context.assume(joint, "no <limit>: unlimited");
    return;
  }
  const std::optional<double> lower = limit.number("lower"), upper = limit.number("upper");
  if (!lower && !upper) {
    context.assume(limit, "neither lower nor upper: unlimited");
    return;
  }
  if (!lower || !upper) context.assume(limit, fmt::format("no {}: 0", lower ? "upper" : "lower"));
  const double a = lower.value_or(0), b = upper.value_or(0);
  if (a > b) throw limit.error(fmt::format("expected lower <= upper, got {} and {}", a, b));
  if (a == b) {
    context.assume(limit, fmt::format("lower and upper are both {}: unlimited", a));
    return;
  }
  dof.lower = a;
  dof.upper = b;
}

// Limits and losses of a joint with one coordinate.
JointDof read_dof(const Element& joint, bool ranged, Context& context) {
  JointDof dof;
  const Element limit = joint.child("limit");
  if (ranged) read_range(joint, limit, context, dof);
  if (const Element dynamics = joint.child("dynamics")) {
    dof.damping = not_negative(dynamics, "damping");
    dof.friction = not_negative(dynamics, "friction");
  }
  return dof;
}

void read_planar(const Element& joint, Context& context, JointSpec& spec) {
  const Mat3 turn = z_to(read_axis(joint, context));
  spec.kind = Planar{};
  spec.placement = spec.placement * SE3{turn, Vec3::Zero()};
  spec.in_body = {turn, Vec3::Zero()};
  context.assume(joint,
                 "a URDF does not say what the coordinates of a planar joint are: x, y, theta with "
                 "the frame's z turned to the axis the shortest way");
}

// Of a transmission and one of its joints.
void add_motor(const Element& transmission, const Element& at, const Element& joint,
               Context& context, Robot& out) {
  MotorScene motor;
  motor.joints = {joint.required_text("name")};
  motor.torque = Constant{0};
  const Element limit = joint.child("limit");
  const std::optional<double> effort = limit ? limit.number("effort") : std::nullopt;
  if (effort && *effort < 0)
    throw limit.error("effort", fmt::format("expected a number >= 0, got {}", *effort));
  if (effort && *effort == 0) {
    context.leave(transmission, "", "its joint has the effort 0: no motor");
    return;
  }
  if (effort)
    motor.limit = *effort;
  else
    context.assume(at, "its joint has no effort: the motor's torque is unlimited");
  out.motors.push_back(motor);
  out.motor_lines.push_back({transmission.file(), transmission.line()});
}

void note_actuators(const Element& transmission, Context& context) {
  for (const Element& actuator : transmission.children("actuator")) {
    (void)actuator.text("name");
    const Element reduction = actuator.child("mechanicalReduction");
    if (!reduction) continue;
    const auto ratio = parse_numbers(reduction.content());
    if (!ratio || ratio->size() != 1 || ratio->front() == 0)
      throw reduction.error(
          fmt::format("expected a number other than 0, got '{}'", reduction.content()));
    if (ratio->front() != 1)
      context.assume(reduction,
                     fmt::format("{}: the motor acts at the joint, with the joint's effort as its "
                                 "limit and without the rotor's inertia",
                                 ratio->front()));
  }
}

}  // namespace

JointSpec read_joint(const Element& joint, Context& context) {
  JointSpec spec;
  spec.name = joint.required_text("name");
  spec.placement = read_origin(joint);
  const std::string type = joint.required_text("type");
  if (type == "fixed") {
    spec.kind = Fixed{};
  } else if (type == "revolute" || type == "continuous") {
    spec.kind = Revolute{read_axis(joint, context)};
    spec.dofs = {read_dof(joint, type == "revolute", context)};
  } else if (type == "prismatic") {
    spec.kind = Prismatic{read_axis(joint, context)};
    spec.dofs = {read_dof(joint, true, context)};
  } else if (type == "floating") {
    spec.kind = Floating{};
  } else if (type == "planar") {
    read_planar(joint, context, spec);
  } else {
    throw joint.error("type", fmt::format("expected fixed, revolute, continuous, prismatic, "
                                          "floating or planar, got '{}'",
                                          type));
  }
  return spec;
}

void read_mimic(const Element& joint, const std::string& name, Context& context, Robot& out) {
  const Element mimic = joint.child("mimic");
  if (!mimic) return;
  RobotCoupling c;
  c.follower = name;
  c.leader = mimic.required_text("joint");
  c.ratio = mimic.number("multiplier").value_or(1);
  c.offset = mimic.number("offset").value_or(0);
  c.where = {mimic.file(), mimic.line()};
  const std::string why = add_coupling(out, c);
  if (why.empty()) return;
  context.leave(mimic, "",
                fmt::format("{}: it moves by itself, it does not follow '{}'", why, c.leader));
}

void read_transmissions(const Element& robot, const std::map<std::string, Element>& joints,
                        Context& context, Robot& out) {
  std::set<std::string> driven;
  for (const Element& t : robot.children("transmission")) {
    (void)t.text("name");
    const Element type = t.child("type");
    if (type && type.content().find("SimpleTransmission") == std::string::npos)
      context.assume(type, fmt::format("'{}' is taken as one motor a joint", type.content()));
    note_actuators(t, context);
    for (const Element& e : t.children("joint")) {
      const std::string name = e.required_text("name");
      const auto found = joints.find(name);
      if (found == joints.end()) {
        if (context.strict) throw e.error(fmt::format("there is no joint '{}'", name));
        context.leave(e, "", fmt::format("there is no joint '{}': no motor", name));
        continue;
      }
      const std::string kind = found->second.required_text("type");
      if (kind != "revolute" && kind != "continuous" && kind != "prismatic") {
        context.leave(e, "", fmt::format("a {} joint takes no motor", kind));
        continue;
      }
      if (!driven.insert(name).second) {
        context.leave(e, "", "the joint has a transmission already");
        continue;
      }
      add_motor(t, e, found->second, context, out);
    }
  }
}

}  // namespace saltus::urdf
