// The next impact of a scene and the picture of its feasible set.
#pragma once
#include <string>
#include <vector>

#include "apps/saltus/papers/svg.h"
#include "saltus/analysis/feasible.h"
#include "saltus/io/scene.h"

namespace saltus::cli {

struct NextImpact {
  double t = 0;
  Model model;
  std::vector<FeasibleCurve> curves;
};

// Runs the scene event-driven to its next impact after `skip` others. Throws InputError if it has
// none before its end.
[[nodiscard]] NextImpact next_impact(const Scene& scene, const std::vector<double>& restitution,
                                     int skip, double reach);

// One contact: a curve for each restitution, mu_f dashed, where the normal impulse pulls shaded,
// what the chain chooses as dots.
[[nodiscard]] Plot feasible_plot(const NextImpact& impact, const Place& contact,
                                 const std::string& title);
// All contacts, one below the other, as an SVG file.
[[nodiscard]] std::string picture_of(const NextImpact& impact, const std::string& title);

}  // namespace saltus::cli
