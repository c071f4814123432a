#include "saltus/impacts/impact.h"

#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

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

WorkOfContacts work_of_contacts(const IslandProblem& a, VecIn L0, VecIn Le, VecIn g0, VecIn ge) {
  WorkOfContacts w;
  for (std::size_t i = 0; i < a.blocks().size(); ++i) {
    if (!a.is_contact[i]) continue;
    const Block& k = a.blocks()[i];
    for (int r = k.row; r < k.row + k.rows; ++r) {
      const double L = L0[r], dL = Le[r] - L0[r];
      const double g = 0.5 * (a.gamma_S[r] + g0[r]), dg = 0.5 * (ge[r] - g0[r]);
      w.c0 += L * g;
      w.c1 += L * dg + dL * g;
      w.c2 += dL * dg;
      w.scale += std::abs(Le[r]) * (std::abs(a.gamma_S[r]) + std::abs(ge[r]));
    }
  }
  return w;
}

// Largest s in [0, 1] with c0 + c1 s + c2 s^2 <= rounding.
double largest_share(const WorkOfContacts& w) {
  const double slack = 1e-13 * w.scale;
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

ImpactReport resolve_law(const NewtonImpact&, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  add_offset(a.restitution, a);
  return {solve_island(solver, mass, a), true, 1};
}

ImpactReport resolve_law(const CappedImpact&, const Solver& solver, Forest& mass,
                         IslandProblem& a) {
  const int n = a.rows;
  for (Vec* x : {&a.impact_Lambda, &a.impact_gamma, &a.newton_gamma})
    if (x->size() < n) x->setZero(a.Lambda.size());
  const SolveReport first = solve_island(solver, mass, a);
  a.impact_Lambda.head(n) = a.Lambda.head(n);
  end_rates(mass, a, a.impact_gamma);
  add_offset(a.restitution, a);
  const SolveReport newton = solve_island(solver, mass, a);
  end_rates(mass, a, a.newton_gamma);
  const double s =
      largest_share(work_of_contacts(a, a.impact_Lambda, a.Lambda, a.impact_gamma, a.newton_gamma));
  if (s < 1)
    a.Lambda.head(n) = a.impact_Lambda.head(n) + s * (a.Lambda.head(n) - a.impact_Lambda.head(n));
  return {worse(first, newton), true, s};
}

}  // namespace

std::string_view name_of(const ImpactLaw& law) {
  return std::visit([](const auto& l) { return l.name; }, law);
}

ImpactReport resolve(const ImpactLaw& law, const Solver& solver, Forest& mass, IslandProblem& a) {
  if (a.restitution.head(a.rows).isZero(0)) return {solve_island(solver, mass, a), false, 1};
  return std::visit([&](const auto& l) { return resolve_law(l, solver, mass, a); }, law);
}

}  // namespace saltus
