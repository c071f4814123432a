// A sensor as a scene describes it; SensorBank (simulate/sensors.h) reads them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/model/model.h"

namespace saltus {

enum class SensorKind {
  encoder,  // positions of joints, then their rates
  torque,   // motor torques of joints
  imu,      // specific force and angular velocity, in the sensor's frame
  wrench,   // contact force and moment on a body or a shape, about and in the sensor's frame
  contact,  // 1 where a body or a shape is pressed by a contact, else 0
  com,      // centre of mass of the model and its velocity
  pose      // position, quaternion w x y z, velocity and angular velocity of a frame
};
[[nodiscard]] std::string_view name_of(SensorKind kind);

struct Sensor {
  std::string name;
  SensorKind kind = SensorKind::encoder;
  std::vector<CoordinateIndex> joints;  // encoder, torque
  BodyIndex body;                       // imu, wrench, contact, pose
  ShapeIndex shape;                     // wrench, contact: of this shape only
  SE3 frame;                            // of the sensor, in the body
  double rate = 0;                      // [Hz]; 0: every step
  double delay = 0;                     // [s]
  std::vector<double> noise;            // standard deviation of each group of values
  std::uint64_t seed = 0;
  std::vector<double> bias;  // of each value; or empty
  double resolution = 0;     // encoder: positions come in multiples of it [rad] or [m]
  std::string path;          // in a scene
};

// Values that belong together and share a noise.
struct SensorGroup {
  const char* name;
  const char* unit;
  int values;
  int noises;  // independent ones; a quaternion of four numbers is turned by three
};
[[nodiscard]] std::vector<SensorGroup> groups_of(const Sensor& sensor);
[[nodiscard]] int values_of(const Sensor& sensor);
// Throws InputError with Sensor::path (or the name) where it cannot be read at steps of dt [s].
void check_sensor(const Sensor& sensor, double dt);

}  // namespace saltus
