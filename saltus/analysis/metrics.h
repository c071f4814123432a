// Probes and metrics: figures of a run, gathered step by step so that they survive a checkpoint.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "saltus/dynamics/workspace.h"

namespace saltus {

struct Probe {
  std::string name, body;     // body "centre-of-mass": of the whole model
  Vec3 point = Vec3::Zero();  // in the body [m]
};

struct Metric {
  enum class Kind {
    mean_velocity,  // of a probe over [from, to] [m/s]
    travel,         // distance of a probe's places at `from` and `to` [m]
    displacement,   // largest distance of a probe from where it was at `from`, until `to` [m]
    position,       // of a probe at a time [m]
    coordinate,     // sum of joint coordinates at a time [m] or [rad]
    rate,           // and of their rates
    largest,
    smallest,           // coordinate of a probe over [from, to] [m]
    first_pass,         // first time a probe crosses a line [s]
    mean_force,         // sum of |contact force| on bodies or shapes, mean over the window [N]
    work,               // of motors and prescribed drives over [from, to] [J]
    cost_of_transport,  // that work / (m g horizontal distance of the probe) [-]
    joint_gap,          // largest of a cut joint or a loop after a step [m]
    energy_drift        // largest energy that no force explains / range of the kinetic energy [-]
  };
  std::string name;
  Kind kind = Kind::position;
  std::string probe;
  int axis = 0;
  double from = 0, to = -1;          // window [s]; to < 0: the end of the run
  double at = 0;                     // position, coordinate, rate: when [s]; < 0: the end
  std::vector<std::string> joints;   // coordinate, rate
  double value = 0;                  // first_pass: the line [m]
  std::vector<std::string> objects;  // mean_force: patterns of body or shape names
  std::string path;                  // in the document, for messages
};

// '*' matches any text, 'a|b' what a or b matches.
[[nodiscard]] bool matches(const std::string& pattern, const std::string& name);

// The same of one pattern and many names: of 'a|b|...' what has no star is found at once.
class NamePattern {
 public:
  explicit NamePattern(const std::string& pattern);
  [[nodiscard]] bool matches(const std::string& name) const;

 private:
  std::unordered_set<std::string> names_;
  std::vector<std::string> starred_;
};

[[nodiscard]] Vec3 probe_position(const Model& model, const Workspace& work, const Probe& probe);

// What a metric needs to know of a step beside the state.
struct StepFigures {
  double drive_work = 0;    // of motors and prescribed drives since the start [J]
  double energy_error = 0;  // energy since the start that no force explains [J]
  double joint_gap = 0;     // after the step [m]
};

class MetricEvaluator {
 public:
  // Throws InputError: an unknown probe, body or shape.
  MetricEvaluator(const Model& model, std::vector<Probe> probes, std::vector<Metric> metrics,
                  double end);

  // Call at the start, then after every step with the kinematics of the state.
  void start(const Model& model, const State& state, const Workspace& work);
  void step(const Model& model, const State& state, const Workspace& work,
            const StepFigures& figures);

  struct Result {
    std::string name;
    std::optional<double> value;  // none: the run did not get there
  };
  [[nodiscard]] std::vector<Result> results(const Model& model) const;

  // What a restart needs.
  [[nodiscard]] const std::vector<double>& memory() const { return memory_; }
  void restore(const std::vector<double>& memory) { memory_ = memory; }

 private:
  [[nodiscard]] double* slot(std::size_t metric) { return memory_.data() + 3 + stride * metric; }
  [[nodiscard]] const double* slot(std::size_t metric) const {
    return memory_.data() + 3 + stride * metric;
  }
  [[nodiscard]] double joint_sum(const Model& model, const State& state, const Workspace& work,
                                 std::size_t metric) const;
  void remember_positions(const Model& model, const Workspace& work);
  [[nodiscard]] double contact_impulse(const State& state, std::size_t metric) const;

  static constexpr std::size_t stride = 8;
  std::vector<Probe> probes_;
  std::vector<Metric> metrics_;
  std::vector<int> probe_of_;                         // per metric
  std::vector<std::vector<CoordinateIndex>> joints_;  // per metric
  std::vector<std::vector<char>> touches_;            // per metric: shapes that count
  // t, work, spare; per metric 8 numbers; per probe its last position.
  std::vector<double> memory_;
};

}  // namespace saltus
