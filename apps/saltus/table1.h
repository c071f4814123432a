// P2's Table 1 on our quadruped: the eleven configurations, run and timed. What they share is
// scenes/p2/trot.yaml; a configuration is a list of --set.
#pragma once
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "saltus/integrators/moreau/timed_step.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

struct Configuration {
  const char* name;         // the paper's
  bool hard;                // contact
  const char* coordinates;  // the scene's word: minimal, as-marked (extended), maximal
  const char* solver;       // jor, sor; auto: ours
  const char* bilaterals;   // direct, prox; empty: there are none
  double alpha;
  double evaluations, realtime;  // the paper's: steps a second, and times real time; 0: none
};
[[nodiscard]] const std::vector<Configuration>& table1();
// And below them what a scene gets by default: minimal coordinates, the automatic solver.
[[nodiscard]] std::vector<Configuration> rows_of_table1();
[[nodiscard]] const Configuration& configuration(const std::string& name);

// Time steps [s]: one a control update of 400 Hz; a compliant contact needs two.
inline constexpr double hard_step = 2.5e-3, compliant_step = 1.25e-3;
inline constexpr double gait_period = 0.8, trot_start = 1.0;  // [s] of scenes/p2/trot.yaml
// The trot has its full amplitude from here on.
inline constexpr double full_trot = trot_start + gait_period;

// The --set of a configuration, with another step, damping [N s/m] or stiffness [N/m] of the
// contact.
[[nodiscard]] std::vector<std::string> settings(const Configuration& c, double dt = 0,
                                                double damping = 50, double stiffness = 3e4);
[[nodiscard]] std::string command_of(const std::vector<std::string>& settings);

// The trotting robot, step by step.
struct Trot {
  explicit Trot(const std::vector<std::string>& settings);
  Scene scene;
  System system;
  State state;
  MoreauMidpoint options;
  StepWorkspace work;
  int foot = -1;  // the left fore foot's shape

  [[nodiscard]] StepReport step() {
    return saltus::step(system.model, system.actuation, state, work, options);
  }
  // Up to a time; throws std::runtime_error where it diverges. The default solver is faster.
  void run_to(double t, bool default_solver = true);
  // Of the left fore foot in the last step: normal force [N], and how deep it is in the ground [m].
  [[nodiscard]] double force() const;
  [[nodiscard]] double depth() const;
  [[nodiscard]] Vec3 trunk() const;  // its position [m]
};

struct Spread {
  double mean = 0, deviation = 0;
};
struct Timing {
  double evaluations = 0, realtime = 0;  // a second of CPU time, least of the repetitions
  double iterations = 0;                 // a step, in the mean
  int most_iterations = 0, unconverged = 0, steps = 0;
  double joint_gap = 0;  // largest [m]
  double off = 0;        // trunk at the end of the cycle, from where the default solver has it [m]
  Spread total;          // of a step, with the clock in it [s]
  std::array<Spread, static_cast<std::size_t>(StepStage::count)> stages;
};
// Within a set: the tolerance of 1e-6 m/s acts for a cycle of 0.8 s; a few contacts may add up [m].
inline constexpr double agreement = 2e-6;
// One gait cycle of full amplitude, `repetitions` times over.
[[nodiscard]] Timing time_configuration(const Configuration& c, int repetitions);

// Mean iterations of a step for alpha = 0.1, 0.2, ... from `states` states over a gait cycle; ends
// before the first alpha with which one does not converge in 5000.
[[nodiscard]] std::vector<std::pair<double, double>> iterations_over_alpha(const Configuration& c,
                                                                           int states);

// The normal force of the left fore foot over one gait cycle. The cycle is the first that this foot
// carries in: without a controller the trunk bounces more and more, and two runs drift apart.
struct ForceSeries {
  std::string name;
  std::vector<double> t, force, depth;  // [s] since the trot's start, [N], [m]
};
[[nodiscard]] ForceSeries force_series(const std::string& name,
                                       const std::vector<std::string>& settings);
struct Fig5 {
  ForceSeries hard, soft, damped;  // d_N = 50 and 500 N s/m
  double transient = 0;            // after touch-down that is left out [s]
  double difference = 0;           // of hard and damped in stance, in the mean [N]
  double mean_force = 0;           // hard, there [N]
};
[[nodiscard]] Fig5 figure_5();
// The compliant force tends to the hard one: how far it is off in that stance, the hard one at 0.1
// ms.
struct Stiffness {
  double stiffness = 0, damping = 0, dt = 0;  // [N/m], [N s/m], [s]
  double difference = 0, mean_force = 0;      // in the mean [N]
};
[[nodiscard]] std::vector<Stiffness> towards_hard();

// Depths of all feet in the mean over four gait cycles of the compliant robot, half of the sum: two
// feet carry the trotting robot.
struct Sinking {
  double mean = 0, most = 0;  // [m]; most: of one foot
};
[[nodiscard]] Sinking trotting_depth();

// Trunk positions of the sets at t_trot = 0.8 s, against minimal coordinates [m], and observed
// orders.
struct SetDifference {
  double dt = 0, extended = 0, maximal = 0;
  double order_extended = std::nan(""), order_maximal = std::nan("");  // against the step before
};
[[nodiscard]] std::vector<SetDifference> across_sets();
// The least-squares slope of log difference over log dt: single ratios scatter with where in a step
// feet touch down.
[[nodiscard]] double fitted_order(const std::vector<SetDifference>& all,
                                  double SetDifference::*which);

// How far a foot moves in a minute of standing [m].
struct Standing {
  double vertical = 0, horizontal = 0;
};
[[nodiscard]] Standing standing_minute();

// Of the left fore foot from the trot's start on [N]; infinite where it does not stay on its feet.
[[nodiscard]] double largest_force(const std::vector<std::string>& settings);

[[nodiscard]] const char* stage_name(StepStage stage);

// saltus bench table1
int bench_table1(bool as_json, bool quick);

}  // namespace saltus::cli
