// Bases of strain fields: xi(X) = xi_0(X) + B(X) q, each function on one component of xi.
//
//   constant   1 on one of `count` equal pieces of the segment
//   linear     hat functions on the count + 1 knots between equal pieces: continuous
//   legendre   P_0 ... P_(count - 1) over the whole segment
//   modes      strains of the first `count` modes of a uniform rod that is free, or clamped at its
//              base: of bending the curvature of Euler's beam, of torsion and stretch sin(k pi u),
//              cos((k - 1/2) pi u)
//
// Bases of one component add up. A component without a basis is rigid: it keeps xi_0.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

enum class Strain : char { stretch, shear_y, shear_z, torsion, bend_y, bend_z };  // rows of xi
enum class BasisKind : char { constant, linear, legendre, free_modes, clamped_modes };

struct StrainBasis {
  Strain component = Strain::bend_z;
  BasisKind kind = BasisKind::legendre;
  int count = 1;
};

[[nodiscard]] std::string_view name_of(Strain component);  // "bend_z"
[[nodiscard]] bool is_of_modes(BasisKind kind);
[[nodiscard]] int functions(const StrainBasis& basis);
// Where its functions or their slopes jump: the shares of the length where pieces meet, 0 and 1
// too.
[[nodiscard]] std::vector<double> knots(const StrainBasis& basis);
// Its functions at the share u in [0, 1] of the length. On a knot: of the piece behind it (at 1, of
// the last one). No allocation.
void evaluate(const StrainBasis& basis, double u, VecRef values);

void check_basis(const StrainBasis& basis, const std::string& path);  // throws InputError

}  // namespace saltus
