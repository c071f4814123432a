#include "saltus/impacts/dissipation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus {

namespace {}

bool DissipationProblem::plain() const {
  return U.rows() == U.cols() && U.isIdentity(0) && u0.isZero(0);
}

void DissipationProblem::set_feasible() {
  for (SlipPoint& k : points) {
    const double n = std::abs(p0[k.normal]), t = tangential(k, p0).norm();
    k.mu_f = n > 0 ? t / n : infinity;
  }
}

double mu_min(const SlipPoint& k) { return std::min(k.mu_d, k.mu_f); }

double mu_at(const DissipationProblem& d, const SlipPoint& k, double speed) {
  const double low = mu_min(k);
  return low + (k.mu_s - low) * std::exp(-std::pow(speed / d.v_s, d.a));
}

Vec2 tangential(const SlipPoint& k, const Vec& p) {
  return {k.dims > 0 ? k.scale[0] * p[k.tangent[0]] : 0,
          k.dims > 1 ? k.scale[1] * p[k.tangent[1]] : 0};
}

double speed_of(const DissipationProblem& d, const SlipPoint& k, const Vec& x) {
  double square = 0;
  for (int j = 0; j < k.dims; ++j) {
    const double u = d.u0[k.speed[j]] + d.U.row(k.speed[j]).dot(x);
    square += u * u;
  }
  return std::sqrt(square);
}

double energy_at(const DissipationProblem& d, const Vec& x) {
  return d.t0 + d.t1.dot(x) + 0.5 * x.dot(d.t2 * x);
}

double objective(const DissipationProblem& d, const Vec& x) {
  double sum = 0;
  for (const SlipPoint& k : d.points) {
    const double u = speed_of(d, k, x), mu = k.mu_s - mu_at(d, k, u);
    sum += mu * mu + u * u;
  }
  return sum;
}

double violation(const DissipationProblem& d, const Vec& x) {
  const Vec p = d.p0 + d.P * x;
  const double scale =
      std::max({d.p0.lpNorm<Eigen::Infinity>(), p.lpNorm<Eigen::Infinity>(), 1e-300});
  double worst = -infinity;
  for (const SlipPoint& k : d.points) {
    const double mu = mu_at(d, k, speed_of(d, k, x));
    const double t = tangential(k, p).norm(), n = p[k.normal];
    worst = std::max({worst, (t - mu * n) / scale, -n / scale});
  }
  if (std::isfinite(d.limit))
    worst = std::max(worst, (energy_at(d, x) - d.limit) / std::max(d.limit, std::abs(d.t0)));
  return worst;
}

bool is_small(const DissipationProblem& d) {
  if (!d.plain()) return false;
  const std::size_t n = d.points.size();
  if (n == 1) return d.unknowns() == d.points[0].dims;
  return n == 2 && d.unknowns() == 2 && d.points[0].dims == 1 && d.points[1].dims == 1;
}

}  // namespace saltus
