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

// Mean force over (from, to].
double mean_between(const ForceSeries& s, double from, double to) {
  double sum = 0;
  int n = 0;
  for (std::size_t i = 0; i < s.t.size(); ++i)
    if (s.t[i] > from + 1e-9 && s.t[i] <= to + 1e-9) {
      sum += s.force[i];
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

struct Gap {
  double difference = 0, mean = 0;  // [N]
};
// Over the stance of the hard foot; the other is averaged over the hard one's steps.
Gap gap_between(const ForceSeries& hard, const ForceSeries& other) {
  const auto [touch, lift] = stance_of(hard);
  const double from = hard.t[touch] + transient, to = hard.t[lift] - leaving;
  Gap gap;
  int n = 0;
  for (std::size_t i = 1; i < hard.t.size(); ++i) {
    if (hard.t[i] < from || hard.t[i] > to) continue;
    gap.difference += std::abs(mean_between(other, hard.t[i - 1], hard.t[i]) - hard.force[i]);
    gap.mean += hard.force[i];
    ++n;
  }
  gap.difference /= n;
  gap.mean /= n;
  return gap;
}

// Means over steps of 2.5 ms, so that series of different steps compare.
ForceSeries coarse(const ForceSeries& fine) {
  ForceSeries s;
  s.name = fine.name;
  const double first = fine.t.front();
  for (double t = first; t + hard_step < fine.t.back(); t += hard_step) {
    s.t.push_back(t + hard_step);
    s.force.push_back(mean_between(fine, t, t + hard_step));
  }
  return s;
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
  f.soft = force_series("compliant, d = 50", settings(soft));
  f.damped = force_series("d = 500", settings(soft, compliant_step / 4, 500));
  f.transient = transient;
  const Gap gap = gap_between(f.hard, f.damped);
  f.difference = gap.difference;
  f.mean_force = gap.mean;
  return f;
}

std::vector<Stiffness> towards_hard() {
  const Configuration& soft = configuration("Cm");
  const ForceSeries hard = coarse(force_series("hard", settings(configuration("HmJ"), 1e-4)));
  // Steps that the stiffness and the damping allow.
  std::vector<Stiffness> all{{3e4, 500, 3.125e-4}, {3e5, 500, 1.5625e-4}, {3e6, 1500, 5e-5}};
  for (Stiffness& s : all) {
    const Gap gap =
        gap_between(hard, force_series("", settings(soft, s.dt, s.damping, s.stiffness)));
    s.difference = gap.difference;
    s.mean_force = gap.mean;
  }
  return all;
}

}  // namespace saltus::cli
