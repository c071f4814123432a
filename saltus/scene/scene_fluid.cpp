// Fluids and wheels of a scene.
#include <fmt/format.h>

#include "saltus/analysis/connection.h"
#include "saltus/forces/added_mass.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_wheel(Fields& f, WheelScene& w) {
  f.required().text("name", w.wheel.name, "");
  f.required().text("body", w.body, "the disc, on a joint of its own");
  f.required().number("radius", w.wheel.radius, "m", "", positive);
  f.vec3("centre", w.wheel.centre, "m", "in the body's frame");
  f.vec3("axis", w.wheel.axis, "", "that it turns about, in the body's frame; default y");
  f.vec3("normal", w.wheel.normal, "", "of the plane, in the world; default z");
  f.number("height", w.wheel.height, "m", "of the plane along its normal");
  f.boolean("sideways", w.wheel.sideways, "free to slide across its heading; default false");
  f.boolean("pressed", w.wheel.pressed, "kept on the plane, both ways; default false");
}

namespace {

// 6 numbers of a diagonal or the 36 of a matrix, about the body's frame.
void read_matrix(Fields& f, Mat6& K) {
  std::vector<double> x;
  f.number_or_list("matrix", x, "",
                   "Stokes resistance about the body's frame: 6 numbers (x, y, z [N s/m], about x, "
                   "y, z [N m s]) or the 36 of a symmetric matrix, row by row",
                   6, 36);
  if (f.writing_schema() || x.empty()) return;
  if (x.size() != 6 && x.size() != 36)
    throw f.error("matrix", fmt::format("expected 6 or 36 numbers, got {}", x.size()));
  K += x.size() == 6 ? Mat6(Eigen::Map<const Vec6>(x.data()).asDiagonal())
                     : Mat6(Eigen::Map<const Mat6>(x.data()));
}

// Of a slender link along x.
void read_slender(Fields& f, Mat6& K) {
  double length = 1, tangential = 1, normal = 2;
  Vec3 middle = Vec3::Zero();
  f.number("length", length, "m", "", positive);
  f.number("tangential", tangential, "", "force per length and speed along it [N s/m^2]", positive);
  f.number("normal", normal, "", "and across it [N s/m^2]", positive);
  f.vec3("middle", middle, "m", "of the link, in the body's frame");
  if (!f.writing_schema()) K += slender_resistance(length, tangential, normal, middle);
}

// 2 or 3 numbers: along, across (y and z), or along, y, z.
void read_three(Fields& f, const char* key, const char* about, Vec3& x) {
  std::vector<double> list;
  f.number_or_list(key, list, "", about, 2, 3, not_negative);
  if (list.size() >= 2) x = {list[0], list[1], list.back()};
}

// Per length of a slender body.
void read_section(Fields& f, double density, FluidSection& s) {
  std::vector<double> ellipse;
  f.number_or_list("ellipse", ellipse, "m",
                   "thickness along y and height along z of its section: added mass rho pi/4 (0, "
                   "height^2, thickness^2) and what it displaces",
                   2, 2, positive);
  if (ellipse.size() == 2) s = elliptic_section(density, ellipse[0], ellipse[1]);
  read_three(f, "resistance", "linear: along, y and z (or across) [N s/m^2]", s.resistance);
  read_three(f, "drag", "quadratic, c |v| v: along, y and z (or across) [N s^2/m^3]", s.drag);
  read_three(f, "added_mass", "along, y and z (or across) [kg/m]", s.added);
  f.number("displaced", s.displaced, "", "mass of the fluid in its place [kg/m]", not_negative);
}

void read_along(Fields& f, double density, FluidScene& s) {
  FluidSection section;
  read_section(f, density, section);
  f.number("length", s.length, "m", "of each body, along its x; rods know theirs", positive);
  f.vec3("middle", s.middle, "m", "of that length, in the bodies");
  f.integer("points", s.points, "sections of a body at Gauss points, at most 64; default 2", 1);
  if (!f.writing_schema()) s.along = section;
}

void read_tail(Fields& f, FluidScene& s) {
  FluidScene::Tail tail;
  f.text("body", tail.body, "default: the tip of the last rod, or the last of the bodies");
  f.vec3("point", tail.point, "m", "where it ends, in that body");
  f.vec3("outward", tail.outward, "", "out of it along its axis; default x");
  if (f.writing_schema()) return;
  if (!(tail.outward.norm() > 1e-12)) throw f.error("outward", "expected a direction");
  tail.outward.normalize();
  s.tail = tail;
}

}  // namespace

void read_resistance(Fields& f, FluidScene& s) {
  s.path = f.path();
  f.required().texts("bodies", s.bodies, "patterns");
  read_slender(f, s.fluid.resistance);
}

void read_fluid(Fields& f, FluidScene& s) {
  s.path = f.path();
  f.texts("bodies", s.bodies, "patterns");
  f.texts("rods", s.rods, "or names of rods, for `along`");
  f.object("slender", "Stokes drag of slender links along their x",
           [&](Fields& g) { read_slender(g, s.fluid.resistance); });
  read_matrix(f, s.fluid.resistance);
  std::vector<double> c;
  f.number_or_list("quadratic", c, "",
                   "-c |v| v along x, y, z [N s^2/m^2] and about them [N m s^2], at the centre", 6,
                   6, not_negative);
  if (c.size() == 6) s.fluid.quadratic = Eigen::Map<const Vec6>(c.data());
  double density = 1000, volume = 0;
  f.number("density", density, "", "[kg/m^3]; default 1000", not_negative);
  f.number("volume", volume, "", "that each body displaces [m^3]", not_negative);
  s.fluid.lift = density * volume;
  f.vec3("centre", s.fluid.centre, "m", "of that volume, in the body's frame");
  f.object("along", "forces and added mass per length of slender bodies and rods",
           [&](Fields& g) { read_along(g, density, s); });
  f.object("tail", "where a wake leaves the body: Lighthill's force at its end",
           [&](Fields& g) { read_tail(g, s); });
  Vec3 current = Vec3::Zero();
  f.vec3("current", current, "m/s", "velocity of the fluid, in the world: a uniform flow");
  f.object("flow", "instead: a field", [&](Fields& g) { read_flow(g, s.fluid.flow); });
  f.object("surface", "of the fluid: what is above it feels none", [&](Fields& g) {
    g.number("height", s.fluid.surface.height, "m", "against gravity");
    g.required().number("half", s.fluid.surface.half, "m", "half of a section's extent", positive);
  });
  if (f.writing_schema()) return;
  if (s.bodies.empty() && s.rods.empty()) throw f.error("bodies", "expected bodies or rods");
  if (!s.rods.empty() && !s.along) throw f.error("rods", "expected `along` for rods");
  if (s.along && !s.bodies.empty() && s.length == 0)
    throw f.error("along.length", "expected the length of the bodies");
  if (s.tail && !s.along) throw f.error("tail", "expected `along`, whose added mass it sheds");
  if (current.isZero(0)) return;
  if (s.fluid.flow) throw f.error("current", "expected either a current or a flow");
  s.fluid.flow = std::make_shared<const Flow>(LinearFlow{current, Mat3::Zero(), Vec3::Zero()});
}

}  // namespace saltus
