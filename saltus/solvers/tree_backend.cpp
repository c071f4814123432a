#include "saltus/solvers/tree_backend.h"

#include <algorithm>

#include "saltus/solvers/newton_impl.h"

namespace saltus {

void TreeScratch::resize(const Forest& forest) {
  const std::size_t n = forest.shape().parent.size();
  if (force.size() == n && b.size() == forest.shape().unknowns) return;
  extra = forest.make_extra();
  force.assign(n, Vec6::Zero());
  twist.assign(n, Vec6::Zero());
  Omega.assign(n, Mat6::Zero());
  b.setZero(forest.shape().unknowns);
  x.setZero(forest.shape().unknowns);
}

TreeBackend::TreeBackend(const TreeRows& rows, Forest& mass, TreeScratch& scratch)
    : r_(rows), mass_(mass), w_(scratch) {
  w_.resize(mass);
  w_.valid = false;
}

// W times impulses, as node wrenches and entries of unknowns.
void TreeBackend::load(VecIn impulses) {
  const ForestShape& shape = mass_.shape();
  const int t = r_.tree;
  const int begin = t < 0 ? 0 : shape.tree_begin[t];
  const int end = t < 0 ? shape.nodes() : shape.tree_begin[t + 1];
  const int first = t < 0 ? 0 : shape.unknown_begin[t];
  const int last = t < 0 ? shape.unknowns : shape.unknown_begin[t + 1];
  std::fill(w_.force.begin() + begin, w_.force.begin() + end, Vec6::Zero());
  w_.b.segment(first, last - first).setZero();
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    const TreeRow& at = r_.at[i];
    if (at.unknown >= 0) {
      w_.b[at.unknown] += at.sign * impulses[k.row];
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r)
        w_.force[at.node] += impulses[r] * r_.wrench.col(r);
    }
  }
}

// W' of the last solve.
void TreeBackend::read(VecRef xi) const {
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    const TreeRow& at = r_.at[i];
    if (at.unknown >= 0) {
      xi[k.row] = at.sign * w_.x[at.unknown];
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r) xi[r] = r_.wrench.col(r).dot(w_.twist[at.node]);
    }
  }
}

void TreeBackend::velocity(VecIn Lambda, VecRef xi) {
  load(Lambda);
  mass_.solve(r_.tree, w_.b.data(), w_.force.data(), w_.x.data(), &w_.twist);
  read(xi);
  xi += r_.c.head(r_.rows);
}

void TreeBackend::factor(const BlockMatrices& K) {
  const std::size_t n = r_.blocks.size();
  const auto same = [&] {
    if (!w_.valid || w_.K.size() < n) return false;
    for (std::size_t i = 0; i < n; ++i) {
      const int d = r_.blocks[i].rows;
      if (w_.K[i].topLeftCorner(d, d) != K[i].topLeftCorner(d, d)) return false;
    }
    return true;
  };
  if (same()) return;
  w_.K.resize(std::max(n, w_.K.size()));
  const ForestShape& shape = mass_.shape();
  if (const int t = r_.tree; t < 0)
    w_.extra.clear(0, shape.nodes(), 0, shape.unknowns);
  else
    w_.extra.clear(shape.tree_begin[t], shape.tree_begin[t + 1], shape.unknown_begin[t],
                   shape.unknown_begin[t + 1]);
  for (std::size_t i = 0; i < n; ++i) {
    const Block& k = r_.blocks[i];
    const TreeRow& at = r_.at[i];
    const int d = k.rows;
    w_.K[i].topLeftCorner(d, d) = K[i].topLeftCorner(d, d);
    if (at.unknown >= 0) {
      w_.extra.d[at.unknown] += K[i](0, 0);
      continue;
    }
    for (int p = 0; p < d; ++p)
      for (int q = 0; q < d; ++q) {
        const double entry = K[i](p, q);
        if (entry == 0) continue;
        if (entry != K[i](q, p)) w_.extra.symmetric = false;
        w_.extra.A[at.node].noalias() +=
            (entry * r_.wrench.col(k.row + p)) * r_.wrench.col(k.row + q).transpose();
      }
    w_.extra.touched[at.node] = 1;
  }
  w_.valid = mass_.factor(&w_.extra, r_.tree);
}

void TreeBackend::linear(const BlockMatrices& K, VecIn g, VecRef dLambda, VecRef dxi) {
  factor(K);
  if (!w_.valid) {  // the search sees that the step is not finite and changes its rho
    dLambda.setConstant(std::numeric_limits<double>::quiet_NaN());
    dxi = dLambda;
    return;
  }
  load(g);
  mass_.solve(r_.tree, w_.b.data(), w_.force.data(), w_.x.data(), &w_.twist, true);
  read(dxi);
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    dLambda.segment(k.row, k.rows) = g.segment(k.row, k.rows);
    dLambda.segment(k.row, k.rows).noalias() -=
        K[i].topLeftCorner(k.rows, k.rows) * dxi.segment(k.row, k.rows);
  }
}

void TreeBackend::diagonal(VecRef d) {
  mass_.compliance(w_.Omega, r_.tree);
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    const TreeRow& at = r_.at[i];
    if (at.unknown >= 0) {
      d[k.row] = mass_.compliance_of(at.unknown, w_.Omega);
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r) {
        const Vec6 w = r_.wrench.col(r);
        d[r] = w.dot(w_.Omega[at.node] * w);
      }
    }
  }
}

SolveReport solve_on_tree(const TreeRows& rows, VecRef Lambda, const ProxOptions& options,
                          Forest& mass, TreeScratch& scratch, NewtonWorkspace& newton) {
  SolveReport report;
  report.solver = Newton::name;
  if (rows.rows == 0) return report;
  TreeBackend backend(rows, mass, scratch);
  NewtonSolver<TreeBackend> solver(rows.blocks, rows.rows, options, backend, newton);
  int iterations = 0;
  const Residual r = solver.run(Lambda, iterations, nullptr);
  report.iterations = report.newton = iterations;
  report.residual = r.value;
  report.worst_block = r.block;
  report.converged = r.value <= options.tolerance;
  return report;
}

}  // namespace saltus
