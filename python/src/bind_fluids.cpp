// Wheels, flows and fluids of a ModelBuilder.
#include <fmt/format.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numbers>

#include "elements.h"
#include "flows.h"
#include "saltus/forces/added_mass.h"
#include "saltus/forces/flow.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

// A flow that a Python function gives. The last one to let go of it may have no GIL.
struct FieldFunction {
  nb::object at;
  explicit FieldFunction(nb::object f) : at(std::move(f)) {}
  ~FieldFunction() {
    const nb::gil_scoped_acquire gil;
    at.reset();
  }
  FieldFunction(const FieldFunction&) = delete;
  FieldFunction& operator=(const FieldFunction&) = delete;
};

// What is not finite goes on to flow_at, which names the place and the time.
FlowAt field_at(const nb::object& field, const Vec3& x, double t) {
  const nb::gil_scoped_acquire gil;
  const nb::object given = field(owned(Vec(x)), t);
  if (!PySequence_Check(given.ptr()) || nb::len(given) != 3)
    throw InputError("flow: expected the function to return (velocity, gradient, rate)");
  FlowAt out;
  out.velocity = vector_of(given[0], 3, "velocity of the flow", Numbers::any);
  const nb::object rows = given[1];
  if (!PySequence_Check(rows.ptr()) || nb::len(rows) != 3)
    throw InputError("gradient of the flow: expected 3 rows of 3 numbers");
  for (int i = 0; i < 3; ++i)
    out.gradient.row(i) =
        vector_of(rows[i], 3, "gradient of the flow, a row", Numbers::any).transpose();
  out.rate = vector_of(given[2], 3, "rate of the flow", Numbers::any);
  return out;
}

FlowPtr field(const nb::object& function) {
  if (!PyCallable_Check(function.ptr()))
    throw InputError(fmt::format("field: expected a function of x and t, got {}",
                                 nb::type_name(function.type()).c_str()));
  const auto kept = std::make_shared<const FieldFunction>(function);
  return std::make_shared<const Flow>(
      UserFlow{[kept](const Vec3& x, double t) { return field_at(kept->at, x, t); }});
}

FlowPtr wave(double amplitude, double length, const ArrayLike& heading, const ArrayLike& up,
             double gravity, double phase, double level, const ArrayLike& stream) {
  WaveFlow w;
  w.amplitude = amplitude;
  w.heading = vec3_of(heading, "heading");
  w.up = vec3_of(up, "up");
  w.phase = phase;
  w.level = level;
  w.stream = vec3_of(stream, "stream");
  return std::make_shared<const Flow>(airy_wave(w, length, gravity));
}

FlowPtr street(const ArrayLike& rows, double period, double carried, double core,
               const ArrayLike& stream) {
  VortexStreet s;
  s.stream = vec3_of(stream, "stream");
  s.period = period;
  s.carried = carried;
  s.core = core;
  const Mat all = matrix_of(rows, -1, 3, "rows");
  for (int i = 0; i < all.rows(); ++i) s.rows.push_back({all(i, 0), all(i, 1), all(i, 2)});
  require_positive(period, "period");
  require_positive(core, "core");
  require_finite(carried, "carried");
  return std::make_shared<const Flow>(s);
}

// 6 numbers of a diagonal or 6 x 6.
Mat6 matrix6_of(const nb::object& given, const char* name) {
  if (given.is_none()) return Mat6::Zero();
  if (PySequence_Check(given.ptr()) && nb::len(given) == 6) {
    const nb::object first = given[0];
    if (!PySequence_Check(first.ptr())) return Vec6(vector_of(given, 6, name)).asDiagonal();
  }
  return matrix_of(given, 6, 6, name);
}

WaterLine surface_of(const nb::object& given) {
  if (given.is_none()) return {};
  const Vec line = vector_of(given, 2, "surface");
  return {line[0], line[1]};
}

FlowPtr flow_of(const nb::object& given) {
  if (given.is_none()) return nullptr;
  if (nb::isinstance<FlowHandle>(given)) return nb::cast<FlowHandle&>(given).flow;
  if (PyCallable_Check(given.ptr())) return field(given);
  return std::make_shared<const Flow>(LinearFlow{vec3_of(given, "flow"), Mat3::Zero(), {}});
}

ModelBuilder& add_wheel(ModelBuilder& b, const std::string& name, const std::string& body,
                        double radius, const ArrayLike& centre, const ArrayLike& axis,
                        const ArrayLike& normal, double height, bool sideways, bool pressed) {
  Wheel w;
  w.name = name;
  w.radius = radius;
  w.centre = vec3_of(centre, "centre");
  w.axis = vec3_of(axis, "axis");
  w.normal = vec3_of(normal, "normal");
  w.height = height;
  w.sideways = sideways;
  w.pressed = pressed;
  return b.wheel(w, body);
}

ModelBuilder& add_fluid(ModelBuilder& b, const std::string& body, const nb::object& resistance,
                        const nb::object& quadratic, const nb::object& added_mass, double displaced,
                        const ArrayLike& centre, const nb::object& flow,
                        const nb::object& surface) {
  Fluid f;
  f.resistance = matrix6_of(resistance, "resistance");
  if (!quadratic.is_none()) f.quadratic = vector_of(quadratic, 6, "quadratic");
  f.added = matrix6_of(added_mass, "added_mass");
  f.lift = displaced;
  f.centre = vec3_of(centre, "centre");
  f.flow = flow_of(flow);
  f.surface = surface_of(surface);
  return b.fluid(f, body);
}

Vec3 three_of(const nb::object& given, const char* name) {
  if (given.is_none()) return Vec3::Zero();
  const Vec x = vector_of_any_length(given, name);
  if (x.size() != 2 && x.size() != 3)
    throw InputError(
        fmt::format("{}: expected 2 numbers (along, across) or 3, got {}", name, x.size()));
  return {x[0], x[1], x[x.size() - 1]};
}

FluidSection section_from(const nb::object& resistance, const nb::object& drag,
                          const nb::object& added_mass, double displaced, const nb::object& ellipse,
                          double density) {
  FluidSection s;
  if (!ellipse.is_none()) {
    const Vec size = vector_of(ellipse, 2, "ellipse");
    require_positive(size[0], "ellipse[0]");
    require_positive(size[1], "ellipse[1]");
    s = elliptic_section(density, size[0], size[1]);
  }
  if (!added_mass.is_none()) s.added = three_of(added_mass, "added_mass");
  if (displaced != 0) s.displaced = displaced;
  s.resistance = three_of(resistance, "resistance");
  s.drag = three_of(drag, "drag");
  return s;
}

// Sections at Gauss points of a body's length, and the wake at an end.
ModelBuilder& add_along(ModelBuilder& b, const std::string& body, double length,
                        const nb::object& section, const ArrayLike& middle, int points,
                        const nb::object& flow, const nb::object& surface, const nb::object& tail,
                        const ArrayLike& outward) {
  FluidAlong along;
  along.flow = flow_of(flow);
  along.surface = surface_of(surface);
  if (nb::isinstance<FluidSection>(section)) {
    along.section = [s = nb::cast<FluidSection>(section)](double) { return s; };
  } else if (PyCallable_Check(section.ptr())) {
    along.section = [&](double X) {
      const nb::object given = section(X);
      if (!nb::isinstance<FluidSection>(given))
        throw InputError(
            fmt::format("section: expected the function to return a FluidSection, got {} at X = "
                        "{:.6g} m",
                        nb::type_name(given.type()).c_str(), X));
      return nb::cast<FluidSection>(given);
    };
  } else {
    throw InputError("section: expected a FluidSection or a function of X that returns one");
  }
  b.fluid_along(along, body, length, vec3_of(middle, "middle"), points);
  if (tail.is_none()) return b;
  Fluid end;
  end.end.point = vec3_of(tail, "tail");
  end.end.outward = vec3_of(outward, "outward");
  if (!(end.end.outward.norm() > 1e-12)) throw InputError("outward: expected a direction");
  end.end.outward.normalize();
  const double X = (end.end.point - vec3_of(middle, "middle")).x() + 0.5 * length;
  end.end.added = along.section(std::clamp(X, 0.0, length)).added.asDiagonal();
  end.centre = end.end.point;
  end.flow = along.flow;
  return b.fluid(end, body);
}

nb::tuple flow_values(const FlowHandle& f, const ArrayLike& x, double t) {
  require_finite(t, "t");
  const FlowAt at = flow_at(*f.flow, vec3_of(x, "x"), t);
  return nb::make_tuple(owned(Vec(at.velocity)), owned(Mat(at.gradient)), owned(Vec(at.rate)));
}

}  // namespace

FlowPtr given_flow(const nb::object& flow) { return flow_of(flow); }

void bind_flows(nb::module_& m) {
  const auto zero = nb::make_tuple(0.0, 0.0, 0.0);
  nb::class_<FlowHandle>(m, "Flow",
                         "A flow that bodies move in and that does not feel them (docs/fluids.md). "
                         "Where a flow is expected, three numbers are a uniform one and a function "
                         "is a field.")
      .def_static(
          "linear",
          [](const ArrayLike& velocity, const ArrayLike& gradient, const ArrayLike& point) {
            return FlowHandle{std::make_shared<const Flow>(
                LinearFlow{vec3_of(velocity, "velocity"),
                           Mat3(matrix_of(gradient, 3, 3, "gradient")), vec3_of(point, "point")})};
          },
          "velocity"_a, "gradient"_a, "point"_a = zero,
          "velocity + gradient (x - point): shear, strain or rotation [m/s, 1/s, m].")
      .def_static(
          "wave",
          [](double amplitude, double length, const ArrayLike& heading, const ArrayLike& up,
             double gravity, double phase, double level, const ArrayLike& stream) {
            return FlowHandle{wave(amplitude, length, heading, up, gravity, phase, level, stream)};
          },
          "amplitude"_a, "length"_a, nb::kw_only(), "heading"_a = nb::make_tuple(1.0, 0.0, 0.0),
          "up"_a = nb::make_tuple(0.0, 0.0, 1.0), "gravity"_a = 9.81, "phase"_a = 0.0,
          "level"_a = 0.0, "stream"_a = zero,
          "Airy's wave in deep water [m]; InputError: one that would break.")
      .def_static(
          "street",
          [](const ArrayLike& rows, double period, double carried, double core,
             const ArrayLike& stream) {
            return FlowHandle{street(rows, period, carried, core, stream)};
          },
          "rows"_a, nb::kw_only(), "period"_a, "carried"_a = 0.0, "core"_a = 0.1, "stream"_a = zero,
          "Rows of vortices along x, each (x, y, circulation) of one of them at t = 0 [m, m, "
          "m^2/s], `period` apart and carried along x [m, m/s].")
      .def_static(
          "field", [](const nb::object& f) { return FlowHandle{field(f)}; }, "function"_a,
          "A function of the place x [m] and the time t [s] that returns (velocity, gradient, "
          "rate): U [m/s], dU_i/dx_j [1/s] and dU/dt at the place [m/s^2]. Numbers that are not "
          "finite end a step with an InputError that names place and time. It is called several "
          "times a step, with the GIL.")
      .def("at", &flow_values, "x"_a, "t"_a = 0.0,
           "(velocity [m/s], gradient [1/s], rate [m/s^2]) at a place [m] and a time [s].");

  m.def(
      "ellipsoid_added_mass",
      [](double density, const ArrayLike& semi_axes) {
        const Vec3 a = vec3_of(semi_axes, "semi_axes");
        require_positive(density, "density");
        if (!(a.array() > 0).all()) throw InputError("semi_axes: expected positive numbers");
        return owned(Mat(ellipsoid_added_mass(density, a)));
      },
      "density"_a, "semi_axes"_a, copied,
      "6 x 6, about its centre and in its axes, linear part first [kg, kg m^2].");
  m.def(
      "cylinder_added_mass",
      [](double density, double b, double c, double length) {
        for (const double x : {density, b, c, length}) require_positive(x, "cylinder");
        return owned(Mat(cylinder_added_mass(density, b, c, length)));
      },
      "density"_a, "b"_a, "c"_a, "length"_a, copied,
      "Of an elliptic cylinder along x with the semi-axes b, c along y, z, by strips; 6 x 6.");

  nb::class_<FluidSection>(m, "FluidSection", "What a fluid does to a slender body, per length.")
      .def(
          "__init__",
          [](FluidSection* self, const nb::object& resistance, const nb::object& drag,
             const nb::object& added_mass, double displaced, const nb::object& ellipse,
             double density) {
            new (self) FluidSection(
                section_from(resistance, drag, added_mass, displaced, ellipse, density));
          },
          nb::kw_only(), "resistance"_a = nb::none(), "drag"_a = nb::none(),
          "added_mass"_a = nb::none(), "displaced"_a = 0.0, "ellipse"_a = nb::none(),
          "density"_a = 1000.0,
          "Along, y and z (or along and across): resistance [N s/m^2], drag [N s^2/m^3], "
          "added_mass [kg/m]; displaced [kg/m]. ellipse: thickness and height [m] of its section, "
          "for the last two in a fluid of that density.");
}

void bind_fluids(nb::class_<ModelBuilder>& builder) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  const auto zero = nb::make_tuple(0.0, 0.0, 0.0);
  builder
      .def("wheel", &add_wheel, "name"_a, "body"_a, "radius"_a, nb::kw_only(), "centre"_a = zero,
           "axis"_a = nb::make_tuple(0.0, 1.0, 0.0), "normal"_a = nb::make_tuple(0.0, 0.0, 1.0),
           "height"_a = 0.0, "sideways"_a = false, "pressed"_a = false, inside,
           "A thin disc that rolls on a plane without sliding; a body on a joint of its own. "
           "centre, axis: in the body; normal, height: of the plane [m]; sideways: free to slide "
           "across its heading; pressed: kept on the plane, both ways (a disc that leans).")
      .def("fluid", &add_fluid, "body"_a, nb::kw_only(), "resistance"_a.none() = nb::none(),
           "quadratic"_a.none() = nb::none(), "added_mass"_a.none() = nb::none(),
           "displaced"_a = 0.0, "centre"_a = zero, "flow"_a.none() = nb::none(),
           "surface"_a.none() = nb::none(), inside,
           "A fluid about a body, with its twist V against the flow: -resistance V (6 numbers or "
           "6 x 6, about the body's frame), -c |v| v of `quadratic` at `centre`, buoyancy of what "
           "it `displaced` [kg], and `added_mass` (6 or 6 x 6) in its inertia. flow: a Flow, three "
           "numbers or a function. surface: (height, half extent of the section) [m].")
      .def("fluid_along", &add_along, "body"_a, "length"_a, "section"_a, nb::kw_only(),
           "middle"_a = zero, "points"_a = 2, "flow"_a.none() = nb::none(),
           "surface"_a.none() = nb::none(), "tail"_a.none() = nb::none(),
           "outward"_a = nb::make_tuple(1.0, 0.0, 0.0), inside,
           "A fluid along `length` [m] of a body's x-axis about `middle`: a FluidSection, or a "
           "function of X from its beginning, at Gauss points. tail: where the body ends in a wake "
           "(Lighthill's force), with the direction out of it.");
}

}  // namespace saltus::python
