// Spatial inertia of a rigid body about its frame's origin, linear part first:
//   [ m 1    -m hat(c) ]
//   [ m hat(c)    J_O  ],   J_O = J_C - m hat(c)^2
#pragma once
#include "saltus/base/types.h"

namespace saltus {

struct RigidInertia {
  double mass = 0;                // [kg]
  Vec3 com = Vec3::Zero();        // centre of mass in the body frame [m]
  Mat3 about_com = Mat3::Zero();  // moment of inertia about the centre of mass, body axes [kg m^2]
};

[[nodiscard]] Mat6 spatial_inertia(const RigidInertia& body);
// True when the principal moments are those of some mass distribution: all >= 0, and none larger
// than the sum of the other two.
[[nodiscard]] bool physical(const Mat3& inertia_about_com);

[[nodiscard]] Mat3 solid_box(double mass, const Vec3& size);  // full edge lengths [m]
[[nodiscard]] Mat3 solid_sphere(double mass, double radius);
[[nodiscard]] Mat3 solid_ellipsoid(double mass, const Vec3& semi_axes);
[[nodiscard]] Mat3 solid_cylinder(double mass, double radius, double length);  // axis x

}  // namespace saltus
