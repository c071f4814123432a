#include "saltus/rods/section.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr double pi = std::numbers::pi;

GivenSection moments_of(const CircleSection& s) {
  const double square = s.radius * s.radius, I = pi / 4 * square * square;
  return {pi * square, I, I, 2 * I};
}

// J = a b^3/3 (1 - 192 b/(pi^5 a) sum tanh(n pi a/2b)/n^5), n odd, a >= b: the n-th term is below
// n^-5, and the sum from n on below n^-4/8.
GivenSection moments_of(const RectangleSection& s) {
  const double a = std::max(s.width, s.height), b = std::min(s.width, s.height);
  double sum = 0;
  for (int n = 2001; n >= 1; n -= 2) sum += std::tanh(n * pi * a / (2 * b)) / std::pow(n, 5);
  const double J = a * b * b * b / 3 * (1 - 192 * b / (std::pow(pi, 5) * a) * sum);
  return {s.width * s.height, s.width * std::pow(s.height, 3) / 12,
          s.height * std::pow(s.width, 3) / 12, J};
}

GivenSection moments_of(const GivenSection& s) { return s; }

CircleSection between(const CircleSection& a, const CircleSection& b, double u) {
  return {std::lerp(a.radius, b.radius, u)};
}
RectangleSection between(const RectangleSection& a, const RectangleSection& b, double u) {
  return {std::lerp(a.width, b.width, u), std::lerp(a.height, b.height, u)};
}
GivenSection between(const GivenSection& a, const GivenSection& b, double u) {
  return {std::lerp(a.area, b.area, u), std::lerp(a.I_y, b.I_y, u), std::lerp(a.I_z, b.I_z, u),
          std::lerp(a.J, b.J, u)};
}

void positive(double x, const std::string& path, const char* what) {
  if (!(x > 0) || !std::isfinite(x)) {
    throw InputError(path, fmt::format("expected a positive {}, got {}", what, x));
  }
}

void check(const CircleSection& s, const std::string& path) {
  positive(s.radius, path + ".radius", "radius [m]");
}
void check(const RectangleSection& s, const std::string& path) {
  positive(s.width, path + ".width", "width [m]");
  positive(s.height, path + ".height", "height [m]");
}
void check(const GivenSection& s, const std::string& path) {
  positive(s.area, path + ".area", "area [m^2]");
  positive(s.I_y, path + ".I_y", "second moment [m^4]");
  positive(s.I_z, path + ".I_z", "second moment [m^4]");
  positive(s.J, path + ".J", "torsion constant [m^4]");
}

void check_form(const Mat6& A, const std::string& path) {
  const double size = A.cwiseAbs().maxCoeff();
  if (!A.allFinite() || (A - A.transpose()).cwiseAbs().maxCoeff() > 1e-12 * size) {
    throw InputError(path, "expected a symmetric 6 x 6 matrix of finite numbers");
  }
  const Eigen::LDLT<Mat> factor(A);
  if (factor.vectorD().minCoeff() < -1e-12 * size) {
    throw InputError(path, "expected a matrix without negative eigenvalues");
  }
}

}  // namespace

GivenSection section_moments(const RodSection& section) {
  return std::visit([](const auto& s) { return moments_of(s); }, section);
}

RodSection tapered(const RodSection& a, const RodSection& b, double u) {
  return std::visit(
      [&](const auto& s) -> RodSection {
        return between(s, std::get<std::decay_t<decltype(s)>>(b), u);
      },
      a);
}

RodProperties properties(const RodMaterial& material, const RodSection& section) {
  const GivenSection s = section_moments(section);
  const double G = material.E / (2 * (1 + material.nu));
  const double shear = material.shear_factor * G * s.area;
  RodProperties p;
  p.stiffness.diagonal() << material.E * s.area, shear, shear, G * s.J, material.E * s.I_y,
      material.E * s.I_z;
  p.damping = material.viscosity / material.E * p.stiffness;
  const double m = material.rho * s.area;
  p.inertia.diagonal() << m, m, m, material.rho * (s.I_y + s.I_z), material.rho * s.I_y,
      material.rho * s.I_z;
  return p;
}

void check_section(const RodSection& section, const std::string& path) {
  std::visit([&](const auto& s) { check(s, path); }, section);
}

void check_material(const RodMaterial& material, const std::string& path) {
  positive(material.E, path + ".E", "modulus [Pa]");
  positive(material.rho, path + ".rho", "density [kg/m^3]");
  positive(material.shear_factor, path + ".shear_factor", "shear factor");
  if (!(material.nu > -1 && material.nu <= 0.5)) {
    throw InputError(path + ".nu", fmt::format("expected -1 < nu <= 0.5, got {}", material.nu));
  }
  if (!(material.viscosity >= 0) || !std::isfinite(material.viscosity)) {
    throw InputError(path + ".viscosity",
                     fmt::format("expected a number >= 0 [Pa s], got {}", material.viscosity));
  }
}

void check_properties(const RodProperties& properties, const std::string& path) {
  check_form(properties.stiffness, path + ".stiffness");
  check_form(properties.damping, path + ".damping");
  check_form(properties.inertia, path + ".inertia");
}

}  // namespace saltus
