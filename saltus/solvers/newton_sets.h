// Projections on the sets of a block in scaled rows, for Newton's maps; internal.
#pragma once
#include <algorithm>
#include <cmath>

#include "saltus/solvers/newton.h"

namespace saltus::newton_detail {

using Shape = ConvexSet::Shape;

inline double scaled(double x, double s) { return s > 0 ? x / s : 0.0; }  // S^-1 x

// The projection of z on a set in scaled rows, and its derivative P: interval, ball or all.
struct Projected {
  Vec6 y = Vec6::Zero();
  Mat6 P = Mat6::Zero();
};

inline void project_interval(const ConvexSet& set, double z, Projected& out) {
  const int i = set.first;
  out.y[i] = std::clamp(z, set.lower, set.upper);
  out.P(i, i) = z > set.lower && z < set.upper ? 1 : 0;
}

// Onto the ball |y| <= radius. Where it binds, `u` is the direction and true is returned.
inline bool project_ball(int first, int rows, const Vec6& z, double radius, Projected& out,
                         Vec6& u) {
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
inline void project_product(const ConvexSets& sets, const Vec6& z, Projected& out) {
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

// y = S^-1 Lambda and z = y - r V (xi + C Lambda) of one block; V = S, or for Hu's rule one number.
struct NaturalPoint {
  Vec6 y = Vec6::Zero(), z = Vec6::Zero(), S = Vec6::Zero(), V = Vec6::Zero();
};

// The scales of a block. Of two half-ellipses the side is seen where the law holds, at `Lambda` and
// `xi`: there Lambda_1 and -xi_1 have one sign.
inline void scales_of(const Block& k, const ConvexSets& sets, const StepLengths& judge,
                      VecIn Lambda, VecIn xi, const NewtonWorkspace& w, NaturalPoint& p) {
  for (int j = 0; j < k.rows; ++j) p.V[j] = p.S[j] = w.scale[k.row + j];
  for (int i = 0; i < sets.count; ++i) {
    const ConvexSet& set = sets[i];
    if (set.shape != Shape::ellipse) continue;
    const int j = set.first, row = k.row + j;
    if (set.two_sided()) p.V[j] = p.S[j] = set.axis(Lambda[row] - judge.r[i] * xi[row]);
    if (set.rule == SlipRule::hu) p.V[j] = p.V[j + 1] = std::sqrt(set.lower * set.upper);
  }
}

}  // namespace saltus::newton_detail
