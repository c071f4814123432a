#include "saltus/rods/strain_basis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr int most_of_a_basis = 1000;

constexpr int most_modes = 100;

// beta L of mode k = 0, 1, ...: cos b cosh b = 1 of a free beam, -1 of a clamped one.
double wave_number(int k, bool clamped) {
  const double side = clamped ? 1 : -1;
  double b = (k + (clamped ? 0.5 : 1.5)) * std::numbers::pi;
  for (int round = 0; round < 8; ++round)
    b += (std::cos(b) + side / std::cosh(b)) / (std::sin(b) + side * std::tanh(b) / std::cosh(b));
  return b;
}

// cosh x +- cos x - s (sinh x +- sin x) with x = b u, over 2: the curvature of the mode, 1 at a
// clamp. The growing part is small by 1 - s, which is written without cancellation.
double curvature_of_mode(int k, bool clamped, double u) {
  const double b = wave_number(k, clamped), x = b * u, side = clamped ? 1 : -1;
  const double below = std::sinh(b) + side * std::sin(b);
  const double rest = (side * (std::sin(b) - std::cos(b)) - std::exp(-b)) / below;  // 1 - s
  return 0.5 *
         (std::exp(-x) + rest * std::sinh(x) + side * (std::cos(x) - (1 - rest) * std::sin(x)));
}

double strain_of_mode(Strain component, int k, bool clamped, double u) {
  if (component == Strain::bend_y || component == Strain::bend_z)
    return curvature_of_mode(k, clamped, u);
  return clamped ? std::cos((k + 0.5) * std::numbers::pi * u)
                 : std::sin((k + 1) * std::numbers::pi * u);
}

int piece_of(double u, int count) { return std::clamp(static_cast<int>(u * count), 0, count - 1); }

}  // namespace

std::string_view name_of(Strain component) {
  constexpr std::string_view names[] = {"stretch", "shear_y", "shear_z",
                                        "torsion", "bend_y",  "bend_z"};
  return names[static_cast<int>(component)];
}

bool is_of_modes(BasisKind kind) {
  return kind == BasisKind::free_modes || kind == BasisKind::clamped_modes;
}

int functions(const StrainBasis& basis) {
  return basis.kind == BasisKind::linear ? basis.count + 1 : basis.count;
}

std::vector<double> knots(const StrainBasis& basis) {
  const bool smooth = basis.kind == BasisKind::legendre || is_of_modes(basis.kind);
  const int pieces = smooth ? 1 : basis.count;
  std::vector<double> list(pieces + 1);
  for (int k = 0; k <= pieces; ++k) list[k] = static_cast<double>(k) / pieces;
  return list;
}

void evaluate(const StrainBasis& basis, double u, VecRef values) {
  values.setZero();
  switch (basis.kind) {
    case BasisKind::constant: values[piece_of(u, basis.count)] = 1; break;
    case BasisKind::linear: {
      const int k = piece_of(u, basis.count);
      const double share = u * basis.count - k;
      values[k] = 1 - share;
      values[k + 1] = share;
      break;
    }
    case BasisKind::legendre: {
      const double x = 2 * u - 1;
      double p = 1, before = 0;
      for (int n = 0; n < basis.count; ++n) {
        values[n] = p;
        const double next = ((2 * n + 1) * x * p - n * before) / (n + 1);
        before = p;
        p = next;
      }
      break;
    }
    case BasisKind::free_modes:
    case BasisKind::clamped_modes:
      for (int k = 0; k < basis.count; ++k)
        values[k] = strain_of_mode(basis.component, k, basis.kind == BasisKind::clamped_modes, u);
  }
}

void check_basis(const StrainBasis& basis, const std::string& path) {
  const int most = is_of_modes(basis.kind) ? most_modes : most_of_a_basis;
  if (basis.count < 1 || basis.count > most)
    throw InputError(path + ".count", fmt::format("expected 1 to {}, got {}", most, basis.count));
}

}  // namespace saltus
