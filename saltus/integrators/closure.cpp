#include "saltus/integrators/closure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/contact/assembly.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/solvers/condense.h"

namespace saltus {

namespace {

constexpr int max_rounds = 50;           // Newton from a start that is off by per cents
constexpr double gap_target = 1e-13;     // [m]
constexpr double rank_tolerance = 1e-8;  // see projection.cpp

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
  Assembly assembly{model};
  SolverWorkspace solver;
  Vec zero = Vec::Zero(model.nv);

  Closer(const Model& m, const std::vector<CoordinateWish>& all, State& s)
      : model(m), wishes(all), state(s) {
    const int rows = m.lambda_rows + static_cast<int>(all.size());
    const int blocks = static_cast<int>(m.slots.size() + all.size());
    assembly.problem.reserve(rows, blocks, m.nv);
    solver.reserve(rows, blocks, m.nv);
    solver.rank_tolerance = rank_tolerance;
  }

  [[nodiscard]] double length(const CoordinateWish& wish) const {
    return model.coordinates[wish.coordinate].rotational ? model.length_scale : 1;
  }

  auto open(int rows) {
    Inclusion& p = assembly.problem;
    const int row = p.add(Bilateral{rows}, 0, 1);
    p.b.segment(row, rows).setZero();
    auto columns = p.W.middleCols(row, rows);
    columns.setZero();
    return columns;
  }
  auto last(int rows) { return assembly.problem.b.segment(assembly.problem.rows - rows, rows); }

  // The cuts first, then the wishes: a row that depends on those before it is left out.
  void assemble_rows(bool velocities) {
    world_columns(model, w);
    assembly.problem.clear();
    for (const Cut& cut : model.cuts) {
      if (const int n = cut.translations; n > 0) {
        add_cut_translation_rows(model, w, cut, open(n));
        if (!velocities) cut_translation_gap(model, w, cut, last(n));
      }
      if (const int n = cut.rotations; n > 0) {
        add_cut_rotation_rows(model, w, cut, open(n));
        if (!velocities) cut_rotation_gap(model, w, cut, last(n));
      }
    }
    for (const CoordinateWish& wish : wishes) {
      if (!(velocities ? wish.with_rate : wish.with_value)) continue;
      add_coordinate_row(model, w, wish.coordinate, open(1).col(0));
      last(1)[0] = velocities ? -wish.rate : value(wish) - wish.value;
    }
    crba(model, w);
  }

  [[nodiscard]] double value(const CoordinateWish& wish) const {
    return coordinate_value(model, w, state.q, state.turns, wish.coordinate);
  }

  // The smallest change of `free` that meets all rows.
  bool solve(VecIn free, Vec& result) {
    if (!factor(model, zero, w)) return false;
    condense_mass(model, w, free, true, assembly.problem);
    factor_bilaterals(assembly.problem, solver);
    result = free;
    add_bilateral_impulses(assembly.problem, solver, result);
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
    for (int i = 0; i < max_rounds; ++i) {
      assemble_rows(false);
      if (assembly.problem.rows == 0 || !solve(zero, displacement)) return;
      advance(model, state.q, displacement, 1.0);
      forward_kinematics(model, state.q, state.v, w);
      report.gap_left = largest_gap();
      if (displacement.lpNorm<Eigen::Infinity>() < gap_target && report.gap_left < 10 * gap_target)
        return;
    }
  }

  void velocities(ClosureReport& report) {
    assemble_rows(true);
    Vec v;
    if (assembly.problem.rows == 0 || !solve(state.v, v)) return;
    state.v = v;
    forward_kinematics(model, state.q, state.v, w);
    const Inclusion& p = assembly.problem;
    int row = 0;
    for (const Cut& cut : model.cuts) {
      const int n = cut.translations + cut.rotations;
      for (int i = 0; i < n; ++i, ++row)
        report.rate_left =
            std::max(report.rate_left, std::abs(p.W.col(row).dot(state.v)) *
                                           (i < cut.translations ? 1 : model.length_scale));
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
