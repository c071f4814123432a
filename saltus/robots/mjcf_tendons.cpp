// Tendons as cables (model/model.h): the length of a fixed one is a sum of coordinates,
//   r = sum coef_i q_i,
// that of a spatial one the way from site to site. Limits, springs and actuators are a cable each:
//   a longest length      r <= upper, without stretch
//   a shortest length     -r <= -lower, of a fixed tendon
//   spring and damper     tension = stiffness (r - rest) + damping dr/dt, both ways; with a slack
//                         range one that pulls beyond it, one that pushes below it
//   an actuator of gear g and force F: tension = -g F
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

struct Tendons {
  Reader& reader;
  int count = 0;

  void add_joint(const Element& e, TendonPart& t) {
    const std::string name = e.required_text("joint");
    const double coefficient = e.number("coef").value_or(1);
    const auto found = reader.joint_of.find(name);
    if (found == reader.joint_of.end())
      throw e.error("joint", fmt::format("no joint is called '{}'", name));
    const JointPart& joint = reader.joints[found->second];
    if (!has_scalar_coordinates(joint.kind)) {
      t.why = fmt::format("a {} joint winds up no tendon", name_of(joint.kind));
      return;
    }
    t.start += coefficient * joint.q[0];
    for (std::size_t k = 0; k < t.path.joints.size(); ++k)
      if (t.path.joints[k] == joint.name) {
        t.path.cable.pulleys[k].gap += coefficient;
        return;
      }
    GapTerm term;
    term.gap = coefficient;
    t.path.cable.pulleys.push_back(term);
    t.path.joints.push_back(joint.name);
  }

  void add_site(const Element& e, TendonPart& t) {
    const std::string name = e.required_text("site");
    const auto found = reader.site_of.find(name);
    if (found == reader.site_of.end())
      throw e.error("site", fmt::format("no site is called '{}'", name));
    const auto& [body, frame] = found->second;
    const BodyPart& part = reader.bodies[body];
    const Vec3 at = part.X * frame.r;
    if (!t.path.cable.points.empty()) t.start += (at - t.last).norm();
    t.last = at;
    const bool in_world = part.index < 0;
    t.path.cable.points.push_back({world, in_world ? at : frame.r});
    t.path.bodies.push_back(in_world ? "world" : part.name);
  }

  void read_path(const Element& e, TendonPart& t) {
    for (const Element& part : reader.sources.children(e)) {
      const std::string kind = part.name();
      part.mark();
      if (kind == "joint")
        add_joint(part, t);
      else if (kind == "site")
        add_site(part, t);
      else if (kind == "geom")
        t.why = "it winds around a geom, which cables do not";
      else if (kind == "pulley")
        t.why = "it branches at a pulley, which cables do not";
      for (const char* word : {"geom", "sidesite", "divisor"}) (void)part.text(word);
    }
    auto& pulleys = t.path.cable.pulleys;
    for (std::size_t k = pulleys.size(); k-- > 0;)
      if (pulleys[k].gap == 0) {
        pulleys.erase(pulleys.begin() + static_cast<std::ptrdiff_t>(k));
        t.path.joints.erase(t.path.joints.begin() + static_cast<std::ptrdiff_t>(k));
      }
    if (t.why.empty()) t.why = one_tree(t);
  }

  // The body below which all of a tree hangs; empty: the world.
  [[nodiscard]] std::string root_of(std::string name) const {
    for (;;) {
      const auto found = std::find_if(reader.robot.bodies.begin(), reader.robot.bodies.end(),
                                      [&](const BodyScene& b) { return b.name == name; });
      if (found == reader.robot.bodies.end() || found->joint.parent == "world") return name;
      name = found->joint.parent;
    }
  }

  [[nodiscard]] std::string one_tree(const TendonPart& t) const {
    std::vector<std::string> bodies, trees;
    bool to_world = false;
    const auto add = [](std::vector<std::string>& list, const std::string& name) {
      if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    };
    for (const std::string& b : t.path.bodies)
      b == "world" ? void(to_world = true) : add(bodies, b);
    for (const BodyScene& b : reader.robot.bodies)
      for (const std::string& j : t.path.joints)
        if ((b.joint.name.empty() ? b.name : b.joint.name) == j) add(trees, root_of(b.name));
    if (t.path.joints.empty() && bodies.empty()) return "it moves nothing";
    if (t.path.joints.empty() && bodies.size() == 1 && !to_world)
      return "both its ends are on one body";
    if (t.path.joints.empty() && bodies.size() <= 2) return "";
    for (const std::string& b : bodies) add(trees, root_of(b));
    return trees.size() > 1 ? "it joins trees over more than two bodies" : "";
  }

  void put(const Element& e, CableScene cable, const std::string& suffix) {
    cable.cable.name += suffix;
    reader.robot.cables.push_back(std::move(cable));
    reader.robot.cable_lines.push_back({e.file(), e.line()});
  }

  void add_limits(const Element& e, const Styled& s, const TendonPart& t) {
    if (!reader.is_limited(s, "limited", "range")) return;
    const auto range = *s.pair("range");
    if (!(range[0] < range[1])) throw s.error("range", "expected lower < upper");
    CableScene longest = t.path;
    longest.cable.length = range[1];
    longest.length = Constant{range[1]};
    put(e, longest, " longest");
    if (t.path.cable.points.empty()) {
      CableScene shortest = t.reversed();
      shortest.cable.length = -range[0];
      shortest.length = Constant{-range[0]};
      put(e, shortest, " shortest");
    } else if (range[0] > 0) {
      reader.unused(e, "range", "only the longest length of a spatial tendon is kept");
    }
  }

  static CableScene spring(CableScene c, double stiffness, double damping, double rest,
                           bool both_ways) {
    c.cable.stretches = true;
    c.cable.stiffness = stiffness;
    c.cable.damping = damping;
    c.cable.length = rest;
    c.length = Constant{rest};
    if (both_ways) c.cable.lower = -infinity;
    return c;
  }

  void add_spring(const Element& e, const Styled& s, const TendonPart& t) {
    const double stiffness = s.number("stiffness").value_or(0);
    const double damping = s.number("damping").value_or(0);
    if (stiffness < 0) throw s.error("stiffness", "expected a number >= 0");
    if (damping < 0) throw s.error("damping", "expected a number >= 0");
    auto rest = s.numbers("springlength", {-1, -1});
    if (const auto* given = s.holder("springlength");
        given && given->numbers("springlength", 1, 2)->size() == 1)
      rest[1] = rest[0];
    if (rest[0] == -1) rest[0] = t.start;
    if (rest[1] == -1) rest[1] = rest[0];
    if (rest[0] > rest[1]) throw s.error("springlength", "expected lower <= upper");
    if (rest[0] == rest[1]) {
      if (stiffness > 0 || damping > 0)
        put(e, spring(t.path, stiffness, damping, rest[0], true), " spring");
      return;
    }
    if (damping > 0) put(e, spring(t.path, 0, damping, 0, true), " damper");
    if (!(stiffness > 0)) return;
    put(e, spring(t.path, stiffness, 0, rest[1], false), " spring");
    if (t.path.cable.points.empty())
      put(e, spring(t.reversed(), stiffness, 0, -rest[0], false), " spring back");
    else if (rest[0] > 0)
      reader.unused(e, "springlength",
                    "a spatial tendon's spring pulls beyond its longest length "
                    "and does not push below its shortest");
  }

  void read(const Element& e) {
    e.mark();
    ++count;
    const Styled s = reader.defaults.styled(e, "");
    TendonPart t;
    t.path.cable.name = reader.new_name(reader.tendon_names, e, fmt::format("tendon{}", count));
    read_path(e, t);
    if (const auto name = e.text("name"))
      reader.tendon_of[*name] = static_cast<int>(reader.tendons.size());
    for (const char* word : {"width", "group"}) (void)s.text(word);  // of what is seen
    if (t.why.empty()) {
      add_limits(e, s, t);
      add_spring(e, s, t);
    } else {
      for (const char* word : {"range", "limited", "stiffness", "damping", "springlength"})
        (void)s.text(word);
      reader.unused(e, nullptr, t.why);
    }
    reader.tendons.push_back(std::move(t));
  }
};

}  // namespace

CableScene TendonPart::reversed() const {
  CableScene back = path;
  for (GapTerm& term : back.cable.pulleys) term.gap = -term.gap;
  return back;
}

void Reader::read_tendons() {
  Tendons all{*this};
  for (const Element& e : sources.contents("tendon"))
    if (e.name() == "fixed" || e.name() == "spatial") all.read(e);
}

}  // namespace saltus::mjcf
