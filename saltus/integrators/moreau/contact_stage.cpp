// The set-valued part of a step: islands, their impulses, the end velocity.
#include <algorithm>
#include <cmath>

#include "saltus/base/parallel.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/solvers/condense.h"

namespace saltus {

void Stepper::form_islands() {
  out.islands.partition(m, out.assembly);
  while (out.islands.count() > static_cast<int>(out.problems.size())) out.problems.emplace_back();
  w.results.resize(out.problems.size());
  // P1's chain and Poisson's law need dense matrices, and restitution the columns of all rows.
  const Solver dense = ProxGaussSeidel{};
  const Solver& solver = is_dense(o.impact) ? dense : o.solver;
  const bool full = !std::holds_alternative<CappedImpact>(o.impact) ||
                    !out.assembly.restitution.head(out.assembly.rows).isZero(0);
  const int threads = mech.storage() == Storage::forest ? o.threads : 1;
  parallel_for(out.islands.count(), threads, [&](int i) {
    mech.form(out.assembly, out.islands[i], solver, w.v_free, full, out.problems[i]);
  });
  if (m.has_loops && out.assembly.joints_at_end) consistent_joints();
}

// Rows of cuts among an island's: they come first.
int Stepper::cut_rows(const Island& island) const {
  int n = 0;
  for (const int i : island.blocks) {
    const int slot = out.assembly.source[i].slot;
    if (slot < 0) break;
    if (account_of(m, m.slots[slot]) != Account::cut) break;
    n += out.assembly.blocks[i].rows;
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
    const Block& k = out.assembly.blocks[i];
    const BlockSlot& slot = m.slots[out.assembly.source[i].slot];
    rates.segment(row, k.rows) = out.assembly.rate_start.segment(slot.row, slot.rows);
    row += k.rows;
  }
  problem.problem.b.head(n) += rates;
  imply_redundant(problem.problem, problem.work, n, rates);
  problem.problem.b.head(n) -= rates;
}

void Stepper::consistent_joints() {
  for (int i = 0; i < out.islands.count(); ++i) {
    IslandProblem& p = out.problems[i];
    if (p.route != Route::dense) continue;  // no cuts there: their rows act on two bodies
    factor_bilaterals(p.problem, p.work);
    if (p.work.redundant == 0) continue;
    consistent_joints(out.islands[i], p);
    mech.renew(out.assembly, out.islands[i], w.v_free, p);
  }
}

// For another free velocity.
void Stepper::renew_islands() {
  for (int i = 0; i < out.islands.count(); ++i)
    mech.renew(out.assembly, out.islands[i], w.v_free, out.problems[i]);
}

namespace {

// Of two solves the names of the one that took more, or that failed.
void keep_hardest(const SolveReport& one, SolveReport& all) {
  const bool harder =
      one.converged == all.converged ? one.iterations > all.iterations : !one.converged;
  if (one.solver.empty() || (!all.solver.empty() && !harder)) return;
  all.solver = one.solver;
  all.gave_up = one.gave_up;
  all.before = one.before;
  all.before_gave_up = one.before_gave_up;
}

}  // namespace

// Every island on its own.
void Stepper::solve_islands(StepReport& report) {
  const SolveReport before = report.impact.solve;  // of earlier rounds of the step
  report.impact = {};
  report.worst = {};
  report.islands = out.islands.count();
  parallel_for(out.islands.count(), o.threads, [&](int i) {
    w.results[i] = resolve(o.impact, o.solver, mech.forest().mass, out.problems[i]);
    if (!w.results[i].solve.converged) retry_dense(i);
    store_impulses(out.islands[i], out.problems[i], out.assembly);
  });
  out.failing_island = -1;
  for (int i = 0; i < out.islands.count(); ++i) {
    const ImpactReport& r = w.results[i];
    if (r.solve.worst_block >= 0 && r.solve.residual >= report.impact.solve.residual)
      report.worst = out.assembly.place(out.islands[i].blocks[r.solve.worst_block]);
    merge(report.impact, r);
    if (!r.solve.converged && out.islands[i].rows <= o.keep_failing && out.failing_island < 0)
      keep_failing(i);
  }
  if (before.converged) keep_hardest(before, report.impact.solve);
  report.impact.solve.iterations += before.iterations;
}

// What the tree or the sparse route could not solve, from the same start with dense matrices.
void Stepper::retry_dense(int i) {
  IslandProblem& p = out.problems[i];
  if (p.route == Route::dense || out.islands[i].rows > fallback_rows) return;
  const ImpactReport before = w.results[i];
  const Vec kept = p.Lambda;
  mech.form(out.assembly, out.islands[i], ProxGaussSeidel{}, w.v_free, true, p);
  ImpactReport dense = resolve(o.impact, o.solver, mech.forest().mass, p);
  if (!dense.solve.converged && p.problem.has_G && p.problem.has_M) {
    // Light links under a heavy load: G has digits that M has not.
    const Vec primal = p.Lambda;
    p.problem.has_M = false;
    p.Lambda = kept;
    ImpactReport dual = resolve(o.impact, o.solver, mech.forest().mass, p);
    dual.solve.iterations += dense.solve.iterations;
    if (dual.solve.residual < dense.solve.residual)
      dense = dual;
    else
      p.Lambda = primal;
  }
  dense.solve.iterations += before.solve.iterations;
  if (dense.solve.before.empty()) {
    dense.solve.before = before.solve.solver;
    dense.solve.before_gave_up = before.solve.gave_up;
  }
  if (dense.solve.residual < before.solve.residual)
    w.results[i] = dense;
  else
    p.Lambda = kept;
}

// As the solver was given it: dense, from the impulses of the last step.
void Stepper::keep_failing(int i) {
  out.failing_island = i;
  const Vec solution = out.assembly.Lambda;
  const std::vector<Block> blocks = out.assembly.blocks;  // some may have been captured
  assemble(m, s, w.terms, o.dt, out.work, w.twists_S, out.assembly);
  out.assembly.blocks = blocks;
  mech.form(out.assembly, out.islands[i], ProxGaussSeidel{}, w.v_free, true, out.failing);
  add_offset(out.failing.restitution, out.failing);
  out.failing_tolerance = options_of(o.solver).tolerance;
  out.assembly.Lambda = solution;
}

// The step is as good as its worst island.
void Stepper::merge(ImpactReport& all, const ImpactReport& one) {
  keep_hardest(one.solve, all.solve);
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
  if (out.assembly.rows > 0)
    mech.respond(out.assembly, out.assembly.Lambda, w.v_E);
  else
    w.v_E.setZero();
  w.v_E += w.v_free;
  mech.twists(w.v_E, w.twists_E);
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
  const Assembly& p = out.assembly;
  const Block& k = p.blocks[block];
  if (mode_of(k, p.Lambda.segment(k.row, k.rows)) != Mode::slip) return false;
  const SlipRows slip = slip_rows(k.law);
  double along = 0;
  for (int r = k.row + slip.first; r < k.row + slip.first + slip.count; ++r)
    along +=
        (p.gamma_S[r] + p.drift[r]) * (p.rate(r, p.source[block], w.twists_E, w.v_E) + p.drift[r]);
  return along <= 0;
}

// A slip that ends is held by static friction where that is enough: the step is solved again with
// it. Each block is captured at most once.
void Stepper::capture(StepReport& report) {
  for (bool again = !out.assembly.sliding.empty(); again;) {
    again = false;
    std::erase_if(out.assembly.sliding, [&](const Assembly::Sliding& one) {
      if (!slip_ends(one.block)) return false;
      out.assembly.blocks[one.block].law = one.at_rest;
      return again = true;
    });
    if (!again) return;
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
  for (std::size_t b = 0; b < out.assembly.blocks.size(); ++b) {
    const Block& k = out.assembly.blocks[b];
    const BlockSource& from = out.assembly.source[b];
    const auto Lambda = out.assembly.Lambda.segment(k.row, k.rows);
    const Mode mode = mode_of(k, Lambda);
    // A contact that carries load and does not part again is held closed by the correction.
    const bool stays = mode != Mode::open && (from.closes || from.contact >= 0) &&
                       std::abs(out.assembly.rate(k.row, from, w.twists_E, w.v_E)) < at_rest;
    if (from.slot >= 0) {
      const BlockSlot& slot = m.slots[from.slot];
      s.Lambda.segment(slot.row, slot.rows) =
          Lambda + w.elements.start.segment(slot.row, slot.rows);
      s.mode[from.slot] = static_cast<unsigned char>(mode);
      if (stays)
        w.projection.held.push_back({{-1, from.slot, 0}, static_cast<int>(b), mode == Mode::stick});
      continue;
    }
    if (mode == Mode::open) continue;
    Contact& c = out.assembly.contacts[from.contact];
    c.mode = static_cast<unsigned char>(mode);
    ContactImpulse kept;
    kept.key = c.key;
    kept.mode = c.mode;
    for (int i = 0; i < k.rows; ++i) kept.Lambda[i] = c.Lambda[i] = Lambda[i];
    s.contacts.push_back(kept);  // contacts are sorted by key, and so are these
    if (stays)
      w.projection.held.push_back({c.key, static_cast<int>(b), k.rows >= 3 && mode == Mode::stick});
  }
  if (m.has_compliant) keep_compliant();
}

}  // namespace saltus
