#include "saltus/integrators/closure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/contact/islands.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/solvers/condense.h"

namespace saltus {

namespace {

constexpr int closing_rounds = 50;     // Newton from a start that is off by per cents
constexpr double gap_target = 1e-13;   // [m]
constexpr double closing_rank = 1e-8;  // see projection.cpp

double cut_gap(const Model& model, const Workspace& w, const Cut& cut) {
  Vec3 gap = Vec3::Zero();
  cut_translation_gap(model, w, cut, gap.head(cut.translations));
  const double translation = gap.head(cut.translations).norm();
  cut_rotation_gap(model, w, cut, gap.head(cut.rotations));
  return std::max(translation, model.length_scale * gap.head(cut.rotations).norm());
}

struct Closer {
  const Model& model;
  const std::vector<CoordinateWish>& wishes;
  State& state;
  Workspace w{model};
  Forest mass;
  Assembly assembly{model};
  IslandProblem problem;
  Island all;  // the whole model, whatever is coupled
  Vec zero = Vec::Zero(model.nv);

  Closer(const Model& m, const std::vector<CoordinateWish>& asked, State& s)
      : model(m), wishes(asked), state(s) {
    mass.resize(forest_shape(m));
    problem.work.rank_tolerance = closing_rank;
    for (int t = 0; t + 1 < static_cast<int>(m.tree_begin.size()); ++t) all.trees.push_back(t);
    all.velocities = m.nv;
  }

  [[nodiscard]] double length(const CoordinateWish& wish) const {
    return model.coordinates[wish.coordinate].rotational ? model.length_scale : 1;
  }

  int open(int rows, const BlockSource& from) {
    all.blocks.push_back(static_cast<int>(assembly.blocks.size()));
    all.rows += rows;
    return assembly.open(Bilateral{rows}, from);
  }
  void add_cut(const Cut& cut, int rows, const Columns6& wrenches, const Vec3& gap) {
    BlockSource from;
    from.a = cut.parent;
    from.b = cut.child;
    const int row = open(rows, from);
    for (int i = 0; i < rows; ++i) set_pair_row(w, from, wrenches.col(i), row + i, assembly);
    assembly.b.segment(row, rows) = gap.head(rows);
  }
  void add_wish(const CoordinateWish& wish, double offset) {
    const CoordinateRow r = coordinate_row(model, w, wish.coordinate);
    BlockSource from;
    from.a = r.parent;
    from.b = r.child;
    from.velocity = r.velocity;
    const int row = open(1, from);
    if (r.velocity < 0) set_pair_row(w, from, r.wrench, row, assembly);
    assembly.b[row] = offset;
  }

  // The cuts first, then the wishes: a row that depends on those before it is left out.
  void assemble_rows(bool velocities) {
    assembly.clear();
    all.blocks.clear();
    all.rows = 0;
    Columns6 wrenches;
    for (const Cut& cut : model.cuts) {
      Vec3 gap = Vec3::Zero();
      if (const int n = cut.translations; n > 0) {
        cut_translation_wrenches(model, w, cut, wrenches);
        if (!velocities) cut_translation_gap(model, w, cut, gap.head(n));
        add_cut(cut, n, wrenches, gap);
      }
      gap.setZero();
      if (const int n = cut.rotations; n > 0) {
        cut_rotation_wrenches(model, w, cut, wrenches);
        if (!velocities) cut_rotation_gap(model, w, cut, gap.head(n));
        add_cut(cut, n, wrenches, gap);
      }
    }
    for (const CoordinateWish& wish : wishes)
      if (velocities ? wish.with_rate : wish.with_value)
        add_wish(wish, velocities ? -wish.rate : value(wish) - wish.value);
    assembly.gamma_S.head(assembly.rows).setZero();
  }

  [[nodiscard]] double value(const CoordinateWish& wish) const {
    return coordinate_value(model, w, state.q, state.turns, wish.coordinate);
  }

  // The smallest change of `free` that meets all rows.
  bool solve(VecIn free, Vec& result) {
    load_mass(w, zero, mass);
    if (!mass.factor()) return false;
    form_island(model, assembly, all, ProxGaussSeidel{}, free, mass, problem);
    factor_bilaterals(problem.problem, problem.work);
    result = free;
    add_joint_impulses(model, all, problem, result);
    return true;
  }

  // Of a loop's angle only its place on the circle is known: count turns towards the wish.
  void count_turns() {
    for (const CoordinateWish& wish : wishes) {
      const Coordinate& c = model.coordinates[wish.coordinate];
      if (!model.of_loop(c) || !c.rotational || !wish.with_value) continue;
      state.turns[wish.coordinate] += static_cast<std::int32_t>(
          std::lround((wish.value - value(wish)) / (2 * std::numbers::pi)));
    }
  }

  [[nodiscard]] double largest_gap() const {
    double gap = 0;
    for (const Cut& cut : model.cuts) gap = std::max(gap, cut_gap(model, w, cut));
    return gap;
  }

  void positions(ClosureReport& report) {
    Vec displacement;
    count_turns();
    report.gap_left = largest_gap();
    for (int i = 0; i < closing_rounds; ++i) {
      assemble_rows(false);
      if (assembly.rows == 0 || !solve(zero, displacement)) return;
      advance(model, state.q, displacement, 1.0);
      forward_kinematics(model, state.q, state.v, w);
      report.gap_left = largest_gap();
      if (displacement.lpNorm<Eigen::Infinity>() < gap_target && report.gap_left < 10 * gap_target)
        return;
    }
  }

  [[nodiscard]] int cut_rows() const {
    int n = 0;
    for (const Cut& cut : model.cuts) n += cut.translations + cut.rotations;
    return n;
  }
  [[nodiscard]] bool is_rotation(int row) const {
    for (const Cut& cut : model.cuts) {
      if (row < cut.translations + cut.rotations) return row >= cut.translations;
      row -= cut.translations + cut.rotations;
    }
    return false;
  }

  void velocities(ClosureReport& report) {
    assemble_rows(true);
    Vec v;
    if (assembly.rows == 0 || !solve(state.v, v)) return;
    state.v = v;
    forward_kinematics(model, state.q, state.v, w);
    std::vector<Vec6> twists(model.bodies.size());
    mass.twists(state.v, twists);
    int row = 0;
    for (std::size_t i = 0; row < assembly.rows && i < assembly.blocks.size(); ++i) {
      if (row >= cut_rows()) break;
      for (int k = 0; k < assembly.blocks[i].rows; ++k, ++row)
        report.rate_left = std::max(
            report.rate_left, std::abs(assembly.rate(row, assembly.source[i], twists, state.v)) *
                                  (is_rotation(row) ? model.length_scale : 1));
    }
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      if (!wishes[i].with_rate) continue;
      const double now = coordinate_rate(model, w, state.v, wishes[i].coordinate);
      const double miss = std::abs(now - wishes[i].rate) * length(wishes[i]);
      if (miss <= report.largest_miss) continue;
      report.largest_miss = miss;
      report.missed = static_cast<int>(i);
    }
  }
};

}  // namespace

ClosureReport measure_loops(const Model& model, const State& state) {
  SALTUS_ASSERT(fits(model, state));
  Workspace w(model);
  forward_kinematics(model, state.q, state.v, w);
  ClosureReport report;
  for (std::size_t i = 0; i < model.cuts.size(); ++i) {
    if (!model.cuts[i].loop) continue;
    const double gap = cut_gap(model, w, model.cuts[i]);
    if (report.loop >= 0 && gap <= report.gap) continue;
    report.gap = gap;
    report.loop = static_cast<int>(i);
  }
  return report;
}

ClosureReport close_start(const Model& model, const std::vector<CoordinateWish>& wishes,
                          State& state) {
  ClosureReport report = measure_loops(model, state);
  Closer closer(model, wishes, state);
  forward_kinematics(model, state.q, state.v, closer.w);
  closer.positions(report);
  closer.velocities(report);
  return report;
}

}  // namespace saltus
