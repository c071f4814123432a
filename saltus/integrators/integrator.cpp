#include "saltus/integrators/integrator.h"

#include <fmt/format.h>

#include "saltus/base/error.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_step.h"

namespace saltus {

std::string_view integrator_name(const Integrator& integrator) {
  return std::visit([](const auto& o) { return o.name; }, integrator);
}

double integrator_dt(const Integrator& integrator) {
  return std::visit([](const auto& o) { return o.dt; }, integrator);
}

namespace {

// Which integrator it is, as a place in the input.
std::string type_at(const std::string& path) { return path.empty() ? "integrator" : path + "type"; }

// Controllers, pushes and cables act in time steps.
template <class Options>
void check_drives(const Options& o, const Model& model, const Actuation& actuation) {
  const auto in_steps = [&](std::string_view key) {
    throw InputError(std::string(key),
                     fmt::format("expected time stepping (integrator moreau), got {}", o.name));
  };
  if (!actuation.controllers.empty()) in_steps(actuation.controllers.front()->name());
  if (!actuation.pushes.empty()) in_steps("pushes");
  if (!model.cables.empty()) in_steps("cables");
}

void refuse(const MoreauMidpoint& o, const Model& model, const Actuation&,
            const std::string& path) {
  check_options(o, model, path);
}

void refuse(const EventDriven& o, const Model& model, const Actuation& actuation,
            const std::string& path) {
  const auto expected = [&](const std::string& what) {
    throw InputError(type_at(path),
                     fmt::format("expected time stepping: {} knows {}", o.name, what));
  };
  check_impact_law(o.impact, model, path + "impact");
  if (model.has_compliant) expected("hard contacts only, a contact of the scene is compliant");
  for (const RodElement& r : model.rods)
    if (!r.segment->rheology.empty())
      expected(fmt::format("rods that are linear, '{}' has a rheology", r.rod));
  for (const RodElement& r : model.rods)
    if (r.touches > 0)
      expected(
          fmt::format("rods that touch at their stations and ends, '{}' may touch between them "
                      "(touches: 0 of it is known)",
                      r.rod));
  check_drives(o, model, actuation);
}

void refuse(const Rk4Projection& o, const Model& model, const Actuation& actuation,
            const std::string& path) {
  const auto got = [&](const std::string& what) {
    throw InputError(type_at(path),
                     fmt::format("{} expects joints with dry friction and nothing else that is "
                                 "set-valued, got {}",
                                 o.name, what));
  };
  if (!model.contact_laws.empty()) got("contacts");
  for (const Element& e : static_elements(model).elements)
    if (account_of(model, model.slots[e.slot]) != Account::dry) got(model.name_of(e.place()));
  for (const Motor& m : actuation.motors)
    if (m.lag > 0 || m.backlash > 0)
      throw InputError(
          type_at(path),
          fmt::format("the motor of '{}' has {}: expected moreau or event-driven, got {}",
                      model.coordinates[m.coordinate].name, m.lag > 0 ? "a lag" : "backlash",
                      o.name));
  check_drives(o, model, actuation);
}

void refuse(const ByConnection& o, const Model& model, const Actuation& actuation,
            const std::string& path) {
  try {
    (void)ConnectionIntegrator(model, actuation, o);
  } catch (const InputError& e) { throw InputError(type_at(path), e.what()); }
}

std::string failure_of(const Model& model, const State& state, const StepReport& r) {
  const std::string body = r.culprit >= 0 ? model.bodies[model.v_body[r.culprit]].name : "?";
  return fmt::format("the run {} at t = {:.6g} s, body '{}' (last residual {:.2e} m/s)",
                     r.singular    ? "met a singular mass matrix"
                     : r.no_stress ? "met a rheology that gave no finite stress"
                                   : "diverged",
                     state.t, body, r.solve().residual);
}

}  // namespace

void check_supported(const Integrator& integrator, const Model& model, const Actuation& actuation,
                     const std::string& path) {
  std::visit([&](const auto& o) { refuse(o, model, actuation, path); }, integrator);
}

Integration::Integration(const Model& model, const Actuation& actuation,
                         const Integrator& integrator)
    : model_(model), actuation_(actuation), dt_(integrator_dt(integrator)) {
  check_supported(integrator, model, actuation, "");
  if (const auto* o = std::get_if<MoreauMidpoint>(&integrator)) at_work_ = *o;
  if (const auto* o = std::get_if<EventDriven>(&integrator))
    at_work_ = std::make_unique<EventIntegrator>(model, actuation, *o);
  if (std::holds_alternative<Rk4Projection>(integrator))
    at_work_ = std::make_unique<Rk4Integrator>(model, actuation);
  if (const auto* o = std::get_if<ByConnection>(&integrator))
    at_work_ = std::make_unique<ConnectionIntegrator>(model, actuation, *o);
}

void Integration::watch(const State& state, bool impact) {
  if (watch_) watcher_.look(model_, state, impact, changes_);
}

void Integration::step_by(MoreauMidpoint& options, State& state, StepWorkspace& work,
                          AdvanceReport& out) {
  StepReport& r = out.step;
  r = step(model_, actuation_, state, work, options);
  if (r.diverged || r.singular) {
    out.failure = failure_of(model_, state, r);
    return;
  }
  watch(state, r.impact.impact);
  const StepResult& found = work.result;
  for (int i = 0; i < found.earlier_count; ++i) impacts_.push_back(&found.earlier[i]);
  if (r.struck) impacts_.push_back(&found.record);
}

void Integration::step_by(std::unique_ptr<EventIntegrator>& events, State& state,
                          StepWorkspace& work, AdvanceReport& out) {
  EventReport landing;
  out.step = event_step(model_, *events, state, work.result, dt_, landing);
  out.events = landing.events;
  out.failure = std::move(landing.failure);
  changes_ = events->take_changes();
  for (const ModeChange& c : changes_)
    if (c.impact) impacts_.push_back(&c.record);
}

void Integration::step_by(std::unique_ptr<Rk4Integrator>& rk4, State& state, StepWorkspace& work,
                          AdvanceReport& out) {
  StepReport& r = out.step;
  if (!rk4->step(state, dt_, r.energy)) {
    r.singular = true;
    out.failure = failure_of(model_, state, r);
    return;
  }
  forward_kinematics(model_, state.q, state.v, work.result.work);
  work.result.motor_force = rk4->dynamics().motor_force();
  work.result.drive = rk4->dynamics().drive();
  watch(state, false);
}

void Integration::step_by(std::unique_ptr<ConnectionIntegrator>& connection, State& state,
                          StepWorkspace& work, AdvanceReport& out) {
  StepReport& r = out.step;
  r.impact.solve.converged = true;
  if (!connection->step(state, dt_, r.energy, out.failure)) return;
  forward_kinematics(model_, state.q, state.v, work.result.work);
  work.result.drive = connection->drive();
  watch(state, false);
}

AdvanceReport Integration::advance(State& state, StepWorkspace& work) {
  changes_.clear();
  impacts_.clear();
  AdvanceReport out;
  std::visit([&](auto& at_work) { step_by(at_work, state, work, out); }, at_work_);
  return out;
}

}  // namespace saltus
