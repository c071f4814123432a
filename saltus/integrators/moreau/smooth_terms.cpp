// The smooth part of a step: the mid-point, joint terms, and the velocity without impulses.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

void Stepper::place_prescribed(VecRef q, double at) const {
  for (const Prescribed& p : act.prescribed)
    if (const int i = m.coordinates[p.coordinate].q_index; i >= 0) q[i] = value(p.r, at);
}

// Rates of the cut joints and of prescribed cut coordinates at q_S.
void Stepper::start_rates() {
  for (const BlockSlot& slot : m.slots) {
    auto rate = w.assembly.rate_start.segment(slot.row, slot.rows);
    if (slot.kind == BlockKind::cut_translation)
      cut_translation_rate(m, w.work, m.cuts[slot.index], rate);
    else if (slot.kind == BlockKind::cut_rotation)
      cut_rotation_rate(m, w.work, m.cuts[slot.index], rate);
    else
      break;  // cuts come first
  }
  runner_rates(m, act, t.S, w.work, w.assembly.rate_start);
  for (const Prescribed& p : act.prescribed)
    w.terms[p.coordinate].rate_start = coordinate_rate(m, w.work, s.v, p.coordinate);
}

// q_M leaves a loop open by O(dt^2). Rows that depend on each other only where the loop is
// closed (Bricard's) would then pass for independent and lock the mechanism.
void Stepper::close_loops() {
  for (const Prescribed& p : act.prescribed) w.projection.target[p.coordinate] = value(p.r, t.M);
  (void)close_joints(m, w.q_W, s.v, s.turns, w.work, mech, w.finder, w.projection);
}

void Stepper::start() {  // q_M = q_S (+) dt/2 v_S
  w.v_S = s.v;
  const bool known = w.energy.is_of(s);
  if (!known || !m.cuts.empty() || !m.runners.empty()) {
    mech.place(s.q, s.v);
    for (int c = 0; c < coordinate_count(); ++c)
      w.values_start[c] = coordinate_value(m, w.work, s.q, s.turns, CoordinateIndex(c));
    if (!known)
      w.energy.value =
          mech.kinetic_energy(s.v) + (potential_energy(m, act, s, w.work) + stored_energy());
    spring_lengths(m, w.work, w.elements.length);
    start_rates();
  }
  w.q_M = s.q;
  advance(m, w.q_M, s.v, 0.5 * o.dt);
  place_prescribed(w.q_M, t.M);
  w.q_W = w.q_M;
  mech.place(w.q_W, s.v);
  if (m.has_loops) close_loops();
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
  if (act.locomotion) control_legs(next);
}

// The controller's torques, held from tick to tick; its memory is behind that of the motors.
void Stepper::control_legs(int memory) {
  const Locomotion& l = *act.locomotion;
  double* own = s.memory.data() + memory;
  control(m, l, s, own, w.locomotion);
  for (int i = 0; i < leg_count; ++i)
    for (std::size_t j = 0; j < l.robot.legs[i].joints.size(); ++j)
      w.commands[l.robot.legs[i].joints[j]].torque += held_torque(l, own, i, static_cast<int>(j));
}

// An explicit impulse along a cut coordinate, as wrenches on its two bodies.
void Stepper::add_impulse(int c, double impulse) {
  const CoordinateRow r = coordinate_row(m, w.work, CoordinateIndex(c));
  const auto on = [&](int body, double sign) {
    if (body < 0) return;
    const Vec3 f = sign * impulse * r.wrench.head<3>();
    w.wrenches[body] += join(f, sign * impulse * r.wrench.tail<3>() - w.work.X[body].r.cross(f));
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
    k.value = coordinate_value(m, w.work, w.q_M, s.turns, CoordinateIndex(c));
    if (coordinate.cut.valid() && coordinate.rotational)  // turns count at the start of the step
      k.value -=
          2 * std::numbers::pi * std::round((k.value - w.values_start[c]) / (2 * std::numbers::pi));
    k.rate = coordinate_rate(m, w.work, s.v, CoordinateIndex(c));
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
}

void Stepper::element_terms() {
  for (int i = 0; i < static_cast<int>(m.runners.size()); ++i)
    w.assembly.steering[i] = steering_angle(act, i, t.M);
  element_impulses(m, act, t.S, t.E, w.work, w.elements, w.wrenches);
  w.cut_impulses = true;
}

// Explicit impulses of cut coordinates, springs and drags, in the velocities; needs the forest.
void Stepper::cut_impulses() {
  if (!w.cut_impulses) return;
  mech.forest().mass.gather(w.wrenches, w.rhs);
  w.start_impulse += w.rhs;
}

void Stepper::user_forces() {
  w.tau_user.setZero();
  for (Vec6& f : w.work.external) f.setZero();
  if (!act.user && act.pushes.empty()) return;
  mech.publish(s.v);
  if (!act.pushes.empty()) add_pushes(act.pushes, t.S, t.E, w.work, w.work.external);
  if (act.user) act.user(m, w.work, t.M, w.q_M, s.v, w.tau_user, w.work.external);
}

// v_free for the bias at the mean velocity v_mean: M' (v_free - v_S) = impulses.
void Stepper::free_velocity(VecIn v_mean) {
  mech.bias(v_mean, w.work.tau_bias);
  w.impulse = w.start_impulse + o.dt * (w.tau_user - w.work.tau_bias);
  w.rhs = w.impulse;
  if (m.any_prescribed) {
    w.drive.setZero();  // increments of prescribed rates, for now
    for (const Prescribed& p : act.prescribed)
      if (const int i = m.coordinates[p.coordinate].v_index; i >= 0)
        w.drive[i] = rate(p.r, t.E) - s.v[i];
    mech.forest().mass.multiply(w.drive, w.v_free);
    w.rhs -= w.v_free;
  }
  mech.solve(w.rhs, w.v_free);
  w.v_free += s.v;
  if (m.any_prescribed) w.v_free += w.drive;
}

// The fixed point has been reached, or the changes no longer shrink: rounding, which on a chain
// of a thousand links is a thousand times that of one.
bool Stepper::settled(double tolerance, double& last) const {
  const double change = (w.v_free - w.v_before).lpNorm<Eigen::Infinity>();
  const bool done =
      !(change > tolerance * (1 + w.v_free.lpNorm<Eigen::Infinity>())) || !(change < 0.9 * last);
  last = change;
  return done;
}

// The blocks that may act, and what the mechanics needs of their rows.
void Stepper::open_rows() {
  mech.twists(s.v, w.twists);
  assemble(m, s, w.terms, o.dt, w.work, w.twists, w.assembly);
  mech.open_rows(w.assembly);
}

namespace {

// The fixed point is left where the change that its rate promises next is below this share of the
// velocities: rounding, or it shows in the energy of a body that tumbles for long.
constexpr double settled_change = 1e-16;
constexpr int most_smooth_rounds = 12;

}  // namespace

// The implicit mid-point of the smooth terms, mean = (v_S + v_free(mean))/2: a fixed point that
// contracts by O(dt |v|), with Anderson's acceleration over the last two rounds. It starts from the
// impulses of the last step: without them the body would fall and its legs stretch about as if they
// were taken away.
void Stepper::smooth_velocity() {
  mech.load_bias();
  w.mean = s.v;
  if (w.assembly.rows > 0 && m.quadratic_terms) {
    mech.respond(w.assembly, w.change);
    if (w.change.allFinite()) w.mean -= 0.5 * w.change;
  }
  const double enough = settled_change * (1 + s.v.lpNorm<Eigen::Infinity>());
  double last = infinity;
  for (int i = 0; i < most_smooth_rounds; ++i) {
    free_velocity(w.mean);
    if (!m.quadratic_terms) return;
    w.image = 0.5 * (s.v + w.v_free);
    w.missing = w.image - w.mean;
    const double change = w.missing.lpNorm<Eigen::Infinity>();
    // Of a contraction by the rate change/last, change^2/last is what comes next. Changes that no
    // longer shrink are rounding, which on a chain of a thousand links is a thousand times that of
    // one.
    const bool next_is_small = i > 0 && !(change * change > enough * last);
    if (change == 0 || next_is_small || !(change < 0.9 * last)) return;
    w.mean = w.image;
    if (i > 0) {
      w.change = w.missing - w.missing_before;
      w.mean -= (w.missing.dot(w.change) / w.change.squaredNorm()) * (w.image - w.image_before);
    }
    last = change;
    w.image_before.swap(w.image);
    w.missing_before.swap(w.missing);
  }
}

}  // namespace saltus
