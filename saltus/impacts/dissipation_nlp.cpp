// The dissipation principle by NLopt: any number of points.
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "saltus/impacts/dissipation.h"

namespace saltus {

namespace {

constexpr int most_patterns = 64;
constexpr double constraint_tolerance = 1e-11;  // in shares of the impulses

struct Closing {
  void operator()(nlopt_opt_s* o) const { nlopt_destroy(o); }
};
using Optimiser = std::unique_ptr<nlopt_opt_s, Closing>;

// One choice of points that stick; the functions that NLopt calls. With mu a number for every point
// the problem is convex: SLSQP's optimum is the optimum.
struct Pattern {
  const DissipationProblem& d;
  std::vector<char> sticks;
  std::vector<double> mu;
  double scale = 1;  // of impulses
  int evaluations = 0;

  [[nodiscard]] int constraints() const {
    int n = std::isfinite(d.limit) ? 1 : 0;
    for (const SlipPoint& k : d.points) n += k.dims == 1 ? 3 : 2;
    return n;
  }
  double cost(const Vec& x, double* gradient) {
    ++evaluations;
    const Vec u = d.u0 + d.U * x;
    if (gradient) Eigen::Map<Vec>(gradient, x.size()) = 2 * d.U.transpose() * u;
    return u.squaredNorm();
  }

  // (|p_t| - mu p_n) / scale, -p_n / scale, and the energy.
  void bounds(const Vec& x, double* value, double* out) const {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Rows J = Rows::Zero(constraints(), x.size());
    const Vec p = d.p0 + d.P * x;
    int row = 0;
    for (std::size_t i = 0; i < d.points.size(); ++i) {
      const SlipPoint& k = d.points[i];
      const Vec2 t = tangential(k, p);
      // In the plane both sides of the cone, linear; in space its surface.
      const int sides = k.dims == 1 ? 2 : 1;
      for (int side = 0; side < sides; ++side) {
        const double length = t.norm();
        Vec2 along = length > 0 ? Vec2(t / length) : Vec2::Zero();
        if (k.dims == 1) along = {side == 0 ? 1 : -1, 0};
        value[row] = (along.dot(t) - mu[i] * p[k.normal]) / scale;
        for (int j = 0; j < k.dims; ++j)
          J.row(row) += along[j] * k.scale[j] / scale * d.P.row(k.tangent[j]);
        J.row(row++) -= mu[i] / scale * d.P.row(k.normal);
      }
      value[row] = -p[k.normal] / scale;
      J.row(row++) = -d.P.row(k.normal) / scale;
    }
    if (std::isfinite(d.limit)) {
      const double T = std::max(d.limit, std::abs(d.t0));
      value[row] = (energy_at(d, x) - d.limit) / T;
      J.row(row) = (d.t1 + d.t2 * x).transpose() / T;
    }
    if (out) Eigen::Map<Rows>(out, J.rows(), J.cols()) = J;
  }

  // The tangential velocities of the points that stick.
  [[nodiscard]] std::vector<int> held() const {
    std::vector<int> rows;
    for (std::size_t i = 0; i < d.points.size(); ++i)
      if (sticks[i])
        for (int j = 0; j < d.points[i].dims; ++j) rows.push_back(d.points[i].speed[j]);
    return rows;
  }
};

Vec vector_of(unsigned n, const double* x) { return Eigen::Map<const Vec>(x, n); }

double cost_of(unsigned n, const double* x, double* gradient, void* data) {
  return static_cast<Pattern*>(data)->cost(vector_of(n, x), gradient);
}
void bounds_of(unsigned, double* value, unsigned n, const double* x, double* gradient, void* data) {
  static_cast<Pattern*>(data)->bounds(vector_of(n, x), value, gradient);
}
void held_of(unsigned m, double* value, unsigned n, const double* x, double* gradient, void* data) {
  const Pattern& p = *static_cast<Pattern*>(data);
  const std::vector<int> rows = p.held();
  for (unsigned i = 0; i < m; ++i) {
    value[i] = p.d.u0[rows[i]] + p.d.U.row(rows[i]).dot(vector_of(n, x));
    if (gradient)
      for (unsigned j = 0; j < n; ++j) gradient[i * n + j] = p.d.U(rows[i], j);
  }
}

// The optimum of a pattern, if it is feasible there.
bool minimise(Pattern& pattern, Vec& x) {
  const DissipationProblem& d = pattern.d;
  const auto n = static_cast<unsigned>(d.unknowns());
  const Optimiser o(nlopt_create(NLOPT_LD_SLSQP, n));
  nlopt_set_min_objective(o.get(), cost_of, &pattern);
  const std::vector<double> room(pattern.constraints(), constraint_tolerance);
  nlopt_add_inequality_mconstraint(o.get(), static_cast<unsigned>(room.size()), bounds_of, &pattern,
                                   room.data());
  const std::vector<double> exact(pattern.held().size(), 1e-14);
  if (!exact.empty())
    nlopt_add_equality_mconstraint(o.get(), static_cast<unsigned>(exact.size()), held_of, &pattern,
                                   exact.data());
  nlopt_set_xtol_rel(o.get(), 1e-15);
  nlopt_set_maxeval(o.get(), 300);
  double value = 0;
  // Whatever it returns, roundoff included: the constraints and the objective at x judge it.
  (void)nlopt_optimize(o.get(), x.data(), &value);
  if (!x.allFinite()) return false;
  // Velocities of sticking points are zero, not 1e-16: mu is mu_s there.
  if (d.plain())
    for (const int row : pattern.held()) x[row] = 0;
  std::vector<double> values(room.size());
  pattern.bounds(x, values.data(), nullptr);
  return *std::max_element(values.begin(), values.end()) <= feasible_rounding;
}

// With mu of the last optimum until it stays: inside Karnopp's layer mu depends on the speed.
void look_at(const DissipationProblem& d, const std::vector<char>& sticks, const Vec& start,
             DissipationResult& best) {
  Pattern pattern{d, sticks, {}, std::max(d.p0.lpNorm<Eigen::Infinity>(), 1e-300)};
  for (std::size_t i = 0; i < d.points.size(); ++i)
    pattern.mu.push_back(sticks[i] ? d.points[i].mu_s : mu_min(d.points[i]));
  Vec x = start;
  for (int round = 0; round < 40; ++round) {
    const bool good = minimise(pattern, x);
    best.evaluations += pattern.evaluations;
    pattern.evaluations = 0;
    if (!good) return;
    if (const double f = objective(d, x); f < best.value && violation(d, x) <= feasible_rounding)
      best = {x, true, f, best.evaluations};
    double change = 0;
    for (std::size_t i = 0; i < d.points.size(); ++i) {
      if (sticks[i]) continue;
      const double now = mu_at(d, d.points[i], speed_of(d, d.points[i], x));
      change = std::max(change, std::abs(now - pattern.mu[i]));
      pattern.mu[i] = now;
    }
    if (change < 1e-14) return;
  }
}

// All choices of points that stick while they are few; else all, none and each alone.
std::vector<std::vector<char>> patterns(std::size_t points) {
  std::vector<std::vector<char>> all;
  if (points <= 6) {
    for (unsigned choice = 0; choice < 1U << points && choice < most_patterns; ++choice) {
      std::vector<char> sticks(points);
      for (std::size_t i = 0; i < points; ++i) sticks[i] = (choice >> i & 1U) != 0;
      all.push_back(sticks);
    }
    return all;
  }
  all.emplace_back(points, 0);
  all.emplace_back(points, 1);
  for (std::size_t i = 0; i < points; ++i) {
    all.emplace_back(points, 0).at(i) = 1;
    all.emplace_back(points, 1).at(i) = 0;
  }
  return all;
}

}  // namespace

DissipationResult minimise_nlp(const DissipationProblem& d) {
  DissipationResult best;
  const int n = d.unknowns();
  // Where the impulses are worth a velocity: from zero itself the cone's surface may have no
  // gradient.
  const double reach = std::max(
      d.p0.lpNorm<Eigen::Infinity>() / std::max(d.P.lpNorm<Eigen::Infinity>(), 1e-300), d.v_s);
  for (const std::vector<char>& sticks : patterns(d.points.size()))
    for (const double way : {1e-3, 1.0, -1.0})
      look_at(d, sticks, Vec::Constant(n, way * reach), best);
  return best;
}

}  // namespace saltus
