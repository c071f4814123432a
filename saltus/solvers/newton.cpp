#include "saltus/solvers/newton.h"

#include "saltus/solvers/newton_impl.h"

namespace saltus {

namespace {

template <class Backend>
SolveReport run(const Inclusion& p, VecRef Lambda, const Newton& o, SolverWorkspace& w) {
  SolveReport report;
  report.solver = Newton::name;
  Backend backend(p, w.newton);
  NewtonSolver<Backend> solver(p.blocks, p.rows, o, backend, w.newton);
  static_cast<void>(
      solver.run(Lambda.head(p.rows), report.iterations, o.history ? &w.history : nullptr));
  note(residual(p, Lambda, w), o.tolerance, report);
  report.newton = report.iterations;
  report.gave_up = end_of_search(report.converged, report.iterations, o.max_iterations);
  return report;
}

}  // namespace

SolveReport solve(const Inclusion& p, VecRef Lambda, const Newton& o, SolverWorkspace& w) {
  if (p.rows == 0) return {};
  const bool primal = !p.has_G || (p.has_M && p.W.rows() < p.rows);
  return primal ? run<PrimalBackend>(p, Lambda, o, w) : run<DualBackend>(p, Lambda, o, w);
}

}  // namespace saltus
