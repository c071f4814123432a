#include "saltus/studies/local_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "saltus/scene/document.h"
#include "saltus/simulate/start_check.h"
#include "saltus/studies/compare.h"

namespace saltus {

namespace {

constexpr double windows_of_a_run = 100;
constexpr double least_steps = 10;  // of a window
constexpr int looks = 10;           // at the distance, within a window
// A window ends where the two runs have come this far apart, in length scales: from there on their
// distance grows by itself.
constexpr double apart = 1e-2;

// Largest distance of bodies and of joint coordinates, and whose.
struct Distance {
  double position = 0, coordinate = 0;
  int body = -1, joint = -1;
};

Distance distance(const Model& m, const Vec& x, const Vec& y) {
  Distance d;
  const int bodies = m.body_count(), joints = static_cast<int>(m.coordinates.size());
  for (int i = 0; i < bodies; ++i)
    if (const double gap = (x - y).segment<3>(3 * i).norm(); gap > d.position) {
      d.position = gap;
      d.body = i;
    }
  for (int c = 0; c < joints; ++c)
    if (const double gap = std::abs(x[3 * bodies + c] - y[3 * bodies + c]); gap > d.coordinate) {
      d.coordinate = gap;
      d.joint = c;
    }
  return d;
}

class Checker {
 public:
  Checker(const Scene& scene, const System& system, const LocalCheckOptions& options)
      : scene_(scene),
        system_(system),
        options_(options),
        stepped_(system.model, system.actuation, scene.stepping),
        exact_(system.model, system.actuation, event_driven(scene)),
        work_(system.model),
        kinematics_(system.model),
        state_(system.start) {
    if (scene.overlap == Overlap::separate) (void)separate(system.model, state_);
    const double dt = scene.stepping.dt;
    result_.dt = dt;
    const double asked = options.window > 0 ? options.window : scene.end / windows_of_a_run;
    steps_ = static_cast<std::int64_t>(std::max(std::round(asked / dt), least_steps));
    result_.window = static_cast<double>(steps_) * dt;
    last_ = static_cast<std::int64_t>(std::ceil(scene.end / dt - 1e-9));
  }

  LocalCheck run() {
    while (state_.step < last_) {
      window();
      if (options_.progress && !options_.progress(state_.t, scene_.end)) break;
    }
    if (result_.checked > 0) {
      result_.mean.position /= result_.checked;
      result_.mean.coordinate /= result_.checked;
    }
    return result_;
  }

 private:
  void window() {
    CheckWindow w;
    w.from = state_.t;
    State exact = state_;
    exact.events.resize(0);
    // A step leaves shapes as deep in each other as its correction does; an exact run does not
    // begin so.
    (void)separate(system_.model, exact);
    const std::int64_t end = std::min(state_.step + steps_, last_);
    const std::int64_t every = std::max<std::int64_t>(1, (end - state_.step) / looks);
    Distance d;
    while (state_.step < end && !w.parted && w.failure.empty()) {
      step(std::min(every, end - state_.step));
      const EventReport report = exact_.advance(exact, state_.t, result_.dt);
      w.events += report.events;
      w.failure = report.failure;
      (void)exact_.take_changes();
      if (!w.failure.empty()) break;
      d = distance(system_.model, sample_positions(system_.model, state_, kinematics_),
                   sample_positions(system_.model, exact, kinematics_));
      w.parted = d.position > apart * system_.model.length_scale;
    }
    if (!w.failure.empty()) step(end - state_.step);
    w.to = state_.t;
    enter(w, d);
  }

  void enter(CheckWindow& w, const Distance& d) {
    LocalCheck& r = result_;
    r.parted += w.parted;
    r.failed += !w.failure.empty();
    if (w.failure.empty()) {
      const double time = w.to - w.from;
      w.error = {d.position / time, d.coordinate / time,
                 d.body >= 0 ? system_.model.bodies[d.body].name : "",
                 d.joint >= 0 ? system_.model.coordinates[d.joint].name : ""};
      r.checked += time;
      r.mean.position += d.position;
      r.mean.coordinate += d.coordinate;
      if (w.error.position > r.worst.position) {
        r.worst.position = w.error.position;
        r.worst.body = w.error.body;
        r.worst_from = w.from;
      }
      if (w.error.coordinate > r.worst.coordinate) {
        r.worst.coordinate = w.error.coordinate;
        r.worst.joint = w.error.joint;
      }
    }
    r.windows.push_back(std::move(w));
  }

  void step(std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      if (const AdvanceReport report = stepped_.advance(state_, work_); !report.failure.empty())
        throw std::runtime_error("--check: " + report.failure);
  }

  const Scene& scene_;
  const System& system_;
  const LocalCheckOptions& options_;
  Integration stepped_;
  EventIntegrator exact_;
  StepWorkspace work_;
  Workspace kinematics_;
  State state_;
  std::int64_t steps_ = 0, last_ = 0;
  LocalCheck result_;
};

}  // namespace

void check_supported_beside(const Scene& scene) {
  if (scene.method != Method::moreau)
    throw scene.document->error("integrator.type",
                                fmt::format("--check judges time stepping (moreau), got {}",
                                            integrator_name(integrator_of(scene))));
  const System system = build_system(scene);
  try {
    check_supported(event_driven(scene), system.model, system.actuation, "integrator.");
  } catch (const InputError& e) {
    throw scene.document->error(
        e.path(), "--check needs an event-driven run beside the scene's: " + e.message());
  }
}

LocalCheck check_locally(const Scene& scene, const LocalCheckOptions& options) {
  check_supported_beside(scene);
  const System system = build_system(scene);
  return Checker(scene, system, options).run();
}

}  // namespace saltus
