#include "saltus/solvers/sparse.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

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
    }
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
  double mark = std::numeric_limits<double>::infinity();
  while (!report.converged && report.iterations < o.max_iterations) {
    const double change = s.sweep(Lambda);
    ++report.iterations;
    if (!std::isfinite(change)) break;
    // Exact steps may go round in circles; P2's do not, and take over for good.
    if (report.iterations % 200 == 0) {
      s.plain = s.plain || change > 0.9 * mark;
      mark = change;
    }
    // The sum of small increments would keep the rounding of large ones.
    if (report.iterations % 64 == 0) s.start(Lambda);
    if (change <= o.tolerance || report.iterations == o.max_iterations) judge();
  }
  report.sweeps = report.iterations;
  return report;
}

}  // namespace saltus
