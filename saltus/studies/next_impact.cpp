#include "saltus/studies/next_impact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/integrators/events/event_driven.h"
#include "saltus/scene/document.h"

namespace saltus {

namespace {

void check(const FeasibleOptions& o) {
  if (o.restitution.empty()) throw InputError("restitution: expected one number or more");
  for (const double e : o.restitution)
    if (!(e >= 0 && e <= 1))
      throw InputError(fmt::format("restitution: expected numbers in [0, 1], got {}", e));
  if (o.skip < 0) throw InputError(fmt::format("skip: expected a number >= 0, got {}", o.skip));
  if (o.reach && !(*o.reach > 0 && std::isfinite(*o.reach)))
    throw InputError(fmt::format("reach: expected a speed > 0, got {}", *o.reach));
  if (o.samples < 2 || o.samples > 1000000)
    throw InputError(fmt::format("samples: expected 2 to 1000000, got {}", o.samples));
}

NextImpact look_at(const Scene& scene, const Model& model, const ModeChange& change,
                   const FeasibleOptions& o) {
  const auto* chain = std::get_if<ChainImpact>(&scene.stepping.impact);
  const ChainImpact law = chain ? *chain : ChainImpact{};
  check_impact_law(law, model, scene.document->name() + ": contacts");
  NextImpact next{change.t, model, {}};
  next.curves = feasible_curves(model, change.record.q, change.record.v_before, law, o.restitution,
                                o.reach.value_or(0), o.samples);
  if (next.curves.empty())
    throw InputError(
        fmt::format("{}: the impact at {:.6g} s is frictionless or its contacts depend on each "
                    "other: expected one with a curve to draw",
                    scene.document->name(), change.t));
  return next;
}

}  // namespace

NextImpact next_impact(const Scene& scene, const FeasibleOptions& o) {
  check(o);
  const System system = build_system(scene);
  EventIntegrator integrator(system.model, system.actuation, event_driven(scene));
  State state = system.start;
  const double dt = std::max(scene.stepping.dt, scene.end / 1000);
  int passed = 0;
  while (state.t < scene.end) {
    const EventReport r = integrator.advance(state, std::min(state.t + dt, scene.end), dt);
    for (const ModeChange& c : integrator.take_changes())
      if (c.impact && passed++ == o.skip) return look_at(scene, system.model, c, o);
    if (!r.failure.empty())
      throw InputError(scene.document->name() + ": the run to the impact failed: " + r.failure);
    ++state.step;
  }
  throw InputError(fmt::format("{}: expected {} impact{} before its end at {:g} s, there {} {}",
                               scene.document->name(), o.skip + 1, o.skip ? "s" : "", scene.end,
                               passed == 1 ? "is" : "are",
                               passed ? std::to_string(passed) : "none"));
}

}  // namespace saltus
