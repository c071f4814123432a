// When each leg of a quadruped stands and when it swings.
//
// Leg i has the phase p = frac(f t + phase_i): it stands while p < duty, then swings. Where at some
// time no leg stands the gait has flights, and the trunk bounces: over a bout of support of length
// T_s before a flight T_f its height follows the motion under F = m g (pi/2) (T/T_s) sin(pi x),
// x in [0, 1], T = T_s + T_f, which leaves the ground with the speed g T_f/2 that it landed with.
#pragma once
#include <array>
#include <string_view>

namespace saltus {

inline constexpr int leg_count = 4;  // LF, RF, LH, RH
inline constexpr std::array<std::string_view, leg_count> leg_names{"LF", "RF", "LH", "RH"};

struct Gait {
  double frequency = 1.25;  // of the cycle [Hz]
  double duty = 1;          // share of the cycle in which a leg stands; 1: it never swings
  std::array<double, leg_count> phase{};  // of each leg, in cycles [0, 1)
  // Share by which the trunk follows the middle of the legs that stand rather than the commanded
  // path: a static walk has 1.
  double sway = 0;
};
[[nodiscard]] Gait stand_gait();
[[nodiscard]] Gait walk_gait();
[[nodiscard]] Gait trot_gait();
[[nodiscard]] Gait pronk_gait();

struct LegPhase {
  bool stance = true;
  double progress = 0;  // of the stance or the swing, 0..1
  double left = 0;      // time until it ends [s]; stand: infinity
};
// At the time t since the gait began.
[[nodiscard]] LegPhase leg_phase(const Gait& gait, int leg, double t);
[[nodiscard]] double stance_time(const Gait& gait);  // [s]; stand: 0
[[nodiscard]] double swing_time(const Gait& gait);   // [s]
// How much a leg counts as support: 1 in the middle of its stance, 0 at its ends and in swing.
[[nodiscard]] double support_weight(const Gait& gait, int leg, double t);

// Bouts of support and the flights between them, all alike.
struct Bouts {
  int count = 0;                  // a cycle; 0: there is always a leg that stands
  double stance = 0, flight = 0;  // [s]
};
[[nodiscard]] Bouts bouts_of(const Gait& gait);
// Height over that of touchdown, its rate and acceleration [m, m/s, m/s^2].
struct Bounce {
  double z = 0, rate = 0, acceleration = 0;
};
[[nodiscard]] Bounce bounce(const Gait& gait, double t, double gravity);

// What is wrong with a gait, or null. `tick` [s] is the period of the controller.
[[nodiscard]] const char* fault_of(const Gait& gait, double tick);

}  // namespace saltus
