// Flows and wings of a scene.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/forces/flow.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

VortexStreet read_street(Fields& f) {
  VortexStreet x;
  f.vec3("stream", x.stream, "m/s", "");
  f.required().number("period", x.period, "m", "between vortices of a row", positive);
  f.number("carried", x.carried, "m/s", "speed of the rows along x");
  f.number("core", x.core, "", "keeps the speed at a vortex finite; default 0.1", positive);
  f.required().list("rows", "of equal vortices along x", [&](Fields& g) {
    VortexRow row;
    g.number("x", row.x, "m", "of one of them at t = 0");
    g.number("y", row.y, "m", "");
    g.required().number("circulation", row.circulation, "m^2/s", "counter-clockwise");
    x.rows.push_back(row);
  });
  return x;
}

WaveFlow read_wave(Fields& f) {
  WaveFlow x;
  double length = 1, gravity = 9.81;
  f.vec3("stream", x.stream, "m/s", "");
  f.required().number("amplitude", x.amplitude, "m", "half of trough to crest", not_negative);
  f.required().number("length", length, "m", "of a wave", positive);
  f.vec3("heading", x.heading, "", "default x");
  f.vec3("up", x.up, "", "default z");
  f.number("gravity", gravity, "m/s^2", "default 9.81", positive);
  f.number("phase", x.phase, "rad", "");
  f.number("level", x.level, "m", "of the water at rest");
  if (f.writing_schema()) return x;
  try {
    return airy_wave(x, length, gravity);
  } catch (const InputError& e) { throw f.error(e.path(), e.message()); }
}

}  // namespace

void read_flow(Fields& f, std::shared_ptr<const Flow>& flow) {
  const auto set = [&](const Fields& g, Flow x) {
    if (!g.writing_schema()) flow = std::make_shared<const Flow>(std::move(x));
  };
  f.forms("type", {{"uniform",
                    [&](Fields& g) {
                      LinearFlow x;
                      g.required().vec3("velocity", x.velocity, "m/s", "");
                      set(g, x);
                    }},
                   {"linear",
                    [&](Fields& g) {
                      LinearFlow x;
                      std::vector<std::vector<double>> rows;
                      g.vec3("velocity", x.velocity, "m/s", "at the point");
                      g.vec3("point", x.point, "m", "");
                      g.required().rows("gradient", rows, "", "dU_i/dx_j [1/s], 3 rows of 3", 3);
                      if (g.writing_schema()) return;
                      if (rows.size() != 3 || rows[0].size() != 3)
                        throw g.error("gradient", "expected 3 rows of 3 numbers");
                      for (int i = 0; i < 9; ++i) x.gradient(i / 3, i % 3) = rows[i / 3][i % 3];
                      set(g, x);
                    }},
                   {"wave", [&](Fields& g) { set(g, read_wave(g)); }},
                   {"street", [&](Fields& g) { set(g, read_street(g)); }}});
}

namespace {

void read_wing_coefficients(Fields& f, WingCoefficients& c) {
  std::vector<double> lift, drag;
  f.number_or_list("lift", lift, "", "l0 .. l3 of l0 + l1 sin(l2 a - l3), a in degrees", 4, 4);
  f.number_or_list("drag", drag, "", "d0 .. d3 of d0 - d1 cos(d2 a - d3)", 4, 4);
  for (std::size_t i = 0; i < lift.size(); ++i) c.lift[i] = lift[i];
  for (std::size_t i = 0; i < drag.size(); ++i) c.drag[i] = drag[i];
}

// Of a thin plate, about the middle of its chord: density pi c^2/4 across it a length of the span,
// and density pi c^4/128 about the span.
Mat6 plate_added_mass(const Wing& w) {
  const double c2 = w.width * w.width, k = w.density * std::numbers::pi * w.length;
  const Vec3 n = w.span.cross(w.chord);
  Vec6 across = Vec6::Zero(), about = Vec6::Zero();
  const Vec3 middle = w.root + 0.5 * (w.length * w.span + w.width * w.chord);
  across.head<3>() = n;
  across.tail<3>() = middle.cross(n);
  about.tail<3>() = w.span;
  Vec6 tilt = Vec6::Zero();  // about the chord through the middle: strips at l^2/12
  tilt.tail<3>() = w.chord;
  return k *
         (c2 / 4 *
              (across * across.transpose() + w.length * w.length / 12 * (tilt * tilt.transpose())) +
          c2 * c2 / 128 * (about * about.transpose()));
}

}  // namespace

void read_wing(Fields& f, FluidScene& s) {
  s.path = f.path();
  Wing w;
  std::string body;
  f.required().text("body", body, "");
  f.vec3("root", w.root, "m", "where its pitch axis begins, in the body");
  f.vec3("span", w.span, "", "direction of that axis; default x");
  f.vec3("chord", w.chord, "", "from the axis to the trailing edge; default -z");
  f.required().number("length", w.length, "m", "of the span", positive);
  f.required().number("width", w.width, "m", "of the chord", positive);
  f.number("density", w.density, "", "of the fluid [kg/m^3]; default 1.225", positive);
  f.object("coefficients", "of lift and drag; default Dickinson's",
           [&](Fields& g) { read_wing_coefficients(g, w.coefficients); });
  f.number("pressure", w.pressure, "", "centre of pressure behind the axis, of the chord; 0.4");
  f.number("damping", w.damping, "", "C of the couple C/8 rho c^4 w |w| a length; default 5",
           not_negative);
  f.number("rotational", w.rotational, "", "C of the force C rho c^2 |v| w a length; default 0",
           not_negative);
  bool added = false;
  f.boolean("added_mass", added, "of a thin plate, in the body's inertia; default false");
  f.integer("blades", w.blades, "strips of the span; default 4", 1);
  f.object("flow", "of the fluid; default: at rest",
           [&](Fields& g) { read_flow(g, s.fluid.flow); });
  if (f.writing_schema()) return;
  if (!(w.span.norm() > 1e-12) || !(w.chord.norm() > 1e-12) ||
      std::abs(w.span.normalized().dot(w.chord.normalized())) > 1e-9)
    throw f.error("chord", "expected two directions across each other, span and chord");
  w.span.normalize();
  w.chord.normalize();
  s.bodies = {body};
  s.fluid.centre = w.root + 0.5 * w.length * w.span;
  if (added) s.fluid.added = plate_added_mass(w);
  s.fluid.wing = std::make_shared<const Wing>(w);
}

}  // namespace saltus
