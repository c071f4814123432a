// Bodies, joints, frames and shapes of a scene.
#include <fmt/format.h>

#include <cmath>

#include "saltus/geometry/hull.h"
#include "saltus/lie/so3.h"
#include "saltus/model/validate.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

Vec3 to_vec3(const std::vector<double>& x) { return {x[0], x[1], x[2]}; }

void read_axis(Fields& f, Vec3& axis) {
  f.vec3("axis", axis, "", "direction in the joint's frame; need not be a unit vector");
  if (f.writing_schema()) return;
  if (axis.norm() < 1e-12) throw f.error("axis", "expected a direction, got zero");
  axis.normalize();
}

Joint read_kind(Fields& f) {
  Joint joint = Fixed{};
  const auto axis_of = [&](auto kind) {
    return [&joint, kind](Fields& g) {
      auto j = kind;
      read_axis(g, j.axis);
      joint = j;
    };
  };
  const auto plain = [&](auto kind) { return [&joint, kind](Fields&) { joint = kind; }; };
  f.forms("type", {{"fixed", plain(Fixed{})},
                   {"revolute", axis_of(Revolute{})},
                   {"prismatic", axis_of(Prismatic{})},
                   {"planar", plain(Planar{})},
                   {"spherical", plain(Spherical{})},
                   {"floating", plain(Floating{})},
                   {"carrier", plain(Carrier{})}});
  return joint;
}

void read_sliding(Fields& f, JointDof& dof) {
  double sliding = dof.friction;
  f.number("friction_dynamic", sliding, "",
           "dry friction while the joint slides [N m] or [N], at most friction; default: as that",
           not_negative);
  if (f.writing_schema() || !f.has("friction_dynamic")) return;
  try {
    dof.dynamic = dynamic_share({{dof.friction, sliding}});
  } catch (const InputError& e) { throw f.error(e.path(), e.message()); }
}

// Springs, limits, friction and motion of a joint whose kind is known.
void read_dofs(Fields& f, JointSpec& joint, std::optional<Signal>& prescribed) {
  // Lengths and angles by the joint's kind; a schema knows no kind yet.
  const char* unit = f.writing_schema()                              ? ""
                     : std::holds_alternative<Revolute>(joint.kind)  ? "rad"
                     : std::holds_alternative<Bend>(joint.kind)      ? "rad"
                     : std::holds_alternative<Prismatic>(joint.kind) ? "m"
                                                                     : "";
  JointDof dof;
  f.number("armature", dof.armature, "", "rotor inertia at the joint [kg m^2] or [kg]",
           not_negative);
  f.number("stiffness", dof.stiffness, "", "[N m/rad] or [N/m]", not_negative);
  f.number("rest", dof.rest, unit, "the spring's zero [rad] or [m]");
  f.number("damping", dof.damping, "", "[N m s/rad] or [N s/m]", not_negative);
  f.number("friction", dof.friction, "", "dry friction [N m] or [N]", not_negative);
  read_sliding(f, dof);
  std::vector<double> limits;
  f.number_or_list("limits", limits, unit, "lower and upper limit [rad] or [m]", 2, 2);
  if (limits.size() == 2) {
    dof.lower = limits[0];
    dof.upper = limits[1];
    if (!(dof.lower < dof.upper)) throw f.error("limits", "expected lower < upper");
  }
  read_signal(f, "prescribed", prescribed, "the coordinate as a function of time");
  dof.prescribed = prescribed.has_value();
  if (f.writing_schema()) return;
  const bool special = dof.armature > 0 || dof.stiffness > 0 || dof.damping > 0 ||
                       dof.friction > 0 || !limits.empty() || dof.prescribed;
  if (!special) return;
  if (!has_scalar_coordinates(joint.kind) || nv_of(joint.kind) == 0)
    throw f.error("", fmt::format("a {} joint takes no springs, limits, friction or motion",
                                  name_of(joint.kind)));
  if (dof.prescribed && nv_of(joint.kind) != 1)
    throw f.error("prescribed", "expected a joint with one coordinate");
  joint.dofs = {dof};
}

ConvexHull read_hull(Fields& f) {
  std::vector<double> x;
  f.required().number_or_list("vertices", x, "m", "x, y, z of one vertex after the other", 12,
                              1000000);
  if (f.writing_schema()) return {};
  if (x.size() % 3 != 0)
    throw f.error("vertices",
                  fmt::format("expected three numbers a vertex, got {} in all", x.size()));
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < x.size(); i += 3) points.emplace_back(x[i], x[i + 1], x[i + 2]);
  try {
    return convex_hull(points);
  } catch (const InputError& e) { throw f.error("vertices", e.what()); }
}

void read_joint(Fields& f, BodyScene& body) {
  JointSpec& joint = body.joint;
  joint.kind = read_kind(f);
  f.text("parent", joint.parent, "the parent's name, or world (default)");
  f.text("name", joint.name, "default: the body's name");
  read_frame(f, "at", joint.placement, "the joint's frame in the parent");
  read_frame(f, "in_body", joint.in_body, "the joint's frame in this body");
  f.boolean("cut", joint.cut, "keep this joint by bilateral constraints (coordinates: as-marked)");
  read_dofs(f, joint, body.prescribed);
}

void read_inertia(Fields& f, RigidInertia& inertia) {
  f.required().number("mass", inertia.mass, "kg", "", not_negative);
  f.vec3("com", inertia.com, "m", "centre of mass in the body's frame");
  std::vector<double> J;
  f.number_or_list("inertia", J, "",
                   "about the centre of mass [kg m^2]: xx, yy, zz or xx, yy, zz, "
                   "xy, xz, yz",
                   3, 6);
  constexpr double most = 1e100;  // its products still are numbers
  if (!f.writing_schema() && inertia.mass > most)
    throw f.error("mass", fmt::format("expected at most {:g} kg, got {:g}", most, inertia.mass));
  const bool solid = f.object("solid", "inertia of a homogeneous solid", [&](Fields& g) {
    g.forms("shape", {{"box",
                       [&](Fields& h) {
                         Vec3 size = Vec3::Zero();
                         h.required().vec3("size", size, "m", "edge lengths");
                         inertia.about_com = solid_box(inertia.mass, size);
                       }},
                      {"sphere",
                       [&](Fields& h) {
                         double radius = 0;
                         h.required().number("radius", radius, "m", "", positive);
                         inertia.about_com = solid_sphere(inertia.mass, radius);
                       }},
                      {"ellipsoid",
                       [&](Fields& h) {
                         Vec3 a = Vec3::Zero();
                         h.required().vec3("semi_axes", a, "m", "along x, y, z");
                         if (!h.writing_schema() && a.minCoeff() <= 0)
                           throw h.error("semi_axes", "expected positive lengths");
                         inertia.about_com = solid_ellipsoid(inertia.mass, a);
                       }},
                      {"hull",
                       [&](Fields& h) {
                         const ConvexHull hull = read_hull(h);
                         if (h.writing_schema()) return;
                         if (f.has("com"))
                           throw f.error("com", "expected either com or a solid hull, got both");
                         inertia = solid_hull(inertia.mass, *hull.hull);
                       }},
                      {"cylinder", [&](Fields& h) {
                         double radius = 0, length = 0;
                         h.required().number("radius", radius, "m", "", positive);
                         h.required().number("length", length, "m", "along x", positive);
                         inertia.about_com = solid_cylinder(inertia.mass, radius, length);
                       }}});
  });
  if (f.writing_schema() || J.empty()) return;
  if (solid) throw f.error("inertia", "expected either inertia or solid, got both");
  if (J.size() != 3 && J.size() != 6) throw f.error("inertia", "expected 3 or 6 numbers");
  inertia.about_com = to_vec3(J).asDiagonal();
  if (J.size() == 6) {
    inertia.about_com(0, 1) = inertia.about_com(1, 0) = J[3];
    inertia.about_com(0, 2) = inertia.about_com(2, 0) = J[4];
    inertia.about_com(1, 2) = inertia.about_com(2, 1) = J[5];
  }
}

}  // namespace

void read_frame(Fields& f, const char* key, SE3& frame, const char* about) {
  f.object(key, about, [&](Fields& g) {
    g.vec3("position", frame.r, "m", "");
    std::vector<double> rpy, quaternion, matrix;
    g.number_or_list("rpy", rpy, "rad", "roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll)", 3, 3);
    g.number_or_list("quaternion", quaternion, "", "w, x, y, z", 4, 4);
    g.number_or_list("matrix", matrix, "", "rotation matrix, row after row", 9, 9);
    if (!rpy.empty() && !quaternion.empty())
      throw g.error("rpy", "expected either rpy or quaternion, got both");
    if (!matrix.empty() && (!rpy.empty() || !quaternion.empty()))
      throw g.error("matrix", "expected either matrix, rpy or quaternion, got two");
    if (!rpy.empty())
      frame.R = exp_so3(rpy[2] * Vec3::UnitZ()) * exp_so3(rpy[1] * Vec3::UnitY()) *
                exp_so3(rpy[0] * Vec3::UnitX());
    if (!quaternion.empty()) {
      const Quat p(quaternion[0], quaternion[1], quaternion[2], quaternion[3]);
      if (std::abs(p.norm() - 1) > 1e-3)
        throw g.error("quaternion", "expected a unit quaternion w, x, y, z");
      frame.R = p.normalized().toRotationMatrix();
    }
    if (!matrix.empty()) {
      frame.R << matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5], matrix[6],
          matrix[7], matrix[8];
      if ((frame.R.transpose() * frame.R - Mat3::Identity()).norm() > 1e-5 ||
          frame.R.determinant() < 0)
        throw g.error("matrix", "expected a rotation matrix");
    }
  });
}

Joint read_joint_kind(Fields& f) { return read_kind(f); }

void read_shape(Fields& f, ShapeScene& s) {
  f.text("name", s.name, "default: the body's name");
  read_frame(f, "at", s.frame, "the shape's frame in the body");
  f.vec3("surface_velocity", s.surface.velocity, "m/s",
         "of the surface against the shape, in its frame: a conveyor belt");
  f.forms("type", {{"sphere",
                    [&](Fields& g) {
                      Sphere x;
                      g.required().number("radius", x.radius, "m", "", positive);
                      s.shape = x;
                    }},
                   {"capsule",
                    [&](Fields& g) {
                      Capsule x;
                      g.required().number("radius", x.radius, "m", "of the caps", positive);
                      g.required().number("half_length", x.half_length, "m",
                                          "centre to cap's centre, axis x", not_negative);
                      s.shape = x;
                    }},
                   {"box",
                    [&](Fields& g) {
                      Vec3 size = Vec3::Zero();
                      g.required().vec3("size", size, "m", "edge lengths");
                      if (!g.writing_schema() && size.minCoeff() <= 0)
                        throw g.error("size", "expected positive edge lengths");
                      s.shape = Box{0.5 * size};
                    }},
                   {"cylinder",
                    [&](Fields& g) {
                      Cylinder x;
                      g.required().number("radius", x.radius, "m", "", positive);
                      g.required().number("half_length", x.half_length, "m",
                                          "centre to an end, axis x", positive);
                      s.shape = x;
                    }},
                   {"ellipsoid",
                    [&](Fields& g) {
                      Ellipsoid x;
                      g.required().vec3("semi_axes", x.semi_axes, "m", "along x, y, z");
                      if (!g.writing_schema() && x.semi_axes.minCoeff() <= 0)
                        throw g.error("semi_axes", "expected positive lengths");
                      s.shape = x;
                    }},
                   {"point", [&](Fields&) { s.shape = Sphere{}; }},
                   {"hull", [&](Fields& g) { s.shape = read_hull(g); }},
                   {"half-space",
                    [&](Fields& g) {
                      s.shape = HalfSpace{};
                      read_friction_map(g, s.surface);
                    }},
                   {"height-field",
                    [&](Fields& g) {
                      s.shape = read_height_field(g);
                      read_friction_map(g, s.surface);
                    }},
                   {"mesh", [&](Fields& g) { s.shape = read_mesh_shape(g); }},
                   {"peg", [&](Fields& g) {
                      Peg x;
                      g.required().number("radius", x.radius, "m",
                                          "of an unbounded cylinder, axis z", positive);
                      s.shape = x;
                    }}});
}

void read_loop(Fields& f, LoopScene& loop) {
  JointSpec& joint = loop.joint;
  f.required().text("name", joint.name, "of the joint that closes the loop");
  std::vector<std::string> between;
  f.required().texts("between", between, "two bodies, or a body and world");
  joint.kind = read_kind(f);
  read_frame(f, "at", joint.placement, "the joint's frame in the first body");
  read_frame(f, "in_body", joint.in_body, "the joint's frame in the second body");
  read_dofs(f, joint, loop.prescribed);
  if (f.writing_schema()) return;
  if (between.size() != 2)
    throw f.error("between", fmt::format("expected two names, got {}", between.size()));
  joint.parent = between[0];
  loop.child = between[1];
}

void read_bend(Fields& f, BendScene& bend) {
  BendSpec& b = bend.spec;
  f.required().text("name", b.name, "of its angle; its stations are NAME.1 ... and NAME.tip");
  f.text("parent", b.parent, "the parent's name, or world (default)");
  read_frame(f, "at", b.placement, "its base in the parent; it leaves that along x");
  f.vec3("axis", b.axis, "", "that it bends about, across x; need not be a unit vector");
  f.required().number("length", b.length, "m", "", positive);
  f.required().number("mass", b.mass, "kg", "of all of it, evenly along its length", positive);
  double radius = 0;
  f.number("radius", radius, "m", "of a round section, for the inertia of its slices",
           not_negative);
  b.section = round_section(radius);
  f.integer("stations", b.stations, "Gauss points that carry its inertia; default 4", 1);
  JointSpec joint;
  joint.kind = Bend{};
  read_dofs(f, joint, bend.prescribed);
  if (!joint.dofs.empty()) b.dof = joint.dofs.front();
  f.list("shapes", "what touches, at every station and the tip", [&](Fields& g) {
    ShapeScene s;
    s.name = b.name;
    read_shape(g, s);
    bend.shapes.push_back(s);
  });
}

void read_body(Fields& f, BodyScene& body) {
  f.required().text("name", body.name, "");
  read_inertia(f, body.inertia);
  read_added_mass(f, body.added);
  f.required().object("joint", "to the parent", [&](Fields& g) { read_joint(g, body); });
  f.list("shapes", "what touches", [&](Fields& g) {
    ShapeScene s;
    s.name = body.name;
    s.body = body.name;
    read_shape(g, s);
    body.shapes.push_back(s);
  });
}

}  // namespace saltus
