#include "saltus/solvers/conflict.h"

#include <algorithm>
#include <cmath>

#include "saltus/solvers/newton.h"

namespace saltus {

namespace {

// A row that a velocity has to meet, whatever the impulses.
struct HardRow {
  int block = 0, row = 0;
  bool both = false;  // xi = 0, else xi >= 0
};

std::vector<HardRow> hard_rows(const Inclusion& p) {
  std::vector<HardRow> hard;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const Block& k = p.blocks[i];
    if (k.compliance > 0) continue;  // it yields
    for (const ConvexSet& set : sets_of(k.law)) {
      const bool all = set.shape == ConvexSet::Shape::all;
      const bool above = set.shape == ConvexSet::Shape::interval && !set.scaled &&
                         std::isinf(set.upper) && !std::isinf(set.lower);
      if (!all && !above) continue;  // a bounded force asks nothing of the velocity
      for (int r = 0; r < set.rows; ++r)
        hard.push_back({static_cast<int>(i), k.row + set.first + r, all});
    }
  }
  return hard;
}

struct SoftProblem {
  Inclusion problem;
  Vec scale, miss;  // per row: its own G; what the last solution lacks [m/s]
  SolverWorkspace work;
  Vec Lambda;
  double tolerance = 0;

  SoftProblem(const Inclusion& p, const std::vector<HardRow>& hard) {
    const auto n = static_cast<int>(hard.size());
    problem.reserve(n, n, 0);
    work.reserve(n, n, 0);
    for (const HardRow& h : hard) {
      const double length = p.blocks[h.block].length;
      problem.add(h.both ? Law(Bilateral{1}) : Law(Unilateral{}), 0, length);
    }
    for (int i = 0; i < n; ++i) {
      problem.c[i] = p.c[hard[i].row];
      for (int j = 0; j < n; ++j) problem.G(i, j) = delassus(p, hard[i].row, hard[j].row);
    }
    problem.has_G = true;
    scale = problem.G.diagonal();
    const double largest = scale.maxCoeff();
    // Rows that nothing moves (prescribed bodies) have no scale of their own.
    scale = scale.cwiseMax(largest > 0 ? 1e-3 * largest : 1.0);
    // The impulses are 1e8 times the misses: so much is left of the digits.
    tolerance = 1e-7 * problem.c.lpNorm<Eigen::Infinity>();
    Lambda = Vec::Zero(n);
  }

  // The largest miss with this share of each row's own G as compliance; negative: not solved.
  double solve_with(double share) {
    Newton options;
    options.tolerance = tolerance;
    options.max_iterations = 500;
    for (Block& k : problem.blocks) k.compliance = share * scale[k.row];
    if (!solve(problem, Lambda, options, work).converged) return -1;
    miss = share * scale.cwiseProduct(Lambda.cwiseAbs());
    for (const Block& k : problem.blocks) miss[k.row] *= k.length;
    return miss.maxCoeff();
  }
};

}  // namespace

Conflict find_conflict(const Inclusion& p, double tolerance) {
  Conflict conflict;
  const auto hard = hard_rows(p);
  if (hard.empty()) return conflict;
  SoftProblem soft(p, hard);
  const double first = soft.solve_with(1e-6), second = soft.solve_with(1e-8);
  // In a problem that has a solution the miss falls with the compliance, by 100 here.
  if (!(first > 0 && second > tolerance && second > 0.5 * first)) return conflict;
  conflict.miss = second;
  for (std::size_t i = 0; i < hard.size(); ++i)
    if (soft.miss[static_cast<Eigen::Index>(i)] > 1e-3 * second &&
        (conflict.blocks.empty() || conflict.blocks.back() != hard[i].block))
      conflict.blocks.push_back(hard[i].block);
  return conflict;
}

}  // namespace saltus
