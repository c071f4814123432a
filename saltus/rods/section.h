// What a section of a rod is made of: its stiffness, damping and inertia per length.
//
//   Lambda = H (xi - xi_0) + mu dxi/dt,   H = diag(EA, k GA, k GA, G J, E I_y, E I_z)   (P4 eq. 38)
//
// Kelvin and Voigt: mu = (viscosity / E) H. Strains are linear part first, x along the rod.
#pragma once
#include <string>
#include <variant>

#include "saltus/base/types.h"

namespace saltus {

struct CircleSection {
  double radius = 0;  // [m]
};
struct RectangleSection {
  double width = 0, height = 0;  // along y and z [m]
};
struct GivenSection {
  double area = 0;                 // [m^2]
  double I_y = 0, I_z = 0, J = 0;  // second moments about y and z, torsion constant [m^4]
};
using RodSection = std::variant<CircleSection, RectangleSection, GivenSection>;

// Area and moments of any of them; J of a rectangle by Saint-Venant's series.
[[nodiscard]] GivenSection section_moments(const RodSection& section);
// The section at the share u of the way from a to b: sizes (of a given one: moments) change
// linearly. Both must be of one kind.
[[nodiscard]] RodSection tapered(const RodSection& a, const RodSection& b, double u);

struct RodMaterial {
  double E = 0;             // [Pa]
  double nu = 0;            // [-]
  double rho = 0;           // [kg/m^3]
  double viscosity = 0;     // [Pa s]
  double shear_factor = 1;  // k [-]; P4 has none (ERRATA: 1)
};

// Per length, of one section.
struct RodProperties {
  Mat6 stiffness = Mat6::Zero();  // H [N, N m^2]
  Mat6 damping = Mat6::Zero();    // mu [N s, N m^2 s]
  Mat6 inertia = Mat6::Zero();    // [kg/m, kg m]
};
[[nodiscard]] RodProperties properties(const RodMaterial& material, const RodSection& section);

// Throw InputError, `path` naming the place.
void check_section(const RodSection& section, const std::string& path);
void check_material(const RodMaterial& material, const std::string& path);
void check_properties(const RodProperties& properties, const std::string& path);

}  // namespace saltus
