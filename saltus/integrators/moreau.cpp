#include "saltus/integrators/moreau.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/solvers/condense.h"

namespace saltus {

StepWorkspace::StepWorkspace(const Model& model)
    : work(model), assembly(model), impact(model), projection(model) {
  const auto n = static_cast<Eigen::Index>(model.coordinates.size());
  solver.reserve(model.lambda_rows, static_cast<int>(model.slots.size()), model.nv);
  terms.resize(n);
  commands.resize(n);
  passive.resize(n);
  motor.resize(n);
  values_start.setZero(n);
  motor_force.setZero(n);
  q_M.setZero(model.nq);
  q_W.setZero(model.nq);
  for (Vec* x :
       {&v_S, &v_E, &v_free, &v_before, &extra, &impulse, &start_impulse, &tau_user, &rhs, &drive})
    x->setZero(model.nv);
}

namespace {

struct Instants {
  double S, M, E;
};

struct Stepper {
  const Model& m;
  const Actuation& act;
  State& s;
  StepWorkspace& w;
  const MoreauMidpoint& o;
  Instants t;

  [[nodiscard]] int coordinate_count() const { return static_cast<int>(m.coordinates.size()); }

  void place_prescribed(VecRef q, double at) const {
    for (const Prescribed& p : act.prescribed)
      if (const int i = m.coordinates[p.coordinate].q_index; i >= 0) q[i] = value(p.r, at);
  }

  // Rates of the cut joints and of prescribed cut coordinates at q_S.
  void start_rates() {
    for (const BlockSlot& slot : m.slots) {
      auto rate = w.assembly.rate_start.segment(slot.row, slot.rows);
      if (slot.kind == BlockKind::cut_translation)
        cut_translation_rate(m, w.work, m.cuts[slot.index], rate);
      else if (slot.kind == BlockKind::cut_rotation)
        cut_rotation_rate(m, w.work, m.cuts[slot.index], rate);
      else
        break;  // cuts come first
    }
    for (const Prescribed& p : act.prescribed)
      w.terms[p.coordinate].rate_start = coordinate_rate(m, w.work, s.v, p.coordinate);
  }

  // q_M leaves a loop open by O(dt^2). Rows that depend on each other only where the loop is
  // closed (Bricard's) would then pass for independent and lock the mechanism.
  void close_loops() {
    for (const Prescribed& p : act.prescribed) w.projection.target[p.coordinate] = value(p.r, t.M);
    (void)close_joints(m, w.q_W, s.v, s.turns, w.work, w.projection);
  }

  void start() {  // q_M = q_S (+) dt/2 v_S
    w.v_S = s.v;
    if (!w.energy_known || (!m.cuts.empty())) {
      forward_kinematics(m, s.q, s.v, w.work);
      for (int c = 0; c < coordinate_count(); ++c)
        w.values_start[c] = coordinate_value(m, w.work, s.q, s.turns, CoordinateIndex(c));
      if (!w.energy_known)
        w.energy = kinetic_energy(m, s.v, w.work) + potential_energy(m, s.q, s.turns, w.work);
      start_rates();
    }
    w.q_M = s.q;
    advance(m, w.q_M, s.v, 0.5 * o.dt);
    place_prescribed(w.q_M, t.M);
    w.q_W = w.q_M;
    forward_kinematics(m, w.q_W, s.v, w.work);
    if (m.has_loops) close_loops();
    world_columns(m, w.work);
    crba(m, w.work);
  }

  void read_motors() {
    for (MotorCommand& c : w.commands) c = MotorCommand{};
    for (const Motor& a : act.motors) {
      MotorCommand& c = w.commands[a.coordinate];
      c.kp = a.kp;
      c.kd = a.kd;
      const double at[3] = {t.S, t.M, t.E};
      for (int i = 0; i < 3; ++i) {
        c.reference[i] = value(a.reference, at[i]);
        c.rate[i] = rate(a.reference, at[i]);
      }
      c.torque = value(a.torque, t.M);
      c.limit = a.limit;
    }
  }

  // Impedances of all coordinates; those of the tree go to the diagonal, those of cuts become
  // blocks, and what is explicit is an impulse.
  void joint_terms() {
    read_motors();
    w.extra.setZero();
    w.start_impulse.setZero();
    for (int c = 0; c < coordinate_count(); ++c) {
      CoordinateTerms& k = w.terms[c];
      const Coordinate& coordinate = m.coordinates[c];
      k.value = coordinate_value(m, w.work, w.q_M, s.turns, CoordinateIndex(c));
      if (coordinate.cut.valid() && coordinate.rotational)  // turns count at the start of the step
        k.value -= 2 * std::numbers::pi *
                   std::round((k.value - w.values_start[c]) / (2 * std::numbers::pi));
      k.rate = coordinate_rate(m, w.work, s.v, CoordinateIndex(c));
      w.passive[c] = passive_impedance(coordinate, k.value, k.rate, o.dt);
      w.motor[c] = motor_impedance(w.commands[c], o.motors, k.value, k.rate, o.dt);
      k.linear = w.passive[c];
      k.limited = Impedance{};
      if (!std::isfinite(w.motor[c].limit)) {
        k.linear.start += w.motor[c].start;
        k.linear.gain += w.motor[c].gain;
      } else if (w.motor[c].gain > 0) {
        k.limited = w.motor[c];
      } else {  // an explicit motor is clamped as it is
        w.motor[c].start = std::clamp(w.motor[c].start, -w.motor[c].limit, w.motor[c].limit);
        k.linear.start += w.motor[c].start;
      }
      if (coordinate.dof.prescribed) continue;
      if (coordinate.v_index >= 0) {
        w.extra[coordinate.v_index] += k.linear.gain;
        w.start_impulse[coordinate.v_index] += k.linear.start;
      } else if (k.linear.gain == 0 && k.linear.start != 0) {
        w.work.column.setZero();
        add_coordinate_row(m, w.work, CoordinateIndex(c), w.work.column);
        w.start_impulse += k.linear.start * w.work.column;
      }
    }
    for (const Prescribed& p : act.prescribed)
      w.terms[p.coordinate].prescribed_rate = rate(p.r, t.E);
  }

  void user_forces() {
    w.tau_user.setZero();
    for (Vec6& f : w.work.external) f.setZero();
    if (act.user) act.user(m, w.work, t.M, w.q_M, s.v, w.tau_user, w.work.external);
  }

  // v_free for the bias at the mean velocity v_mean: M' (v_free - v_S) = impulses.
  void free_velocity() {
    bias_force(m, w.work);
    w.impulse = w.start_impulse + o.dt * (w.tau_user - w.work.tau_bias);
    w.rhs = w.impulse;
    if (m.any_prescribed) {
      w.drive.setZero();  // increments of prescribed rates, for now
      for (const Prescribed& p : act.prescribed)
        if (const int i = m.coordinates[p.coordinate].v_index; i >= 0)
          w.drive[i] = rate(p.r, t.E) - s.v[i];
      multiply_mass(m, w.work, w.drive, w.v_free);
      w.rhs -= w.v_free;
    }
    solve_mass(m, w.work, w.rhs);
    w.v_free = s.v + w.rhs;
    if (m.any_prescribed) w.v_free += w.drive;
  }

  // The implicit mid-point of the smooth terms by fixed-point iteration: contraction factor
  // O(dt |v|), so a few rounds reach rounding.
  void smooth_velocity() {
    free_velocity();
    for (int i = 0; i < 12; ++i) {
      w.v_before = w.v_free;
      w.v_E = 0.5 * (s.v + w.v_free);
      forward_kinematics(m, w.q_W, w.v_E, w.work);
      free_velocity();
      const double change = (w.v_free - w.v_before).lpNorm<Eigen::Infinity>();
      if (!(change > 1e-15 * (1 + w.v_free.lpNorm<Eigen::Infinity>()))) break;
    }
  }

  // A redundant row asks of the end velocity what the others ask, or no velocity would do.
  void consistent_joints() {
    Inclusion& p = w.assembly.problem;
    int n = 0;  // rows of cuts: the first of the problem, of the direct ones and of State::Lambda
    for (const Cut& cut : m.cuts) n += cut.translations + cut.rotations;
    auto rates = w.assembly.rate_start.head(n);
    p.b.head(n) += rates;
    imply_redundant(p, w.solver, n, rates);
    p.b.head(n) -= rates;
  }

  // The same fixed point with the impulses of the joints in the mean velocity: without them the
  // quadratic terms of a loop would be off by O(dt).
  void smooth_velocity_of_joints() {
    Inclusion& p = w.assembly.problem;
    factor_bilaterals(p, w.solver);
    if (w.solver.redundant > 0 && w.assembly.joints_at_end) consistent_joints();
    for (int i = 0; i < 12; ++i) {
      w.v_before = w.v_free;
      w.v_E = w.v_free;
      add_bilateral_impulses(p, w.solver, w.v_E);
      w.v_E = 0.5 * (s.v + w.v_E);
      forward_kinematics(m, w.q_W, w.v_E, w.work);
      free_velocity();
      const double change = (w.v_free - w.v_before).lpNorm<Eigen::Infinity>();
      if (!(change > 1e-14 * (1 + w.v_free.lpNorm<Eigen::Infinity>()))) break;
    }
    p.v_free = w.v_free;
    p.c.head(p.rows) = p.b.head(p.rows);
    p.c.head(p.rows).noalias() += p.W.leftCols(p.rows).transpose() * w.v_free;
  }

  [[nodiscard]] bool form_G() const { return options_of(o.solver).on == ProxOptions::On::delassus; }

  void end_velocity() {
    const Inclusion& p = w.assembly.problem;
    w.v_E = w.v_free;
    w.v_E.noalias() += p.Y.leftCols(p.rows) * w.assembly.Lambda.head(p.rows);
  }

  void store_impulses() {
    s.Lambda.setZero();
    std::fill(s.mode.begin(), s.mode.end(), static_cast<unsigned char>(Mode::open));
    std::fill(w.projection.persistent.begin(), w.projection.persistent.end(), 0);
    std::fill(w.projection.sticking.begin(), w.projection.sticking.end(), 0);
    for (std::size_t b = 0; b < w.assembly.problem.blocks.size(); ++b) {
      const Block& k = w.assembly.problem.blocks[b];
      const BlockSlot& slot = m.slots[w.assembly.slot[b]];
      const auto Lambda = w.assembly.Lambda.segment(k.row, k.rows);
      s.Lambda.segment(slot.row, slot.rows) = Lambda;
      const Mode mode = mode_of(k, Lambda);
      s.mode[w.assembly.slot[b]] = static_cast<unsigned char>(mode);
      if (slot.kind != BlockKind::contact || mode == Mode::open) continue;
      // A contact that carries load and does not part again is held closed by the correction.
      const int point = m.pairs[slot.index].slot0 + slot.feature;
      const double gamma_E = w.assembly.problem.W.col(k.row).dot(w.v_E);
      w.projection.persistent[point] = std::abs(gamma_E) < 1e-7;
      w.projection.sticking[point] = k.rows == 3 && mode == Mode::stick;
    }
  }

  // Work of every block over the step: Lambda . (gamma_S + gamma_E)/2 is exactly its share of the
  // change of v' M(q_M) v / 2.
  void block_work(StepReport& report) {
    EnergyTerms& e = report.energy;
    const Inclusion& p = w.assembly.problem;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      const Block& k = p.blocks[b];
      double work[3] = {0, 0, 0};
      double sum = 0;
      for (int i = 0; i < k.rows; ++i) {
        const int r = k.row + i;
        const double one =
            w.assembly.Lambda[r] * 0.5 * (w.assembly.gamma_S[r] + p.W.col(r).dot(w.v_E));
        if (i < 3) work[i] = one;
        sum += one;
      }
      switch (m.slots[w.assembly.slot[b]].kind) {
        case BlockKind::contact:
          e.contacts += work[0];
          e.friction += sum - work[0];
          break;
        case BlockKind::support: e.friction += sum; break;
        case BlockKind::motor: e.motors += sum; break;
        case BlockKind::coordinate:
          if (m.coordinates[m.slots[w.assembly.slot[b]].index].dof.prescribed) e.prescribed += sum;
          break;  // impedances: joint_work
        case BlockKind::cut_translation:
        case BlockKind::cut_rotation:
          e.joints += sum;
          report.cut_work += sum;
          break;
        default: e.joints += sum;
      }
    }
  }

  void joint_work(EnergyTerms& e) {
    for (int c = 0; c < coordinate_count(); ++c) {
      const Coordinate& k = m.coordinates[c];
      const double rate_S = w.terms[c].rate;
      double rate_E = 0;
      if (k.v_index >= 0) {
        rate_E = w.v_E[k.v_index];
      } else {
        w.work.column.setZero();
        add_coordinate_row(m, w.work, CoordinateIndex(c), w.work.column);
        rate_E = w.work.column.dot(w.v_E);
      }
      const double mean = 0.5 * (rate_S + rate_E);
      w.motor_force[c] = 0;
      if (k.dof.prescribed) continue;
      e.dampers -= o.dt * k.dof.damping * mean * mean;
      if (w.terms[c].limited.gain > 0) {
        for (const BlockSlot& slot : m.slots)
          if (slot.kind == BlockKind::motor && slot.index == c)
            w.motor_force[c] = s.Lambda[slot.row] / o.dt;
        continue;  // its work is the block's
      }
      const double impulse = w.motor[c].start - w.motor[c].gain * (rate_E - rate_S);
      w.motor_force[c] = impulse / o.dt;
      e.motors += impulse * mean;
    }
  }

  // Force of prescribed tree coordinates: what M dv = impulses + W Lambda + drive dt lacks.
  void drive_work(EnergyTerms& e) {
    if (!m.any_prescribed) return;
    const Inclusion& p = w.assembly.problem;
    w.rhs = w.v_E - s.v;
    multiply_mass(m, w.work, w.rhs, w.drive);
    w.drive -= w.impulse;
    w.drive.noalias() -= p.W.leftCols(p.rows) * w.assembly.Lambda.head(p.rows);
    for (int i = 0; i < m.nv; ++i) {
      w.drive[i] = m.prescribed[i] ? w.drive[i] / o.dt : 0;
      e.prescribed += o.dt * w.drive[i] * 0.5 * (s.v[i] + w.v_E[i]);
    }
  }

  void external_work(EnergyTerms& e) {
    if (!act.user) return;
    w.rhs = 0.5 * (w.v_S + w.v_E);
    e.external += o.dt * w.tau_user.dot(w.rhs);
    forward_kinematics(m, w.q_W, w.rhs, w.work);
    for (int i = 0; i < m.body_count(); ++i)
      e.external += o.dt * w.work.external[i].dot(w.work.V[i]);
  }

  void mechanical_energy(EnergyTerms& e) {
    e.kinetic = kinetic_energy(m, s.v, w.work);
    e.potential = potential_energy(m, s.q, s.turns, w.work);
  }

  void finish(StepReport& report) {  // q_E = q_M (+) dt/2 v_E, corrected
    EnergyTerms& e = report.energy;
    block_work(report);
    joint_work(e);
    drive_work(e);
    external_work(e);
    s.q = w.q_M;
    s.v = w.v_E;
    advance(m, s.q, s.v, 0.5 * o.dt);
    place_prescribed(s.q, t.E);
    for (const Prescribed& p : act.prescribed) w.projection.target[p.coordinate] = value(p.r, t.E);
    forward_kinematics(m, s.q, s.v, w.work);
    update_turns(m, w.work, s.q, w.values_start, s.turns);
    mechanical_energy(e);
    const double before = e.total();
    report.projection = project(m, o.projection, s.q, s.v, s.turns, w.work, w.projection);
    if (report.projection.iterations > 0) {
      mechanical_energy(e);
      e.correction = e.total() - before;
    }
    e.integrator = e.total() - w.energy - e.work_without_integrator();
    w.energy = e.total();
    w.energy_known = true;
    s.t = t.E;
    ++s.step;
  }
};

// The first velocity that is not finite or beyond all measure, or -1.
int first_diverged(const Model& model, VecIn v, double dt) {
  for (int i = 0; i < model.nv; ++i)
    if (!(std::abs(v[i]) < (model.rotational[i] ? std::numbers::pi / dt : divergence_speed)))
      return i;
  return -1;
}

}  // namespace

StepReport step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                const MoreauMidpoint& o) {
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * o.dt;
  Stepper k{m, act, s, w, o, {s.t, 0.5 * (s.t + t_E), t_E}};
  StepReport report;
  w.assembly.joints_at_end = o.projection != Projection::root_fixed;
  k.start();        // q_M; kinematics and M there
  k.joint_terms();  // springs, dampers, motors
  k.user_forces();
  if (!factor(m, w.extra, w.work)) {
    report.singular = true;
    return report;
  }
  k.smooth_velocity();  // M (v_free - v_S) = dt h
  find_contacts(m, w.work, w.assembly.points);
  assemble(m, s, w.terms, o.dt, w.work, w.assembly);
  condense_mass(m, w.work, w.v_free, k.form_G(), w.assembly.problem);
  if (m.has_loops || (!m.cuts.empty() && m.quadratic_terms)) k.smooth_velocity_of_joints();
  report.impact = resolve(o.impact, m, o.solver, w.assembly, w.impact, w.solver);
  if (const int b = report.solve().worst_block; b >= 0) report.worst_slot = w.assembly.slot[b];
  k.end_velocity();  // v_E = v_free + M^-1 W Lambda
  report.culprit = first_diverged(m, w.v_E, o.dt);
  if (report.culprit >= 0) {
    report.diverged = true;
    return report;
  }
  k.store_impulses();
  k.finish(report);
  return report;
}

void impose_prescribed(const Model& model, const Actuation& actuation, State& state) {
  for (const Prescribed& p : actuation.prescribed) {
    const Coordinate& c = model.coordinates[p.coordinate];
    if (c.q_index < 0) continue;
    state.q[c.q_index] = value(p.r, state.t);
    state.v[c.v_index] = rate(p.r, state.t);
  }
}

}  // namespace saltus
