// Impact laws: how restitution enters the inclusion of a step.
//
//   newton   xi_N = gamma_E + eps min(gamma_S, 0), as asked; with friction or several contacts it
//            may raise the kinetic energy.
//   capped   (default) with Lambda_0 the inelastic solution and Lambda_eps Newton's,
//            Lambda = Lambda_0 + s (Lambda_eps - Lambda_0) with the largest s in [0, 1] for which
//            the contacts do no positive work. Cone and gamma_N >= 0 survive by convexity.
#pragma once
#include <string_view>
#include <variant>

#include "saltus/contact/islands.h"
#include "saltus/solvers/solve.h"

namespace saltus {

struct NewtonImpact {
  static constexpr std::string_view name = "newton";
};
struct CappedImpact {
  static constexpr std::string_view name = "capped";
};
using ImpactLaw = std::variant<CappedImpact, NewtonImpact>;

// How an impact was resolved.
enum class ImpactPath : unsigned char {
  inclusion,          // the set-valued laws of all rows at once
  stick,              // P1's trial: every point sticks (eq. 3.14, 3.15)
  dissipation_exact,  // P1's dissipation principle (eq. 4.5) by the exact method
  dissipation_nlp,    // by NLopt
  fallback,           // the law by name failed: the capped law took its place
};

struct ImpactReport {
  SolveReport solve;
  bool impact = false;     // a contact with restitution closed
  double s = 1;            // share of the restitution that energy allowed
  double attenuation = 1;  // factor e~ on the velocities of the island (P1 eq. 5.2)
  // What the law promises of the kinetic energies: T+ <= bound T-; infinity: nothing.
  double bound = 1;
  ImpactPath path = ImpactPath::inclusion;
};

// Solves an island's problem for its Lambda.
[[nodiscard]] ImpactReport resolve(const ImpactLaw& law, const Solver& solver, Forest& mass,
                                   IslandProblem& island);

[[nodiscard]] std::string_view name_of(const ImpactLaw& law);

}  // namespace saltus
