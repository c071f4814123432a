#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

#include "handles.h"
#include "saltus/geometry/hull.h"
#include "saltus/geometry/terrain.h"
#include "saltus/model/validate.h"
#include "saltus/scene/mesh.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

Vec3 axis_of(nb::handle x) {
  const Vec3 axis = vec3_of(x, "axis");
  if (!(axis.norm() > 1e-12 && axis.allFinite() && std::isfinite(axis.norm())))
    throw InputError("axis: expected a direction, not zero");
  return axis.normalized();
}

template <class J>
void bind_axis_joint(nb::module_& m, const char* name, const char* doc, const Vec3& standard) {
  nb::class_<J>(m, name, doc)
      .def(
          "__init__", [](J* self, const ArrayLike& axis) { new (self) J{axis_of(axis)}; },
          "axis"_a = nb::make_tuple(standard.x(), standard.y(), standard.z()))
      .def_prop_ro(
          "axis", [](const J& j) { return owned(Vec(j.axis)); }, copied,
          "unit, in the joint's frame");
}

}  // namespace

void bind_joints(nb::module_& m) {
  nb::class_<Fixed>(m, "Fixed", "No motion.").def(nb::init<>());
  bind_axis_joint<Revolute>(m, "Revolute", "Turns about an axis; q [rad].", Vec3::UnitZ());
  bind_axis_joint<Prismatic>(m, "Prismatic", "Slides along an axis; q [m].", Vec3::UnitX());
  nb::class_<Planar>(m, "Planar", "q = (x, y, theta) [m, m, rad] in the parent's x-y plane.")
      .def(nb::init<>());
  nb::class_<Spherical>(m, "Spherical",
                        "q = quaternion (w, x, y, z), v = angular velocity in the body [rad/s].")
      .def(nb::init<>());
  nb::class_<Floating>(
      m, "Floating",
      "q = (position, quaternion), v = (velocity of the origin in the parent [m/s],"
      " angular velocity in the body [rad/s]).")
      .def(nb::init<>());
  nb::class_<Carrier>(m, "Carrier", "Translates along the parent's axes; q [m].").def(nb::init<>());
  nb::class_<PlanarCarrier>(m, "PlanarCarrier",
                            "A Carrier of a planar model: translates along x and y; q [m].")
      .def(nb::init<>());

  nb::class_<JointDof>(m, "JointDof", "What acts in one scalar coordinate of a joint.")
      .def(
          "__init__",
          [](JointDof* self, double armature, double stiffness, double rest, double damping,
             double friction, std::pair<double, double> limits, bool prescribed,
             std::optional<double> friction_dynamic) {
            const double share =
                friction_dynamic ? dynamic_share({{friction, *friction_dynamic}}) : 1;
            new (self) JointDof{armature, stiffness,    rest,          damping,   friction,
                                share,    limits.first, limits.second, prescribed};
          },
          nb::kw_only(), "armature"_a = 0.0, "stiffness"_a = 0.0, "rest"_a = 0.0, "damping"_a = 0.0,
          "friction"_a = 0.0, "limits"_a = nb::make_tuple(-infinity, infinity),
          "prescribed"_a = false, "friction_dynamic"_a = nb::none(),
          "armature [kg m^2 or kg], stiffness [N m/rad or N/m], rest [rad or m], damping "
          "[N m s/rad or N s/m], dry friction [N m or N] and what is left of it while the joint "
          "slides (friction_dynamic, at most friction), limits (lower, upper) [rad or m].")
      .def_ro("armature", &JointDof::armature, "[kg m^2] or [kg]")
      .def_ro("stiffness", &JointDof::stiffness, "[N m/rad] or [N/m]")
      .def_ro("rest", &JointDof::rest, "[rad] or [m]")
      .def_ro("damping", &JointDof::damping, "[N m s/rad] or [N s/m]")
      .def_ro("friction", &JointDof::friction, "[N m] or [N]")
      .def_prop_ro(
          "friction_dynamic", [](const JointDof& d) { return d.friction * d.dynamic; },
          "while the joint slides [N m] or [N]")
      .def_ro("prescribed", &JointDof::prescribed)
      .def_prop_ro(
          "limits", [](const JointDof& d) { return std::pair(d.lower, d.upper); },
          "lower, upper [rad] or [m]");

  nb::class_<Sphere>(m, "Sphere", "A ball; a circle in the plane.")
      .def(
          "__init__",
          [](Sphere* self, double radius) {
            require_positive(radius, "radius");
            new (self) Sphere{radius};
          },
          "radius"_a)
      .def_ro("radius", &Sphere::radius, "[m]");
  nb::class_<Capsule>(m, "Capsule", "A cylinder along x with two half balls.")
      .def(
          "__init__",
          [](Capsule* self, double radius, double half_length) {
            require_positive(radius, "radius");
            require_positive(half_length, "half_length");
            new (self) Capsule{radius, half_length};
          },
          "radius"_a, "half_length"_a)
      .def_ro("radius", &Capsule::radius, "[m]")
      .def_ro("half_length", &Capsule::half_length, "centre to the centre of a cap [m]");
  nb::class_<Cylinder>(m, "Cylinder", "A solid cylinder along x with flat ends.")
      .def(
          "__init__",
          [](Cylinder* self, double radius, double half_length) {
            require_positive(radius, "radius");
            require_positive(half_length, "half_length");
            new (self) Cylinder{radius, half_length};
          },
          "radius"_a, "half_length"_a)
      .def_ro("radius", &Cylinder::radius, "[m]")
      .def_ro("half_length", &Cylinder::half_length, "centre to an end [m]");
  nb::class_<Ellipsoid>(m, "Ellipsoid", "An ellipsoid; an ellipse in the plane.")
      .def(
          "__init__",
          [](Ellipsoid* self, const ArrayLike& semi_axes) {
            const Vec3 a = vec3_of(semi_axes, "semi_axes");
            for (int i = 0; i < 3; ++i) require_positive(a[i], "semi_axes");
            new (self) Ellipsoid{a};
          },
          "semi_axes"_a, "Along x, y, z [m].")
      .def_prop_ro(
          "semi_axes", [](const Ellipsoid& e) { return owned(Vec(e.semi_axes)); }, copied, "[m]");
  nb::class_<ConvexHull>(m, "ConvexHull", "The convex hull of points.")
      .def(
          "__init__",
          [](ConvexHull* self, const ArrayLike& points) {
            const Mat p = matrix_of(points, -1, 3, "points");
            std::vector<Vec3> list;
            for (Eigen::Index i = 0; i < p.rows(); ++i) list.emplace_back(p.row(i));
            new (self) ConvexHull(convex_hull(list));
          },
          "points"_a, "n x 3 [m], at least four that are not in one plane.")
      .def_prop_ro(
          "vertices",
          [](const ConvexHull& h) {
            Mat v(static_cast<Eigen::Index>(h.hull->vertices.size()), 3);
            for (Eigen::Index i = 0; i < v.rows(); ++i) v.row(i) = h.hull->vertices[i];
            return owned(v);
          },
          copied, "those of the points that are corners, n x 3 [m]")
      .def_prop_ro(
          "volume", [](const ConvexHull& h) { return h.hull->volume; }, "[m^3]")
      .def(
          "solid",
          [](const ConvexHull& h, double mass) {
            require_positive(mass, "mass");
            return solid_hull(mass, *h.hull);
          },
          "mass"_a, "RigidInertia of a homogeneous solid of this mass [kg], with its centre.");
  nb::class_<Box>(m, "Box", "A box.")
      .def(
          "__init__",
          [](Box* self, const ArrayLike& size) {
            const Vec3 s = vec3_of(size, "size");
            for (int i = 0; i < 3; ++i) require_positive(s[i], "size");
            new (self) Box{0.5 * s};
          },
          "size"_a, "Edge lengths [m].")
      .def_prop_ro(
          "half_size", [](const Box& b) { return owned(Vec(b.half_size)); }, copied, "[m]");
  nb::class_<HeightField>(m, "HeightField",
                          "A surface over a regular grid, solid below; nothing beside the grid.")
      .def(
          "__init__",
          [](HeightField* self, const ArrayLike& heights, const ArrayLike& spacing,
             const std::optional<ArrayLike>& origin) {
            const Mat z = matrix_of(heights, -1, -1, "heights");
            const Vec step = vector_of(spacing, 2, "spacing");
            const int nx = static_cast<int>(z.cols()), ny = static_cast<int>(z.rows());
            Vec first(2);
            first << -0.5 * (nx - 1) * step[0], -0.5 * (ny - 1) * step[1];
            if (origin) first = vector_of(*origin, 2, "origin");
            std::vector<double> rows;
            for (int j = 0; j < ny; ++j)
              for (int i = 0; i < nx; ++i) rows.push_back(z(j, i));
            new (self) HeightField(
                height_field(nx, ny, step[0], step[1], Vec2(first[0], first[1]), std::move(rows)));
          },
          "heights"_a, "spacing"_a, "origin"_a = nb::none(),
          "heights[j, i] [m] lies at x = origin[0] + i spacing[0], y = origin[1] + j spacing[1]; "
          "without an origin the grid is centred. Cells are cut along the diagonal from (i, j) to "
          "(i + 1, j + 1).")
      .def_prop_ro(
          "heights",
          [](const HeightField& h) {
            const Terrain& t = *h.terrain;
            Mat z(t.ny, t.nx);
            for (int j = 0; j < t.ny; ++j)
              for (int i = 0; i < t.nx; ++i) z(j, i) = t.at(i, j).z();
            return owned(z);
          },
          copied, "[m]")
      .def_prop_ro(
          "spacing",
          [](const HeightField& h) { return owned(Vec(Vec2(h.terrain->dx, h.terrain->dy))); },
          copied, "[m]")
      .def_prop_ro(
          "origin", [](const HeightField& h) { return owned(Vec(h.terrain->origin)); }, copied,
          "x and y of the first height [m]");
  m.def(
      "mesh",
      [](const PathLike& path, double scale) {
        require_positive(scale, "scale");
        return hull_of(read_mesh(path_of(path, "path")), Vec3::Constant(scale));
      },
      "path"_a, "scale"_a = 1.0, "The convex hull of an STL or OBJ file, drawn as the mesh.");
  nb::class_<HalfSpace>(m, "HalfSpace", "The solid is z < 0 of its frame: ground, walls.")
      .def(nb::init<>());
  nb::class_<Peg>(m, "Peg", "An unbounded cylinder along z.")
      .def(
          "__init__",
          [](Peg* self, double radius) {
            require_positive(radius, "radius");
            new (self) Peg{radius};
          },
          "radius"_a)
      .def_ro("radius", &Peg::radius, "[m]");
}

}  // namespace saltus::python
