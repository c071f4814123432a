// The snake with one sphere contact a link, and the sphere pile, as numbers: the same for every
// peer.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace saltus::bench {

struct SnakeNumbers {
  static constexpr double length = 0.122, radius = 0.0525, mass = 7.5 / 11, mu = 0.2;
  static constexpr double kp = 800, kd = 2;  // PD of the joints [N m/rad], [N m s/rad]
  static constexpr double degree = 3.14159265358979323846 / 180;
  // phi_i,d = A sin(omega t + (i - 1) delta), P0 eq. 71
  static double reference(int joint, double t) {
    return 40 * degree * std::sin(80 * degree * t - 50 * degree * (joint - 1));
  }
};

// Spheres of 0.05 m and 1000 kg/m^3 on a jittered grid in an open box ten spheres wide.
struct Pile {
  static constexpr double radius = 0.05, density = 1000, mu = 0.5, dt = 1e-3;
  static constexpr int wide = 9;
  static constexpr double half_width = 10 * radius;
  static constexpr double mass() {
    return density * 4 / 3 * 3.14159265358979323846 * radius * radius * radius;
  }
  std::vector<std::array<double, 3>> centres;

  explicit Pile(int spheres) {
    std::uint64_t x = 1;  // a small generator of our own: the same bits everywhere
    const auto jitter = [&x] {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      return (static_cast<double>(x >> 33) / 2147483648.0 - 0.5) * 0.08 * radius;
    };
    const double pitch = 2.2 * radius;
    for (int i = 0; i < spheres; ++i) {
      const int a = i % wide, b = i / wide % wide, c = i / (wide * wide);
      const double px = (a - 0.5 * (wide - 1)) * pitch * 0.98 + jitter();
      const double py = (b - 0.5 * (wide - 1)) * pitch * 0.98 + jitter();
      centres.push_back({px, py, 1.1 * radius + c * pitch + jitter()});
    }
  }
};

}  // namespace saltus::bench
