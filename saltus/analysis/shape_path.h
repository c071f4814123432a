// A way through the shapes of a creature: some shape variables follow signals, the others stay.
#pragma once
#include <vector>

#include "saltus/analysis/shape_space.h"
#include "saltus/control/signal.h"

namespace saltus {

struct ShapePath {
  Vec base;                   // the shape where no signal says otherwise
  std::vector<int> variable;  // of the shape
  std::vector<Signal> r;      // of each of these
  double start = 0, end = 1;  // [s]
};

[[nodiscard]] Vec shape_at(const ShapePath& path, double t);
[[nodiscard]] Vec shape_rate(const ShapePath& path, double t);  // right-hand
[[nodiscard]] Vec shape_acceleration(const ShapePath& path, double t);
// start, the times in between at which a signal or a derivative jumps, end.
[[nodiscard]] std::vector<double> shape_pieces(const ShapePath& path);
// Throws InputError where a variable leaves its joint's limits, with the time.
void check_limits(const ShapeSpace& space, const ShapePath& path);

}  // namespace saltus
