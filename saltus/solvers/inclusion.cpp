#include "saltus/solvers/inclusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.h"

namespace saltus {

void Inclusion::reserve(int max_rows, int max_blocks, int nv) {
  blocks.reserve(max_blocks);
  c.setZero(max_rows);
  b.setZero(max_rows);
  G.setZero(max_rows, max_rows);
  W.setZero(nv, max_rows);
  Y.setZero(nv, max_rows);
  v_free.setZero(nv);
  clear();
}

void Inclusion::clear() {
  rows = 0;
  blocks.clear();
  has_G = false;
  has_M = false;
}

int Inclusion::add(const Law& law, double compliance, double length) {
  const int n = rows_of(law);
  SALTUS_ASSERT(rows + n <= c.size());
  SALTUS_ASSERT(n <= 6);  // the scratch of a block, here and in prox.cpp
  blocks.push_back({law, rows, n, compliance, length});
  rows += n;
  return rows - n;
}

void SolverWorkspace::reserve(int max_rows, int max_blocks, int nv) {
  for (Vec* x :
       {&xi, &c, &b, &direct, &Lambda, &next, &best, &previous, &start, &candidate, &compliance})
    x->setZero(max_rows);
  for (Vec* x : {&v, &v_free}) x->setZero(nv);
  for (Mat* x : {&factor, &G_BU, &coupling, &G}) x->setZero(max_rows, max_rows);
  for (Mat* x : {&W, &Y}) x->setZero(nv, max_rows);
  direct_rows.reserve(max_rows);
  iterated_rows.reserve(max_rows);
  blocks.reserve(max_blocks);
  steps.reserve(max_blocks);
  sets.reserve(max_blocks);
  diagonal_blocks.reserve(max_blocks);
}

void relative_velocity(const Inclusion& p, VecIn Lambda, Vec& xi, Vec& v) {
  const int n = p.rows;
  if (n == 0) return;
  if (p.has_G) {
    xi.head(n) = p.c.head(n);
    xi.head(n).noalias() += p.G.topLeftCorner(n, n) * Lambda.head(n);
  } else {
    v = p.v_free;
    v.noalias() += p.Y.leftCols(n) * Lambda.head(n);
    xi.head(n) = p.b.head(n);
    xi.head(n).noalias() += p.W.leftCols(n).transpose() * v;
  }
  for (const Block& k : p.blocks)
    if (k.compliance > 0) xi.segment(k.row, k.rows) += k.compliance * Lambda.segment(k.row, k.rows);
}

namespace {

StepLengths steps_of(const Inclusion& p, const Block& k, const ConvexSets& sets) {
  const auto largest = [&](int first, int count) {
    double d = 0;
    for (int i = first; i < first + count; ++i)
      d = std::max(d, p.has_G ? p.G(i, i) : p.W.col(i).dot(p.Y.col(i)));
    d += k.compliance;
    return d > 0 ? 1 / d : 1.0;  // a row that nothing moves: any r serves
  };
  StepLengths s;
  for (int i = 0; i < sets.count; ++i) s.r[i] = largest(k.row + sets[i].first, sets[i].rows);
  return s;
}

}  // namespace

StepLengths diagonal_steps(const Inclusion& p, const Block& k) {
  return steps_of(p, k, sets_of(k.law));
}

namespace {
// The larger one, and NaN if one is.
double worse(double a, double b) { return b <= a ? a : b; }
}  // namespace

BlockResidual block_residual(const Block& k, VecIn Lambda, VecIn xi, const StepLengths& s) {
  return block_residual(k, sets_of(k.law), Lambda, xi, s);
}

BlockResidual block_residual(const Block& k, const ConvexSets& sets, VecIn Lambda, VecIn xi,
                             const StepLengths& s) {
  BlockResidual parts;
  // The scaled sets are judged with the normal impulse at hand, so that the parts are zero exactly
  // where the law holds.
  const double normal = std::max(Lambda[0], 0.0);
  Vec6 x;
  for (int i = 0; i < sets.count; ++i) {
    const ConvexSet& set = sets[i];
    double rate = 0;
    if (set.shape == ConvexSet::Shape::interval) {  // of one row; as natural(), without its calls
      const double scale = set.scaled ? normal : 1.0, old = Lambda[set.first];
      const double to =
          std::clamp(old - s.r[i] * xi[set.first], scale * set.lower, scale * set.upper);
      rate = std::abs(old - to) / s.r[i];
    } else {
      const auto old = Lambda.segment(set.first, set.rows);
      x.head(set.rows) = old;
      natural(set, normal, s.r[i], xi.segment(set.first, set.rows), x.head(set.rows));
      rate = (old - x.head(set.rows)).norm() / s.r[i];
    }
    const bool angular = sets.mixed ? set.kind == ConvexSet::Kind::rotational : k.length != 1;
    double& part = angular                               ? parts.rotational
                   : set.kind == ConvexSet::Kind::normal ? parts.normal
                                                         : parts.tangential;
    part = worse(part, rate);
    parts.value = worse(parts.value, angular ? rate * k.length : rate);
  }
  return parts;
}

bool take_worst(const BlockResidual& e, int index, Residual& worst) {
  if (std::isnan(e.value)) {
    worst.value = std::numeric_limits<double>::infinity();
    worst.block = index;
    return false;
  }
  if (e.value > worst.value) {
    worst.value = e.value;
    worst.block = index;
  }
  worst.normal = std::max(worst.normal, e.normal);
  worst.tangential = std::max(worst.tangential, e.tangential);
  worst.rotational = std::max(worst.rotational, e.rotational);
  return true;
}

Residual residual(const Inclusion& p, VecIn Lambda, SolverWorkspace& work) {
  relative_velocity(p, Lambda, work.xi, work.v);
  Residual worst;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    const ConvexSets sets = sets_of(k.law);
    const BlockResidual e = block_residual(k, sets, Lambda.segment(k.row, k.rows),
                                           work.xi.segment(k.row, k.rows), steps_of(p, k, sets));
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  return worst;
}

namespace {

Mode ellipse_mode(const Vec2& x, double a, double b) {
  if (a <= 0 || b <= 0) return Mode::slip;
  // On the boundary to rounding: prox puts sliding impulses there.
  constexpr double inside = (1 - 1e-9) * (1 - 1e-9);
  return Vec2(x.x() / a, x.y() / b).squaredNorm() < inside ? Mode::stick : Mode::slip;
}

}  // namespace

Mode mode_of(const Block& k, VecIn Lambda) {
  struct Visitor {
    VecIn x;
    Mode operator()(const Bilateral&) const { return Mode::stick; }
    Mode operator()(const Unilateral&) const { return x[0] > 0 ? Mode::closed : Mode::open; }
    Mode operator()(const Interval& l) const {
      return x[0] > l.lower && x[0] < l.upper ? Mode::stick : Mode::slip;
    }
    Mode operator()(const GivenLoad& l) const {
      return ellipse_mode(x.head<2>(), x[0] > 0 && l.back >= 0 ? l.back : l.a, l.b);
    }
    Mode operator()(const Coulomb& l) const {
      if (!(x[0] > 0)) return Mode::open;
      const double mu1 = x[1] > 0 && l.back >= 0 ? l.back : l.mu1;
      return ellipse_mode(x.segment<2>(1), mu1 * x[0], l.mu2 * x[0]);
    }
    Mode operator()(const Coulomb2& l) const {
      if (!(x[0] > 0)) return Mode::open;
      return std::abs(x[1]) < l.mu * x[0] * (1 - 1e-9) ? Mode::stick : Mode::slip;
    }
    Mode operator()(const RollingCoulomb& l) const {  // of the point; rolling is no mode
      if (!(x[0] > 0)) return Mode::open;
      return ellipse_mode(x.segment<2>(1), l.mu1 * x[0], l.mu2 * x[0]);
    }
  };
  return std::visit(Visitor{Lambda}, k.law);
}

}  // namespace saltus
