// How near to zero a guard counts as zero, in shares of its scale. Events that lie within a band of
// each other are resolved as one.
#pragma once
#include <algorithm>

namespace saltus {

struct EventBands {
  // Rounding and polishing leave about 1e-14; a step leaves its tolerance.
  explicit EventBands(double tolerance)
      : gap(std::max(1e-11, 10 * tolerance)),
        velocity(std::max(1e-10, 10 * tolerance)),
        force(std::max(1e-10, 10 * tolerance)),
        slip(std::max(1e-9, 100 * tolerance)) {}
  double gap, velocity, force;
  double slip;  // a slip in two directions only comes near zero: below this it has stopped
};

// Shapes within this share of the length scale touch.
inline constexpr double touching_gap = 1e-9;

// Impacts that leave with less, in shares of the speed of a fall over a length scale, are passed:
// at 1e-5 a flight is 1e-10 length scales high, which rounding of positions still resolves to 1e-6;
// the rest of the sequence is known to that.
inline constexpr double accumulation_speed = 1e-5;

}  // namespace saltus
