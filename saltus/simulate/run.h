// Runs a scene: steps, records, measures, checkpoints.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/scene/scene.h"
#include "saltus/simulate/sensors.h"

namespace saltus {

struct RunOptions {
  std::string output;  // run file; empty: none
  std::string dump;    // the first step that misses its tolerance, as a problem file; empty: none
  int threads = 1;     // the bits do not depend on it
  std::string resume_from;  // run file to continue from its last checkpoint; empty: start anew
  // Called about ten times a second of wall time; returning false stops the run.
  std::function<bool(double t, double end, double steps_per_s)> progress;
  // Called after every recorded frame; it may wait (a paused run). flush() shows readers all that
  // is recorded so far; returning false stops the run.
  std::function<bool(const std::function<void()>& flush)> on_frame;
  // Acts beside the scene's own drives. What it remembers is unknown, so such a run has no
  // checkpoints and cannot be resumed; its summary says so.
  UserForce force;
  // The same for a force that reads the scene's sensors: it is made with them, and they outlive it.
  std::function<UserForce(const SensorBank&)> controller;
  // What every fluid and wing of the scene moves in, instead of its own flow; as a force, it is not
  // in the run file.
  std::shared_ptr<const Flow> flow;
  // Steps that gain energy beyond the bound (docs/energy.md) are told, but not a failure.
  bool allow_gain = false;
  [[nodiscard]] bool forced() const { return force || controller || flow; }
};

enum class RunStatus { completed, unconverged, diverged, stopped, gained };

struct RunSummary;  // run_summary.h: as a JSON object, for the command line

struct RunResult {
  RunStatus status = RunStatus::completed;
  State state;                                // the last good one
  std::shared_ptr<const RunSummary> summary;  // what `saltus run --json` prints
  std::string message;                        // what went wrong, in a sentence; empty if nothing
  std::vector<std::string> warnings;          // about the start, a sentence each
  std::string note;                           // what is odd, but may be meant so; or empty
  [[nodiscard]] std::string summary_json() const;
};

// Throws InputError (bad scene, unwritable output, a run file that does not fit).
[[nodiscard]] RunResult run(const Scene& scene, const RunOptions& options);
// The scene inside a run file, to resume it.
[[nodiscard]] Scene scene_of_run(const std::string& path);

}  // namespace saltus
