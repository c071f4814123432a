#include "saltus/integrators/moreau/moreau.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/integrators/moreau/stepper.h"
#include "saltus/integrators/moreau/timed_step.h"

namespace saltus {

StepWorkspace::StepWorkspace(const Model& model)
    : work(model),
      forest(model),
      finder(model),
      assembly(model),
      islands(model),
      projection(model),
      twists(model.bodies.size(), Vec6::Zero()),
      wrenches(model.bodies.size(), Vec6::Zero()),
      end_twists(model.bodies.size(), Vec6::Zero()),
      elements(model) {
  const auto n = static_cast<Eigen::Index>(model.coordinates.size());
  terms.resize(n);
  commands.resize(n);
  passive.resize(n);
  motor.resize(n);
  values_start.setZero(n);
  motor_force.setZero(n);
  q_M.setZero(model.nq);
  q_W.setZero(model.nq);
  for (Vec* x : {&v_S, &v_E, &v_free, &v_before, &extra, &impulse, &start_impulse, &tau_user, &rhs,
                 &drive, &mean, &image, &image_before, &missing, &missing_before, &change})
    x->setZero(model.nv);
  energy.t = std::numeric_limits<double>::quiet_NaN();
  energy.q.setZero(model.nq);
  energy.v.setZero(model.nv);
  if (PathStorage::holds(model)) paths = std::make_unique<PathStorage>(model);
}

void check_options(const MoreauMidpoint& o, const Model& model, const std::string& path) {
  check_impact_law(o.impact, model, path + "impact");
  std::string why;
  if (is_dense(o.impact)) why = fmt::format("for the impact law {} asks for M", name_of(o.impact));
  if (o.storage == Storage::paths && (!why.empty() || !PathStorage::holds(model, &why)))
    throw InputError(
        path + "storage",
        fmt::format("expected auto or forest: the model cannot be kept along paths, {}", why));
}

Storage storage_of(const MoreauMidpoint& o, const Model& model) {
  const bool paths = o.storage != Storage::forest && !is_dense(o.impact);
  return paths && PathStorage::holds(model) ? Storage::paths : Storage::forest;
}

int first_diverged(const Model& model, VecIn v, double dt) {
  for (int i = 0; i < model.nv; ++i)
    if (!(std::abs(v[i]) < (model.rotational[i] ? std::numbers::pi / dt : divergence_speed)))
      return i;
  return -1;
}

namespace {

// `lap` is told after each stage which one it was: timed_step's clock, else nothing.
template <class Lap>
StepReport take_step(Stepper& k, const Lap& lap) {
  const Model& m = k.m;
  StepWorkspace& w = k.w;
  const MoreauMidpoint& o = k.o;
  StepReport report;
  report.storage = k.mech.storage();
  w.assembly.joints_at_end = o.projection != Projection::root_fixed;
  k.start();        // q_M; kinematics and M there
  k.joint_terms();  // springs, dampers, motors
  lap(StepStage::smooth);
  if (m.has_compliant) k.compliant_forces();  // at q_M and v_S, part of h
  lap(StepStage::impulses);
  k.user_forces();
  lap(StepStage::smooth);
  w.finder.threads = o.threads;
  if (!m.has_compliant) w.finder.find(m, w.work, contact_margin(m), w.assembly.contacts);
  report.contacts = static_cast<int>(w.assembly.contacts.size());
  lap(StepStage::contacts);
  do {  // once, unless a motor that was taken to stay below its torque limit does not
    k.load_gains();
    lap(StepStage::smooth);
    if (!k.mech.factor(w.extra, report.culprit)) {
      report.singular = true;
      return report;
    }
    k.cut_impulses();
    lap(StepStage::factor);
    k.open_rows();
    lap(StepStage::contacts);
    k.smooth_velocity();  // M (v_free - v_S) = dt h
    lap(StepStage::smooth);
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
  } while (!k.motors_within());
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

Mechanics mechanics_of(const Model& m, StepWorkspace& w, const MoreauMidpoint& o) {
  // P1's chain and Poisson's law ask for M itself.
  const bool paths = o.storage != Storage::forest && !is_dense(o.impact);
  return {m, w.work, w.forest, paths ? w.paths.get() : nullptr};
}

}  // namespace

StepReport step(const Model& m, const Actuation& act, State& s, StepWorkspace& w,
                const MoreauMidpoint& o) {
  SALTUS_ASSERT(fits(m, s) && fits(m, w.work));
  SALTUS_ASSERT(o.dt > 0);
  Stepper k{m, act, s, w, o, instants_of(s, o.dt), mechanics_of(m, w, o)};
  return take_step(k, [](StepStage) {});
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
  Stepper k{m, act, s, w, o, instants_of(s, o.dt), mechanics_of(m, w, o)};
  return take_step(k, [&](StepStage stage) {
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
