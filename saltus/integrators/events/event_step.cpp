#include "saltus/integrators/events/event_step.h"

#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/preconditions.h"

namespace saltus {

namespace {

// Contacts, supports and forces of the instant, where a step keeps them.
void show(const Model& m, const EventIntegrator& from, const State& s, StepResult& w, double dt) {
  forward_kinematics(m, s.q, s.v, w.work);
  w.assembly.contacts.clear();
  const EventMode& mode = from.mode();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < mode.elements.size(); ++i) {
    const Element& e = mode.elements[i];
    const int row = from.now().row[i];
    if (!e.is_contact() || row < 0) continue;
    Contact c = from.dynamics().contact(static_cast<int>(i));
    c.mode = s.contacts[kept++].mode & 3U;
    for (int k = 0; k < e.rows; ++k) c.Lambda[k] = dt * from.now().lambda[row + k];
    w.assembly.contacts.push_back(c);
  }
  w.assembly.supports = from.dynamics().rows().supports;
  w.assembly.support_tangent = from.dynamics().rows().support_tangent;
  w.motor_force = from.dynamics().motor_force();
  w.drive = from.dynamics().drive();
}

}  // namespace

StepReport event_step(const Model& model, EventIntegrator& integrator, State& state,
                      StepResult& result, double dt, EventReport& report) {
  SALTUS_ASSERT(fits(model, state) && fits(model, result.work));
  SALTUS_ASSERT(dt > 0);
  const double t_E = state.t0 + static_cast<double>(state.step + 1) * dt;
  report = integrator.advance(state, t_E, dt);
  StepReport r;
  r.energy = report.energy;
  r.impact.impact = report.impacts > 0;
  r.impact.s = report.least_share;
  r.impact.solve.iterations = report.steps + report.rejected;
  r.impact.solve.residual = report.drift;
  r.projection.raw_joint_gap = model.cuts.empty() ? 0 : report.gap_drift;
  r.projection.raw_penetration = model.cuts.empty() ? report.gap_drift : 0;
  if (!report.failure.empty()) return r;
  ++state.step;
  show(model, integrator, state, result, dt);
  r.contacts = static_cast<int>(result.assembly.contacts.size());
  return r;
}

}  // namespace saltus
