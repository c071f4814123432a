// What was understood of a robot file, what was assumed and what was not used.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "saltus/robots/robot.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

Json numbers(const Vec3& x) { return {x.x(), x.y(), x.z()}; }

Json pose_json(const SE3& X) {
  const Quat p(X.R);
  return {{"position", numbers(X.r)}, {"quaternion", {p.w(), p.x(), p.y(), p.z()}}};
}

const std::string& joint_name(const BodyScene& b) {
  return b.joint.name.empty() ? b.name : b.joint.name;
}

std::optional<Vec3> axis_of(const Joint& joint) {
  if (const auto* x = std::get_if<Revolute>(&joint)) return x->axis;
  if (const auto* x = std::get_if<Prismatic>(&joint)) return x->axis;
  return std::nullopt;
}

Json dof_json(const JointDof& d) {
  Json j = Json::object();
  if (std::isfinite(d.lower) || std::isfinite(d.upper)) j["limits"] = {d.lower, d.upper};
  const auto put = [&](const char* key, double x) {
    if (x != 0) j[key] = x;
  };
  put("damping", d.damping);
  put("friction", d.friction);
  put("stiffness", d.stiffness);
  put("rest", d.rest);
  put("armature", d.armature);
  return j;
}

Json body_json(const Robot& r, std::size_t i) {
  const BodyScene& b = r.bodies[i];
  Json joint = {{"name", joint_name(b)},
                {"type", name_of(b.joint.kind)},
                {"parent", b.joint.parent},
                {"at", pose_json(b.joint.placement)}};
  if (const auto axis = axis_of(b.joint.kind)) joint["axis"] = numbers(*axis);
  if (!b.joint.dofs.empty()) joint.update(dof_json(b.joint.dofs.front()));
  const Mat3& J = b.inertia.about_com;
  Json j = {{"name", b.name},
            {"line", i < r.body_lines.size() ? r.body_lines[i].line : 0},
            {"mass", b.inertia.mass},
            {"com", numbers(b.inertia.com)},
            {"inertia", {J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)}},
            {"joint", joint},
            {"shapes", Json::array()}};
  for (const ShapeScene& s : b.shapes)
    j["shapes"].push_back({{"name", s.name}, {"type", name_of(s.shape)}});
  return j;
}

Json motor_json(const Robot& r, std::size_t i) {
  const MotorScene& m = r.motors[i];
  Json j = {{"joints", m.joints},
            {"line", i < r.motor_lines.size() ? r.motor_lines[i].line : 0},
            {"kp", m.kp},
            {"kd", m.kd}};
  j["limit"] = std::isfinite(m.limit) ? Json(m.limit) : Json(nullptr);
  return j;
}

// Null: without bound.
Json bounded(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json cable_json(const Robot& r, std::size_t i) {
  const CableScene& c = r.cables[i];
  Json j = {{"name", c.cable.name},
            {"line", i < r.cable_lines.size() ? r.cable_lines[i].line : 0},
            {"through", c.bodies},
            {"joints", c.joints},
            {"stiffness", c.cable.stiffness},
            {"damping", c.cable.damping}};
  if (c.length) j["length"] = c.cable.length;
  j["tension"] = {bounded(c.cable.lower), bounded(c.cable.upper)};
  j["driven"] = c.cable.driven;
  return j;
}

struct Sums {
  double mass = 0;
  int nv = 0;
  std::size_t shapes = 0;
};

Sums sums_of(const Robot& r) {
  Sums s;
  for (const BodyScene& b : r.bodies) {
    s.mass += b.inertia.mass;
    s.nv += nv_of(b.joint.kind);
    s.shapes += b.shapes.size();
  }
  return s;
}

std::string joint_line(const BodyScene& b) {
  std::string line =
      fmt::format("{} {} on {}", name_of(b.joint.kind), joint_name(b), b.joint.parent);
  if (const auto a = axis_of(b.joint.kind))
    line += fmt::format(", axis {:.4g} {:.4g} {:.4g}", a->x(), a->y(), a->z());
  if (b.joint.dofs.empty()) return line;
  const JointDof& d = b.joint.dofs.front();
  if (std::isfinite(d.lower) || std::isfinite(d.upper))
    line += fmt::format(", {:.6g} to {:.6g}", d.lower, d.upper);
  const auto put = [&](const char* what, double x) {
    if (x != 0) line += fmt::format(", {} {:.6g}", what, x);
  };
  put("damping", d.damping);
  put("friction", d.friction);
  put("stiffness", d.stiffness);
  put("armature", d.armature);
  return line;
}

constexpr std::array<std::pair<RobotNote::Kind, const char*>, 3> note_kinds{
    {{RobotNote::Kind::assumed, "assumed"},
     {RobotNote::Kind::changed, "changed"},
     {RobotNote::Kind::unused, "unused"}}};

void append_notes(const Robot& r, RobotNote::Kind kind, const char* title, std::string& out) {
  std::size_t count = 0;
  std::string lines;
  for (const RobotNote& n : r.notes) {
    if (n.kind != kind) continue;
    ++count;
    lines += fmt::format("  {}:{}: {}{}{}\n", n.where.file, n.where.line, n.item,
                         n.message.empty() ? "" : ": ", n.message);
  }
  out += fmt::format("{}: {}\n{}", title, count, lines);
}

// What is the same but for a name and a number: "<joint> mimic: the joint ...".
std::string kind_of(const RobotNote& n) {
  std::string kind;
  for (std::size_t i = 0; i < n.item.size(); ++i) {
    if (n.item.compare(i, 7, " name=\"") == 0)
      i = std::min(n.item.find('"', i + 7), n.item.size() - 1);
    else
      kind += n.item[i];
  }
  return kind;
}

// One line a kind of note that matters for the motion: how often, where first, why.
std::string summary_of(const Robot& r, RobotNote::Kind kind, const char* title) {
  struct Sum {
    const RobotNote* first;
    std::size_t count;
  };
  std::vector<std::pair<std::string, Sum>> sums;
  std::map<std::string, std::size_t> known;
  for (const RobotNote& n : r.notes) {
    if (n.kind != kind || !n.matters) continue;
    const auto [at, added] = known.emplace(kind_of(n), sums.size());
    if (added) sums.push_back({at->first, {&n, 0}});
    ++sums[at->second].second.count;
  }
  if (sums.empty()) return fmt::format("{}: nothing that matters for the motion\n", title);
  std::string out = fmt::format("{}:\n", title);
  for (const auto& [what, sum] : sums)
    out += fmt::format("  {} x {}, first in line {}{}{}\n", sum.count, what, sum.first->where.line,
                       sum.first->message.empty() ? "" : ": ", sum.first->message);
  return out;
}

// What matters for the motion, before the details.
std::string summary(const Robot& r) {
  std::size_t driven = 0, limited = 0, hinges = 0;
  for (const BodyScene& b : r.bodies) {
    hinges += nv_of(b.joint.kind) > 0;
    limited += !b.joint.dofs.empty() && std::isfinite(b.joint.dofs.front().lower);
  }
  for (const MotorScene& m : r.motors) driven += m.joints.size();
  std::string out = fmt::format(
      "works: {} joints that move ({} with motors, {} with limits), {} loops, {} "
      "couplings, {} cables, {} contact laws, {} keyframes\n",
      hinges, driven, limited, r.loops.size(), r.couplings.size(), r.cables.size(),
      r.contacts.size(), r.keyframes.size());
  out += summary_of(r, RobotNote::Kind::changed, "changed");
  out += summary_of(r, RobotNote::Kind::unused, "missing");
  return out + "details:\n";
}

}  // namespace

std::string report_json(const Robot& r) {
  const Sums sums = sums_of(r);
  Json j = {{"file", r.file},    {"format", r.format}, {"name", r.name},
            {"mass", sums.mass}, {"dofs", sums.nv},    {"bodies", Json::array()}};
  for (std::size_t i = 0; i < r.bodies.size(); ++i) j["bodies"].push_back(body_json(r, i));
  j["loops"] = Json::array();
  for (const LoopScene& l : r.loops)
    j["loops"].push_back({{"name", l.joint.name},
                          {"type", name_of(l.joint.kind)},
                          {"between", {l.joint.parent, l.child}}});
  j["couplings"] = Json::array();
  for (const RobotCoupling& c : r.couplings)
    j["couplings"].push_back({{"follower", c.follower},
                              {"leader", c.leader},
                              {"ratio", c.ratio},
                              {"offset", c.offset},
                              {"line", c.where.line}});
  j["obstacles"] = Json::array();
  for (const ShapeScene& s : r.obstacles)
    j["obstacles"].push_back({{"name", s.name}, {"type", name_of(s.shape)}});
  j["visuals"] = r.visuals.size();
  j["motors"] = Json::array();
  for (std::size_t i = 0; i < r.motors.size(); ++i) j["motors"].push_back(motor_json(r, i));
  j["cables"] = Json::array();
  for (std::size_t i = 0; i < r.cables.size(); ++i) j["cables"].push_back(cable_json(r, i));
  j["contacts"] = Json::array();
  for (const ContactScene& c : r.contacts)
    j["contacts"].push_back({{"between", c.between}, {"friction", {c.law.mu1, c.law.mu2}}});
  j["excluded"] = Json::array();
  for (const auto& [a, b] : r.excluded) j["excluded"].push_back({a, b});
  j["sites"] = Json::array();
  for (const RobotSite& s : r.sites) {
    Json site = {{"name", s.name}, {"body", s.body}};
    site.update(pose_json(s.frame));
    j["sites"].push_back(site);
  }
  j["keyframes"] = Json::array();
  for (const RobotKeyframe& k : r.keyframes) j["keyframes"].push_back(k.name);
  if (r.gravity) j["gravity"] = numbers(*r.gravity);
  if (r.timestep) j["timestep"] = *r.timestep;
  for (const auto& [kind, key] : note_kinds) {
    j[key] = Json::array();
    for (const RobotNote& n : r.notes)
      if (n.kind == kind)
        j[key].push_back({{"file", n.where.file},
                          {"line", n.where.line},
                          {"item", n.item},
                          {"message", n.message},
                          {"matters", n.matters}});
  }
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_text(const Robot& r) {
  const Sums sums = sums_of(r);
  std::string out = fmt::format(
      "{}: {} '{}': {} bodies, {:.6g} kg, {} degrees of freedom, {} shapes, {} motors\n", r.file,
      r.format == "urdf"  ? "URDF"
      : r.format == "sdf" ? "SDF"
                          : "MJCF",
      r.name, r.bodies.size(), sums.mass, sums.nv, sums.shapes, r.motors.size());
  out += summary(r);
  for (const BodyScene& b : r.bodies) {
    out += fmt::format("  {:<24} {:>10.6g} kg  {}\n", b.name, b.inertia.mass, joint_line(b));
    for (const ShapeScene& s : b.shapes)
      out += fmt::format("  {:<24} touches as {} '{}'\n", "", name_of(s.shape), s.name);
  }
  for (const LoopScene& l : r.loops)
    out += fmt::format("loop {}: {} between {} and {}\n", l.joint.name, name_of(l.joint.kind),
                       l.joint.parent, l.child);
  for (const RobotCoupling& c : r.couplings)
    out += c.leader.empty() ? fmt::format("joint {} is held at {:.6g}\n", c.follower, c.offset)
                            : fmt::format("joint {} follows {}: {:.6g} times it, and {:.6g}\n",
                                          c.follower, c.leader, c.ratio, c.offset);
  for (const ShapeScene& s : r.obstacles)
    out += fmt::format("world: {} '{}'\n", name_of(s.shape), s.name);
  for (const MotorScene& m : r.motors)
    out += fmt::format("motor on {}: kp {:.6g}, kd {:.6g}, limit {:.6g}\n",
                       fmt::join(m.joints, ", "), m.kp, m.kd, m.limit);
  for (const CableScene& c : r.cables)
    out += fmt::format("cable {}: {} {}\n", c.cable.name,
                       c.joints.empty() ? "through" : "over the joints",
                       fmt::join(c.joints.empty() ? c.bodies : c.joints, ", "));
  for (const RobotSite& s : r.sites) out += fmt::format("site {} on {}\n", s.name, s.body);
  for (const RobotKeyframe& k : r.keyframes) out += fmt::format("keyframe {}\n", k.name);
  append_notes(r, RobotNote::Kind::changed, "changed", out);
  append_notes(r, RobotNote::Kind::assumed, "assumed", out);
  append_notes(r, RobotNote::Kind::unused, "not used", out);
  return out;
}

}  // namespace saltus
