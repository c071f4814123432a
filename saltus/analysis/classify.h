// What kind of system a creature with ideal axles is at a shape (P4 section 5, eq. 17 to 19): rows
// 0 = A eta + B u, n the dimension of the net group.
//
//   free               no rows: the net motion is dynamics alone
//   under-constrained  rank A < n: n - rank A net twists are left to dynamics, H
//   fully constrained  rank A = n, and no row is left to restrict the rates
//   over-constrained   rank A = n, and the other rows restrict the rates: N'B u = 0, A'N = 0
#pragma once
#include <string_view>

#include "saltus/analysis/connection.h"

namespace saltus {

enum class ShapeClass { free, under, fully, over };
[[nodiscard]] std::string_view name_of(ShapeClass kind);

struct Classification {
  ShapeClass kind = ShapeClass::free;
  int rank = 0;         // of A
  int rank_all = 0;     // of [A B]
  Vec singular_values;  // of A, largest first
  Mat H;                // n x (n - rank): twists that the axles of a locked shape allow
  Mat N;                // m x (m - rank): axle forces in balance among themselves
  Mat rates;            // p x k: a basis of the compatible r'
};
// Singular values below this share of the largest count as zero.
inline constexpr double rank_tolerance = 1e-9;

[[nodiscard]] Classification classify(const Model& model, const ShapeSpace& space,
                                      const std::vector<ConstraintRow>& rows, VecIn r);

// Some of eta and r' are given (the others NaN): the least squares of the rows for the rest, of
// least norm where they do not decide.
struct CompletedRates {
  Vec eta, rdot;
  bool unique = true;
  double residual = 0;  // of the rows [m/s]
};
[[nodiscard]] CompletedRates complete_rates(const Model& model, const ShapeSpace& space,
                                            const std::vector<ConstraintRow>& rows, VecIn r,
                                            VecIn eta, VecIn rdot);

}  // namespace saltus
