// The next impact of a scene and its feasible set (analysis/feasible.h).
#pragma once
#include <optional>
#include <vector>

#include "saltus/analysis/feasible.h"
#include "saltus/scene/scene.h"

namespace saltus {

struct NextImpact {
  double t = 0;  // [s]
  Model model;
  std::vector<FeasibleCurve> curves;
};

// What is drawn of an impact.
struct FeasibleOptions {
  std::vector<double> restitution{0, 0.25, 0.5, 0.75, 1};
  int skip = 0;                 // impacts to pass before
  std::optional<double> reach;  // largest tangential velocity [m/s]; else from those before
  int samples = 800;
};

// Runs the scene event-driven to its next impact. Throws InputError if it has none before its end,
// if nothing rubs there, or if an option is out of its range.
[[nodiscard]] NextImpact next_impact(const Scene& scene, const FeasibleOptions& options);

}  // namespace saltus
