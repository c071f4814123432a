// The picture of an impact's feasible set.
#pragma once
#include <string>

#include "apps/saltus/papers/svg.h"
#include "saltus/studies/next_impact.h"

namespace saltus::cli {

// One contact: a curve for each restitution, mu_f dashed, bars where the normal impulse pulls,
// what the chain chooses as squares.
[[nodiscard]] Plot feasible_plot(const NextImpact& impact, const Place& contact);
// All contacts, one below the other, as an SVG file.
[[nodiscard]] std::string picture_of(const NextImpact& impact, const std::string& title);

}  // namespace saltus::cli
