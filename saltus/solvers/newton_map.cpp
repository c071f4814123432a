// The two maps of Newton's method and their derivatives, block by block.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/newton.h"

namespace saltus::newton_detail {

namespace {

using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using Shape = ConvexSet::Shape;

double scaled(double x, double s) { return s > 0 ? x / s : 0.0; }  // S^-1 x

// The projection of z on a set in scaled rows, and its derivative P: interval, ball or all.
struct Projected {
  Vec6 y = Vec6::Zero();
  Mat6 P = Mat6::Zero();
};

void project_interval(const ConvexSet& set, double z, Projected& out) {
  const int i = set.first;
  out.y[i] = std::clamp(z, set.lower, set.upper);
  out.P(i, i) = z > set.lower && z < set.upper ? 1 : 0;
}

// Onto the ball |y| <= radius. Where it binds, `u` is the direction and true is returned.
bool project_ball(int first, int rows, const Vec6& z, double radius, Projected& out, Vec6& u) {
  const double length = z.segment(first, rows).norm();
  auto y = out.y.segment(first, rows);
  auto P = out.P.block(first, first, rows, rows);
  if (length <= radius) {
    y = z.segment(first, rows);
    P.setIdentity();
    return false;
  }
  u.segment(first, rows) = z.segment(first, rows) / length;
  y = radius * u.segment(first, rows);
  P.noalias() = -(radius / length) * u.segment(first, rows) * u.segment(first, rows).transpose();
  P.diagonal().array() += radius / length;
  return true;
}

// Product of the sets in prox form: normal first, then balls of its radius (P2 eq. 13).
void project_product(const ConvexSets& sets, const Vec6& z, Projected& out) {
  Vec6 u;
  for (const ConvexSet& set : sets) {
    if (set.shape == Shape::all) {
      out.y.segment(set.first, set.rows) = z.segment(set.first, set.rows);
      out.P.block(set.first, set.first, set.rows, set.rows).setIdentity();
    } else if (!set.scaled && set.shape == Shape::interval) {
      project_interval(set, z[set.first], out);
    } else if (!set.scaled) {
      project_ball(set.first, set.rows, z, 1, out, u);
    } else if (out.y[0] > 0) {
      if (project_ball(set.first, set.rows, z, out.y[0], out, u))
        out.P.col(0).segment(set.first, set.rows) = u.segment(set.first, set.rows);
    }
  }
}

// The cone {n >= 0, |y_k| <= n}: n is the mean of the normal and of the lengths that exceed it.
void project_cone(const ConvexSets& sets, const Vec6& z, Projected& out) {
  std::array<double, 4> length{};
  std::array<bool, 4> binds{};
  for (int k = 1; k < sets.count; ++k) length[k] = z.segment(sets[k].first, sets[k].rows).norm();
  double sum = z[0];
  int count = 1;
  for (;;) {  // the longest that exceeds joins; n only grows
    int next = 0;
    for (int k = 1; k < sets.count; ++k)
      if (!binds[k] && length[k] > sum / count && (next == 0 || length[k] > length[next])) next = k;
    if (next == 0) break;
    binds[next] = true;
    sum += length[next];
    ++count;
  }
  const double n = sum / count;
  if (n <= 0) return;            // the apex
  Vec6 gradient = Vec6::Zero();  // of n
  gradient[0] = 1.0 / count;
  Vec6 u = Vec6::Zero();
  for (int k = 1; k < sets.count; ++k) {
    const int first = sets[k].first, rows = sets[k].rows;
    if (!binds[k]) {
      out.y.segment(first, rows) = z.segment(first, rows);
      out.P.block(first, first, rows, rows).setIdentity();
      continue;
    }
    project_ball(first, rows, z, n, out, u);
    gradient.segment(first, rows) = u.segment(first, rows) / count;
  }
  out.y[0] = n;
  out.P.row(0) += gradient.transpose();
  for (int k = 1; k < sets.count; ++k)
    if (binds[k]) {
      const int first = sets[k].first, rows = sets[k].rows;
      out.P.middleRows(first, rows) += u.segment(first, rows) * gradient.transpose();
    }
}

// y = S^-1 Lambda and z = y - r V (xi + C Lambda) of one block; V = S, or for Hu's rule one number.
struct NaturalPoint {
  Vec6 y, z, S, V;
};

// The scales of a block. Of two half-ellipses the side is seen where the law holds, at `Lambda` and
// `xi`: there Lambda_1 and -xi_1 have one sign.
void scales_of(const Block& k, const ConvexSets& sets, const StepLengths& judge, VecIn Lambda,
               VecIn xi, const NewtonWorkspace& w, NaturalPoint& p) {
  for (int j = 0; j < k.rows; ++j) p.V[j] = p.S[j] = w.scale[k.row + j];
  for (int i = 0; i < sets.count; ++i) {
    const ConvexSet& set = sets[i];
    if (set.shape != Shape::ellipse) continue;
    const int j = set.first, row = k.row + j;
    if (set.two_sided()) p.V[j] = p.S[j] = set.axis(Lambda[row] - judge.r[i] * xi[row]);
    if (set.rule == SlipRule::hu) p.V[j] = p.V[j + 1] = std::sqrt(set.lower * set.upper);
  }
}

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

Residual judge(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w) {
  Residual worst;
  Vec6 total;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    for (int i = 0; i < k.rows; ++i)
      total[i] = xi[k.row + i] + w.compliance[k.row + i] * Lambda[k.row + i];
    const BlockResidual e =
        block_residual(k, Lambda.segment(k.row, k.rows), total.head(k.rows), w.judge[b]);
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  return worst;
}

double natural_map(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w,
                   VecRef F) {
  double merit = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const ConvexSets& sets = w.sets[b];
    const NaturalPoint p = natural_point(k, b, Lambda, xi, w);
    Projected out;
    project_product(sets, p.z, out);
    for (int i = 0; i < sets.count; ++i)
      for (int j = sets[i].first; j < sets[i].first + sets[i].rows; ++j) {
        const double f = p.y[j] - out.y[j];
        F[k.row + j] = f;
        merit += f * f / w.steps[b].r[i];
      }
  }
  return merit;
}

void natural_step(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double rho,
                  NewtonWorkspace& w) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const ConvexSets& sets = w.sets[b];
    const int n = k.rows;
    Vec6 r;
    const NaturalPoint p = natural_point(k, b, Lambda, xi, w);
    Projected out;
    project_product(sets, p.z, out);
    for (int i = 0; i < sets.count; ++i)
      r.segment(sets[i].first, sets[i].rows).setConstant(w.stretch * w.steps[b].r[i]);
    SmallMat T = SmallMat::Identity(n, n) - out.P.topLeftCorner(n, n);
    SmallMat right(n, n);
    Vec6 f;
    for (int j = 0; j < n; ++j) {
      const int row = k.row + j;
      T.col(j) += out.P.col(j).head(n) * (rho + r[j] * p.V[j] * p.S[j] * w.compliance[row]);
      right.col(j) = out.P.col(j).head(n) * (r[j] * p.V[j]);
      f[j] = out.y[j] - p.y[j];
    }
    if (n == 1) {
      w.K[b](0, 0) = p.S[0] * right(0, 0) / T(0, 0);
      w.g[k.row] = p.S[0] * f[0] / T(0, 0);
      continue;
    }
    const Eigen::PartialPivLU<SmallMat> lu(T);
    const auto S = p.S.head(n);
    w.K[b].topLeftCorner(n, n) = S.asDiagonal() * lu.solve(right);
    w.g.segment(k.row, n) = S.asDiagonal() * lu.solve(f.head(n));
  }
}

void freeze_slip(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double weight,
                 NewtonWorkspace& w) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    w.shift.segment(k.row + 1, k.rows - 1).setZero();
    double s = 0;
    for (const ConvexSet& set : w.sets[b]) {
      if (!set.scaled) continue;
      double square = 0;
      for (int row = k.row + set.first; row < k.row + set.first + set.rows; ++row) {
        const double rate = xi[row] + w.compliance[row] * Lambda[row];
        const bool first = row == k.row + set.first && set.shape == Shape::ellipse;
        const double eta = (first ? set.axis(-rate) : w.scale[row]) * rate;
        square += eta * eta;
      }
      s += std::sqrt(square);
    }
    w.shift[k.row] += weight * (s - w.shift[k.row]);
  }
}

void proximal_map(std::span<const Block> blocks, VecIn xi, double rho, bool derivative,
                  NewtonWorkspace& w) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const int n = k.rows;
    const double stiffness = w.steps[b].r[0] / rho;  // 1/rho of the block
    Vec6 z;
    NaturalPoint p;
    scales_of(k, w.sets[b], w.judge[b], w.centre, xi, w, p);
    for (int j = 0; j < n; ++j) {
      const int row = k.row + j;
      z[j] = scaled(w.centre[row], p.S[j]) - stiffness * p.S[j] * (xi[row] + w.shift[row]);
    }
    Projected out;
    if (w.sets[b].count > 1)
      project_cone(w.sets[b], z, out);
    else
      project_product(w.sets[b], z, out);
    const auto S = p.S.head(n);
    w.hat.segment(k.row, n) = S.cwiseProduct(out.y.head(n));
    if (!derivative) continue;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) w.K[b](i, j) = stiffness * S[i] * S[j] * out.P(i, j);
  }
}

void proximal_step(std::span<const Block> blocks, VecIn Lambda, NewtonWorkspace& w) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const int n = k.rows;
    auto g = w.g.segment(k.row, n);
    g = w.hat.segment(k.row, n) - Lambda.segment(k.row, n);
    const auto C = w.compliance.segment(k.row, n);
    if (C.isZero(0)) continue;
    // dLambda = g - K (dxi + C dLambda)
    SmallMat T = w.K[b].topLeftCorner(n, n) * C.asDiagonal();
    T += SmallMat::Identity(n, n);
    const Eigen::PartialPivLU<SmallMat> lu(T);
    const SmallMat K = lu.solve(w.K[b].topLeftCorner(n, n));
    w.K[b].topLeftCorner(n, n) = 0.5 * (K + K.transpose());  // symmetric but for rounding
    const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> step = lu.solve(g);
    g = step;
  }
}

double scaled_norm(std::span<const Block> blocks, VecIn x, const NewtonWorkspace& w) {
  double sum = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (int i = 0; i < w.sets[b].count; ++i) {
      const ConvexSet& set = w.sets[b][i];
      sum += x.segment(blocks[b].row + set.first, set.rows).squaredNorm() / w.judge[b].r[i];
    }
  return std::sqrt(sum);
}

}  // namespace saltus::newton_detail
