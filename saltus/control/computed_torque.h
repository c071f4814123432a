// Computed torque (P1 section 6.3): torques that give joints, points and bodies the accelerations
// with which they follow a reference, whatever feet hold the model.
//
//   wanted   a = r'' + kd (r' - x') + kp (r - x)     of every line that is followed
//   motion   M dv/dt = B tau + W F - h,  W' dv/dt = -dW'/dt v     with the feet that touch held
//   so       A dv/dt + dA/dt v = S tau + a0
//   torques  min |S tau + a0 - a|^2 + eps |tau|^2  with  lower <= tau <= upper
//
// Within the limits and with as many torques as lines this is the textbook's; where a limit is met,
// the others give what comes nearest. A foot touches if its body carried load in the last step.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/controller.h"
#include "saltus/control/signal.h"

namespace saltus {

// A joint coordinate, or a point of a body with up to three of its inertial coordinates.
struct Followed {
  CoordinateIndex joint;
  BodyIndex body;
  Vec3 point = Vec3::Zero();        // in the body [m]
  std::optional<Signal> r[3] = {};  // of the joint the first [rad] or [m]; of the point x, y, z [m]
  bool upright = false;             // the body keeps the orientation that it has at the first tick
  double kp = 0, kd = 0;            // [1/s^2], [1/s]
};

// A point of a body that may stand; a ball's is its lowest.
struct ControlledFoot {
  BodyIndex body;
  Vec3 point = Vec3::Zero();  // in the body [m]
  double radius = 0;          // [m]
};

struct ComputedTorque {
  std::vector<CoordinateIndex> joints;  // that are driven
  std::vector<double> lower, upper;     // of their torques [N m] or [N]
  std::vector<Followed> follow;
  std::vector<ControlledFoot> feet;
  bool only_standing = false;  // no torques while no foot touches, as in P1
  double rate = 1000;          // [Hz]
};

// At most so many torques, and rows of what is followed and held.
inline constexpr int most_controlled = 48;

// Throws InputError, `path` in front, where it asks for what there is not.
void check(const Model& model, const ComputedTorque& settings, const std::string& path);

class ComputedTorqueController final : public Controller {
 public:
  explicit ComputedTorqueController(ComputedTorque settings);
  [[nodiscard]] const ComputedTorque& settings() const { return settings_; }
  [[nodiscard]] std::string_view name() const override { return "computed_torque"; }
  [[nodiscard]] double rate() const override { return settings_.rate; }
  [[nodiscard]] int memory() const override;  // the orientations that are kept
  [[nodiscard]] const std::vector<CoordinateIndex>& coordinates() const override {
    return settings_.joints;
  }
  void tick(const ControlTick& tick, std::unique_ptr<ControllerScratch>& scratch) const override;

 private:
  ComputedTorque settings_;
};

}  // namespace saltus
