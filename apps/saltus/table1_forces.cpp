// P2 Fig. 5: the normal force of the left fore foot, hard and compliant.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/saltus/table1.h"

namespace saltus::cli {

namespace {

// Of the stance: what follows the touch-down, and where the foot is about to leave.
constexpr double transient = 0.1, leaving = 0.02;  // [s]
// Of the cycle, since the trot's start: just before the foot comes down.
constexpr double cycle_start = 0.3;  // [s]

// Mean of a series over (from, to].
double mean_between(const ForceSeries& s, const std::vector<double>& x, double from, double to) {
  double sum = 0;
  int n = 0;
  for (std::size_t i = 0; i < s.t.size(); ++i)
    if (s.t[i] > from + 1e-9 && s.t[i] <= to + 1e-9) {
      sum += x[i];
      ++n;
    }
  return n > 0 ? sum / n : 0;
}

// The longest time with force: its first and last sample.
std::pair<std::size_t, std::size_t> stance_of(const ForceSeries& s) {
  std::pair<std::size_t, std::size_t> longest{0, 0};
  for (std::size_t i = 0; i < s.t.size(); ++i) {
    if (!(s.force[i] > 0)) continue;
    const std::size_t first = i;
    while (i + 1 < s.t.size() && s.force[i + 1] > 0) ++i;
    if (i - first > longest.second - longest.first) longest = {first, i};
  }
  return longest;
}

}  // namespace

ForceSeries force_series(const std::string& name, const std::vector<std::string>& settings) {
  ForceSeries s;
  s.name = name;
  Trot trot(settings);
  trot.run_to(trot_start + cycle_start);
  while (trot.state.t < trot_start + cycle_start + gait_period - 0.5 * trot.options.dt) {
    (void)trot.step();
    s.t.push_back(trot.state.t - trot_start);
    s.force.push_back(trot.force());
    s.depth.push_back(trot.depth());
  }
  return s;
}

Fig5 figure_5() {
  Fig5 f;
  const Configuration &hard = configuration("HmJ"), &soft = configuration("Cm");
  f.hard = force_series("hard", settings(hard));
  f.soft = force_series("compliant, d = 50 N s/m", settings(soft));
  f.damped = force_series("compliant, d = 500 N s/m", settings(soft, compliant_step / 4, 500));
  f.transient = transient;
  const auto [touch, lift] = stance_of(f.hard);
  const double from = f.hard.t[touch] + transient, to = f.hard.t[lift] - leaving;
  double n = 0;
  for (std::size_t i = 1; i < f.hard.t.size(); ++i) {
    if (f.hard.t[i] < from || f.hard.t[i] > to) continue;
    const double other = mean_between(f.damped, f.damped.force, f.hard.t[i - 1], f.hard.t[i]);
    f.difference += std::abs(other - f.hard.force[i]);
    f.mean_force += f.hard.force[i];
    ++n;
  }
  f.difference /= n;
  f.mean_force /= n;
  return f;
}

}  // namespace saltus::cli
