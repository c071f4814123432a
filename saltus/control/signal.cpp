#include "saltus/control/signal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double two_pi = 2 * pi;
constexpr double never = std::numeric_limits<double>::infinity();

// A time that the caller's arithmetic missed by rounding still counts as reached.
double reached(double t) { return t + 1e-12 * std::max(1.0, std::abs(t)); }

// Index of the last time reached at t, or 0 before the first.
std::size_t interval(const std::vector<double>& times, double t) {
  const auto it = std::upper_bound(times.begin(), times.end(), reached(t));
  return it == times.begin() ? 0 : static_cast<std::size_t>(it - times.begin()) - 1;
}

// Periods of a square wave begun at t.
double periods(const Square& s, double t) { return std::floor((reached(t) - s.start) / s.period); }
bool is_on(const Square& s, double t) {
  return reached(t) < s.start + (periods(s, t) + s.duty) * s.period;
}

// A number with its first two derivatives by time.
struct Jet {
  double x = 0, d = 0, dd = 0;
};
Jet operator+(const Jet& a, const Jet& b) { return {a.x + b.x, a.d + b.d, a.dd + b.dd}; }
Jet operator*(double k, const Jet& a) { return {k * a.x, k * a.d, k * a.dd}; }
Jet operator*(const Jet& a, const Jet& b) {
  return {a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + 2 * a.d * b.d + a.x * b.dd};
}
// f(a) by the values of f, f', f'' there.
Jet chain(const Jet& a, double f, double df, double ddf) {
  return {f, df * a.d, ddf * a.d * a.d + df * a.dd};
}

// A sine that grows (Sine::ramp), less its offset.
Jet growing_sine(const Sine& s, double t) {
  const double p = s.omega * t + s.phase, x = std::clamp(t / s.ramp, 0.0, 1.0), y = 1 - x;
  const Jet r{x * x * x * (10 - 15 * x + 6 * x * x), 30 * x * x * y * y / s.ramp,
              60 * x * y * (y - x) / (s.ramp * s.ramp)};
  return s.amplitude *
         (r * Jet{std::sin(p), s.omega * std::cos(p), -s.omega * s.omega * std::sin(p)});
}

// Angle of the leg; past a kink its right-hand derivatives.
Jet leg_angle(const LegGait& s, double t) {
  const double omega = two_pi * s.frequency, since = t - s.start;
  Jet a;  // share of the gait
  if (reached(t) >= s.start) {
    a = s.ramp > 0 ? Jet{std::max(since, 0.0) / s.ramp, 1 / s.ramp, 0} : Jet{1, 0, 0};
    if (reached(t) >= s.start + s.ramp) a = {1, 0, 0};
  }
  const double p = omega * since + s.phase;
  const Jet cosine{std::cos(p), -omega * std::sin(p), -omega * omega * std::cos(p)};
  Jet sine{std::sin(p), omega * std::cos(p), -omega * omega * std::sin(p)};
  if (std::sin(omega * (reached(t) - s.start) + s.phase) <= 0) sine = {};
  const Jet x = -s.stroke * (a * cosine), h = Jet{s.height, 0, 0} + -s.lift * (a * sine);
  const Jet ll = x * x + h * h;
  const double l = std::sqrt(ll.x);
  const Jet cos_b = (0.5 / s.segment) * chain(ll, l, 0.5 / l, -0.25 / (l * ll.x));
  const double w = 1 / std::sqrt(1 - cos_b.x * cos_b.x);
  const Jet b = chain(cos_b, std::acos(cos_b.x), -w, -cos_b.x * w * w * w);
  if (s.knee) return -2 * b;
  // tan(swing) = -x/h: swing' = (x h' - h x')/l^2.
  const double turn = x.x * h.d - h.x * x.d, dturn = x.x * h.dd - h.x * x.dd;
  const Jet swing{std::atan2(-x.x, h.x), turn / ll.x, dturn / ll.x - turn * ll.d / (ll.x * ll.x)};
  return swing + b;
}

// The angle alone.
double leg_value(const LegGait& s, double t) {
  const double since = t - s.start, p = two_pi * s.frequency * since + s.phase;
  double a = 0;
  if (reached(t) >= s.start) a = since < s.ramp ? std::max(since, 0.0) / s.ramp : 1;
  const double sine = std::sin(p), x = -s.stroke * a * std::cos(p);
  const double h = s.height - s.lift * a * std::max(sine, 0.0);
  const double b = std::acos(0.5 / s.segment * std::sqrt(x * x + h * h));
  return s.knee ? -2 * b : std::atan2(-x, h) + b;
}

// The piece of a spline at a time and the place in it; false: before or after an open one.
struct SplinePlace {
  bool inside = true;
  std::size_t k = 0;
  double h = 0, a = 0, b = 0;  // length, shares of its two ends
};
double within(const Spline& s, double t) {  // a closed spline's own time
  if (!s.closed) return t;
  const double first = s.times.front(), period = s.times.back() - first;
  const double x = first + (t - first) - period * std::floor((reached(t) - first) / period);
  return std::max(x, first);
}
SplinePlace place_of(const Spline& s, double t) {
  SplinePlace p;
  const double x = within(s, t);
  p.inside = s.closed || (x >= s.times.front() && x <= s.times.back());
  p.k = std::min(interval(s.times, x), s.times.size() - 2);
  p.h = s.times[p.k + 1] - s.times[p.k];
  p.b = (x - s.times[p.k]) / p.h;
  p.a = 1 - p.b;
  return p;
}
double spline_value(const Spline& s, double t) {
  const SplinePlace p = place_of(s, t);
  if (!p.inside) return t < s.times.front() ? s.values.front() : s.values.back();
  return p.a * s.values[p.k] + p.b * s.values[p.k + 1] +
         p.h * p.h / 6 *
             ((p.a * p.a * p.a - p.a) * s.bends[p.k] + (p.b * p.b * p.b - p.b) * s.bends[p.k + 1]);
}
double spline_rate(const Spline& s, double t) {
  const SplinePlace p = place_of(s, t);
  if (!p.inside) return 0;
  return (s.values[p.k + 1] - s.values[p.k]) / p.h +
         p.h / 6 * ((3 * p.b * p.b - 1) * s.bends[p.k + 1] - (3 * p.a * p.a - 1) * s.bends[p.k]);
}
double spline_acceleration(const Spline& s, double t) {
  const SplinePlace p = place_of(s, t);
  return p.inside ? p.a * s.bends[p.k] + p.b * s.bends[p.k + 1] : 0;
}

struct Value {
  double t;
  double operator()(const Spline& s) const { return spline_value(s, t); }
  double operator()(const LegGait& s) const { return leg_value(s, t); }
  double operator()(const Constant& s) const { return s.value; }
  double operator()(const Sine& s) const {
    if (s.ramp > 0) return s.offset + growing_sine(s, t).x;
    return s.offset + s.amplitude * std::sin(s.omega * t + s.phase);
  }
  double operator()(const HalfSine& s) const {
    return s.offset + s.amplitude * std::max(0.0, std::sin(s.omega * t + s.phase));
  }
  double operator()(const Square& s) const { return is_on(s, t) ? s.on : s.off; }
  double operator()(const BangBang& s) const { return s.values[interval(s.times, t)]; }
  double operator()(const Table& s) const {
    const std::size_t k = interval(s.times, t);
    if (s.interpolation == Interpolation::hold || t <= s.times[k] || k + 1 == s.times.size())
      return s.values[k];
    const double x = (t - s.times[k]) / (s.times[k + 1] - s.times[k]);
    return s.values[k] + x * (s.values[k + 1] - s.values[k]);
  }
  double operator()(const Move& s) const {
    const double x = std::clamp((t - s.start) / s.duration, 0.0, 1.0);
    return s.from + (s.to - s.from) * (x - std::sin(two_pi * x) / two_pi);
  }
  double operator()(const Sum& s) const {
    double sum = 0;
    for (const Signal& term : s.terms) sum += value(term, t);
    return sum;
  }
};

struct Rate {
  double t;
  double operator()(const Spline& s) const { return spline_rate(s, t); }
  double operator()(const LegGait& s) const { return leg_angle(s, t).d; }
  double operator()(const Constant&) const { return 0; }
  double operator()(const Sine& s) const {
    if (s.ramp > 0) return growing_sine(s, t).d;
    return s.amplitude * s.omega * std::cos(s.omega * t + s.phase);
  }
  double operator()(const HalfSine& s) const {
    // On which side of a zero is decided a little later: at the zero itself, by rounding.
    if (std::sin(s.omega * reached(t) + s.phase) <= 0) return 0;
    return s.amplitude * s.omega * std::cos(s.omega * t + s.phase);
  }
  double operator()(const Square&) const { return 0; }
  double operator()(const BangBang&) const { return 0; }
  double operator()(const Table& s) const {
    const std::size_t k = interval(s.times, t);
    if (s.interpolation == Interpolation::hold || t < s.times[0] || k + 1 == s.times.size())
      return 0;
    return (s.values[k + 1] - s.values[k]) / (s.times[k + 1] - s.times[k]);
  }
  double operator()(const Move& s) const {
    const double x = (t - s.start) / s.duration;
    if (x < 0 || x > 1) return 0;
    return (s.to - s.from) / s.duration * (1 - std::cos(two_pi * x));
  }
  double operator()(const Sum& s) const {
    double sum = 0;
    for (const Signal& term : s.terms) sum += rate(term, t);
    return sum;
  }
};

struct SecondRate {
  double t;
  double operator()(const Spline& s) const { return spline_acceleration(s, t); }
  double operator()(const LegGait& s) const { return leg_angle(s, t).dd; }
  double operator()(const Constant&) const { return 0; }
  double operator()(const Sine& s) const {
    if (s.ramp > 0) return growing_sine(s, t).dd;
    return -s.amplitude * s.omega * s.omega * std::sin(s.omega * t + s.phase);
  }
  double operator()(const HalfSine& s) const {
    const double x = std::sin(s.omega * t + s.phase);
    return x > 0 ? -s.amplitude * s.omega * s.omega * x : 0;
  }
  double operator()(const Square&) const { return 0; }
  double operator()(const BangBang&) const { return 0; }
  double operator()(const Table&) const { return 0; }
  double operator()(const Move& s) const {
    const double x = (t - s.start) / s.duration;
    if (x < 0 || x > 1) return 0;
    return (s.to - s.from) / (s.duration * s.duration) * two_pi * std::sin(two_pi * x);
  }
  double operator()(const Sum& s) const {
    double sum = 0;
    for (const Signal& term : s.terms) sum += acceleration(term, t);
    return sum;
  }
};

struct NextBreak {
  double t;
  [[nodiscard]] double first_of(const std::vector<double>& times) const {
    const auto it = std::upper_bound(times.begin(), times.end(), reached(t));
    return it == times.end() ? never : *it;
  }
  double operator()(const Constant&) const { return never; }
  double operator()(const Sine& s) const {  // of the third derivative
    if (s.ramp <= 0 || s.amplitude == 0 || reached(t) >= s.ramp) return never;
    return reached(t) < 0 ? 0 : s.ramp;
  }
  double operator()(const HalfSine& s) const {
    if (s.omega == 0 || s.amplitude == 0) return never;
    // The zeros in the order of time: sin(omega t + phase) = 0 where |omega| t + sign phase = k pi.
    const double omega = std::abs(s.omega), phase = s.omega > 0 ? s.phase : -s.phase;
    const double k = std::floor((omega * t + phase) / pi);
    for (int j = 0; j < 4; ++j)
      if (const double zero = ((k + j) * pi - phase) / omega; zero > reached(t)) return zero;
    return never;  // zeros nearer to each other than times can be told apart
  }
  double operator()(const LegGait& s) const {
    if (s.start > reached(t)) return s.start;
    const double phase = s.phase - two_pi * s.frequency * s.start;
    const double lifts = (*this)(HalfSine{s.lift, two_pi * s.frequency, phase, 0});
    const double full = s.start + s.ramp;
    return full > reached(t) ? std::min(full, lifts) : lifts;
  }
  double operator()(const Square& s) const {
    const double n = periods(s, t);
    for (const double x : {n, n + s.duty, n + 1, n + 1 + s.duty})
      if (const double edge = s.start + x * s.period; edge > reached(t)) return edge;
    return s.start + (n + 2) * s.period;
  }
  double operator()(const BangBang& s) const { return first_of(s.times); }
  double operator()(const Table& s) const { return first_of(s.times); }
  double operator()(const Spline& s) const {  // a third derivative jumps at each of its times
    if (!s.closed) return first_of(s.times);
    const double x = within(s, t);
    const auto it = std::upper_bound(s.times.begin(), s.times.end(), reached(x));
    const double next = it == s.times.end() ? s.times.back() : *it;
    return t + (next - x);
  }
  double operator()(const Move& s) const {
    if (s.start > reached(t)) return s.start;
    return s.start + s.duration > reached(t) ? s.start + s.duration : never;
  }
  double operator()(const Sum& s) const {
    double first = never;
    for (const Signal& term : s.terms) first = std::min(first, next_break(term, t));
    return first;
  }
};

struct Undefined {
  static bool finite(std::initializer_list<double> all) {
    return std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
  }
  static const char* samples(const std::vector<double>& times, const std::vector<double>& values) {
    if (times.empty() || times.size() != values.size()) return "times and values";
    const auto good = [](const std::vector<double>& x) {
      return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
    };
    if (!good(times) || !std::is_sorted(times.begin(), times.end())) return "times";
    return good(values) ? nullptr : "values";
  }
  const char* operator()(const Constant& s) const { return finite({s.value}) ? nullptr : "value"; }
  template <class Wave>
  static const char* wave(const Wave& s) {
    if (!finite({s.amplitude, s.offset})) return "amplitude and offset";
    return finite({s.omega, s.phase}) ? nullptr : "omega and phase";
  }
  const char* operator()(const Sine& s) const {
    if (!(finite({s.ramp}) && s.ramp >= 0)) return "ramp";
    return wave(s);
  }
  const char* operator()(const HalfSine& s) const { return wave(s); }
  const char* operator()(const Square& s) const {
    if (!finite({s.on, s.off, s.start})) return "on, off and start";
    if (!(finite({s.period}) && s.period > 0)) return "period";
    return s.duty > 0 && s.duty <= 1 ? nullptr : "duty";
  }
  const char* operator()(const BangBang& s) const { return samples(s.times, s.values); }
  const char* operator()(const Table& s) const { return samples(s.times, s.values); }
  const char* operator()(const Spline& s) const {
    if (const char* bad = samples(s.times, s.values)) return bad;
    if (s.times.size() < 2 || s.bends.size() != s.times.size()) return "times and values";
    return std::adjacent_find(s.times.begin(), s.times.end()) == s.times.end() ? nullptr : "times";
  }
  const char* operator()(const Move& s) const {
    if (!finite({s.from, s.to, s.start})) return "from, to and start";
    return finite({s.duration}) && s.duration > 0 ? nullptr : "duration";
  }
  const char* operator()(const LegGait& s) const {
    if (!finite({s.frequency, s.phase, s.start}) || !(s.frequency > 0))
      return "frequency and phase";
    if (!(finite({s.ramp}) && s.ramp >= 0)) return "ramp";
    // The foot stays within reach of the leg, and below the hip.
    const double far = std::hypot(s.stroke, s.height);
    const bool reach = finite({s.segment, s.height, s.stroke, s.lift}) && far < 2 * s.segment &&
                       s.lift >= 0 && s.lift < s.height;
    return reach ? nullptr : "height, stroke, lift and segment (within the leg's reach)";
  }
  const char* operator()(const Sum& s) const {
    for (const Signal& term : s.terms)
      if (const char* which = undefined(term)) return which;
    return nullptr;
  }
};

}  // namespace

double next_break(const Signal& signal, double t) { return std::visit(NextBreak{t}, signal); }

double mean(const Signal& signal, double t0, double t1) {
  if (reached(next_break(signal, t0)) >= t1) return value(signal, 0.5 * (t0 + t1));
  constexpr int most = 1000;  // pieces; of more a sample tells as much
  double sum = 0, a = t0;
  for (int i = 0; i < most && a < t1; ++i) {
    double b = next_break(signal, a);
    if (reached(b) >= t1) b = t1;
    sum += (b - a) * value(signal, 0.5 * (a + b));
    a = b;
  }
  if (a < t1) {
    sum = 0;
    for (int i = 0; i < most; ++i) sum += value(signal, t0 + (i + 0.5) * (t1 - t0) / most);
    return sum / most;
  }
  return sum / (t1 - t0);
}

const char* undefined(const Signal& signal) { return std::visit(Undefined{}, signal); }

double value(const Signal& signal, double t) { return std::visit(Value{t}, signal); }
double rate(const Signal& signal, double t) { return std::visit(Rate{t}, signal); }
double acceleration(const Signal& signal, double t) { return std::visit(SecondRate{t}, signal); }

}  // namespace saltus
