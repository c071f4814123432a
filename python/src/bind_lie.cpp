#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "handles.h"
#include "saltus/lie/inertia.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

Mat3 rotation_of(nb::handle R) {
  const Mat3 m = matrix_of(R, 3, 3, "R");
  if ((m * m.transpose() - Mat3::Identity()).norm() > 1e-6 || m.determinant() < 0)
    throw InputError("R: expected a rotation matrix");
  return Quat(m).normalized().toRotationMatrix();
}

Mat3 from_rpy(const Vec3& rpy) {  // R = Rz(yaw) Ry(pitch) Rx(roll), as in scenes
  return (Eigen::AngleAxisd(rpy.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Vec3::UnitY()) *
          Eigen::AngleAxisd(rpy.x(), Vec3::UnitX()))
      .toRotationMatrix();
}

SE3 make_pose(nb::handle position, const std::optional<ArrayLike>& rpy,
              const std::optional<ArrayLike>& quaternion, const std::optional<ArrayLike>& R) {
  SE3 X;
  X.r = vec3_of(position, "position");
  if (rpy.has_value() + quaternion.has_value() + R.has_value() > 1)
    throw InputError("expected at most one of rpy, quaternion and R");
  if (rpy) X.R = from_rpy(vec3_of(*rpy, "rpy"));
  if (quaternion) {
    const Vec q = vector_of(*quaternion, 4, "quaternion");
    if (!(std::abs(q.norm() - 1) < 1e-3))
      throw InputError("quaternion: expected a unit quaternion w, x, y, z");
    X.R = Quat(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
  }
  if (R) X.R = rotation_of(*R);
  return X;
}

RigidInertia make_inertia(double mass, const std::optional<ArrayLike>& com,
                          const std::optional<ArrayLike>& about_com) {
  RigidInertia i;
  i.mass = mass;
  if (com) i.com = vec3_of(*com, "com");
  if (about_com) i.about_com = matrix_of(*about_com, 3, 3, "about_com");
  return i;
}

Array2 solid(double mass, std::initializer_list<double> sizes, const Mat3& J) {
  require_positive(mass, "mass");
  for (const double x : sizes) require_positive(x, "size");
  return owned(Mat(J));
}

}  // namespace

void bind_lie(nb::module_& m) {
  nb::class_<SE3>(m, "SE3",
                  "A pose (R, r): it maps points of a body to its parent, p_parent = R p + r.\n\n"
                  "At most one of rpy [rad] (roll, pitch, yaw: R = Rz Ry Rx), quaternion "
                  "(w, x, y, z) and R gives the rotation.")
      .def(
          "__init__",
          [](SE3* self, const ArrayLike& position, const std::optional<ArrayLike>& rpy,
             const std::optional<ArrayLike>& quaternion, const std::optional<ArrayLike>& R) {
            new (self) SE3(make_pose(position, rpy, quaternion, R));
          },
          "position"_a = nb::make_tuple(0.0, 0.0, 0.0), nb::kw_only(), "rpy"_a = nb::none(),
          "quaternion"_a = nb::none(), "R"_a = nb::none())
      .def_prop_ro(
          "R", [](const SE3& X) { return owned(Mat(X.R)); }, copied, "rotation, 3 x 3")
      .def_prop_ro(
          "r", [](const SE3& X) { return owned(Vec(X.r)); }, copied, "position [m]")
      .def("inverse", &SE3::inverse)
      .def(
          "__mul__", [](const SE3& a, const SE3& b) { return a * b; }, nb::is_operator())
      .def(
          "apply", [](const SE3& X, const ArrayLike& p) { return owned(Vec(X * vec3_of(p, "p"))); },
          "p"_a, "The point p [m] of the body in the parent.")
      .def("__repr__", [](const SE3& X) {
        const Quat q(X.R);
        return fmt::format("SE3(position=({:g}, {:g}, {:g}), quaternion=({:g}, {:g}, {:g}, {:g}))",
                           X.r.x(), X.r.y(), X.r.z(), q.w(), q.x(), q.y(), q.z());
      });

  nb::class_<RigidInertia>(m, "RigidInertia", "Mass properties of a rigid body.")
      .def(
          "__init__",
          [](RigidInertia* self, double mass, const std::optional<ArrayLike>& com,
             const std::optional<ArrayLike>& about_com) {
            new (self) RigidInertia(make_inertia(mass, com, about_com));
          },
          "mass"_a, "com"_a = nb::none(), "about_com"_a = nb::none(),
          "mass [kg]; com: centre of mass in the body's frame [m]; about_com: moments of inertia "
          "about it, body axes, 3 x 3 [kg m^2].")
      .def_ro("mass", &RigidInertia::mass, "[kg]")
      .def_prop_ro(
          "com", [](const RigidInertia& i) { return owned(Vec(i.com)); }, copied,
          "centre of mass in the body's frame [m]")
      .def_prop_ro(
          "about_com", [](const RigidInertia& i) { return owned(Mat(i.about_com)); }, copied,
          "moments of inertia about it, body axes [kg m^2]");

  m.def(
      "solid_box",
      [](double mass, const ArrayLike& size) {
        const Vec3 s = vec3_of(size, "size");
        return solid(mass, {s.x(), s.y(), s.z()}, solid_box(mass, s));
      },
      "mass"_a, "size"_a,
      "Moments of inertia [kg m^2] of a box of that mass [kg] and edge lengths [m].");
  m.def(
      "solid_sphere",
      [](double mass, double radius) { return solid(mass, {radius}, solid_sphere(mass, radius)); },
      "mass"_a, "radius"_a, "Moments of inertia [kg m^2] of a ball of that mass [kg], radius [m].");
  m.def(
      "solid_cylinder",
      [](double mass, double radius, double length) {
        return solid(mass, {radius, length}, solid_cylinder(mass, radius, length));
      },
      "mass"_a, "radius"_a, "length"_a,
      "Moments of inertia [kg m^2] of a cylinder along x of that mass [kg], radius and length "
      "[m].");
}

}  // namespace saltus::python
