// The start of a model with loops: its posture and its velocities must close them.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"

namespace saltus {

// What the start asks of a joint coordinate, tree or cut. Wishes are kept in their order as far as
// the loops allow; the other coordinates follow by the smallest change in the metric of the mass
// matrix.
struct CoordinateWish {
  CoordinateIndex coordinate;
  double value = 0, rate = 0;  // [rad, rad/s] or [m, m/s]
  bool with_value = false, with_rate = false;
};

struct ClosureReport {
  double gap = 0;           // largest gap of a loop at first [m]; rotations times the length scale
  double gap_left = 0;      // and at the end, of any cut or wished prescribed value
  double rate_left = 0;     // largest rate of a gap at the end [m/s]
  double largest_miss = 0;  // of a wished rate [m/s]
  int loop = -1;            // the cut with the largest gap
  int missed = -1;          // the wish with the largest miss
};

// The largest gap of a loop at the posture of `state` and the cut it belongs to (-1: no loops).
[[nodiscard]] ClosureReport measure_loops(const Model& model, const State& state);

// Closes the cuts of `state` at position and velocity level.
[[nodiscard]] ClosureReport close_start(const Model& model,
                                        const std::vector<CoordinateWish>& wishes, State& state);

}  // namespace saltus
