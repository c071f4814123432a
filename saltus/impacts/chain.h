// P1's chain for one island: stick trial and algebraic law (eq. 3.14 to 3.16), the dissipation
// principle where a point slips (eq. 4.4 to 4.10), energetic restitution (eq. 5.2, 5.3 and 5.6 to
// 5.14, corrected). Where J has not full rank the impulses of least norm are taken.
#pragma once
#include <optional>

#include "saltus/impacts/dissipation.h"
#include "saltus/impacts/impact.h"

namespace saltus {

// Lambda of a dense island, from the Lambda of its other set-valued rows (finite forces of a step),
// which are kept. Nothing where no post-impact velocity is feasible: Lambda is left as it was.
[[nodiscard]] std::optional<ImpactReport> resolve_chain(const ChainImpact& law, Forest& mass,
                                                        IslandProblem& island);

// The dissipation problem of that impact, all points that take part in it: x = 0 is the trial.
// `blocks` are those of the points.
[[nodiscard]] DissipationProblem slip_problem(const ChainImpact& law, Forest& mass,
                                              IslandProblem& island, std::vector<int>& blocks);

}  // namespace saltus
