// The end of a step: the energy ledger, q_E and its correction.
#include <algorithm>

#include "saltus/contact/cables.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

// Work of every block over the step: Lambda . (gamma_S + gamma_E)/2 is exactly its share of the
// change of v' M(q_M) v / 2. What contacts, limits and dry friction gain together is the scheme's.
void Stepper::block_work(StepReport& report) {
  EnergyTerms& e = report.energy;
  const Assembly& p = out.assembly;
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
      mean = 0.5 * (p.gamma_S[r] + p.rate(r, from, w.twists_E, w.v_E));
      const double one = (p.Lambda[r] + explicit_part) * mean;
      if (i < 3) work[i] = one;
      sum += one;
      belt -= p.Lambda[r] * p.drift[r];
    }
    switch (account_of(m, from)) {
      case Account::none: break;  // impedances: joint_work
      case Account::contact:
        laws.contacts += work[0];
        laws.friction += sum - work[0] - belt;  // Lambda_T . slip: what is lost
        e.prescribed += belt;                   // and what the drive of the surface gives
        break;
      case Account::friction: laws.friction += sum; break;
      case Account::dry:
      case Account::limit: laws.joints += sum; break;
      case Account::joint: e.joints += sum; break;
      case Account::cut:
        e.joints += sum;
        report.cut_work += sum;
        break;
      case Account::one_way: (p.Lambda[k.row] < 0 ? e.friction : e.contacts) += sum; break;
      case Account::drive: e.prescribed += sum; break;
      case Account::motor: e.motors += sum; break;
      case Account::spring:
        e.dampers += damper_work(m, m.slots[from.slot], o.dt, mean, w.elements);
        break;
      case Account::damper: e.dampers += sum; break;
      case Account::cable: {
        const int cable = m.slots[from.slot].index;
        e.dampers += damper_work(m.cables[cable], p.cables[cable], o.dt, p.Lambda[k.row],
                                 p.gamma_S[k.row], mean);
        break;
      }
    }
  }
  enter(laws, gaining_impact(), e);
}

// Rate of a cut coordinate at the end velocity, rows at the mid-point.
double Stepper::cut_rate(int c) const {
  const CoordinateRow r = coordinate_row(m, out.work, CoordinateIndex(c));
  const auto part = [&](int body) {
    if (body < 0) return 0.0;
    const Vec3 f = r.wrench.head<3>();
    return join(f, r.wrench.tail<3>() - out.work.X[body].r.cross(f)).dot(w.twists_E[body]);
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
    out.motor_force[c] = 0;
    if (k.dof.prescribed) continue;
    e.dampers -= o.dt * k.dof.damping * mean * mean;
    const Impedance& z = w.motor[c].linear;
    const double linear = z.start - z.gain * (rate_E - rate_S);
    e.motors += linear * mean;  // that of the limited part is its block's
    if (w.terms[c].within) e.motors += limited_impulse(c) * mean;
    const bool limited = w.terms[c].limited.gain > 0;
    const double impulse = linear + (limited ? s.Lambda[m.slots[m.motor_slot[c]].row] : 0);
    out.motor_force[c] = impulse / o.dt;
    const MotorCommand& command = w.commands[c];
    if (command.memory >= 0) s.memory[command.memory] = lagged_torque(command, impulse, o.dt);
  }
}

// Force of prescribed tree coordinates: what M dv = impulses + W Lambda + drive dt lacks.
void Stepper::drive_work(EnergyTerms& e) {
  if (!m.any_prescribed) return;
  ForestStorage& forest = mech.forest();  // which holds what end_velocity applied
  w.applied = w.impulse;
  if (out.assembly.rows > 0) {
    forest.mass.gather(forest.wrenches, w.gathered);
    w.applied += w.gathered + forest.impulses;
  }
  w.increment = w.v_E - s.v;
  forest.mass.multiply(w.increment, out.drive);
  out.drive -= w.applied;
  for (int i = 0; i < m.nv; ++i) {
    out.drive[i] = m.prescribed[i] ? out.drive[i] / o.dt : 0;
    e.prescribed += o.dt * out.drive[i] * 0.5 * (s.v[i] + w.v_E[i]);
  }
}

void Stepper::external_work(EnergyTerms& e) {
  if (!act.user && act.pushes.empty()) return;
  w.v_mean = 0.5 * (w.v_S + w.v_E);
  e.external += o.dt * w.tau_user.dot(w.v_mean);
  mech.publish(w.v_mean);
  for (int i = 0; i < m.body_count(); ++i)
    e.external += o.dt * out.work.external[i].dot(out.work.V[i]);
}

void Stepper::mechanical_energy(EnergyTerms& e) {
  e.kinetic = mech.kinetic_energy(s.v);
  e.potential = potential_energy(m, act, s, out.work);
  spring_lengths(m, out.work, w.elements.length_end);
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

// After an impact, with cuts, or before one; returns what it loses.
double Stepper::settle_joints() {
  const double before = mech.kinetic_energy(s.v);
  still_joints(m, s.q, s.v, s.turns, out.work, mech, w.finder, w.settled_twists, w.projection);
  return mech.kinetic_energy(s.v) - before;
}

namespace {

// A change of the kinetic energy by the correction, as a share of what moves, from which on
// velocities are carried along: far below what the bound of an episode notices.
constexpr double carried_share = 0.01 * energy_bound;

// What a body keeps when the correction moves it: the inertial velocity of its centre of mass and
// its own turn, and so its kinetic energy; with added mass, whose axes turn along, its twist.
bool is_rigid(const Body& b) { return b.inertia == spatial_inertia(b.rigid); }

Vec6 kept_of(const Body& b, const SE3& X, const Vec6& V) {
  if (!is_rigid(b)) return V;
  const Vec3 w = V.tail<3>();
  return join(X.R * (V.head<3>() + w.cross(b.rigid.com)), w);
}

Vec6 twist_of(const Body& b, const SE3& X, const Vec6& kept) {
  if (!is_rigid(b)) return kept;
  const Vec3 w = kept.tail<3>();
  return join(X.R.transpose() * kept.head<3>() - w.cross(b.rigid.com), w);
}

// The correction moves joints and leaves their rates: what lies beyond a joint then moves otherwise
// than before, by its length times the turn. Instead the bodies go on as they did, as nearly as
// their joints let them in the metric of M(q_E), which can only lose.
void carry_velocity(Stepper& k, const StepReport& report) {
  const Model& m = k.m;
  StepScratch& w = k.w;
  const Workspace& at = k.out.work;
  k.mech.place(w.books.q, k.s.v);
  k.mech.publish(k.s.v);
  for (int i = 0; i < m.body_count(); ++i)
    w.slowed_twists[i] = kept_of(m.bodies[i], at.X[i], at.V[i]);
  k.mech.place(k.s.q, k.s.v);
  k.mech.publish(k.s.v);
  for (int i = 0; i < m.body_count(); ++i) {
    const Body& b = m.bodies[i];
    w.wrenches[i] = b.inertia * (twist_of(b, at.X[i], w.slowed_twists[i]) - at.V[i]);
  }
  w.rhs.setZero();
  for (int i = m.body_count() - 1; i >= 0; --i) {  // towards the roots
    const Body& b = m.bodies[i];
    for (int c = 0; c < b.nv; ++c) w.rhs[b.v0 + c] += at.S.col(b.s0 + c).dot(w.wrenches[i]);
    if (b.parent.valid())
      w.wrenches[b.parent] += wrench_to_parent(at.X[b.parent].inverse() * at.X[i], w.wrenches[i]);
  }
  for (int i = 0; i < m.nv; ++i)
    if (m.prescribed[i]) w.rhs[i] = 0;
  int culprit = -1;
  if (!k.mech.factor(w.projection.zero, culprit)) return;
  k.mech.solve(w.rhs, w.increment);
  k.s.v += w.increment;
  k.mech.place(k.s.q, k.s.v);
  k.find_held(report);
  k.restore_momentum();
}

}  // namespace

void Stepper::finish(StepReport& report) {  // q_E = q_M (+) dt/2 v_E, corrected
  EnergyTerms& e = report.energy;
  block_work(report);
  if (m.has_compliant) compliant_work(e);
  joint_work(e);
  if (!m.rods.empty()) rod_work(e);
  drive_work(e);
  external_work(e);
  fluid_work(e);
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
  keep_momentum(report);
  update_turns(m, out.work, s.q, w.values_start, s.turns);
  if (report.struck && !m.cuts.empty() && o.projection == Projection::mass) {
    const double lost = settle_joints();
    e.joints += lost;
    report.cut_work += lost;
  }
  mechanical_energy(e);
  const double before = e.total(), kinetic = e.kinetic;
  w.books.q = s.q;
  const StepRows rows{out.assembly, out.islands, out.problems};
  report.projection =
      project(m, o.projection, s.q, s.v, s.turns, out.work, mech, w.finder, w.projection, &rows);
  let_go();
  if (report.projection.iterations > 0) {
    mechanical_energy(e);
    const double moved = s.books.episode.scale() + e.kinetic;
    // Not of rods: it made a drop gain more than the bound (tools/random_rods.py, seed 21).
    if (o.projection == Projection::mass && m.rods.empty() &&
        std::abs(e.kinetic - kinetic) > carried_share * moved) {
      carry_velocity(*this, report);
      mechanical_energy(e);
    }
    e.correction = e.total() - before;
    // What contacts do at the level of velocities and of positions is one work, and may not gain. A
    // contact that goes on loses by its approach in the step, Lambda gamma_S/2, just what lifting
    // it back gives: only what is beyond that is the correction's own.
    const double laws = e.contacts + e.friction + e.joints - report.cut_work;
    const double undone = std::clamp(e.correction, 0.0, std::max(0.0, -std::max(e.contacts, laws)));
    e.contacts += undone;
    e.correction -= undone;
  }
  if (m.has_compliant) e.potential += stored_energy();
  report.sinking = w.compliant.sinking;
  e.muscles += muscle_work(m, act, t.S, t.E, w.elements);
  e.integrator = e.total() - out.end.value - e.work_without_integrator();
  settle_books(report);
  s.increment = s.v - w.v_S;
  if (o.poses) mech.publish(s.v);
  if (w.books.parts.any_given) net_momenta(out.end.net);
  out.end.value = e.total();
  out.end.kinetic = e.kinetic;
  out.end.lengths = w.elements.length_end;
  out.end.t = s.t;
  out.end.q = s.q;
  out.end.v = s.v;
  out.end.turns = s.turns;
  ++s.step;
}

}  // namespace saltus
