// The locomotion controller of a quadruped (docs/locomotion.md): at its own rate it chooses joint
// torques from the true state and holds them until its next tick.
//
//   schedule     which legs stand, by the gait (gait.h) and by what touches
//   placement    where a swinging foot lands: Raibert's neutral point with a capture term
//   virtual model   the acceleration a_b that springs and dampers to the commanded motion ask of
//                the trunk
//   distribution    foot forces f in their friction cones,
//                min 1/2 |A f - w|^2_S + eps/2 |f|^2,  w = Mhat a_b + bhat      (cone_program.h)
//   torques      tau = (M a + bias - J' f) of the legs: -J' f, gravity and inertia of the legs
//
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "saltus/control/actuation.h"
#include "saltus/control/quadruped.h"
#include "saltus/control/signal.h"

namespace saltus {

// Stiffness and damping per unit of inertia: squared angular frequency [1/s^2] and rate [1/s].
struct Gain {
  double kp = 0, kd = 0;
};
struct LocomotionGains {
  Gain height{120, 22};
  Gain tilt{180, 24};  // roll and pitch
  Gain yaw{60, 14};
  Gain travel{12, 6};  // the horizontal position on its path, and the velocity
  Gain swing{1400, 70};
  double capture = 0.9;  // of sqrt(height/g) times the error of the velocity, added to a foothold
};

struct ScheduledGait {
  double from = 0;  // [s]
  Gait gait;
};

struct Locomotion {
  Quadruped robot;
  std::vector<ScheduledGait> gaits;  // ascending; at least one, the first from the start on
  Signal forward = Constant{}, lateral = Constant{};  // of the trunk, heading frame [m/s]
  Signal yaw_rate = Constant{};                       // [rad/s]
  double height = 0;        // of the trunk's origin over the ground between the feet [m]
  double clearance = 0.08;  // of a swinging foot [m]
  double friction = 0.6;    // coefficient of the cones that forces are kept in
  double rate = 400;        // [Hz]
  LocomotionGains gains;
  double fall_tilt = 1.05;               // [rad]
  double fall_height = 0.4;              // share of the height below which it has fallen
  double measured_from = 0;              // of the report's means [s]
  std::array<Vec2, leg_count> stance{};  // of the feet from the centre of mass, heading frame [m]
  std::array<std::array<double, most_leg_joints>, leg_count> limit{};  // of the torques [N m]
};

// Why a robot has fallen.
enum class Fall { none, tilt, touch, low };
[[nodiscard]] const char* text_of(Fall fall);

struct LocomotionReport {
  Fall fall = Fall::none;
  double fall_time = 0;             // [s]
  double measured = 0;              // time over which the means are taken [s]
  double forward = 0, lateral = 0;  // means, heading frame [m/s]
  double yaw_rate = 0;              // [rad/s]
  double wanted_forward = 0, wanted_lateral = 0, wanted_yaw_rate = 0;
  double height = 0;        // mean [m]
  double largest_tilt = 0;  // [rad]
  double saturated = 0;     // share of ticks with a torque at its limit
  double infeasible = 0;    // share of ticks whose forces miss the tolerance of the cone program
};

// Takes the measures of the robot where it stands in q: stance, height (where it is 0). Throws
// InputError, `path` in front, when a gait has a fault or the limits cannot hold its weight.
void fit_locomotion(const Model& model, VecIn q, const std::string& path, Locomotion& locomotion);

// The gait at a time and since when it is.
[[nodiscard]] const ScheduledGait& gait_at(const Locomotion& locomotion, double t);

class LocomotionController final : public Controller {
 public:
  explicit LocomotionController(Locomotion settings);
  [[nodiscard]] const Locomotion& settings() const { return settings_; }
  [[nodiscard]] LocomotionReport report(const double* own_memory) const;
  [[nodiscard]] std::string_view name() const override { return "locomotion"; }
  [[nodiscard]] double rate() const override { return settings_.rate; }
  [[nodiscard]] int memory() const override;
  [[nodiscard]] const std::vector<CoordinateIndex>& coordinates() const override { return joints_; }
  void tick(const ControlTick& tick, std::unique_ptr<ControllerScratch>& scratch) const override;

 private:
  Locomotion settings_;
  std::vector<CoordinateIndex> joints_;  // of the legs, one after the other
};

// The one among an actuation's controllers: its settings, or null.
[[nodiscard]] const Locomotion* locomotion_of(const Actuation& actuation);
// In its place, or as a new one; nothing: takes it away.
void set_locomotion(Actuation& actuation, std::optional<Locomotion> settings);
// Nothing before its first tick.
[[nodiscard]] std::optional<LocomotionReport> locomotion_report(const Actuation& actuation,
                                                                const State& state);

}  // namespace saltus
