// Springs, drags, runners and worms of a ModelBuilder.
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "elements.h"
#include "saltus/model/worm.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

ModelBuilder& add_spring(ModelBuilder& b, const std::string& name, const std::string& body_a,
                         const std::string& body_b, double stiffness, double damping, double length,
                         const ArrayLike& point_a, const ArrayLike& point_b,
                         const ArrayLike& axis) {
  Spring s;
  s.name = name;
  s.stiffness = stiffness;
  s.damping = damping;
  s.length = length;
  s.point_a = vec3_of(point_a, "point_a");
  s.point_b = vec3_of(point_b, "point_b");
  s.axis = vec3_of(axis, "axis");
  return b.spring(s, body_a, body_b);
}

ModelBuilder& add_drag(ModelBuilder& b, const std::string& name, const std::string& body,
                       double coefficient, const ArrayLike& point) {
  Drag d;
  d.name = name;
  d.coefficient = coefficient;
  d.point = vec3_of(point, "point");
  return b.drag(d, body);
}

ModelBuilder& add_runner(ModelBuilder& b, const std::string& name, const std::string& body,
                         bool edge, bool scales, double friction, double grip,
                         const ArrayLike& point, const ArrayLike& direction,
                         const ArrayLike& normal) {
  Runner r;
  r.name = name;
  r.edge = edge;
  r.scales = scales;
  r.friction = friction;
  r.grip = grip;
  r.point = vec3_of(point, "point");
  r.direction = vec3_of(direction, "direction");
  r.normal = vec3_of(normal, "normal");
  return b.runner(r, body);
}

using Each = std::variant<double, std::vector<double>>;

// One number for all, or one each.
std::vector<double> each(const Each& x, std::size_t n, const char* name) {
  if (const auto* one = std::get_if<double>(&x)) return std::vector<double>(n, *one);
  const auto& all = std::get<1>(x);
  if (all.size() != n)
    throw InputError(fmt::format("{}: expected one number or {}, got {}", name, n, all.size()));
  return all;
}

// Whether mass i is among the chosen; masses count from `first`.
std::vector<bool> chosen(const std::optional<std::vector<int>>& numbers, std::size_t n, int first,
                         bool otherwise, const char* name) {
  std::vector<bool> yes(n, otherwise && !numbers);
  if (!numbers) return yes;
  for (const int k : *numbers) {
    if (k < first || k >= first + static_cast<int>(n))
      throw InputError(fmt::format("{}: expected numbers of masses, {} to {}, got {}", name, first,
                                   first + static_cast<int>(n) - 1, k));
    yes[static_cast<std::size_t>(k - first)] = true;
  }
  return yes;
}

ModelBuilder& build_worm(ModelBuilder& b, const std::vector<double>& masses, const Each& stiffness,
                         const Each& damping, const Each& length, const Each& drag,
                         const Each& friction, const std::optional<std::vector<int>>& scales,
                         const std::optional<std::vector<int>>& runners,
                         const std::optional<std::vector<int>>& tube, bool planar) {
  WormSpec w;
  w.planar = planar;
  const std::size_t n = masses.size();
  if (n < 2) throw InputError(fmt::format("masses: expected at least two, got {}", n));
  w.masses.resize(n);
  w.springs.resize(n - 1);
  const int first = planar ? 0 : 1;
  const auto drags = each(drag, n, "drag"), frictions = each(friction, n, "friction");
  const auto scaly = chosen(scales, n, first, true, "scales");
  const auto edges = chosen(runners, n, first, true, "runners");
  const auto tubes = chosen(tube, n, first, false, "tube");
  for (std::size_t i = 0; i < n; ++i)
    w.masses[i] = {masses[i], drags[i], frictions[i], scaly[i], edges[i], tubes[i]};
  const auto c = each(stiffness, n - 1, "stiffness"), k = each(damping, n - 1, "damping"),
             l = each(length, n - 1, "length");
  for (std::size_t i = 0; i + 1 < n; ++i) w.springs[i] = {c[i], k[i], l[i]};
  add_worm(b, w);
  return b;
}

ModelBuilder& add_gap_contact(ModelBuilder& b, const std::string& name,
                              const std::map<std::string, std::pair<double, double>>& terms,
                              double offset, double friction, double restitution) {
  GapContact c;
  c.name = name;
  c.offset = offset;
  c.mu = friction;
  c.restitution = restitution;
  std::vector<std::string> joints;
  for (const auto& [joint, factors] : terms) {
    GapTerm term;
    term.gap = factors.first;
    term.slide = factors.second;
    c.terms.push_back(term);
    joints.push_back(joint);
  }
  return b.gap_contact(c, joints);
}

}  // namespace

void bind_elements(nb::class_<ModelBuilder>& builder) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  const auto zero = nb::make_tuple(0.0, 0.0, 0.0);
  builder
      .def("spring", &add_spring, "name"_a, "body_a"_a, "body_b"_a, nb::kw_only(),
           "stiffness"_a = 0.0, "damping"_a = 0.0, "length"_a = 0.0, "point_a"_a = zero,
           "point_b"_a = zero, "axis"_a = zero, inside,
           "Spring and damper between points of two bodies, or of a body and the world: tension = "
           "stiffness (r - length) + damping dr/dt [N/m, N s/m, m]. axis: r is measured along this "
           "fixed direction from a to b; zero: the distance. Actuation.length controls the natural "
           "length.")
      .def("drag", &add_drag, "name"_a, "body"_a, "coefficient"_a, "point"_a = zero, inside,
           "Viscous drag -coefficient v on a point of a body [N s/m].")
      .def(
          "gap_contact", &add_gap_contact, "name"_a, "terms"_a, nb::kw_only(), "offset"_a = 0.0,
          "friction"_a = 0.0, "restitution"_a = 0.0, inside,
          "A contact known by its gap as a function of joint coordinates: gap = offset + sum gap_i "
          "x_i [m], sliding speed = sum slide_i dx_i/dt. terms: {coordinate: (gap, slide)}.")
      .def("runner", &add_runner, "name"_a, "body"_a, nb::kw_only(), "edge"_a = true,
           "scales"_a = false, "friction"_a = 0.0, "grip"_a = infinity, "point"_a = zero,
           "direction"_a = nb::make_tuple(1.0, 0.0, 0.0),
           "normal"_a = nb::make_tuple(0.0, 0.0, 1.0), inside,
           "A runner at a point of a body [m]: no side slip (edge), forward only (scales), "
           "friction against sliding [N]; beyond `grip` [N] the edge slips. Actuation.steer turns "
           "it about its normal.")
      .def("worm", &build_worm, "masses"_a, nb::kw_only(), "stiffness"_a = 1.0, "damping"_a = 0.0,
           "length"_a = 1.0, "drag"_a = 0.0, "friction"_a = 0.0, "scales"_a = nb::none(),
           "runners"_a = nb::none(), "tube"_a = nb::none(), "planar"_a = false, inside,
           "P3's worm of point masses [kg] with springs between neighbours [N/m, N s/m, m] and "
           "external drag [N s/m]: bodies mass1 ..., coordinates x1 ..., springs spring1 ..., "
           "runners runner1 ...; planar (in a planar builder) from mass0. scales, runners, tube: "
           "numbers of masses; all have scales and runners by default.");
}

}  // namespace saltus::python
