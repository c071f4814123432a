// The exact method of the dissipation principle for one or two unknowns.
//
// Where mu is a number the feasible region is convex (half-planes, a second-order cone, the
// ellipse of the energy) and the objective grows with |u|: the optimum is the point of the region
// that is nearest to the origin, so it lies nearest on one boundary or where two meet. All of these
// are candidates; the true constraints and objective judge them.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "saltus/impacts/dissipation.h"

namespace saltus {

namespace {

using Numbers = std::vector<double>;

// exp(-40) is below rounding of mu: faster than this a point has mu_min.
double layer(const DissipationProblem& d) { return d.v_s * std::pow(40.0, 1 / d.a); }

void add_root(double slope, double value, Numbers& roots) {  // slope x + value = 0
  if (slope != 0) roots.push_back(-value / slope);
}

// a x^2 + b x + c = 0, without cancellation.
void add_roots(double a, double b, double c, Numbers& roots) {
  if (a == 0) return add_root(b, c, roots);
  const double discriminant = b * b - 4 * a * c;
  if (discriminant < 0) return;
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  roots.push_back(q / a);
  if (q != 0) roots.push_back(c / q);
}

// The zero of f between two points of different sign.
double bisect(const std::function<double(double)>& f, double low, double high) {
  const bool sign = f(low) > 0;
  for (int i = 0; i < 200; ++i) {
    const double mid = 0.5 * (low + high);
    if (mid <= std::min(low, high) || mid >= std::max(low, high)) break;
    ((f(mid) > 0) == sign ? low : high) = mid;
  }
  return high;
}

// All zeros that a grid of `samples` intervals shows.
void add_zeros(const std::function<double(double)>& f, double low, double high, int samples,
               Numbers& roots) {
  double x = low, value = f(x);
  for (int i = 1; i <= samples; ++i) {
    const double next = low + (high - low) * i / samples, there = f(next);
    if (value == 0) roots.push_back(x);
    if ((value < 0 && there > 0) || (value > 0 && there < 0)) roots.push_back(bisect(f, x, next));
    x = next;
    value = there;
  }
}

struct Search {
  const DissipationProblem& d;
  DissipationResult best{};

  void candidate(const Vec& x) {
    ++best.evaluations;
    if (!x.allFinite() || violation(d, x) > feasible_rounding) return;
    const double value = objective(d, x);
    if (value < best.value) best = {x, true, value, best.evaluations};
  }

  // --- one line x = from + s along: every constraint with the given mu is a polynomial in s
  void energy_roots(const Vec& from, const Vec& along, Numbers& roots) const {
    if (!std::isfinite(d.limit)) return;
    add_roots(0.5 * along.dot(d.t2 * along), along.dot(d.t1 + d.t2 * from),
              energy_at(d, from) - d.limit, roots);
  }
  void friction_roots(const SlipPoint& k, double mu, const Vec& from, const Vec& along,
                      Numbers& roots) const {
    const Vec p = d.p0 + d.P * from, q = d.P * along;
    const double t = tangential(k, p)[0], dt = tangential(k, q)[0];
    for (const double side : {1.0, -1.0})
      add_root(side * dt - mu * q[k.normal], side * t - mu * p[k.normal], roots);
    add_root(q[k.normal], p[k.normal], roots);
  }

  void one_unknown() {
    const SlipPoint& k = d.points[0];
    Numbers roots{0};
    const Vec origin = Vec::Zero(1), unit = Vec::Ones(1);
    friction_roots(k, mu_min(k), origin, unit, roots);
    energy_roots(origin, unit, roots);
    const double end = layer(d);
    for (const double way : {1.0, -1.0}) {  // within Karnopp's layer
      Numbers radii{end};
      for (const double side : {1.0, -1.0})
        add_zeros(
            [&](double r) {
              const Vec p = d.p0 + d.P * Vec::Constant(1, way * r);
              return side * tangential(k, p)[0] - mu_at(d, k, r) * p[k.normal];
            },
            0, end, 400, radii);
      for (const double r : radii) roots.push_back(way * r);
    }
    for (const double x : roots) candidate(Vec::Constant(1, x));
  }

  // --- two points in the plane
  struct Line {  // a . x + c = 0
    Vec2 a;
    double c;
  };
  [[nodiscard]] std::vector<Line> lines(const std::array<double, 2>& mu) const {
    std::vector<Line> all;
    for (int i = 0; i < 2; ++i) {
      const SlipPoint& k = d.points[i];
      const Vec2 t = k.scale[0] * d.P.row(k.tangent[0]).transpose(),
                 n = d.P.row(k.normal).transpose();
      const double t0 = k.scale[0] * d.p0[k.tangent[0]], n0 = d.p0[k.normal];
      for (const double side : {1.0, -1.0})
        all.push_back({side * t - mu[i] * n, side * t0 - mu[i] * n0});
      all.push_back({n, n0});
    }
    return all;
  }
  void both_slide(const std::array<double, 2>& mu) {
    const std::vector<Line> all = lines(mu);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double square = all[i].a.squaredNorm();
      if (!(square > 0)) continue;
      const Vec foot = -all[i].c / square * all[i].a;
      candidate(foot);
      Numbers s;
      const Vec along = Vec2(-all[i].a[1], all[i].a[0]) / std::sqrt(square);
      energy_roots(foot, along, s);
      for (const double x : s) candidate(foot + x * along);
      for (std::size_t j = 0; j < i; ++j) {
        Mat2 A;
        A << all[i].a.transpose(), all[j].a.transpose();
        if (A.determinant() != 0) candidate(A.inverse() * Vec2(-all[i].c, -all[j].c));
      }
    }
    ellipse();
  }
  void one_slides(int slides, double mu) {
    const Vec origin = Vec::Zero(2), along = Vec::Unit(2, slides);
    Numbers s{0};
    friction_roots(d.points[slides], mu, origin, along, s);
    friction_roots(d.points[1 - slides], d.points[1 - slides].mu_s, origin, along, s);
    energy_roots(origin, along, s);
    for (const double x : s) candidate(x * along);
  }

  // Nearest points of the ellipse of the energy.
  void ellipse() {
    if (!std::isfinite(d.limit)) return;
    const Eigen::LLT<Mat> factor(d.t2);
    if (factor.info() != Eigen::Success) return;
    const Vec centre = -factor.solve(d.t1);
    const double room = 2 * (d.limit - energy_at(d, centre));
    if (room < 0) return;
    const auto at = [&](const Vec2& e) -> Vec {
      return centre + std::sqrt(room) * factor.matrixU().solve(Vec(e));
    };
    Numbers angles;
    add_zeros(
        [&](double angle) {
          const Vec2 e(std::cos(angle), std::sin(angle)), across(-e[1], e[0]);
          return at(e).dot(at(across) - centre);
        },
        0, 2 * std::numbers::pi, 720, angles);
    for (const double angle : angles) candidate(at(Vec2(std::cos(angle), std::sin(angle))));
  }

  // --- one point in space: the cone's boundary, p_t = mu p_n e(angle)
  struct OnCone {
    Vec x, slope;  // and dx / d angle
  };
  [[nodiscard]] OnCone on_cone(double mu, double angle) const {
    const SlipPoint& k = d.points[0];
    const Vec2 e(std::cos(angle), std::sin(angle)), across(-e[1], e[0]);
    Mat2 A;
    A.row(0) = k.scale[0] * d.P.row(k.tangent[0]);
    A.row(1) = k.scale[1] * d.P.row(k.tangent[1]);
    const Vec2 n = d.P.row(k.normal).transpose();
    A -= mu * e * n.transpose();
    const Eigen::PartialPivLU<Mat2> lu(A);
    const Vec2 x = lu.solve(mu * d.p0[k.normal] * e - tangential(k, d.p0));
    const Vec2 slope = lu.solve(mu * (d.p0[k.normal] + n.dot(x)) * across);
    return {x, slope};
  }
  void cone(double mu) {
    Numbers angles;
    add_zeros(
        [&](double angle) {
          const OnCone at = on_cone(mu, angle);
          return at.x.dot(at.slope);
        },
        0, 2 * std::numbers::pi, 1440, angles);
    if (std::isfinite(d.limit))
      add_zeros([&](double angle) { return energy_at(d, on_cone(mu, angle).x) - d.limit; }, 0,
                2 * std::numbers::pi, 1440, angles);
    for (const double angle : angles) candidate(on_cone(mu, angle).x);
    ellipse();
  }

  // With mu of the last optimum until it stays: inside the layer mu depends on the speed.
  template <class Solve>
  void with_own_mu(const Solve& solve) {
    std::vector<double> mu;
    for (const SlipPoint& k : d.points) mu.push_back(mu_min(k));
    for (int round = 0; round < 40; ++round) {
      solve(mu);
      if (!best.found) return;
      double change = 0;
      for (std::size_t i = 0; i < mu.size(); ++i) {
        const double now = mu_at(d, d.points[i], speed_of(d, d.points[i], best.x));
        change = std::max(change, std::abs(now - mu[i]));
        mu[i] = now;
      }
      if (change < 1e-14) return;
    }
  }
};

}  // namespace

DissipationResult minimise_exact(const DissipationProblem& d) {
  Search search{d};
  search.candidate(Vec::Zero(d.unknowns()));
  if (d.unknowns() == 1) {
    search.one_unknown();
  } else if (d.points.size() == 2) {
    search.with_own_mu([&](const std::vector<double>& mu) {
      search.both_slide({mu[0], mu[1]});
      search.one_slides(0, mu[0]);
      search.one_slides(1, mu[1]);
    });
  } else {
    search.with_own_mu([&](const std::vector<double>& mu) { search.cone(mu[0]); });
  }
  return search.best;
}

}  // namespace saltus
