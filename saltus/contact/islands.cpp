#include "saltus/contact/islands.h"

#include <algorithm>
#include <numeric>

#include "saltus/solvers/condense.h"
#include "saltus/solvers/tree_interior.h"

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
  if (s.gap) return {m.tree[m.v_body[s.gap->terms[0].velocity]], -1};
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

Route route_of(const Model& m, const Assembly& assembly, const Island& island,
               const Solver& solver) {
  const bool automatic = std::holds_alternative<AutoSolver>(solver);
  if (!automatic && !std::holds_alternative<Newton>(solver)) return Route::dense;
  if (island.trees.size() == 1 && island.velocities >= tree_limit) {
    const bool single = std::all_of(island.blocks.begin(), island.blocks.end(), [&](int i) {
      const BlockSource& s = assembly.source[i];
      return s.velocity >= 0 || (!s.gap && (s.a < 0 || s.b < 0));
    });
    if (single) return Route::tree;
  }
  const bool small = island.velocities <= dense_limit;
  const auto longest = [&] {
    int n = 0;
    for (const int t : island.trees) n = std::max(n, m.tree_v[t + 1] - m.tree_v[t]);
    return n;
  };
  return small || !automatic || longest() > dense_limit ? Route::dense : Route::sparse;
}

const std::vector<Block>& IslandProblem::blocks() const {
  return route == Route::dense  ? problem.blocks
         : route == Route::tree ? tree.blocks
                                : sparse.blocks;
}

namespace {
// Linear solves of the tree route on an island that may be made dense.
constexpr int tree_iterations = 60;
// Of Newton's last search there, where the island is too large to be made dense.
constexpr int last_tree_iterations = 1000;
// Islands of several trees with as many velocities or more also get M where they have more rows
// than velocities: Newton's factors are then of the smaller size. Not with rows of joints, whose K
// would leave few digits of M.
constexpr int primal_limit = 30;

bool has_joints(const Inclusion& p) {
  return std::any_of(p.blocks.begin(), p.blocks.end(),
                     [](const Block& k) { return std::holds_alternative<Bilateral>(k.law); });
}
}  // namespace

void IslandProblem::reserve(int row_count) {
  rows = row_count;
  if (Lambda.size() >= row_count) return;
  const auto have = static_cast<int>(Lambda.size());
  const int n = std::max({row_count, have + have / 2, 32});
  for (Vec* x : {&Lambda, &restitution, &gamma_S, &drift, &xi}) x->setZero(n);
}

namespace {

struct Former {
  const Model& m;
  const Assembly& from;
  const Island& island;
  VecIn v_free;
  Forest* mass;  // null where no columns are asked for
  IslandProblem& out;

  // What every form shares: warm start, restitution, start rates.
  void copy_rows() {
    out.reserve(island.rows);
    out.is_contact.clear();
    out.dynamic.clear();
    out.rebound.clear();
    out.feasible.clear();
    out.at_impact = false;
    int row = 0;
    for (const int i : island.blocks) {
      const Block& k = from.blocks[i];
      out.is_contact.push_back(from.source[i].contact >= 0 || from.source[i].closes);
      out.dynamic.push_back(from.source[i].dynamic);
      out.rebound.push_back(from.source[i].restitution);
      out.Lambda.segment(row, k.rows) = from.Lambda.segment(k.row, k.rows);
      out.restitution.segment(row, k.rows) = from.restitution.segment(k.row, k.rows);
      out.gamma_S.segment(row, k.rows) = from.gamma_S.segment(k.row, k.rows);
      out.drift.segment(row, k.rows) = from.drift.segment(k.row, k.rows);
      row += k.rows;
    }
  }

  void place_trees() {
    out.trees = island.trees;
    out.offset.clear();
    int nv = 0;
    for (const int t : island.trees) {
      out.offset.push_back(nv);
      nv += m.tree_v[t + 1] - m.tree_v[t];
    }
    if (out.scratch.size() < nv) out.scratch.setZero(nv);
  }
  void copy_free(VecRef local) const {
    for (std::size_t k = 0; k < island.trees.size(); ++k) {
      const int t = island.trees[k], n = m.tree_v[t + 1] - m.tree_v[t];
      local.segment(out.offset[k], n) = v_free.segment(m.tree_v[t], n);
    }
  }
  [[nodiscard]] Span span(int tree) const {
    const auto at = std::lower_bound(island.trees.begin(), island.trees.end(), tree);
    return {tree, out.offset[at - island.trees.begin()], m.tree_v[tree + 1] - m.tree_v[tree]};
  }
  [[nodiscard]] std::array<Span, 2> spans_of(const BlockSource& s) const {
    std::array<Span, 2> where;
    if (s.velocity >= 0 || s.gap) {
      where[0] = span(trees_of(m, s).first);
      return where;
    }
    int n = 0;
    if (s.a >= 0) where[n++] = span(m.tree[s.a]);
    if (s.b >= 0) where[n++] = span(m.tree[s.b]);
    if (n == 2 && where[0].tree == where[1].tree) where[1] = {};
    return where;
  }
  // Adds row r of a block on tree `tree` to W and Y, the unknowns of the tree only.
  void add_columns(const BlockSource& s, int r, int tree, double* W, double* Y) {
    const int n = m.tree_v[tree + 1] - m.tree_v[tree];
    const auto add_velocity = [&](int velocity, double factor) {
      W[velocity - m.tree_v[tree]] += factor;
      mass->solve_unknown(velocity, factor, out.scratch.data());
      for (int k = 0; k < n; ++k) Y[k] += out.scratch[k];
    };
    if (s.velocity >= 0) return add_velocity(s.velocity, s.sign);
    if (s.gap) {
      for (const GapTerm& t : s.gap->terms)
        add_velocity(t.velocity, coefficient(t, from.wrench_b.col(r)));
      return;
    }
    const auto add = [&](int body, const Mat6X& wrench) {
      if (body < 0 || m.tree[body] != tree) return;
      const Vec6 w = wrench.col(r);
      mass->row(body, w, out.scratch.data());
      for (int k = 0; k < n; ++k) W[k] += out.scratch[k];
      mass->solve_wrench(body, w, out.scratch.data());
      for (int k = 0; k < n; ++k) Y[k] += out.scratch[k];
    };
    add(s.a, from.wrench_a);
    add(s.b, from.wrench_b);
  }

  void tree() {
    TreeRows& p = out.tree;
    p.blocks.clear();
    p.at.clear();
    p.rows = 0;
    if (p.c.size() < island.rows) {
      p.c.setZero(out.Lambda.size());
      p.wrench.setZero(6, out.Lambda.size());
      p.b.setZero(out.Lambda.size());
    }
    p.tree = island.trees.front();
    out.tree_work.resize(*mass);
    mass->twists(v_free, out.tree_work.twist, p.tree);
    for (const int i : island.blocks) {
      const Block& k = from.blocks[i];
      const BlockSource& s = from.source[i];
      const int row = p.rows;
      p.blocks.push_back({k.law, row, k.rows, k.compliance, k.length});
      TreeRow at;
      at.unknown = s.velocity;
      at.sign = s.sign;
      at.node = s.b >= 0 ? s.b : s.a;
      p.at.push_back(at);
      p.rows += k.rows;
      for (int r = 0; r < k.rows; ++r) {
        p.b[row + r] = from.b[k.row + r];
        p.c[row + r] = from.b[k.row + r] + from.rate(k.row + r, s, out.tree_work.twist, v_free);
        if (s.velocity < 0)
          p.wrench.col(row + r) = (s.b >= 0 ? from.wrench_b : from.wrench_a).col(k.row + r);
      }
    }
  }

  void sparse() {
    place_trees();
    SparseRows& p = out.sparse;
    p.clear();
    p.velocities = island.velocities;
    if (p.v_free.size() < island.velocities) p.v_free.setZero(island.velocities);
    if (p.b.size() < island.rows) p.b.setZero(out.Lambda.size());
    copy_free(p.v_free);
    for (const int i : island.blocks) {
      const Block& k = from.blocks[i];
      const BlockSource& s = from.source[i];
      p.blocks.push_back({k.law, p.rows, k.rows, k.compliance, k.length});
      p.b.segment(p.rows, k.rows) = from.b.segment(k.row, k.rows);
      p.rows += k.rows;
      std::array<SparseRows::Segment, 2> segments;
      int n = 0;
      for (const Span& at : spans_of(s)) {
        if (at.tree < 0) continue;
        const std::size_t first = p.W.size(), size = static_cast<std::size_t>(at.size) * k.rows;
        p.W.resize(first + size, 0.0);
        p.Y.resize(first + size, 0.0);
        for (int r = 0; r < k.rows; ++r)
          add_columns(s, k.row + r, at.tree, p.W.data() + first + r * at.size,
                      p.Y.data() + first + r * at.size);
        segments[n++] = {at.at, at.size, static_cast<std::ptrdiff_t>(first)};
      }
      p.segments.push_back(segments);
    }
  }

  void fit_dense() {
    Inclusion& p = out.problem;
    const int nv = island.velocities, blocks = static_cast<int>(island.blocks.size());
    const int need = std::max(island.rows, blocks);
    // Matrices of another, much larger island that was here before would be slow to fill.
    if (p.v_free.size() == nv && p.c.size() >= need && p.c.size() <= 8 * std::max(need, 32)) return;
    const int rows = std::max(need + need / 2, 32);
    p.reserve(rows, rows, nv);
    out.work.reserve(rows, rows, nv);
  }

  void open_dense() {
    place_trees();
    fit_dense();
    Inclusion& p = out.problem;
    p.clear();
    copy_free(p.v_free);
    for (const int i : island.blocks) {
      const Block& k = from.blocks[i];
      const int row = p.add(k.law, k.compliance, k.length);
      p.b.segment(row, k.rows) = from.b.segment(k.row, k.rows);
    }
  }

  void dense() {
    open_dense();
    Inclusion& p = out.problem;
    out.spans.clear();
    for (std::size_t j = 0; j < island.blocks.size(); ++j) {
      const Block& k = from.blocks[island.blocks[j]];
      const BlockSource& s = from.source[island.blocks[j]];
      const int row = p.blocks[j].row;
      p.W.middleCols(row, k.rows).setZero();
      p.Y.middleCols(row, k.rows).setZero();
      out.spans.push_back(spans_of(s));
      for (const Span& at : out.spans.back())
        if (at.tree >= 0)
          for (int r = 0; r < k.rows; ++r)
            add_columns(s, k.row + r, at.tree, p.W.col(row + r).data() + at.at,
                        p.Y.col(row + r).data() + at.at);
    }
    drop_still_rows();
    free_rates();
  }

  // A row that moves nothing but by rounding would ask for impulses beyond all measure.
  void drop_still_rows() {
    Inclusion& p = out.problem;
    double most = 0;
    for (int r = 0; r < p.rows; ++r) most = std::max(most, p.W.col(r).lpNorm<Eigen::Infinity>());
    for (int r = 0; r < p.rows; ++r)
      if (p.W.col(r).lpNorm<Eigen::Infinity>() < 1e-14 * most) {
        p.W.col(r).setZero();
        p.Y.col(r).setZero();
      }
  }

  // c = W' v_free + b.
  void free_rates() {
    Inclusion& p = out.problem;
    for (std::size_t i = 0; i < p.blocks.size(); ++i)
      for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].rows; ++r) {
        p.c[r] = p.b[r];
        for (const Span& s : out.spans[i])
          if (s.tree >= 0)
            p.c[r] += p.W.col(r).segment(s.at, s.size).dot(p.v_free.segment(s.at, s.size));
      }
  }

  // Another free velocity, and offsets as they were before an impact law added its own; joints have
  // none, and theirs may have been made consistent.
  void renew_dense() {
    Inclusion& p = out.problem;
    copy_free(p.v_free);
    for (std::size_t j = 0; j < p.blocks.size(); ++j) {
      const Block& k = p.blocks[j];
      if (std::holds_alternative<Bilateral>(k.law)) continue;
      p.b.segment(k.row, k.rows) = from.b.segment(from.blocks[island.blocks[j]].row, k.rows);
    }
  }

  // G = W' Y, only where two blocks share a tree.
  void delassus() {
    Inclusion& p = out.problem;
    const int n = p.rows;
    p.has_G = true;
    p.G.topLeftCorner(n, n).setZero();
    for (std::size_t i = 0; i < p.blocks.size(); ++i)
      for (std::size_t j = i; j < p.blocks.size(); ++j)
        for (const Span& s : out.spans[i])
          if (s.tree >= 0 && (s.tree == out.spans[j][0].tree || s.tree == out.spans[j][1].tree))
            add_entries(p.blocks[i], p.blocks[j], s);
    p.G.topLeftCorner(n, n).triangularView<Eigen::StrictlyLower>() =
        p.G.topLeftCorner(n, n).transpose();
  }
  void add_entries(const Block& a, const Block& b, const Span& s) {
    Inclusion& p = out.problem;
    for (int r = a.row; r < a.row + a.rows; ++r)
      for (int q = std::max(r, b.row); q < b.row + b.rows; ++q)
        p.G(r, q) += p.W.col(r).segment(s.at, s.size).dot(p.Y.col(q).segment(s.at, s.size));
  }

  // The mass matrix, for Newton in velocities where contacts are redundant.
  void mass_matrix() {
    Inclusion& p = out.problem;
    if (p.M.rows() != island.velocities) p.M.resize(island.velocities, island.velocities);
    p.M.setZero();
    p.has_M = true;
    for (std::size_t k = 0; k < island.trees.size(); ++k) {
      const int t = island.trees[k], n = m.tree_v[t + 1] - m.tree_v[t];
      mass->dense(t, p.M.block(out.offset[k], out.offset[k], n, n));
      for (int i = 0; i < n; ++i)  // held velocities do not move
        if (m.prescribed[m.tree_v[t] + i]) {
          p.M.row(out.offset[k] + i).setZero();
          p.M.col(out.offset[k] + i).setZero();
          p.M(out.offset[k] + i, out.offset[k] + i) = 1;
        }
    }
  }
};

}  // namespace

void form_island(const Model& m, const Assembly& assembly, const Island& island,
                 const Solver& solver, VecIn v_free, Forest& mass, IslandProblem& out) {
  Former former{m, assembly, island, v_free, &mass, out};
  out.route = route_of(m, assembly, island, solver);
  former.copy_rows();
  if (out.route == Route::tree) return former.tree();
  if (out.route == Route::sparse) return former.sparse();
  former.dense();
  // With many more rows than velocities Newton and Gauss-Seidel work on velocities.
  const bool newton =
      std::holds_alternative<AutoSolver>(solver) || std::holds_alternative<Newton>(solver);
  const bool redundant = island.rows > 2 * island.velocities;
  const bool loaded = newton && island.trees.size() > 1 && island.rows > island.velocities &&
                      island.velocities >= primal_limit && !has_joints(out.problem);
  if (redundant || loaded) former.mass_matrix();
  if (!(newton && redundant) && options_of(solver).on == ProxOptions::On::delassus)
    former.delassus();
}

void open_dense(const Model& m, const Assembly& assembly, const Island& island, VecIn v_free,
                IslandProblem& out) {
  Former former{m, assembly, island, v_free, nullptr, out};
  out.route = Route::dense;
  former.copy_rows();
  former.open_dense();
}

void renew_free(const Model& m, const Assembly& assembly, const Island& island, VecIn v_free,
                Forest& mass, IslandProblem& out) {
  Former former{m, assembly, island, v_free, &mass, out};
  if (out.route == Route::tree) return former.tree();
  if (out.route == Route::sparse) {
    former.copy_free(out.sparse.v_free);
    for (std::size_t j = 0; j < out.sparse.blocks.size(); ++j) {
      const Block& k = out.sparse.blocks[j];
      out.sparse.b.segment(k.row, k.rows) =
          assembly.b.segment(assembly.blocks[island.blocks[j]].row, k.rows);
    }
    return;
  }
  former.renew_dense();
  former.free_rates();
}

void renew_dense(const Model& m, const Assembly& assembly, const Island& island, VecIn v_free,
                 IslandProblem& out) {
  Former{m, assembly, island, v_free, nullptr, out}.renew_dense();
}

void add_joint_impulses(const Model& m, const Island& island, IslandProblem& a, VecRef v) {
  auto local = a.scratch.head(island.velocities);
  const auto each = [&](const auto& copy) {
    for (std::size_t k = 0; k < island.trees.size(); ++k) {
      const int t = island.trees[k], n = m.tree_v[t + 1] - m.tree_v[t];
      copy(local.segment(a.offset[k], n), v.segment(m.tree_v[t], n));
    }
  };
  each([](auto mine, auto all) { mine = all; });
  add_bilateral_impulses(a.problem, a.work, local);
  each([](auto mine, auto all) { all = mine; });
}

void add_offset(VecIn offset, IslandProblem& a) {
  const int n = a.rows;
  switch (a.route) {
    case Route::dense:
      a.problem.b.head(n) += offset.head(n);
      a.problem.c.head(n) += offset.head(n);
      break;
    case Route::tree:
      a.tree.b.head(n) += offset.head(n);
      a.tree.c.head(n) += offset.head(n);
      break;
    case Route::sparse: a.sparse.b.head(n) += offset.head(n); break;
  }
}

SolveReport solve_island(const Solver& solver, Forest& mass, IslandProblem& a) {
  auto Lambda = a.Lambda.head(a.rows);
  switch (a.route) {
    case Route::tree: {
      // Its elimination does not pivot: what it cannot do soon the interior-point method does
      // better, and the dense chain.
      const ProxOptions& asked = options_of(solver);
      const auto* automatic = std::get_if<AutoSolver>(&solver);
      const bool patient = automatic && automatic->rounds > 0;
      ProxOptions o = asked;
      if (patient || a.rows <= fallback_rows)
        o.max_iterations = std::min(o.max_iterations, tree_iterations);
      const Vec start = Lambda;
      SolveReport report = solve_on_tree(a.tree, Lambda, o, mass, a.tree_work, a.work.newton);
      if (!report.converged && patient) {
        // The larger ones have nothing after this: as patient as the last of the dense chain.
        const int last =
            a.rows <= fallback_rows ? automatic->newton_iterations : last_tree_iterations;
        o.max_iterations = std::min(asked.max_iterations, last);
        search_inside(a.tree, start, o, mass, a.tree_work, a.work.newton, Lambda, report);
      }
      return report;
    }
    case Route::sparse: return solve_sparse(a.sparse, Lambda, options_of(solver), a.sparse_work);
    case Route::dense: break;
  }
  return solve_inclusion(a.problem, Lambda, solver, a.work);
}

void end_rates(Forest& mass, IslandProblem& a, VecRef gamma) {
  const int n = a.rows;
  const auto Lambda = a.Lambda.head(n);
  auto xi = a.xi.head(n);
  switch (a.route) {
    case Route::dense:
      relative_velocity(a.problem, Lambda, a.work.xi, a.work.v);
      gamma.head(n) = a.work.xi.head(n) - a.problem.b.head(n);
      for (const Block& k : a.problem.blocks)
        gamma.segment(k.row, k.rows) -= k.compliance * Lambda.segment(k.row, k.rows);
      return;
    case Route::tree: {
      TreeBackend(a.tree, mass, a.tree_work).velocity(Lambda, xi);
      gamma.head(n) = xi - a.tree.b.head(n);
      return;
    }
    case Route::sparse:
      sparse_velocity(a.sparse, Lambda, a.sparse_work, xi);
      gamma.head(n) = xi - a.sparse.b.head(n);
  }
}

void store_impulses(const Island& island, const IslandProblem& from, Assembly& assembly) {
  int row = 0;
  for (const int i : island.blocks) {
    const Block& k = assembly.blocks[i];
    assembly.Lambda.segment(k.row, k.rows) = from.Lambda.segment(row, k.rows);
    row += k.rows;
  }
}

}  // namespace saltus
