// The two places where Python and a running step meet: the loop that lets the GIL go, and the
// force callback that takes it back once a step.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "handles.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus::python {

namespace {

// The kinematics at the mid-point, for the callback to read; the step's own stays untouched.
void copy_kinematics(const Workspace& from, Workspace& to) {
  to.X = from.X;
  to.V = from.V;
  to.S = from.S;
  to.bias = from.bias;
  to.motion = from.motion;
  to.S_I = from.S_I;
  to.curvature = from.curvature;
  for (Vec6& f : to.external) f.setZero();
}

}  // namespace

ForceCallback::ForceCallback(const ModelPtr& model, const nb::object& f) : force(f) {
  if (!PyCallable_Check(f.ptr()))
    throw InputError(
        fmt::format("force: expected a function, got {}", nb::type_name(f.type()).c_str()));
  try {
    const nb::object inspect = nb::module_::import_("inspect");
    reads_sensors = nb::cast<bool>(
        inspect.attr("signature")(f).attr("parameters").attr("__contains__")("sensors"));
  } catch (const nb::python_error&) {  // of a built-in function nothing is known: it has none
    PyErr_Clear();
  }
  WorkspaceHandle handle;
  handle.model = model;
  handle.work = std::make_shared<Workspace>(*model);
  workspace = nb::cast(std::move(handle));
  own = nb::cast<WorkspaceHandle*>(workspace);
}

ForceCallback::~ForceCallback() {
  const nb::gil_scoped_acquire gil;
  force.reset();
  workspace.reset();
}

void ForceCallback::call(const Workspace& work, double t, VecIn q, VecIn v, VecRef tau,
                         std::vector<Vec6>& external) const {
  copy_kinematics(work, *own->work);
  world_columns(*own->model, *own->work);
  own->filled = {.kinematics = true, .columns = true};
  const Array1 joint_forces = owned(Vec(Vec::Zero(tau.size())));
  const nb::object result = reads_sensors
                                ? force(t, owned(Vec(q)), owned(Vec(v)), joint_forces, workspace,
                                        nb::arg("sensors") = readings_of(sensors))
                                : force(t, owned(Vec(q)), owned(Vec(v)), joint_forces, workspace);
  if (!result.is_none())
    throw InputError(
        fmt::format("the force callback returned a {}: expected None; add joint forces to tau "
                    "and wrenches to work.external in place",
                    nb::type_name(result.type()).c_str()));
  const Eigen::Map<const Vec> added(joint_forces.data(), tau.size());
  bool finite = added.allFinite();
  for (const Vec6& f : own->work->external) finite = finite && f.allFinite();
  if (!finite)
    throw InputError(
        fmt::format("the force callback gave a number that is not finite at t = {:.6g} s", t));
  tau += added;
  for (std::size_t i = 0; i < external.size(); ++i) external[i] += own->work->external[i];
}

nb::dict readings_of(const SensorBank* sensors) {
  nb::dict all;
  if (!sensors) return all;
  for (std::size_t i = 0; i < sensors->sensors().size(); ++i) {
    const std::vector<double>& x = sensors->reading(static_cast<int>(i)).value;
    all[text(sensors->sensors()[i].name)] =
        owned(Vec(Eigen::Map<const Vec>(x.data(), static_cast<Eigen::Index>(x.size()))));
  }
  return all;
}

UserForce bridge(std::shared_ptr<const ForceCallback> callback) {
  return [callback = std::move(callback)](const Model&, const Workspace& work, double t, VecIn q,
                                          VecIn v, VecRef tau, std::vector<Vec6>& external) {
    const nb::gil_scoped_acquire gil;
    callback->call(work, t, q, v, tau, external);
  };
}

namespace {

void hear_signals() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

void add(StepsReport& all, const StepReport& r) {
  ++all.steps;
  all.last = r;
  all.energy.add_work(r.energy);
  all.iterations += r.solve().iterations;
  all.unconverged += !r.solve().converged;
  all.impacts += r.impact.impact;
  all.penetration = std::max(all.penetration, r.projection.penetration);
  if (r.solve().residual > all.worst_residual) {
    all.worst_residual = r.solve().residual;
    all.worst = r.worst;
  }
}

[[noreturn]] void diverge(const Model& model, const State& s, const StepReport& r) {
  const std::string body = r.culprit >= 0 ? model.bodies[model.v_body[r.culprit]].name : "?";
  if (r.singular) throw Divergence(fmt::format("the mass matrix is singular at t = {:.6g} s", s.t));
  throw Divergence(fmt::format(
      "the step after t = {:.6g} s diverged at body '{}'; the state is left as it was", s.t, body));
}

void warn_unconverged(const Model& model, const StepsReport& r, double tolerance) {
  const std::string what = fmt::format(
      "{} of {} steps missed the tolerance of {:.1e} m/s; the worst residual is {:.2e} m/s at {}",
      r.unconverged, r.steps, tolerance, r.worst_residual, model.name_of(r.worst));
  if (PyErr_WarnEx(error_class("UnconvergedWarning").ptr(), what.c_str(), 1) != 0)
    nb::raise_python_error();
}

// t = t0 + step dt must hold at the start, also after the user has set t or another dt.
void rebase_time(State& s, double dt) {
  const double t = s.t0 + static_cast<double>(s.step) * dt;
  if (std::abs(t - s.t) > 1e-9 * dt) s.t0 = s.t - static_cast<double>(s.step) * dt;
}

}  // namespace

namespace {

// n steps; `advance` takes one and says why it took none, or nothing.
template <class Advance>
StepsReport take_steps(ActuationHandle& actuation, StateHandle& state, StepWorkspaceHandle& work,
                       double dt, double tolerance, std::int64_t n, SensorBank* sensors,
                       const Advance& make_advance) {
  const Model& model = *state.model;
  require_model(model, actuation.model, "actuation");
  require_model(model, work.model, "workspace");
  if (n < 1) throw InputError(fmt::format("steps: expected a number >= 1, got {}", n));
  if (model.nv == 0) throw InputError("nothing moves in this model: it has no joint coordinates");
  const Lease a(actuation.busy, "actuation"), s(state.busy, "state"),
      w(*work.work->busy, "workspace");
  check(model, actuation.actuation);
  check_state(model, state.state);
  auto advance = make_advance(model);
  rebase_time(state.state, dt);
  work.work->filled = {};
  work.contacts = false;

  // What the callback reads is gone when this call ends.
  struct Lent {
    const ForceCallback* to;
    ~Lent() {
      if (to) to->sensors = nullptr;
    }
  };
  const Lent lent{actuation.force.get()};
  if (lent.to) lent.to->sensors = sensors;
  StepsReport all;
  StepReport report;
  std::string failure;
  {
    const nb::gil_scoped_release release;
    using Clock = std::chrono::steady_clock;
    auto next = Clock::now() + std::chrono::milliseconds(100);
    for (std::int64_t i = 0; i < n; ++i) {
      failure = advance(report);
      if (report.diverged || report.singular || !failure.empty()) break;
      if (sensors) sensors->step(work.step->result, state.state);
      add(all, report);
      if (Clock::now() > next) {
        next = Clock::now() + std::chrono::milliseconds(100);
        hear_signals();
      }
    }
  }
  if (!failure.empty()) throw Divergence(failure);
  if (report.diverged || report.singular) { diverge(model, state.state, report); }
  work.work->filled.kinematics = true;
  work.contacts = true;
  if (all.unconverged > 0) warn_unconverged(model, all, tolerance);
  return all;
}

}  // namespace

StepsReport step_many(ActuationHandle& actuation, StateHandle& state, StepWorkspaceHandle& work,
                      const MoreauMidpoint& options, std::int64_t n, SensorBank* sensors) {
  return take_steps(actuation, state, work, options.dt, options_of(options.solver).tolerance, n,
                    sensors, [&](const Model& model) {
                      check_supported(options, model, actuation.actuation, "");
                      return [&](StepReport& report) {
                        report = step(model, actuation.actuation, state.state, *work.step, options);
                        return std::string();
                      };
                    });
}

StepsReport advance_many(ActuationHandle& actuation, StateHandle& state, StepWorkspaceHandle& work,
                         const Integrator& integrator, std::int64_t n, SensorBank* sensors) {
  return take_steps(
      actuation, state, work, integrator_dt(integrator), 0, n, sensors, [&](const Model& model) {
        auto integration = std::make_unique<Integration>(model, actuation.actuation, integrator);
        return [&, integration = std::move(integration)](StepReport& report) {
          AdvanceReport found = integration->advance(state.state, *work.step);
          report = found.step;
          return std::move(found.failure);
        };
      });
}

}  // namespace saltus::python
