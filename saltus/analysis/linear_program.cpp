#include "saltus/analysis/linear_program.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr int most_pivots = 20000;
// After so many pivots without progress the first violated constraint enters, not the worst
// (Bland): then no basis comes back.
constexpr int patience = 50;
constexpr double smallest_pivot = 1e-9;

class DualSimplex {
 public:
  DualSimplex(const LinearProgram& p, double tolerance) : p_(p), tolerance_(tolerance) {
    const auto n = p.c.size();
    for (Eigen::Index i = 0; i < n; ++i) {
      add({Vec::Unit(n, i), p.upper[i]});
      add({-Vec::Unit(n, i), -p.lower[i]});
      basis_.push_back(static_cast<int>(p.c[i] >= 0 ? 2 * i : 2 * i + 1));
    }
    for (const HalfSpaceCut& row : p.rows) contradiction_ |= !add(row);
  }

  LinearAnswer solve() {
    LinearAnswer out;
    if (contradiction_) {
      out.status = LinearAnswer::Status::infeasible;
      return out;
    }
    double best = infinity;
    for (int still = 0; out.pivots < most_pivots; ++out.pivots) {
      factor();
      out.x = lu_.transpose().solve(costs());
      out.value = p_.c.dot(out.x);
      still = out.value < best - 1e-14 * (1 + std::abs(best)) ? 0 : still + 1;
      best = std::min(best, out.value);
      const int entering = violated(out.x, still > patience, out);
      if (entering < 0) {
        out.status = LinearAnswer::Status::optimal;
        return out;
      }
      if (!pivot(entering, still > patience)) {
        out.status = LinearAnswer::Status::infeasible;
        return out;
      }
    }
    return out;
  }

 private:
  // Normalised; false: no x satisfies it.
  bool add(const HalfSpaceCut& cut) {
    const double length = cut.a.norm();
    if (!(length > 0)) return cut.b >= -tolerance_;
    a_.emplace_back(cut.a / length);
    b_.push_back(cut.b / length);
    return true;
  }

  void factor() {
    const auto n = p_.c.size();
    Mat B(n, n);
    for (Eigen::Index i = 0; i < n; ++i) B.col(i) = a_[basis_[i]];
    lu_.compute(B);
  }
  [[nodiscard]] Vec costs() const {
    Vec b(p_.c.size());
    for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = b_[basis_[i]];
    return b;
  }

  // The constraint that enters, or -1; further ones are asked for where those known hold.
  int violated(const Vec& x, bool first, LinearAnswer& out) {
    const double size = 1 + x.lpNorm<Eigen::Infinity>();  // rounding grows with x
    int worst = -1;
    double most = tolerance_ * size;
    out.violation = 0;
    for (std::size_t k = 0; k < a_.size(); ++k) {
      const double by = a_[k].dot(x) - b_[k];
      out.violation = std::max(out.violation, by);
      if (!(by > most)) continue;
      worst = static_cast<int>(k);
      most = by;
      if (first) return worst;
    }
    if (worst >= 0 || !p_.separate) return worst;
    const HalfSpaceCut cut = p_.separate(x);
    const double length = cut.a.norm();
    if (!(length > 0)) return -1;
    const double by = (cut.a.dot(x) - cut.b) / length;
    out.violation = std::max(out.violation, by);
    if (!(by > p_.cut_tolerance * size)) return -1;
    ++out.cuts;
    add(cut);
    return static_cast<int>(a_.size()) - 1;
  }

  // False: the dual is unbounded, so no x satisfies all constraints.
  bool pivot(int entering, bool first) {
    const Vec w = lu_.solve(a_[entering]), u = lu_.solve(p_.c);
    int leaving = -1;
    double least = infinity;
    for (Eigen::Index i = 0; i < w.size(); ++i) {
      if (!(w[i] > smallest_pivot)) continue;
      const double ratio = std::max(u[i], 0.0) / w[i];
      const bool equal = leaving >= 0 && std::abs(ratio - least) <= 1e-14 * (1 + least);
      // Of equal ratios the larger pivot, or with Bland the first constraint.
      const bool wins =
          first ? leaving >= 0 && basis_[i] < basis_[leaving] : leaving >= 0 && w[i] > w[leaving];
      if ((ratio < least && !equal) || (equal && wins)) {
        least = std::min(ratio, least);
        leaving = static_cast<int>(i);
      }
    }
    if (leaving < 0) return false;
    basis_[leaving] = entering;
    return true;
  }

  const LinearProgram& p_;
  double tolerance_;
  bool contradiction_ = false;
  std::vector<Vec> a_;  // unit
  std::vector<double> b_;
  std::vector<int> basis_;
  Eigen::PartialPivLU<Mat> lu_;
};

}  // namespace

LinearAnswer maximise(const LinearProgram& program, double tolerance) {
  SALTUS_ASSERT(program.lower.allFinite() && program.upper.allFinite());
  if ((program.lower.array() > program.upper.array()).any())
    return {LinearAnswer::Status::infeasible, {}, 0, 0, 0, 0};
  return DualSimplex(program, tolerance).solve();
}

}  // namespace saltus
