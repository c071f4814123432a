#include "saltus/solvers/backend.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>

#include "saltus/solvers/soft_rows.h"

namespace saltus {

namespace {

void grow(Vec& x, int n) {
  if (x.size() < n) x.setZero(n);
}
void grow(Mat& x, int n) {
  if (x.rows() < n) x.setZero(n, n);
}

// Eigen's blocked LU with partial pivoting, in place and without allocating (its class would).
void factor_lu(DenseFactor& f, int n) {
  if (static_cast<int>(f.pivots.size()) < n) f.pivots.resize(n);
  int swaps = 0;
  Eigen::internal::partial_lu_impl<double, Eigen::ColMajor, int>::blocked_lu(
      n, n, f.A.data(), f.A.outerStride(), f.pivots.data(), swaps);
}

void solve_lu(const DenseFactor& f, int n, VecRef x) {
  const auto A = f.A.topLeftCorner(n, n);
  for (int i = 0; i < n; ++i) std::swap(x[i], x[f.pivots[i]]);
  A.triangularView<Eigen::UnitLower>().solveInPlace(x);
  A.triangularView<Eigen::Upper>().solveInPlace(x);
}

bool symmetric(const BlockMatrices& K, std::span<const Block> blocks) {
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (int i = 0; i < blocks[b].rows; ++i)
      for (int j = 0; j < i; ++j)
        if (K[b](i, j) != K[b](j, i)) return false;
  return true;
}

void keep(const BlockMatrices& K, std::size_t count, DenseFactor& f) {
  if (f.K.size() < count) f.K.resize(count);
  std::copy_n(K.begin(), count, f.K.begin());
  f.valid = true;
  ++f.factorisations;
}

bool is_zero(const Mat6& K, int n) { return K.topLeftCorner(n, n).isZero(0); }

}  // namespace

bool same_blocks(const BlockMatrices& a, const BlockMatrices& b, std::span<const Block> blocks) {
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const int n = blocks[k].rows;
    if (a[k].topLeftCorner(n, n) != b[k].topLeftCorner(n, n)) return false;
  }
  return true;
}

// --- dual
// -----------------------------------------------------------------------------------------

DualBackend::DualBackend(const Inclusion& p, NewtonWorkspace& w) : p_(p), w_(w) {
  grow(w.factor.A, p.rows);
  grow(w.factor.rhs, p.rows);
  w.factor.rows.reserve(p.rows);
  w.factor.valid = false;
}

void DualBackend::velocity(VecIn Lambda, VecRef xi) const {
  const int n = p_.rows;
  xi = p_.c.head(n);
  xi.noalias() += p_.G.topLeftCorner(n, n) * Lambda;
}

void DualBackend::diagonal(VecRef d) const { d = p_.G.diagonal().head(p_.rows); }

void DualBackend::factor(const BlockMatrices& K) {
  DenseFactor& f = w_.factor;
  if (f.valid && same_blocks(K, f.K, p_.blocks)) return;
  f.rows.clear();
  for (std::size_t b = 0; b < p_.blocks.size(); ++b)
    if (const Block& k = p_.blocks[b]; !is_zero(K[b], k.rows))
      for (int i = 0; i < k.rows; ++i) f.rows.push_back(k.row + i);
  const int n = static_cast<int>(f.rows.size());
  for (int j = 0; j < n; ++j) {
    const auto G = p_.G.col(f.rows[j]);
    auto A = f.A.col(j);
    int at = 0;
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
      const Block& k = p_.blocks[b];
      if (at >= n || f.rows[at] != k.row) continue;
      for (int i = 0; i < k.rows; ++i) {
        double sum = at + i == j ? 1.0 : 0.0;
        for (int l = 0; l < k.rows; ++l) sum += K[b](i, l) * G[k.row + l];
        A[at + i] = sum;
      }
      at += k.rows;
    }
  }
  if (n > 0) factor_lu(f, n);
  keep(K, p_.blocks.size(), f);
}

void DualBackend::linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi) {
  factor(K);
  DenseFactor& f = w_.factor;
  const int n = static_cast<int>(f.rows.size()), rows = p_.rows;
  dLambda = g;
  for (const int row : f.rows) dLambda[row] = 0;
  dxi.noalias() = p_.G.topLeftCorner(rows, rows) * dLambda;  // of the rows whose step is given
  int at = 0;
  for (std::size_t b = 0; b < p_.blocks.size() && at < n; ++b) {
    const Block& k = p_.blocks[b];
    if (f.rows[at] != k.row) continue;
    for (int i = 0; i < k.rows; ++i) {
      double sum = g[k.row + i];
      for (int l = 0; l < k.rows; ++l) sum -= K[b](i, l) * dxi[k.row + l];
      f.rhs[at + i] = sum;
    }
    at += k.rows;
  }
  if (n > 0) solve_lu(f, n, f.rhs.head(n));
  for (int i = 0; i < n; ++i) dLambda[f.rows[i]] = f.rhs[i];
  dxi.noalias() = p_.G.topLeftCorner(rows, rows) * dLambda;
}

// --- primal
// ---------------------------------------------------------------------------------------

PrimalBackend::PrimalBackend(const Inclusion& p, NewtonWorkspace& w) : p_(p), w_(w) {
  const int nv = static_cast<int>(p.W.rows());
  grow(w.factor.A, nv);
  grow(w.v, nv);
  grow(w.dv, nv);
  if (w.support.size() < p.blocks.size()) w.support.resize(p.blocks.size());
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    w.support[b].clear();
    for (int i = 0; i < nv; ++i)
      if (!p.W.row(i).segment(k.row, k.rows).isZero(0)) w.support[b].push_back(i);
  }
  w.factor.valid = false;
}

void PrimalBackend::velocity(VecIn Lambda, VecRef xi) {
  const auto nv = p_.W.rows();
  w_.v.head(nv) = p_.v_free.head(nv);
  w_.v.head(nv).noalias() += p_.Y.leftCols(p_.rows) * Lambda;
  xi = p_.b.head(p_.rows);
  xi.noalias() += p_.W.leftCols(p_.rows).transpose() * w_.v.head(nv);
}

void PrimalBackend::diagonal(VecRef d) const {
  for (int i = 0; i < p_.rows; ++i) d[i] = p_.W.col(i).dot(p_.Y.col(i));
}

namespace {

// x += W y in some rows of W; those of a chain follow each other.
void add_along(const Eigen::Ref<const Mat>& W, const Vec6& y, const std::vector<int>& rows,
               VecRef x) {
  const int count = static_cast<int>(rows.size()), first = rows.front();
  if (rows.back() - first + 1 != count) {
    for (const int i : rows)
      for (int l = 0; l < W.cols(); ++l) x[i] += W(i, l) * y[l];
    return;
  }
  auto part = x.segment(first, count);
  const auto column = [&](int l) { return W.col(l).segment(first, count); };
  if (W.cols() == 3)
    part = ((part + column(0) * y[0]) + column(1) * y[1]) + column(2) * y[2];
  else
    for (int l = 0; l < W.cols(); ++l) part += column(l) * y[l];
}

}  // namespace

void PrimalBackend::factor(const BlockMatrices& K) {
  DenseFactor& f = w_.factor;
  if (f.valid && same_blocks(K, f.K, p_.blocks)) return;
  const int nv = static_cast<int>(p_.W.rows());
  auto A = f.A.topLeftCorner(nv, nv);
  if (p_.has_M)
    A = p_.M.topLeftCorner(nv, nv);
  else
    A.setIdentity();
  for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
    const Block& k = p_.blocks[b];
    if (is_zero(K[b], k.rows)) continue;
    for (const int j : w_.support[b]) {
      Vec6 column;  // K W_j'
      for (int i = 0; i < k.rows; ++i) {
        column[i] = 0;
        for (int l = 0; l < k.rows; ++l) column[i] += K[b](i, l) * p_.W(j, k.row + l);
      }
      if (p_.has_M) {
        add_along(p_.W.middleCols(k.row, k.rows), column, w_.support[b], A.col(j));
      } else {
        for (int l = 0; l < k.rows; ++l) A.col(j) += p_.Y.col(k.row + l) * column[l];
      }
    }
  }
  f.symmetric = p_.has_M && symmetric(K, p_.blocks);
  if (f.symmetric) {
    const Eigen::LLT<Eigen::Ref<Mat>> llt(A);
    f.symmetric = llt.info() == Eigen::Success;
    if (!f.symmetric) {  // not positive definite to rounding: the general factor of the same
      f.valid = false;
      A = p_.M.topLeftCorner(nv, nv);
      for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
        const Block& k = p_.blocks[b];
        const auto W = p_.W.middleCols(k.row, k.rows);
        A += W * K[b].topLeftCorner(k.rows, k.rows) * W.transpose();
      }
    }
  }
  if (!f.symmetric) factor_lu(f, nv);
  keep(K, p_.blocks.size(), f);
}

void PrimalBackend::linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi) {
  factor(K);
  const DenseFactor& f = w_.factor;
  const int nv = static_cast<int>(p_.W.rows()), n = p_.rows;
  auto dv = w_.dv.head(nv);
  dv.noalias() = (p_.has_M ? p_.W : p_.Y).leftCols(n) * g;
  if (f.symmetric) {
    const auto L = f.A.topLeftCorner(nv, nv);
    L.triangularView<Eigen::Lower>().solveInPlace(dv);
    L.triangularView<Eigen::Lower>().transpose().solveInPlace(dv);
  } else {
    solve_lu(f, nv, dv);
  }
  dxi.noalias() = p_.W.leftCols(n).transpose() * dv;
  for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
    const Block& k = p_.blocks[b];
    const auto K_b = K[b].topLeftCorner(k.rows, k.rows);
    dLambda.segment(k.row, k.rows) = g.segment(k.row, k.rows);
    dLambda.segment(k.row, k.rows).noalias() -= K_b * dxi.segment(k.row, k.rows);
  }
}

void solve_soft(const Inclusion& p, VecRef Lambda, NewtonWorkspace& w) {
  const int n = p.rows;
  if (w.K.size() < p.blocks.size()) w.K.resize(p.blocks.size());
  for (Vec* x : {&w.g, &w.dxi}) grow(*x, n);
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    w.K[b].topLeftCorner(k.rows, k.rows).setIdentity();
    w.K[b].topLeftCorner(k.rows, k.rows) /= k.compliance;
    w.g.segment(k.row, k.rows) = -p.c.segment(k.row, k.rows) / k.compliance;
  }
  PrimalBackend(p, w).linear(w.K, w.g.head(n), Lambda.head(n), w.dxi.head(n));
}

}  // namespace saltus
