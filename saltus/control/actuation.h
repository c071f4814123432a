// Who drives what: motors on joint coordinates, prescribed coordinates, controllers, and the user's
// forces.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "saltus/control/controller.h"
#include "saltus/control/push.h"
#include "saltus/control/signal.h"
#include "saltus/dynamics/impedance.h"
#include "saltus/dynamics/workspace.h"

namespace saltus {

// Whose error a motor's gains act on. velocity: the reference is a speed, and kp is zero.
enum class Servo { position, velocity };

// tau = kp (reference - x) + kd (d reference/dt - dx/dt) + gear torque, within what the motor can
// give. (P0 eq. 43 in the sign of the joint coordinate.) Gains and reference are the joint's; what
// belongs to the motor itself is in its own units, before the gear: torque_joint = gear
// torque_motor, speed_motor = gear speed_joint. docs/actuators.md has the equations.
struct Motor {
  CoordinateIndex coordinate;
  double kp = 0, kd = 0;  // [N m/rad], [N m s/rad]; or [N/m], [N s/m]
  Signal reference = Constant{};
  Signal torque = Constant{};  // of the motor [N m] or [N]
  double limit = infinity;     // largest |torque| of the motor [N m] or [N]
  Servo servo = Servo::position;
  double gear = 1;                             // not 0; negative: it turns the other way
  double lower = -infinity, upper = infinity;  // of the motor's torque, besides the limit
  // Torque that is available at |speed| when driving, linear in between, the last one beyond; when
  // braking the first. Empty: no such curve.
  std::vector<double> speeds, torques;  // [rad/s], [N m]; or [m/s], [N]
  double lag = 0;                       // time constant of the torque [s]
  double backlash = 0;                  // width of the play between motor and joint [rad] or [m]
};

// What a motor can give at a speed of its joint, at the joint.
[[nodiscard]] TorqueRange torque_range(const Motor& motor, double joint_speed);
// What is wrong with a motor, or null.
[[nodiscard]] const char* fault_of(const Motor& motor);
// Numbers of State::memory that motors take, from the first on: the torque of each that lags.
[[nodiscard]] int memory_of(const std::vector<Motor>& motors);

// x(t) = r(t), the joint's force is what it takes.
struct Prescribed {
  CoordinateIndex coordinate;
  Signal r = Constant{};
};

// Of a spherical joint (Body::driven): R = exp(r(t)) with the rotation vector r.
struct PrescribedRotation {
  BodyIndex body;
  std::array<Signal, 3> r;
};

// Called once a step at its mid-point: may add joint forces [N m, N] and body wrenches (body
// frame) [N, N m]. A callback with hidden state makes a run not resumable.
using UserForce = std::function<void(const Model&, const Workspace&, double t, VecIn q, VecIn v,
                                     VecRef tau, std::vector<Vec6>& external)>;

// The angle of a runner [rad] (P3's gamma).
struct Steering {
  int runner = -1;  // of Model::runners
  Signal angle = Constant{};
};
// The natural length of a spring [m] (P3's l): the muscle.
struct NaturalLength {
  int spring = -1;  // of Model::springs
  Signal length = Constant{};
};

// The strain at which a rod's coefficient is at rest, a(t) [its own unit]: the muscle.
struct StrainOffset {
  int coordinate = -1;  // of Model::coordinates, a rod's
  Signal offset = Constant{};
};

// What drives a cable that stretches (model/model.h): its natural length [m], a pull [N].
struct CableDrive {
  int cable = -1;  // of Model::cables
  std::optional<Signal> length = {};
  Signal pull = Constant{};
};

struct Actuation {
  std::vector<Motor> motors;
  std::vector<Prescribed> prescribed;
  std::vector<PrescribedRotation> rotations;
  std::vector<Steering> steering;      // ascending by runner
  std::vector<NaturalLength> lengths;  // ascending by spring
  std::vector<StrainOffset> strains;   // ascending by coordinate
  std::vector<CableDrive> cables;      // ascending by cable
  std::vector<Push> pushes;
  std::vector<std::shared_ptr<const Controller>> controllers;
  UserForce user;
};
// Numbers of State::memory that motors and controllers take, in this order.
[[nodiscard]] int memory_of(const Actuation& actuation);

// What is prescribed of the tree's coordinates at t: q, v and dv/dt; others are left as they are.
void place_prescribed(const Model& model, const Actuation& actuation, double t, VecRef q);
void prescribe_rates(const Model& model, const Actuation& actuation, double t, VecRef v);
void prescribe_accelerations(const Model& model, const Actuation& actuation, double t, VecRef a);

// phi_i,d = A sin(omega t + (i - 1) delta), i = 1, 2, ... along the coordinates (P0 eq. 71).
struct SerpenoidGait {
  double amplitude = 0;  // A [rad]
  double omega = 0;      // [rad/s]
  double delta = 0;      // phase between neighbours [rad]
};
[[nodiscard]] Signal serpenoid(const SerpenoidGait& gait, int i);  // i from 1

// What is given for a runner or a spring, or null.
[[nodiscard]] const Signal* steering_of(const Actuation& actuation, int runner);
[[nodiscard]] const Signal* length_of(const Actuation& actuation, int spring);
[[nodiscard]] double steering_angle(const Actuation& actuation, int runner, double t);  // or 0
[[nodiscard]] double natural_length(const Model& model, const Actuation& actuation, int spring,
                                    double t);

// a(t) of the coefficients of rods, over the velocities; the others stay as they are.
void strain_offsets(const Model& model, const Actuation& actuation, double t, VecRef a);

// Throws InputError: a prescribed coordinate or rotation needs exactly one motion and no motor;
// runners, springs and cables have one drive at most, in ascending order; every signal is defined,
// every motor is one, and controllers have a rate and free coordinates of the model.
void check(const Model& model, const Actuation& actuation);

}  // namespace saltus
