#include "saltus/control/push.h"

#include <algorithm>

namespace saltus {

namespace {

// The share of a push that falls into [t_S, t_E).
double share(const Push& p, double t_S, double t_E) {
  if (p.duration == 0) {
    const double at = p.at + 1e-9 * (t_E - t_S);  // on the grid but for rounding: the step after
    return at >= t_S && at < t_E ? 1 : 0;
  }
  const double overlap = std::min(t_E, p.at + p.duration) - std::max(t_S, p.at);
  return std::max(overlap, 0.0) / p.duration;
}

}  // namespace

void add_pushes(const std::vector<Push>& pushes, double t_S, double t_E, const Workspace& work,
                std::vector<Vec6>& external) {
  for (const Push& p : pushes) {
    const double part = share(p, t_S, t_E);
    if (part == 0) continue;
    const Vec3 f = work.X[p.body].R.transpose() * (part / (t_E - t_S) * p.impulse);
    external[p.body] += join(f, p.point.cross(f));
  }
}

}  // namespace saltus
