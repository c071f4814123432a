#include "saltus/integrators/moreau.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/parallel.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/solvers/condense.h"

namespace saltus {

StepWorkspace::StepWorkspace(const Model& model)
    : work(model),
      finder(model),
      assembly(model),
      islands(model),
      projection(model),
      twists(model.bodies.size(), Vec6::Zero()),
      wrenches(model.bodies.size(), Vec6::Zero()) {
  const auto n = static_cast<Eigen::Index>(model.coordinates.size());
  mass.resize(forest_shape(model));
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
    (void)close_joints(m, w.q_W, s.v, s.turns, w.work, w.mass, w.finder, w.projection);
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

  // An explicit impulse along a cut coordinate, as wrenches on its two bodies.
  void add_impulse(int c, double impulse) {
    const CoordinateRow r = coordinate_row(m, w.work, CoordinateIndex(c));
    const auto on = [&](int body, double sign) {
      if (body < 0) return;
      const Vec3 f = sign * impulse * r.wrench.head<3>();
      w.wrenches[body] += join(f, sign * impulse * r.wrench.tail<3>() - w.work.X[body].r.cross(f));
    };
    on(r.child, 1);
    on(r.parent, -1);
  }

  // Impedances of all coordinates; those of the tree go to the diagonal, those of cuts become
  // blocks, and what is explicit is an impulse.
  void joint_terms() {
    read_motors();
    w.extra.setZero();
    w.start_impulse.setZero();
    w.cut_impulses = false;
    if (!m.cuts.empty()) std::fill(w.wrenches.begin(), w.wrenches.end(), Vec6::Zero());
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
        add_impulse(c, k.linear.start);
        w.cut_impulses = true;
      }
    }
    for (const Prescribed& p : act.prescribed)
      w.terms[p.coordinate].prescribed_rate = rate(p.r, t.E);
  }

  // Explicit impulses of cut coordinates, in the velocities; needs the forest.
  void cut_impulses() {
    if (!w.cut_impulses) return;
    w.mass.gather(w.wrenches, w.rhs);
    w.start_impulse += w.rhs;
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
      w.mass.multiply(w.drive, w.v_free);
      w.rhs -= w.v_free;
    }
    w.mass.solve(-1, w.rhs.data(), nullptr, w.v_free.data(), nullptr);
    w.v_free += s.v;
    if (m.any_prescribed) w.v_free += w.drive;
  }

  // The fixed point has been reached, or the changes no longer shrink: rounding, which on a chain
  // of a thousand links is a thousand times that of one.
  [[nodiscard]] bool settled(double tolerance, double& last) const {
    const double change = (w.v_free - w.v_before).lpNorm<Eigen::Infinity>();
    const bool done =
        !(change > tolerance * (1 + w.v_free.lpNorm<Eigen::Infinity>())) || !(change < 0.9 * last);
    last = change;
    return done;
  }

  // The implicit mid-point of the smooth terms by fixed-point iteration: contraction factor
  // O(dt |v|), so a few rounds reach rounding.
  void smooth_velocity() {
    free_velocity();
    double last = infinity;
    for (int i = 0; i < 12; ++i) {
      w.v_before = w.v_free;
      w.v_E = 0.5 * (s.v + w.v_free);
      move_links(m, w.q_W, w.v_E, w.work);
      free_velocity();
      if (settled(1e-15, last)) break;
    }
  }

  void form_islands() {
    w.islands.partition(m, w.assembly);
    while (w.islands.count() > static_cast<int>(w.problems.size())) w.problems.emplace_back();
    w.results.resize(w.problems.size());
    parallel_for(w.islands.count(), o.threads, [&](int i) {
      form_island(m, w.assembly, w.islands[i], o.solver, w.v_free, w.mass, w.problems[i]);
    });
  }

  // Rows of cuts among an island's: they come first.
  [[nodiscard]] int cut_rows(const Island& island) const {
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
  void consistent_joints(const Island& island, IslandProblem& problem) {
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
  void smooth_velocity_of_joints() {
    for (int i = 0; i < w.islands.count(); ++i) {
      IslandProblem& p = w.problems[i];
      if (p.route != Route::dense) continue;  // no cuts there: their rows act on two bodies
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
      move_links(m, w.q_W, w.v_E, w.work);
      free_velocity();
      if (settled(1e-14, last)) break;
    }
    for (int i = 0; i < w.islands.count(); ++i)
      renew_free(m, w.assembly, w.islands[i], w.v_free, w.mass, w.problems[i]);
  }

  // Every island on its own.
  void solve_islands(StepReport& report) {
    report.islands = w.islands.count();
    parallel_for(w.islands.count(), o.threads, [&](int i) {
      w.results[i] = resolve(o.impact, o.solver, w.mass, w.problems[i]);
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
  void retry_dense(int i) {
    IslandProblem& p = w.problems[i];
    if (p.route == Route::dense || w.islands[i].rows > fallback_rows) return;
    const ImpactReport before = w.results[i];
    const Vec kept = p.Lambda;
    form_island(m, w.assembly, w.islands[i], ProxGaussSeidel{}, w.v_free, w.mass, p);
    ImpactReport dense = resolve(o.impact, o.solver, w.mass, p);
    dense.solve.iterations += before.solve.iterations;
    if (dense.solve.residual < before.solve.residual)
      w.results[i] = dense;
    else
      p.Lambda = kept;
  }

  // As the solver was given it: dense, from the impulses of the last step.
  void keep_failing(int i) {
    w.failing_island = i;
    const Vec solution = w.assembly.Lambda;
    assemble(m, s, w.terms, o.dt, w.work, w.twists, w.assembly);
    form_island(m, w.assembly, w.islands[i], ProxGaussSeidel{}, w.v_free, w.mass, w.failing);
    add_offset(w.failing.restitution, w.failing);
    w.assembly.Lambda = solution;
  }

  // The step is as good as its worst island.
  static void merge(ImpactReport& all, const ImpactReport& one) {
    all.solve.iterations = std::max(all.solve.iterations, one.solve.iterations);
    all.solve.residual = std::max(all.solve.residual, one.solve.residual);
    all.solve.converged = all.solve.converged && one.solve.converged;
    all.solve.redundant += one.solve.redundant;
    all.solve.indeterminate = std::max(all.solve.indeterminate, one.solve.indeterminate);
    all.impact = all.impact || one.impact;
    all.s = std::min(all.s, one.s);
  }

  void end_velocity() {
    apply_rows(w.assembly, w.wrenches, w.rhs);
    w.mass.solve(-1, w.rhs.data(), w.wrenches.data(), w.v_E.data(), nullptr);
    w.v_E += w.v_free;
    w.mass.twists(w.v_E, w.twists);
  }

  void keep_impulses() {
    s.Lambda.setZero();
    std::fill(s.mode.begin(), s.mode.end(), static_cast<unsigned char>(Mode::open));
    s.contacts.clear();
    w.projection.held.clear();
    for (std::size_t b = 0; b < w.assembly.blocks.size(); ++b) {
      const Block& k = w.assembly.blocks[b];
      const BlockSource& from = w.assembly.source[b];
      const auto Lambda = w.assembly.Lambda.segment(k.row, k.rows);
      const Mode mode = mode_of(k, Lambda);
      if (from.slot >= 0) {
        const BlockSlot& slot = m.slots[from.slot];
        s.Lambda.segment(slot.row, slot.rows) = Lambda;
        s.mode[from.slot] = static_cast<unsigned char>(mode);
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
      // A contact that carries load and does not part again is held closed by the correction.
      const double gamma_E = w.assembly.rate(k.row, from, w.twists, w.v_E);
      if (std::abs(gamma_E) < 1e-7)
        w.projection.held.push_back({c.key, k.rows >= 3 && mode == Mode::stick});
    }
  }

  // Work of every block over the step: Lambda . (gamma_S + gamma_E)/2 is exactly its share of the
  // change of v' M(q_M) v / 2.
  void block_work(StepReport& report) {
    EnergyTerms& e = report.energy;
    const Assembly& p = w.assembly;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      const Block& k = p.blocks[b];
      const BlockSource& from = p.source[b];
      double work[3] = {0, 0, 0};
      double sum = 0;
      for (int i = 0; i < k.rows; ++i) {
        const int r = k.row + i;
        const double one = p.Lambda[r] * 0.5 * (p.gamma_S[r] + p.rate(r, from, w.twists, w.v_E));
        if (i < 3) work[i] = one;
        sum += one;
      }
      if (from.contact >= 0) {
        e.contacts += work[0];
        e.friction += sum - work[0];
        continue;
      }
      switch (m.slots[from.slot].kind) {
        case BlockKind::support: e.friction += sum; break;
        case BlockKind::motor: e.motors += sum; break;
        case BlockKind::coordinate:
          if (m.coordinates[m.slots[from.slot].index].dof.prescribed) e.prescribed += sum;
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

  // Rate of a cut coordinate at the end velocity, rows at the mid-point.
  [[nodiscard]] double cut_rate(int c) const {
    const CoordinateRow r = coordinate_row(m, w.work, CoordinateIndex(c));
    const auto part = [&](int body) {
      if (body < 0) return 0.0;
      const Vec3 f = r.wrench.head<3>();
      return join(f, r.wrench.tail<3>() - w.work.X[body].r.cross(f)).dot(w.twists[body]);
    };
    return part(r.child) - part(r.parent);
  }

  void joint_work(EnergyTerms& e) {
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
      if (w.terms[c].limited.gain > 0) {
        w.motor_force[c] = s.Lambda[m.slots[m.motor_slot[c]].row] / o.dt;
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
    w.mass.gather(w.wrenches, w.drive);  // wrenches and rhs are still those of end_velocity
    w.impulse += w.drive + w.rhs;
    w.rhs = w.v_E - s.v;
    w.mass.multiply(w.rhs, w.drive);
    w.drive -= w.impulse;
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
    report.projection =
        project(m, o.projection, s.q, s.v, s.turns, w.work, w.mass, w.finder, w.projection);
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
  load_mass(m, w.work, w.extra, w.mass);
  k.cut_impulses();
  if (!w.mass.factor()) {
    report.singular = true;
    report.culprit = w.mass.culprit();
    return report;
  }
  k.smooth_velocity();  // M (v_free - v_S) = dt h
  w.finder.threads = o.threads;
  w.finder.find(m, w.work, contact_margin(m), w.assembly.contacts);
  w.mass.twists(s.v, w.twists);
  assemble(m, s, w.terms, o.dt, w.work, w.twists, w.assembly);
  report.contacts = static_cast<int>(w.assembly.contacts.size());
  k.form_islands();
  if (m.has_loops || (!m.cuts.empty() && m.quadratic_terms)) k.smooth_velocity_of_joints();
  k.solve_islands(report);
  k.end_velocity();  // v_E = v_free + M^-1 W Lambda
  report.culprit = first_diverged(m, w.v_E, o.dt);
  if (report.culprit >= 0) {
    report.diverged = true;
    return report;
  }
  k.keep_impulses();
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
