// Newton's method over any backend: include where a backend is to be used (newton.h explains).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "saltus/solvers/newton.h"

namespace saltus {

template <NewtonBackend Backend>
class NewtonSolver {
 public:
  NewtonSolver(std::span<const Block> blocks, int rows, const ProxOptions& o, Backend& backend,
               NewtonWorkspace& w)
      : blocks_(blocks), rows_(rows), o_(o), backend_(backend), w_(w) {}

  // Lambda: warm start, then the solution (the best met). Returns its residual; `iterations`
  // counts linear solves. `history`, if given, receives the residual of every one.
  Residual run(VecRef Lambda, int& iterations, std::vector<double>* history) {
    history_ = history;
    iterations_ = &iterations;
    if (w_.diagonal.size() < rows_) w_.diagonal.setZero(rows_);
    backend_.diagonal(w_.diagonal.head(rows_));
    if (o_.least_norm) {
      newton_detail::prepare(blocks_, rows_, newton_detail::least_norm_weight, w_);
      Lambda.setZero();
      static_cast<void>(search(Lambda));
    }
    newton_detail::prepare(blocks_, rows_, 0, w_);
    return search(Lambda);
  }

 private:
  auto head(Vec& x) { return x.head(rows_); }

  Residual judge(VecIn Lambda, VecIn xi) { return newton_detail::judge(blocks_, Lambda, xi, w_); }

  // Keeps Lambda (put on its sets) if it is the best so far; true when it is good enough.
  bool consider(VecIn Lambda, VecIn xi) {
    const Residual r = judge(Lambda, xi);
    if (history_) history_->push_back(r.value);
    last_ = r.value;
    if (r.value < best_.value) {
      best_ = r;
      head(w_.best) = Lambda;
    }
    return best_.value <= o_.tolerance;
  }

  // Regularisations that polish() starts from.
  static constexpr double bold = 1e-5, exact = 1e-8;

  Residual search(VecRef Lambda) {
    newton_detail::restore(blocks_, Lambda);
    best_.value = std::numeric_limits<double>::infinity();
    head(w_.best) = Lambda;
    const int limit = *iterations_ + o_.max_iterations;
    enough_ = newton_detail::merit_at(o_.tolerance, blocks_, w_);
    on_sets_ = true;  // until a step leaves them
    bool done = polish(Lambda, std::min(limit, *iterations_ + 30), bold);
    if (!done) on_sets_ = false;
    if (!done) {  // where little regularisation does, it does quickly
      Lambda = head(w_.best);
      done = polish(Lambda, std::min(limit, *iterations_ + 20), exact);
    }
    // Other step lengths and other starts have other basins.
    const bool warm = !head(w_.best).isZero(0);
    for (const double stretch : {1.0, 0.1, 10.0}) {
      w_.stretch = stretch;
      if (!done && stretch != 1) {
        Lambda = head(w_.best);
        done = polish(Lambda, std::min(limit, *iterations_ + 20), bold);
      }
      if (!done && (warm || stretch != 1)) {
        Lambda.setZero();
        done = polish(Lambda, std::min(limit, *iterations_ + 20), bold);
      }
    }
    w_.stretch = 1;
    // From the best so far, then from rest and ever more cautiously: the fixed point in s may
    // cycle.
    for (int attempt = 0; !done && attempt < 4 && *iterations_ < limit; ++attempt) {
      if (attempt == 0)
        Lambda = head(w_.best);
      else
        Lambda.setZero();
      done = proximal(Lambda, std::pow(0.5, attempt), limit);
    }
    Lambda = head(w_.best);
    if (done && on_sets_) return best_;
    head(w_.trial) = Lambda;  // on its sets, if that costs nothing
    newton_detail::restore(blocks_, head(w_.trial));
    backend_.velocity(head(w_.trial), head(w_.xi));
    const Residual restored = judge(head(w_.trial), head(w_.xi));
    if (restored.value <= std::max(best_.value, 0.5 * o_.tolerance)) {
      Lambda = head(w_.trial);
      return restored;
    }
    return best_;
  }

  // The trial, put on its sets; true when it is good enough there.
  bool accept_restored() {
    newton_detail::restore(blocks_, head(w_.trial));
    backend_.velocity(head(w_.trial), head(w_.trial_xi));
    const Residual r = judge(head(w_.trial), head(w_.trial_xi));
    if (!(r.value <= o_.tolerance)) return false;
    if (history_) history_->push_back(r.value);
    best_ = r;
    head(w_.best) = head(w_.trial);
    return on_sets_ = true;
  }

  // Newton on the natural map from Lambda; true when converged. Gives up when the residual has not
  // halved within six steps.
  bool polish(VecRef Lambda, int limit, double regularisation) {
    using namespace newton_detail;
    backend_.velocity(Lambda, head(w_.xi));
    if (consider(Lambda, head(w_.xi))) return true;
    std::array<double, 4> recent{};
    double rho = regularisation, mark = last_;
    int since = 0;
    int last = 0;  // the step that made Lambda
    for (int k = 0; *iterations_ < limit; ++k) {
      const double merit = natural_step(blocks_, Lambda, head(w_.xi), rho, w_);
      if (k == 0)
        recent.fill(merit);
      else
        recent[last % recent.size()] = merit;
      backend_.linear(w_.K, head(w_.g), head(w_.dLambda), head(w_.dxi));
      ++*iterations_;
      if (!w_.dLambda.head(rows_).allFinite()) return false;
      const double bound = *std::max_element(recent.begin(), recent.end());
      double t = 1, next = bound;
      for (; t > 1e-4; t *= 0.5) {
        head(w_.trial) = Lambda + t * head(w_.dLambda);
        head(w_.trial_xi) = head(w_.xi) + t * head(w_.dxi);
        next = natural_merit(blocks_, head(w_.trial), head(w_.trial_xi), w_);
        if (next <= (1 - 1e-4 * t) * bound) break;
      }
      if (t <= 1e-4) {
        if (rho >= 1e-2) return false;
        rho *= 100;
        continue;
      }
      rho = t == 1 ? std::max(0.1 * rho, 1e-10) : rho;
      Lambda = head(w_.trial);
      last = k;
      on_sets_ = false;
      if (next <= enough_ && accept_restored()) return true;
      backend_.velocity(Lambda, head(w_.xi));
      if (consider(Lambda, head(w_.xi))) return true;
      if (last_ <= 0.5 * mark) {
        mark = last_;
        since = 0;
      } else if (++since >= 6) {
        return false;
      }
    }
    return false;
  }

  // Newton on the dual of one proximal step; returns its iterations. trial is Lambda, hat its
  // image.
  int proximal_solve(double rho, int limit) {
    using namespace newton_detail;
    head(w_.trial) = head(w_.centre);
    backend_.velocity(head(w_.trial), head(w_.trial_xi));
    head(w_.trial_xi) += head(w_.compliance).cwiseProduct(head(w_.trial));
    int k = 0;
    for (; k < 50 && *iterations_ < limit; ++k) {
      proximal_map(blocks_, head(w_.trial_xi), rho, true, w_);
      proximal_step(blocks_, head(w_.trial), w_);
      head(w_.F) = head(w_.hat) - head(w_.trial);  // before the compliance is folded in
      const double gap = scaled_norm(blocks_, head(w_.F), w_);
      head(w_.trial_F) = head(w_.hat) - head(w_.centre);
      if (gap <= 1e-3 * scaled_norm(blocks_, head(w_.trial_F), w_) || gap == 0) break;
      backend_.linear(w_.K, head(w_.g), head(w_.dLambda), head(w_.dxi));
      ++*iterations_;
      if (!w_.dLambda.head(rows_).allFinite()) break;
      head(w_.dxi) += head(w_.compliance).cwiseProduct(head(w_.dLambda));
      const double t = search_line(rho);
      if (t <= 0) break;
      head(w_.trial) += t * head(w_.dLambda);
      // Afresh: sums of increments would keep the rounding of large steps.
      backend_.velocity(head(w_.trial), head(w_.trial_xi));
      head(w_.trial_xi) += head(w_.compliance).cwiseProduct(head(w_.trial));
    }
    return k;
  }

  // Slope of the dual along the step: dxi . (Lambda + t dLambda - hat(xi + t dxi)), increasing in
  // t.
  double slope(double t, double rho) {
    head(w_.trial_F) = head(w_.trial_xi) + t * head(w_.dxi);
    newton_detail::proximal_map(blocks_, head(w_.trial_F), rho, false, w_);
    return head(w_.dxi).dot(head(w_.trial) + t * head(w_.dLambda) - head(w_.hat));
  }
  double search_line(double rho) {
    const double first = slope(0, rho);
    if (!(first < 0)) return first == 0 ? 0.0 : 1.0;  // rounding: the plain step
    double lower = 0, upper = 1, at_lower = first, at_upper = slope(1, rho);
    if (at_upper <= 0.1 * -first) return 1;
    for (int k = 0; k < 30; ++k) {
      double t = lower - at_lower * (upper - lower) / (at_upper - at_lower);
      t = std::clamp(t, lower + 0.1 * (upper - lower), upper - 0.1 * (upper - lower));
      const double value = slope(t, rho);
      if (std::abs(value) <= 0.1 * -first) return t;
      (value < 0 ? lower : upper) = t;
      (value < 0 ? at_lower : at_upper) = value;
    }
    return lower > 0 ? lower : upper;
  }

  // Proximal steps with s renewed by `weight`; gives up when ten of them bring nothing.
  bool proximal(VecRef Lambda, double weight, int limit) {
    using namespace newton_detail;
    double rho = 1e-3, last = std::numeric_limits<double>::infinity(), mark = last;
    int since = 0;
    head(w_.shift).setZero();
    for (int outer = 0; since < 10 / weight && *iterations_ < limit; ++outer, ++since) {
      backend_.velocity(Lambda, head(w_.xi));
      freeze_slip(blocks_, Lambda, head(w_.xi), outer == 0 ? 1 : weight, w_);
      head(w_.centre) = Lambda;
      const int inner = proximal_solve(rho, limit);
      Lambda = head(w_.hat);
      if (!Lambda.allFinite()) return false;
      backend_.velocity(Lambda, head(w_.xi));
      if (consider(Lambda, head(w_.xi))) return true;
      if (inner <= 10) rho = std::max(0.1 * rho, 1e-9);
      const double now = judge(Lambda, head(w_.xi)).value;
      if (now < 0.8 * mark) {
        mark = now;
        since = 0;
      }
      // A polish is worth its steps when the last proximal step brought much, and every few.
      if (now < 0.5 * last || outer % 4 == 3) {
        head(w_.kept) = Lambda;
        if (polish(Lambda, std::min(limit, *iterations_ + 12), exact)) return true;
        Lambda = head(w_.kept);
      }
      last = now;
    }
    return false;
  }

  std::span<const Block> blocks_;
  int rows_;
  const ProxOptions& o_;
  Backend& backend_;
  NewtonWorkspace& w_;
  Residual best_;
  double last_ = 0;       // residual considered last
  double enough_ = 0;     // a merit that may do
  bool on_sets_ = false;  // the impulses at hand are where restore() puts them
  int* iterations_ = nullptr;
  std::vector<double>* history_ = nullptr;
};

}  // namespace saltus
