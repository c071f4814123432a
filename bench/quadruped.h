// The quadruped of P2 (scenes/p2/trot.yaml) in any engine: standing, trotting open loop, standing
// on a slope of 15 degrees. Every peer is built from our own scene, so that all have the same
// robot, and is judged by one watcher that looks at nothing but the poses and velocities of the
// bodies. An Engine is made with (robot, trial) and has
//
//   step(from, to)   one step; from, to: the joints' references at its start and its end
//   look(seen)       poses and velocities of all bodies, and the joints' angles
#pragma once
#include <array>
#include <cmath>
#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "saltus/scene/scene.h"

namespace saltus::bench {

inline constexpr int legs = 4, joints = 12;
using References = std::array<double, joints>;  // [rad], joint i of body i + 1

struct Foot {
  int body = 0;
  Vec3 at = Vec3::Zero();  // in the body [m]
  double radius = 0;       // [m]
};

struct Robot {
  explicit Robot(const std::string& scene_file);
  [[nodiscard]] References reference(double t) const;
  [[nodiscard]] Vec3 axis(int body) const;  // of the joint of a body, 1 ... 12

  Scene scene;
  System system;
  std::vector<Foot> feet;
  std::vector<SE3> start;  // of the bodies
  References q_start;
  double mu = 0, kp = 0, kd = 0;  // of the feet on the ground; [N m/rad], [N m s/rad]
};

// What an engine shows of its state: bodies as the scene has them, inertial axes.
struct Seen {
  std::vector<SE3> X;
  std::vector<Vec3> v, omega;  // of the centre of mass [m/s]; [rad/s]
  References q;
};

struct Trial {
  Vec3 gravity{0, 0, -9.81};  // [m/s^2]
  double dt = 2.5e-3;         // [s]
  bool trot = false;          // after 1 s; else it stands
};

template <class E>
concept QuadrupedEngine = std::constructible_from<E, const Robot&, const Trial&> &&
    requires(E& e, const References& r, Seen& seen) {
  e.step(r, r);
  e.look(seen);
};

// Looks at a run step by step.
class Watcher {
 public:
  Watcher(const Robot& robot, const Trial& trial, double creep_from);
  void look(const Seen& seen, double t);

  double penetration = 0;               // the deepest since t = 0.5 s [m]
  double slip_path = 0;                 // of the feet in contact since t = 1 s [m]
  double contact_time = 0;              // of all feet, over that time [s]
  std::array<Vec3, legs> creep;         // of the contact points since `creep_from` [m]
  double motors = 0;                    // work of the PD along the motion [J]
  double energy = 0, start_energy = 0;  // mechanical [J]
  Vec3 trunk = Vec3::Zero();            // [m]

 private:
  void slip(const Seen& seen, double t);
  void work(const Seen& seen, double t);
  [[nodiscard]] double mechanical(const Seen& seen) const;
  const Robot& robot_;
  const Trial& trial_;
  double creep_from_;
  Seen last_;
  bool first_ = true;
};

// One engine with its settings: how to watch a run to its end, and how to time one.
struct Contender {
  std::string name, settings;
  std::function<void(const Robot&, const Trial&, double end, const std::function<void(double)>&,
                     Watcher&)>
      watch;
  std::function<double(const Robot&, const Trial&, int warm_up, int steps)> seconds;  // CPU time
};

[[nodiscard]] double cpu_seconds();  // of this process
// The references at the ends of all steps: a peer pays nothing for the gait.
[[nodiscard]] std::vector<References> reference_table(const Robot& robot, const Trial& trial,
                                                      int steps);

template <QuadrupedEngine Engine>
Contender contender(const std::string& name, const std::string& settings) {
  Contender c{name, settings, {}, {}};
  c.watch = [](const Robot& robot, const Trial& trial, double end,
               const std::function<void(double)>& each, Watcher& watcher) {
    const int steps = static_cast<int>(std::round(end / trial.dt));
    const auto table = reference_table(robot, trial, steps);
    Engine engine(robot, trial);
    Seen seen;
    for (int k = 0; k <= steps; ++k) {
      engine.look(seen);
      watcher.look(seen, k * trial.dt);
      each(k * trial.dt);
      if (k < steps) engine.step(table[k], table[k + 1]);
    }
  };
  c.seconds = [](const Robot& robot, const Trial& trial, int warm_up, int steps) {
    const auto table = reference_table(robot, trial, warm_up + steps);
    Engine engine(robot, trial);
    for (int k = 0; k < warm_up; ++k) engine.step(table[k], table[k + 1]);
    const double begin = cpu_seconds();
    for (int k = warm_up; k < warm_up + steps; ++k) engine.step(table[k], table[k + 1]);
    return cpu_seconds() - begin;
  };
  return c;
}

// The rest of main(): `measure` or `time` of all contenders, or `truth` (of the first, with a small
// step); prints JSON for `saltus bench quadruped`.
int run_contenders(int argc, char** argv, const std::string& version,
                   const std::vector<Contender>& contenders);

}  // namespace saltus::bench
