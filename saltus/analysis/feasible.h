// The feasible set of an impact (P1 Figs 4.1 to 4.5): which friction coefficient each tangential
// velocity after it would need, where the normal impulse would pull, and what P1's chain chooses.
#pragma once
#include <string>
#include <vector>

#include "saltus/impacts/impact.h"
#include "saltus/model/model.h"

namespace saltus {

// One contact at one coefficient of restitution. The other contacts stick, as in the trial.
struct FeasibleCurve {
  Place contact;
  double restitution = 0;
  double mu_s = 0, mu_d = 0;
  double mu_f = 0;                 // needed to stick: |p_t| / |p_n| at v_t = 0
  bool sticking_pulls = false;     // p_n < 0 there: no mu makes it stick
  std::vector<double> v, mu, p_n;  // v_t after [m/s]; |p_t| / |p_n|; normal impulse [N s]
  double before = 0;               // v_t before the impact [m/s]
  // What the chain chooses for all contacts together.
  double chosen_v = 0, chosen_mu = 0, energy_ratio = 1;  // T+ / T- of the island
  ImpactPath path = ImpactPath::stick;
};

// All touching contacts of a state that approaches; v_t is positive where the body moves along +x
// (where that is across, +y, +z). `reach` is the largest |v_t|; 0: four times the fastest before.
[[nodiscard]] std::vector<FeasibleCurve> feasible_curves(const Model& model, VecIn q, VecIn v,
                                                         const ChainImpact& law,
                                                         const std::vector<double>& restitutions,
                                                         double reach, int samples);

}  // namespace saltus
