#include "saltus/contact/islands.h"

#include <algorithm>
#include <numeric>

namespace saltus {

Islands::Islands(const Model& model)
    : above_(model.tree_begin.size() - 1), island_of_(model.tree_begin.size() - 1) {}

int Islands::root(int tree) {
  while (above_[tree] != tree) {
    above_[tree] = above_[above_[tree]];
    tree = above_[tree];
  }
  return tree;
}

namespace {

// The trees a block acts on; -1: none.
std::pair<int, int> trees_of(const Model& m, const BlockSource& s) {
  if (s.velocity >= 0) return {m.tree[m.v_body[s.velocity]], -1};
  return {s.a >= 0 ? m.tree[s.a] : -1, s.b >= 0 ? m.tree[s.b] : -1};
}

}  // namespace

void Islands::partition(const Model& m, const Assembly& assembly) {
  std::iota(above_.begin(), above_.end(), 0);
  for (const BlockSource& s : assembly.source) {
    const auto [a, b] = trees_of(m, s);
    if (a < 0 || b < 0) continue;
    const int x = root(a), y = root(b);
    above_[std::max(x, y)] = std::min(x, y);
  }
  std::fill(island_of_.begin(), island_of_.end(), -1);
  count_ = 0;
  for (std::size_t i = 0; i < assembly.source.size(); ++i) {
    const auto [a, b] = trees_of(m, assembly.source[i]);
    int& k = island_of_[root(a >= 0 ? a : b)];
    if (k < 0) {
      k = count_++;
      if (count_ > static_cast<int>(islands_.size())) islands_.emplace_back();
      Island& fresh = islands_[k];
      fresh.blocks.clear();
      fresh.trees.clear();
      fresh.rows = fresh.velocities = 0;
    }
    islands_[k].blocks.push_back(static_cast<int>(i));
    islands_[k].rows += assembly.blocks[i].rows;
  }
  for (int t = 0; t < static_cast<int>(above_.size()); ++t)
    if (const int k = island_of_[root(t)]; k >= 0) {
      islands_[k].trees.push_back(t);
      islands_[k].velocities += m.tree_v[t + 1] - m.tree_v[t];
    }
}

void IslandProblem::reserve(int rows, int blocks, int nv) {
  const int have = static_cast<int>(problem.c.size());
  const int have_nv = static_cast<int>(problem.v_free.size());
  if (rows > have || nv > have_nv || blocks > static_cast<int>(problem.blocks.capacity())) {
    const int n = rows > have ? std::max({rows, have + have / 2, 32}) : have;
    const int v = nv > have_nv ? std::max(nv, have_nv + have_nv / 2) : have_nv;
    problem.reserve(n, std::max(blocks, n), v);
    for (Vec* x : {&Lambda, &restitution, &gamma_S}) x->setZero(n);
    is_contact.reserve(n);
  }
}

void form_island(const Model& m, const Assembly& assembly, const Island& island, VecIn v_free,
                 bool form_G, Forest& forest, IslandProblem& out) {
  out.reserve(island.rows, static_cast<int>(island.blocks.size()), island.velocities);
  Inclusion& p = out.problem;
  p.clear();
  out.velocities = island.velocities;
  out.is_contact.clear();
  out.offset.clear();
  int nv = 0;
  p.v_free.setZero();  // beyond the island's velocities all is zero
  for (const int t : island.trees) {
    const int n = m.tree_v[t + 1] - m.tree_v[t];
    out.offset.push_back(nv);
    p.v_free.segment(nv, n) = v_free.segment(m.tree_v[t], n);
    nv += n;
  }
  const auto span = [&](int tree) {
    const auto at = std::lower_bound(island.trees.begin(), island.trees.end(), tree);
    return Span{tree, out.offset[at - island.trees.begin()], m.tree_v[tree + 1] - m.tree_v[tree]};
  };
  std::vector<std::array<Span, 2>>& spans = out.spans;
  spans.clear();
  Vec& scratch = out.scratch;
  if (scratch.size() < nv) scratch.setZero(p.v_free.size());
  for (const int i : island.blocks) {
    const Block& k = assembly.blocks[i];
    const BlockSource& s = assembly.source[i];
    const int row = p.add(k.law, k.compliance, k.length);
    out.is_contact.push_back(s.contact >= 0);
    out.Lambda.segment(row, k.rows) = assembly.Lambda.segment(k.row, k.rows);
    out.restitution.segment(row, k.rows) = assembly.restitution.segment(k.row, k.rows);
    out.gamma_S.segment(row, k.rows) = assembly.gamma_S.segment(k.row, k.rows);
    p.b.segment(row, k.rows) = assembly.b.segment(k.row, k.rows);
    p.W.middleCols(row, k.rows).setZero();
    p.Y.middleCols(row, k.rows).setZero();
    std::array<Span, 2> where;
    if (s.velocity >= 0) {
      where[0] = span(m.tree[m.v_body[s.velocity]]);
      const int local = where[0].at + s.velocity - m.tree_v[where[0].tree];
      p.W(local, row) = s.sign;
      forest.solve_unknown(s.velocity, s.sign, p.Y.col(row).data() + where[0].at);
    } else {
      const auto add = [&](int body, const Mat6X& wrench, Span& at) {
        if (body < 0) return;
        at = span(m.tree[body]);
        for (int r = 0; r < k.rows; ++r) {
          const Vec6 w = wrench.col(k.row + r);
          forest.row(body, w, scratch.data());
          p.W.col(row + r).segment(at.at, at.size) += scratch.head(at.size);
          forest.solve_wrench(body, w, scratch.data());
          p.Y.col(row + r).segment(at.at, at.size) += scratch.head(at.size);
        }
      };
      add(s.a, assembly.wrench_a, where[0]);
      add(s.b, assembly.wrench_b, where[1]);
      if (where[0].tree == where[1].tree) where[1] = {};
    }
    spans.push_back(where);
  }
  const int n = p.rows;
  for (std::size_t i = 0; i < p.blocks.size(); ++i)
    for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].rows; ++r) {
      double c = p.b[r];
      for (const Span& s : spans[i])
        if (s.tree >= 0) c += p.W.col(r).segment(s.at, s.size).dot(p.v_free.segment(s.at, s.size));
      p.c[r] = c;
    }
  p.has_G = form_G;
  if (!form_G) return;
  p.G.topLeftCorner(n, n).setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i)
    for (std::size_t j = i; j < p.blocks.size(); ++j)
      for (const Span& s : spans[i])
        if (s.tree >= 0 && (s.tree == spans[j][0].tree || s.tree == spans[j][1].tree))
          for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].rows; ++r)
            for (int q = std::max(r, p.blocks[j].row); q < p.blocks[j].row + p.blocks[j].rows; ++q)
              p.G(r, q) += p.W.col(r).segment(s.at, s.size).dot(p.Y.col(q).segment(s.at, s.size));
  p.G.topLeftCorner(n, n).triangularView<Eigen::StrictlyLower>() =
      p.G.topLeftCorner(n, n).transpose();
}

void store_impulses(const Island& island, const IslandProblem& from, Assembly& assembly) {
  for (std::size_t i = 0; i < island.blocks.size(); ++i) {
    const Block& k = assembly.blocks[island.blocks[i]];
    assembly.Lambda.segment(k.row, k.rows) =
        from.Lambda.segment(from.problem.blocks[i].row, k.rows);
  }
}

}  // namespace saltus
