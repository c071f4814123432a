// The tree of bodies, with frames undone.
#include <fmt/format.h>

#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

void Reader::gather(const Element& e, const SE3& frame, const std::string& childclass, int depth,
                    std::vector<Placed>& parts) const {
  if (depth > deepest) throw e.error(fmt::format("nested more than {} deep", deepest));
  for (const Element& c : sources.children(e)) {
    if (c.name() != "frame") {
      parts.push_back({c, frame, childclass});
      continue;
    }
    c.mark();
    (void)c.text("name");
    std::string inner = childclass;
    if (const auto given = c.text("childclass")) {
      defaults.check_class(c, "childclass", *given);
      inner = *given;
    }
    gather(c, frame * read_pose(Styled(c), compiler), inner, depth + 1, parts);
  }
}

void Reader::read_world() {
  bodies.push_back({.name = "world"});
  body_of["world"] = 0;
  body_names.insert("world");
  for (const Element& section : sources.sections("worldbody")) {
    std::string childclass;
    if (const auto given = section.text("childclass")) {
      defaults.check_class(section, "childclass", *given);
      childclass = *given;
    }
    std::vector<Placed> parts;
    gather(section, SE3(), childclass, 1, parts);
    RigidInertia none;
    add_geoms(0, parts, false, none);
    read_sites(0, parts);
    for (const Placed& p : parts)
      if (p.element.name() == "body") read_body(p.element, 0, p.frame, p.childclass, 1);
  }
}

void Reader::read_body(const Element& e, int parent, const SE3& frame, std::string childclass,
                       int depth) {
  if (depth > deepest) throw e.error(fmt::format("nested more than {} deep", deepest));
  e.mark();
  const int self = static_cast<int>(bodies.size());
  BodyPart body{
      .name = new_name(body_names, e, fmt::format("body{}", self)), .element = e, .parent = parent};
  body_of[e.text("name").value_or(body.name)] = self;
  if (const auto given = e.text("childclass")) {
    defaults.check_class(e, "childclass", *given);
    childclass = *given;
  }
  const SE3 X = frame * read_pose(Styled(e), compiler);
  body.X = bodies[parent].X * X;
  bodies.push_back(body);
  if (e.boolean("mocap").value_or(false))
    unused(e, "mocap", "the body stays where the file draws it");

  std::vector<Placed> parts;
  gather(e, SE3(), childclass, depth, parts);
  add_joints(self, parts, X);
  bodies[self].weld = bodies[self].moves ? self : bodies[parent].weld;

  const Placed* inertial = nullptr;
  for (const Placed& p : parts)
    if (p.element.name() == "inertial") inertial = &p;
  const bool from_geoms = compiler.from_geom == Compiler::FromGeom::yes ||
                          (compiler.from_geom == Compiler::FromGeom::where_silent && !inertial);
  RigidInertia inertia;
  add_geoms(self, parts, from_geoms, inertia);
  if (inertial && !from_geoms) {
    inertial->element.mark();
    add_inertia(inertia, read_inertial(inertial->element), inertial->frame);
  }
  robot.bodies[bodies[self].index].inertia = bounded(inertial ? inertial->element : e, inertia);
  read_sites(self, parts);
  for (const Placed& p : parts)
    if (p.element.name() == "body") read_body(p.element, self, p.frame, p.childclass, depth + 1);
}

void Reader::read_sites(int body, const std::vector<Placed>& parts) {
  int count = 0;
  for (const Placed& p : parts) {
    if (p.element.name() != "site") continue;
    p.element.mark();
    const Styled site = defaults.styled(p.element, p.childclass);
    RobotSite s;
    s.body = bodies[body].name;
    s.frame = p.frame * read_pose(site, compiler);
    if (const Element* e = site.holder("fromto")) {
      const auto x = *e->numbers("fromto", 6, 6);
      const Vec3 from(x[0], x[1], x[2]), to(x[3], x[4], x[5]);
      if (!((from - to).norm() > 1e-10)) throw e->error("fromto", "expected two points, got one");
      s.frame = p.frame * SE3{turn_z_to(from - to), 0.5 * (from + to)};
    }
    s.name = p.element.text("name").value_or(fmt::format("{}.site{}", s.body, ++count));
    if (!site_of.emplace(s.name, std::pair(body, s.frame)).second)
      throw p.element.error("name", fmt::format("the name '{}' is taken", s.name));
    robot.sites.push_back(s);
  }
}

}  // namespace saltus::mjcf
