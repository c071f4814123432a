// The joints of a body: a chain of them, all but the last on massless bodies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/lie/so3.h"
#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

// auto: limited where a range is given and the compiler says so.
bool Reader::is_limited(const Styled& s, const char* attribute, const char* range) {
  const std::string given = s.text(attribute).value_or("auto");
  const bool has_range = s.has(range);
  if (given == "true" || given == "false") {
    if (given == "true" && !has_range)
      throw s.error(attribute, fmt::format("expected a {} beside it", range));
    return given == "true";
  }
  if (given != "auto")
    throw s.error(attribute, fmt::format("expected true, false or auto, got '{}'", given));
  if (has_range && !compiler.autolimits)
    unused(s.self(), range, fmt::format("autolimits is off and {} is not given", attribute));
  return has_range && compiler.autolimits;
}

namespace {

Joint read_kind(const Styled& s) {
  if (s.self().name() == "freejoint") return Floating{};
  const std::string type = s.text("type").value_or("hinge");
  if (type == "hinge") return Revolute{};
  if (type == "slide") return Prismatic{};
  if (type == "ball") return Spherical{};
  if (type == "free") return Floating{};
  throw s.error("type", fmt::format("expected hinge, slide, ball or free, got '{}'", type));
}

double one_number(Reader& reader, const Styled& s, const char* attribute) {
  const std::vector<double> x = s.numbers(attribute, {0, 0, 0});
  if (x[1] != 0 || x[2] != 0)
    reader.unused(s.self(), attribute, "only the first, linear coefficient is taken");
  if (x[0] >= 0) return x[0];
  throw s.error(attribute, fmt::format("expected a number >= 0, got {}", x[0]));
}

JointDof read_dof(Reader& reader, const Styled& s, bool turns) {
  const auto angle = [&](double x) { return turns ? reader.compiler.angle(x) : x; };
  JointDof dof;
  dof.armature = one_number(reader, s, "armature");
  dof.stiffness = one_number(reader, s, "stiffness");
  dof.damping = one_number(reader, s, "damping");
  dof.friction = one_number(reader, s, "frictionloss");
  dof.rest = angle(s.number("springref").value_or(0));
  if (!reader.is_limited(s, "limited", "range")) return dof;
  const auto range = *s.pair("range");
  if (!(range[0] < range[1]))
    throw s.error("range", fmt::format("expected lower < upper, got {} {}", range[0], range[1]));
  dof.lower = angle(range[0]);
  dof.upper = angle(range[1]);
  return dof;
}

// Joints without scalar coordinates carry nothing of this.
void note_unused_dof(Reader& reader, const Styled& s, const Joint& kind) {
  for (const char* a : {"stiffness", "damping", "armature", "frictionloss"}) {
    const Element* e = s.holder(a);
    if (!e) continue;
    const std::vector<double> x = s.numbers(a, {0, 0, 0});
    if (x[0] != 0)
      reader.unused(
          s.self(), a,
          fmt::format("a {} joint takes none ({}:{})", name_of(kind), e->file(), e->line()));
  }
  if (s.has("range") && reader.is_limited(s, "limited", "range"))
    reader.unused(s.self(), "range", fmt::format("a {} joint has no limits", name_of(kind)));
}

bool any_joint_below(const Sources& sources, const Element& e, int depth = 0) {
  if (depth > deepest) return false;
  for (const Element& c : sources.children(e)) {
    if (c.name() == "joint" || c.name() == "freejoint") return true;
    if ((c.name() == "body" || c.name() == "frame") && any_joint_below(sources, c, depth + 1))
      return true;
  }
  return false;
}

struct Chain {
  Reader& reader;
  int body;
  BodyPart& part;
  SE3 X;  // of the next body in the one before, where the file draws it
  std::string parent;
  bool turned_freely = false;  // a ball came
  int count = 0;

  // The body behind a joint; its name and inertia follow.
  BodyScene& link(const Element& e, const JointSpec& spec) {
    BodyScene scene;
    scene.joint = spec;
    scene.joint.parent = parent;
    reader.robot.bodies.push_back(scene);
    reader.robot.body_lines.push_back({e.file(), e.line()});
    X = SE3();
    return reader.robot.bodies.back();
  }

  std::string joint_name(const Element& e, bool alone) {
    ++count;
    std::string name = reader.new_name(
        reader.joint_names, e, alone ? part.name : fmt::format("{}.joint{}", part.name, count));
    reader.joint_of[e.text("name").value_or(name)] = static_cast<int>(reader.joints.size());
    return name;
  }

  void free_joint(const Element& e, bool in_file) {
    JointSpec spec;
    spec.kind = Floating{};
    spec.name = in_file ? joint_name(e, true) : part.name;
    const Quat p(part.X.R);
    JointPart joint{.name = spec.name, .element = e, .kind = spec.kind};
    joint.q = {part.X.r.x(), part.X.r.y(), part.X.r.z(), p.w(), p.x(), p.y(), p.z()};
    joint.in_file = in_file;
    joint.in_robot = reader.options.base != RobotBase::fixed;
    reader.joints.push_back(joint);
    if (!joint.in_robot) {
      reader.assumed(e, nullptr, "the base is held where the file draws it");
      part.held = true;
      hold();
      return;
    }
    reader.robot.initial[spec.name].q = joint.q;
    part.moves = true;
    link(e, spec);
  }

  void hold() {  // no joint
    JointSpec spec;
    spec.name = part.name + ".fixed";
    spec.placement = X;
    link(part.element, spec);
  }

  void add(const Placed& p, bool alone) {
    const Styled s = reader.defaults.styled(p.element, p.childclass);
    JointSpec spec;
    spec.kind = read_kind(s);
    if (std::holds_alternative<Floating>(spec.kind)) {
      if (part.parent != 0 || !alone)
        throw s.self().error("a free joint is the only joint of a body of the world");
      if (s.self().name() == "joint") note_unused_dof(reader, s, spec.kind);
      free_joint(p.element, true);
      return;
    }
    part.moves = true;
    spec.name = joint_name(p.element, alone);
    const SE3 anchor = SE3::translation(p.frame * s.vec3("pos").value_or(Vec3::Zero()));
    spec.placement = X * anchor;
    spec.in_body = anchor;
    const bool ball = std::holds_alternative<Spherical>(spec.kind);
    if (turned_freely && !std::holds_alternative<Prismatic>(spec.kind))
      throw s.self().error("no rotation may follow a ball joint in a body");
    turned_freely = turned_freely || ball;
    JointPart joint{.name = spec.name, .element = p.element, .kind = spec.kind};
    if (ball) {
      note_unused_dof(reader, s, spec.kind);
      joint.q = {1, 0, 0, 0};
    } else {
      set_axis(s, p.frame, spec, joint);
    }
    joint.kind = spec.kind;
    reader.joints.push_back(joint);
    if (joint.q[0] != 0 && !ball) reader.robot.initial[spec.name].q = joint.q;
    link(p.element, spec);
  }

  void set_axis(const Styled& s, const SE3& frame, JointSpec& spec, JointPart& joint) {
    const Vec3 given = s.vec3("axis").value_or(Vec3::UnitZ());
    if (!(given.norm() > 1e-10)) throw s.error("axis", "expected a direction, got zero");
    const Vec3 axis = frame.R * given.normalized();
    const bool turns = std::holds_alternative<Revolute>(spec.kind);
    const double ref = s.number("ref").value_or(0);
    joint.q = {turns ? reader.compiler.angle(ref) : ref};
    // The file draws the joint at q = ref.
    if (turns) {
      spec.kind = Revolute{axis};
      spec.placement.R = spec.placement.R * exp_so3(-joint.q[0] * axis);
    } else {
      spec.kind = Prismatic{axis};
      spec.placement.r -= spec.placement.R * (joint.q[0] * axis);
    }
    spec.dofs = {read_dof(reader, s, turns)};
    if (reader.is_limited(s, "actuatorfrclimited", "actuatorfrcrange")) {
      const auto range = *s.pair("actuatorfrcrange");
      joint.force_limit = std::max(std::abs(range[0]), std::abs(range[1]));
      if (range[0] != -range[1])
        reader.assumed(s.self(), "actuatorfrcrange",
                       fmt::format("limits are the same both ways: {}", joint.force_limit));
    }
  }
};

}  // namespace

void Reader::add_joints(int body, const std::vector<Placed>& parts, const SE3& X) {
  std::vector<Placed> own;
  for (const Placed& p : parts)
    if (p.element.name() == "joint" || p.element.name() == "freejoint") own.push_back(p);
  BodyPart part = bodies[body];
  Chain chain{*this, body, part, X, bodies[part.parent].name};
  const bool float_it = own.empty() && part.parent == 0 && options.base == RobotBase::floating &&
                        any_joint_below(sources, part.element);
  if (float_it) {
    assumed(part.element, nullptr, "the base floats");
    chain.free_joint(part.element, false);
  } else if (own.empty()) {
    chain.hold();
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i].element.mark();
    chain.add(own[i], own.size() == 1);
    BodyScene& link = robot.bodies.back();
    if (i + 1 == own.size()) break;
    link.name = chain.parent = fmt::format("{}.{}", part.name, link.joint.name);
    for (int k = 2; !body_names.insert(link.name).second; ++k)
      link.name = chain.parent = fmt::format("{}.{}.{}", part.name, link.joint.name, k);
  }
  robot.bodies.back().name = part.name;
  part.index = static_cast<int>(robot.bodies.size()) - 1;
  bodies[body] = part;
}

}  // namespace saltus::mjcf
