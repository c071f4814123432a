#include "saltus/solvers/tree_backend.h"

#include <algorithm>

#include "saltus/solvers/forest_sweeps.h"
#include "saltus/solvers/interior_point.h"
#include "saltus/solvers/newton_impl.h"
#include "saltus/solvers/tree_interior.h"

namespace saltus {

void TreeScratch::resize(const Forest& forest) {
  const std::size_t n = forest.shape().parent.size();
  if (twist.size() == n && b.size() == forest.shape().unknowns) return;
  extra = forest.make_extra();
  twist.assign(n, Vec6::Zero());
  b.setZero(forest.shape().unknowns);
  x.setZero(forest.shape().unknowns);
}

TreeBackend::TreeBackend(const TreeRows& rows, Forest& mass, TreeScratch& scratch)
    : r_(rows), mass_(mass), w_(scratch) {
  w_.resize(mass);
  w_.valid = false;
  on_unknowns_ = std::any_of(rows.at.begin(), rows.at.end(),
                             [](const TreeRow& at) { return at.unknown >= 0; });
}

namespace {

// p -= W impulses of the rows on nodes; the entries of unknowns go to b.
template <int D>
void load(const TreeRows& rows, VecIn impulses, std::vector<Eigen::Matrix<double, D, 1>>& p,
          Vec& b) {
  for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
    const Block& k = rows.blocks[i];
    const TreeRow& at = rows.at[i];
    if (at.unknown >= 0) {
      b[at.unknown] += at.sign * impulses[k.row];
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r)
        p[at.node] -= impulses[r] * forest_detail::narrow<D>(rows.wrench.col(r));
    }
  }
}

// W' of twists and unknowns.
template <int D>
void read(const TreeRows& rows, const std::vector<Eigen::Matrix<double, D, 1>>& twist, const Vec& x,
          VecRef xi) {
  for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
    const Block& k = rows.blocks[i];
    const TreeRow& at = rows.at[i];
    if (at.unknown >= 0) {
      xi[k.row] = at.sign * x[at.unknown];
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r)
        xi[r] = forest_detail::narrow<D>(rows.wrench.col(r)).dot(twist[at.node]);
    }
  }
}

}  // namespace

void TreeBackend::solve(VecIn impulses, VecRef xi, bool with_extra) {
  const ForestShape& shape = mass_.shape();
  const auto [begin, end] = mass_.range(r_.tree);
  const int t = r_.tree, first = t < 0 ? 0 : shape.unknown_begin[t];
  const int last = t < 0 ? shape.unknowns : shape.unknown_begin[t + 1];
  if (on_unknowns_) w_.b.segment(first, last - first).setZero();
  std::visit(
      [&, begin = begin, end = end]<int D>(ForestData<D>& k) {
        using V = typename ForestData<D>::V;
        std::fill(k.p.begin() + begin, k.p.begin() + end, V(V::Zero()));
        load<D>(r_, impulses, k.p, w_.b);
        forest_detail::Sweeps<D>(shape, k, with_extra)
            .sweep(begin, end, on_unknowns_ ? w_.b.data() : nullptr, w_.x.data());
        read<D>(r_, k.a, w_.x, xi);
      },
      mass_.data());
}

void TreeBackend::velocity(VecIn Lambda, VecRef xi) {
  solve(Lambda, xi, false);
  xi += r_.c.head(r_.rows);
}

void TreeBackend::factor(const BlockMatrices& K) {
  const std::size_t n = r_.blocks.size();
  if (w_.valid && w_.K.size() >= n && same_blocks(w_.K, K, r_.blocks)) return;
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
    w_.extra.add(at.node, K[i], d, r_.wrench, k.row);
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
  solve(g, dxi, true);
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    dLambda.segment(k.row, k.rows) = g.segment(k.row, k.rows);
    dLambda.segment(k.row, k.rows).noalias() -=
        K[i].topLeftCorner(k.rows, k.rows) * dxi.segment(k.row, k.rows);
  }
}

void TreeBackend::diagonal(VecRef d) {
  mass_.compliance(r_.tree);
  for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
    const Block& k = r_.blocks[i];
    const TreeRow& at = r_.at[i];
    if (at.unknown >= 0) {
      d[k.row] = mass_.compliance_of(at.unknown);
    } else {
      for (int r = k.row; r < k.row + k.rows; ++r)
        d[r] = mass_.compliance_along(at.node, r_.wrench.col(r));
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
  report.gave_up = end_of_search(report.converged, iterations, options.max_iterations);
  return report;
}

void search_inside(const TreeRows& rows, const Vec& start, const ProxOptions& options, Forest& mass,
                   TreeScratch& scratch, NewtonWorkspace& newton, VecRef Lambda,
                   SolveReport& report) {
  // As in the chain on dense matrices (solve.cpp).
  constexpr int most_interior = 60, most_polishing = 40;
  static thread_local InteriorScratch interior;  // only hard problems come here
  TreeBackend backend(rows, mass, scratch);
  int iterations = 0;
  const auto newton_from = [&](Vec& trial, int most) {
    ProxOptions o = options;
    o.max_iterations = most;
    o.least_norm = false;
    const Residual now = NewtonSolver<TreeBackend>(rows.blocks, rows.rows, o, backend, newton)
                             .run(trial, iterations, nullptr);
    if (!(now.value < report.residual)) return;
    report.residual = now.value;
    report.worst_block = now.block;
    report.converged = now.value <= options.tolerance;
    Lambda = trial;
  };
  for (const InteriorPath& path : interior_paths) {
    if (report.converged) break;
    interior.coupling = path.coupling;
    interior.reach = path.reach;
    Vec trial = path.warm && start.allFinite() ? start : Vec(Vec::Zero(rows.rows));
    static_cast<void>(interior_point(rows.blocks, rows.rows, options, most_interior, backend,
                                     newton, interior, trial, iterations));
    newton_from(trial, most_polishing);
  }
  if (!report.converged) {
    Vec trial = Lambda;
    newton_from(trial, options.max_iterations);
  }
  report.iterations += iterations;
  report.newton += iterations;
}

}  // namespace saltus
