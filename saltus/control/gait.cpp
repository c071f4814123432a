#include "saltus/control/gait.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace saltus {

namespace {

constexpr double tiny = 1e-9;  // of a cycle: what rounding does to phases

double frac(double x) { return x - std::floor(x); }
// A phase that rounding left just below its next cycle belongs to that one.
double phase_at(const Gait& g, int leg, double t) {
  const double p = frac(g.frequency * t + g.phase[leg]);
  return p > 1 - tiny ? 0 : p;
}

// Whether no leg stands just before `leg` lands.
bool begins_bout(const Gait& g, int leg) {
  for (int j = 0; j < leg_count; ++j)
    if (frac(g.phase[j] - g.phase[leg] - tiny) < g.duty - tiny) return false;
  return true;
}

// Phases at which bouts begin, ascending and different.
int bout_starts(const Gait& g, std::array<double, leg_count>& starts) {
  int n = 0;
  for (int i = 0; i < leg_count; ++i) {
    const double start = frac(1 - g.phase[i] + tiny) - tiny;
    const bool known = std::any_of(starts.begin(), starts.begin() + n,
                                   [&](double x) { return std::abs(x - start) < 10 * tiny; });
    if (begins_bout(g, i) && !known) starts[n++] = start;
  }
  std::sort(starts.begin(), starts.begin() + n);
  return n;
}

// How long there is support from a start on, in cycles.
double bout_length(const Gait& g, double start) {
  double end = start + g.duty;
  for (int pass = 0; pass < leg_count; ++pass)
    for (int i = 0; i < leg_count; ++i) {
      const double landed = start + frac(1 - g.phase[i] - start + tiny) - tiny;
      if (landed < end - tiny) end = std::max(end, landed + g.duty);
    }
  return end - start;
}

}  // namespace

Gait stand_gait() { return {.frequency = 1, .duty = 1, .phase = {}, .sway = 1}; }
// Lateral sequence: LH, LF, RH, RF swing one after the other.
Gait walk_gait() {
  return {.frequency = 0.4, .duty = 0.86, .phase = {0.75, 0.25, 0, 0.5}, .sway = 1};
}
Gait trot_gait() { return {.frequency = 1.25, .duty = 0.6, .phase = {0, 0.5, 0.5, 0}, .sway = 0}; }
Gait pronk_gait() { return {.frequency = 2.5, .duty = 0.65, .phase = {}, .sway = 0}; }

double stance_time(const Gait& g) { return g.duty < 1 ? g.duty / g.frequency : 0; }
double swing_time(const Gait& g) { return (1 - g.duty) / g.frequency; }

LegPhase leg_phase(const Gait& g, int leg, double t) {
  if (g.duty >= 1) return {true, 0, std::numeric_limits<double>::infinity()};
  const double p = phase_at(g, leg, t);
  if (p < g.duty - tiny) return {true, p / g.duty, (g.duty - p) / g.frequency};
  const double s = std::max(0.0, (p - g.duty) / (1 - g.duty));
  return {false, s, (1 - p) / g.frequency};
}

double support_weight(const Gait& g, int leg, double t) {
  constexpr double support_ramp = 0.15;  // of the stance, at either end
  if (g.duty >= 1) return 1;
  // Half the ramp ahead: when a leg lifts off, the trunk has left it.
  const LegPhase p = leg_phase(g, leg, t + 0.5 * support_ramp * stance_time(g));
  if (!p.stance) return 0;
  const double x = std::clamp(std::min(p.progress, 1 - p.progress) / support_ramp, 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

Bouts bouts_of(const Gait& g) {
  if (g.duty >= 1) return {};
  std::array<double, leg_count> starts{};
  const int n = bout_starts(g, starts);
  if (n == 0) return {};
  const double length = bout_length(g, starts[0]);
  return {n, length / g.frequency, (1.0 / n - length) / g.frequency};
}

Bounce bounce(const Gait& g, double t, double gravity) {
  const Bouts b = bouts_of(g);
  if (b.count == 0) return {};
  std::array<double, leg_count> starts{};
  const int n = bout_starts(g, starts);
  double since = std::numeric_limits<double>::infinity();  // the last bout began [s]
  for (int i = 0; i < n; ++i) {
    const double p = frac(g.frequency * t - starts[i] + tiny) - tiny;
    since = std::min(since, std::max(p, 0.0) / g.frequency);
  }
  constexpr double pi = std::numbers::pi;
  const double Ts = b.stance, Tf = b.flight, T = Ts + Tf;
  if (since >= Ts) {
    const double x = since - Ts;
    return {gravity * (0.5 * Tf - 0.5 * x) * x, gravity * (0.5 * Tf - x), -gravity};
  }
  const double x = since / Ts;
  return {gravity * (-0.5 * Tf * since + 0.5 * T * (since - Ts * std::sin(pi * x) / pi) -
                     0.5 * since * since),
          gravity * (-0.5 * Tf + 0.5 * T * (1 - std::cos(pi * x)) - since),
          gravity * (0.5 * pi * T / Ts * std::sin(pi * x) - 1)};
}

const char* fault_of(const Gait& g, double tick) {
  if (!(g.duty > 0) || !(g.duty <= 1))
    return "expected a duty above 0 and up to 1: the share of the cycle that a leg stands";
  if (!(g.frequency > 0) || !std::isfinite(g.frequency)) return "expected a frequency > 0";
  if (!(g.sway >= 0 && g.sway <= 1)) return "expected a sway between 0 and 1";
  for (const double p : g.phase)
    if (!(p >= 0 && p < 1)) return "expected phases of at least 0 and below 1 cycle";
  if (g.duty == 1) return nullptr;
  if (swing_time(g) < 10 * tick || stance_time(g) < 10 * tick)
    return "expected a swing and a stance of at least ten ticks of the controller each: lower the "
           "frequency, or move the duty away from 0 and 1";
  std::array<double, leg_count> starts{};
  const int n = bout_starts(g, starts);
  if (n == 0) return nullptr;
  const double length = bout_length(g, starts[0]);
  for (int i = 0; i < n; ++i)
    if (std::abs(bout_length(g, starts[i]) - length) > 1e-6 ||
        std::abs(starts[i] - starts[0] - static_cast<double>(i) / n) > 1e-6)
      return "expected flights of equal length, equally far apart (the trunk bounces by one "
             "rhythm): change the phases, or raise the duty until a leg always stands";
  return nullptr;
}

}  // namespace saltus
