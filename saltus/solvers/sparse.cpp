#include "saltus/solvers/sparse.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "saltus/solvers/heap.h"
#include "saltus/solvers/local.h"

namespace saltus {

void SparseRows::clear() {
  blocks.clear();
  segments.clear();
  W.clear();
  Y.clear();
  rows = velocities = 0;
}

namespace {

constexpr int least_sweeps = 192;  // before a factor is thought of

struct Sweeper {
  const SparseRows& p;
  SparseScratch& w;
  bool plain = false;  // P2's local step instead of the exact one

  template <int N, int R>
  void read_fixed(const SparseRows::Segment& s, Vec6& xi) const {
    const Eigen::Map<const Eigen::Matrix<double, N, R>> W(p.W.data() + s.data);
    xi.template head<R>().noalias() += W.transpose() * w.v.template segment<N>(s.v);
  }
  // W' v of a block's rows.
  void read(std::size_t i, Vec6& xi) const {
    const int rows = p.blocks[i].rows;
    xi.setZero();
    for (const auto& s : p.segments[i]) {
      if (s.size == 6 && rows == 3) {
        read_fixed<6, 3>(s, xi);
        continue;
      }
      const double* W = p.W.data() + s.data;
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < s.size; ++k) xi[r] += W[r * s.size + k] * w.v[s.v + k];
    }
  }
  void move(std::size_t i, const Vec6& d) {
    const int rows = p.blocks[i].rows;
    for (const auto& s : p.segments[i]) {
      if (s.size == 6 && rows == 3) {
        const Eigen::Map<const Eigen::Matrix<double, 6, 3>> Y(p.Y.data() + s.data);
        w.v.segment<6>(s.v).noalias() += Y * d.head<3>();
        continue;
      }
      const double* Y = p.Y.data() + s.data;
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < s.size; ++k) w.v[s.v + k] += Y[r * s.size + k] * d[r];
    }
  }

  void prepare() {
    w.pairs.clear();
    w.pair_of.assign(p.blocks.size(), -1);
    w.A.resize(p.blocks.size());
    w.sets.resize(p.blocks.size());
    w.steps.resize(p.blocks.size());
    w.inverse.resize(p.blocks.size());
    w.mu.resize(p.blocks.size());
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const Block& k = p.blocks[i];
      Mat6& A = w.A[i];
      A.setZero();
      for (const auto& s : p.segments[i]) {
        const double *W = p.W.data() + s.data, *Y = p.Y.data() + s.data;
        for (int r = 0; r < k.rows; ++r)
          for (int q = 0; q < k.rows; ++q)
            for (int n = 0; n < s.size; ++n) A(r, q) += W[r * s.size + n] * Y[q * s.size + n];
      }
      for (int r = 0; r < k.rows; ++r) A(r, r) += k.compliance;
      w.sets[i] = sets_of(k.law);
      w.mu[i] = {-1, -1};
      if (const auto* law = std::get_if<Coulomb>(&k.law);
          law && law->mu1 > 0 && law->mu2 > 0 && !w.sets[i][1].two_sided()) {
        const Mat3 own = A.topLeftCorner<3, 3>();
        bool regular = false;
        own.computeInverseWithCheck(w.inverse[i], regular, 1e-12 * own.diagonal().prod());
        if (regular) w.mu[i] = {law->mu1, law->mu2};
      }
      for (int c = 0; c < w.sets[i].count; ++c) {
        const ConvexSet& set = w.sets[i][c];
        const double most = A.diagonal().segment(set.first, set.rows).maxCoeff();
        w.steps[i].r[c] = most > 0 ? 1 / most : 1.0;
      }
      add_pair(i);
    }
  }

  // The block as a pair, where it is one.
  void add_pair(std::size_t i) {
    const Block& k = p.blocks[i];
    const Mat6& A = w.A[i];
    if (k.rows != 1 && k.rows != 3) return;
    PairBlock out;
    if (const auto* law = std::get_if<Coulomb>(&k.law)) {
      if (law->mu1 != law->mu2) return;
      out.kind = PairBlock::Kind::coulomb;
      out.mu = law->mu1;
    } else if (std::holds_alternative<Unilateral>(k.law)) {
      out.kind = PairBlock::Kind::unilateral;
    } else if (!std::holds_alternative<Bilateral>(k.law)) {
      return;
    }
    for (const auto& s : p.segments[i]) {
      if (s.size == 0) continue;
      if (s.size != 6) return;
      out.v[out.bodies] = s.v;
      std::copy_n(p.W.data() + s.data, 6 * k.rows, out.W.data() + 18 * out.bodies);
      std::copy_n(p.Y.data() + s.data, 6 * k.rows, out.Y.data() + 18 * out.bodies);
      ++out.bodies;
    }
    // Diagonal to rounding, and of a disc alike in all directions: the local solution is closed.
    const double slack = 1e-13 * A.diagonal().head(k.rows).maxCoeff();
    for (int r = 0; r < k.rows; ++r) {
      if (!(A(r, r) > 0)) return;
      for (int q = 0; q < r; ++q)
        if (std::abs(A(r, q)) > slack || std::abs(A(q, r)) > slack) return;
      out.own[r] = A(r, r);
      out.per[r] = 1 / A(r, r);
      out.b[r] = p.b[k.row + r];
    }
    if (k.rows == 3 && out.kind == PairBlock::Kind::coulomb) {
      if (std::abs(A(1, 1) - A(2, 2)) > slack) return;
      out.own[2] = out.own[1];
      out.per[2] = out.per[1];
    }
    out.compliance = k.compliance;
    out.length = k.length;
    out.row = k.row;
    out.rows = k.rows;
    w.pair_of[i] = static_cast<int>(w.pairs.size());
    w.pairs.push_back(out);
  }

  // The exact local step of a pair; its largest change as a velocity.
  template <int R>
  double step_pair(const PairBlock& k, double* Lambda) {
    double* x = Lambda + k.row;
    std::array<double, R> q, d;
    for (int r = 0; r < R; ++r) q[r] = k.b[r] + (k.compliance - k.own[r]) * x[r];
    for (int a = 0; a < k.bodies; ++a) {
      const double *v = w.v.data() + k.v[a], *W = k.W.data() + 18 * a;
      for (int r = 0; r < R; ++r)
        for (int n = 0; n < 6; ++n) q[r] += W[6 * r + n] * v[n];
    }
    std::array<double, R> y;  // where the rows would stand still
    for (int r = 0; r < R; ++r) y[r] = -q[r] * k.per[r];
    if (k.kind != PairBlock::Kind::bilateral) {
      y[0] = std::max(y[0], 0.0);
      if constexpr (R == 3) {
        const double most = k.mu * y[0], square = y[1] * y[1] + y[2] * y[2];
        if (square > most * most) {
          const double share = most / std::sqrt(square);
          y[1] *= share;
          y[2] *= share;
        }
      }
    }
    double change = 0;
    for (int r = 0; r < R; ++r) {
      d[r] = y[r] - x[r];
      x[r] = y[r];
      change = std::max(change, std::abs(d[r]) * k.own[r]);
    }
    for (int a = 0; a < k.bodies; ++a) {
      double* v = w.v.data() + k.v[a];
      const double* Y = k.Y.data() + 18 * a;
      for (int n = 0; n < 6; ++n) {
        double sum = 0;
        for (int r = 0; r < R; ++r) sum += Y[6 * r + n] * d[r];
        v[n] += sum;
      }
    }
    return change * k.length;
  }

  void start(VecIn Lambda) {
    w.v = p.v_free.head(p.velocities);
    Vec6 d;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const Block& k = p.blocks[i];
      d.head(k.rows) = Lambda.segment(k.row, k.rows);
      move(i, d);
    }
  }

  Residual judge(VecIn Lambda) const {
    Residual worst;
    Vec6 xi;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const Block& k = p.blocks[i];
      read(i, xi);
      xi.head(k.rows) += p.b.segment(k.row, k.rows) + k.compliance * Lambda.segment(k.row, k.rows);
      const BlockResidual r =
          block_residual(k, Lambda.segment(k.row, k.rows), xi.head(k.rows), w.steps[i]);
      if (!take_worst(r, static_cast<int>(i), worst)) break;
    }
    return worst;
  }

  // The cases of Coulomb's law that need no equation: separation, and stick by the inverse.
  bool at_once(std::size_t i, const Vec6& q, Vec6& x) const {
    const double mu1 = w.mu[i][0], mu2 = w.mu[i][1];
    if (mu1 < 0) return false;
    if (q[0] >= 0) {
      x.head<3>().setZero();
      return true;
    }
    const Vec3 stick = w.inverse[i] * -q.head<3>();
    const double t1 = stick[1] / mu1, t2 = stick[2] / mu2;
    if (!(stick[0] >= 0 && t1 * t1 + t2 * t2 <= stick[0] * stick[0])) return false;
    x.head<3>() = stick;
    return true;
  }

  // P2's step from the impulses in x: q is the velocity of the rows without them.
  void prox_step(std::size_t i, const Vec6& q, Vec6& x) const {
    const int n = p.blocks[i].rows;
    Vec6 xi = q;
    xi.head(n).noalias() += w.A[i].topLeftCorner(n, n) * x.head(n);
    for (int c = 0; c < w.sets[i].count; ++c) {
      const ConvexSet& set = w.sets[i][c];
      auto part = x.segment(set.first, set.rows);
      natural(set, x[0], w.steps[i].r[c], xi.segment(set.first, set.rows), part);
    }
  }

  // One sweep; the largest change of a block as a velocity [m/s].
  double sweep(VecRef Lambda) {
    double largest = 0;
    Vec6 xi, x, d;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const Block& k = p.blocks[i];
      if (const int pair = w.pair_of[i]; pair >= 0) {  // P2's step and the exact one are the same
        largest = std::max(largest, k.rows == 3 ? step_pair<3>(w.pairs[pair], Lambda.data())
                                                : step_pair<1>(w.pairs[pair], Lambda.data()));
        continue;
      }
      auto own = Lambda.segment(k.row, k.rows);
      read(i, xi);
      d.head(k.rows) = own;
      // The velocity of the rows at a zero impulse of the block.
      xi.head(k.rows) += p.b.segment(k.row, k.rows) + k.compliance * own;
      xi.head(k.rows).noalias() -= w.A[i].topLeftCorner(k.rows, k.rows) * d.head(k.rows);
      x.head(k.rows) = own;
      if (plain)
        prox_step(i, xi, x);
      else if (!at_once(i, xi, x))
        solve_block(w.sets[i], k.rows, w.A[i], xi, x);
      d.head(k.rows) = x.head(k.rows) - own;
      double change = 0;
      for (int r = 0; r < k.rows; ++r) change = std::max(change, std::abs(d[r]) * w.A[i](r, r));
      if (change == 0) continue;
      largest = std::max(largest, change * k.length);
      move(i, d);
      own = x.head(k.rows);
    }
    return largest;
  }

  // --- acceleration: sparse.h

  void forget() {
    const int n = p.rows, nv = p.velocities;
    for (Vec* x : {&w.best, &w.before, &w.direction, &w.weight})
      if (x->size() < n) x->setZero(n + n / 2);
    for (Vec* x : {&w.v_before, &w.v_direction})
      if (x->size() < nv) x->setZero(nv);
    w.direction.head(n).setZero();
    w.v_direction.head(nv).setZero();
    for (std::size_t i = 0; i < p.blocks.size(); ++i)
      for (int r = 0; r < p.blocks[i].rows; ++r) w.weight[p.blocks[i].row + r] = w.A[i](r, r);
    last_square = 0;
  }
  void accelerate(VecRef Lambda) {
    const int n = p.rows;
    double square = 0, against = 0;
    for (int r = 0; r < n; ++r) {
      const double g = w.before[r] - Lambda[r];
      square += g * g * w.weight[r];
      against += g * w.direction[r] * w.weight[r];
    }
    const double growth = last_square > 0 ? square / last_square : 0.0;
    const double beta = std::min(growth, 1.0);
    last_square = square;
    if (growth > most_growth || against > 0) {
      w.direction.head(n).setZero();
      w.v_direction.head(p.velocities).setZero();
      return;
    }
    for (int r = 0; r < n; ++r) {
      const double step = Lambda[r] - w.before[r], ahead = beta * w.direction[r];
      Lambda[r] += ahead;
      w.direction[r] = ahead + step;
    }
    for (int k = 0; k < p.velocities; ++k) {
      const double step = w.v[k] - w.v_before[k], ahead = beta * w.v_direction[k];
      w.v[k] += ahead;
      w.v_direction[k] = ahead + step;
    }
  }
  static constexpr double most_growth = 1.2;  // of |g|^2 in a sweep
  double last_square = 0;
};

}  // namespace

void sparse_velocity(const SparseRows& rows, VecIn Lambda, SparseScratch& scratch, VecRef xi) {
  Sweeper s{rows, scratch, false};
  s.start(Lambda);
  Vec6 own;
  for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
    const Block& k = rows.blocks[i];
    s.read(i, own);
    xi.segment(k.row, k.rows) = own.head(k.rows) + rows.b.segment(k.row, k.rows);
  }
}

SolveReport solve_sparse(const SparseRows& p, VecRef Lambda, const ProxOptions& o,
                         SparseScratch& w) {
  SolveReport report;
  report.solver = ProxGaussSeidel::name;
  if (p.rows == 0) return report;
  Sweeper s{p, w, false};
  s.prepare();
  s.start(Lambda);
  const auto judge = [&] {
    const Residual r = s.judge(Lambda);
    report.residual = r.value;
    report.worst_block = r.block;
    report.converged = r.value <= o.tolerance;
  };
  judge();
  if (report.converged) return report;  // a start that is a solution stays as it is
  s.forget();
  const int n = p.rows, nv = p.velocities;
  w.best.head(n) = Lambda;
  double best = report.residual;
  const auto look = [&] {
    judge();
    if (!(report.residual < best) && !std::isnan(best)) return;
    best = report.residual;
    w.best.head(n) = Lambda;
  };
  // Factors take over when sweeps have cost as much as an attempt by them would: whichever does it,
  // the other at most doubles its cost.
  std::optional<HeapNewton> newton;
  double spent = 0;  // by attempts, in sweeps
  double mark = std::numeric_limits<double>::infinity();
  while (!report.converged && report.sweeps < o.max_iterations) {
    w.before.head(n) = Lambda;
    w.v_before.head(nv) = w.v.head(nv);
    const double change = s.sweep(Lambda);
    ++report.sweeps;
    if (!std::isfinite(change)) break;
    // Exact steps may go round in circles; P2's do not, and take over for good.
    if (report.sweeps % 500 == 0) {
      s.plain = s.plain || change > 0.9 * mark;
      mark = change;
    }
    const bool pause = report.sweeps % 64 == 0;
    if (change <= o.tolerance || report.sweeps % 32 == 0 || report.sweeps == o.max_iterations)
      look();
    if (report.converged) break;
    s.accelerate(Lambda);
    if (pause && report.sweeps >= least_sweeps) {
      // Only hard problems come here: their scratch is the thread's, and no step needs what is in
      // it.
      static thread_local HeapScratch scratch;
      if (!newton) newton.emplace(p, o, scratch);
      if (newton->any_left() && report.sweeps >= spent + newton->cost()) {
        spent += newton->cost();
        Vec trial = w.best.head(n);
        static_cast<void>(newton->attempt(trial, report));
        if (trial.allFinite()) {
          const Vec swept = Lambda;
          Lambda = trial;
          s.start(Lambda);
          look();
          if (report.converged) {
            report.solver = "newton";
            report.before = ProxGaussSeidel::name;
            report.before_gave_up = GaveUp::too_slow;
          } else if (!(report.residual <= best))
            Lambda = swept;
          s.forget();
        }
      }
    }
    // The sum of small increments would keep the rounding of large ones.
    if (pause) s.start(Lambda);
  }
  if (!report.converged) {
    Lambda = w.best.head(n);
    s.start(Lambda);
    judge();
  }
  report.iterations = report.sweeps + report.newton;
  report.gave_up = end_of_search(report.converged, report.sweeps, o.max_iterations);
  return report;
}

}  // namespace saltus
