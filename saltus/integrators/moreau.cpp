#include "saltus/integrators/moreau.h"

#include <cmath>
#include <numbers>

#include "saltus/dynamics/mass.h"
#include "saltus/integrators/compact_step.h"
#include "saltus/integrators/stepper.h"

namespace saltus {

StepWorkspace::StepWorkspace(const Model& model)
    : work(model),
      planar_bias(model),
      finder(model),
      assembly(model),
      islands(model),
      projection(model),
      twists(model.bodies.size(), Vec6::Zero()),
      wrenches(model.bodies.size(), Vec6::Zero()),
      end_twists(model.bodies.size(), Vec6::Zero()),
      elements(model) {
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
  if (CompactStep::holds(model)) compact = std::make_unique<CompactStep>(model);
}

StepWorkspace::~StepWorkspace() = default;
StepWorkspace::StepWorkspace(StepWorkspace&&) noexcept = default;
StepWorkspace& StepWorkspace::operator=(StepWorkspace&&) noexcept = default;

int first_diverged(const Model& model, VecIn v, double dt) {
  for (int i = 0; i < model.nv; ++i)
    if (!(std::abs(v[i]) < (model.rotational[i] ? std::numbers::pi / dt : divergence_speed)))
      return i;
  return -1;
}

StepReport step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                const MoreauMidpoint& o) {
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * o.dt;
  Stepper k{m, act, s, w, o, {s.t, 0.5 * (s.t + t_E), t_E}};
  StepReport report;
  bool called = false;
  if (o.compact && w.compact && w.compact->take(k, report, called)) return report;
  w.assembly.joints_at_end = o.projection != Projection::root_fixed;
  k.start();        // q_M; kinematics and M there
  k.joint_terms();  // springs, dampers, motors
  if (!called) k.user_forces();
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
  k.solve_islands(report);
  k.end_velocity();  // v_E = v_free + M^-1 W Lambda
  k.capture(report);
  report.culprit = first_diverged(m, w.v_E, o.dt);
  if (report.culprit >= 0) {
    report.diverged = true;
    return report;
  }
  k.find_impacts(report);
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
