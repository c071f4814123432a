#include "saltus/solvers/delassus.h"

#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/local.h"
#include "saltus/solvers/newton_impl.h"

namespace saltus {

namespace {

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

Vec diagonal_of(const SparseDelassus& p) { return p.G.diagonal(); }

StepLengths steps_of(const Block& k, const ConvexSets& sets, VecIn diagonal) {
  StepLengths s;
  for (int i = 0; i < sets.count; ++i) {
    const double most =
        diagonal.segment(k.row + sets[i].first, sets[i].rows).maxCoeff() + k.compliance;
    s.r[i] = most > 0 ? 1 / most : 1.0;
  }
  return s;
}

// --- sweeps --------------------------------------------------------------------------------------

class DelassusSweeps {
 public:
  explicit DelassusSweeps(const SparseDelassus& p) : p_(p), diagonal_(diagonal_of(p)) {
    for (const Block& k : p.blocks) {
      Mat6 A = Mat6::Zero();
      for (int r = 0; r < k.rows; ++r) {
        for (Rows::InnerIterator it(p.G, k.row + r); it; ++it)
          if (const auto at = it.col() - k.row; at >= 0 && at < k.rows) A(r, at) += it.value();
        A(r, r) += k.compliance;
      }
      A_.push_back(A);
      sets_.push_back(sets_of(k.law));
      steps_.push_back(steps_of(k, sets_.back(), diagonal_));
    }
    forget();
  }

  // One sweep with its acceleration; the largest change of a block as a velocity [m/s].
  double operator()(VecRef Lambda) {
    before_ = Lambda;
    const double change = sweep(Lambda);
    if (std::isfinite(change)) accelerate(Lambda);
    return change;
  }
  void forget() {
    direction_.setZero(p_.rows());
    last_ = 0;
  }
  void take_plain_steps() { plain_ = true; }

 private:
  double sweep(VecRef Lambda) {
    double largest = 0;
    Vec6 q, x;
    for (std::size_t i = 0; i < p_.blocks.size(); ++i) {
      const Block& k = p_.blocks[i];
      const int n = k.rows;
      auto own = Lambda.segment(k.row, n);
      for (int r = 0; r < n; ++r) {
        double sum = p_.c[k.row + r] + k.compliance * own[r];
        for (Rows::InnerIterator it(p_.G, k.row + r); it; ++it)
          sum += it.value() * Lambda[it.col()];
        q[r] = sum;
      }
      x.head(n) = own;
      if (plain_) {
        for (int c = 0; c < sets_[i].count; ++c) {
          const ConvexSet& set = sets_[i][c];
          natural(set, x[0], steps_[i].r[c], q.segment(set.first, set.rows),
                  x.segment(set.first, set.rows));
        }
      } else {
        q.head(n).noalias() -= A_[i].topLeftCorner(n, n) * x.head(n);
        solve_block(sets_[i], n, A_[i], q, x);
      }
      for (int r = 0; r < n; ++r)
        largest = std::max(largest, std::abs(x[r] - own[r]) * A_[i](r, r) * k.length);
      own = x.head(n);
    }
    return largest;
  }
  void accelerate(VecRef Lambda) {
    step_ = Lambda - before_;
    const double square = step_.cwiseAbs2().dot(diagonal_);
    const double along = step_.cwiseProduct(direction_).dot(diagonal_);
    const double growth = last_ > 0 ? square / last_ : 0.0;
    last_ = square;
    if (growth > 1.2 || along < 0) {
      direction_.setZero();
      return;
    }
    const double beta = std::min(growth, 1.0);
    direction_ *= beta;
    Lambda += direction_;
    direction_ += step_;
  }

  const SparseDelassus& p_;
  Vec diagonal_, before_, step_, direction_;
  std::vector<Mat6> A_;  // G_ii + C
  std::vector<ConvexSets> sets_;
  std::vector<StepLengths> steps_;
  bool plain_ = false;
  double last_ = 0;
};

// --- Newton's linear step ------------------------------------------------------------------------

class SparseBackend {
 public:
  explicit SparseBackend(const SparseDelassus& p) : p_(p) {}
  void velocity(VecIn Lambda, VecRef xi) const {
    xi = p_.c;
    xi.noalias() += p_.G * Lambda;
  }
  void diagonal(VecRef d) const { d = diagonal_of(p_); }
  // As the dense dual backend: rows with K = 0 have their step, the others follow.
  void linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi) {
    place_.assign(p_.rows(), -1);
    int count = 0;
    for (std::size_t b = 0; b < p_.blocks.size(); ++b)
      if (const Block& k = p_.blocks[b]; !K[b].topLeftCorner(k.rows, k.rows).isZero(0))
        for (int i = 0; i < k.rows; ++i) place_[k.row + i] = count++;
    dLambda = g;
    for (int i = 0; i < p_.rows(); ++i)
      if (place_[i] >= 0) dLambda[i] = 0;
    dxi.noalias() = p_.G * dLambda;
    if (count == 0) return;
    entries_.clear();
    Vec rhs(count);
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
      const Block& k = p_.blocks[b];
      if (place_[k.row] < 0) continue;
      for (int i = 0; i < k.rows; ++i) {
        const int at = place_[k.row + i];
        entries_.emplace_back(at, at, 1.0);
        double sum = g[k.row + i];
        for (int l = 0; l < k.rows; ++l) {
          const double weight = K[b](i, l);
          if (weight == 0) continue;
          sum -= weight * dxi[k.row + l];
          for (Rows::InnerIterator it(p_.G, k.row + l); it; ++it)
            if (place_[it.col()] >= 0)
              entries_.emplace_back(at, place_[it.col()], weight * it.value());
        }
        rhs[at] = sum;
      }
    }
    Eigen::SparseMatrix<double> A(count, count);
    A.setFromTriplets(entries_.begin(), entries_.end());
    lu_.compute(A);
    if (lu_.info() != Eigen::Success) {  // the search changes its regularisation
      dLambda.setConstant(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    const Vec solution = lu_.solve(rhs);
    for (int i = 0; i < p_.rows(); ++i)
      if (place_[i] >= 0) dLambda[i] = solution[place_[i]];
    dxi.noalias() = p_.G * dLambda;
  }

 private:
  const SparseDelassus& p_;
  std::vector<int> place_;  // of a row among those that act
  std::vector<Eigen::Triplet<double>> entries_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu_;
};
static_assert(NewtonBackend<SparseBackend>);

}  // namespace

Vec relative_velocity(const SparseDelassus& p, VecIn Lambda) {
  Vec xi = p.c;
  xi.noalias() += p.G * Lambda;
  for (const Block& k : p.blocks)
    if (k.compliance > 0) xi.segment(k.row, k.rows) += k.compliance * Lambda.segment(k.row, k.rows);
  return xi;
}

Residual residual(const SparseDelassus& p, VecIn Lambda, VecIn xi) {
  const Vec diagonal = diagonal_of(p);
  Residual worst;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    const ConvexSets sets = sets_of(k.law);
    const BlockResidual e = block_residual(k, sets, Lambda.segment(k.row, k.rows),
                                           xi.segment(k.row, k.rows), steps_of(k, sets, diagonal));
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  return worst;
}

Residual residual(const SparseDelassus& p, VecIn Lambda) {
  return residual(p, Lambda, relative_velocity(p, Lambda));
}

SolveReport solve(const SparseDelassus& p, VecRef Lambda, const ProxOptions& o) {
  constexpr int first_sweeps = 300, factors = 60;
  SolveReport report;
  report.solver = "warm start";
  Vec best = Lambda;
  note(residual(p, best), o.tolerance, report);
  const auto look = [&](VecIn x, std::string_view name) {
    const Residual now = residual(p, x);
    if (!(now.value < report.residual) && std::isfinite(report.residual)) return;
    best = x;
    note(now, o.tolerance, report);
    report.solver = name;
  };
  DelassusSweeps sweeps(p);
  double mark = std::numeric_limits<double>::infinity();
  const auto sweep = [&](int limit) {
    sweeps.forget();
    while (!report.converged && report.sweeps < limit) {
      const double change = sweeps(Lambda);
      ++report.sweeps;
      if (!std::isfinite(change)) break;
      if (report.sweeps % 500 == 0) {  // exact steps may go round in circles; P2's do not
        if (change > 0.9 * mark) sweeps.take_plain_steps();
        mark = change;
      }
      if (change <= o.tolerance || report.sweeps % 32 == 0 || report.sweeps == limit)
        look(Lambda, ProxGaussSeidel::name);
    }
    Lambda = best;
  };
  sweep(std::min(first_sweeps, o.max_iterations));
  if (!report.converged) {
    SparseBackend backend(p);
    NewtonWorkspace work;
    ProxOptions options = o;
    options.max_iterations = factors;
    NewtonSolver<SparseBackend> newton(p.blocks, p.rows(), options, backend, work);
    Vec x = Lambda;
    static_cast<void>(newton.run(x, report.newton, nullptr));
    look(x, "newton");
    Lambda = best;
    report.before = ProxGaussSeidel::name;
    report.before_gave_up = GaveUp::too_slow;
  }
  const bool by_newton = report.converged;
  sweep(o.max_iterations);
  Lambda = best;
  if (!by_newton) {
    report.before = Newton::name;
    report.before_gave_up = GaveUp::stood_still;
  }
  report.iterations = report.sweeps + report.newton;
  report.gave_up = end_of_search(report.converged, report.sweeps, o.max_iterations);
  return report;
}

}  // namespace saltus
