// Equalities that close loops, and keyframes.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

struct Ends {
  int a = 0, b = 0;
  SE3 in_a, in_b;
  bool by_sites = false;
};

struct Equalities {
  Reader& reader;
  int count = 0;

  std::pair<int, SE3> site(const Element& e, const char* attribute) {
    const std::string name = e.required_text(attribute);
    const auto found = reader.site_of.find(name);
    if (found == reader.site_of.end())
      throw e.error(attribute, fmt::format("no site is called '{}'", name));
    return found->second;
  }

  Ends ends(const Element& e) {
    Ends ends;
    if (e.has("site1") || e.has("site2")) {
      std::tie(ends.a, ends.in_a) = site(e, "site1");
      std::tie(ends.b, ends.in_b) = site(e, "site2");
      ends.by_sites = true;
      return ends;
    }
    ends.a = reader.find_body(e, "body1", e.required_text("body1"));
    ends.b = reader.find_body(e, "body2", e.text("body2").value_or("world"));
    return ends;
  }

  // The point of the other body is the one that lies there where the file draws them.
  void connect(const Styled& s, Ends& ends) {
    if (ends.by_sites) return;
    const auto anchor = s.vec3("anchor");
    if (!anchor) throw s.self().error("the attribute 'anchor' is missing");
    ends.in_a.r = *anchor;
    ends.in_b.r = reader.bodies[ends.b].X.inverse() * (reader.bodies[ends.a].X * *anchor);
  }

  void weld(const Styled& s, Ends& ends) {
    if (ends.by_sites) return;
    const auto pose = s.numbers("relpose", {0, 1, 0, 0, 0, 0, 0}, 7);
    const bool given = pose[3] != 0 || pose[4] != 0 || pose[5] != 0 || pose[6] != 0;
    if (given) {
      ends.in_a.r = {pose[0], pose[1], pose[2]};
      ends.in_a.R =
          rotation_of(*s.holder("relpose"), "relpose", {pose[3], pose[4], pose[5], pose[6]});
    } else {
      ends.in_a = reader.bodies[ends.a].X.inverse() * reader.bodies[ends.b].X;
    }
    if (s.has("anchor"))
      (void)s.vec3("anchor");  // where the soft weld measures: a hard one is rigid
  }

  void leave(const Styled& s) {
    const std::string kind = s.self().name();
    const bool on = s.boolean("active").value_or(true);
    for (const char* word : {"name", "joint1", "joint2", "tendon1", "tendon2", "polycoef"})
      (void)s.text(word);
    if (!on)
      reader.unneeded(s.self(), "active", "an equality that is off");
    else if (kind == "joint")
      couple(s);
    else
      reader.unused(s.self(), nullptr,
                    fmt::format("an equality of kind {} is not supported", kind));
  }

  int joint(const Element& e, const char* attribute) {
    const std::string name = e.required_text(attribute);
    const auto found = reader.joint_of.find(name);
    if (found == reader.joint_of.end())
      throw e.error(attribute, fmt::format("no joint is called '{}'", name));
    return found->second;
  }

  // q1 - ref1 = a0 + a1 (q2 - ref2)
  void couple(const Styled& s) {
    const Element& e = s.self();
    const JointPart& first = reader.joints[joint(e, "joint1")];
    const JointPart* second = e.has("joint2") ? &reader.joints[joint(e, "joint2")] : nullptr;
    const auto a = s.numbers("polycoef", {0, 1, 0, 0, 0});
    RobotCoupling c;
    c.follower = first.name;
    c.leader = second ? second->name : "";
    c.ratio = second ? a[1] : 0;
    c.offset = first.q[0] + a[0] - (second ? a[1] * second->q[0] : 0);
    c.where = {e.file(), e.line()};
    std::string why;
    if (second && (a[2] != 0 || a[3] != 0 || a[4] != 0))
      why = "a polynomial that is no line";
    else
      why = add_coupling(reader.robot, c);
    if (why.empty())
      reader.assumed(e, nullptr, "kept exactly: solref and solimp have no part");
    else
      reader.unused(e, nullptr,
                    second ? fmt::format("{}: joint '{}' moves by itself, it does not follow joint "
                                         "'{}'",
                                         why, c.follower, c.leader)
                           : fmt::format("{}: joint '{}' is not held", why, c.follower));
  }

  void read(const Element& e) {
    ++count;
    const std::string kind = e.name();
    e.mark();
    const Styled s = reader.defaults.styled(e, "");
    if (kind != "connect" && kind != "weld") {
      leave(s);
      return;
    }
    if (!s.boolean("active").value_or(true)) {
      reader.unneeded(e, "active", "an equality that is off closes no loop");
      return;
    }
    Ends between = ends(e);
    if (between.a == between.b) throw e.error("expected two bodies, got one");
    LoopScene loop;
    loop.joint.name = reader.new_name(reader.joint_names, e, fmt::format("equality{}", count));
    if (kind == "connect") {
      loop.joint.kind = Spherical{};
      connect(s, between);
    } else {
      weld(s, between);
    }
    loop.joint.parent = reader.bodies[between.a].name;
    loop.child = reader.bodies[between.b].name;
    loop.joint.placement = between.in_a;
    loop.joint.in_body = between.in_b;
    reader.robot.loops.push_back(loop);
    reader.robot.loop_lines.push_back({e.file(), e.line()});
    reader.assumed(e, nullptr,
                   "kept exactly (solref and solimp have no part), and its two bodies "
                   "do not touch each other");
  }
};

// Numbers of one keyframe, joint by joint.
struct Split {
  std::vector<double> all;
  std::size_t at = 0;
  std::vector<double> next(std::size_t count) {
    if (all.empty()) return {};
    std::vector<double> part(all.begin() + static_cast<std::ptrdiff_t>(at),
                             all.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
    return part;
  }
};

std::vector<double> numbers(const Element& e, const char* attribute, std::size_t count) {
  const auto given = e.numbers(attribute, count, count);
  return given.value_or(std::vector<double>{});
}

}  // namespace

void Reader::read_equalities() {
  Equalities equalities{*this};
  for (const Element& e : sources.contents("equality")) equalities.read(e);
}

void Reader::read_keyframes() {
  std::size_t nq = 0, nv = 0;
  for (const JointPart& j : joints)
    if (j.in_file) {
      nq += nq_of(j.kind);
      nv += nv_of(j.kind);
    }
  for (const Element& e : sources.contents("keyframe")) {
    if (e.name() != "key") continue;
    e.mark();
    RobotKeyframe key;
    key.name = e.text("name").value_or(fmt::format("key{}", robot.keyframes.size() + 1));
    Split q{numbers(e, "qpos", nq)}, v{numbers(e, "qvel", nv)};
    for (const JointPart& j : joints) {
      InitialScene start{j.q, {}};
      if (j.in_file) {
        const auto own_q = q.next(nq_of(j.kind)), own_v = v.next(nv_of(j.kind));
        if (!own_q.empty()) start.q = own_q;
        start.v = own_v;
      }
      if (!has_scalar_coordinates(j.kind)) {  // MuJoCo normalises, too
        const std::size_t n = start.q.size();
        if (std::all_of(start.q.end() - 4, start.q.end(), [](double x) { return x == 0; })) {
          changed(
              e, "qpos",
              fmt::format("the quaternion of joint '{}' was 0 0 0 0, taken as 1 0 0 0", j.name));
          start.q[n - 4] = 1;
        }
        const Quat p(rotation_of(e, "qpos",
                                 {start.q[n - 4], start.q[n - 3], start.q[n - 2], start.q[n - 1]}));
        start.q[n - 4] = p.w();
        start.q[n - 3] = p.x();
        start.q[n - 2] = p.y();
        start.q[n - 1] = p.z();
      }
      if (j.in_robot) key.joints[j.name] = start;
    }
    robot.keyframes.push_back(key);
  }
}

}  // namespace saltus::mjcf
