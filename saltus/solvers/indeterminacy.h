// Impulses that a problem does not determine: the acting rows depend on each other (a box on four
// points, redundant joints), so that impulses exist which change no velocity. Not for inner loops:
// both functions allocate.
#pragma once
#include <vector>

#include "saltus/solvers/inclusion.h"

namespace saltus {

// Dimension of the impulses that change no velocity, over the rows that are free to act at Lambda:
// sticking rows, and the normal of a sliding contact with its friction in tow.
[[nodiscard]] int indeterminacy(const Inclusion& problem, VecIn Lambda);

// The blocks that have a part in them.
[[nodiscard]] std::vector<int> indeterminate_blocks(const Inclusion& problem, VecIn Lambda);

}  // namespace saltus
