// The set-valued part of a step: islands, their impulses, the end velocity.
#include <algorithm>
#include <cmath>

#include "saltus/base/parallel.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/solvers/condense.h"

namespace saltus {

void Stepper::form_islands() {
  w.islands.partition(m, w.assembly);
  while (w.islands.count() > static_cast<int>(w.problems.size())) w.problems.emplace_back();
  w.results.resize(w.problems.size());
  // P1's chain and Poisson's law need dense matrices, and restitution the columns of all rows.
  const Solver dense = ProxGaussSeidel{};
  const Solver& solver = is_dense(o.impact) ? dense : o.solver;
  const bool full = !std::holds_alternative<CappedImpact>(o.impact) ||
                    !w.assembly.restitution.head(w.assembly.rows).isZero(0);
  const int threads = mech.storage() == Storage::forest ? o.threads : 1;
  parallel_for(w.islands.count(), threads, [&](int i) {
    mech.form(w.assembly, w.islands[i], solver, w.v_free, full, w.problems[i]);
  });
  const bool joints = !m.cuts.empty() || w.elements.edges;
  if (m.has_loops || (joints && m.quadratic_terms)) smooth_velocity_of_joints();
}

// Rows of cuts among an island's: they come first.
int Stepper::cut_rows(const Island& island) const {
  int n = 0;
  for (const int i : island.blocks) {
    const int slot = w.assembly.source[i].slot;
    if (slot < 0) break;
    const BlockKind kind = m.slots[slot].kind;
    if (kind != BlockKind::cut_translation && kind != BlockKind::cut_rotation) break;
    n += w.assembly.blocks[i].rows;
  }
  return n;
}

// A redundant row asks of the end velocity what the others ask, or no velocity would do.
void Stepper::consistent_joints(const Island& island, IslandProblem& problem) {
  const int n = cut_rows(island);
  auto rates = problem.xi.head(n);
  int row = 0;
  for (const int i : island.blocks) {
    if (row >= n) break;
    const Block& k = w.assembly.blocks[i];
    const BlockSlot& slot = m.slots[w.assembly.source[i].slot];
    rates.segment(row, k.rows) = w.assembly.rate_start.segment(slot.row, slot.rows);
    row += k.rows;
  }
  problem.problem.b.head(n) += rates;
  imply_redundant(problem.problem, problem.work, n, rates);
  problem.problem.b.head(n) -= rates;
}

// The same fixed point with the impulses of the joints in the mean velocity: without them the
// quadratic terms of a loop would be off by O(dt).
void Stepper::smooth_velocity_of_joints() {
  for (int i = 0; i < w.islands.count(); ++i) {
    IslandProblem& p = w.problems[i];
    // No cuts there, their rows act on two bodies; and of edges the change is left out.
    if (p.route != Route::dense) continue;
    factor_bilaterals(p.problem, p.work);
    if (p.work.redundant > 0 && w.assembly.joints_at_end) consistent_joints(w.islands[i], p);
  }
  double last = infinity;
  for (int i = 0; i < 12; ++i) {
    w.v_before = w.v_free;
    w.v_E = w.v_free;
    for (int k = 0; k < w.islands.count(); ++k)
      if (w.problems[k].route == Route::dense)
        add_joint_impulses(m, w.islands[k], w.problems[k], w.v_E);
    w.v_E = 0.5 * (s.v + w.v_E);
    free_velocity(w.v_E);
    if (settled(1e-14, last)) break;
  }
  for (int i = 0; i < w.islands.count(); ++i)
    renew_free(m, w.assembly, w.islands[i], w.v_free, mech.forest().mass, w.problems[i]);
}

// Every island on its own.
void Stepper::solve_islands(StepReport& report) {
  report.impact = {};
  report.worst = {};
  report.islands = w.islands.count();
  parallel_for(w.islands.count(), o.threads, [&](int i) {
    w.results[i] = resolve(o.impact, o.solver, mech.forest().mass, w.problems[i]);
    if (!w.results[i].solve.converged) retry_dense(i);
    store_impulses(w.islands[i], w.problems[i], w.assembly);
  });
  w.failing_island = -1;
  for (int i = 0; i < w.islands.count(); ++i) {
    const ImpactReport& r = w.results[i];
    if (r.solve.worst_block >= 0 && r.solve.residual >= report.impact.solve.residual)
      report.worst = w.assembly.place(w.islands[i].blocks[r.solve.worst_block]);
    merge(report.impact, r);
    if (!r.solve.converged && w.islands[i].rows <= o.keep_failing && w.failing_island < 0)
      keep_failing(i);
  }
}

// What the tree or the sparse route could not solve, from the same start with dense matrices.
void Stepper::retry_dense(int i) {
  IslandProblem& p = w.problems[i];
  if (p.route == Route::dense || w.islands[i].rows > fallback_rows) return;
  const ImpactReport before = w.results[i];
  const Vec kept = p.Lambda;
  mech.form(w.assembly, w.islands[i], ProxGaussSeidel{}, w.v_free, true, p);
  ImpactReport dense = resolve(o.impact, o.solver, mech.forest().mass, p);
  dense.solve.iterations += before.solve.iterations;
  if (dense.solve.residual < before.solve.residual)
    w.results[i] = dense;
  else
    p.Lambda = kept;
}

// As the solver was given it: dense, from the impulses of the last step.
void Stepper::keep_failing(int i) {
  w.failing_island = i;
  const Vec solution = w.assembly.Lambda;
  const std::vector<Block> blocks = w.assembly.blocks;  // some may have been captured
  assemble(m, s, w.terms, o.dt, w.work, w.twists, w.assembly);
  w.assembly.blocks = blocks;
  mech.form(w.assembly, w.islands[i], ProxGaussSeidel{}, w.v_free, true, w.failing);
  add_offset(w.failing.restitution, w.failing);
  w.assembly.Lambda = solution;
}

// The step is as good as its worst island.
void Stepper::merge(ImpactReport& all, const ImpactReport& one) {
  all.solve.iterations = std::max(all.solve.iterations, one.solve.iterations);
  all.solve.residual = std::max(all.solve.residual, one.solve.residual);
  all.solve.converged = all.solve.converged && one.solve.converged;
  all.solve.redundant += one.solve.redundant;
  all.solve.indeterminate = std::max(all.solve.indeterminate, one.solve.indeterminate);
  all.impact = all.impact || one.impact;
  all.s = std::min(all.s, one.s);
  all.attenuation = std::min(all.attenuation, one.attenuation);
  all.bound = std::max(all.bound, one.bound);
  all.path = std::max(all.path, one.path);
}

void Stepper::end_velocity() {
  if (w.assembly.rows > 0)
    mech.respond(w.assembly, w.v_E);
  else
    w.v_E.setZero();
  w.v_E += w.v_free;
  mech.twists(w.v_E, w.twists);
}

// Of a motor on the diagonal that has a torque limit.
double Stepper::limited_impulse(int c) const {
  const CoordinateTerms& k = w.terms[c];
  return k.limited.start - k.limited.gain * (w.v_E[m.coordinates[c].v_index] - k.rate);
}

// Whether all that were taken to stay below their limits do; those that do not become blocks.
bool Stepper::motors_within() {
  bool all = true;
  for (int c = 0; c < coordinate_count(); ++c) {
    CoordinateTerms& k = w.terms[c];
    if (!k.within) continue;
    const double impulse = limited_impulse(c);
    if (impulse > k.limited.lower && impulse < k.limited.upper) continue;
    k.within = false;
    all = false;
  }
  return all;
}

// Whether a block that slides comes to rest within the step, or turns over.
bool Stepper::slip_ends(int block) const {
  const Assembly& p = w.assembly;
  const Block& k = p.blocks[block];
  if (mode_of(k, p.Lambda.segment(k.row, k.rows)) != Mode::slip) return false;
  const SlipRows slip = slip_rows(k.law);
  double along = 0;
  for (int r = k.row + slip.first; r < k.row + slip.first + slip.count; ++r)
    along +=
        (p.gamma_S[r] + p.drift[r]) * (p.rate(r, p.source[block], w.twists, w.v_E) + p.drift[r]);
  return along <= 0;
}

// A slip that ends is held by static friction where that is enough: the step is solved again with
// it. Each block is captured at most once.
void Stepper::capture(StepReport& report) {
  for (bool again = !w.assembly.sliding.empty(); again;) {
    again = false;
    std::erase_if(w.assembly.sliding, [&](const Assembly::Sliding& one) {
      if (!slip_ends(one.block)) return false;
      w.assembly.blocks[one.block].law = one.at_rest;
      return again = true;
    });
    if (!again) return;
    mech.twists(s.v, w.twists);
    form_islands();
    solve_islands(report);
    end_velocity();
  }
}

// Slower than the solver resolves is at rest; it leaves up to its tolerance, twice where two meet.
double Stepper::resting_speed() const { return std::max(1e-7, 2 * options_of(o.solver).tolerance); }

void Stepper::keep_impulses() {
  s.Lambda.setZero();
  std::fill(s.mode.begin(), s.mode.end(), static_cast<unsigned char>(Mode::open));
  s.contacts.clear();
  w.projection.held.clear();
  for (int c = 0; c < coordinate_count(); ++c)
    if (w.terms[c].within) {
      const int slot = m.motor_slot[c];
      s.Lambda[m.slots[slot].row] = limited_impulse(c);
      s.mode[slot] = static_cast<unsigned char>(Mode::stick);
    }
  const double at_rest = resting_speed();
  for (std::size_t b = 0; b < w.assembly.blocks.size(); ++b) {
    const Block& k = w.assembly.blocks[b];
    const BlockSource& from = w.assembly.source[b];
    const auto Lambda = w.assembly.Lambda.segment(k.row, k.rows);
    const Mode mode = mode_of(k, Lambda);
    // A contact that carries load and does not part again is held closed by the correction.
    const bool stays = mode != Mode::open && (from.gap || from.contact >= 0) &&
                       std::abs(w.assembly.rate(k.row, from, w.twists, w.v_E)) < at_rest;
    if (from.slot >= 0) {
      const BlockSlot& slot = m.slots[from.slot];
      s.Lambda.segment(slot.row, slot.rows) =
          Lambda + w.elements.start.segment(slot.row, slot.rows);
      s.mode[from.slot] = static_cast<unsigned char>(mode);
      if (stays) w.projection.held.push_back({{-1, from.slot, 0}, mode == Mode::stick});
      continue;
    }
    if (mode == Mode::open) continue;
    Contact& c = w.assembly.contacts[from.contact];
    c.mode = static_cast<unsigned char>(mode);
    ContactImpulse kept;
    kept.key = c.key;
    kept.mode = c.mode;
    for (int i = 0; i < k.rows; ++i) kept.Lambda[i] = c.Lambda[i] = Lambda[i];
    s.contacts.push_back(kept);  // contacts are sorted by key, and so are these
    if (stays) w.projection.held.push_back({c.key, k.rows >= 3 && mode == Mode::stick});
  }
  if (m.has_compliant) keep_compliant();
}

}  // namespace saltus
