// Functions of time with their rates.
#pragma once
#include <variant>
#include <vector>

namespace saltus {

struct Constant {
  double value = 0;
};
// offset + amplitude sin(omega t + phase)
struct Sine {
  double amplitude = 0, omega = 0, phase = 0, offset = 0;  // omega [rad/s], phase [rad]
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
struct Sum;

using Signal = std::variant<Constant, Sine, BangBang, Table, Move, Sum>;

struct Sum {
  std::vector<Signal> terms;
};

[[nodiscard]] double value(const Signal& signal, double t);
[[nodiscard]] double rate(const Signal& signal, double t);  // right-hand derivative
[[nodiscard]] double acceleration(const Signal& signal, double t);  // of that

}  // namespace saltus
