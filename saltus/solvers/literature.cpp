#include "saltus/solvers/literature.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace saltus {

namespace {

bool isotropic(const ConvexSets& sets) {
  for (int i = 1; i < sets.count; ++i)
    if (sets[i].shape == ConvexSet::Shape::ellipse &&
        (sets[i].lower != sets[i].upper || sets[i].two_sided()))
      return false;
  return sets.count > 1;
}

// P_K for {n >= 0, |x_k| <= mu_k n}: (1 + sum mu^2) n = x_N + sum mu |x_k| over the sets that bind.
void project_cone(const ConvexSets& sets, Vec6& x) {
  std::array<bool, 4> binds{};
  double n = x[0];
  for (;;) {  // the set that binds most joins; n only grows
    int next = 0;
    double most = 0;
    for (int k = 1; k < sets.count; ++k) {
      const double excess = x.segment(sets[k].first, sets[k].rows).norm() - sets[k].upper * n;
      if (!binds[k] && excess > most) {
        most = excess;
        next = k;
      }
    }
    if (next == 0) break;
    binds[next] = true;
    double sum = x[0], weight = 1;
    for (int k = 1; k < sets.count; ++k)
      if (binds[k]) {
        sum += sets[k].upper * x.segment(sets[k].first, sets[k].rows).norm();
        weight += sets[k].upper * sets[k].upper;
      }
    n = sum / weight;
  }
  n = std::max(n, 0.0);
  for (int k = 1; k < sets.count; ++k) {
    auto part = x.segment(sets[k].first, sets[k].rows);
    const double length = part.norm(), radius = sets[k].upper * n;
    if (length > radius) part *= radius / length;
  }
  x[0] = n;
}

}  // namespace

LiteratureResidual literature_residual(const std::vector<Block>& blocks, VecIn c, VecIn Lambda,
                                       VecIn xi) {
  double square = 0;
  for (const Block& k : blocks) {
    const ConvexSets sets = sets_of(k.law);
    const int n = k.rows;
    const auto r = Lambda.segment(k.row, n);
    const auto u = xi.segment(k.row, n);
    Vec6 x;
    x.head(n) = r - u;
    if (isotropic(sets)) {
      for (int i = 1; i < sets.count; ++i)
        x[0] -= sets[i].upper * u.segment(sets[i].first, sets[i].rows).norm();
      project_cone(sets, x);
    } else {
      prox_law(k.law, x.head(n));
    }
    square += (r - x.head(n)).squaredNorm();
  }
  LiteratureResidual out;
  out.absolute = std::sqrt(square);
  const double scale = std::max({c.norm(), Lambda.norm(), xi.norm()});
  out.relative = scale > 0 ? out.absolute / scale : out.absolute;
  return out;
}

LiteratureResidual literature_residual(const Inclusion& p, VecIn Lambda, SolverWorkspace& w) {
  relative_velocity(p, Lambda, w.xi, w.v);
  return literature_residual(p.blocks, p.c.head(p.rows), Lambda.head(p.rows), w.xi.head(p.rows));
}

}  // namespace saltus
