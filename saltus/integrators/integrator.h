// The integrators as one choice: what a scene or a program names, what each of them does not
// support, and one advance for all.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "saltus/integrators/connection_integrator.h"
#include "saltus/integrators/events/event_driven.h"
#include "saltus/integrators/mode_change.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/integrators/rk4_projection.h"

namespace saltus {

using Integrator = std::variant<MoreauMidpoint, EventDriven, Rk4Projection, ByConnection>;

[[nodiscard]] std::string_view integrator_name(const Integrator& integrator);
[[nodiscard]] double integrator_dt(const Integrator& integrator);  // of an advance [s]

// What an integrator does not support of a model and its actuation, in one place for scenes, C++
// and Python: throws InputError. `path` is the integrator's place in the input, with a dot behind
// it, or empty.
void check_supported(const Integrator& integrator, const Model& model, const Actuation& actuation,
                     const std::string& path);

// What an advance found. StepReport of a landing: event_step.h.
struct AdvanceReport {
  StepReport step;
  int events = 0;       // that the event-driven integrator met
  std::string failure;  // empty, or why there is no motion from here: the state is as it was
};

// An integrator at work on a model. Model and actuation outlive it.
class Integration {
 public:
  // Throws InputError (check_supported).
  Integration(const Model& model, const Actuation& actuation, const Integrator& integrator);

  // Advances the state by dt; `work` holds the poses, contacts and forces at its end.
  [[nodiscard]] AdvanceReport advance(State& state, StepWorkspace& work);

  // Changes of mode of the last advance: those of time stepping are looked for on demand only.
  [[nodiscard]] const std::vector<ModeChange>& changes() const { return changes_; }
  void watch_modes(bool watch) { watch_ = watch; }
  // Its impacts, until the next one; also those before a failure.
  [[nodiscard]] const std::vector<const ImpactRecord*>& impacts() const { return impacts_; }
  // The options of time stepping, which may change from step to step; null: it is another one.
  [[nodiscard]] MoreauMidpoint* time_stepping() { return std::get_if<MoreauMidpoint>(&at_work_); }

 private:
  // With its options, if it needs them; the others are where they were made.
  using AtWork =
      std::variant<MoreauMidpoint, std::unique_ptr<EventIntegrator>, std::unique_ptr<Rk4Integrator>,
                   std::unique_ptr<ConnectionIntegrator>>;
  void step_by(MoreauMidpoint& options, State& state, StepWorkspace& work, AdvanceReport& out);
  void step_by(std::unique_ptr<EventIntegrator>& events, State& state, StepWorkspace& work,
               AdvanceReport& out);
  void step_by(std::unique_ptr<Rk4Integrator>& rk4, State& state, StepWorkspace& work,
               AdvanceReport& out);
  void step_by(std::unique_ptr<ConnectionIntegrator>& connection, State& state, StepWorkspace& work,
               AdvanceReport& out);
  void watch(const State& state, bool impact);

  const Model& model_;
  const Actuation& actuation_;
  double dt_;
  AtWork at_work_;
  bool watch_ = false;
  ModeWatcher watcher_;
  std::vector<ModeChange> changes_;
  std::vector<const ImpactRecord*> impacts_;
};

}  // namespace saltus
