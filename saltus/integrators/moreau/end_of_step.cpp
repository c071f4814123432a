// The end of a step: the energy ledger, q_E and its correction.
#include <algorithm>

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

// Work of every block over the step: Lambda . (gamma_S + gamma_E)/2 is exactly its share of the
// change of v' M(q_M) v / 2. What contacts, limits and dry friction gain together is the scheme's.
void Stepper::block_work(StepReport& report) {
  EnergyTerms& e = report.energy;
  const Assembly& p = w.assembly;
  LawWork laws;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    const BlockSource& from = p.source[b];
    double work[3] = {0, 0, 0};
    double sum = 0, mean = 0, belt = 0;
    for (int i = 0; i < k.rows; ++i) {
      const int r = k.row + i;
      const double explicit_part =
          from.slot >= 0 ? w.elements.start[m.slots[from.slot].row + i] : 0;
      mean = 0.5 * (p.gamma_S[r] + p.rate(r, from, w.twists, w.v_E));
      const double one = (p.Lambda[r] + explicit_part) * mean;
      if (i < 3) work[i] = one;
      sum += one;
      belt -= p.Lambda[r] * p.drift[r];
    }
    if (from.contact >= 0 || from.gap) {
      laws.contacts += work[0];
      laws.friction += sum - work[0] - belt;  // Lambda_T . slip: what is lost
      e.prescribed += belt;                   // and what the drive of the surface gives
      continue;
    }
    switch (m.slots[from.slot].kind) {
      case BlockKind::support: laws.friction += sum; break;
      case BlockKind::motor: e.motors += sum; break;
      case BlockKind::coordinate:
        if (m.coordinates[m.slots[from.slot].index].dof.prescribed) e.prescribed += sum;
        break;  // impedances: joint_work
      case BlockKind::cut_translation:
      case BlockKind::cut_rotation:
        e.joints += sum;
        report.cut_work += sum;
        break;
      case BlockKind::edge:
      case BlockKind::scale:
      case BlockKind::spring:
      case BlockKind::drag:
        element_work(m, m.slots[from.slot], o.dt, p.Lambda[k.row], sum, mean, w.elements, e);
        break;
      default: laws.joints += sum;
    }
  }
  enter(laws, gaining_impact(), e);
}

// Rate of a cut coordinate at the end velocity, rows at the mid-point.
double Stepper::cut_rate(int c) const {
  const CoordinateRow r = coordinate_row(m, w.work, CoordinateIndex(c));
  const auto part = [&](int body) {
    if (body < 0) return 0.0;
    const Vec3 f = r.wrench.head<3>();
    return join(f, r.wrench.tail<3>() - w.work.X[body].r.cross(f)).dot(w.twists[body]);
  };
  return part(r.child) - part(r.parent);
}

void Stepper::joint_work(EnergyTerms& e) {
  for (int c = 0; c < coordinate_count(); ++c) {
    const Coordinate& k = m.coordinates[c];
    const double rate_S = w.terms[c].rate;
    double rate_E = 0;
    if (k.v_index >= 0) {
      rate_E = w.v_E[k.v_index];
    } else {
      rate_E = cut_rate(c);
    }
    const double mean = 0.5 * (rate_S + rate_E);
    w.motor_force[c] = 0;
    if (k.dof.prescribed) continue;
    e.dampers -= o.dt * k.dof.damping * mean * mean;
    const Impedance& z = w.motor[c].linear;
    const double linear = z.start - z.gain * (rate_E - rate_S);
    e.motors += linear * mean;  // that of the limited part is its block's
    if (w.terms[c].within) e.motors += limited_impulse(c) * mean;
    const bool limited = w.terms[c].limited.gain > 0;
    const double impulse = linear + (limited ? s.Lambda[m.slots[m.motor_slot[c]].row] : 0);
    w.motor_force[c] = impulse / o.dt;
    const MotorCommand& command = w.commands[c];
    if (command.memory >= 0) s.memory[command.memory] = lagged_torque(command, impulse, o.dt);
  }
}

// Force of prescribed tree coordinates: what M dv = impulses + W Lambda + drive dt lacks.
void Stepper::drive_work(EnergyTerms& e) {
  if (!m.any_prescribed) return;
  ForestStorage& forest = mech.forest();  // which holds what end_velocity applied
  if (w.assembly.rows > 0) {
    forest.mass.gather(forest.wrenches, w.drive);
    w.impulse += w.drive + forest.impulses;
  }
  w.rhs = w.v_E - s.v;
  forest.mass.multiply(w.rhs, w.drive);
  w.drive -= w.impulse;
  for (int i = 0; i < m.nv; ++i) {
    w.drive[i] = m.prescribed[i] ? w.drive[i] / o.dt : 0;
    e.prescribed += o.dt * w.drive[i] * 0.5 * (s.v[i] + w.v_E[i]);
  }
}

void Stepper::external_work(EnergyTerms& e) {
  if (!act.user && act.pushes.empty()) return;
  w.rhs = 0.5 * (w.v_S + w.v_E);
  e.external += o.dt * w.tau_user.dot(w.rhs);
  mech.publish(w.rhs);
  for (int i = 0; i < m.body_count(); ++i) e.external += o.dt * w.work.external[i].dot(w.work.V[i]);
}

void Stepper::mechanical_energy(EnergyTerms& e) {
  e.kinetic = mech.kinetic_energy(s.v);
  e.potential = potential_energy(m, act, s, w.work);
  spring_lengths(m, w.work, w.elements.length_end);
}

const Contact* find_contact(const std::vector<Contact>& sorted, const ContactKey& key) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), key,
                                   [](const Contact& x, const ContactKey& k) { return x.key < k; });
  return at != sorted.end() && at->key == key ? &*at : nullptr;
}

// A loaded contact stays active until its impulse vanishes; but one that the correction could not
// close is open, whatever it carried: of more contacts than freedom some impulses never vanish.
void Stepper::let_go() {
  for (int i = 0; i < w.projection.islands.count(); ++i)  // a heap is corrected a part a step
    if (w.projection.problems[i].route == Route::sparse) return;
  const std::vector<Contact>& found = w.projection.assembly.contacts;  // at the end
  const double open = 1e-5 * m.length_scale;
  std::erase_if(s.contacts, [&](const ContactImpulse& c) {
    if (m.has_compliant && compliant_law(m, c.key)) return false;  // open at a mid-point, it goes
    const Contact* at = find_contact(found, c.key);
    return !at || at->point.gap > open;
  });
}

void Stepper::finish(StepReport& report) {  // q_E = q_M (+) dt/2 v_E, corrected
  EnergyTerms& e = report.energy;
  block_work(report);
  if (m.has_compliant) compliant_work(e);
  joint_work(e);
  drive_work(e);
  external_work(e);
  if (report.struck) {
    attenuate_velocity(e);
    record_impact(e);
  }
  s.q = w.q_M;
  s.v = w.v_E;
  s.t = t.E;
  advance(m, s.q, s.v, 0.5 * o.dt);
  place_prescribed(s.q, t.E);
  for (const Prescribed& p : act.prescribed) w.projection.target[p.coordinate] = value(p.r, t.E);
  mech.place(s.q, s.v);
  update_turns(m, w.work, s.q, w.values_start, s.turns);
  mechanical_energy(e);
  const double before = e.total();
  report.projection =
      project(m, o.projection, s.q, s.v, s.turns, w.work, mech, w.finder, w.projection);
  let_go();
  if (report.projection.iterations > 0) {
    mechanical_energy(e);
    e.correction = e.total() - before;
  }
  if (m.has_compliant) e.potential += stored_energy();
  report.sinking = w.compliant.sinking;
  e.muscles = muscle_work(m, act, t.S, t.E, w.elements);
  w.elements.length = w.elements.length_end;
  e.integrator = e.total() - w.energy.value - e.work_without_integrator();
  if (o.poses) mech.publish(s.v);
  w.energy.value = e.total();
  w.energy.t = s.t;
  w.energy.q = s.q;
  w.energy.v = s.v;
  w.energy.turns = s.turns;
  ++s.step;
}

}  // namespace saltus
