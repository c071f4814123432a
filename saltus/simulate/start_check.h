// What a run can tell of its start before the first step: shapes inside each other, shapes that
// nothing can touch. Of what moves too far in a step: step_watch.h.
#pragma once
#include <string>
#include <vector>

#include "saltus/model/state.h"

namespace saltus {

// A line for each pair of shapes that begins deeper in each other than corrected steps leave any
// (penetration_allowed), deepest first; the worst few and a count.
[[nodiscard]] std::vector<std::string> overlaps_at(const Model& model, const State& state);
// A line for each coordinate that begins beyond its limits, as above.
[[nodiscard]] std::vector<std::string> beyond_limits_at(const Model& model, const State& state);
// The shapes of moving bodies that no contact rule names; empty: none.
[[nodiscard]] std::string untouchable(const Model& model);
// Moves shapes that begin inside each other apart, by the correction of positions: velocities stay.
// Returns the depth that is left [m].
double separate(const Model& model, State& state);

}  // namespace saltus
