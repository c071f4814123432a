// A scene as YAML with the parts of robot files written out. Numbers are written so that they are
// read again to the last bit, rotations therefore as matrices.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "saltus/geometry/hull.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"

namespace saltus {

namespace {

using YAML::Node;

Node number(double x) { return Node(fmt::format("{}", x)); }

template <class Numbers>
Node numbers(const Numbers& all) {
  Node list(YAML::NodeType::Sequence);
  list.SetStyle(YAML::EmitterStyle::Flow);
  for (const double x : all) list.push_back(number(x));
  return list;
}

Node texts(const std::vector<std::string>& all) {
  Node list(YAML::NodeType::Sequence);
  list.SetStyle(YAML::EmitterStyle::Flow);
  for (const std::string& x : all) list.push_back(Node(x));
  return list;
}

void put_frame(Node at, const char* key, const SE3& frame) {
  const bool moved = !frame.r.isZero(0), turned = frame.R != Mat3::Identity();
  if (!moved && !turned) return;
  Node f(YAML::NodeType::Map);
  if (moved) f["position"] = numbers(frame.r);
  if (turned) {
    const Mat3 rows = frame.R.transpose();  // stored by columns
    f["matrix"] = numbers(std::vector<double>(rows.data(), rows.data() + 9));
  }
  at[key] = f;
}

void put(Node at, const char* key, double x, double usual) {
  if (x != usual) at[key] = number(x);
}

Node shape_node(const ShapeScene& s) {
  Node n(YAML::NodeType::Map);
  n["name"] = s.name;
  n["type"] = std::string(name_of(s.shape));
  put_frame(n, "at", s.frame);
  const auto round = [&](const auto& x) {
    n["radius"] = number(x.radius);
    n["half_length"] = number(x.half_length);
  };
  if (const auto* x = std::get_if<Sphere>(&s.shape)) {
    if (x->radius > 0)
      n["radius"] = number(x->radius);
    else
      n["type"] = "point";
  }
  if (const auto* x = std::get_if<Peg>(&s.shape)) n["radius"] = number(x->radius);
  if (const auto* x = std::get_if<Capsule>(&s.shape)) round(*x);
  if (const auto* x = std::get_if<Cylinder>(&s.shape)) round(*x);
  if (const auto* x = std::get_if<Box>(&s.shape)) n["size"] = numbers(Vec3(2 * x->half_size));
  if (const auto* x = std::get_if<Ellipsoid>(&s.shape)) n["semi_axes"] = numbers(x->semi_axes);
  if (const auto* x = std::get_if<ConvexHull>(&s.shape)) {
    std::vector<double> all;
    for (const Vec3& v : x->hull->vertices) all.insert(all.end(), v.begin(), v.end());
    n["vertices"] = numbers(all);
  }
  return n;
}

void put_joint(Node n, const JointSpec& joint) {
  n["type"] = std::string(name_of(joint.kind));
  if (const auto* x = std::get_if<Revolute>(&joint.kind)) n["axis"] = numbers(x->axis);
  if (const auto* x = std::get_if<Prismatic>(&joint.kind)) n["axis"] = numbers(x->axis);
  put_frame(n, "at", joint.placement);
  put_frame(n, "in_body", joint.in_body);
  if (joint.cut) n["cut"] = true;
  if (joint.dofs.empty()) return;
  const JointDof& dof = joint.dofs.front();
  put(n, "armature", dof.armature, 0);
  put(n, "stiffness", dof.stiffness, 0);
  put(n, "rest", dof.rest, 0);
  put(n, "damping", dof.damping, 0);
  put(n, "friction", dof.friction, 0);
  if (dof.dynamic != 1) n["friction_dynamic"] = number(dof.dynamic * dof.friction);
  if (std::isfinite(dof.lower) || std::isfinite(dof.upper))
    n["limits"] = numbers(std::vector<double>{dof.lower, dof.upper});
}

Node body_node(const BodyScene& b) {
  Node n(YAML::NodeType::Map);
  n["name"] = b.name;
  n["mass"] = number(b.inertia.mass);
  if (!b.inertia.com.isZero(0)) n["com"] = numbers(b.inertia.com);
  const Mat3& J = b.inertia.about_com;
  if (!J.isZero(0))
    n["inertia"] =
        numbers(std::vector<double>{J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)});
  Node joint(YAML::NodeType::Map);
  put_joint(joint, b.joint);
  if (!b.joint.name.empty()) joint["name"] = b.joint.name;
  if (b.joint.parent != "world") joint["parent"] = b.joint.parent;
  n["joint"] = joint;
  for (const ShapeScene& s : b.shapes) n["shapes"].push_back(shape_node(s));
  return n;
}

Node loop_node(const LoopScene& l) {
  Node n(YAML::NodeType::Map);
  n["name"] = l.joint.name;
  n["between"] = texts({l.joint.parent, l.child});
  put_joint(n, l.joint);
  return n;
}

Node contact_node(const ContactScene& c) {
  Node n(YAML::NodeType::Map);
  const ContactLaw& law = c.law;
  const auto friction = [&](double share) -> Node {
    if (law.mu_back < 0) return numbers(std::vector<double>{share * law.mu1, share * law.mu2});
    Node object(YAML::NodeType::Map);
    object["forward"] = number(share * law.mu1);
    object["backward"] = number(share * law.mu_back);
    object["lateral"] = number(share * law.mu2);
    return object;
  };
  n["between"] = texts(c.between);
  n["friction"] = friction(1);
  if (law.rule == SlipRule::hu) n["rule"] = "hu";
  if (law.dynamic != 1) n["friction_dynamic"] = friction(law.dynamic);
  put(n, "rolling", law.rolling, 0);
  put(n, "drilling", law.drilling, 0);
  put(n, "restitution", law.restitution, 0);
  put(n, "restitution_tangential", law.tangential_restitution, 0);
  if (law.compliant()) {
    Node soft(YAML::NodeType::Map);
    soft["stiffness"] = number(law.soft.normal_stiffness);
    soft["damping"] = number(law.soft.normal_damping);
    soft["tangential_stiffness"] = number(law.soft.tangential_stiffness);
    soft["tangential_damping"] = number(law.soft.tangential_damping);
    n["compliant"] = soft;
  }
  if (law.axes == FrictionAxes::a) n["axes"] = "first";
  return n;
}

// Robot files know constants only.
Node signal_node(const Signal& s) { return number(std::get<Constant>(s).value); }

Node motor_node(const MotorScene& m) {
  Node n(YAML::NodeType::Map);
  n["joints"] = texts(m.joints);
  put(n, "kp", m.kp, 0);
  put(n, "kd", m.kd, 0);
  put(n, "limit", m.limit, infinity);
  if (m.reference) n["reference"] = signal_node(*m.reference);
  if (m.torque) n["torque"] = signal_node(*m.torque);
  put(n, "lag", m.drive.lag, 0);
  return n;
}

// A joint that follows another.
Node gap_node(const GapScene& g) {
  Node n(YAML::NodeType::Map);
  n["name"] = g.contact.name;
  n["offset"] = number(g.contact.offset);
  for (std::size_t k = 0; k < g.joints.size(); ++k) {
    Node term(YAML::NodeType::Map);
    term["joint"] = g.joints[k];
    term["gap"] = number(g.contact.terms[k].gap);
    n["terms"].push_back(term);
  }
  return n;
}

Node cable_node(const CableScene& c) {
  Node n(YAML::NodeType::Map);
  n["name"] = c.cable.name;
  for (std::size_t k = 0; k < c.bodies.size(); ++k) {
    Node point(YAML::NodeType::Map);
    point["body"] = c.bodies[k];
    point["point"] = numbers(c.cable.points[k].point);
    n["through"].push_back(point);
  }
  for (std::size_t k = 0; k < c.joints.size(); ++k) {
    Node pulley(YAML::NodeType::Map);
    pulley["joint"] = c.joints[k];
    pulley["ratio"] = number(c.cable.pulleys[k].gap);
    n["pulleys"].push_back(pulley);
  }
  if (c.length) n["length"] = signal_node(*c.length);
  put(n, "stiffness", c.cable.stiffness, 0);
  put(n, "damping", c.cable.damping, 0);
  if (c.pull) n["pull"] = signal_node(*c.pull);
  put(n, "limit", c.cable.upper, infinity);
  if (c.cable.lower < 0) n["both_ways"] = true;
  return n;
}

Node exclusion_node(const ExclusionScene& e) {
  Node n(YAML::NodeType::Map);
  n["bodies"] = texts(e.bodies);
  return n;
}

Node visual_node(const VisualScene& v) {
  Node n = shape_node(v.shape);
  n["body"] = v.shape.body;
  if (v.colour) n["colour"] = numbers(*v.colour);
  return n;
}

// Behind what the document has, the parts that come from robot files.
template <class T>
void add_parts(Node root, const char* key, const std::vector<T>& parts, Node (*write)(const T&)) {
  for (const T& part : parts)
    if (!part.source.empty()) root[key].push_back(write(part));
}

}  // namespace

std::string complete_text(const Scene& scene) {
  if (!scene.robots) return scene.document->effective_text();
  Node root = YAML::Clone(scene.document->root());
  root.remove("robots");
  root["gravity"] = numbers(scene.gravity);
  add_parts(root, "bodies", scene.bodies, body_node);
  add_parts(root, "loops", scene.loops, loop_node);
  add_parts(root, "obstacles", scene.obstacles, shape_node);
  add_parts(root, "contacts", scene.contacts, contact_node);
  add_parts(root, "exclusions", scene.exclusions, exclusion_node);
  add_parts(root, "motors", scene.motors, motor_node);
  // Behind the document's own: those of joints that follow others.
  for (std::size_t i = root["gaps"].size(); i < scene.gaps.size(); ++i)
    root["gaps"].push_back(gap_node(scene.gaps[i]));
  add_parts(root, "cables", scene.cables, cable_node);
  for (const VisualScene& v : scene.visuals)
    if (!v.shape.source.empty()) root["visuals"].push_back(visual_node(v));
  for (const auto& [joint, start] : scene.initial) {
    Node n(YAML::NodeType::Map);
    if (!start.q.empty()) n["q"] = numbers(start.q);
    if (!start.v.empty()) n["v"] = numbers(start.v);
    root["initial"][joint] = n;
  }
  root["time"]["step"] = number(scene.stepping.dt);
  YAML::Emitter out;
  out << root;
  return fmt::format("# {} with its robots written out\n{}\n", scene.document->name(), out.c_str());
}

}  // namespace saltus
