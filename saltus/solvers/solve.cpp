#include "saltus/solvers/solve.h"

#include <algorithm>
#include <array>

#include "saltus/solvers/conflict.h"
#include "saltus/solvers/interior_point.h"
#include "saltus/solvers/newton_impl.h"
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

constexpr std::string_view interior_name = "interior point";
// Steps of one search of the interior-point method, which needs 10 to 40, and of Newton from where
// it ends.
constexpr int interior_steps = 60, after_interior = 40;
// Of the links that start from zero because all else failed.
constexpr int last_resort = 1000;
// Contradictions are looked for in problems of at most so many rows.
constexpr int contradicting_rows = 300;

template <class Backend>
Residual interior_and_newton(const Inclusion& p, VecRef Lambda, const ProxOptions& o,
                             const InteriorPath& path, SolverWorkspace& w, int& iterations) {
  // Only hard problems come here: their scratch is the thread's, and no step needs what is in it.
  static thread_local InteriorScratch scratch;
  scratch.coupling = path.coupling;
  scratch.reach = path.reach;
  Backend backend(p, w.newton);
  // To the end: where slip dies out along a chain of bodies Newton finds its modes no better from
  // 1e-5 m/s than from a warm start.
  static_cast<void>(interior_point(p.blocks, p.rows, o, interior_steps, backend, w.newton, scratch,
                                   Lambda.head(p.rows), iterations));
  ProxOptions last = o;
  last.max_iterations = after_interior;
  last.least_norm = false;
  NewtonSolver<Backend> newton(p.blocks, p.rows, last, backend, w.newton);
  return newton.run(Lambda.head(p.rows), iterations, o.history ? &w.history : nullptr);
}

SolveReport interior(const Inclusion& p, VecRef Lambda, const ProxOptions& o,
                     const InteriorPath& path, SolverWorkspace& w) {
  SolveReport report;
  report.solver = interior_name;
  const bool primal = !p.has_G || (p.has_M && p.W.rows() < p.rows);
  if (primal)
    static_cast<void>(interior_and_newton<PrimalBackend>(p, Lambda, o, path, w, report.iterations));
  else
    static_cast<void>(interior_and_newton<DualBackend>(p, Lambda, o, path, w, report.iterations));
  note(residual(p, Lambda, w), o.tolerance, report);
  report.newton = report.iterations;
  report.gave_up = end_of_search(report.converged, 0, 1);
  return report;
}

// Whether rows that bind whatever the forces are contradict each other: no solver will do then.
bool contradicts(const Inclusion& p, double tolerance) {
  return p.rows <= contradicting_rows && find_conflict(p, tolerance).miss > 0;
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
  std::string_view before;  // the last link that tried, and why it gave up
  GaveUp why = GaveUp::no;
  const auto link = [&](const SolveReport& mine) {
    const bool better = report.solver.empty() || mine.residual <= report.residual;
    report = report.solver.empty() ? mine : merge(report, mine);
    if (better && now.allFinite()) best = now;
    if (better) {
      report.before = before;
      report.before_gave_up = why;
    }
    if (mine.iterations > 0) {
      before = mine.solver;
      why = mine.gave_up;
    }
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
      before = sticking.solver;
      why = sticking.gave_up;
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
  // What Newton does, it does soon; it has more time where nothing else comes after it.
  const int soon = o.rounds > 0 ? o.newton_iterations / 10 : o.newton_iterations;
  if (!done) {
    now = best;
    done = link(newton(soon));
  }
  // Newton from where the step began: the sweeps may have led it astray.
  const bool finite = Lambda.head(n).allFinite();
  if (!done && o.rounds > 0 && finite && best != Lambda.head(n)) {
    now = Lambda.head(n);
    done = link(newton(soon));
  }
  // What has no solution is not looked for any longer, nor what will be measured again anyway.
  const bool go_on = !done && o.rounds > 0 && !contradicts(p, o.tolerance);
  for (std::size_t k = 0; go_on && !done && k < interior_paths.size(); ++k) {
    if (finite && interior_paths[k].warm)
      now = Lambda.head(n);
    else
      now.setZero();
    done = link(interior(p, now, o, interior_paths[k], w));
  }
  const bool patient = go_on;
  // Other starts: sweeps lead away from where Newton stands still, and it takes over again.
  for (int round = 0, sweeps = 30; patient && !done && round < o.rounds; ++round, sweeps *= 2) {
    now = best;
    done = link(relaxed(sweeps));
    if (!now.allFinite()) now = best;
    if (!done) done = link(newton(o.newton_iterations / 2));
  }
  const int last = std::min(o.max_iterations, last_resort);
  // Newton from zero, and patient: light links under a heavy load take hundreds of its steps.
  if (patient && !done) {
    now.setZero();
    done = link(newton(last));
  }
  // Far from any start: plain sweeps, whose fixed points are solutions only.
  if (patient && !done) {
    now.setZero();
    done = link(exact(last));
    if (!done && now.allFinite()) done = link(newton(o.newton_iterations));
  }
  if (patient && !done) {
    now = best;
    static_cast<void>(link(relaxed(last)));
  }
  if (report.converged && o.least_norm) {  // a choice among solutions: kept only if it is one
    Newton options;
    static_cast<ProxOptions&>(options) = o;
    options.max_iterations = o.newton_iterations;
    now = best;
    const SolveReport least = solve(p, now, options, w);
    const SolveReport found = report;
    report = merge(found, least);
    if (least.converged) {
      best = now;
      report = least;
      report.before = found.before;
      report.before_gave_up = found.before_gave_up;
      report.iterations += found.iterations;
      report.sweeps += found.sweeps;
      report.newton += found.newton;
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
