#include "saltus/impacts/impact.h"

#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

void add_restitution(Assembly& a) {
  const int n = a.problem.rows;
  a.problem.b.head(n) += a.restitution.head(n);
  a.problem.c.head(n) += a.restitution.head(n);
}

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

WorkOfContacts work_of_contacts(const Model& model, const Assembly& a, VecIn L0, VecIn Le, VecIn g0,
                                VecIn ge) {
  WorkOfContacts w;
  for (std::size_t i = 0; i < a.problem.blocks.size(); ++i) {
    if (model.slots[a.slot[i]].kind != BlockKind::contact) continue;
    const Block& k = a.problem.blocks[i];
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

SolveReport solve_once(const Solver& solver, Assembly& a, SolverWorkspace& work) {
  return solve_inclusion(a.problem, a.Lambda, solver, work);
}

// gamma_E of the rows: relative velocity without restitution, offset and compliance.
void end_velocity(const Assembly& a, SolverWorkspace& w, Vec& gamma) {
  const int n = a.problem.rows;
  w.v = a.problem.v_free;
  w.v.noalias() += a.problem.Y.leftCols(n) * a.Lambda.head(n);
  gamma.head(n).noalias() = a.problem.W.leftCols(n).transpose() * w.v;
}

ImpactReport resolve_law(const NewtonImpact&, const Model&, const Solver& solver, Assembly& a,
                         ImpactScratch&, SolverWorkspace& work) {
  add_restitution(a);
  return {solve_once(solver, a, work), true, 1};
}

ImpactReport resolve_law(const CappedImpact&, const Model& model, const Solver& solver, Assembly& a,
                         ImpactScratch& scratch, SolverWorkspace& work) {
  const int n = a.problem.rows;
  const SolveReport first = solve_once(solver, a, work);
  scratch.Lambda.head(n) = a.Lambda.head(n);
  end_velocity(a, work, scratch.gamma);
  add_restitution(a);
  const SolveReport newton = solve_once(solver, a, work);
  end_velocity(a, work, work.xi);
  const double s =
      largest_share(work_of_contacts(model, a, scratch.Lambda, a.Lambda, scratch.gamma, work.xi));
  if (s < 1)
    a.Lambda.head(n) = scratch.Lambda.head(n) + s * (a.Lambda.head(n) - scratch.Lambda.head(n));
  return {worse(first, newton), true, s};
}

}  // namespace

std::string_view name_of(const ImpactLaw& law) {
  return std::visit([](const auto& l) { return l.name; }, law);
}

ImpactReport resolve(const ImpactLaw& law, const Model& model, const Solver& solver, Assembly& a,
                     ImpactScratch& scratch, SolverWorkspace& work) {
  if (a.restitution.head(a.problem.rows).isZero(0)) return {solve_once(solver, a, work), false, 1};
  return std::visit([&](const auto& l) { return resolve_law(l, model, solver, a, scratch, work); },
                    law);
}

}  // namespace saltus
