// Functions of time with their rates.
#pragma once
#include <variant>
#include <vector>

namespace saltus {

struct Constant {
  double value = 0;
};
// offset + r amplitude sin(omega t + phase), where r grows from 0 at t = 0 to 1 at t = ramp:
//   r = s^3 (10 - 15 s + 6 s^2),  s = t / ramp;  without ramp r = 1.
struct Sine {
  double amplitude = 0, omega = 0, phase = 0, offset = 0;  // omega [rad/s], phase [rad]
  double ramp = 0;                                         // [s]
};
// offset + amplitude max(0, sin(omega t + phase))
struct HalfSine {
  double amplitude = 0, omega = 0, phase = 0, offset = 0;  // omega [rad/s], phase [rad]
};
// `on` for the first `duty` of every period, else `off`.
struct Square {
  double on = 1, off = 0, period = 1, duty = 0.5, start = 0;  // period and start [s]
};
// `values` in turn: values[k] from times[k] on; before times[0] the first value.
struct BangBang {
  std::vector<double> times, values;
};
enum class Interpolation { hold, linear };
struct Table {
  std::vector<double> times, values;
  Interpolation interpolation = Interpolation::linear;
};
// A cycloid from `from` to `to`: at rest at both ends,
//   r = from + (to - from) (s - sin(2 pi s)/(2 pi)),  s = (t - start)/duration in [0, 1].
struct Move {
  double from = 0, to = 0, start = 0, duration = 1;
};
// A cubic spline through the values at the times, with two continuous derivatives. Closed: the last
// value is the first, and it repeats for ever; else at rest at both ends and held beyond them.
struct Spline {
  std::vector<double> times, values;
  bool closed = false;
  std::vector<double> bends{};  // second derivatives at the times  <- make_spline
};
// Angle of a leg of two equal segments, hip flexion or knee, whose foot trots open loop below the
// hip: with p = 2 pi frequency (t - start) + phase and a growing from 0 to 1 in `ramp`,
//   x = -stroke a cos p,  h = height - lift a max(0, sin p),  b = acos(|(x, h)|/(2 segment)),
//   flexion = atan2(-x, h) + b,  knee = -2 b.
// Angles turn about y; at zero the leg hangs straight down.
struct LegGait {
  bool knee = false;
  double segment = 0.2;                        // [m]
  double height = 0.33, stroke = 0, lift = 0;  // [m]
  double frequency = 1, phase = 0;             // [Hz], [rad]
  double start = 0, ramp = 0;                  // [s]
};
struct Sum;

using Signal =
    std::variant<Constant, Sine, HalfSine, Square, BangBang, Table, Move, Spline, LegGait, Sum>;

struct Sum {
  std::vector<Signal> terms;
};

// At least two ascending times, of a closed spline at least four, its last value the first.
[[nodiscard]] Spline make_spline(std::vector<double> times, std::vector<double> values,
                                 bool closed);

[[nodiscard]] double value(const Signal& signal, double t);
[[nodiscard]] double rate(const Signal& signal, double t);          // right-hand derivative
[[nodiscard]] double acceleration(const Signal& signal, double t);  // of that
// The first time after t at which the value or a derivative jumps; infinity if there is none. A
// time that `value` takes for reached at t does not come again.
[[nodiscard]] double next_break(const Signal& signal, double t);
// Mean over [t0, t1]: of every piece between breaks its mid-point, so to second order of a smooth
// signal and exact for a piecewise linear one.
[[nodiscard]] double mean(const Signal& signal, double t0, double t1);
// The first number of a signal that is not finite, or that makes it undefined; null if none.
[[nodiscard]] const char* undefined(const Signal& signal);

}  // namespace saltus
