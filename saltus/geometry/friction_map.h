// Multipliers of friction over the x-y plane of a shape's frame.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// A grid of samples, either cells (each value holds over its own dx x dy) or nodes (bilinear
// between them). Beyond the grid the nearest value holds.
struct FrictionMap {
  enum class Between { cells, bilinear };
  int nx = 0, ny = 0;
  double dx = 1, dy = 1;        // [m]
  Vec2 origin = Vec2::Zero();   // cells: the corner of the first; bilinear: the first node [m]
  std::vector<double> factors;  // row by row, x runs fastest; >= 0
  Between between = Between::cells;

  [[nodiscard]] double at(double x, double y) const;
};

// A rectangle of a map on which the factor is a polynomial: equal cells together, or what is
// between four nodes. Beyond its edges the polynomial goes on.
struct FrictionPatch {
  int i = 0, j = 0;  // the cell that it was found by
  Vec2 low = Vec2::Constant(-infinity), high = Vec2::Constant(infinity);  // [m]
  Vec2 corner = Vec2::Zero();           // where the polynomial is c[0] [m]
  std::array<double, 4> c{1, 0, 0, 0};  // of 1, x, y, x y

  [[nodiscard]] double at(const Vec2& p) const;
  [[nodiscard]] double room(const Vec2& p) const;  // to the nearest edge; beyond it < 0 [m]
};
// The patch of a cell: of cells 0 .. n - 1; of nodes -1 .. n - 1, the outer ones being beyond the
// grid.
[[nodiscard]] FrictionPatch patch_of(const FrictionMap& map, int i, int j);
// The patch that p is on. Within `slack` of an edge it is the one that `heading` leads to, or if
// that is 0 across the edge, the one it was on.
[[nodiscard]] FrictionPatch patch_at(const FrictionMap& map, const Vec2& p, const Vec2& heading,
                                     double slack, const FrictionPatch& was);

// Throws InputError where sizes do not agree or a factor is negative or not finite.
[[nodiscard]] std::shared_ptr<const FrictionMap> friction_map(FrictionMap map);

}  // namespace saltus
