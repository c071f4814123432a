#include "saltus/lie/inertia.h"

#include <Eigen/Eigenvalues>

#include "saltus/lie/so3.h"

namespace saltus {

Mat6 spatial_inertia(const RigidInertia& body) {
  const Mat3 C = hat(body.com);
  Mat6 I;
  I << body.mass * Mat3::Identity(), -body.mass * C, body.mass * C,
      body.about_com - body.mass * C * C;
  return I;
}

bool physical(const Mat3& inertia_about_com) {
  const Vec3 J = Eigen::SelfAdjointEigenSolver<Mat3>(inertia_about_com, Eigen::EigenvaluesOnly)
                     .eigenvalues();  // ascending
  const double slack = 1e-9 * J[2];   // files print inertias with few digits: thin plates are exact
  return J[0] >= -slack && J[2] <= J[0] + J[1] + slack;
}

Mat3 solid_box(double mass, const Vec3& size) {
  const Vec3 s = size.cwiseAbs2();
  return (mass / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal();
}

Mat3 solid_sphere(double mass, double radius) {
  return 0.4 * mass * radius * radius * Mat3::Identity();
}

Mat3 solid_ellipsoid(double mass, const Vec3& semi_axes) {
  const Vec3 s = semi_axes.cwiseAbs2();
  return (0.2 * mass * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal();
}

Mat3 solid_cylinder(double mass, double radius, double length) {
  const double across = mass * (3 * radius * radius + length * length) / 12;
  return Vec3(0.5 * mass * radius * radius, across, across).asDiagonal();
}

}  // namespace saltus
