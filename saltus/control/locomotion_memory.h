// The controller's part of State::memory; internal. All zero: it has not begun.
#pragma once
#include "saltus/control/locomotion.h"

namespace saltus::locomotion_memory {

// A leg stands, swings, has landed before its swing was over, or searches for ground below.
enum class Mode { stance = 0, swing = 1, landed = 2, search = 3 };

enum : int {
  next_tick,  // number of the next tick + 1
  fall,
  fall_time,
  yaw,                  // reference of the heading
  path,                 // of the position: x, y
  measured = path + 2,  // ticks
  sums,                 // forward, lateral, yaw rate, the three wanted, height
  largest_tilt = sums + 7,
  ticks,
  saturated,
  infeasible,
  legs
};
// Of a leg: mode, where it lifted off, where it last stood, where it is told to be.
enum : int { mode = 0, lift_off = 1, foothold = 4, target = 7, per_leg = 10 };

inline constexpr int torques = legs + leg_count * per_leg;

inline double* leg_at(double* memory, int leg) { return memory + legs + leg * per_leg; }
inline const double* leg_at(const double* memory, int leg) { return memory + legs + leg * per_leg; }
inline Eigen::Map<Vec3> vector_at(double* memory) { return Eigen::Map<Vec3>(memory); }

}  // namespace saltus::locomotion_memory
