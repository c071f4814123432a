// How near to zero a guard counts as zero, in shares of its scale. Rounding and the dense output
// leave about 1e-14; events that lie within a band of each other are resolved as one.
#pragma once

namespace saltus {

inline constexpr double gap_band = 1e-11;
inline constexpr double velocity_band = 1e-10;
inline constexpr double force_band = 1e-10;
// A slip in two directions only comes near zero: below this it has stopped.
inline constexpr double slip_band = 1e-9;
// Impacts that leave with less are passed (accumulation).
inline constexpr double accumulation_speed = 1e-6;

}  // namespace saltus
