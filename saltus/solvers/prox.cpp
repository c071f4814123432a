#include "saltus/solvers/prox.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/condense.h"
#include "saltus/solvers/local.h"

namespace saltus {

void note(const Residual& r, double tolerance, SolveReport& report) {
  report.residual = r.value;
  report.worst_block = r.block;
  report.normal = r.normal;
  report.tangential = r.tangential;
  report.rotational = r.rotational;
  report.converged = r.value <= tolerance;
}

namespace {

// The two ways to a row's velocity: on the Delassus matrix, or on the velocities themselves.
struct OnDelassus {
  SolverWorkspace& w;
  int n;
  void start() {}
  double row(int i) const { return w.c[i] + w.G.col(i).head(n).dot(w.Lambda.head(n)); }
  void change(int, double) {}
  double entry(int i, int j) const { return w.G(j, i); }  // column i of the copy is row i
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
void choose_steps(const Form& form, bool row_sums, bool exact, SolverWorkspace& w) {
  w.steps.clear();
  w.sets.clear();
  w.diagonal_blocks.clear();
  for (const Block& k : w.blocks) {
    w.sets.push_back(sets_of(k.law));
    StepLengths s;
    for (int i = 0; i < w.sets.back().count; ++i) {
      const ConvexSet& set = w.sets.back()[i];
      s.r[i] = 1 / stiffness(form, k, k.row + set.first, set.rows, row_sums);
    }
    w.steps.push_back(s);
    if (!exact) continue;
    Mat6& A = w.diagonal_blocks.emplace_back(Mat6::Zero());
    for (int i = 0; i < k.rows; ++i) {
      for (int j = 0; j < k.rows; ++j) A(i, j) = form.entry(k.row + i, k.row + j);
      A(i, i) += k.compliance;
    }
  }
}

// The plain local step: every set by its own r, the normal first (P2 eq. 13).
void prox_step(const ConvexSets& sets, const StepLengths& s, double alpha, VecIn Lambda,
               const Vec6& xi, Vec6& x) {
  for (int i = 0; i < sets.count; ++i) {
    const ConvexSet& set = sets[i];
    auto part = x.segment(set.first, set.rows);
    part = Lambda.segment(set.first, set.rows);
    natural(set, std::max(x[0], 0.0), alpha * s.r[i], xi.segment(set.first, set.rows), part);
  }
}

struct Relaxation {
  double alpha;
  bool jacobi, exact;
};

// The exact local step, relaxed: beyond alpha = 1 the point is put back on the sets.
void exact_step(const Block& k, const ConvexSets& sets, const Mat6& A, double alpha, VecIn Lambda,
                const Vec6& xi, Vec6& x) {
  Vec6 q;
  x.head(k.rows) = Lambda;
  for (int i = 0; i < k.rows; ++i) {
    q[i] = xi[i];
    for (int j = 0; j < k.rows; ++j) q[i] -= A(i, j) * Lambda[j];
  }
  solve_block(sets, k.rows, A, q, x);
  if (alpha == 1) return;
  x.head(k.rows) = Lambda + alpha * (x.head(k.rows) - Lambda);
  prox_law(k.law, x.head(k.rows));
}

// One sweep; returns the natural map of the blocks as they were met.
template <class Form>
double sweep(Form form, const Relaxation& o, SolverWorkspace& w) {
  double miss = 0;
  Vec6 xi, x;
  if (o.jacobi) form.start();
  for (std::size_t b = 0; b < w.blocks.size(); ++b) {
    const Block& k = w.blocks[b];
    auto Lambda = w.Lambda.segment(k.row, k.rows);
    for (int i = 0; i < k.rows; ++i) xi[i] = form.row(k.row + i) + k.compliance * Lambda[i];
    const double e = block_residual(k, Lambda, xi.head(k.rows), w.steps[b]).value;
    miss = e <= miss ? miss : e;  // lets NaN through
    if (e == 0 && !o.jacobi) continue;
    if (o.exact)
      exact_step(k, w.sets[b], w.diagonal_blocks[b], o.alpha, Lambda, xi, x);
    else
      prox_step(w.sets[b], w.steps[b], o.alpha, Lambda, xi, x);
    if (o.jacobi) {
      w.next.segment(k.row, k.rows) = x.head(k.rows);
      continue;
    }
    for (int i = 0; i < k.rows; ++i)
      if (const double d = x[i] - Lambda[i]; d != 0) form.change(k.row + i, d);
    Lambda = x.head(k.rows);
  }
  if (o.jacobi) w.Lambda.head(form.n) = w.next.head(form.n);
  return miss;
}

// Divergence, stall and recovery of the relaxation, judged a window of sweeps at a time.
class AutoAlpha {
 public:
  AutoAlpha(double alpha, bool active) : largest_(alpha), active_(active) {}
  // Returns true when the best impulses are to be restored.
  bool adapt(double miss, double& alpha) {
    if (!active_) return false;
    window_best_ = std::min(window_best_, miss);
    if (!std::isfinite(miss) || miss > 1e3 * best_) return halve(alpha);
    if (++count_ < window) return false;
    const bool grows = !(window_best_ < best_);
    if (!grows) {
      best_ = window_best_;
      alpha = std::min(largest_, 1.1 * alpha);
    }
    count_ = 0;
    window_best_ = std::numeric_limits<double>::infinity();
    return grows && halve(alpha);
  }
  [[nodiscard]] bool active() const { return active_; }

 private:
  bool halve(double& alpha) {
    count_ = 0;
    window_best_ = std::numeric_limits<double>::infinity();
    if (alpha <= least) return false;
    alpha = std::max(0.5 * alpha, least);
    return true;
  }
  static constexpr int window = 10;
  static constexpr double least = 1.0 / 64;
  double largest_, best_ = std::numeric_limits<double>::infinity(),
                   window_best_ = std::numeric_limits<double>::infinity();
  int count_ = 0;
  bool active_;
};

// Whether the rate of the last sweeps leads to the tolerance within `budget` more.
class Forecast {
 public:
  Forecast(double tolerance, int budget) : tolerance_(tolerance), budget_(budget) {}
  bool hopeless(double miss, int sweeps) {
    constexpr int span = 5;
    if (budget_ <= 0 || sweeps % span != 0) return false;
    const double rate = std::pow(miss / last_, 1.0 / span);
    const bool first = !std::isfinite(last_);
    last_ = miss;
    if (first || miss <= tolerance_) return false;
    return !(rate < 1) || std::log(tolerance_ / miss) / std::log(rate) > budget_ - sweeps;
  }

 private:
  double tolerance_, last_ = std::numeric_limits<double>::infinity();
  int budget_;
};

struct Plan {
  bool jacobi = false, exact = true;
  int budget = 0;  // of sweeps; 0: max_iterations, without a forecast
};

template <class Form>
SolveReport iterate(const Inclusion& p, VecRef Lambda, const ProxOptions& o, const Plan& plan,
                    Form form, SolverWorkspace& w) {
  const bool row_sums = plan.jacobi && o.steps == ProxOptions::Steps::row_sums;
  choose_steps(form, row_sums, plan.exact, w);
  for (int i = 0; i < form.n; ++i) w.Lambda[i] = Lambda[w.iterated_rows[i]];
  SolveReport report;
  report.solver = plan.jacobi ? ProxJacobi::name : ProxGaussSeidel::name;
  report.converged = form.n == 0;
  report.redundant = w.redundant;
  form.start();
  const auto judge = [&] {
    expand(Lambda, w);
    note(residual(p, Lambda, w), o.tolerance, report);
  };
  Relaxation relax{o.alpha, plan.jacobi, plan.exact};
  AutoAlpha automatic(o.alpha, o.auto_alpha);
  Forecast forecast(o.tolerance, plan.budget);
  const int limit = plan.budget > 0 ? std::min(plan.budget, o.max_iterations) : o.max_iterations;
  if (automatic.active()) w.best.head(form.n) = w.Lambda.head(form.n);
  double best = std::numeric_limits<double>::infinity();
  // The sweep's own natural map only says when to ask; that of the whole problem, at one set of
  // impulses, decides. Asking costs as much as a sweep, so a useless question is spaced out.
  int next_question = 1;
  bool slow = false;
  while (!report.converged && report.iterations < limit) {
    if (automatic.active()) w.previous.head(form.n) = w.Lambda.head(form.n);
    const double miss = sweep(form, relax, w);
    ++report.iterations;
    if (o.history) w.history.push_back(miss);
    if (automatic.active()) {
      if (miss < best) {
        best = miss;
        w.best.head(form.n) = w.previous.head(form.n);  // the impulses that miss was met with
      }
      if (automatic.adapt(miss, relax.alpha)) {
        w.Lambda.head(form.n) = w.best.head(form.n);
        form.start();
        continue;
      }
    }
    if (!std::isfinite(miss)) break;
    if (forecast.hopeless(miss, report.iterations)) {
      slow = true;
      break;
    }
    if (miss > o.tolerance || report.iterations < next_question) continue;
    judge();
    next_question = report.iterations + 1 + report.iterations / 8;
    form.start();  // the residual used the velocity scratch
  }
  judge();
  report.sweeps = report.iterations;
  report.gave_up = end_of_search(report.converged, report.iterations, limit);
  if (slow && !report.converged) report.gave_up = GaveUp::too_slow;
  return report;
}

SolveReport solve_prox(const Inclusion& p, VecRef Lambda, const ProxOptions& o, const Plan& plan,
                       SolverWorkspace& w) {
  if (p.rows == 0) return {};
  condense(p, o.bilaterals == ProxOptions::Bilaterals::direct, w);
  const int n = static_cast<int>(w.iterated_rows.size());
  if (p.has_G) return iterate(p, Lambda, o, plan, OnDelassus{w, n}, w);
  return iterate(p, Lambda, o, plan, OnVelocity{w, n}, w);
}

}  // namespace

SolveReport solve(const Inclusion& p, VecRef Lambda, const ProxJacobi& o, SolverWorkspace& w) {
  return solve_prox(p, Lambda, o, {.jacobi = true, .exact = false}, w);
}
SolveReport solve(const Inclusion& p, VecRef Lambda, const ProxGaussSeidel& o, SolverWorkspace& w) {
  return solve_prox(p, Lambda, o, {.exact = o.local == ProxOptions::Local::exact}, w);
}
SolveReport solve_bounded(const Inclusion& p, VecRef Lambda, const ProxOptions& o, int sweeps,
                          SolverWorkspace& w) {
  return solve_prox(p, Lambda, o, {.budget = sweeps}, w);
}

}  // namespace saltus
