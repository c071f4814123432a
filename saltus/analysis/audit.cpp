#include "saltus/analysis/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltus {

std::string complaint(const AuditedImpact& impact, const std::string& law) {
  if (impact.gained == 0) return "";
  const double share = 100 * impact.gained / impact.before;
  if (std::isinf(impact.bound))
    return fmt::format("gains {:.3g} %: {}'s law promises nothing", share, law);
  if (impact.bound == 1)
    return fmt::format("gains {:.3g} %: {}'s law promises no gain", share, law);
  return fmt::format("keeps {:.3g} % more than {}'s law promises (T+ <= {:.6g} T-)", share, law,
                     impact.bound);
}

ImpactAudit audit_impacts(const ImpactHistory& h, std::size_t most) {
  ImpactAudit audit;
  for (const AuditedImpact& i : h.impacts) {
    audit.gained += i.gained > 0;
    audit.fallbacks += i.path == "fallback";
    const auto at = std::find_if(audit.paths.begin(), audit.paths.end(),
                                 [&](const PathCount& p) { return p.path == i.path; });
    if (at == audit.paths.end())
      audit.paths.push_back({i.path, 1});
    else
      ++at->count;
  }
  std::vector<std::size_t> order(h.impacts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t n = std::min(most, order.size());
  // What breaks a claim comes first, then by the gain; the earlier of equals.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const AuditedImpact &x = h.impacts[a], &y = h.impacts[b];
    return (x.gained > 0) != (y.gained > 0) ? x.gained > 0 : x.relative() > y.relative();
  });
  audit.worst.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return h.impacts[a].by_law() < h.impacts[b].by_law();
  });
  audit.losses.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
  std::erase_if(audit.losses, [&](std::size_t i) { return h.impacts[i].by_law() >= 0; });
  return audit;
}

double Balance::sum() const {
  return std::accumulate(lines.begin(), lines.end(), 0.0,
                         [](double x, const BalanceLine& line) { return x + line.work; });
}

double Balance::integrator() const { return lines.back().largest; }

double Balance::moved() const {
  double all = kinetic;
  for (const BalanceLine& line : lines)
    if (line.name != "integrator" && line.name != "correction") all += line.largest;
  return all;
}

double Balance::error() const {
  const double wrong = integrator() + unaccounted - rounding();
  return wrong <= 0 ? 0 : wrong / moved();
}

}  // namespace saltus
