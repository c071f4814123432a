#include "saltus/dynamics/path_tree.h"

#include <cmath>
#include <utility>

#include "saltus/dynamics/packed_ops.h"

namespace saltus {

PathTree::PathTree(SharedPlan plan) : plan_(std::move(plan)), paths_(&*plan_->paths) {
  const std::size_t n = paths_->links.size();
  poses_.resize(n);
  external.resize(n);
  inertia_.resize(n);
  composite_.resize(n);
  motion_.resize(n);
  sin_.assign(paths_->angles.size() / 4, Pack{});
  cos_ = sin_;
  axis_.assign(paths_->velocities, Pack{});
  column_.assign(static_cast<std::size_t>(paths_->velocities) * paths_->width + 4, 0.0);
  inverse_.setZero(paths_->velocities);
  packed_.assign(paths_->pieces.size(), Pack{});
  work_.assign(paths_->packs, Pack{});
  moved_.setZero(paths_->velocities);
}

// Column k of L is brought under its ancestors', diagonals included: with x = L(k, j),
// column j loses x times the first j + 1 entries of column k. What a Pack adds beyond is cleared
// when that column's turn comes.
SALTUS_VECTORIZED bool PathTree::factor(int& culprit) {
  const int n = static_cast<int>(inverse_.size());
  for (int k = n - 1; k >= 0; --k) {
    double* __restrict own = column_.data() + static_cast<std::ptrdiff_t>(k) * paths_->width;
    const int count = paths_->ancestors[k];
    const double pivot = own[count];
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      culprit = k;
      return false;
    }
    const double inverse = 1 / std::sqrt(pivot);
    inverse_[k] = inverse;
    for (int t = count; t < paths_->width; ++t) own[t] = 0;
    for (int t = 0; t < count; t += 4) *reinterpret_cast<LoosePack*>(own + t) *= inverse;
    const int* way = paths_->path_of(paths_->link_of[k]);
    for (int j = 0; j < count; ++j) {
      const double x = own[j];
      double* __restrict other =
          column_.data() + static_cast<std::ptrdiff_t>(way[j]) * paths_->width;
      for (int t = 0; t <= j; t += 4)
        *reinterpret_cast<LoosePack*>(other + t) -=
            x * *reinterpret_cast<const LoosePack*>(own + t);
    }
  }
  pack_columns();
  return true;
}

SALTUS_VECTORIZED void PathTree::pack_columns() {
  static constexpr Pack first[5] = {{}, {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}};
  for (std::size_t k = 0; k < paths_->ancestors.size(); ++k) {
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * paths_->width;
    for (int p = paths_->first_piece[k]; p < paths_->first_piece[k + 1]; ++p)
      packed_[p] = first[paths_->pieces[p].count] *
                   *reinterpret_cast<const LoosePack*>(own + paths_->pieces[p].at);
  }
}

SALTUS_VECTORIZED void PathTree::solve(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  Pack* const work = work_.data();
  auto* const entries = reinterpret_cast<double*>(work);
  for (int k = 0; k < n; ++k) entries[paths_->place_of[k]] = x[k];
  for (int k = n - 1; k >= 0; --k) {
    const double y = x[k] = entries[paths_->place_of[k]] * inverse_[k];
    for (int p = paths_->first_piece[k]; p < paths_->first_piece[k + 1]; ++p)
      work[paths_->pieces[p].pack] -= packed_[p] * y;
  }
  solve_lower(x);
}

// What is above a segment is known when it begins, so that only its own entries wait for each
// other.
SALTUS_VECTORIZED void PathTree::solve_lower(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  auto* const entries = reinterpret_cast<double*>(work_.data());
  for (int k = 0; k < n; ++k) {
    double sum = x[k];
    if (paths_->first_piece[k] < paths_->own_piece[k]) {
      Pack above{};
      for (int p = paths_->first_piece[k]; p < paths_->own_piece[k]; ++p)
        above += packed_[p] * work_[paths_->pieces[p].pack];
      sum -= (above[0] + above[1]) + (above[2] + above[3]);
    }
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * paths_->width;
    for (int t = paths_->segment_start[k], at = k - paths_->ancestors[k] + t;
         t < paths_->ancestors[k]; ++t, ++at)
      sum -= own[t] * x[at];
    entries[paths_->place_of[k]] = x[k] = sum * inverse_[k];
  }
}

SALTUS_VECTORIZED void PathTree::half_solve(int link, int length, Pack* w) const {
  const int* way = paths_->path_of(link);
  for (int j = length - 1; j >= 0; --j) {
    const Pack y = w[j] *= inverse_[way[j]];
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(way[j]) * paths_->width;
    for (int t = 0; t < j; ++t) w[t] -= own[t] * y;
  }
}

}  // namespace saltus
