#include "saltus/contact/path_rows.h"

#include <algorithm>

#include "saltus/dynamics/packed_ops.h"

namespace saltus {

void PathRows::open(const Workspace& work, const PathTree& tree, const Assembly& rows) {
  const std::size_t n = rows.blocks.size(), space = n * static_cast<std::size_t>(width_);
  paths_.resize(n);
  if (W_.size() < space) {
    W_.resize(space + space / 2, Pack{});
    Z_.resize(space + space / 2, Pack{});
  }
  for (int b = 0; b < static_cast<int>(n); ++b) {
    const Block& k = rows.blocks[b];
    const BlockSource& s = rows.source[b];
    Path& path = paths_[b];
    Pack* w = rows_in(W_, b);
    if (s.velocity >= 0) {
      path = {tree.plan().link_of[s.velocity], tree.plan().ancestors[s.velocity] + 1};
      std::fill_n(w, path.length - 1, Pack{});
      w[path.length - 1] = Pack{s.sign, 0, 0, 0};
    } else {
      const bool on_b = s.b >= 0 && tree.plan().bodies[s.b].link >= 0;  // the one that moves
      const int body = on_b ? s.b : s.a;
      path.link = tree.plan().bodies[body].link;
      path.length = tree.plan().length(path.link);
      tree.rows(path.link, work.X[body].r, (on_b ? rows.wrench_b : rows.wrench_a).col(k.row).data(),
                k.rows, w);
    }
    Pack* z = rows_in(Z_, b);
    std::copy_n(w, path.length, z);
    tree.half_solve(path.link, path.length, z);
  }
}

SALTUS_VECTORIZED void PathRows::respond(const PathTree& tree, const Assembly& rows, VecIn Lambda,
                                         Vec& y) const {
  y.setZero();
  for (std::size_t b = 0; b < rows.blocks.size(); ++b) {
    const Block& k = rows.blocks[b];
    Pack own{};
    for (int r = 0; r < k.rows; ++r) own[r] = Lambda[k.row + r];
    const Pack* z = rows_in(Z_, static_cast<int>(b));
    const int* way = tree.plan().path_of(paths_[b].link);
    for (int t = 0; t < paths_[b].length; ++t) {
      const Pack p = z[t] * own;
      y[way[t]] += (p[0] + p[1]) + (p[2] + p[3]);
    }
  }
  tree.solve_lower(y.data());
}

SALTUS_VECTORIZED void PathRows::rate(const PathTree& tree, int block, const double* v,
                                      double* out) const {
  const Pack* w = rows_in(W_, block);
  const int* way = tree.plan().path_of(paths_[block].link);
  Pack sum{};
  for (int t = 0; t < paths_[block].length; ++t) sum += w[t] * v[way[t]];
  for (int r = 0; r < 4; ++r) out[r] = sum[r];
}

SALTUS_VECTORIZED void PathRows::delassus(const PathTree& tree, int i, int j, const Block& a,
                                          const Block& b, Mat& G) const {
  const Path &p = paths_[i], &q = paths_[j];
  const int n = std::min(
      {tree.plan().common[p.link * tree.plan().link_count() + q.link], p.length, q.length});
  const Pack *x = rows_in(Z_, i), *y = rows_in(Z_, j);
  Pack column[4] = {};  // of G, rows those of a
  for (int t = 0; t < n; ++t) {
    column[0] += x[t] * y[t][0];
    column[1] += x[t] * y[t][1];
    column[2] += x[t] * y[t][2];
    column[3] += x[t] * y[t][3];
  }
  for (int s = 0; s < b.rows; ++s) {
    double* to = &G(a.row, b.row + s);
    for (int r = 0; r < a.rows; ++r) to[r] = column[s][r];
  }
  if (i == j) return;
  for (int r = 0; r < a.rows; ++r) {
    double* to = &G(b.row, a.row + r);
    for (int s = 0; s < b.rows; ++s) to[s] = column[s][r];
  }
}

double PathRows::own_compliance(int block) const {
  const Pack* z = rows_in(Z_, block);
  double sum = 0;
  for (int t = 0; t < paths_[block].length; ++t) sum += z[t][0] * z[t][0];
  return sum;
}

// c = W' v_free + b.
void PathRows::free_rates(const PathTree& tree, const Island& island, VecIn v_free,
                          IslandProblem& out) const {
  Inclusion& p = out.problem;
  for (std::size_t i = 0; i < island.blocks.size(); ++i) {
    const Block& k = p.blocks[i];
    double c[4];
    rate(tree, island.blocks[i], v_free.data(), c);
    for (int r = 0; r < k.rows; ++r) p.c[k.row + r] = p.b[k.row + r] + c[r];
  }
}

void PathRows::renew(const Model& m, const Assembly& rows, const Island& island, VecIn v_free,
                     const PathTree& tree, IslandProblem& out) const {
  renew_dense(m, rows, island, v_free, out);
  free_rates(tree, island, v_free, out);
}

void PathRows::form(const Model& m, const PathTree& tree, const Assembly& rows,
                    const Island& island, VecIn v_free, bool full, IslandProblem& out) const {
  open_dense(m, rows, island, v_free, out);
  Inclusion& p = out.problem;
  p.has_G = true;
  double most = 0;
  for (std::size_t i = 0; i < island.blocks.size(); ++i) {
    const Block& a = p.blocks[i];
    for (std::size_t j = 0; j <= i; ++j)
      delassus(tree, island.blocks[i], island.blocks[j], a, p.blocks[j], p.G);
    for (int r = 0; r < a.rows; ++r) most = std::max(most, p.G(a.row + r, a.row + r));
  }
  free_rates(tree, island, v_free, out);
  // A row that moves nothing but by rounding would ask for impulses beyond all measure.
  for (int r = 0; r < p.rows; ++r)
    if (p.G(r, r) < 1e-28 * most) {
      p.G.row(r).head(p.rows).setZero();
      p.G.col(r).head(p.rows).setZero();
    }
  if (!full) return;
  if (out.scratch.size() < m.nv) out.scratch.setZero(m.nv);
  auto all = out.scratch.head(m.nv);
  for (std::size_t i = 0; i < island.blocks.size(); ++i) {
    const int block = island.blocks[i];
    const Path& path = paths_[block];
    const int tree_of = m.tree[m.v_body[tree.plan().path_of(path.link)[0]]];
    const auto at = std::lower_bound(island.trees.begin(), island.trees.end(), tree_of);
    const int base = m.tree_v[tree_of], local = out.offset[at - island.trees.begin()];
    const int* way = tree.plan().path_of(path.link);
    const Pack *w = rows_in(W_, block), *z = rows_in(Z_, block);
    for (int r = 0; r < p.blocks[i].rows; ++r) {
      const int row = p.blocks[i].row + r;
      p.W.col(row).setZero();
      p.Y.col(row).setZero();
      if (p.G(row, row) == 0) continue;
      all.setZero();
      for (int t = 0; t < path.length; ++t) {
        p.W(local + way[t] - base, row) = w[t][r];
        all[way[t]] = z[t][r];
      }
      tree.solve_lower(all.data());
      const int n = m.tree_v[tree_of + 1] - base;
      p.Y.col(row).segment(local, n) = all.segment(base, n);
    }
  }
}

}  // namespace saltus
