// Cables and the computed-torque controller of a scene.
#include <fmt/format.h>

#include "saltus/base/error.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_cable(Fields& f, CableScene& s) {
  Cable& c = s.cable;
  f.required().text("name", c.name, "");
  f.list("through", "points that it runs through, straight from one to the next", [&](Fields& g) {
    CablePoint point;
    std::string body = "world";
    g.text("body", body, "default: the world");
    g.vec3("point", point.point, "m", "in the body's frame");
    c.points.push_back(point);
    s.bodies.push_back(body);
  });
  f.list("pulleys", "joints that wind it up or let it out", [&](Fields& g) {
    GapTerm term;
    std::string joint;
    g.required().text("joint", joint, "name of a joint coordinate");
    g.required().number("ratio", term.gap, "",
                        "length per unit of the coordinate: a radius [m], with its sign; of a "
                        "sliding joint [-]");
    c.pulleys.push_back(term);
    s.joints.push_back(joint);
  });
  read_signal(f, "length", s.length, "longest, or of its spring the natural length [m]; default 0");
  f.number("stiffness", c.stiffness, "", "of the spring in it [N/m]; without: no stretch",
           not_negative);
  f.number("damping", c.damping, "", "[N s/m]", not_negative);
  read_signal(f, "pull", s.pull, "of a motor, added to its spring's tension [N]");
  const bool limited = f.has("limit");
  f.number("limit", c.upper, "N", "largest tension", positive);
  bool both_ways = false;
  f.boolean("both_ways", both_ways, "it pushes as well: a rod or a belt; default false");
  f.number("restitution", c.restitution, "", "as it tightens, without stretch", {0, 1, false});
  if (f.writing_schema()) return;
  c.stretches = c.stiffness > 0 || c.damping > 0 || s.pull.has_value();
  const auto* constant = s.length ? std::get_if<Constant>(&*s.length) : nullptr;
  if (constant) c.length = constant->value;
  c.driven = s.pull.has_value() || limited || (s.length && !constant);
  if (c.driven && !c.stretches)
    throw f.error(limited ? "limit" : "length",
                  "expected a stiffness or a pull: a cable that does not stretch has a constant "
                  "length and no limit");
  if (both_ways && !c.stretches)
    throw f.error("both_ways", "expected a stiffness or a pull: without stretch it is a joint");
  if (both_ways) c.lower = -c.upper;
}

namespace {

void read_followed(Fields& f, Followed& one, std::string& name) {
  std::string joint, body;
  f.text("joint", joint, "name of a joint coordinate, or");
  f.text("body", body, "a body, a point of which is followed");
  f.vec3("point", one.point, "m", "in the body's frame");
  std::optional<Signal> reference;
  read_signal(f, "reference", reference, "of the joint [rad] or [m]");
  read_signal(f, "x", one.r[0], "of the point, inertial [m]; what is not given is free");
  read_signal(f, "y", one.r[1], "");
  read_signal(f, "z", one.r[2], "");
  f.boolean("upright", one.upright, "the body keeps its orientation; default false");
  f.number("kp", one.kp, "", "[1/s^2]", not_negative);
  f.number("kd", one.kd, "", "[1/s]", not_negative);
  if (f.writing_schema()) return;
  const bool any_axis = one.r[0] || one.r[1] || one.r[2] || one.upright;
  if (joint.empty() == body.empty()) throw f.error("", "expected a joint or a body");
  if (!joint.empty() && (!reference || any_axis))
    throw f.error("reference", "expected the reference of the joint, and nothing of a body");
  if (!body.empty() && (reference || !any_axis))
    throw f.error("", "expected x, y, z or upright of the body");
  if (reference) one.r[0] = reference;
  name = joint.empty() ? body : joint;
  one.joint = joint.empty() ? CoordinateIndex() : CoordinateIndex(0);  // <- build
}

}  // namespace

void read_computed_torque(Fields& f, ComputedTorqueScene& s) {
  ComputedTorque& c = s.settings;
  s.path = f.path();
  f.texts("joints", s.joints, "that are driven, patterns; default: those with motors");
  f.number("limit", s.limit, "",
           "largest |torque| of every joint [N m] or [N], besides its motor's", positive);
  f.number("rate", c.rate, "Hz", "of the controller", positive);
  f.boolean("only_standing", c.only_standing, "no torques while no foot touches; default false");
  f.required().list("follow", "joints and points with their references", [&](Fields& g) {
    Followed one;
    std::string name;
    read_followed(g, one, name);
    if (g.writing_schema()) return;
    c.follow.push_back(one);
    s.follow.push_back(name);
  });
  f.list("feet", "points that are held while their bodies touch something", [&](Fields& g) {
    ControlledFoot foot;
    std::string body;
    g.required().text("body", body, "");
    g.vec3("point", foot.point, "m", "in the body's frame");
    g.number("radius", foot.radius, "m", "of a ball: its lowest point stands", not_negative);
    c.feet.push_back(foot);
    s.feet.push_back(body);
  });
}

}  // namespace saltus
