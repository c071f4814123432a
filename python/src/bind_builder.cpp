#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "elements.h"
#include "saltus/model/snake.h"
#include "saltus/model/validate.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

CoordinateSet set_of(const std::string& name) {
  if (name == "as-marked") return CoordinateSet::as_marked;
  if (name == "minimal") return CoordinateSet::minimal;
  if (name == "maximal") return CoordinateSet::maximal;
  throw InputError(
      fmt::format("coordinates: expected as-marked, minimal or maximal, got '{}'", name));
}

// One number for all directions, two along and across, or forward, backward and lateral.
using Friction = std::variant<double, std::vector<double>>;
struct Coefficients {
  double mu1 = 0, mu2 = 0, back = -1;
};
Coefficients friction_of(const Friction& mu) {
  if (const auto* one = std::get_if<double>(&mu)) return {*one, *one};
  const auto& all = std::get<1>(mu);
  if (all.size() == 2) return {all[0], all[1]};
  if (all.size() != 3)
    throw InputError(
        fmt::format("friction: expected a number, two (along, across) or three "
                    "(forward, backward, lateral), got {}",
                    all.size()));
  if (!(all[1] >= 0)) throw InputError("friction: expected numbers >= 0");
  return {all[0], all[2], all[1]};
}
// mu_d / mu_s; 1 where no friction in sliding is given.
double share_of(const Coefficients& mu, const std::optional<Friction>& sliding) {
  if (!sliding) return 1;
  const Coefficients d = friction_of(*sliding);
  std::vector<FrictionPair> pairs{{mu.mu1, d.mu1}, {mu.mu2, d.mu2}};
  if (mu.back >= 0 || d.back >= 0)
    pairs.push_back({mu.back >= 0 ? mu.back : mu.mu1, d.back >= 0 ? d.back : d.mu1});
  return dynamic_share(pairs);
}
SlipRule rule_of(const std::string& name) {
  if (name == "normal") return SlipRule::normal_cone;
  if (name == "hu") return SlipRule::hu;
  throw InputError(fmt::format("rule: expected 'normal' or 'hu', got '{}'", name));
}

// One name or several.
using Names = std::variant<std::string, std::vector<std::string>>;
std::vector<std::string> names_of(const Names& names) {
  if (const auto* one = std::get_if<std::string>(&names)) return {*one};
  return std::get<1>(names);
}

void check_snake(const SnakeSpec& s) {
  if (s.links < 1 || s.links > 10000)
    throw InputError(fmt::format("links: expected 1 to 10000, got {}", s.links));
  require_positive(s.link_length, "link_length");
  require_positive(s.radius, "radius");
  require_positive(s.half_length, "half_length");
  require_positive(s.mass, "mass");
  require_positive(s.inertia, "inertia");
  if (!(s.mu_along >= 0 && s.mu_across >= 0 && std::isfinite(s.mu_along + s.mu_across)))
    throw InputError("friction: expected numbers >= 0");
  if (!(s.gravity >= 0 && std::isfinite(s.gravity)))
    throw InputError("gravity: expected a number >= 0");
}

}  // namespace

void bind_builder(nb::module_& m) {
  nb::class_<JointSpec>(m, "JointSpec", "How a body is joined to its parent.")
      .def(
          "__init__",
          [](JointSpec* self, const Joint& kind, const std::string& parent, const SE3& placement,
             const SE3& in_body, const std::vector<JointDof>& dofs, bool cut,
             const std::string& name) {
            new (self) JointSpec{name, parent, kind, placement, in_body, dofs, cut};
          },
          "kind"_a, "parent"_a = "world", nb::kw_only(), "placement"_a = SE3{}, "in_body"_a = SE3{},
          "dofs"_a = std::vector<JointDof>{}, "cut"_a = false, "name"_a = "",
          "placement: the joint's frame in the parent; in_body: in the body; dofs: one JointDof a "
          "coordinate, or one for all; cut: kept by constraints; name: the body's by default.");

  nb::class_<Compliance>(m, "Compliance",
                         "Spring and damper instead of a hard contact (P2 Algorithm 1).")
      .def(
          "__init__",
          [](Compliance* self, double stiffness, double damping,
             std::optional<double> tangential_stiffness, std::optional<double> tangential_damping) {
            const Compliance soft{stiffness, damping, tangential_stiffness.value_or(stiffness),
                                  tangential_damping.value_or(damping)};
            check_compliance(soft, "Compliance");
            new (self) Compliance(soft);
          },
          "stiffness"_a, "damping"_a = 0.0, "tangential_stiffness"_a = nb::none(),
          "tangential_damping"_a = nb::none(),
          "Normal and tangential [N/m, N s/m]; tangential ones as the normal ones by default.")
      .def_ro("stiffness", &Compliance::normal_stiffness)
      .def_ro("damping", &Compliance::normal_damping)
      .def_ro("tangential_stiffness", &Compliance::tangential_stiffness)
      .def_ro("tangential_damping", &Compliance::tangential_damping);

  nb::class_<ContactLaw>(m, "ContactLaw", "How two shapes touch.")
      .def(
          "__init__",
          [](ContactLaw* self, const Friction& friction, double restitution,
             const std::string& axes, const std::string& rule, double rolling, double drilling,
             const std::optional<Friction>& friction_dynamic, double restitution_tangential,
             const std::optional<Compliance>& compliant) {
            if (axes != "a" && axes != "b")
              throw InputError(fmt::format("axes: expected 'a' or 'b', got '{}'", axes));
            const Coefficients mu = friction_of(friction);
            ContactLaw law{mu.mu1, mu.mu2, restitution,
                           axes == "a" ? FrictionAxes::a : FrictionAxes::b};
            law.mu_back = mu.back;
            law.dynamic = share_of(mu, friction_dynamic);
            law.rule = rule_of(rule);
            law.rolling = rolling;
            law.drilling = drilling;
            law.tangential_restitution = restitution_tangential;
            law.soft = compliant.value_or(Compliance{});
            new (self) ContactLaw(law);
          },
          "friction"_a = 0.0, "restitution"_a = 0.0, "axes"_a = "b", nb::kw_only(),
          "rule"_a = "normal", "rolling"_a = 0.0, "drilling"_a = 0.0,
          "friction_dynamic"_a = nb::none(), "restitution_tangential"_a = 0.0,
          "compliant"_a = nb::none(),
          "friction: one coefficient, two along x and y of the shape that `axes` names, or three: "
          "forward (that shape slides along its x), backward, lateral; rule: 'normal' (most "
          "dissipation) or 'hu'; restitution in [0, 1]; rolling, drilling: resisting moments per "
          "normal force [m]; friction_dynamic: coefficients in sliding, at most those of friction "
          "and the same share of each; restitution_tangential in [-1, 1]: 1 turns sliding round "
          "(impact laws capped and newton); compliant: a Compliance, with one coefficient of "
          "friction and no restitution.");

  auto model_builder =
      nb::class_<ModelBuilder>(
          m, "ModelBuilder",
          "Builds and checks a Model. Bodies may come in any order; every method "
          "returns the builder.")
          .def(
              "__init__",
              [](ModelBuilder* self, const ArrayLike& gravity, bool planar,
                 const std::string& coordinates) {
                ModelBuilder builder;
                builder.gravity(vec3_of(gravity, "gravity"));
                builder.planar(planar).coordinates(set_of(coordinates));
                new (self) ModelBuilder(builder);
              },
              "gravity"_a = nb::make_tuple(0.0, 0.0, -9.81), nb::kw_only(), "planar"_a = false,
              "coordinates"_a = "as-marked",
              "gravity [m/s^2]; planar: in the x-y plane; coordinates: as-marked, minimal (no "
              "joint "
              "is cut) or maximal (every joint is).")
          .def(
              "body",
              [](ModelBuilder& b, const std::string& name, const RigidInertia& inertia,
                 const JointSpec& joint) -> ModelBuilder& { return b.body(name, inertia, joint); },
              "name"_a, "inertia"_a, "joint"_a, nb::rv_policy::reference_internal)
          .def(
              "loop",
              [](ModelBuilder& b, const std::string& child,
                 const JointSpec& joint) -> ModelBuilder& { return b.loop(child, joint); },
              "child"_a, "joint"_a, nb::rv_policy::reference_internal,
              "Closes a loop: one more joint, with a name, between the parent that it names and "
              "`child`, which have joints of their own; either may be 'world'. See close_loops.")
          .def(
              "added_inertia",
              [](ModelBuilder& b, const std::string& body,
                 const ArrayLike& inertia) -> ModelBuilder& {
                return b.added_inertia(body, Mat6(matrix_of(inertia, 6, 6, "inertia")));
              },
              "body"_a, "inertia"_a, nb::rv_policy::reference_internal,
              "A fluid's added mass: symmetric 6 x 6, linear part first [kg, kg m, kg m^2].")
          .def(
              "shape",
              [](ModelBuilder& b, const std::string& name, const std::string& body,
                 const Shape& shape,
                 const SE3& frame) -> ModelBuilder& { return b.shape(name, body, frame, shape); },
              "name"_a, "body"_a, "shape"_a, "frame"_a = SE3{}, nb::rv_policy::reference_internal,
              "A shape that may touch; body 'world' for obstacles; frame in the body.")
          .def(
              "contact",
              [](ModelBuilder& b, const Names& shape_a, const Names& shape_b, const ContactLaw& law)
                  -> ModelBuilder& { return b.contact(names_of(shape_a), names_of(shape_b), law); },
              "shape_a"_a, "shape_b"_a, "law"_a = ContactLaw{}, nb::rv_policy::reference_internal,
              "Two shapes, or every one of a list with every one of another, save those of one "
              "body. "
              "Where several laws name two shapes, the first holds.")
          .def(
              "exclude",
              [](ModelBuilder& b, const std::string& body_a,
                 const std::string& body_b) -> ModelBuilder& { return b.exclude(body_a, body_b); },
              "body_a"_a, "body_b"_a, nb::rv_policy::reference_internal,
              "Two bodies that never touch, whatever the laws say.")
          .def(
              "support",
              [](ModelBuilder& b, const std::string& body, const Friction& friction, double load,
                 const ArrayLike& point, const ArrayLike& normal, const std::string& rule,
                 const std::optional<Friction>& friction_dynamic) -> ModelBuilder& {
                SupportFriction f;
                f.name = body;
                const Coefficients mu = friction_of(friction);
                f.mu1 = mu.mu1;
                f.mu2 = mu.mu2;
                f.mu_back = mu.back;
                f.rule = rule_of(rule);
                f.dynamic = share_of(mu, friction_dynamic);
                f.load = load;
                require_finite(f.mu1 + f.mu2 + load, "friction and load");
                f.point = vec3_of(point, "point");
                f.normal = vec3_of(normal, "normal");
                if (!(f.normal.norm() > 1e-12)) throw InputError("normal: expected a direction");
                return b.support(f, body);
              },
              "body"_a, "friction"_a, "load"_a, "point"_a = nb::make_tuple(0.0, 0.0, 0.0),
              "normal"_a = nb::make_tuple(0.0, 0.0, 1.0), "rule"_a = "normal",
              "friction_dynamic"_a = nb::none(), nb::rv_policy::reference_internal,
              "Friction under a given load [N] at a point of the body [m]; one coefficient, two "
              "along "
              "and across the body's x-axis, or three: forward, backward, lateral; rule and "
              "friction_dynamic as of ContactLaw.")
          .def(
              "snake",
              [](ModelBuilder& b, int links, double link_length, double radius, double half_length,
                 double mass, double inertia, const Friction& friction, double gravity,
                 const JointDof& joint) -> ModelBuilder& {
                SnakeSpec s;
                s.links = links;
                s.link_length = link_length;
                s.radius = radius;
                s.half_length = half_length;
                s.mass = mass;
                s.inertia = inertia;
                const Coefficients mu = friction_of(friction);
                s.mu_along = mu.mu1;
                s.mu_across = mu.mu2;
                s.mu_backward = mu.back;
                s.gravity = gravity;
                s.joint = joint;
                check_snake(s);
                add_snake(b, s);
                return b;
              },
              nb::kw_only(), "links"_a = 11, "link_length"_a = 0.122, "radius"_a = 0.0525,
              "half_length"_a = 0.0393, "mass"_a = 7.5 / 11, "inertia"_a = 1.32e-3,
              "friction"_a = 0.2, "gravity"_a = 9.81, "joint"_a = JointDof{},
              nb::rv_policy::reference_internal,
              "P0's planar snake: bodies link1 ..., joints root, joint1 ...; lengths [m], mass of "
              "a "
              "link [kg], inertia about z [kg m^2].")
          .def(
              "build",
              [](const ModelBuilder& b) { return std::make_shared<const Model>(b.build()); },
              "The model. InputError names what does not fit.");
  bind_elements(model_builder);
  bind_fluids(model_builder);
}

}  // namespace saltus::python
