// A scene run twice over: event-driven, exact in time, and by Moreau's time stepping at several
// steps, to see whether and how fast the second comes to the first.
#pragma once
#include <string>
#include <vector>

#include "saltus/scene/scene.h"

namespace saltus {

// Modes shorter than this many steps may be missed by time stepping, and impacts last a step there:
// such modes are left out where sequences of modes are compared.
inline constexpr double ignored_steps = 4;

// A change of mode or an impact of the event-driven run.
struct ComparedEvent {
  double t = 0;         // [s]
  std::string cause;    // why, and where
  std::string mode;     // "{runner1}": what holds or slips from then on
  bool impact = false;  // velocities jump
};

// The distance between two trajectories over their common times.
struct TrajectoryGap {
  double size = 0;   // the largest [m]; coordinates: [m] or [rad]
  double mean = 0;   // of each time's largest
  double t = 0;      // where it is largest [s]
  std::string what;  // body or joint coordinate; empty: the model has none
};

struct SteppingRun {
  double dt = 0;  // [s]
  std::int64_t steps = 0, unconverged = 0;
  TrajectoryGap position, coordinate;
  bool modes_agree = false;
  std::string difference;     // where the sequences of modes part; empty where they agree
  std::vector<double> times;  // of the same change, per event; NaN: none, or it is left out [s]
  double event_gap = 0;       // largest distance of those from the events' times [s]
};

struct Comparison {
  std::vector<ComparedEvent> events;
  std::vector<SteppingRun> runs;  // dt descending
  // Slopes of log mean gap over log dt, least squares; NaN: fewer than two gaps above rounding. Of
  // the mean: an impact's error depends on where in its step it falls, so the largest gap scatters.
  double position_order = 0, coordinate_order = 0;
};

// Four steps, each half the one before: a thousandth of the run at most and, where the scene is
// one of time stepping, such that the last is its own.
[[nodiscard]] std::vector<double> fitted_steps(const Scene& scene);

// Positions of bodies' frames [m], then joint coordinates [m] or [rad].
[[nodiscard]] Vec sample_positions(const Model& model, const State& state, Workspace& work);

// `dt` are the steps of time stepping, any order. Throws InputError for bad steps, and
// std::runtime_error where either integrator cannot run the scene.
[[nodiscard]] Comparison compare(const Scene& scene, std::vector<double> dt);

}  // namespace saltus
