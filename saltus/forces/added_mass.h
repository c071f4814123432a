// Added mass of solids in a perfect fluid without bounds, 6 x 6, linear part first, about their
// centres and in their principal axes; of given density rho [kg/m^3].
//
// Ellipsoid (Lamb, Hydrodynamics, 114, 115): with V its volume, D = sqrt((a^2+u)(b^2+u)(c^2+u)),
//   alpha = a b c int_0^inf du / ((a^2 + u) D), beta and gamma likewise,
//   along x  rho V alpha / (2 - alpha)
//   about x  rho V/5 (b^2 - c^2)^2 (gamma - beta) / (2 (b^2 - c^2) + (b^2 + c^2) (beta - gamma))
// Cylinders along x with the semi-axes b, c along y, z: that of their sections, length by length
// (strips), nothing along x:
//   along y rho pi c^2, z rho pi b^2, about x rho pi/8 (b^2 - c^2)^2, per length.
#pragma once
#include "saltus/model/builder.h"

namespace saltus {

[[nodiscard]] Mat6 ellipsoid_added_mass(double density, const Vec3& semi_axes);
[[nodiscard]] Mat6 cylinder_added_mass(double density, double b, double c, double length);

// Of an elliptic section, thickness along y and height along z [m]: added mass rho pi/4 (0,
// height^2, thickness^2), and what it displaces.
[[nodiscard]] FluidSection elliptic_section(double density, double thickness, double height);

}  // namespace saltus
