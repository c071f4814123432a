// Fluids and wheels of a scene.
#include <fmt/format.h>

#include "saltus/analysis/connection.h"
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

}  // namespace

void read_resistance(Fields& f, FluidScene& s) {
  s.path = f.path();
  f.required().texts("bodies", s.bodies, "patterns");
  read_slender(f, s.fluid.resistance);
}

void read_fluid(Fields& f, FluidScene& s) {
  s.path = f.path();
  f.required().texts("bodies", s.bodies, "patterns");
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
  f.vec3("current", s.fluid.current, "m/s", "velocity of the fluid, in the world");
}

}  // namespace saltus
