// Compression ends when nothing approaches: the inelastic problem, Lambda_C. In expansion every
// contact that was to rebound gives back at least e_n Lambda_N,C; more where the others would press
// it together. Friction acts in both phases, under the normal impulse of each:
//   Lambda_N,E = e_n Lambda_N,C + P,   0 <= P  perp  gamma_N,E >= 0,   Lambda_T,E in mu Lambda_N,E
//   D
// P is zero but for contacts that press on each other, so the friction sets are found by a fixed
// point over it.
#include "saltus/impacts/poisson.h"

#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

constexpr int most_sweeps = 60;

// What a block may still do in expansion; appends to `to`, the same rows in the same order.
struct Expansion {
  const Block& k;
  VecIn compressed;  // Lambda_C of the block
  double load;       // Lambda_N,E
  Inclusion& to;

  void operator()(const Coulomb& law) const {
    to.add(Unilateral{}, 0, k.length);
    to.add(GivenLoad{law.mu1 * load, law.mu2 * load, law.back < 0 ? -1 : law.back * load, law.rule},
           0, k.length);
  }
  void operator()(const Coulomb2& law) const {
    to.add(Unilateral{}, 0, k.length);
    to.add(Interval{-law.mu * load, law.mu * load}, 0, k.length);
  }
  void operator()(const RollingCoulomb& law) const {
    to.add(Unilateral{}, 0, k.length);
    to.add(GivenLoad{law.mu1 * load, law.mu2 * load}, 0, k.length);
    to.add(GivenLoad{law.mu_rolling * load, law.mu_rolling * load}, 0, k.length);
    if (law.mu_drilling > 0)
      to.add(Interval{-law.mu_drilling * load, law.mu_drilling * load}, 0, k.length);
  }
  // Finite forces have what compression left of them.
  void operator()(const Interval& law) const {
    to.add(Interval{law.lower - compressed[0], law.upper - compressed[0]}, k.compliance, k.length);
  }
  void operator()(const GivenLoad&) const { to.add(GivenLoad{0, 0}, k.compliance, k.length); }
  void operator()(const Bilateral& law) const { to.add(law, k.compliance, k.length); }
  void operator()(const Unilateral& law) const { to.add(law, k.compliance, k.length); }
};

}  // namespace

ImpactReport resolve_poisson(const Solver& solver, IslandProblem& a) {
  Inclusion& p = a.problem;
  const int n = p.rows;
  SolveReport solve = solve_inclusion(p, a.Lambda.head(n), solver, a.work);
  const Vec compressed = a.Lambda.head(n);
  const Mat G = p.W.leftCols(n).transpose() * p.Y.leftCols(n);
  const Vec v = p.v_free + p.Y.leftCols(n) * compressed;
  // Normal impulses that are given back, and the velocities with them.
  Vec back = Vec::Zero(n), load = Vec::Zero(n);
  for (std::size_t i = 0; i < p.blocks.size(); ++i)
    back[p.blocks[i].row] = a.rebound[i] * compressed[p.blocks[i].row];
  Inclusion second;
  SolverWorkspace work;
  second.reserve(n, 4 * static_cast<int>(p.blocks.size()) + n, static_cast<int>(p.v_free.size()));
  work.reserve(n, 4 * static_cast<int>(p.blocks.size()) + n, static_cast<int>(p.v_free.size()));
  Vec c = p.c.head(n) + G * (compressed + back);
  for (const Block& k : p.blocks)
    c.segment(k.row, k.rows) += k.compliance * compressed.segment(k.row, k.rows);
  const double scale = std::max(compressed.lpNorm<Eigen::Infinity>(), 1e-300);
  Vec expanded = Vec::Zero(n);
  load = back;
  for (int round = 0; round < most_sweeps; ++round) {
    second.clear();
    for (const Block& k : p.blocks)
      std::visit(Expansion{k, compressed.segment(k.row, k.rows), load[k.row], second}, k.law);
    second.G.topLeftCorner(n, n) = G;
    second.has_G = true;
    second.W.leftCols(n) = p.W.leftCols(n);
    second.Y.leftCols(n) = p.Y.leftCols(n);
    second.v_free = v + p.Y.leftCols(n) * back;
    second.c.head(n) = c;
    second.b.head(n) = c - p.W.leftCols(n).transpose() * second.v_free;
    const SolveReport r = solve_inclusion(second, expanded, solver, work);
    solve.iterations += r.iterations;
    double change = 0;
    for (const Block& k : p.blocks) {
      const double now = back[k.row] + expanded[k.row];
      change = std::max(change, std::abs(now - load[k.row]));
      load[k.row] = now;
    }
    const bool settled = change <= 1e-13 * scale;
    if (settled || round == most_sweeps - 1) {
      solve.residual = std::max(solve.residual, r.residual);
      solve.converged = solve.converged && r.converged && settled;
      break;
    }
  }
  a.Lambda.head(n) = compressed + back + expanded;
  ImpactReport report{solve, true};
  report.bound = infinity;
  return report;
}

}  // namespace saltus
