// The proximal map of Newton's method and its derivative, block by block.
#include <Eigen/LU>
#include <cmath>

#include "saltus/solvers/newton_sets.h"

namespace saltus::newton_detail {

namespace {

using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;

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

}  // namespace

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
