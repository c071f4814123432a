// Multipliers of friction over the x-y plane of a shape's frame.
#pragma once
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

// Throws InputError where sizes do not agree or a factor is negative or not finite.
[[nodiscard]] std::shared_ptr<const FrictionMap> friction_map(FrictionMap map);

}  // namespace saltus
