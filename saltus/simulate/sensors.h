// Sensors: what a robot can know of its motion, as it would be told: at a rate, late, and with
// noise (docs/sensors.md). All that they remember is in State::memory, after what motors remember,
// so that a resumed run goes on bit by bit.
#pragma once
#include <cstdint>
#include <vector>

#include "saltus/control/sensor.h"
#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

// The n-th number of a stream, mean 0 and variance 1: the sum of 24 uniform numbers, by integer
// arithmetic, so that all machines draw the same.
[[nodiscard]] double normal_number(std::uint64_t stream, std::uint64_t n);
[[nodiscard]] std::uint64_t stream_of(const Sensor& sensor);

class SensorBank {
 public:
  // `first`: where its part of State::memory begins. Throws InputError with Sensor::path.
  SensorBank(const Model& model, std::vector<Sensor> sensors, double dt, int first);

  [[nodiscard]] const std::vector<Sensor>& sensors() const { return sensors_; }
  [[nodiscard]] int memory() const { return size_; }
  [[nodiscard]] double dt() const { return dt_; }
  // Readings of the start, whose kinematics are in `work`: before a step no force is known, so
  // forces and accelerations are nan. A state that remembers readings keeps them.
  void start(const Workspace& work, State& state);
  // After a step.
  void step(const StepResult& result, State& state);

  struct Reading {
    bool there = false;         // false: none has arrived yet; the values are nan
    double taken = 0;           // when it was measured [s]
    std::int64_t arrived = 0;   // the step after which it is known
    std::int64_t late = 0;      // [steps]
    std::vector<double> value;  // all groups
  };
  [[nodiscard]] const Reading& reading(int sensor) const { return readings_[sensor]; }
  [[nodiscard]] const std::vector<int>& arrived() const { return arrived_; }  // at the last step
  [[nodiscard]] int find(const std::string& name) const;                      // or -1

 private:
  struct Place {
    int at = 0;             // in State::memory
    int values = 0;         // of a reading
    double period = 1;      // [steps]
    std::int64_t late = 0;  // [steps]
    int room = 1;           // readings on their way at most
  };
  struct Moment {
    const Workspace& work;
    const Assembly* assembly;  // null at the start
    const Vec* motor_force;
  };
  void advance(const Moment& now, State& state);
  void measure(int i, const Moment& now, const State& state, double* out);
  void spoil(const Sensor& s, std::uint64_t count, double* values) const;
  void imu(const Sensor& s, const Place& p, const Moment& now, const State& state,
           double* out) const;
  void wrench(const Sensor& s, const Moment& now, double* out) const;
  [[nodiscard]] bool touches(const Sensor& s, int shape) const;
  void pose(const Sensor& s, const Workspace& work, double* out) const;
  void remember_velocities(const Workspace& work, State& state) const;
  void require_own(const State& state) const;
  void take_over(int i, const State& state);
  [[nodiscard]] Vec3 velocity(const Sensor& s, const Workspace& work) const;

  const Model& model_;
  std::vector<Sensor> sensors_;
  std::vector<Place> places_;
  std::vector<Reading> readings_;
  std::vector<int> arrived_;
  double dt_;
  int first_, size_ = 0;
};

}  // namespace saltus
