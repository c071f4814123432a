#include "saltus/analysis/connection_flow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

namespace {

Mat columns_of(const Mat& m, const std::vector<int>& chosen) {
  Mat out(m.rows(), static_cast<int>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) out.col(static_cast<int>(i)) = m.col(chosen[i]);
  return out;
}

Vec entries_of(VecIn v, const std::vector<int>& chosen) {
  Vec out(static_cast<int>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) out[static_cast<int>(i)] = v[chosen[i]];
  return out;
}

}  // namespace

Medium medium_without_inertia(const Model& model, const ShapeSpace& space) {
  std::vector<ConstraintRow> rows = axle_rows(model, space);
  if (!rows.empty()) return by_rows(std::move(rows));
  std::vector<Mat6> K = resistances(model);
  for (const Mat6& k : K)
    if (!k.isZero(0)) return by_drag(model, std::move(K));
  throw InputError(
      "expected runners with an edge, wheels, or fluids with resistance: nothing but "
      "momentum decides on the motion");
}

ConnectionFlow::ConnectionFlow(const Model& model, ShapeSpace space, Medium medium,
                               std::vector<char> given)
    : model_(model), space_(std::move(space)), medium_(std::move(medium)) {
  SALTUS_ASSERT(static_cast<int>(given.size()) == space_.p());
  for (int i = 0; i < space_.p(); ++i) (given[i] ? given_ : free_).push_back(i);
}

FlowRates ConnectionFlow::at(VecIn r, VecIn u, double threshold) const {
  const ShapeColumns columns = shape_columns(model_, space_, r);
  const Vec moved = entries_of(u, given_);
  const int n = space_.n(), f = static_cast<int>(free_.size());
  FlowRates out;
  out.u = u;
  Mat left;
  Vec right;
  NetMatrices k;
  if (medium_.kind == ConnectionKind::rows) {
    const Constraints c = constraints(space_, columns, medium_.rows);
    left.resize(c.A.rows(), n + f);
    left << c.A, columns_of(c.B, free_);
    right = columns_of(c.B, given_) * moved;
  } else {
    k = net_matrices(columns, medium_.K);
    const Mat to_free = columns_of(k.mixed, free_), shape = columns_of(k.shape, free_);
    left.resize(n + f, n + f);
    right.resize(n + f);
    left.topLeftCorner(n, n) = k.net;
    left.topRightCorner(n, f) = to_free;
    left.bottomLeftCorner(f, n) = to_free.transpose();
    right.head(n) = columns_of(k.mixed, given_) * moved;
    for (int i = 0; i < f; ++i) {
      left.bottomRightCorner(f, f).row(i) = shape.row(free_[i]);
      right[n + i] = entries_of(k.shape.row(free_[i]).transpose(), given_).dot(moved);
    }
  }
  Eigen::JacobiSVD<Mat> svd(left, Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (threshold > 0) svd.setThreshold(threshold);
  const Vec& s = svd.singularValues();
  out.ratio = s.size() == n + f && s[0] > 0 ? s[s.size() - 1] / s[0] : 0;
  const Vec x = svd.solve(-right);
  out.eta = x.head(n);
  for (int i = 0; i < f; ++i) out.u[free_[i]] = x[n + i];
  out.scale = right.norm();
  if (medium_.kind == ConnectionKind::rows) {
    out.slip = left * x + right;
    out.residual = out.slip.norm();
  } else {
    out.power = out.eta.dot(k.net * out.eta) + 2 * out.eta.dot(k.mixed * out.u) +
                out.u.dot(k.shape * out.u);
  }
  return out;
}

std::string ConnectionFlow::slipping(const FlowRates& rates) const {
  std::vector<std::string> names;
  const double worst = rates.slip.size() > 0 ? rates.slip.cwiseAbs().maxCoeff() : 0;
  for (int i = 0; i < rates.slip.size(); ++i)
    if (std::abs(rates.slip[i]) > 0.1 * worst) names.push_back(medium_.rows[i].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace saltus
