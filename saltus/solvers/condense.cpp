#include "saltus/solvers/condense.h"

namespace saltus {

int factor_ldl(Mat& A, int n, double epsilon) {
  int dependent = 0;
  for (int j = 0; j < n; ++j) {
    const double diagonal = A(j, j);
    double pivot = diagonal;
    for (int k = 0; k < j; ++k) pivot -= A(j, k) * A(j, k) * A(k, k);
    if (!(pivot > epsilon * diagonal)) {  // D = 0: solve_ldl leaves this row's unknown at zero
      A(j, j) = 0;
      A.col(j).segment(j + 1, n - j - 1).setZero();
      ++dependent;
      continue;
    }
    A(j, j) = pivot;
    auto column = A.col(j).segment(j + 1, n - j - 1);
    for (int k = 0; k < j; ++k)
      if (const double f = A(j, k) * A(k, k); f != 0)
        column -= f * A.col(k).segment(j + 1, n - j - 1);
    column /= pivot;
  }
  return dependent;
}

void solve_ldl(const Mat& A, int n, VecRef x) {
  for (int j = 0; j < n; ++j)
    x.segment(j + 1, n - j - 1) -= x[j] * A.col(j).segment(j + 1, n - j - 1);
  for (int j = 0; j < n; ++j) x[j] = A(j, j) > 0 ? x[j] / A(j, j) : 0;
  for (int j = n - 1; j >= 0; --j)
    if (A(j, j) > 0) x[j] -= A.col(j).segment(j + 1, n - j - 1).dot(x.segment(j + 1, n - j - 1));
}

namespace {

void split(const Inclusion& p, bool direct, SolverWorkspace& w) {
  w.direct_rows.clear();
  w.iterated_rows.clear();
  w.blocks.clear();
  for (const Block& k : p.blocks) {
    const bool eliminate = direct && std::holds_alternative<Bilateral>(k.law);
    auto& rows = eliminate ? w.direct_rows : w.iterated_rows;
    if (!eliminate) {
      w.blocks.push_back(k);
      w.blocks.back().row = static_cast<int>(rows.size());
    }
    for (int i = 0; i < k.rows; ++i) rows.push_back(k.row + i);
  }
}

void factor_direct(const Inclusion& p, SolverWorkspace& w) {
  const int n = static_cast<int>(w.direct_rows.size());
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) w.factor(i, j) = delassus(p, w.direct_rows[i], w.direct_rows[j]);
  int i = 0;
  for (const Block& k : p.blocks)
    if (std::holds_alternative<Bilateral>(k.law))
      for (int a = 0; a < k.rows; ++a, ++i) w.factor(i, i) += k.compliance;
  w.redundant = factor_ldl(w.factor, n, w.rank_tolerance);
}

}  // namespace

void condense(const Inclusion& p, bool direct, SolverWorkspace& w) {
  split(p, direct, w);
  const int nb = static_cast<int>(w.direct_rows.size());
  const int nu = static_cast<int>(w.iterated_rows.size());
  const auto& B = w.direct_rows;
  const auto& U = w.iterated_rows;

  w.redundant = 0;
  if (nb > 0) factor_direct(p, w);
  for (int i = 0; i < nb; ++i) w.direct[i] = p.c[B[i]];
  if (nb > 0) solve_ldl(w.factor, nb, w.direct.head(nb));  // A^-1 c_B
  for (int j = 0; j < nu; ++j) {
    for (int i = 0; i < nb; ++i) w.G_BU(i, j) = delassus(p, B[i], U[j]);
    w.coupling.col(j).head(nb) = w.G_BU.col(j).head(nb);
    if (nb > 0) solve_ldl(w.factor, nb, w.coupling.col(j).head(nb));  // A^-1 G_BU
  }

  for (int j = 0; j < nu; ++j) {
    w.c[j] = p.c[U[j]] - w.G_BU.col(j).head(nb).dot(w.direct.head(nb));
    w.b[j] = p.b[U[j]];
  }
  if (p.has_G && nb == 0) {  // column i of the copy is row i: G of a file may be unsymmetric
    w.G.topLeftCorner(nu, nu) = p.G.topLeftCorner(nu, nu).transpose();
  } else if (p.has_G) {
    for (int j = 0; j < nu; ++j)
      for (int i = 0; i <= j; ++i)
        w.G(i, j) = w.G(j, i) =
            p.G(U[i], U[j]) - w.G_BU.col(i).head(nb).dot(w.coupling.col(j).head(nb));
  } else {
    w.v_free = p.v_free;
    for (int i = 0; i < nb; ++i) w.v_free -= w.direct[i] * p.Y.col(B[i]);
    for (int j = 0; j < nu; ++j) {
      w.W.col(j) = p.W.col(U[j]);
      w.Y.col(j) = p.Y.col(U[j]);
      for (int i = 0; i < nb; ++i) w.Y.col(j) -= w.coupling(i, j) * p.Y.col(B[i]);
    }
  }
}

void factor_bilaterals(const Inclusion& p, SolverWorkspace& w) {
  split(p, true, w);
  if (!w.direct_rows.empty()) factor_direct(p, w);
}

void add_bilateral_impulses(const Inclusion& p, SolverWorkspace& w, VecRef v) {
  const int n = static_cast<int>(w.direct_rows.size());
  for (int i = 0; i < n; ++i) {
    const int row = w.direct_rows[i];
    w.direct[i] = p.b[row] + p.W.col(row).dot(v);
  }
  if (n > 0) solve_ldl(w.factor, n, w.direct.head(n));
  for (int i = 0; i < n; ++i) v -= w.direct[i] * p.Y.col(w.direct_rows[i]);
}

void imply_redundant(const Inclusion& p, SolverWorkspace& w, int n, VecRef x) {
  if (w.redundant == 0) return;
  auto Lambda = w.direct.head(n);
  Lambda = x;
  solve_ldl(w.factor, n, Lambda);  // the leading rows have the leading part of the factor
  for (int i = 0; i < n; ++i) {
    if (w.factor(i, i) > 0) continue;
    x[i] = 0;
    for (int j = 0; j < n; ++j) x[i] += delassus(p, w.direct_rows[i], w.direct_rows[j]) * Lambda[j];
  }
}

void expand(VecRef Lambda, const SolverWorkspace& w) {
  const int nb = static_cast<int>(w.direct_rows.size());
  const int nu = static_cast<int>(w.iterated_rows.size());
  for (int j = 0; j < nu; ++j) Lambda[w.iterated_rows[j]] = w.Lambda[j];
  if (nb == 0) return;
  // w.direct still holds A^-1 c_B, w.coupling A^-1 G_BU.
  for (int i = 0; i < nb; ++i)
    Lambda[w.direct_rows[i]] = -w.direct[i] - w.coupling.row(i).head(nu).dot(w.Lambda.head(nu));
}

}  // namespace saltus
