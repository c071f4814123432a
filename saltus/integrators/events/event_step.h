// A landing of the event-driven integrator as a step: what recorders and metrics read of one.
#pragma once
#include "saltus/integrators/events/event_driven.h"
#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

// Advances the state by dt. StepReport: iterations are Runge-Kutta steps, the residual is the
// largest rate of a kept row before it was put to rest. On failure (text in `failure`) the state is
// as it was.
[[nodiscard]] StepReport event_step(const Model& model, EventIntegrator& integrator, State& state,
                                    StepResult& result, double dt, EventReport& report);

}  // namespace saltus
