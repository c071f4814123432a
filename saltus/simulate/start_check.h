// What a run can tell of its start before the first step: shapes inside each other, shapes that
// nothing can touch, bodies that turn too far in a step.
#pragma once
#include <string>
#include <vector>

#include "saltus/model/state.h"

namespace saltus {

// Beyond this a step no longer resolves a rotation: the error of its energy is some percent [rad].
inline constexpr double turn_allowed = 0.5;

// A line for each pair of shapes that begins deeper in each other than corrected steps leave any
// (penetration_allowed), deepest first; the worst few and a count.
[[nodiscard]] std::vector<std::string> overlaps_at(const Model& model, const State& state);
// A line for each coordinate that begins beyond its limits, as above.
[[nodiscard]] std::vector<std::string> beyond_limits_at(const Model& model, const State& state);
// The shapes of moving bodies that no contact rule names; empty: none.
[[nodiscard]] std::string untouchable(const Model& model);
// The body that turns furthest in a step of this length, if too far; else empty.
[[nodiscard]] std::string too_fast(const Model& model, const State& state, double dt);
// Moves shapes that begin inside each other apart, by the correction of positions: velocities stay.
// Returns the depth that is left [m].
double separate(const Model& model, State& state);

}  // namespace saltus
