#include "saltus/rods/strain_basis.h"

#include <fmt/format.h>

#include <algorithm>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr int most_of_a_basis = 1000;

int piece_of(double u, int count) { return std::clamp(static_cast<int>(u * count), 0, count - 1); }

}  // namespace

std::string_view name_of(Strain component) {
  constexpr std::string_view names[] = {"stretch", "shear_y", "shear_z",
                                        "torsion", "bend_y",  "bend_z"};
  return names[static_cast<int>(component)];
}

int functions(const StrainBasis& basis) {
  return basis.kind == BasisKind::linear ? basis.count + 1 : basis.count;
}

std::vector<double> knots(const StrainBasis& basis) {
  const int pieces = basis.kind == BasisKind::legendre ? 1 : basis.count;
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
  }
}

void check_basis(const StrainBasis& basis, const std::string& path) {
  if (basis.count < 1 || basis.count > most_of_a_basis) {
    throw InputError(path + ".count",
                     fmt::format("expected 1 to {}, got {}", most_of_a_basis, basis.count));
  }
}

}  // namespace saltus
