#include "saltus/solvers/block_lu.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "saltus/base/vectorized.h"

namespace saltus {

namespace {

// --- dense kernels: four rows at a time; what is behind the last row of a column is written, too

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

template <int Fours, int Columns>
[[gnu::always_inline]] inline void tile(int depth, const double* A, std::ptrdiff_t lda,
                                        const double* B, std::ptrdiff_t ldb, double* C,
                                        std::ptrdiff_t ldc) {
  Four sum[Fours][Columns] = {};
  for (int l = 0; l < depth; ++l, A += lda, ++B) {
    Four a[Fours];
    for (int i = 0; i < Fours; ++i) a[i] = *reinterpret_cast<const Four*>(A + 4 * i);
    for (int j = 0; j < Columns; ++j)
      for (int i = 0; i < Fours; ++i) sum[i][j] += a[i] * B[j * ldb];
  }
  for (int j = 0; j < Columns; ++j)
    for (int i = 0; i < Fours; ++i) *reinterpret_cast<Four*>(C + j * ldc + 4 * i) -= sum[i][j];
}

template <int Columns>
[[gnu::always_inline]] inline void strip(int rows, int depth, const double* A, std::ptrdiff_t lda,
                                         const double* B, std::ptrdiff_t ldb, double* C,
                                         std::ptrdiff_t ldc) {
  int i = 0;
  for (; i + 4 < rows; i += 8) tile<2, Columns>(depth, A + i, lda, B, ldb, C + i, ldc);
  if (i < rows) tile<1, Columns>(depth, A + i, lda, B, ldb, C + i, ldc);
}

// C -= A B. Up to three entries behind the last row of every column are touched.
SALTUS_VECTORIZED
void subtract_product(int rows, int columns, int depth, const double* A, std::ptrdiff_t lda,
                      const double* B, std::ptrdiff_t ldb, double* C, std::ptrdiff_t ldc) {
  if (rows <= 0 || depth <= 0) return;
  int j = 0;
  for (; j + 4 <= columns; j += 4)
    strip<4>(rows, depth, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
  for (; j < columns; ++j) strip<1>(rows, depth, A, lda, B + j * ldb, ldb, C + j * ldc, ldc);
}

// y -= factor x
SALTUS_VECTORIZED
void subtract(int n, double factor, const double* x, double* y) {
  for (int i = 0; i < n; ++i) y[i] -= factor * x[i];
}

// Columns eliminated one by one before the rest is brought up to date at once.
constexpr int strip_width = 12;
// A pivot of the diagonal is taken unless another one is so many times larger.
constexpr double preference = 10;

struct Dense {
  int pivots, rest;
  double* P;  // (pivots + rest) x pivots
  std::ptrdiff_t ldp;
  double* U;  // pivots x rest
  std::ptrdiff_t ldu;
  double* S;  // rest x rest
  std::ptrdiff_t lds;
  int* swaps;

  bool choose(int k) {
    double* column = P + k * ldp;
    int best = k;
    for (int i = k + 1; i < pivots; ++i)
      if (std::abs(column[i]) > std::abs(column[best])) best = i;
    if (std::abs(column[k]) * preference >= std::abs(column[best])) best = k;
    swaps[k] = best;
    if (!(std::abs(column[best]) > 0) || !std::isfinite(column[best])) return false;
    if (best == k) return true;
    for (int j = 0; j < pivots; ++j) std::swap(P[j * ldp + k], P[j * ldp + best]);
    for (int j = 0; j < rest; ++j) std::swap(U[j * ldu + k], U[j * ldu + best]);
    return true;
  }
  // Rows [first, last) of a column by the unit lower triangle of those columns.
  void substitute(int first, int last, double* column) const {
    for (int k = first; k < last; ++k)
      for (int i = k + 1; i < last; ++i) column[i] -= P[k * ldp + i] * column[k];
  }
  bool eliminate() {
    const int rows = pivots + rest;
    for (int first = 0; first < pivots; first += strip_width) {
      const int last = std::min(first + strip_width, pivots);
      for (int k = first; k < last; ++k) {
        if (!choose(k)) return false;
        double* column = P + k * ldp;
        const double inverse = 1 / column[k];
        for (int i = k + 1; i < rows; ++i) column[i] *= inverse;
        for (int j = k + 1; j < last; ++j)
          subtract(rows - k - 1, P[j * ldp + k], column + k + 1, P + j * ldp + k + 1);
      }
      for (int j = last; j < pivots; ++j) substitute(first, last, P + j * ldp);
      for (int j = 0; j < rest; ++j) substitute(first, last, U + j * ldu);
      const double* left = P + first * ldp + last;
      subtract_product(rows - last, pivots - last, last - first, left, ldp, P + last * ldp + first,
                       ldp, P + last * ldp + last, ldp);
      subtract_product(pivots - last, rest, last - first, left, ldp, U + first, ldu, U + last, ldu);
    }
    subtract_product(rest, rest, pivots, P + pivots, ldp, U, ldu, S, lds);
    return true;
  }
};

// --- the pattern

using Lists = std::vector<std::vector<int>>;

std::vector<int> least_degree(int nodes, std::span<const std::array<int, 2>> couplings) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(2 * couplings.size() + nodes);
  for (int i = 0; i < nodes; ++i) entries.emplace_back(i, i, 1.0);
  for (const auto& [a, b] : couplings) {
    entries.emplace_back(a, b, 1.0);
    entries.emplace_back(b, a, 1.0);
  }
  Eigen::SparseMatrix<double> pattern(nodes, nodes);
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> P;
  Eigen::AMDOrdering<int>()(pattern, P);
  return {P.indices().data(), P.indices().data() + nodes};
}

// Of each place in the order the places below its diagonal in the factor, ascending.
Lists columns_below(std::span<const int> position, std::span<const std::array<int, 2>> couplings) {
  const std::size_t n = position.size();
  Lists below(n), children(n);
  for (const auto& [a, b] : couplings)
    below[std::min(position[a], position[b])].push_back(std::max(position[a], position[b]));
  std::vector<int> seen(n, -1);
  for (int k = 0; k < static_cast<int>(n); ++k) {
    auto& mine = below[k];
    seen[k] = k;
    for (const int i : mine) seen[i] = k;
    for (const int c : children[k])
      for (const int i : below[c])
        if (seen[i] != k) {
          seen[i] = k;
          mine.push_back(i);
        }
    std::sort(mine.begin(), mine.end());
    if (!mine.empty()) children[mine.front()].push_back(k);
  }
  return below;
}

}  // namespace

void BlockLU::analyse(std::span<const int> size, std::span<const std::array<int, 2>> pairs) {
  const auto n = static_cast<int>(size.size());
  size_.assign(size.begin(), size.end());
  begin_.assign(1, 0);
  for (const int s : size) begin_.push_back(begin_.back() + s);
  // Each pair once.
  std::vector<int> by(pairs.size());
  std::iota(by.begin(), by.end(), 0);
  const auto key = [&](int p) {
    return std::pair(std::min(pairs[p][0], pairs[p][1]), std::max(pairs[p][0], pairs[p][1]));
  };
  std::sort(by.begin(), by.end(), [&](int p, int q) { return key(p) < key(q); });
  couplings_.clear();
  coupling_of_.assign(pairs.size(), -1);
  swapped_.assign(pairs.size(), 0);
  for (const int p : by) {
    const auto [a, b] = key(p);
    if (couplings_.empty() || couplings_.back() != std::array{a, b}) couplings_.push_back({a, b});
    coupling_of_[p] = static_cast<int>(couplings_.size()) - 1;
    swapped_[p] = pairs[p][0] != a;
  }
  std::ptrdiff_t at = 0;
  diagonal_.clear();
  for (const int s : size) {
    diagonal_.push_back(at);
    at += static_cast<std::ptrdiff_t>(s) * s;
  }
  beside_.clear();
  for (const auto& [a, b] : couplings_) {
    beside_.push_back(at);
    at += 2 * static_cast<std::ptrdiff_t>(size_[a]) * size_[b];
  }
  values_.assign(at, 0.0);
  const std::vector<int> order = least_degree(n, couplings_);
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  merge_columns(columns_below(position, couplings_), order, position);
  local_.assign(n, -1);
  x_.setZero(begin_.back());
}

// Where hardly a zero is filled by it, or a front is small, a front joins its parent's.
void BlockLU::merge_columns(const Lists& below, std::span<const int> order,
                            std::span<const int> position) {
  constexpr double filled = 0.1;
  constexpr int small = 24;
  const auto n = static_cast<int>(order.size());
  std::vector<int> front_of(n), pivots(n), rest(n, 0);
  Lists own(n);
  for (int k = 0; k < n; ++k) {
    front_of[k] = k;
    own[k] = {k};
    pivots[k] = size_[order[k]];
    for (const int i : below[k]) rest[k] += size_[order[i]];
  }
  for (int k = 0; k < n; ++k) {
    if (below[k].empty()) continue;
    const int up = below[k].front();
    const double zeros = static_cast<double>(pivots[k]) * (pivots[up] + rest[up] - rest[k]);
    const double both =
        static_cast<double>(pivots[k] + pivots[up]) * (pivots[k] + pivots[up] + 2 * rest[up]) / 2;
    const double share = pivots[k] + pivots[up] <= small ? 2 * filled : filled;
    if (zeros > share * both) continue;
    own[k].insert(own[k].end(), own[up].begin(), own[up].end());
    own[up] = std::move(own[k]);
    own[k].clear();
    pivots[up] += pivots[k];
  }
  for (int k = 0; k < n; ++k)
    for (const int i : own[k]) front_of[i] = k;
  // Children first.
  Lists children(n);
  std::vector<int> stack, tops;
  for (int k = n - 1; k >= 0; --k) {
    if (own[k].empty()) continue;
    if (below[k].empty())
      stack.push_back(k);
    else
      children[front_of[below[k].front()]].push_back(k);
  }
  while (!stack.empty()) {  // parents first, which is turned round
    const int k = stack.back();
    stack.pop_back();
    tops.push_back(k);
    stack.insert(stack.end(), children[k].begin(), children[k].end());
  }
  std::reverse(tops.begin(), tops.end());
  fronts_.clear();
  fronts_.resize(tops.size());
  std::vector<int> index(n, -1);
  for (std::size_t f = 0; f < tops.size(); ++f) {
    const int k = tops[f];
    Front& front = fronts_[f];
    index[k] = static_cast<int>(f);
    for (const int i : own[k]) front.nodes.push_back(order[i]);
    front.own = static_cast<int>(own[k].size());
    for (const int i : below[k]) front.nodes.push_back(order[i]);
    front.pivots = pivots[k];
    front.rest = rest[k];
    for (const int c : children[k]) front.children.push_back(index[c]);
    std::sort(front.children.begin(), front.children.end());
  }
  for (std::size_t c = 0; c < couplings_.size(); ++c) {
    const int first = std::min(position[couplings_[c][0]], position[couplings_[c][1]]);
    fronts_[index[front_of[first]]].couplings.push_back(static_cast<int>(c));
  }
  place();
}

// Where the numbers of the factor are, and how much the stack of contributions will hold.
void BlockLU::place() {
  std::ptrdiff_t at = 0, depth = 0, most = 0;
  int pivot = 0, longest = 0;
  work_ = 0;
  for (Front& f : fronts_) {
    f.at = pivot;
    pivot += f.pivots;
    f.panel = at;
    at += static_cast<std::ptrdiff_t>(stride(f.pivots + f.rest)) * f.pivots + 4;
    f.row = at;
    at += static_cast<std::ptrdiff_t>(stride(f.pivots)) * f.rest + 4;
    const double p = f.pivots, r = f.rest;
    work_ += p * (2.0 / 3 * p * p + 2 * p * r + 2 * r * r);
    const std::ptrdiff_t mine = static_cast<std::ptrdiff_t>(stride(f.rest)) * f.rest + 4;
    most = std::max(most, depth + mine);
    for (const int c : f.children)
      depth -= static_cast<std::ptrdiff_t>(stride(fronts_[c].rest)) * fronts_[c].rest + 4;
    depth += mine;
    longest = std::max(longest, f.pivots + f.rest);
  }
  factors_.resize(at);
  stack_.resize(most + 4);
  swaps_.resize(pivot);
  part_.setZero(longest + 4);
}

void BlockLU::set_identity() {
  std::fill(values_.begin(), values_.end(), 0.0);
  for (std::size_t i = 0; i < size_.size(); ++i)
    for (int k = 0; k < size_[i]; ++k) values_[diagonal_[i] + k * (size_[i] + 1)] = 1;
}

double* BlockLU::coupling(int pair, bool turned) {
  const int c = coupling_of_[pair];
  const auto [a, b] = couplings_[c];
  const bool second = turned != static_cast<bool>(swapped_[pair]);
  return values_.data() + beside_[c] +
         (second ? static_cast<std::ptrdiff_t>(size_[a]) * size_[b] : 0);
}

// local_ has the places of the front's nodes: rows of P, and past the pivots columns of U.
void BlockLU::assemble(const Front& f, double* P, double* U) {
  const std::ptrdiff_t ldp = stride(f.pivots + f.rest), ldu = stride(f.pivots);
  const auto put = [&](int i, int j, const double* from) {  // i or j is a pivot
    const bool right = local_[j] >= f.pivots;
    double* to = right ? U + (local_[j] - f.pivots) * ldu : P + local_[j] * ldp;
    to += local_[i];
    for (int c = 0; c < size_[j]; ++c)
      for (int r = 0; r < size_[i]; ++r) to[c * (right ? ldu : ldp) + r] += from[c * size_[i] + r];
  };
  for (int k = 0; k < f.own; ++k) put(f.nodes[k], f.nodes[k], diagonal(f.nodes[k]));
  for (const int c : f.couplings) {
    const auto [a, b] = couplings_[c];
    put(a, b, values_.data() + beside_[c]);
    put(b, a, values_.data() + beside_[c] + static_cast<std::ptrdiff_t>(size_[a]) * size_[b]);
  }
}

void BlockLU::extend(const Front& child, const double* C, const Front& f, double* P, double* U,
                     double* S) {
  const std::ptrdiff_t ldp = stride(f.pivots + f.rest), ldu = stride(f.pivots);
  const std::ptrdiff_t lds = stride(f.rest), ldc = stride(child.rest);
  int column = 0;
  for (std::size_t j = child.own; j < child.nodes.size(); ++j) {
    const int to = local_[child.nodes[j]];
    for (int c = 0; c < size_[child.nodes[j]]; ++c, ++column) {
      const double* from = C + column * ldc;
      double* upper = to < f.pivots ? P + (to + c) * ldp : U + (to + c - f.pivots) * ldu;
      double* lower = to < f.pivots ? upper + f.pivots : S + (to + c - f.pivots) * lds;
      for (std::size_t i = child.own; i < child.nodes.size(); ++i) {
        const int at = local_[child.nodes[i]], rows = size_[child.nodes[i]];
        double* target = at < f.pivots ? upper + at : lower + (at - f.pivots);
        for (int r = 0; r < rows; ++r) target[r] += from[r];
        from += rows;
      }
    }
  }
}

bool BlockLU::factor() {
  std::ptrdiff_t top = 0;
  for (const Front& f : fronts_) {
    int at = 0;
    for (const int i : f.nodes) {
      local_[i] = at;
      at += size_[i];
    }
    const std::ptrdiff_t ldp = stride(f.pivots + f.rest), ldu = stride(f.pivots);
    const std::ptrdiff_t lds = stride(f.rest), mine = lds * f.rest + 4;
    double *P = factors_.data() + f.panel, *U = factors_.data() + f.row, *S = stack_.data() + top;
    std::fill_n(P, ldp * f.pivots + 4, 0.0);
    std::fill_n(U, ldu * f.rest + 4, 0.0);
    std::fill_n(S, mine, 0.0);
    assemble(f, P, U);
    std::ptrdiff_t below = top;
    for (auto c = f.children.rbegin(); c != f.children.rend(); ++c) {
      const Front& child = fronts_[*c];
      below -= static_cast<std::ptrdiff_t>(stride(child.rest)) * child.rest + 4;
      extend(child, stack_.data() + below, f, P, U, S);
    }
    Dense dense{f.pivots, f.rest, P, ldp, U, ldu, S, lds, swaps_.data() + f.at};
    if (!dense.eliminate()) return false;
    std::memmove(stack_.data() + below, S, sizeof(double) * mine);
    top = below + mine;
  }
  return true;
}

void BlockLU::solve(VecRef x) {
  for (const Front& f : fronts_) {
    const double* P = factors_.data() + f.panel;
    const std::ptrdiff_t ldp = stride(f.pivots + f.rest);
    double* y = x_.data() + f.at;
    int at = 0;
    for (int k = 0; k < f.own; ++k)
      for (int r = 0; r < size_[f.nodes[k]]; ++r) y[at++] = x[begin_[f.nodes[k]] + r];
    for (int k = 0; k < f.pivots; ++k) std::swap(y[k], y[swaps_[f.at + k]]);
    part_.head(f.rest).setZero();
    for (int k = 0; k < f.pivots; ++k) {
      const double* column = P + k * ldp;
      subtract(f.pivots - k - 1, y[k], column + k + 1, y + k + 1);
      subtract(f.rest, y[k], column + f.pivots, part_.data());
    }
    at = 0;
    for (std::size_t k = f.own; k < f.nodes.size(); ++k)
      for (int r = 0; r < size_[f.nodes[k]]; ++r) x[begin_[f.nodes[k]] + r] += part_[at++];
  }
  for (auto front = fronts_.rbegin(); front != fronts_.rend(); ++front) {
    const Front& f = *front;
    const double *P = factors_.data() + f.panel, *U = factors_.data() + f.row;
    const std::ptrdiff_t ldp = stride(f.pivots + f.rest), ldu = stride(f.pivots);
    double* y = x_.data() + f.at;
    int at = 0;
    for (std::size_t k = f.own; k < f.nodes.size(); ++k)
      for (int r = 0; r < size_[f.nodes[k]]; ++r, ++at)
        subtract(f.pivots, x[begin_[f.nodes[k]] + r], U + at * ldu, y);
    for (int k = f.pivots - 1; k >= 0; --k) {
      y[k] /= P[k * ldp + k];
      subtract(k, y[k], P + k * ldp, y);
    }
    at = 0;
    for (int k = 0; k < f.own; ++k)
      for (int r = 0; r < size_[f.nodes[k]]; ++r) x[begin_[f.nodes[k]] + r] = y[at++];
  }
}

}  // namespace saltus
