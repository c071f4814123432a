#include "saltus/control/signal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

// Index of the last time <= t, or 0 before the first. A time that the caller's arithmetic missed
// by rounding still counts as reached.
std::size_t interval(const std::vector<double>& times, double t) {
  const double slack = 1e-12 * std::max(1.0, std::abs(t));
  const auto it = std::upper_bound(times.begin(), times.end(), t + slack);
  return it == times.begin() ? 0 : static_cast<std::size_t>(it - times.begin()) - 1;
}

struct Value {
  double t;
  double operator()(const Constant& s) const { return s.value; }
  double operator()(const Sine& s) const {
    return s.offset + s.amplitude * std::sin(s.omega * t + s.phase);
  }
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
  double operator()(const Constant&) const { return 0; }
  double operator()(const Sine& s) const {
    return s.amplitude * s.omega * std::cos(s.omega * t + s.phase);
  }
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
  double operator()(const Constant&) const { return 0; }
  double operator()(const Sine& s) const {
    return -s.amplitude * s.omega * s.omega * std::sin(s.omega * t + s.phase);
  }
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

}  // namespace

double value(const Signal& signal, double t) { return std::visit(Value{t}, signal); }
double rate(const Signal& signal, double t) { return std::visit(Rate{t}, signal); }
double acceleration(const Signal& signal, double t) { return std::visit(SecondRate{t}, signal); }

}  // namespace saltus
