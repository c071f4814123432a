// Impacts of time stepping: which steps have one, and its record.
#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

// Whether a block closes with a jump of velocity (impact_approach); s is still the start state.
bool Stepper::closes(int block) const {
  const Assembly& p = out.assembly;
  const BlockSource& from = p.source[block];
  const int row = p.blocks[block].row;
  const bool limit = account_of(m, from) == Account::limit;
  if (from.contact < 0 && !limit) return false;
  const bool angle = limit && is_angular(m, m.slots[from.slot]);
  const double length = angle ? 1 : m.length_scale;
  if (!(p.Lambda[row] > 0) || !(-p.gamma_S[row] * o.dt > impact_approach * length)) return false;
  if (limit) return s.mode[from.slot] == static_cast<unsigned char>(Mode::open);
  const Contact& c = p.contacts[from.contact];
  return m.contact_laws[c.law].restitution > 0 || find_contact(s, c.key) == nullptr;
}

// Whether an impact law acted that may raise the kinetic energy (impacts/impact.h).
bool Stepper::gaining_impact() const {
  if (std::holds_alternative<CappedImpact>(o.impact) ||
      std::holds_alternative<MoreauImpact>(o.impact))
    return false;
  return std::any_of(w.results.begin(), w.results.begin() + out.islands.count(),
                     [](const ImpactReport& r) { return r.impact; });
}

void Stepper::find_impacts(StepReport& report) {
  w.struck.assign(out.islands.count(), 0);
  for (int i = 0; i < out.islands.count(); ++i) {
    const std::vector<int>& blocks = out.islands[i].blocks;
    const bool slowed = w.results[i].attenuation != 1;
    if (!slowed && std::none_of(blocks.begin(), blocks.end(), [&](int b) { return closes(b); }))
      continue;
    w.struck[i] = 1;
    report.struck = true;
  }
}

// A law that knows the step by its free velocity keeps T+ <= bound T- of what that has. What it
// promises is of the velocity before the step: where its forces gave energy, the velocities of the
// island are attenuated by that, too.
void Stepper::keep_claim(int i) {
  ImpactReport& r = w.results[i];
  if (!w.struck[i] || !r.impact || !(r.bound < 1)) return;
  w.slowed_trees.assign(m.tree_begin.size(), 0);
  for (const int tree : out.islands[i].trees) w.slowed_trees[tree] = 1;
  mech.publish(w.v_S);
  const double limit = r.bound * kinetic_energy(m, w.v_S, out.work, w.slowed_trees);
  mech.publish(w.v_E);
  const double T = kinetic_energy(m, w.v_E, out.work, w.slowed_trees);
  if (T > limit) r.attenuation = std::min(r.attenuation, std::sqrt(limit / T));
}

// v_E <- e~ v_E (P1 eq. 5.2), after the works that led to v_E; the loss is the contacts'.
void Stepper::attenuate_velocity(EnergyTerms& e) {
  const auto attenuated = [&](int i) { return w.results[i].attenuation != 1; };
  out.record.clear();
  out.record.v_after = w.v_E;  // before it
  bool any = false;
  for (int i = 0; i < out.islands.count(); ++i) {
    keep_claim(i);
    any = any || attenuated(i);
  }
  if (!any) return;
  w.slowed_trees.assign(m.tree_begin.size(), 0);
  for (int i = 0; i < out.islands.count(); ++i) {
    if (!attenuated(i)) continue;
    attenuate(m, out.islands[i], w.results[i].attenuation, w.v_E);
    for (const int tree : out.islands[i].trees) w.slowed_trees[tree] = 1;
  }
  mech.publish(out.record.v_after);
  const double before = kinetic_energy(m, out.record.v_after, out.work, w.slowed_trees);
  mech.publish(w.v_E);
  out.record.attenuated = kinetic_energy(m, w.v_E, out.work, w.slowed_trees) - before;
  e.contacts += out.record.attenuated;
}

// Kinetic energies are those of M(q_M): with them the works of the impulses and of the other
// forces of the step, which are what is left, make up the change.
void Stepper::record_impact(EnergyTerms& e) {
  ImpactRecord& r = out.record;
  r.t = t.E;
  r.q = w.q_W;
  r.v_before = w.v_S;
  w.struck_trees.assign(m.tree_begin.size(), 0);
  mech.twists(r.v_after, w.twists_E);
  mech.twists(w.v_E, w.slowed_twists);
  const bool gaining = gaining_impact();
  double gained = 0;  // left to the scheme, as in block_work
  const Velocities raw{r.v_after, w.twists_E}, end{w.v_E, w.slowed_twists};
  for (int i = 0; i < out.islands.count(); ++i) {
    if (!w.struck[i]) continue;
    const Island& island = out.islands[i];
    for (const int tree : island.trees) w.struck_trees[tree] = 1;
    add_report(w.results[i], out.problems[i], r);
    const double before = r.contacts(), joints_before = r.joints;
    for (std::size_t k = 0; k < island.blocks.size(); ++k) {
      const int block = island.blocks[k], contact = out.assembly.source[block].contact;
      add_block(m, out.assembly, block, out.assembly.place(block),
                contact >= 0 ? out.assembly.contacts[contact].law : -1,
                feasible_of(out.problems[i], k), raw, end, r);
    }
    // Without restitution impulses gain nothing over the velocity that the step's forces lead to; a
    // contact that they press while it starts to part works on paper, and not by the impact law.
    const bool restitution = w.results[i].impact && w.results[i].s > 0;
    if (!restitution) r.slack += std::max(0.0, r.contacts() - before);
    if (!gaining) gained += std::max(0.0, r.contacts() - before + r.joints - joints_before);
  }
  for (int i = 0; i < m.nv; ++i)  // drive: force of prescribed velocities, of drive_work
    if (m.prescribed[i] && w.struck_trees[m.tree[m.v_body[i]]])
      r.drives += o.dt * out.drive[i] * 0.5 * (w.v_S[i] + r.v_after[i]);
  mech.publish(r.v_before);
  r.kinetic_before = kinetic_energy(m, r.v_before, out.work, w.struck_trees);
  r.v_after = w.v_E;
  mech.publish(r.v_after);
  r.kinetic_after = kinetic_energy(m, r.v_after, out.work, w.struck_trees);
  r.forces = r.kinetic_after - r.kinetic_before - r.work();
  e.impacts += r.work() - gained;
}

}  // namespace saltus
