// The natural map of Newton's method, its derivative and the residual, block by block.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/newton_sets.h"

namespace saltus::newton_detail {

namespace {

NaturalPoint natural_point(const Block& k, std::size_t b, VecIn Lambda, VecIn xi,
                           const NewtonWorkspace& w) {
  const ConvexSets& sets = w.sets[b];
  const StepLengths& s = w.steps[b];
  NaturalPoint p;
  scales_of(k, sets, w.judge[b], Lambda, xi, w, p);
  for (int i = 0; i < sets.count; ++i)
    for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j) {
      const int row = k.row + j;
      p.y[j] = scaled(Lambda[row], p.S[j]);
      p.z[j] = p.y[j] - w.stretch * s.r[i] * p.V[j] * (xi[row] + w.compliance[row] * Lambda[row]);
    }
  return p;
}

// One ellipse of the usual law, whose maps have closed forms.
bool is_plain_ellipse(const ConvexSets& sets) {
  return sets.count == 1 && sets[0].shape == Shape::ellipse && !sets[0].two_sided() &&
         sets[0].rule != SlipRule::hu;
}

void grow(Vec& x, int n) {
  if (x.size() < n) x.setZero(n);
}

double set_scale(const ConvexSet& set, int row) {
  if (set.shape == Shape::ellipse) return row == set.first ? set.lower : set.upper;
  return set.scaled ? set.upper : 1.0;
}

}  // namespace

void prepare(std::span<const Block> blocks, int rows, double extra, NewtonWorkspace& w) {
  for (Vec* x : {&w.scale, &w.compliance, &w.g, &w.dLambda, &w.dxi, &w.xi, &w.F, &w.trial,
                 &w.trial_xi, &w.trial_F, &w.centre, &w.shift, &w.hat, &w.best, &w.kept})
    grow(*x, rows);
  w.sets.clear();
  w.steps.clear();
  w.judge.clear();
  if (w.K.size() < blocks.size()) w.K.resize(blocks.size());
  for (const Block& k : blocks) {
    const ConvexSets sets = sets_of(k.law);
    StepLengths scaled_steps, plain;
    for (int i = 0; i < sets.count; ++i) {
      double most = 0, most_scaled = 0;
      for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j) {
        const int row = k.row + j;
        const double S = set_scale(sets[i], j), own = w.diagonal[row] + k.compliance;
        const double largest = j == sets[i].first ? std::max(S, sets[i].back) : S;
        w.scale[row] = S;
        w.compliance[row] = k.compliance;
        most = std::max(most, own);
        most_scaled = std::max(most_scaled, largest * largest * own);
      }
      plain.r[i] = most > 0 ? 1 / most : 1.0;
      scaled_steps.r[i] = most_scaled > 0 ? 1 / most_scaled : 1.0;
      for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j)
        w.compliance[k.row + j] += extra * most;
    }
    w.sets.push_back(sets);
    w.steps.push_back(scaled_steps);
    w.judge.push_back(plain);
  }
}

void restore(std::span<const Block> blocks, VecRef Lambda) {
  for (const Block& k : blocks) prox_law(k.law, Lambda.segment(k.row, k.rows));
}

namespace {

// At most |Lambda - prox(x)| of an ellipse, x = Lambda - r xi, without its projection: with q on
// the ellipse and n its normal there, |x - prox(x)| >= n.(x - q), and so |q - prox(x)| is at most
// what of x - q lies along the ellipse. Sliding rows point along n: for them that is next to
// nothing.
double ellipse_bound(const ConvexSet& set, const Vec2& Lambda, const Vec2& x) {
  const double a = set.lower, b = set.upper;
  if (!(a > 0 && b > 0)) return infinity;
  const Vec2 y(Lambda[0] / a, Lambda[1] / b);
  const double level = y.norm();
  if (!(level > 0.5)) return infinity;
  const Vec2 q = Lambda / level, e = x - q, n(q[0] / (a * a), q[1] / (b * b));
  if (!(n.dot(e) > 0)) return infinity;
  return (Lambda - q).norm() + std::abs(n[0] * e[1] - n[1] * e[0]) / n.norm();
}

}  // namespace

Residual judge(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w) {
  Residual worst;
  Vec6 total;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    for (int i = 0; i < k.rows; ++i)
      total[i] = xi[k.row + i] + w.compliance[k.row + i] * Lambda[k.row + i];
    // Most blocks are not the worst one: for ellipses a bound tells.
    const ConvexSets& sets = w.sets[b];
    if (is_plain_ellipse(sets) && k.length == 1) {
      const Vec2 at(Lambda[k.row], Lambda[k.row + 1]);
      const double r = w.judge[b].r[0];
      const Vec2 x = at - r * total.head<2>();
      // The factor is for the bound's rounding.
      if (1.001 * ellipse_bound(sets[0], at, x) <= r * worst.tangential) continue;
    }
    const BlockResidual e =
        block_residual(k, sets, Lambda.segment(k.row, k.rows), total.head(k.rows), w.judge[b]);
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  return worst;
}

namespace {

// A block that is one ball in scaled rows and has no compliance, as the supports of a long snake
// are: its maps in closed form.
struct Ball {
  double S[2], y[2], z[2], r, length;

  static bool is(const ConvexSets& sets, const NewtonWorkspace& w, int row) {
    return is_plain_ellipse(sets) && w.compliance[row] == 0;
  }
  Ball(int row, const StepLengths& steps, VecIn Lambda, VecIn xi, const NewtonWorkspace& w)
      : r(w.stretch * steps.r[0]) {
    for (int i = 0; i < 2; ++i) {
      S[i] = w.scale[row + i];
      y[i] = scaled(Lambda[row + i], S[i]);
      z[i] = y[i] - r * S[i] * xi[row + i];
    }
    length = std::sqrt(z[0] * z[0] + z[1] * z[1]);
  }
  [[nodiscard]] double shrink() const { return length > 1 ? 1 / length : 1.0; }
  // -F, and its square.
  [[nodiscard]] double miss(double* f) const {
    const double c = shrink();
    for (int i = 0; i < 2; ++i) f[i] = c * z[i] - y[i];
    return f[0] * f[0] + f[1] * f[1];
  }
  // Inside P = 1, so that T = rho. Outside P = n n' / length with n across z, and T^-1 is
  // length / (length - 1 + rho) along n, 1 along z.
  void step(double rho, const double* f, Mat6& K, double* g) const {
    if (length <= 1) {
      for (int i = 0; i < 2; ++i) {
        K(i, i) = S[i] * S[i] * r / rho;
        K(i, 1 - i) = 0;
        g[i] = S[i] * f[i] / rho;
      }
      return;
    }
    const double u[2] = {z[0] / length, z[1] / length}, n[2] = {-u[1], u[0]};
    const double gain = 1 / (length - 1 + rho);
    const double along = u[0] * f[0] + u[1] * f[1];
    const double across = (n[0] * f[0] + n[1] * f[1]) * length * gain;
    const double Sn[2] = {S[0] * n[0], S[1] * n[1]};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) K(i, j) = r * gain * (Sn[i] * Sn[j]);
      g[i] = S[i] * (along * u[i] + across * n[i]);
    }
  }
};

// K and g of a block of N rows in general; returns its merit.
template <int N>
double block_step(const Block& k, std::size_t b, VecIn Lambda, VecIn xi, double rho,
                  NewtonWorkspace& w) {
  using MatN = Eigen::Matrix<double, N, N>;
  using VecN = Eigen::Matrix<double, N, 1>;
  const ConvexSets& sets = w.sets[b];
  Vec6 r = Vec6::Zero();
  const NaturalPoint p = natural_point(k, b, Lambda, xi, w);
  Projected out;
  project_product(sets, p.z, out);
  const VecN f = out.y.head<N>() - p.y.head<N>();
  double merit = 0;
  for (int i = 0; i < sets.count; ++i)
    for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j) {
      r[j] = w.stretch * w.steps[b].r[i];
      merit += f[j] * f[j] / w.steps[b].r[i];
    }
  const VecN S = p.S.head<N>(), V = p.V.head<N>();
  MatN T = MatN::Identity() - out.P.topLeftCorner<N, N>(), right;
  for (int j = 0; j < N; ++j) {
    const VecN P = out.P.col(j).head<N>();
    T.col(j) += P * (rho + r[j] * V[j] * S[j] * w.compliance[k.row + j]);
    right.col(j) = P * (r[j] * V[j]);
  }
  if constexpr (N == 1) {
    w.K[b](0, 0) = S[0] * right(0, 0) / T(0, 0);
    w.g[k.row] = S[0] * f[0] / T(0, 0);
  } else {
    const Eigen::PartialPivLU<MatN> lu(T);
    w.K[b].topLeftCorner<N, N>() = S.asDiagonal() * MatN(lu.solve(right));
    w.g.segment<N>(k.row) = S.asDiagonal() * VecN(lu.solve(f));
  }
  return merit;
}

}  // namespace

double natural_merit(std::span<const Block> blocks, VecIn Lambda, VecIn xi,
                     const NewtonWorkspace& w) {
  double merit = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const ConvexSets& sets = w.sets[b];
    if (Ball::is(sets, w, k.row)) {
      double f[2];
      merit += Ball(k.row, w.steps[b], Lambda, xi, w).miss(f) / w.steps[b].r[0];
      continue;
    }
    const NaturalPoint p = natural_point(k, b, Lambda, xi, w);
    Projected out;
    project_product(sets, p.z, out);
    for (int i = 0; i < sets.count; ++i)
      for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j) {
        const double f = p.y[j] - out.y[j];
        merit += f * f / w.steps[b].r[i];
      }
  }
  return merit;
}

double natural_step(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double rho,
                    NewtonWorkspace& w) {
  double merit = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    if (Ball::is(w.sets[b], w, k.row)) {
      const Ball ball(k.row, w.steps[b], Lambda, xi, w);
      double f[2];
      merit += ball.miss(f) / w.steps[b].r[0];
      ball.step(rho, f, w.K[b], w.g.data() + k.row);
      continue;
    }
    switch (k.rows) {
      case 1: merit += block_step<1>(k, b, Lambda, xi, rho, w); break;
      case 2: merit += block_step<2>(k, b, Lambda, xi, rho, w); break;
      case 3: merit += block_step<3>(k, b, Lambda, xi, rho, w); break;
      case 4: merit += block_step<4>(k, b, Lambda, xi, rho, w); break;
      case 5: merit += block_step<5>(k, b, Lambda, xi, rho, w); break;
      default: merit += block_step<6>(k, b, Lambda, xi, rho, w);
    }
  }
  return merit;
}

double merit_at(double tolerance, std::span<const Block> blocks, const NewtonWorkspace& w) {
  double sum = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (int i = 0; i < w.sets[b].count; ++i) sum += w.judge[b].r[i];
  return tolerance * tolerance * sum;
}

}  // namespace saltus::newton_detail
