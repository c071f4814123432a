// Impact laws: how restitution enters the inclusion of a step or of an event (docs/impacts.md).
//
//   capped   (default) with Lambda_0 the inelastic solution and Lambda_eps Newton's,
//            Lambda = Lambda_0 + s (Lambda_eps - Lambda_0) with the largest s in [0, 1] for which
//            the contacts do no positive work. Cone and gamma_N >= 0 survive by convexity.
//   newton   xi_N = gamma_E + e_n min(gamma_S, 0), and where it approaches
//            xi_T = gamma_E + e_t gamma_S, as asked; may raise the kinetic energy.
//   moreau   the same with one eps for all rows of all contacts; cannot raise it.
//   poisson  compression until nothing approaches, then at least e_n times the normal impulse of
//            compression again; may raise it.
//   chain    P1's: stick trial, dissipation principle, energetic restitution (chain.h).
#pragma once
#include <string_view>
#include <variant>

#include "saltus/contact/islands.h"
#include "saltus/solvers/solve.h"

namespace saltus {

struct CappedImpact {
  static constexpr std::string_view name = "capped";
};
struct NewtonImpact {
  static constexpr std::string_view name = "newton";
};
struct MoreauImpact {
  static constexpr std::string_view name = "moreau";
  double restitution = -1;  // negative: the least of the contacts that approach
};
struct PoissonImpact {
  static constexpr std::string_view name = "poisson";
};
// What P1 does where a law would leave more than e* T-.
enum class EnergyControl : unsigned char {
  none,
  attenuation,  // all velocities times e~ (eq. 5.2, 5.3)
  constraint,   // of the optimisation (eq. 5.9)
};
enum class DissipationMethod : unsigned char { automatic, exact, nlp };
struct ChainImpact {
  static constexpr std::string_view name = "chain";
  EnergyControl control = EnergyControl::none;
  double energetic = 1;  // e*, >= 0: of kinetic energies, not squared (P1 eq. 5.2)
  double v_s = 1e-5;     // Karnopp's: speed at which mu falls from mu_s to mu_d (eq. 4.10) [m/s]
  double a = 1;          // and its exponent
  DissipationMethod method = DissipationMethod::automatic;
};
using ImpactLaw =
    std::variant<CappedImpact, NewtonImpact, MoreauImpact, PoissonImpact, ChainImpact>;

// How an impact was resolved.
enum class ImpactPath : unsigned char {
  inclusion,          // the set-valued laws of all rows at once
  stick,              // P1's trial: every point sticks (eq. 3.14, 3.15)
  dissipation_exact,  // P1's dissipation principle (eq. 4.5) by the exact method
  dissipation_nlp,    // by NLopt
  fallback,           // the law by name failed: see docs/impacts.md for what took its place
};

struct ImpactReport {
  SolveReport solve;
  bool impact = false;     // a contact with restitution closed; by P1's chain: a contact closed
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
// Poisson's law and the chain work on dense matrices.
[[nodiscard]] bool is_dense(const ImpactLaw& law);
// Throws InputError where the law does not know a contact law of the model; `path` is the law's
// place in the input.
void check_impact_law(const ImpactLaw& law, const Model& model, const std::string& path);

}  // namespace saltus
