// Poisson's impact law (docs/impacts.md): compression, then expansion.
#pragma once
#include "saltus/impacts/impact.h"

namespace saltus {

[[nodiscard]] ImpactReport resolve_poisson(const Solver& solver, IslandProblem& island);

}  // namespace saltus
