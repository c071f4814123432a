// The reference values of rods at rest (docs/rods.md): beams and contact, ours beside them.
//
// What touches is worked out by its free part, closed by what holds at a lift-off (VERIFY-P4.md
// section 9): level, without moment, or of the obstacle's curvature.
#pragma once
#include <string>
#include <vector>

namespace saltus {

struct RodFigure {
  std::string what;
  double ours = 0, reference = 0;
  double allowed = 0;  // absolute difference
};

[[nodiscard]] std::vector<RodFigure> beam_figures();     // VERIFY.md's table, the tree
[[nodiscard]] std::vector<RodFigure> contact_figures();  // plane, cylinder, walls

}  // namespace saltus
