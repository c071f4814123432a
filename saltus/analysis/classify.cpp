#include "saltus/analysis/classify.h"

#include <Eigen/SVD>
#include <cmath>

namespace saltus {

namespace {

struct Ranked {
  int rank = 0;
  Vec values;
  Mat U, V;
};
Ranked ranked(const Mat& m) {
  Ranked r;
  if (m.rows() == 0 || m.cols() == 0) {
    r.U = Mat::Identity(m.rows(), m.rows());
    r.V = Mat::Identity(m.cols(), m.cols());
    return r;
  }
  const Eigen::JacobiSVD<Mat> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  r.values = svd.singularValues();
  for (const double s : r.values) r.rank += s > rank_tolerance * r.values[0];
  r.U = svd.matrixU();
  r.V = svd.matrixV();
  return r;
}

}  // namespace

std::string_view name_of(ShapeClass kind) {
  constexpr std::string_view names[] = {"free", "under-constrained", "fully constrained",
                                        "over-constrained"};
  return names[static_cast<int>(kind)];
}

Classification classify(const Model& model, const ShapeSpace& space,
                        const std::vector<ConstraintRow>& rows, VecIn r) {
  const Constraints c = constraints(space, shape_columns(model, space, r), rows);
  const int n = space.n(), m = static_cast<int>(rows.size());
  const Mat B = c.B * rate_map(space, r);
  Classification k;
  const Ranked A = ranked(c.A);
  Mat all(m, n + space.p());
  all << c.A, B;
  k.rank = A.rank;
  k.rank_all = ranked(all).rank;
  k.singular_values = A.values;
  k.H = A.V.rightCols(n - A.rank);
  k.N = A.U.rightCols(m - A.rank);
  // Rates that the rows left over allow; a condition that only rounding asks for is none.
  const Mat left = k.N.transpose() * B;
  const double scale = B.size() > 0 ? B.norm() : 0;
  const Ranked rest = ranked((left.array().abs() < rank_tolerance * scale).select(0.0, left));
  k.rates = rest.V.rightCols(space.p() - rest.rank);
  if (m == 0)
    k.kind = ShapeClass::free;
  else if (k.rank < n)
    k.kind = ShapeClass::under;
  else
    k.kind = k.rank_all > n ? ShapeClass::over : ShapeClass::fully;
  return k;
}

CompletedRates complete_rates(const Model& model, const ShapeSpace& space,
                              const std::vector<ConstraintRow>& rows, VecIn r, VecIn eta,
                              VecIn rdot) {
  const Constraints c = constraints(space, shape_columns(model, space, r), rows);
  const int n = space.n(), p = space.p();
  Mat all(c.A.rows(), n + p);
  all << c.A, c.B * rate_map(space, r);
  Vec x(n + p);
  x << eta, rdot;
  std::vector<int> open;
  Vec known = Vec::Zero(c.A.rows());
  for (int i = 0; i < n + p; ++i)
    if (std::isnan(x[i]))
      open.push_back(i);
    else
      known += all.col(i) * x[i];
  Mat part(all.rows(), static_cast<int>(open.size()));
  for (std::size_t i = 0; i < open.size(); ++i) part.col(static_cast<int>(i)) = all.col(open[i]);
  CompletedRates out;
  if (!open.empty()) {
    Eigen::JacobiSVD<Mat> svd(part, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(rank_tolerance);
    const Vec found = svd.solve(-known);
    for (std::size_t i = 0; i < open.size(); ++i) x[open[i]] = found[static_cast<int>(i)];
    out.unique = svd.rank() == part.cols();
  }
  out.eta = x.head(n);
  out.rdot = x.tail(p);
  out.residual = (all * x).norm();
  return out;
}

}  // namespace saltus
