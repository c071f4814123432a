// A step with a clock between its stages (P2 Fig. 7); step() itself looks at none.
#pragma once
#include <array>

#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

enum class StepStage {
  smooth,    // kinematics, M and h, the velocity without impulses
  factor,    // of M
  contacts,  // found and written as rows
  delassus,  // G, and the factor of joints with their own fixed point
  impulses,  // Lambda and v_E
  end,       // energy ledger, q_E and its correction
  count
};
struct StepTimes {
  std::array<double, static_cast<std::size_t>(StepStage::count)> seconds{};
};

// As step(), with the same bits; adds what each stage took.
[[nodiscard]] StepReport timed_step(const Model& model, const Actuation& actuation, State& state,
                                    StepWorkspace& work, const MoreauMidpoint& options,
                                    StepTimes& times);

}  // namespace saltus
