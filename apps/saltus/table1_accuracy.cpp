// Accuracy of the quadruped of P2: across coordinate sets, standing, and what damping costs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "apps/saltus/table1.h"

namespace saltus::cli {

std::vector<SetDifference> across_sets() {
  const auto trunk_at = [](const char* coordinates, double dt) {
    Trot trot({fmt::format("coordinates={}", coordinates), fmt::format("time.step={:g}", dt)});
    trot.run_to(trot_start + gait_period);
    return trot.trunk();
  };
  std::vector<SetDifference> all;
  for (const double dt : {4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4}) {
    const Vec3 minimal = trunk_at("minimal", dt);
    SetDifference d;
    d.dt = dt;
    d.extended = (trunk_at("as-marked", dt) - minimal).norm();
    d.maximal = (trunk_at("maximal", dt) - minimal).norm();
    if (!all.empty()) {
      d.order_extended = std::log2(all.back().extended / d.extended);
      d.order_maximal = std::log2(all.back().maximal / d.maximal);
    }
    all.push_back(d);
  }
  return all;
}

double fitted_order(const std::vector<SetDifference>& all, double SetDifference::*which) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(all.size());
  for (const SetDifference& d : all) {
    const double a = std::log(d.dt), b = std::log(d.*which);
    x += a / n;
    y += b / n;
    xx += a * a / n;
    xy += a * b / n;
  }
  return (xy - x * y) / (xx - x * x);
}

Standing standing_minute() {
  std::vector<std::string> all = settings(configuration("HmJ"));
  for (int i = 1; i <= 8; ++i)  // it never begins to trot
    all.push_back(fmt::format("motors[{}].reference.start=1e9", i));
  Trot trot(all);
  const auto foot = [&]() -> Vec3 {
    const ContactShape& s = trot.system.model.shapes[trot.foot];
    return (trot.work.result.work.X[s.body] * s.frame).r;
  };
  trot.run_to(10, false);  // at rest
  const Vec3 start = foot();
  Standing out;
  trot.run_to(70, false);
  const Vec3 moved = foot() - start;
  out.vertical = std::abs(moved.z());
  out.horizontal = moved.head<2>().norm();
  return out;
}

Sinking trotting_depth() {
  Trot trot(settings(configuration("Cm")));
  trot.run_to(full_trot);
  Sinking out;
  const int steps = static_cast<int>(std::lround(4 * gait_period / trot.options.dt));
  for (int i = 0; i < steps; ++i) {
    (void)trot.step();
    for (const Contact& c : trot.work.result.assembly.contacts) {
      const double depth = std::max(-c.point.gap, 0.0);
      out.mean += 0.5 * depth / steps;
      out.most = std::max(out.most, depth);
    }
  }
  return out;
}

double largest_force(const std::vector<std::string>& settings) {
  Trot trot(settings);
  double most = 0;
  try {
    trot.run_to(trot_start);
    while (trot.state.t < full_trot + 2 * gait_period) {
      trot.run_to(trot.state.t + trot.options.dt);
      most = std::max(most, trot.force());
      if (!(std::abs(trot.trunk().z() - 0.33) < 0.1)) return infinity;  // thrown off its feet
    }
  } catch (const std::runtime_error&) { return infinity; }
  return most > 0 ? most : infinity;  // the foot never came down again
}

}  // namespace saltus::cli
