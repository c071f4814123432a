// Gaits, added mass and what `saltus shape` looks at.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/control/shape_gait.h"
#include "saltus/forces/added_mass.h"
#include "saltus/lie/se3.h"
#include "saltus/scene/grid.h"
#include "saltus/scene/limits.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

using GaitKind = GaitScene::Kind;

void read_loop_of_points(Fields& f, GaitScene& g, GaitKind kind) {
  f.required().rows("points", g.points, "", "shapes, a number a joint each", 1);
  f.required().number("period", g.period, "s", "of one round", positive);
  if (kind == GaitKind::polygon) f.integer("cycles", g.cycles, "rounds; then it stays", 1);
  g.kind = kind;
  if (!f.writing_schema() && g.points.size() < 3)
    throw f.error("points", fmt::format("expected at least three points, got {}", g.points.size()));
  if (!f.writing_schema() && !f.afford(g.points.size() * static_cast<std::size_t>(g.cycles)))
    throw f.error("cycles", "too many points");
}

// From a CSV file: time, then a column a joint.
void read_table(Fields& f, GaitScene& g) {
  std::string file;
  f.required().file("file", file, "CSV: time [s], then a column a joint");
  g.smooth =
      f.choice("interpolation", 0, {"linear", "spline"}, "spline: at rest at both ends") == 1;
  g.kind = GaitKind::table;
  if (f.writing_schema()) return;
  const Grid grid = read_grid(file);
  if (grid.nx < 2 || grid.ny < 2)
    throw f.error("file", fmt::format("expected at least two rows of a time and a number, got {} x "
                                      "{}",
                                      grid.ny, grid.nx));
  for (int row = 0; row < grid.ny; ++row) {
    const double* x = grid.values.data() + static_cast<std::ptrdiff_t>(row) * grid.nx;
    if (row > 0 && x[0] <= g.times.back())
      throw f.error("file", fmt::format("row {}: expected ascending times", row + 1));
    g.times.push_back(x[0]);
    g.points.emplace_back(x + 1, x + grid.nx);
  }
}

}  // namespace

void read_shape_gait(Fields& f, GaitScene& g) {
  g.path = f.path();
  f.required().text("name", g.name, "");
  f.required().texts("joints", g.joints,
                     "patterns of joints, each in the model's order; of spherical ones NAME.x ...");
  f.forms("type",
          {{"serpenoid",
            [&](Fields& h) {
              h.required().number("amplitude", g.amplitude, "", "");
              h.required().number("omega", g.omega, "rad/s", "", positive);
              h.required().number("lag", g.lag, "rad", "of each joint behind the one before");
              h.number("offset", g.offset, "", "");
              g.kind = GaitKind::serpenoid;
            }},
           {"circle",
            [&](Fields& h) {
              double radius = 0;
              h.required().numbers("centre", g.centre, "", "of the two joints");
              h.required().number("radius", radius, "", "", positive);
              h.required().number("omega", g.omega, "rad/s", "", positive);
              g.cosine = {radius, 0};
              g.sine = {0, radius};
              g.kind = GaitKind::ellipse;
            }},
           {"ellipse",
            [&](Fields& h) {
              h.required().numbers("centre", g.centre, "", "a number a joint");
              h.required().numbers("cosine", g.cosine, "", "what cos(omega t) multiplies");
              h.required().numbers("sine", g.sine, "", "what sin(omega t) multiplies");
              h.required().number("omega", g.omega, "rad/s", "", positive);
              g.kind = GaitKind::ellipse;
            }},
           {"polygon", [&](Fields& h) { read_loop_of_points(h, g, GaitKind::polygon); }},
           {"spline", [&](Fields& h) { read_loop_of_points(h, g, GaitKind::spline); }},
           {"table", [&](Fields& h) { read_table(h, g); }},
           {"wave",
            [&](Fields& h) {
              h.required().number("length", g.length, "m",
                                  "of the chain, whose hinges are at equal distances", positive);
              read_curvature_wave(h, g.wave);
              g.kind = GaitKind::wave;
            }},
           {"signals", [&](Fields& h) {
              h.list("signals", "one a joint",
                     [&](Fields& k) { g.signals.push_back(read_signal_here(k)); });
              g.kind = GaitKind::signals;
            }}});
  f.number("duration", g.duration, "s", "default: one period, or the scene's end", positive);
  f.boolean("drive", g.drive, "the joints follow it in a run; else it is only looked at");
}

std::vector<Signal> gait_signals(const GaitScene& g, std::size_t joints) {
  const auto expect = [&](std::size_t got, const char* key) {
    if (got != joints)
      throw InputError(fmt::format("{}.{}", g.path, key),
                       fmt::format("expected one number a joint, {} in all, got {}", joints, got));
  };
  switch (g.kind) {
    case GaitKind::serpenoid:
      return serpenoid_wave(static_cast<int>(joints), g.amplitude, g.omega, g.lag, g.offset);
    case GaitKind::ellipse:
      expect(g.centre.size(), "centre");
      expect(g.cosine.size(), "cosine");
      expect(g.sine.size(), "sine");
      return ellipse_gait(g.centre, g.cosine, g.sine, g.omega);
    case GaitKind::polygon:
    case GaitKind::spline: expect(g.points.front().size(), "points"); break;
    case GaitKind::table: expect(g.points.front().size(), "file"); break;
    case GaitKind::signals: expect(g.signals.size(), "signals"); return g.signals;
    case GaitKind::wave:
      check_chain_wave(g, static_cast<int>(joints));
      return wave_angles(g.wave, static_cast<int>(joints), g.length);
  }
  if (g.kind == GaitKind::polygon) return polygon_gait(g.points, g.period, g.cycles);
  if (g.kind == GaitKind::spline) return spline_gait(g.points, g.period);
  return table_gait(g.times, g.points, g.smooth);
}

double gait_duration(const GaitScene& g) {
  if (g.duration > 0) return g.duration;
  switch (g.kind) {
    case GaitKind::serpenoid:
    case GaitKind::ellipse: return 2 * std::numbers::pi / g.omega;
    case GaitKind::polygon: return g.period * g.cycles;
    case GaitKind::spline: return g.period;
    case GaitKind::table: return g.times.back();
    case GaitKind::wave: return std::abs(g.wave.period);
    case GaitKind::signals: break;
  }
  return 0;
}

namespace {

void read_hold(Fields& f, HoldScene& h) {
  h.path = f.path();
  f.required().text("name", h.hold.name, "");
  f.required().text("body", h.body, "");
  f.vec3("point", h.hold.point, "m", "in the body's frame");
  f.vec3("normal", h.hold.normal, "", "in the world: it only pushes along it; default: pinned");
  f.number("friction", h.hold.friction, "", "coefficient of one that only pushes; default 1",
           positive);
  f.boolean("turning", h.hold.turning, "the body may turn there; default true");
  std::vector<std::vector<double>> during;
  f.rows("during", during, "s", "[from, to]: when it holds; default: always", 1);
  if (f.writing_schema()) return;
  for (const std::vector<double>& d : during) {
    if (d.size() != 2 || !(d[0] < d[1]) ||
        (!h.hold.during.empty() && d[0] < h.hold.during.back().second))
      throw f.error("during", "expected pairs of times [from, to], ascending");
    h.hold.during.emplace_back(d[0], d[1]);
  }
}

}  // namespace

void read_net(Fields& f, NetScene& net, std::vector<FluidScene>& fluids) {
  f.text("reference", net.reference, "the body whose motion is the net motion; default: the root");
  net.connection =
      f.choice("connection", 0, {"auto", "mechanical", "stokes", "kinematic"},
               "what gives the net motion; auto: knife edges if there are any, drag if "
               "there is resistance, else momentum");
  f.list("resistance", "Stokes drag of slender links along their x, as `slender` of fluids",
         [&](Fields& g) {
           FluidScene fluid;
           read_resistance(g, fluid);
           if (!g.writing_schema()) fluids.push_back(fluid);
         });
  f.texts("plane", net.plane, "two shape variables, for height functions");
  f.numbers("lower", net.lower, "", "of these two; default -1.5");
  f.numbers("upper", net.upper, "", "of these two; default 1.5");
  f.list("holds", "points that are held while the shape moves: feet, suckers", [&](Fields& g) {
    HoldScene hold;
    read_hold(g, hold);
    if (!g.writing_schema()) net.holds.push_back(hold);
  });
  std::vector<std::string> held;
  const bool chosen = f.has("held");
  f.texts("held", held, "names of holds that hold; default: all");
  f.object("stress", "at rest, what the drives must give so that holds push and do not slip",
           [&](Fields& g) {
             net.stress.path = g.path();
             g.number("press", net.stress.press, "N", "least normal force", not_negative);
             g.number("limit", net.stress.limit, "", "of every torque [N m], [N]; 0: none",
                      not_negative);
           });
  if (f.writing_schema()) return;
  for (std::size_t i = 0; i < net.holds.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (net.holds[i].hold.name == net.holds[k].hold.name)
        throw f.error("holds", fmt::format("two holds are called '{}'", net.holds[i].hold.name));
  if (chosen) net.held = held;
  for (const std::string& name : held)
    if (std::none_of(net.holds.begin(), net.holds.end(),
                     [&](const HoldScene& h) { return h.hold.name == name; }))
      throw f.error("held", fmt::format("no hold is called '{}'", name));
  if (!net.stress.path.empty() && net.holds.empty())
    throw f.error("stress", "expected holds, there are none");
  if (!net.plane.empty() && net.plane.size() != 2)
    throw f.error("plane", fmt::format("expected two names, got {}", net.plane.size()));
  for (const auto& [key, list] : {std::pair{"lower", &net.lower}, {"upper", &net.upper}})
    if (!list->empty() && list->size() != 2)
      throw f.error(key, fmt::format("expected two numbers, got {}", list->size()));
}

namespace {

// Of a solid of the body's form in a fluid of a density.
void read_added_solid(Fields& f, Mat6& added) {
  double density = 1000, radius = 0, length = 0;
  Vec3 axes = Vec3::Zero();
  SE3 frame;
  const auto number = [](Fields& g, const char* key, double& x, const char* about) {
    g.required().number(key, x, "m", about, positive);
  };
  f.number("density", density, "", "of the fluid [kg/m^3]; default 1000", positive);
  read_frame(f, "at", frame, "its frame in the body");
  f.forms("shape", {{"sphere",
                     [&](Fields& g) {
                       number(g, "radius", radius, "");
                       if (!g.writing_schema())
                         added = ellipsoid_added_mass(density, Vec3::Constant(radius));
                     }},
                    {"ellipsoid",
                     [&](Fields& g) {
                       g.required().vec3("semi_axes", axes, "m", "along x, y, z");
                       if (g.writing_schema()) return;
                       if (!(axes.minCoeff() > 0))
                         throw g.error("semi_axes", "expected positive lengths");
                       if (axes.maxCoeff() > 1e6 * axes.minCoeff())
                         throw g.error("semi_axes", "expected lengths within a factor of 1e6");
                       added = ellipsoid_added_mass(density, axes);
                     }},
                    {"cylinder",
                     [&](Fields& g) {
                       number(g, "radius", radius, "");
                       number(g, "length", length, "along x");
                       if (!g.writing_schema())
                         added = cylinder_added_mass(density, radius, radius, length);
                     }},
                    {"elliptic-cylinder", [&](Fields& g) {
                       std::vector<double> two;
                       g.required().number_or_list("semi_axes", two, "m", "along y and z", 2, 2,
                                                   positive);
                       number(g, "length", length, "along x");
                       if (!g.writing_schema())
                         added = cylinder_added_mass(density, two[0], two[1], length);
                     }}});
  if (f.writing_schema()) return;
  const Mat6 A = adjoint(frame.inverse());
  added = (A.transpose() * added * A).eval();
  added = (0.5 * (added + added.transpose())).eval();
}

}  // namespace

void read_added_mass(Fields& f, Mat6& added) {
  std::vector<double> x;
  const bool solid = f.numbers_or_object(
      "added_mass", x, "",
      "a fluid's, about the body's frame: 6 numbers (x, y, z [kg], about x, y, z [kg m^2]), the 36 "
      "of a symmetric matrix, row by row, or the solid that it is of",
      6, 36, {}, [&](Fields& g) { read_added_solid(g, added); });
  if (f.writing_schema() || (x.empty() && !solid)) return;
  if (solid) {
    if (!added.allFinite())
      throw f.error("added_mass", "expected lengths whose products are finite");
  } else if (x.size() == 6) {
    added = Eigen::Map<const Vec6>(x.data()).asDiagonal();
  } else if (x.size() == 36) {
    added = Eigen::Map<const Mat6>(x.data());
  } else {
    throw f.error("added_mass", fmt::format("expected 6 or 36 numbers, got {}", x.size()));
  }
  const double scale = added.cwiseAbs().maxCoeff();
  if ((added - added.transpose()).cwiseAbs().maxCoeff() > 1e-12 * scale)
    throw f.error("added_mass", "expected a symmetric matrix");
  const double least =
      Eigen::SelfAdjointEigenSolver<Mat6>(added, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (!(least >= -1e-12 * scale))
    throw f.error("added_mass", fmt::format("expected no negative eigenvalue, got {:.6g}", least));
}

}  // namespace saltus
