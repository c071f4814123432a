#include "saltus/impacts/impact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/impacts/chain.h"
#include "saltus/impacts/poisson.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

// In a step of time stepping a contact that approaches more slowly rests, to P1's chain [m/s].
constexpr double resting_speed = 1e-6;

SolveReport worse(const SolveReport& a, const SolveReport& b) {
  SolveReport both = a.residual > b.residual ? a : b;
  both.iterations = a.iterations + b.iterations;
  both.converged = a.converged && b.converged;
  both.redundant = a.redundant;
  return both;
}

// Work of the contacts over the step as a quadratic in s: sum Lambda(s) . (gamma_S + gamma_E(s))/2.
struct WorkOfContacts {
  double c0 = 0, c1 = 0, c2 = 0, scale = 0;
};

// The part with gamma_E as momentum times velocity, W Lambda . v_E. Impulses that wedge cancel in
// W Lambda before they are multiplied; row by row their rounding would count by their square.
void add_end_work(const IslandProblem& a, VecIn L0, VecIn Le, WorkOfContacts& w) {
  const Inclusion& problem = a.problem;
  for (Eigen::Index k = 0; k < problem.v_free.size(); ++k) {
    double p = 0, dp = 0, v = problem.v_free[k], dv = 0;
    for (std::size_t i = 0; i < a.blocks().size(); ++i) {
      const Block& block = a.blocks()[i];
      for (int r = block.row; r < block.row + block.rows; ++r) {
        const double L = L0[r], dL = Le[r] - L0[r];
        v += problem.Y(k, r) * L;
        dv += problem.Y(k, r) * dL;
        if (!a.is_contact[i]) continue;
        p += problem.W(k, r) * L;
        dp += problem.W(k, r) * dL;
      }
    }
    w.c0 += 0.5 * p * v;
    w.c1 += 0.5 * (p * dv + dp * v);
    w.c2 += 0.5 * dp * dv;
  }
}

WorkOfContacts work_of_contacts(const IslandProblem& a, VecIn L0, VecIn Le, VecIn g0, VecIn ge) {
  const bool dense = a.route == Route::dense;
  WorkOfContacts w;
  for (std::size_t i = 0; i < a.blocks().size(); ++i) {
    if (!a.is_contact[i]) continue;
    const Block& k = a.blocks()[i];
    for (int r = k.row; r < k.row + k.rows; ++r) {
      const double L = L0[r], dL = Le[r] - L0[r];
      // Against a belt, which brings energy of its own.
      const double g = 0.5 * (a.gamma_S[r] + (dense ? 0 : g0[r])) + a.drift[r];
      const double dg = dense ? 0 : 0.5 * (ge[r] - g0[r]);
      w.c0 += L * g;
      w.c1 += L * dg + dL * g;
      w.c2 += dL * dg;
      w.scale += std::abs(Le[r]) * (std::abs(a.gamma_S[r]) + std::abs(ge[r]));
    }
  }
  if (dense) add_end_work(a, L0, Le, w);
  return w;
}

// Largest s in [0, 1] with c0 + c1 s + c2 s^2 <= rounding.
double largest_share(const WorkOfContacts& w) {
  const double slack = 1e-15 * w.scale;
  const auto work = [&](double s) { return w.c0 + s * (w.c1 + s * w.c2) - slack; };
  if (work(1.0) <= 0) return 1;
  if (work(0.0) > 0) return 0;
  double low = 0, high = 1;  // work(low) <= 0 < work(high); quadratic: one crossing in between
  for (int i = 0; i < 60; ++i) {
    const double mid = 0.5 * (low + high);
    (work(mid) <= 0 ? low : high) = mid;
  }
  return low;
}

bool rebounds(const IslandProblem& a) { return !a.restitution.head(a.rows).isZero(0); }

bool approaches(const IslandProblem& a, double speed) {
  for (std::size_t i = 0; i < a.blocks().size(); ++i)
    if (a.is_contact[i] && a.gamma_S[a.blocks()[i].row] < -speed) return true;
  return false;
}

// By how much rounding may move the velocities that the impulses make, beside those at hand. Where
// a contact can jam its impulse is not determined, and solvers may end with one of any size; a row
// that moves nothing, as of a contact at the point about which its body turns, is no zero but what
// rounding leaves, and is measured as the others are.
double rounding_of(const IslandProblem& a) {
  if (a.route != Route::dense) return 0;
  const double speed = std::max(a.gamma_S.head(a.rows).lpNorm<Eigen::Infinity>(),
                                a.problem.c.head(a.rows).lpNorm<Eigen::Infinity>());
  // The velocity that a row's unit impulse gives it.
  const auto own = [&](int r) { return a.problem.W.col(r).dot(a.problem.Y.col(r)); };
  double most = 0, largest = 0;
  for (int r = 0; r < a.rows; ++r) most = std::max(most, own(r));
  for (int r = 0; r < a.rows; ++r) {
    const double moves = own(r) > 1e-20 * most ? own(r) : most;
    largest = std::max(largest, 1e-16 * std::abs(a.Lambda[r]) * moves);
  }
  return speed > 0 ? largest / speed : (largest > 0 ? infinity : 0);
}

// Energy moves by twice as much as velocity, and by the rounding of every row: this keeps it below
// 1e-10. Impulses that miss `bearable` are no solution at all.
constexpr double exact_enough = 1e-12, bearable = 1e-8;

// No answer: the law has no solution here, or none that numbers can hold.
void report_unsolved(const IslandProblem& a, SolveReport& report) {
  report.converged = false;
  report.residual = a.gamma_S.head(a.rows).lpNorm<Eigen::Infinity>();
}

// The inelastic problem; where rounding of its impulses would show, those of least norm.
SolveReport solve_inelastic(const Solver& solver, Forest& mass, IslandProblem& a) {
  SolveReport report = solve_island(solver, mass, a);
  if (rounding_of(a) <= exact_enough) return report;
  Solver least = solver;
  std::visit([](auto& s) { s.least_norm = true; }, least);
  a.Lambda.head(a.rows).setZero();
  const int before = report.iterations;
  report = solve_island(least, mass, a);
  report.iterations += before;
  if (rounding_of(a) <= bearable) return report;
  a.Lambda.head(a.rows).setZero();
  report_unsolved(a, report);
  return report;
}

ImpactReport solve_plainly(const Solver& solver, Forest& mass, IslandProblem& a) {
  return {solve_island(solver, mass, a)};
}

ImpactReport resolve_law(const NewtonImpact&, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  if (!rebounds(a)) return solve_plainly(solver, mass, a);
  add_offset(a.restitution, a);
  ImpactReport report{solve_island(solver, mass, a), true};
  report.bound = infinity;
  if (rounding_of(a) > bearable) report_unsolved(a, report.solve);
  return report;
}

// Newton's law may have no solution where rows depend on each other (a contact on a body that turns
// about a point): sweeps then diverge, and at an impact, solved by `auto`, a small problem need not
// see all of them.
Solver patient(const Solver& solver, const IslandProblem& a) {
  Solver limited = solver;
  if (a.at_impact && a.rows <= 60)
    std::visit([](auto& s) { s.max_iterations = std::min(s.max_iterations, 500); }, limited);
  return limited;
}

// Whether Lambda, found by Newton's law, is an answer beside the inelastic Lambda_0: where there is
// none, sweeps end far from it or with impulses that only rounding bears.
bool is_answer(const IslandProblem& a, const SolveReport& solve) {
  const double speed = a.gamma_S.head(a.rows).lpNorm<Eigen::Infinity>();
  return (solve.converged || solve.residual <= 1e-4 * speed) && rounding_of(a) <= exact_enough;
}

// Of an inelastic solution that missed its tolerance, the part that does no work: gamma goes from
// gamma_S to gamma_0 as the impulse grows from 0 to Lambda_0.
void take_no_energy(IslandProblem& a) {
  const int n = a.rows;
  a.newton_gamma.head(n).setZero();
  a.Lambda.head(n) *= largest_share(
      work_of_contacts(a, a.newton_gamma, a.impact_Lambda, a.gamma_S, a.impact_gamma));
}

ImpactReport resolve_law(const CappedImpact&, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  const bool asked = rebounds(a);
  const int n = a.rows;
  for (Vec* x : {&a.impact_Lambda, &a.impact_gamma, &a.newton_gamma})
    if (x->size() < n) x->setZero(a.Lambda.size());
  const bool careful = asked || a.at_impact;
  ImpactReport report{careful ? solve_inelastic(solver, mass, a) : solve_island(solver, mass, a),
                      asked};
  if (!asked) return report;
  a.impact_Lambda.head(n) = a.Lambda.head(n);
  end_rates(mass, a, a.impact_gamma);
  add_offset(a.restitution, a);
  const SolveReport newton = solve_island(patient(solver, a), mass, a);
  if (!is_answer(a, newton)) {
    report.solve.iterations += newton.iterations;
    report.s = 0;  // inelastic
    a.Lambda.head(n) = a.impact_Lambda.head(n);
    take_no_energy(a);
    return report;
  }
  end_rates(mass, a, a.newton_gamma);
  report.solve = worse(report.solve, newton);
  report.s =
      largest_share(work_of_contacts(a, a.impact_Lambda, a.Lambda, a.impact_gamma, a.newton_gamma));
  if (report.s < 1)
    a.Lambda.head(n) =
        a.impact_Lambda.head(n) + report.s * (a.Lambda.head(n) - a.impact_Lambda.head(n));
  if (report.s == 0) take_no_energy(a);
  return report;
}

// The coefficient of Moreau's law: its own, or the least of the contacts that approach.
double one_restitution(const MoreauImpact& law, const IslandProblem& a) {
  if (law.restitution >= 0) return law.restitution;
  double eps = -1;
  for (std::size_t i = 0; i < a.blocks().size(); ++i) {
    const int row = a.blocks()[i].row;
    if (!a.is_contact[i] || !(a.gamma_S[row] < 0)) continue;
    const double own = a.restitution[row] / a.gamma_S[row];
    eps = eps < 0 ? own : std::min(eps, own);
  }
  return std::max(eps, 0.0);
}

// -(gamma_E + eps gamma_S) in N_C(Lambda) with one eps for all rows of all contacts that do not
// leave. Those that leave have no part in it; one that the impact makes approach is in the next,
// at the same time.
ImpactReport resolve_law(const MoreauImpact& law, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  constexpr int most_impacts = 32;
  const double eps = one_restitution(law, a);
  if (!(eps > 0) || !approaches(a, a.at_impact ? 0 : resting_speed))
    return solve_plainly(solver, mass, a);
  const int n = a.rows;
  const double speed = a.gamma_S.head(n).lpNorm<Eigen::Infinity>();
  Vec before = a.gamma_S.head(n), total = Vec::Zero(n), shift = Vec::Zero(n), free(a.Lambda.size());
  Vec gamma(a.Lambda.size());
  a.Lambda.head(n).setZero();
  end_rates(mass, a, free);
  ImpactReport report;
  report.impact = true;
  for (int round = 0; round < most_impacts; ++round) {
    Vec offset = shift;  // the velocities that earlier impacts made
    for (std::size_t i = 0; i < a.blocks().size(); ++i) {
      const Block& k = a.blocks()[i];
      if (!a.is_contact[i]) continue;
      if (before[k.row] > 1e-12 * speed)
        offset[k.row] += 1e3 * speed;  // out of reach
      else
        offset.segment(k.row, k.rows) += eps * before.segment(k.row, k.rows);
    }
    add_offset(offset, a);
    a.Lambda.head(n).setZero();
    const SolveReport solve = solve_island(solver, mass, a);
    end_rates(mass, a, gamma);
    add_offset(-offset, a);
    report.solve = round == 0 ? solve : worse(report.solve, solve);
    total += a.Lambda.head(n);
    shift += gamma.head(n) - free.head(n);
    before = a.gamma_S.head(n) + shift;
    bool again = false;
    for (std::size_t i = 0; i < a.blocks().size(); ++i)
      again = again || (a.is_contact[i] && before[a.blocks()[i].row] < -1e-10 * speed);
    if (!again || rounding_of(a) > bearable) break;
  }
  a.Lambda.head(n) = total;
  if (rounding_of(a) > bearable) report_unsolved(a, report.solve);
  return report;
}

ImpactReport resolve_law(const PoissonImpact&, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  const bool any = std::any_of(a.rebound.begin(), a.rebound.end(), [](double e) { return e > 0; });
  if (!any || !approaches(a, a.at_impact ? 0 : resting_speed))
    return solve_plainly(solver, mass, a);
  return resolve_poisson(solver, a);
}

ImpactReport resolve_law(const ChainImpact& law, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  if (!approaches(a, a.at_impact ? 0 : resting_speed)) return solve_plainly(solver, mass, a);
  if (!a.at_impact) (void)solve_island(solver, mass, a);  // for the finite forces of the step
  if (std::optional<ImpactReport> report = resolve_chain(law, mass, a)) return *report;
  ImpactReport report = resolve_law(CappedImpact{}, solver, mass, a);
  report.impact = true;
  report.path = ImpactPath::fallback;
  return report;
}

}  // namespace

std::string_view name_of(const ImpactLaw& law) {
  return std::visit([](const auto& l) { return l.name; }, law);
}

bool is_dense(const ImpactLaw& law) {
  return std::holds_alternative<PoissonImpact>(law) || std::holds_alternative<ChainImpact>(law);
}

void check_impact_law(const ImpactLaw& law, const Model& model, const std::string& path) {
  const bool knows_belts =
      std::holds_alternative<CappedImpact>(law) || std::holds_alternative<NewtonImpact>(law);
  for (const ContactShape& s : model.shapes)
    require(knows_belts || s.surface.velocity.isZero(0), path,
            fmt::format("expected the law energy-capped or newton: the surface of shape '{}' has a "
                        "velocity of its own",
                        s.name));
  if (const auto* moreau = std::get_if<MoreauImpact>(&law)) {
    require(moreau->restitution <= 1, path + ".restitution",
            fmt::format("expected a number in [0, 1], got {}", moreau->restitution));
    return;
  }
  const auto* chain = std::get_if<ChainImpact>(&law);
  if (!chain) return;
  require(std::isfinite(chain->energetic) && chain->energetic >= 0, path + ".energetic",
          fmt::format("expected a number >= 0, got {}", chain->energetic));
  require(chain->v_s > 0 && chain->a > 0, path, "expected v_s > 0 and exponent > 0");
  for (std::size_t i = 0; i < model.contact_laws.size(); ++i) {
    const ContactLaw& c = model.contact_laws[i];
    require(
        c.rolling == 0 && c.drilling == 0 && c.mu_back < 0 && c.rule == SlipRule::normal_cone &&
            ((c.mu1 > 0) == (c.mu2 > 0)),
        path,
        fmt::format("P1's chain knows Coulomb friction, also with two coefficients > 0; contact "
                    "law {} has rolling or drilling friction, a coefficient for sliding "
                    "backwards, Hu's rule or a direction without friction",
                    i + 1));
  }
}

ImpactReport resolve(const ImpactLaw& law, const Solver& solver, Forest& mass, IslandProblem& a) {
  return std::visit([&](const auto& l) { return resolve_law(l, solver, mass, a); }, law);
}

}  // namespace saltus
