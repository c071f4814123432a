// A problem of a file, solved and judged as the file states it.
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "saltus/problems/problem_parts.h"

namespace saltus {

Vec GlobalProblem::solve(VecIn b) const {
  Vec x = factor.solve(Vec(b));
  x += factor.solve(Vec(b - M * x));
  return x;
}

ProblemVerdict judge(const ProblemFile& file, VecIn Lambda, SolverWorkspace& work) {
  Vec xi;
  if (file.global_parts) {
    const GlobalProblem& g = *file.global_parts;
    xi = g.w + g.H.transpose() * g.solve(g.f + g.H * Vec(Lambda));
  } else if (file.is_large()) {
    xi = relative_velocity(file.large, Lambda);
  } else {
    return {residual(file.problem, Lambda, work), literature_residual(file.problem, Lambda, work)};
  }
  if (file.is_large())
    return {residual(file.large, Lambda, xi),
            literature_residual(file.large.blocks, file.large.c, Lambda, xi)};
  const Inclusion& p = file.problem;
  Residual worst;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    if (!take_worst(block_residual(k, Lambda.segment(k.row, k.rows), xi.segment(k.row, k.rows),
                                   diagonal_steps(p, k)),
                    static_cast<int>(b), worst))
      break;
  }
  return {worst, literature_residual(p.blocks, p.c, Lambda, xi)};
}

namespace {

SolveReport solve_as_it_stands(const ProblemFile& file, VecRef Lambda, const Solver& solver,
                               SolverWorkspace& work) {
  if (file.is_large()) return solve(file.large, Lambda, options_of(solver));
  return solve_inclusion(file.problem, Lambda, solver, work);
}

struct Work {
  int iterations = 0, sweeps = 0, newton = 0;
  void add(const SolveReport& of) {
    iterations += of.iterations;
    sweeps += of.sweeps;
    newton += of.newton;
  }
};

// How far eigenvalues reach below zero: exactly where that is cheap.
double least_eigenvalue(const ProblemFile& file) {
  constexpr int countable = 1000;
  if (file.is_large() || file.rows() > countable) {
    const Vec diagonal = file.is_large() ? Vec(file.large.G.diagonal()) : file.problem.G.diagonal();
    return -file.indefinite * diagonal.maxCoeff();
  }
  const Mat& G = file.problem.G;
  const Eigen::SelfAdjointEigenSolver<Mat> spectrum(Mat(0.5 * (G + G.transpose())),
                                                    Eigen::EigenvaluesOnly);
  return std::min(spectrum.eigenvalues()[0], 0.0);
}

// Proximal steps: (G + s) x + c - s x_k is a problem with a definite matrix, and the one of the
// file where x stands still. Directions of negative eigenvalues lead away from any start until a
// cone stops them, which takes a hundred steps; each starts from the last, with few Newton steps of
// its own. Digits that were lost are 1e-8 of the data or more, and so far the residual has to fall.
SolveReport solve_indefinite(const ProblemFile& file, SolveReport report, VecRef Lambda,
                             const Solver& solver, SolverWorkspace& work) {
  constexpr int rounds = 300;
  constexpr double enough = 1e-8;  // relative, in the residual of the literature
  ProblemFile shifted = file;
  const bool large = file.is_large();
  const double s = -10 * least_eigenvalue(file), tolerance = options_of(solver).tolerance;
  Vec& c = large ? shifted.large.c : shifted.problem.c;
  for (Block& k : large ? shifted.large.blocks : shifted.problem.blocks) k.compliance += s;
  const Vec given = c;
  Newton newton;
  newton.tolerance = 1e-2 * tolerance;
  newton.max_iterations = 200;
  Vec x = Lambda;
  Work total;
  total.add(report);
  double best = judge(file, x, work).literature.relative;
  for (int round = 0; round < rounds && best > enough && s > 0; ++round) {
    c = given - s * x;
    total.add(solve_as_it_stands(shifted, x, newton, work));
    if (!x.allFinite()) break;
    const ProblemVerdict verdict = judge(file, x, work);
    if (!(verdict.literature.relative < best)) continue;
    best = verdict.literature.relative;
    Lambda = x;
    note(verdict.residual, tolerance, report);
    report.solver = Newton::name;
  }
  report.converged = best <= enough;
  report.iterations = total.iterations;
  report.sweeps = total.sweeps;
  report.newton = total.newton;
  return report;
}

// Proximal steps where the chain ends without a solution: with a compliance of `share` of its own G
// each block has one answer, however many contacts carry the same load. Each step starts from the
// last; less compliance takes fewer of them, and has to begin nearer. True at a solution. Of a heap
// that is kept sparse each would cost as much as the chain.
bool soften(const ProblemFile& file, double share, VecRef Lambda, const ProxOptions& of,
            SolverWorkspace& work, SolveReport& report) {
  constexpr int rounds = 60, patience = 20;
  constexpr double progress = 0.9;
  Inclusion softened = file.problem;
  Vec added(softened.rows);
  for (Block& k : softened.blocks) {
    const double s = share * file.problem.G.diagonal().segment(k.row, k.rows).maxCoeff();
    k.compliance += s;
    added.segment(k.row, k.rows).setConstant(s);
  }
  AutoSolver chain;
  chain.tolerance = 0.1 * of.tolerance;
  chain.rounds = 0;
  Vec x = Lambda;
  double best = report.residual;
  for (int round = 0, idle = 0; round < rounds && idle < patience && !report.converged; ++round) {
    softened.c = file.problem.c - added.cwiseProduct(x);
    const SolveReport inner = solve(softened, x, chain, work);
    report.iterations += inner.iterations;
    report.sweeps += inner.sweeps;
    report.newton += inner.newton;
    if (!x.allFinite()) break;
    const Residual now = judge(file, x, work).residual;
    idle = now.value < progress * best ? 0 : idle + 1;
    if (!(now.value < best)) continue;
    best = now.value;
    Lambda = x;
    report.solver = inner.solver;
    note(now, of.tolerance, report);
    report.converged = best <= of.tolerance;
  }
  return report.converged;
}

}  // namespace

SolveReport solve_problem(const ProblemFile& file, VecRef Lambda, const Solver& solver,
                          SolverWorkspace& work) {
  Solver first = solver;
  if (file.indefinite > 0)  // it may have no better solution than its digits: not for long
    std::visit([](ProxOptions& o) { o.max_iterations = std::min(o.max_iterations, 500); }, first);
  SolveReport report = solve_as_it_stands(file, Lambda, first, work);
  if (!report.converged && file.indefinite > 0)
    report = solve_indefinite(file, report, Lambda, solver, work);
  else if (file.global_parts && Lambda.allFinite())
    note(judge(file, Lambda, work).residual, options_of(solver).tolerance, report);
  if (!report.converged && file.indefinite == 0 && !file.is_large() && file.problem.has_G &&
      Lambda.allFinite() && std::holds_alternative<AutoSolver>(solver))
    for (const double share : {1e-4, 1e-5, 1e-6})
      if (soften(file, share, Lambda, options_of(solver), work, report)) break;
  return report;
}

}  // namespace saltus
