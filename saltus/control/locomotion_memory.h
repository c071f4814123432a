// What the locomotion controller remembers, and its scratch; internal.
#pragma once
#include "saltus/control/locomotion.h"
#include "saltus/solvers/cone_program.h"

namespace saltus::locomotion_memory {

// A leg stands, swings, has landed before its swing was over, or searches for ground below.
enum class Mode { stance = 0, swing = 1, landed = 2, search = 3 };

enum : int {
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

inline constexpr int size = legs + leg_count * per_leg;

inline double* leg_at(double* memory, int leg) { return memory + legs + leg * per_leg; }
inline const double* leg_at(const double* memory, int leg) { return memory + legs + leg * per_leg; }
inline Eigen::Map<Vec3> vector_at(double* memory) { return Eigen::Map<Vec3>(memory); }

}  // namespace saltus::locomotion_memory

namespace saltus {

// Sized once.
struct LegMotion {
  using Columns = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, most_leg_joints>;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3, 0, most_leg_joints, 3>;
  int joints = 0;
  std::array<int, most_leg_joints> velocity{};  // their places in v
  Vec3 p, v;                                    // of the foot's centre
  Vec3 a0;                         // its acceleration at no acceleration of the coordinates
  Vec3 wanted;                     // its acceleration
  Eigen::Matrix<double, 3, 6> Jb;  // by the trunk's velocities
  Columns Jl;                      // by the leg's
  Rows inverse;                    // damped, of Jl
  bool touches = false, stands = false;
};
struct LocomotionWork final : ControllerScratch {
  explicit LocomotionWork(const Model& model) : work(model) {}
  Workspace work;
  std::array<LegMotion, leg_count> legs;
  ConeProgram program;
  ConeProgram::Vector f;
};

}  // namespace saltus
