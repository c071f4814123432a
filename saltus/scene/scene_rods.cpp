// Rods of a scene.
#include <fmt/format.h>

#include "saltus/scene/scene_elements.h"

namespace saltus {

namespace {

constexpr int most_segments = 10000;

void read_rod_section(Fields& f, SegmentSpec& s) {
  double radius = 0, end = 0;
  f.number("radius", radius, "m", "of a round section", positive);
  f.number("radius_end", end, "m", "at the tip, of a cone; default: as radius", positive);
  std::vector<double> sizes, moments;
  f.number_or_list("rectangle", sizes, "m", "instead: width along y and height along z", 2, 2,
                   positive);
  f.number_or_list("moments", moments, "",
                   "instead: area [m^2], second moments about y and z and torsion constant [m^4]",
                   4, 4, positive);
  if (f.writing_schema()) return;
  const int given = f.has("radius") + !sizes.empty() + !moments.empty();
  const bool direct = f.has("stiffness");
  if (given > 1 || (given == 0 && !direct))
    throw f.error("radius", "expected a section, one of radius, rectangle and moments");
  if (!sizes.empty()) s.section = RectangleSection{sizes[0], sizes[1]};
  if (!moments.empty()) s.section = GivenSection{moments[0], moments[1], moments[2], moments[3]};
  if (f.has("radius")) s.section = CircleSection{radius};
  if (!f.has("radius_end")) return;
  if (!f.has("radius")) throw f.error("radius_end", "expected a radius beside it");
  s.section_end = CircleSection{end};
}

void read_rod_material(Fields& f, SegmentSpec& s) {
  const bool known = f.object("material", "of what it is made", [&](Fields& g) {
    RodMaterial& m = s.material;
    g.required().number("E", m.E, "Pa", "Young's modulus", positive);
    g.number("nu", m.nu, "", "Poisson's ratio, -1 to 0.5; default 0");
    g.required().number("rho", m.rho, "kg/m^3", "density", positive);
    g.number("viscosity", m.viscosity, "", "of Kelvin and Voigt [Pa s]", not_negative);
    g.number("shear_factor", m.shear_factor, "", "k of k G A; default 1", positive);
  });
  std::vector<double> H, D, I;
  f.number_or_list("stiffness", H, "",
                   "instead, per length: stretch, shear y, shear z [N], torsion, bending about y "
                   "and z [N m^2]",
                   6, 6, not_negative);
  f.number_or_list("damping", D, "", "beside stiffness: the same for rates of strain", 6, 6,
                   not_negative);
  f.number_or_list("inertia", I, "",
                   "beside stiffness: mass [kg/m] and moments about x, y, z [kg m] per length", 4,
                   4, not_negative);
  if (f.writing_schema()) return;
  if (H.empty() == !known) throw f.error("material", "expected either material or stiffness");
  if (H.empty()) {
    if (!D.empty() || !I.empty())
      throw f.error(D.empty() ? "inertia" : "damping", "expected stiffness beside it");
    return;
  }
  if (I.empty()) throw f.error("inertia", "expected it beside stiffness");
  RodProperties p;
  for (int i = 0; i < 6; ++i) {
    p.stiffness(i, i) = H[i];
    p.damping(i, i) = D.empty() ? 0 : D[i];
    p.inertia(i, i) = i < 3 ? I[0] : I[i - 2];
  }
  s.given = [p](double) { return p; };
}

Strain read_component(const Fields& f, const char* key, const std::string& name) {
  for (int i = 0; i < 6; ++i)
    if (name_of(static_cast<Strain>(i)) == name) return static_cast<Strain>(i);
  throw f.error(key, fmt::format("expected stretch, shear_y, shear_z, torsion, bend_y or bend_z, "
                                 "got '{}'",
                                 name));
}

BasisKind read_basis_kind(Fields& f) {
  constexpr BasisKind kinds[] = {BasisKind::legendre, BasisKind::linear, BasisKind::constant,
                                 BasisKind::free_modes, BasisKind::clamped_modes};
  return kinds[f.choice(
      "basis", 0, {"legendre", "linear", "constant", "free-modes", "clamped-modes"},
      "functions of the arc length, or strains of the modes of a uniform rod; default legendre")];
}

void read_basis(Fields& f, SegmentSpec& s, int segments) {
  std::vector<std::string> components;
  f.texts("components", components,
          "that may change; default: torsion, bend_y and bend_z, the others rigid");
  StrainBasis b;
  b.kind = read_basis_kind(f);
  b.count = segments == 1 ? 6 : 2;
  f.integer(
      "functions", b.count,
      "of a component and a segment (legendre, modes), or pieces (linear, constant); default 6, "
      "of several segments 2",
      1);
  f.list("bases", "more of them, for some components", [&](Fields& g) {
    StrainBasis one;
    std::string component;
    g.required().text("component", component, "");
    one.kind = read_basis_kind(g);
    one.count = 1;
    g.required().integer("functions", one.count, "", 1);
    if (g.writing_schema()) return;
    one.component = read_component(g, "component", component);
    s.basis.push_back(one);
  });
  if (f.writing_schema()) return;
  if (components.empty() && s.basis.empty()) components = {"torsion", "bend_y", "bend_z"};
  for (const std::string& name : components) {
    b.component = read_component(f, "components", name);
    s.basis.push_back(b);
  }
}

void read_coefficients(Fields& f, const char* key, const char* about,
                       std::vector<std::pair<std::string, Signal>>& all) {
  f.table(key, about, [&](Fields& g, const std::string& name) {
    const Signal signal = read_signal_here(g);
    if (!g.writing_schema()) all.emplace_back(name, signal);
  });
}

// One segment of the whole: its share of the length, and of the taper.
std::vector<SegmentSpec> in_segments(const SegmentSpec& whole, int count) {
  std::vector<SegmentSpec> all(count, whole);
  for (int k = 0; k < count; ++k) {
    all[k].length = whole.length / count;
    if (!whole.section_end) continue;
    const auto at = [&](int i) {
      return tapered(whole.section, *whole.section_end, static_cast<double>(i) / count);
    };
    all[k].section = at(k);
    all[k].section_end = at(k + 1);
  }
  return all;
}

}  // namespace

void read_rod(Fields& f, RodScene& rod) {
  RodSpec& r = rod.spec;
  f.required().text("name", r.name,
                    "its stations are NAME.1 ... and NAME.tip, its beginning NAME.base");
  f.text("parent", r.joint.parent, "the parent's name, or world (default)");
  read_frame(f, "at", r.joint.placement, "its base in the parent; it leaves that along x");
  f.object("joint", "of its base to the parent; default: clamped",
           [&](Fields& g) { r.joint.kind = read_joint_kind(g); });
  SegmentSpec s;
  f.required().number("length", s.length, "m", "at rest", positive);
  int segments = 1;
  f.integer("segments", segments, "of equal length, each with a basis of its own; default 1", 1);
  read_rod_section(f, s);
  read_rod_material(f, s);
  read_basis(f, s, segments);
  f.integer("cells", s.cells, "of a segment, each with Gauss points; default 1", 1);
  f.integer("points", s.points, "Gauss points of a cell; default: as the basis asks for", 1);
  Vec3 curvature = Vec3::Zero();
  f.vec3("curvature", curvature, "", "at rest: torsion, about y and about z [rad/m]");
  std::vector<double> theta;
  f.number_or_list("theta", theta, "",
                   "where in a step elastic forces are taken, 0.5 (mid-point, default) to 1; one, "
                   "or one a component",
                   1, 6, {0.5, 1, false});
  read_coefficients(f, "prescribed", "coefficients (bend_z.0 ...) as functions of time",
                    rod.prescribed);
  read_coefficients(f, "muscles", "strains at which coefficients are at rest, as functions of time",
                    rod.muscles);
  std::vector<StrainWave> waves;
  read_strain_waves(f, waves);
  f.integer(
      "touches", rod.touches,
      "at how many points of a segment its spheres may touch between stations at once; default: "
      "3 more than its Gauss points, at most 8",
      0);
  f.list("shapes", "what touches, at its base, every station and the tip", [&](Fields& g) {
    ShapeScene shape;
    shape.name = r.name;
    read_shape(g, shape);
    rod.shapes.push_back(shape);
  });
  if (f.writing_schema()) return;
  if (segments > most_segments)
    throw f.error("segments", fmt::format("expected at most {}, got {}", most_segments, segments));
  if (theta.size() > 1 && theta.size() != 6)
    throw f.error("theta", fmt::format("expected 1 or 6 numbers, got {}", theta.size()));
  for (std::size_t i = 0; i < 6 && !theta.empty(); ++i)
    r.theta[i] = theta[theta.size() == 1 ? 0 : i];
  if (!curvature.isZero(0)) {
    Vec6 rest;
    rest << 1, 0, 0, curvature;
    s.rest = [rest](double) { return rest; };
  }
  r.segments = in_segments(s, segments);
  add_strain_waves(waves, rod);
  for (const auto& [name, unused] : rod.prescribed) r.prescribed.push_back(name);
}

}  // namespace saltus
