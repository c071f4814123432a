#include "saltus/integrators/moreau/moreau.h"

#include <cmath>
#include <ctime>
#include <numbers>

#include "saltus/dynamics/mass.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/integrators/moreau/compact_step.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/integrators/moreau/timed_step.h"

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

namespace {

// The general step. `lap` is told after each stage which one it was: timed_step's clock, else
// nothing. `called`: the user's forces are known.
template <class Lap>
StepReport take_step(Stepper& k, bool called, const Lap& lap) {
  const Model& m = k.m;
  StepWorkspace& w = k.w;
  const MoreauMidpoint& o = k.o;
  StepReport report;
  w.assembly.joints_at_end = o.projection != Projection::root_fixed;
  k.start();        // q_M; kinematics and M there
  k.joint_terms();  // springs, dampers, motors
  lap(StepStage::smooth);
  if (m.has_compliant) k.compliant_forces();  // at q_M and v_S, part of h
  lap(StepStage::impulses);
  if (!called) k.user_forces();
  load_mass(m, w.work, w.extra, w.mass);
  k.cut_impulses();
  lap(StepStage::smooth);
  if (!w.mass.factor()) {
    report.singular = true;
    report.culprit = w.mass.culprit();
    return report;
  }
  lap(StepStage::factor);
  k.smooth_velocity();  // M (v_free - v_S) = dt h
  lap(StepStage::smooth);
  w.finder.threads = o.threads;
  if (!m.has_compliant) w.finder.find(m, w.work, contact_margin(m), w.assembly.contacts);
  w.mass.twists(k.s.v, w.twists);
  assemble(m, k.s, w.terms, o.dt, w.work, w.twists, w.assembly);
  report.contacts = static_cast<int>(w.assembly.contacts.size());
  lap(StepStage::contacts);
  k.form_islands();
  lap(StepStage::delassus);
  k.solve_islands(report);
  k.end_velocity();  // v_E = v_free + M^-1 W Lambda
  k.capture(report);
  lap(StepStage::impulses);
  report.culprit = first_diverged(m, w.v_E, o.dt);
  if (report.culprit >= 0) {
    report.diverged = true;
    return report;
  }
  k.find_impacts(report);
  k.keep_impulses();
  k.finish(report);
  lap(StepStage::end);
  return report;
}

Instants instants_of(const State& s, double dt) {
  const double t_E = s.t0 + static_cast<double>(s.step + 1) * dt;
  return {s.t, 0.5 * (s.t + t_E), t_E};
}

}  // namespace

StepReport step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                const MoreauMidpoint& o) {
  SALTUS_ASSERT(fits(m, s) && fits(m, w.work));
  SALTUS_ASSERT(o.dt > 0);
  Stepper k{m, act, s, w, o, instants_of(s, o.dt)};
  StepReport report;
  bool called = false;
  if (o.compact && w.compact && w.compact->take(k, report, called)) return report;
  return take_step(k, called, [](StepStage) {});
}

StepReport timed_step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                      const MoreauMidpoint& o, StepTimes& times) {
  SALTUS_ASSERT(fits(m, s) && fits(m, w.work));
  SALTUS_ASSERT(o.dt > 0);
  const auto cpu_time = [] {  // of this thread: what else the machine does stays out
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double last = cpu_time();
  Stepper k{m, act, s, w, o, instants_of(s, o.dt)};
  return take_step(k, false, [&](StepStage stage) {
    const double now = cpu_time();
    times.seconds[static_cast<std::size_t>(stage)] += now - last;
    last = now;
  });
}

void impose_prescribed(const Model& model, const Actuation& actuation, State& state) {
  SALTUS_ASSERT(fits(model, state));
  for (const Prescribed& p : actuation.prescribed) {
    const Coordinate& c = model.coordinates[p.coordinate];
    if (c.q_index < 0) continue;
    state.q[c.q_index] = value(p.r, state.t);
    state.v[c.v_index] = rate(p.r, state.t);
  }
}

}  // namespace saltus
