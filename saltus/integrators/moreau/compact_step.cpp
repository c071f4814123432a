#include "saltus/integrators/moreau/compact_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

namespace {

// The fixed point of the smooth terms is left where the change that its rate promises next is below
// this share of the velocities: with contacts, where the scheme's own error is some 1e-5 of them,
// and without, where less shows in the energy of a body that tumbles for long.
constexpr double settled = 1e-9, settled_in_flight = 1e-16;
constexpr int most_rounds = 12;

bool is_limit(const BlockSlot& s) { return s.kind == BlockKind::joint_limit; }
bool is_motor(const BlockSlot& s) { return s.kind == BlockKind::motor; }

// Of a motor with a torque limit: what it gives if it stays below.
double limited_impulse(const Stepper& k, const BlockSlot& s) {
  const CoordinateTerms& c = k.w.terms[s.index];
  const double rate = k.w.v_E[k.m.coordinates[s.index].v_index];
  return c.limited.start - c.limited.gain * (rate - c.rate);
}

}  // namespace

bool CompactStep::holds(const Model& m) {
  if (!m.cuts.empty() || m.has_loops || m.has_elements() || m.any_prescribed) return false;
  if (!m.supports.empty() || !m.gap_contacts.empty() || m.has_compliant) return false;
  for (const BlockSlot& s : m.slots)
    if (!is_motor(s) && !is_limit(s) && s.kind != BlockKind::joint_friction) return false;
  if (!CompactTree::holds(m, Tree(m))) return false;
  return CompactContacts::holds(m, CompactTree(m));
}

bool CompactStep::serves(const Stepper& k) {
  const auto* automatic = std::get_if<AutoSolver>(&k.o.solver);
  return automatic && !automatic->least_norm && !automatic->history &&
         std::holds_alternative<CappedImpact>(k.o.impact) && k.o.projection == Projection::mass &&
         k.act.prescribed.empty() && k.act.steering.empty() && k.act.lengths.empty();
}

bool CompactStep::take(Stepper& k, StepReport& report, bool& called) {
  if (!serves(k)) return false;
  StepWorkspace& w = k.w;
  State& s = k.s;
  known_energy(k);
  w.v_S = s.v;
  w.q_M = s.q;
  advance(k.m, w.q_M, s.v, 0.5 * k.o.dt);
  if (!joints(k)) return false;
  tree_.place(w.q_M.data());
  tree_.turn_inertias();
  user_forces(k, called);
  diagonal_ = w.extra + k.m.armature;
  tree_.mass_matrix(diagonal_);
  int culprit = -1;
  if (!tree_.factor(culprit)) return false;
  contacts_.find(k.m, tree_, w.assembly.contacts);
  const double closing = impact_approach * k.m.length_scale / k.o.dt;
  if (!contacts_.open(k.m, tree_, s, k.o.dt, closing, w.assembly.contacts)) return false;
  // Of several trees each would have an impact of its own.
  if (strikes() && k.m.tree_v.size() > 2) return false;
  smooth_velocity(k);
  contacts_.set_free(tree_, w.v_free.data());
  SolveReport& solve = report.impact.solve;
  if (!contacts_.delassus(tree_) ||
      !contacts_.solve(std::get<AutoSolver>(k.o.solver).tolerance, solve)) {
    report = StepReport{};
    return false;
  }
  contacts_.apply(tree_, contacts_.Lambda, w.v_E);
  w.v_E += w.v_free;
  if (!within_limits(k)) {
    report = StepReport{};
    return false;
  }
  w.q_W = w.q_M;
  w.islands.clear();
  w.failing_island = -1;
  report.contacts = static_cast<int>(w.assembly.contacts.size());
  report.islands = contacts_.blocks.empty() ? 0 : 1;
  if (solve.worst_block >= 0) {
    const CompactBlock& block = contacts_.blocks[solve.worst_block];
    report.worst.slot = block.slot;
    if (block.slot < 0) {
      const ContactKey& at = w.assembly.contacts[block.contact].key;
      report.worst = {-1, at.a, at.b, at.feature};
    }
  }
  EnergyTerms& e = report.energy;
  keep_impulses(k, e);
  if (struck()) record_impact(k, report);
  motors_within(k, e);
  k.joint_work(e);
  external_work(k, e);
  s.q = w.q_M;
  s.v = w.v_E;
  s.t = k.t.E;
  advance(k.m, s.q, s.v, 0.5 * k.o.dt);
  tree_.place(s.q.data());
  const double before = potential_energy(k);
  project(k, report);
  mechanical_energy(k, e);
  // That the kinetic energy depends on the correction too (a part of 1e-6 of it) is left to the
  // integrator's term.
  if (report.projection.iterations > 0) e.correction = e.potential - before;
  if (k.o.poses) tree_.publish(k.m, w.work);
  e.integrator = e.total() - w.energy - e.work_without_integrator();
  w.energy = e.total();
  w.energy_known = true;
  ++s.step;
  return true;
}

void CompactStep::known_energy(Stepper& k) {
  if (k.w.energy_known) return;
  EnergyTerms e;
  tree_.place(k.s.q.data());
  mechanical_energy(k, e);
  k.w.energy = e.total();
  k.w.energy_known = true;
}

// Impedances of the joints on the diagonal, those with a torque limit too: within_limits() looks
// at them afterwards. False at a limit of a joint.
bool CompactStep::joints(Stepper& k) {
  k.joint_terms();
  StepWorkspace& w = k.w;
  for (const BlockSlot& s : k.m.slots) {
    if (is_limit(s)) {
      const double gap = slot_gap(k.m, w.work, w.q_M, k.s.turns, s);
      if (gap <= 0 || k.s.Lambda[s.row] > 0) return false;
      continue;
    }
    if (!is_motor(s)) continue;
    const Impedance& z = w.terms[s.index].limited;
    if (!(z.gain > 0)) continue;
    const int v = k.m.coordinates[s.index].v_index;
    w.extra[v] += z.gain;
    w.start_impulse[v] += z.start;
  }
  return true;
}

void CompactStep::user_forces(Stepper& k, bool& called) {
  tree_.has_external = false;
  k.w.tau_user.setZero();
  if (!k.act.user && k.act.pushes.empty()) return;
  tree_.move(k.s.v.data());
  tree_.publish(k.m, k.w.work);
  if (!called) k.user_forces();
  called = true;
  for (CompactTree::Wrench& f : tree_.external) f = {};
  for (int b = 0; b < k.m.body_count(); ++b) {
    const Vec6& F = k.w.work.external[b];
    const CompactPlace& at = tree_.bodies[b];
    if (at.link < 0 || (F.array() == 0).all()) continue;
    const Vec3 f = k.w.work.X[b].R * F.head<3>(), n = k.w.work.X[b].R * F.tail<3>();
    tree_.external[at.link].f += f;
    tree_.external[at.link].n +=
        n + (k.w.work.X[b].r - tree_.point(at.link, Vec3::Zero())).cross(f);
    tree_.has_external = true;
  }
}

void CompactStep::free_velocity(Stepper& k, const Vec& mean) {
  StepWorkspace& w = k.w;
  tree_.bias(k.m, mean.data(), w.work.tau_bias.data());
  const double dt = k.o.dt;
  for (int i = 0; i < k.m.nv; ++i)
    w.v_free[i] = w.start_impulse[i] + dt * (w.tau_user[i] - w.work.tau_bias[i]);
  tree_.solve(w.v_free.data());
  w.v_free += k.s.v;
}

// The fixed point of Stepper::smooth_velocity, x = (v_S + v_free(x))/2, with Anderson's
// acceleration over the last two rounds. It starts from the impulses of the last step: without them
// the body would fall and its legs stretch about as if they were taken away.
void CompactStep::smooth_velocity(Stepper& k) {
  StepWorkspace& w = k.w;
  contacts_.apply(tree_, contacts_.Lambda, mean_);
  mean_ = k.s.v - 0.5 * mean_;
  const double enough = (contacts_.blocks.empty() ? settled_in_flight : settled) *
                        (1 + k.s.v.lpNorm<Eigen::Infinity>());
  double last = infinity;
  for (int i = 0; i < most_rounds; ++i) {
    free_velocity(k, mean_);
    image_ = 0.5 * (k.s.v + w.v_free);
    missing_ = image_ - mean_;
    const double change = missing_.lpNorm<Eigen::Infinity>();
    // Of a contraction by the rate change/last, change^2/last is what comes next.
    const bool next_is_small = i > 0 && !(change * change > enough * last);
    if (change == 0 || next_is_small || !(change < 0.9 * last)) return;
    mean_ = image_;
    if (i > 0) {
      y_ = missing_ - missing_before_;
      mean_ -= (missing_.dot(y_) / y_.squaredNorm()) * (image_ - image_before_);
    }
    last = change;
    image_before_.swap(image_);
    missing_before_.swap(missing_);
  }
}

// What take() assumed: motors below their limits, velocities within all measure.
bool CompactStep::within_limits(const Stepper& k) const {
  const StepWorkspace& w = k.w;
  for (const BlockSlot& s : k.m.slots) {
    if (!is_motor(s)) continue;
    const Impedance& z = w.terms[s.index].limited;
    if (!(z.gain > 0)) continue;
    const double impulse = limited_impulse(k, s);
    if (!(impulse > z.lower && impulse < z.upper)) return false;
  }
  return first_diverged(k.m, w.v_E, k.o.dt) < 0;
}

// Impulses into the state, their work, and what the correction holds.
void CompactStep::keep_impulses(Stepper& k, EnergyTerms& e) {
  StepWorkspace& w = k.w;
  k.s.Lambda.setZero();
  std::fill(k.s.mode.begin(), k.s.mode.end(), static_cast<unsigned char>(Mode::open));
  k.s.contacts.clear();
  w.projection.held.clear();
  held_.clear();
  held_normals_.clear();
  LawWork laws;
  for (std::size_t b = 0; b < contacts_.blocks.size(); ++b) {
    const CompactBlock& block = contacts_.blocks[b];
    const auto Lambda = contacts_.Lambda.segment(block.row, block.rows);
    const Vec3 rate = contacts_.along(tree_, static_cast<int>(b), w.v_E.data());
    for (int i = 0; i < block.rows; ++i) {
      const double work = Lambda[i] * 0.5 * (contacts_.gamma_S[block.row + i] + rate[i]);
      (block.slot >= 0 ? laws.joints : i == 0 ? laws.contacts : laws.friction) += work;
    }
    const Mode mode = mode_of(block.block, Lambda);
    if (block.slot >= 0) {
      k.s.Lambda[k.m.slots[block.slot].row] = Lambda[0];
      k.s.mode[block.slot] = static_cast<unsigned char>(mode);
      continue;
    }
    if (mode == Mode::open) continue;
    Contact& c = w.assembly.contacts[block.contact];
    ContactImpulse kept;
    kept.key = c.key;
    kept.mode = c.mode = static_cast<unsigned char>(mode);
    for (int i = 0; i < block.rows; ++i) kept.Lambda[i] = c.Lambda[i] = Lambda[i];
    k.s.contacts.push_back(kept);
    if (!(std::abs(rate[0]) < k.resting_speed())) continue;
    const bool sticks = block.rows >= 3 && mode == Mode::stick;
    w.projection.held.push_back({c.key, sticks});
    held_normals_.push_back({c.key, block.row, block.link, block.sign});
    for (int i = 0; i < (sticks ? 3 : 1); ++i) held_.push_back(block.row + i);
  }
  enter(laws, false, e);
}

bool CompactStep::strikes() const {
  return std::any_of(contacts_.blocks.begin(), contacts_.blocks.end(),
                     [](const CompactBlock& b) { return b.strikes; });
}
bool CompactStep::struck() const {
  return std::any_of(contacts_.blocks.begin(), contacts_.blocks.end(), [&](const CompactBlock& b) {
    return b.strikes && contacts_.Lambda[b.row] > 0;
  });
}

// Stepper::record_impact of one tree, without restitution.
void CompactStep::record_impact(Stepper& k, StepReport& report) {
  StepWorkspace& w = k.w;
  ImpactRecord& r = w.record;
  r.clear();
  report.struck = true;
  r.t = k.t.E;
  r.q = w.q_M;
  r.v_before = w.v_S;
  r.v_after = w.v_E;
  r.bound = report.impact.bound;
  for (std::size_t b = 0; b < contacts_.blocks.size(); ++b) {
    const CompactBlock& block = contacts_.blocks[b];
    const auto Lambda = contacts_.Lambda.segment(block.row, block.rows);
    if (block.slot >= 0 || Lambda.isZero(0)) continue;
    const Contact& c = w.assembly.contacts[block.contact];
    const Vec3 after = contacts_.along(tree_, static_cast<int>(b), w.v_E.data());
    ContactImpact part;
    part.place = {-1, c.key.a, c.key.b, c.key.feature};
    for (int i = 0; i < block.rows; ++i) {
      part.before[i] = contacts_.gamma_S[block.row + i];
      part.after[i] = after[i];
      part.impulse[i] = Lambda[i];
      (i == 0 ? part.work_normal : part.work_tangential) +=
          Lambda[i] * 0.5 * (part.before[i] + part.after[i]);
    }
    part.mu = k.m.contact_laws[c.law].mu1;
    part.feasible = std::numeric_limits<double>::quiet_NaN();
    r.normal += part.work_normal;
    r.tangential += part.work_tangential;
    r.parts.push_back(part);
  }
  const double gained = std::max(0.0, r.contacts());  // the scheme's: enter(LawWork)
  r.slack = report.solve().residual * contacts_.Lambda.head(contacts_.rows).lpNorm<1>() + gained;
  tree_.move(w.v_S.data());
  r.kinetic_before = tree_.kinetic_energy(k.m, w.v_S.data());
  tree_.move(w.v_E.data());
  r.kinetic_after = tree_.kinetic_energy(k.m, w.v_E.data());
  r.forces = r.kinetic_after - r.kinetic_before - r.work();
  report.energy.impacts += r.work() - gained;
}

// Motors that have a limit and stayed below it.
void CompactStep::motors_within(Stepper& k, EnergyTerms& e) const {
  for (std::size_t i = 0; i < k.m.slots.size(); ++i) {
    const BlockSlot& s = k.m.slots[i];
    if (!is_motor(s)) continue;
    const CoordinateTerms& c = k.w.terms[s.index];
    if (!(c.limited.gain > 0)) continue;
    const double rate = k.w.v_E[k.m.coordinates[s.index].v_index];
    const double impulse = limited_impulse(k, s);
    k.s.Lambda[s.row] = impulse;
    k.s.mode[i] = static_cast<unsigned char>(Mode::stick);
    e.motors += impulse * 0.5 * (c.rate + rate);
  }
}

void CompactStep::external_work(Stepper& k, EnergyTerms& e) {
  if (!k.act.user && k.act.pushes.empty()) return;
  mean_ = 0.5 * (k.w.v_S + k.w.v_E);
  e.external += k.o.dt * k.w.tau_user.dot(mean_);
  if (!tree_.has_external) return;
  tree_.move(mean_.data());
  e.external += k.o.dt * tree_.external_power();
}

// After place().
void CompactStep::mechanical_energy(Stepper& k, EnergyTerms& e) {
  tree_.move(k.s.v.data());
  e.kinetic = tree_.kinetic_energy(k.m, k.s.v.data());
  e.potential = potential_energy(k);
}

double CompactStep::potential_energy(const Stepper& k) const {
  double U = tree_.gravity_energy(k.m);
  for (const Coordinate& c : k.m.coordinates)
    if (c.dof.stiffness > 0) U += spring_energy(c.dof, k.s.q[c.q_index]);
  return U;
}

}  // namespace saltus
