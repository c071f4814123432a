#include "saltus/analysis/stress.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

namespace {

// (z_0, z) = a + A x with |z| < z_0, or with one row z_0 > 0; of one row for each constraint.
struct BarrierCone {
  Vec a;
  Mat A;
};

struct BarrierValue {
  bool inside = true;
  double value = 0;
  Vec slope;
  Mat curve;
};

// -log(z_0^2 - |z|^2), or -log z_0.
void add_barrier(const BarrierCone& cone, const Vec& x, BarrierValue& out) {
  const Vec z = cone.a + cone.A * x;
  if (z.size() == 1) {
    if (!(z[0] > 0)) {
      out.inside = false;
      return;
    }
    out.value -= std::log(z[0]);
    out.slope -= cone.A.row(0).transpose() / z[0];
    out.curve += cone.A.transpose() * cone.A / (z[0] * z[0]);
    return;
  }
  const double d = z[0] * z[0] - z.tail(z.size() - 1).squaredNorm();
  if (!(z[0] > 0) || !(d > 0)) {
    out.inside = false;
    return;
  }
  Vec J = Vec::Constant(z.size(), -1);
  J[0] = 1;
  const Vec Jz = J.cwiseProduct(z);
  const Vec g = cone.A.transpose() * Jz;
  out.value -= std::log(d);
  out.slope -= 2 / d * g;
  out.curve +=
      4 / (d * d) * g * g.transpose() - 2 / d * (cone.A.transpose() * J.asDiagonal() * cone.A);
}

// min weight (x'Q x/2 + p.x) + barriers, from an x inside.
struct Centring {
  const std::vector<BarrierCone>& cones;
  Mat Q;
  Vec p;

  [[nodiscard]] BarrierValue at(const Vec& x, double weight) const {
    BarrierValue out;
    out.slope = weight * (Q * x + p);
    out.curve = weight * Q;
    out.value = weight * x.dot(0.5 * (Q * x) + p);
    for (const BarrierCone& c : cones) {
      add_barrier(c, x, out);
      if (!out.inside) break;
    }
    return out;
  }
  // Newton's decrement is what is left of the value; 1e-9 of it is none.
  int solve(Vec& x, double weight) const {
    constexpr int most = 80;
    for (int i = 1; i <= most; ++i) {
      const BarrierValue now = at(x, weight);
      const Vec step = now.curve.ldlt().solve(-now.slope);
      const double decrement = -now.slope.dot(step);
      if (!(decrement > 1e-9)) return i;
      for (double share = 1; share > 1e-12; share *= 0.5) {
        const Vec next = x + share * step;
        const BarrierValue there = at(next, weight);
        if (there.inside && there.value <= now.value - 0.25 * share * decrement) {
          x = next;
          break;
        }
        if (share < 2e-12) return i;
      }
    }
    return most;
  }
};

// Forces in units of `unit`, torques by their limits.
struct Program {
  double unit;
  std::vector<BarrierCone> cones;
  Eigen::Index k;

  Program(const OpenForces& open, const std::vector<ForceCone>& all, const StressOptions& o,
          double force)
      : unit(force), k(open.stat.cols()) {
    for (const ForceCone& f : all) {
      BarrierCone c;
      const auto rows = 1 + f.tangent.rows();
      c.a.resize(rows);
      c.A.resize(rows, k);
      c.a[0] = f.mu * (f.normal.dot(open.lambda) + f.given) / unit;
      c.A.row(0) = f.mu * f.normal.transpose() * open.stat;
      c.a.tail(rows - 1) = f.tangent * open.lambda / unit;
      c.A.bottomRows(rows - 1) = f.tangent * open.stat;
      if (rows > 1) cones.push_back(c);
      BarrierCone push{c.a.head(1) / f.mu, c.A.topRows(1) / f.mu};
      push.a[0] -= o.press / unit;
      if (f.normal.size() > 0 && !f.normal.isZero(0)) cones.push_back(push);
    }
    for (Eigen::Index j = 0; j < o.limit.size(); ++j)
      for (const double side : {1.0, -1.0}) {
        if (!std::isfinite(o.limit[j])) continue;
        BarrierCone c;
        c.a = Vec::Constant(1, 1 - side * open.tau[j] / o.limit[j]);
        c.A = -side * unit / o.limit[j] * open.tau_stat.row(j);
        cones.push_back(c);
      }
  }
  // By how much the first entry of the worst cone is too small at no stress.
  [[nodiscard]] double lack() const {
    double worst = -infinity;
    for (const BarrierCone& c : cones)
      worst = std::max(worst, c.a.tail(c.a.size() - 1).norm() - c.a[0]);
    return worst;
  }
  // With s added to every first entry, s > -1.
  [[nodiscard]] std::vector<BarrierCone> loosened() const {
    std::vector<BarrierCone> out;
    for (const BarrierCone& c : cones) {
      BarrierCone wide{c.a, Mat::Zero(c.A.rows(), k + 1)};
      wide.A.leftCols(k) = c.A;
      wide.A(0, k) = 1;
      out.push_back(wide);
    }
    out.push_back({Vec::Constant(1, 1.0), Mat(Vec::Unit(k + 1, k).transpose())});
    return out;
  }
};

void check(const OpenForces& open, const std::vector<ForceCone>& cones, const StressOptions& o) {
  const auto m = open.lambda.size();
  if (open.stat.rows() != m || open.tau_stat.rows() != open.tau.size() ||
      open.tau_stat.cols() != open.stat.cols() ||
      (o.limit.size() > 0 && o.limit.size() != open.tau.size()))
    throw InputError("forces, torques and limits of different sizes");
  for (const ForceCone& c : cones) {
    if (c.normal.size() != m || c.tangent.cols() != m)
      throw InputError(fmt::format("{}: expected a column a row, {} in all", c.name, m));
    if (!(c.mu > 0 && std::isfinite(c.mu)))
      throw InputError(
          fmt::format("{}: expected a friction coefficient > 0, got {}", c.name, c.mu));
  }
  for (const double x : o.limit)
    if (!(x > 0)) throw InputError(fmt::format("expected torque limits > 0, got {}", x));
  if (!(o.press >= 0)) throw InputError(fmt::format("expected press >= 0, got {}", o.press));
}

}  // namespace

double missing_force(const ForceCone& c, VecIn lambda, double press) {
  const double f = c.normal.dot(lambda) + c.given, asked = (c.tangent * lambda).norm() / c.mu;
  return std::max(0.0, std::max(asked, c.normal.isZero(0) ? 0.0 : press) - f);
}

Stress choose_stress(const OpenForces& open, const std::vector<ForceCone>& cones,
                     const StressOptions& options) {
  check(open, cones, options);
  const auto k = open.stat.cols();
  double unit = std::max(
      {open.lambda.size() > 0 ? open.lambda.cwiseAbs().maxCoeff() : 0.0, options.press, 1e-9});
  for (const ForceCone& c : cones) unit = std::max(unit, c.given);
  const Program program(open, cones, options, unit);
  Stress out;
  out.c = Vec::Zero(k);

  // The most room: min s.
  const std::vector<BarrierCone> loose = program.loosened();
  Vec x = Vec::Zero(k + 1);
  x[k] = std::max(program.lack(), -0.5) + 1;
  // Forces grow without bound where nothing keeps them: the smallest weight on their squares does.
  Centring first{loose, Mat::Zero(k + 1, k + 1), Vec::Unit(k + 1, k)};
  first.Q.topLeftCorner(k, k).diagonal().setConstant(1e-8);
  for (double weight = 1; weight < 1e10; weight *= 10) out.iterations += first.solve(x, weight);
  out.room = -x[k] * unit;
  if (!(x[k] < -1e-7)) {
    out.lambda = open.lambda;
    out.tau = open.tau;
    return out;
  }
  // From there the least torques; a last share of the forces' own squares makes c unique.
  out.feasible = true;
  const Mat T = unit * open.tau_stat;
  Centring second{program.cones, T.transpose() * T, T.transpose() * open.tau};
  const double size = std::max(second.Q.size() > 0 ? second.Q.diagonal().maxCoeff() : 0.0, 1e-300);
  second.Q.diagonal().array() += 1e-10 * size;
  second.Q /= size;
  second.p /= size;
  Vec c = x.head(k);
  const double last = 2 * static_cast<double>(program.cones.size()) / options.accuracy;
  for (double weight = 1; weight < 10 * last; weight *= 10)
    out.iterations += second.solve(c, weight);
  out.c = unit * c;
  out.lambda = open.lambda + open.stat * out.c;
  out.tau = open.tau + open.tau_stat * out.c;
  return out;
}

}  // namespace saltus
