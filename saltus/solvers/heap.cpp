#include "saltus/solvers/heap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/newton_impl.h"

namespace saltus {

HeapBackend::HeapBackend(const SparseRows& rows, HeapScratch& scratch) : p_(rows), w_(scratch) {
  // Nodes: trees, by their first velocity.
  w_.node_at.assign(p_.velocities, -1);
  w_.size.clear();
  for (const auto& segments : p_.segments)
    for (const auto& s : segments)
      if (s.size > 0) w_.node_at[s.v] = s.size;
  for (int v = 0; v < p_.velocities; v += w_.size.back()) {
    const int size = w_.node_at[v] > 0 ? w_.node_at[v] : 1;  // 1: nothing acts on it
    w_.node_at[v] = static_cast<int>(w_.size.size());
    w_.size.push_back(size);
  }
  w_.node.resize(p_.blocks.size());
  w_.pair_of.assign(p_.blocks.size(), -1);
  w_.pairs.clear();
  for (std::size_t i = 0; i < p_.blocks.size(); ++i) {
    for (int a = 0; a < 2; ++a) {
      const auto& s = p_.segments[i][a];
      w_.node[i][a] = s.size > 0 ? w_.node_at[s.v] : -1;
    }
    if (w_.node[i][0] < 0 || w_.node[i][1] < 0) continue;
    w_.pair_of[i] = static_cast<int>(w_.pairs.size());
    w_.pairs.push_back(w_.node[i]);
  }
  w_.lu.analyse(w_.size, w_.pairs);
  w_.valid = false;
  // The scales.
  const int nv = p_.velocities;
  for (Vec* x : {&w_.D, &w_.v, &w_.dv})
    if (x->size() < nv) x->setZero(nv);
  w_.D.head(nv).setZero();
  w_.v.head(nv).setZero();
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    for (const auto& s : p_.segments[i])
      for (int r = 0; r < p_.blocks[i].rows; ++r)
        for (int k = 0; k < s.size; ++k) {
          w_.D[s.v + k] += std::abs(p_.W[s.data + r * s.size + k]);
          w_.v[s.v + k] += std::abs(p_.Y[s.data + r * s.size + k]);
        }
  for (int k = 0; k < nv; ++k) {
    const double ratio = w_.v[k] > 0 ? w_.D[k] / w_.v[k] : 0.0;
    w_.D[k] = ratio > 0 && std::isfinite(ratio) ? std::sqrt(ratio) : 1.0;
  }
  w_.W = p_.W;
  w_.Y = p_.Y;
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    for (const auto& s : p_.segments[i])
      for (int r = 0; r < p_.blocks[i].rows; ++r)
        for (int k = 0; k < s.size; ++k) {
          w_.W[s.data + r * s.size + k] /= w_.D[s.v + k];
          w_.Y[s.data + r * s.size + k] *= w_.D[s.v + k];
        }
}

void HeapBackend::move(std::size_t block, const double* d, double* v,
                       const std::vector<double>& Y) const {
  const int rows = p_.blocks[block].rows;
  for (const auto& s : p_.segments[block]) {
    if (s.size == 6 && rows == 3) {
      const Eigen::Map<const Eigen::Matrix<double, 6, 3>> own(Y.data() + s.data);
      Eigen::Map<Vec6>(v + s.v).noalias() += own * Eigen::Map<const Vec3>(d);
      continue;
    }
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < s.size; ++k) v[s.v + k] += Y[s.data + r * s.size + k] * d[r];
  }
}

void HeapBackend::read(std::size_t block, const double* v, double* xi,
                       const std::vector<double>& W) const {
  const int rows = p_.blocks[block].rows;
  for (int r = 0; r < rows; ++r) xi[r] = 0;
  for (const auto& s : p_.segments[block]) {
    if (s.size == 6 && rows == 3) {
      const Eigen::Map<const Eigen::Matrix<double, 6, 3>> own(W.data() + s.data);
      Eigen::Map<Vec3>(xi, 3).noalias() += own.transpose() * Eigen::Map<const Vec6>(v + s.v);
      continue;
    }
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < s.size; ++k) xi[r] += W[s.data + r * s.size + k] * v[s.v + k];
  }
}

void HeapBackend::velocity(VecIn Lambda, VecRef xi) {
  w_.v.head(p_.velocities) = p_.v_free.head(p_.velocities);
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    move(i, Lambda.data() + p_.blocks[i].row, w_.v.data(), p_.Y);
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    read(i, w_.v.data(), xi.data() + p_.blocks[i].row, p_.W);
  xi += p_.b.head(p_.rows);
}

void HeapBackend::diagonal(VecRef d) const {
  d.setZero();
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    for (const auto& s : p_.segments[i])
      for (int r = 0; r < p_.blocks[i].rows; ++r)
        for (int k = 0; k < s.size; ++k)
          d[p_.blocks[i].row + r] += p_.W[s.data + r * s.size + k] * p_.Y[s.data + r * s.size + k];
}

// to += Y_at K W_of'.
void HeapBackend::add(const SparseRows::Segment& at, const SparseRows::Segment& of, const Mat6& K,
                      int rows, double* to) {
  if (at.size == 6 && of.size == 6 && rows == 3) {
    using Columns = Eigen::Matrix<double, 6, 3>;
    const Eigen::Map<const Columns> Y(w_.Y.data() + at.data), W(w_.W.data() + of.data);
    const Columns YK = Y * K.topLeftCorner<3, 3>();
    Eigen::Map<Mat6>{to}.noalias() += YK.lazyProduct(W.transpose());
    return;
  }
  const Eigen::Map<const Mat> Y(w_.Y.data() + at.data, at.size, rows);
  const Eigen::Map<const Mat> W(w_.W.data() + of.data, of.size, rows);
  Eigen::Map<Mat>(to, at.size, of.size) +=
      (Y * K.topLeftCorner(rows, rows)).lazyProduct(W.transpose());
}

void HeapBackend::factor(const BlockMatrices& K) {
  const std::size_t n = p_.blocks.size();
  if (w_.valid && w_.K.size() >= n && same_blocks(w_.K, K, p_.blocks)) return;
  if (w_.K.size() < n) w_.K.resize(n);
  w_.lu.set_identity();
  for (std::size_t i = 0; i < n; ++i) {
    const int d = p_.blocks[i].rows;
    w_.K[i].topLeftCorner(d, d) = K[i].topLeftCorner(d, d);
    const auto& [a, b] = p_.segments[i];
    const auto [x, y] = w_.node[i];
    if (K[i].topLeftCorner(d, d).isZero(0)) continue;
    if (x >= 0) add(a, a, K[i], d, w_.lu.diagonal(x));
    if (y >= 0) add(b, b, K[i], d, w_.lu.diagonal(y));
    if (x < 0 || y < 0) continue;
    add(a, b, K[i], d, w_.lu.coupling(w_.pair_of[i], false));
    add(b, a, K[i], d, w_.lu.coupling(w_.pair_of[i], true));
  }
  w_.valid = w_.lu.factor();
  ++w_.factors;
}

void HeapBackend::linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi) {
  factor(K);
  if (!w_.valid) {  // the search sees that the step is not finite and changes its regularisation
    dLambda.setConstant(std::numeric_limits<double>::quiet_NaN());
    dxi = dLambda;
    return;
  }
  auto dv = w_.dv.head(p_.velocities);
  dv.setZero();
  for (std::size_t i = 0; i < p_.blocks.size(); ++i)
    move(i, g.data() + p_.blocks[i].row, dv.data(), w_.Y);
  w_.lu.solve(dv);
  for (std::size_t i = 0; i < p_.blocks.size(); ++i) {
    const Block& k = p_.blocks[i];
    read(i, dv.data(), dxi.data() + k.row, w_.W);
    dLambda.segment(k.row, k.rows) = g.segment(k.row, k.rows);
    dLambda.segment(k.row, k.rows).noalias() -=
        K[i].topLeftCorner(k.rows, k.rows) * dxi.segment(k.row, k.rows);
  }
}

namespace {

// Linear solves of each attempt: of the interior-point method, with the derivative of its slip
// speeds or without, and of Newton's after it.
struct Means {
  int interior, coupling, newton;
};
constexpr std::array<Means, 4> means{{{0, 0, 6}, {30, 0, 20}, {40, 1, 30}, {0, 0, 100}}};

}  // namespace

HeapNewton::HeapNewton(const SparseRows& rows, const ProxOptions& options, HeapScratch& scratch)
    : p_(rows), o_(options), w_(scratch), backend_(rows, scratch) {
  static_assert(means.size() == attempts);
}

double HeapNewton::cost() const {
  // Measured on piles: a sweep takes 40 ns a block, a factor 0.1 ns an operation, and all that a
  // step does block by block as much as 60 sweeps.
  const double sweep = 400.0 * static_cast<double>(p_.blocks.size());
  const Means& m = means[next_];
  return (m.interior + m.newton) * (60 + w_.lu.work() / sweep);
}

Residual HeapNewton::attempt(VecRef Lambda, SolveReport& report) {
  const Means& m = means[next_++];
  int iterations = 0;
  Residual r;
  if (m.interior > 0) {
    w_.interior.coupling = m.coupling;
    ProxOptions near = o_;  // the last digits are Newton's
    near.tolerance = std::max(o_.tolerance, 1e-5);
    r = interior_point(std::span<const Block>(p_.blocks), p_.rows, near, m.interior, backend_,
                       w_.newton, w_.interior, Lambda, iterations);
  }
  ProxOptions last = o_;
  last.max_iterations = m.newton;
  last.least_norm = false;
  NewtonSolver<HeapBackend> newton(p_.blocks, p_.rows, last, backend_, w_.newton);
  r = newton.run(Lambda, iterations, nullptr);
  report.newton += iterations;
  return r;
}

}  // namespace saltus
