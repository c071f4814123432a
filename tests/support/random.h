// Random numbers that are the same on every standard library: mt19937_64 is fixed by the standard,
// its distributions are not.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include "saltus/base/types.h"
#include "saltus/lie/inertia.h"
#include "saltus/lie/se3.h"

namespace saltus::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform(double lower, double upper) {
    return lower + (upper - lower) * (static_cast<double>(engine_() >> 11U) * 0x1p-53);
  }
  double log_uniform(double lower, double upper) {
    return std::exp(uniform(std::log(lower), std::log(upper)));
  }
  int integer(int lower, int upper) {  // both included
    const int count = upper - lower + 1;
    return lower + static_cast<int>(engine_() % static_cast<std::uint64_t>(count));
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform(1e-300, 1)));
    return radius * std::cos(uniform(0, 2 * std::numbers::pi));
  }

  Vec vector(int size, double scale = 1) {
    Vec x(size);
    for (double& entry : x) entry = uniform(-scale, scale);
    return x;
  }
  Vec3 vector3(double scale = 1) { return vector(3, scale); }
  Vec6 vector6(double scale = 1) { return vector(6, scale); }
  Mat matrix(int rows, int columns) {
    Mat x(rows, columns);
    for (int j = 0; j < columns; ++j) x.col(j) = vector(rows);
    return x;
  }
  Vec3 direction() {
    Vec3 x(normal(), normal(), normal());
    return x.normalized();
  }
  Quat quaternion() {  // uniform on the sphere
    return Quat(Vec4(normal(), normal(), normal(), normal()).normalized());
  }
  Mat3 rotation() { return quaternion().toRotationMatrix(); }
  SE3 pose(double scale = 1) { return {rotation(), vector3(scale)}; }

  // Symmetric positive definite, eigenvalues in [lower, upper].
  Mat spd(int size, double lower, double upper);

  // Of a cloud of point masses: physical by construction, and never flat.
  RigidInertia inertia(double mass_scale = 1, double size = 0.5);

 private:
  std::mt19937_64 engine_;
};

}  // namespace saltus::test
