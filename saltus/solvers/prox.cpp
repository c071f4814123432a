#include "saltus/solvers/prox.h"

#include <algorithm>
#include <cmath>

#include "saltus/solvers/condense.h"

namespace saltus {

namespace {

// The two ways to a row's velocity: on the Delassus matrix, or on the velocities themselves.
struct OnDelassus {
  SolverWorkspace& w;
  int n;
  void start() {}
  double row(int i) const { return w.c[i] + w.G.col(i).head(n).dot(w.Lambda.head(n)); }
  void change(int, double) {}
  double entry(int i, int j) const { return w.G(i, j); }
};
struct OnVelocity {
  SolverWorkspace& w;
  int n;
  void start() {  // P2 eq. 17
    w.v = w.v_free;
    for (int i = 0; i < n; ++i) w.v += w.Lambda[i] * w.Y.col(i);
  }
  double row(int i) const { return w.b[i] + w.W.col(i).dot(w.v); }
  void change(int i, double d) { w.v += d * w.Y.col(i); }  // P2 eq. 18
  double entry(int i, int j) const { return w.W.col(i).dot(w.Y.col(j)); }
};

// 1/r of one convex set: its largest diagonal entry, or its largest absolute row sum.
template <class Form>
double stiffness(const Form& form, const Block& k, int first, int count, bool row_sums) {
  double worst = 0;
  for (int i = first; i < first + count; ++i) {
    double d = 0;
    if (row_sums) {
      for (int j = 0; j < form.n; ++j) d += std::abs(form.entry(i, j));
    } else {
      d = form.entry(i, i);
    }
    worst = std::max(worst, d + k.compliance);
  }
  return worst > 0 ? worst : 1.0;
}

template <class Form>
void choose_steps(const Form& form, double alpha, bool row_sums, SolverWorkspace& w) {
  w.steps.clear();
  for (const Block& k : w.blocks) {
    if (std::holds_alternative<Coulomb>(k.law)) {
      w.steps.push_back({alpha / stiffness(form, k, k.row, 1, row_sums),
                         alpha / stiffness(form, k, k.row + 1, 2, row_sums)});
    } else {
      const double r = alpha / stiffness(form, k, k.row, k.rows, row_sums);
      w.steps.push_back({r, r});
    }
  }
}

using BlockVec = Eigen::Matrix<double, 6, 1>;

// The new impulse of a block; returns the velocity by which the old one missed its law.
double project(const Block& k, StepLengths s, VecIn Lambda, VecIn xi, BlockVec& x) {
  x.head(k.rows) = Lambda - s.r * xi;
  if (k.rows == 3 && std::holds_alternative<Coulomb>(k.law))
    x.segment<2>(1) = Lambda.segment<2>(1) - s.r_T * xi.segment<2>(1);
  prox_law(k.law, x.head(k.rows));
  const double r = std::min(s.r, s.r_T);
  return (x.head(k.rows) - Lambda).norm() / r * k.length;
}

template <class Form>
double sweep(Form form, bool jacobi, SolverWorkspace& w) {
  double miss = 0;
  BlockVec xi, x;
  if (jacobi) form.start();
  for (std::size_t b = 0; b < w.blocks.size(); ++b) {
    const Block& k = w.blocks[b];
    auto Lambda = w.Lambda.segment(k.row, k.rows);
    for (int i = 0; i < k.rows; ++i) xi[i] = form.row(k.row + i) + k.compliance * Lambda[i];
    miss = std::max(miss, project(k, w.steps[b], Lambda, xi.head(k.rows), x));
    if (jacobi) {
      w.next.segment(k.row, k.rows) = x.head(k.rows);
      continue;
    }
    for (int i = 0; i < k.rows; ++i)
      if (const double d = x[i] - Lambda[i]; d != 0) form.change(k.row + i, d);
    Lambda = x.head(k.rows);
  }
  if (jacobi) w.Lambda.head(form.n) = w.next.head(form.n);
  return miss;
}

template <class Form>
SolveReport iterate(const Inclusion& p, VecRef Lambda, const ProxOptions& o, bool jacobi, Form form,
                    SolverWorkspace& w) {
  choose_steps(form, o.alpha, jacobi, w);
  for (int i = 0; i < form.n; ++i) w.Lambda[i] = Lambda[w.iterated_rows[i]];
  SolveReport report;
  report.converged = form.n == 0;
  report.redundant = w.redundant;
  form.start();
  const auto judge = [&] {
    expand(Lambda, w);
    const Residual r = residual(p, Lambda, w);
    report.residual = r.value;
    report.worst_block = r.block;
    report.converged = r.value <= o.tolerance;
  };
  // The sweep's own increments only say when to ask; the natural map of the whole problem decides.
  // Asking costs as much as a sweep, so an early, useless question is spaced out.
  int next_question = 1;
  while (!report.converged && report.iterations < o.max_iterations) {
    const double miss = sweep(form, jacobi, w);
    ++report.iterations;
    if (!std::isfinite(miss)) break;
    if (miss > o.tolerance || report.iterations < next_question) continue;
    judge();
    next_question = report.iterations + 1 + report.iterations / 8;
    form.start();  // the residual used the velocity scratch
  }
  judge();
  return report;
}

SolveReport solve_prox(const Inclusion& p, VecRef Lambda, const ProxOptions& o, bool jacobi,
                       SolverWorkspace& w) {
  if (p.rows == 0) return {};
  condense(p, o.bilaterals == ProxOptions::Bilaterals::direct, w);
  const int n = static_cast<int>(w.iterated_rows.size());
  if (p.has_G) return iterate(p, Lambda, o, jacobi, OnDelassus{w, n}, w);
  return iterate(p, Lambda, o, jacobi, OnVelocity{w, n}, w);
}

}  // namespace

SolveReport solve(const Inclusion& p, VecRef Lambda, const ProxJacobi& o, SolverWorkspace& w) {
  return solve_prox(p, Lambda, o, true, w);
}
SolveReport solve(const Inclusion& p, VecRef Lambda, const ProxGaussSeidel& o, SolverWorkspace& w) {
  return solve_prox(p, Lambda, o, false, w);
}

SolveReport solve_inclusion(const Inclusion& p, VecRef Lambda, const Solver& solver,
                            SolverWorkspace& w) {
  return std::visit([&](const auto& o) { return solve(p, Lambda, o, w); }, solver);
}

const ProxOptions& options_of(const Solver& solver) {
  return std::visit([](const auto& o) -> const ProxOptions& { return o; }, solver);
}
std::string_view name_of(const Solver& solver) {
  return std::visit([](const auto& o) { return o.name; }, solver);
}

}  // namespace saltus
