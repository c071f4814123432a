// What the step of a time-stepped run costs: the exact run beside it, in windows. At the start of
// each window the event-driven integrator takes over the state of the stepped run, so that chaos,
// which drives any two runs apart, does not count; what they part by within a window is the stepped
// run's.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "saltus/scene/scene.h"

namespace saltus {

struct LocalCheckOptions {
  double window = 0;  // [s]; 0: a hundredth of the run, ten steps at least
  // Called after each window; returning false stops the check.
  std::function<bool(double t, double end)> progress;
};

// How fast the stepped run leaves the exact one in a window.
struct LocalError {
  double position = 0;    // of a body's frame [m/s]
  double coordinate = 0;  // of a joint's [rad/s] or [m/s]
  std::string body, joint;
};

struct CheckWindow {
  double from = 0, to = 0;  // [s]
  LocalError error;
  int events = 0;
  bool parted = false;  // it ended early: the two runs had come apart
  std::string failure;  // of the exact run; empty: none
};

struct LocalCheck {
  double dt = 0, window = 0;  // [s]
  std::vector<CheckWindow> windows;
  double checked = 0;     // time of the windows that the exact run finished [s]
  LocalError mean;        // over that time
  LocalError worst;       // of a window
  double worst_from = 0;  // where the one of the worst position begins [s]
  int parted = 0, failed = 0;
};

// Throws InputError where the scene is no time stepping or one that the exact run cannot take.
void check_supported_beside(const Scene& scene);

// The same, and std::runtime_error where the stepped run does not get to its end.
[[nodiscard]] LocalCheck check_locally(const Scene& scene, const LocalCheckOptions& options);

}  // namespace saltus
