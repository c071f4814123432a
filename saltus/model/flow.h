// Flows that bodies move in: given fields, which do not feel the bodies (docs/fluids.md). What they
// are at a place and a time: forces/flow.h.
#pragma once
#include <functional>
#include <variant>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// A flow at a place, inertial axes.
struct FlowAt {
  Vec3 velocity = Vec3::Zero();  // U [m/s]
  Mat3 gradient = Mat3::Zero();  // dU_i / dx_j [1/s]
  Vec3 rate = Vec3::Zero();      // dU/dt at the place [m/s^2]
};

// U = velocity + gradient (x - point): uniform without gradient, else shear, strain or rotation.
struct LinearFlow {
  Vec3 velocity = Vec3::Zero();  // [m/s]
  Mat3 gradient = Mat3::Zero();  // [1/s]
  Vec3 point = Vec3::Zero();     // [m]
};
// Airy's wave in deep water on a stream, c = k h.x - omega t + phase, z the height above the level:
//   U = stream + a omega e^(k z) (cos c h + sin c up),   omega^2 = g k.
struct WaveFlow {
  Vec3 stream = Vec3::Zero();    // [m/s]
  Vec3 heading = Vec3::UnitX();  // h, unit, level
  Vec3 up = Vec3::UnitZ();       // unit
  double amplitude = 0;          // a [m]
  double wave_number = 1;        // k [1/m]
  double omega = 1;              // [rad/s]
  double phase = 0, level = 0;   // [rad], of the water at rest along `up` [m]
};
// Rows of equal vortices along x, each `period` after the next, carried along x; with X, Y from a
// vortex of the row, k = 2 pi / period, q = circulation / (2 period), D = cosh kY - cos kX + core:
//   U = stream + sum over rows (-q sinh kY / D, q sin kX / D, 0).
struct VortexRow {
  double x = 0, y = 0;     // of one of its vortices at t = 0 [m]
  double circulation = 0;  // counter-clockwise about z [m^2/s]
};
struct VortexStreet {
  Vec3 stream = Vec3::Zero();  // [m/s]
  double carried = 0;          // speed of the rows along x [m/s]
  double period = 1;           // [m]
  double core = 0.1;           // keeps U finite at a vortex [-]
  std::vector<VortexRow> rows;
};
// A function of place and time; it has to give gradient and rate too.
struct UserFlow {
  std::function<FlowAt(const Vec3& x, double t)> at;
};

using Flow = std::variant<LinearFlow, WaveFlow, VortexStreet, UserFlow>;

}  // namespace saltus
