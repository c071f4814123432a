#include "saltus/forces/added_mass.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {

namespace {

// Carlson's R_D(x, y, z) = 3/2 int_0^inf du / (sqrt((u + x) (u + y)) (u + z)^(3/2)), by duplication
// until the arguments are near each other, then by a series in what they differ.
double carlson_rd(double x, double y, double z) {
  double sum = 0, scale = 1, mean = 0;
  Vec3 d = Vec3::Ones();
  while (true) {
    mean = (x + y + 3 * z) / 5;
    d = Vec3(mean - x, mean - y, mean - z) / mean;
    if (d.cwiseAbs().maxCoeff() < 1e-3) break;  // the series leaves out its sixth power
    const double lambda = std::sqrt(x * y) + std::sqrt(y * z) + std::sqrt(z * x);
    sum += scale / (std::sqrt(z) * (z + lambda));
    scale /= 4;
    x = (x + lambda) / 4;
    y = (y + lambda) / 4;
    z = (z + lambda) / 4;
  }
  const double xy = d[0] * d[1], zz = d[2] * d[2];
  const double e2 = xy - 6 * zz, e3 = (3 * xy - 8 * zz) * d[2], e4 = 3 * (xy - zz) * zz,
               e5 = xy * zz * d[2];
  const double series =
      1 - 3 * e2 / 14 + e3 / 6 + 9 * e2 * e2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26;
  return 3 * sum + scale * series / (mean * std::sqrt(mean));
}

}  // namespace

Mat6 ellipsoid_added_mass(double density, const Vec3& semi_axes) {
  // In units of the longest: the integrals have no unit.
  const double longest = semi_axes.maxCoeff();
  const Vec3 s = semi_axes / longest, square = s.cwiseAbs2();
  const double volume = 4 * std::numbers::pi / 3 * semi_axes.prod();
  Vec3 alpha;
  for (int i = 0; i < 3; ++i)
    alpha[i] = 2.0 / 3 * s.prod() * carlson_rd(square[(i + 1) % 3], square[(i + 2) % 3], square[i]);
  Vec6 m = Vec6::Zero();
  for (int i = 0; i < 3; ++i) {
    m[i] = density * volume * alpha[i] / (2 - alpha[i]);
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double apart = square[j] - square[k], both = square[j] + square[k];
    if (std::abs(apart) < 1e-9 * both) continue;  // it turns in its own shape
    const double turn = (alpha[k] - alpha[j]) / apart;
    m[3 + i] = density * volume / 5 * longest * longest *
               std::max(0.0, apart * apart * turn / (2 - both * turn));
  }
  return m.asDiagonal();
}

Mat6 cylinder_added_mass(double density, double b, double c, double length) {
  const double k = density * std::numbers::pi * length, strip = length * length / 12;
  Vec6 m;
  m << 0, k * c * c, k * b * b, k / 8 * std::pow(b * b - c * c, 2), k * b * b * strip,
      k * c * c * strip;
  return m.asDiagonal();
}

FluidSection elliptic_section(double density, double thickness, double height) {
  const double k = density * std::numbers::pi / 4;
  FluidSection s;
  s.added = k * Vec3(0, height * height, thickness * thickness);
  s.displaced = k * thickness * height;
  return s;
}

}  // namespace saltus
