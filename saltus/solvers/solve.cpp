#include "saltus/solvers/solve.h"

#include <algorithm>

#include "saltus/solvers/stick.h"

namespace saltus {

namespace {

// Of two links of the chain the better one, with the work of both.
SolveReport merge(const SolveReport& first, const SolveReport& second) {
  SolveReport both = second.residual <= first.residual ? second : first;
  both.iterations = first.iterations + second.iterations;
  both.sweeps = first.sweeps + second.sweeps;
  both.newton = first.newton + second.newton;
  return both;
}

}  // namespace

SolveReport solve(const Inclusion& p, VecRef Lambda, const AutoSolver& o, SolverWorkspace& w) {
  if (p.rows == 0) return {};
  const int n = p.rows;
  auto best = w.start.head(n);
  best = Lambda.head(n);
  if (!best.allFinite()) best.setZero();
  auto now = w.candidate.head(n);
  SolveReport report;
  const auto link = [&](const SolveReport& mine) {
    const bool better = report.solver.empty() || mine.residual <= report.residual;
    report = report.solver.empty() ? mine : merge(report, mine);
    if (better && now.allFinite()) best = now;
    return report.converged;
  };
  const auto newton = [&](int iterations) {
    Newton options;
    static_cast<ProxOptions&>(options) = o;
    options.max_iterations = iterations;
    options.least_norm = false;
    return solve(p, now, options, w);
  };
  const auto relaxed = [&](int iterations) {
    ProxGaussSeidel options;
    static_cast<ProxOptions&>(options) = o;
    options.local = ProxOptions::Local::prox;
    options.auto_alpha = true;
    options.max_iterations = iterations;
    return solve(p, now, options, w);
  };
  const auto exact = [&](int iterations) {
    ProxGaussSeidel options;
    static_cast<ProxOptions&>(options) = o;
    options.local = ProxOptions::Local::exact;
    options.max_iterations = iterations;
    return solve(p, now, options, w);
  };
  now = best;
  bool done = false;
  if (!o.history && may_stick(p, best)) {
    const SolveReport sticking = solve_sticking(p, now, o.tolerance, w);
    if (sticking.converged) {
      done = link(sticking);
    } else {
      now = best;
    }
  }
  // A start that is a solution stays as it is.
  if (!done) {
    SolveReport start;
    start.solver = "warm start";
    note(residual(p, now, w), o.tolerance, start);
    done = link(start);
  }
  if (!done) done = link(solve_bounded(p, now, o, o.sweeps, w));
  if (!done) {
    now = best;
    done = link(newton(o.newton_iterations));
  }
  // Other starts: sweeps lead away from where Newton stands still, and it takes over again.
  for (int round = 0, sweeps = 30; !done && round < o.rounds; ++round, sweeps *= 2) {
    done = link(relaxed(sweeps));
    if (!now.allFinite()) now = best;
    if (!done) done = link(newton(o.newton_iterations / 2));
  }
  // Newton's method from where it has not been: the sweeps above may lead it astray.
  const auto patient = 4 * o.newton_iterations;
  if (!done && Lambda.head(n).allFinite()) {
    now = Lambda.head(n);
    done = link(newton(patient));
  }
  if (!done) {
    now.setZero();
    done = link(newton(patient));
  }
  // Far from any start: plain sweeps, whose fixed points are solutions only.
  if (!done) {
    now.setZero();
    done = link(exact(o.max_iterations));
  }
  if (!done && now.allFinite()) done = link(newton(patient));
  if (!done) {
    now = best;
    static_cast<void>(link(relaxed(o.max_iterations)));
  }
  if (report.converged && o.least_norm) {  // a choice among solutions: kept only if it is one
    Newton options;
    static_cast<ProxOptions&>(options) = o;
    options.max_iterations = o.newton_iterations;
    now = best;
    const SolveReport least = solve(p, now, options, w);
    const SolveReport before = report;
    report = merge(before, least);
    if (least.converged) {
      best = now;
      report = least;
      report.iterations += before.iterations;
      report.sweeps += before.sweeps;
      report.newton += before.newton;
    }
  }
  Lambda.head(n) = best;
  return report;
}

SolveReport solve_inclusion(const Inclusion& p, VecRef Lambda, const Solver& solver,
                            SolverWorkspace& w) {
  w.history.clear();
  return std::visit([&](const auto& o) { return solve(p, Lambda, o, w); }, solver);
}

const ProxOptions& options_of(const Solver& solver) {
  return std::visit([](const auto& o) -> const ProxOptions& { return o; }, solver);
}
std::string_view name_of(const Solver& solver) {
  return std::visit([](const auto& o) { return o.name; }, solver);
}

}  // namespace saltus
