// A run of a scene under way: its loop (run.cpp), its checkpoints (run_checkpoints.cpp) and what it
// tells of itself (run_told.cpp).
#pragma once
#include <chrono>
#include <nlohmann/json_fwd.hpp>

#include "saltus/simulate/recorder.h"
#include "saltus/simulate/run.h"
#include "saltus/simulate/run_totals.h"
#include "saltus/simulate/step_watch.h"

namespace saltus {

struct SceneRun {
  using Clock = std::chrono::steady_clock;
  using Json = nlohmann::ordered_json;
  // The step with which the gains of an episode passed its bound.
  struct BrokenStep {
    std::int64_t step = 0;  // 0: none did
    double t = 0, depth = 0, turn = 0;
    int body = 0;  // that turned most
    Place at;
  };

  const Scene& scene;
  const RunOptions& options;
  System system;
  StepWorkspace work;
  SensorBank sensors;
  MetricEvaluator metrics;
  State state;
  Totals totals;
  std::unique_ptr<Recorder> recorder;
  RunResult result;
  Clock::time_point began = Clock::now();
  Integration integration;
  bool stepping = scene.method == Method::moreau;
  UndeterminedCounter undetermined;
  bool dumped = false;
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t frame_every = 1, checkpoint_every = 1;
  bool frame_written = false;  // by the last step
  BrokenStep broke;            // the first
  StepWatch watch;             // a resumed run knows what happened since

  SceneRun(const Scene& s, const RunOptions& o);
  MetricEvaluator make_metrics() const;
  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(Clock::now() - began).count();
  }
  // At the state that is there.
  [[nodiscard]] std::vector<std::string> too_fast();
  // Time stepping only: event-driven runs refuse what they cannot begin with themselves.
  void look_at_start();
  void start();
  void open_recorder(bool publish = true);
  void resume();
  void write_checkpoint();
  // The contact of a step that was deepest in its middle, or what else was worst.
  [[nodiscard]] Place contact_of(const StepReport& r) const;
  // Of the episode that goes on until one of them is over and broken, then of that one. A resumed
  // run knows what happened since.
  void watch_books(const StepReport& r);
  void watch_step(const StepReport& r);
  void fail(const std::string& why);
  // With the episode that goes on.
  [[nodiscard]] EnergyBooks closed_books() const;
  [[nodiscard]] std::string at(const Place& place) const;
  [[nodiscard]] std::string books_text(const EnergyBooks& b) const;
  // Compliant contacts are explicit forces: what they gain is told, and a matter of dt.
  void judge_books();
  [[nodiscard]] Json books_json() const;
  // The first step found that has none, as the end of a message.
  [[nodiscard]] std::string no_solution() const;
  // Of the last advance.
  void note_impacts();
  void note_modes();
  bool one_step();
  // Time steps that missed their tolerance: the first is dumped on request, and those that are
  // worse than all before are searched for a contradiction until one is found.
  void look_into_failing(const StepReport& r);
  // For `saltus solve`.
  void dump_failing(const StepReport& r);
  void stop();
  void loop();
  [[nodiscard]] Json energy_json() const;
  [[nodiscard]] Json undetermined_json() const;
  [[nodiscard]] Json locomotion_json() const;
  void summarise();
  RunResult finish();
};

}  // namespace saltus
