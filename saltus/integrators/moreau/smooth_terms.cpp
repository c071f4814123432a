// The smooth part of a step: the mid-point, joint terms, and the velocity without impulses.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

void Stepper::place_prescribed(VecRef q, double at) const {
  saltus::place_prescribed(m, act, at, q);
}

// Rates of the cut joints, of runners and of prescribed cut coordinates at q_S.
void Stepper::start_rates() {
  for (const BlockSlot& slot : m.slots) {
    const int runner = runner_of(slot);
    start_rate(m, out.work, slot, runner >= 0 ? steering_angle(act, runner, t.S) : 0,
               out.assembly.rate_start.segment(slot.row, slot.rows));
  }
  for (const Prescribed& p : act.prescribed)
    w.terms[p.coordinate].rate_start = coordinate_rate(m, out.work, s.v, p.coordinate);
}

// q_M leaves a loop open by O(dt^2). Rows that depend on each other only where the loop is
// closed (Bricard's) would then pass for independent and lock the mechanism.
void Stepper::close_loops() {
  for (const Prescribed& p : act.prescribed) w.projection.target[p.coordinate] = value(p.r, t.M);
  (void)close_joints(m, w.q_W, s.v, s.turns, out.work, mech, w.finder, w.projection);
}

void Stepper::start() {  // q_M = q_S (+) dt/2 v_S
  w.v_S = s.v;
  w.q_S = s.q;
  if (!m.rods.empty()) rod_blocks();
  if (m.touches > 0) put_touches(m, s.touches, out.work);
  const bool known = out.end.is_of(s);
  if (!known || !m.cuts.empty() || !m.runners.empty() || !m.wheels.empty()) {
    mech.place(s.q, s.v);
    for (int c = 0; c < coordinate_count(); ++c)
      w.values_start[c] = coordinate_value(m, out.work, s.q, s.turns, CoordinateIndex(c));
    if (!known) {
      out.end.net.resize(w.books.net.size());
      net_momenta(out.end.net);
      out.end.kinetic = mech.kinetic_energy(s.v);
      out.end.value = out.end.kinetic + (potential_energy(m, act, s, out.work) + stored_energy());
    }
    spring_lengths(m, out.work, w.elements.length);
    start_rates();
  } else {
    w.elements.length = out.end.lengths;
  }
  w.q_M = s.q;
  advance(m, w.q_M, s.v, 0.5 * o.dt);
  place_prescribed(w.q_M, t.M);
  w.q_W = w.q_M;
  mech.place(w.q_W, s.v);
  if (m.has_loops) close_loops();
  start_fluids();
}

void Stepper::read_motors() {
  const double at = o.motors == MotorScheme::midpoint ? t.M
                    : o.motors == MotorScheme::end    ? t.E
                                                      : t.S;
  const int memory = memory_of(act);
  if (s.memory.size() < memory) s.memory.conservativeResizeLike(Vec::Zero(memory));
  for (MotorCommand& c : w.commands) c = MotorCommand{};
  int next = 0;
  for (std::size_t i = 0; i < act.motors.size(); ++i) {
    const Motor& a = act.motors[i];
    MotorCommand& c = w.commands[a.coordinate];
    c.motor = static_cast<int>(i);
    c.kp = a.kp;
    c.kd = a.kd;
    c.reference = value(a.reference, at);
    c.rate = a.servo == Servo::velocity ? c.reference : a.kd != 0 ? rate(a.reference, at) : 0;
    c.torque = a.gear * value(a.torque, t.M);
    c.backlash = a.backlash;
    c.lag = a.lag;
    if (a.lag == 0) continue;
    c.memory = next++;
    c.lagged = s.memory[c.memory];
  }
  add_controllers(next);
}

// Their torques, held from tick to tick; their memory is behind that of the motors.
void Stepper::add_controllers(int memory) {
  if (w.controllers.size() < act.controllers.size()) w.controllers.resize(act.controllers.size());
  for (std::size_t i = 0; i < act.controllers.size(); ++i) {
    const Controller& c = *act.controllers[i];
    const double* torque = control(m, c, s, s.memory.data() + memory, w.controllers[i]);
    for (const CoordinateIndex k : c.coordinates()) w.commands[k].torque += *torque++;
    memory += memory_of(c);
  }
}

// An explicit impulse along a cut coordinate, as wrenches on its two bodies.
void Stepper::add_impulse(int c, double impulse) {
  const CoordinateRow r = coordinate_row(m, out.work, CoordinateIndex(c));
  const auto on = [&](int body, double sign) {
    if (body < 0) return;
    const Vec3 f = sign * impulse * r.wrench.head<3>();
    w.wrenches[body] += join(f, sign * impulse * r.wrench.tail<3>() - out.work.X[body].r.cross(f));
  };
  on(r.child, 1);
  on(r.parent, -1);
}

// Impedances of all coordinates; those of the tree go to the diagonal (load_gains), those of cuts
// become blocks, and what is explicit is an impulse. A motor with a torque limit is taken to stay
// below it, on the diagonal too, unless it was at its limit in the last step: then it is a block.
void Stepper::joint_terms() {
  read_motors();
  w.cut_impulses = false;
  if (!m.cuts.empty() || m.has_elements() || m.has_compliant)
    std::fill(w.wrenches.begin(), w.wrenches.end(), Vec6::Zero());
  for (int c = 0; c < coordinate_count(); ++c) {
    CoordinateTerms& k = w.terms[c];
    const Coordinate& coordinate = m.coordinates[c];
    k.value = coordinate_value(m, out.work, w.q_M, s.turns, CoordinateIndex(c));
    if (coordinate.cut.valid() && coordinate.rotational)  // turns count at the start of the step
      k.value -=
          2 * std::numbers::pi * std::round((k.value - w.values_start[c]) / (2 * std::numbers::pi));
    k.rate = coordinate_rate(m, out.work, s.v, CoordinateIndex(c));
    w.passive[c] = passive_impedance(coordinate, k.value, k.rate, o.dt);
    MotorCommand& command = w.commands[c];
    if (command.motor >= 0) command.range = torque_range(act.motors[command.motor], k.rate);
    w.motor[c] = motor_terms(command, o.motors, k.value, k.rate, o.dt);
    k.linear = w.passive[c];
    k.linear.start += w.motor[c].linear.start;
    k.linear.gain += w.motor[c].linear.gain;
    k.limited = w.motor[c].limited;
    k.within = false;
    if (coordinate.dof.prescribed) continue;
    if (coordinate.v_index >= 0) {
      k.within =
          k.limited.gain > 0 && s.mode[m.motor_slot[c]] != static_cast<unsigned char>(Mode::slip);
    } else if (k.linear.gain == 0 && k.linear.start != 0) {
      add_impulse(c, k.linear.start);
      w.cut_impulses = true;
    }
  }
  for (const Prescribed& p : act.prescribed) w.terms[p.coordinate].prescribed_rate = rate(p.r, t.E);
  if (m.has_elements()) element_terms();
}

// Gains and impulses at the start velocity of the tree's coordinates.
void Stepper::load_gains() {
  w.extra.setZero();
  w.start_impulse.setZero();
  for (int c = 0; c < coordinate_count(); ++c) {
    const Coordinate& coordinate = m.coordinates[c];
    const CoordinateTerms& k = w.terms[c];
    const int v = coordinate.v_index;
    if (v < 0 || coordinate.dof.prescribed) continue;
    w.extra[v] += k.linear.gain;
    w.start_impulse[v] += k.linear.start;
    if (!k.within) continue;
    w.extra[v] += k.limited.gain;
    w.start_impulse[v] += k.limited.start;
  }
  if (!m.rods.empty()) rod_terms();
}

void Stepper::element_terms() {
  for (int i = 0; i < static_cast<int>(m.runners.size()); ++i)
    out.assembly.steering[i] = steering_angle(act, i, t.M);
  for (const CableDrive& d : act.cables) {
    CableRow& row = out.assembly.cables[d.cable];
    if (d.length) row.natural = mean(*d.length, t.S, t.E);
    row.pull = mean(d.pull, t.S, t.E);
  }
  element_impulses(m, act, t.S, t.E, out.work, w.elements, w.wrenches);
  w.cut_impulses = true;
}

// Explicit impulses of cut coordinates, springs and drags, in the velocities; needs the forest.
void Stepper::cut_impulses() {
  if (!w.cut_impulses) return;
  mech.forest().mass.gather(w.wrenches, w.gathered);
  w.start_impulse += w.gathered;
}

void Stepper::user_forces() {
  w.tau_user.setZero();
  for (Vec6& f : out.work.external) f.setZero();
  if (!act.user && act.pushes.empty()) return;
  mech.publish(s.v);
  if (!act.pushes.empty()) add_pushes(act.pushes, t.S, t.E, out.work, out.work.external);
  if (act.user) act.user(m, out.work, t.M, w.q_M, s.v, w.tau_user, out.work.external);
}

// v_free for the bias at the mean velocity v_mean: M' (v_free - v_S) = impulses.
void Stepper::free_velocity(VecIn v_mean) {
  mech.bias(v_mean, out.work.tau_bias);
  w.impulse = w.start_impulse + o.dt * (w.tau_user - out.work.tau_bias);
  add_fluids(v_mean, w.impulse);
  w.rhs = w.impulse;
  if (m.any_prescribed) {
    w.rate_jump = s.v;
    prescribe_rates(m, act, t.E, w.rate_jump);
    w.rate_jump -= s.v;
    mech.forest().mass.multiply(w.rate_jump, w.v_free);
    w.rhs -= w.v_free;
  }
  mech.solve(w.rhs, w.v_free);
  w.v_free += s.v;
  if (m.any_prescribed) w.v_free += w.rate_jump;
}

// The blocks that may act, and what the mechanics needs of their rows.
void Stepper::open_rows() {
  mech.twists(s.v, w.twists_S);
  assemble(m, s, w.terms, o.dt, out.work, w.twists_S, out.assembly);
  mech.open_rows(out.assembly);
}

// The quadratic terms belong to the mean velocity (v_S + v_E)/2, and v_E depends on them: a fixed
// point that contracts by O(dt |v|). It begins where the last step's increment leads.
void Stepper::guess_mean() {
  mech.load_bias();
  w.mean = s.v;
  if (m.quadratic_terms) w.mean += 0.5 * s.increment;
  free_velocity(w.mean);
  w.mean_rounds = 0;
  w.contraction = 0;
}

namespace {

// The fixed point is left where what its rate promises next is below this share of the velocities.
// Without rows, and of joints and elastic cables alone, rounding: it shows in the energy of a body
// that tumbles for long, and in the momentum of one that cables move from within. With contacts the
// guess is off by O(dt^2) where motion is smooth, which the terms make O(dt^3): it is a jump of the
// velocities that asks for more.
constexpr double settled_free = 1e-16, settled_joints = 1e-15, settled_contacts = 1e-6;
constexpr int most_mean_rounds = 12;

double settled_share(const Assembly& rows) {
  if (rows.rows == 0) return settled_free;
  for (std::size_t i = 0; i < rows.blocks.size(); ++i)
    if (!rows.source[i].elastic && !std::holds_alternative<Bilateral>(rows.blocks[i].law))
      return settled_contacts;
  return settled_joints;
}

// By how much the fixed point may contract, before anything was found of it: a change of the mean
// velocity comes back as dt M^-1 (d bias/dv), about dt times the fastest turn, its own included,
// times what lever arms make of it, which is more where a tree is long. On scenes of quadrupeds and
// of a snake with 24 velocities it was 2.5 dt |w| at most.
constexpr double lever_arms = 10;
constexpr int longest_tree = 40;  // velocities

double expected_contraction(const Model& m, VecIn v, double change, double dt) {
  if (m.has_stations) return 1;  // whose velocities are no turns
  for (std::size_t t = 0; t + 1 < m.tree_v.size(); ++t)
    if (m.tree_v[t + 1] - m.tree_v[t] > longest_tree) return 1;
  double turn = 0;
  for (int k = 0; k < m.nv; ++k)
    if (m.rotational[k]) turn = std::max(turn, std::abs(v[k]));
  return std::min(1.0, lever_arms * dt * (turn + change));
}

}  // namespace

// Whether v_E is that of its own mean velocity. If not, v_free is that of a better one, with
// Anderson's acceleration over the last two rounds.
bool Stepper::mean_found(StepReport& report) {
  if (!m.quadratic_terms) return true;
  w.image = 0.5 * (s.v + w.v_E);
  w.missing = w.image - w.mean;
  const double change = w.missing.lpNorm<Eigen::Infinity>();
  const double share = settled_share(out.assembly);
  const bool rounding = share < settled_contacts;
  const double enough = share * (1 + s.v.lpNorm<Eigen::Infinity>());
  if (change == 0) return true;
  if (w.mean_rounds == 0 && !rounding &&
      !(expected_contraction(m, w.mean, change, o.dt) * change > enough))
    return true;
  if (w.mean_rounds > 0) {
    if (!(w.contraction * change > enough)) return true;
    // Changes that no longer shrink are rounding, which on a chain of a thousand links is a
    // thousand times that of one, or a step too long for its speeds.
    if (!(change < 0.9 * w.mean_change) || w.mean_rounds == most_mean_rounds) {
      report.mean_missed = w.contraction * change;
      return true;
    }
  }
  w.change = w.image - w.mean;
  if (w.mean_rounds > 0) {
    w.missing_change = w.missing - w.missing_before;
    w.change -= (w.missing.dot(w.missing_change) / w.missing_change.squaredNorm()) *
                (w.image - w.image_before);
  }
  w.mean += w.change;
  w.v_before = w.v_free;
  free_velocity(w.mean);
  w.contraction =
      (w.v_free - w.v_before).lpNorm<Eigen::Infinity>() / (2 * w.change.lpNorm<Eigen::Infinity>());
  ++w.mean_rounds;
  if (!(w.contraction * change > enough)) {  // v_E is good as it is
    w.v_free = w.v_before;
    return true;
  }
  w.mean_change = change;
  w.image_before.swap(w.image);
  w.missing_before.swap(w.missing);
  return false;
}

}  // namespace saltus
