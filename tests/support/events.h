// An event-driven simulation in a struct, for tests.
#pragma once
#include "saltus/integrators/events/event_driven.h"
#include "tests/support/simulate.h"

namespace saltus::test {

struct EventSimulation {
  Model model;
  Actuation actuation;
  State state;
  EventDriven options;
  std::unique_ptr<EventIntegrator> integrator;
  std::vector<ModeChange> changes;
  EnergyTerms ledger;
  int steps = 0, rejected = 0, events = 0, impacts = 0;
  std::string failure;

  explicit EventSimulation(const ModelBuilder& builder)
      : model(builder.build()), state(make_state(model)) {}

  bool run_until(double t, double landing = infinity) {
    if (!integrator) integrator = std::make_unique<EventIntegrator>(model, actuation, options);
    while (state.t < t) {
      const EventReport r = integrator->advance(state, std::min(t, state.t + landing), 1e-3);
      for (ModeChange& c : integrator->take_changes()) changes.push_back(std::move(c));
      steps += r.steps;
      rejected += r.rejected;
      events += r.events;
      impacts += r.impacts;
      ledger.add_work(r.energy);
      failure = r.failure;
      if (!failure.empty()) return false;
      ++state.step;
    }
    return true;
  }
  // Names of what holds after a change: runners, contacts, ...
  [[nodiscard]] std::string held(const ModeChange& c) const {
    std::string text;
    for (const ModeMember& m : c.after)
      if (m.status == Status::holds) text += (text.empty() ? "" : " ") + model.name_of(m.place);
    return text;
  }
  void print() const {
    for (const ModeChange& c : changes)
      fmt::print("      t = {:<18.12g} {:<13} {}{}\n", c.t, name_of(c.causes.front().cause),
                 held(c), c.impact ? "  (impact)" : "");
    fmt::print("      {} steps, {} rejected, {} events, {} impacts\n", steps, rejected, events,
               impacts);
  }
};

}  // namespace saltus::test
