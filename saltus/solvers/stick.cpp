#include "saltus/solvers/stick.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "saltus/base/vectorized.h"

namespace saltus {

namespace {

constexpr int most_changes = 6;  // of intervals between their bounds and inside

bool is_interval(const Block& k) { return std::holds_alternative<Interval>(k.law); }

// Four doubles at any address. Columns of a RowFactor are padded with zeros to whole ones.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using FourBits = long long __attribute__((vector_size(32)));

int padded(int n) { return (n + 3) / 4 * 4; }

void reserve(RowFactor& f, int n) {
  if (f.A.rows() > 0 && f.A.rows() >= n) return;
  const int most = padded(1 + n + n / 2);
  f.A.setZero(most, most + 1);  // in its last column compliances
  f.L.setZero(most, most + 1);  // in its last column what substitute() works on
  f.size = -1;
}

// G of some rows, from the diagonal down, and their compliances; false where they are those of the
// last factor.
SALTUS_VECTORIZED bool gather(const Inclusion& p, const Vec& compliance, const std::vector<int>& of,
                              RowFactor& f) {
  const int n = static_cast<int>(of.size());
  reserve(f, n);
  const bool all = p.has_G && n > 0 && of.back() == n - 1;
  bool same = f.size == n;
  FourBits changed{};
  double* soft = f.A.col(f.A.cols() - 1).data();
  for (int j = 0; j < n; ++j) {
    same = same && soft[j] == compliance[of[j]];
    soft[j] = compliance[of[j]];
    double* own = f.A.col(j).data();
    const double* from = p.has_G ? p.G.col(of[j]).data() : nullptr;
    int i = all ? j / 4 * 4 : j;
    for (; all && i + 4 <= n; i += 4) {
      auto& mine = *reinterpret_cast<Four*>(own + i);
      const auto& entry = *reinterpret_cast<const Four*>(from + i);
      changed |= mine != entry;
      mine = entry;
    }
    for (; i < n; ++i) {
      const double x = from ? from[of[i]] : delassus(p, of[i], of[j]);
      same = same && own[i] == x;
      own[i] = x;
    }
    for (; i < padded(n); ++i) own[i] = 0;
  }
  f.size = n;
  return !same || ((changed[0] | changed[1]) | (changed[2] | changed[3])) != 0;
}

// Column j of L from the columns before it and the rows that are kept; returns the entry of G + C
// on the diagonal.
SALTUS_VECTORIZED double eliminate(int j, RowFactor& f) {
  const int n = static_cast<int>(f.kept.size()), first = j / 4 * 4, end = padded(n);
  double* own = f.L.col(j).data();
  const double* from = f.A.col(f.kept[j]).data();
  if (n == f.size) {
    for (int t = first; t < end; t += 4)
      *reinterpret_cast<Four*>(own + t) = *reinterpret_cast<const Four*>(from + t);
  } else {
    for (int t = j; t < n; ++t) own[t] = from[f.kept[t]];
    for (int t = n; t < end; ++t) own[t] = 0;
  }
  for (int t = first; t < j; ++t) own[t] = 0;
  own[j] += f.A(f.kept[j], f.A.cols() - 1);
  const double diagonal = own[j];
  const Eigen::Index stride = f.L.rows();
  for (int t = first; t < end; t += 4) {
    Four rest = *reinterpret_cast<Four*>(own + t);
    const double *x = f.L.data() + j, *other = f.L.data() + t;
    for (int k = 0; k < j; ++k, x += stride, other += stride)
      rest -= *x * *reinterpret_cast<const Four*>(other);
    *reinterpret_cast<Four*>(own + t) = rest;
  }
  return diagonal;
}

// Divides column j by the root of its pivot, whose inverse is kept on the diagonal.
SALTUS_VECTORIZED void scale(int j, RowFactor& f) {
  const int first = j / 4 * 4, end = padded(static_cast<int>(f.kept.size()));
  double* own = f.L.col(j).data();
  const double inverse = 1 / std::sqrt(own[j]);
  for (int t = first; t < end; t += 4) *reinterpret_cast<Four*>(own + t) *= inverse;
  for (int t = first; t < j; ++t) own[t] = 0;
  own[j] = inverse;
}

// Takes row j out of the factor.
void drop(int j, RowFactor& f) {
  const int n = static_cast<int>(f.kept.size());
  f.kept.erase(f.kept.begin() + j);
  for (int k = 0; k < j; ++k) {
    std::copy_n(&f.L(j, k) + 1, n - j - 1, &f.L(j, k));
    f.L(n - 1, k) = 0;
  }
}

// G + C of some rows = L L'. Dependent rows are taken out of `of`.
bool factor(const Inclusion& p, const Vec& compliance, double rank, std::vector<int>& of,
            RowFactor& f) {
  const int asked = static_cast<int>(of.size());
  if (gather(p, compliance, of, f) || f.rank != rank) {
    f.rank = rank;
    f.kept.resize(asked);
    std::iota(f.kept.begin(), f.kept.end(), 0);
    for (int j = 0; j < static_cast<int>(f.kept.size());) {
      const double diagonal = eliminate(j, f), pivot = f.L(j, j);
      if (pivot > rank * diagonal) {
        scale(j++, f);
        continue;
      }
      if (!std::isfinite(pivot)) {
        f.size = -1;
        return false;
      }
      drop(j, f);
    }
  }
  if (static_cast<int>(f.kept.size()) == asked) return true;
  for (std::size_t k = 0; k < f.kept.size(); ++k) of[k] = of[f.kept[k]];
  of.resize(f.kept.size());
  return true;
}

// x <- (L L')^-1 x.
SALTUS_VECTORIZED void substitute(RowFactor& f, double* x) {
  const int n = static_cast<int>(f.kept.size()), end = padded(n);
  double* y = f.L.col(f.L.cols() - 1).data();
  std::copy_n(x, n, y);
  for (int t = n; t < end; ++t) y[t] = 0;
  for (int j = 0; j < n; ++j) {
    const double* own = f.L.col(j).data();
    const double z = y[j] * own[j];
    for (int t = j / 4 * 4; t < end; t += 4)
      *reinterpret_cast<Four*>(y + t) -= *reinterpret_cast<const Four*>(own + t) * z;
    y[j] = z;
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* own = f.L.col(j).data();
    const double z = y[j];
    y[j] = 0;
    Four sum{};
    for (int t = j / 4 * 4; t < end; t += 4)
      sum += *reinterpret_cast<const Four*>(own + t) * *reinterpret_cast<Four*>(y + t);
    y[j] = (z - ((sum[0] + sum[1]) + (sum[2] + sum[3]))) * own[j];
  }
  std::copy_n(y, n, x);
}

// The rows in w.direct_rows come to rest, the others have the impulses that are in `x`.
bool bring_to_rest(const Inclusion& p, double rank, VecRef x, SolverWorkspace& w) {
  std::vector<int>& of = w.direct_rows;
  if (!factor(p, w.compliance, rank, of, w.stick)) return false;
  const int n = static_cast<int>(of.size());
  for (int i = 0; i < n; ++i) w.direct[i] = -p.c[of[i]];
  if (n < p.rows)
    for (int r = 0, at = 0; r < p.rows; ++r) {
      if (at < n && of[at] == r) {
        ++at;
        continue;
      }
      const double* g = p.G.col(r).data();
      for (int i = 0; i < n; ++i) w.direct[i] -= g[of[i]] * x[r];
    }
  substitute(w.stick, w.direct.data());
  for (int i = 0; i < n; ++i) x[of[i]] = w.direct[i];
  return true;
}

void set_compliance(const Inclusion& p, Vec& out) {
  for (const Block& k : p.blocks)
    for (int r = k.row; r < k.row + k.rows; ++r) out[r] = k.compliance;
}

// A little compliance in every row shares a load among rows that depend on each other.
constexpr double sharing = 1e-6;  // of the mean diagonal

// Where nothing was loaded, dependent rows have no impulse to keep: all rows together, about the
// least norm. Left as it is where that fails.
void share_load(const Inclusion& p, VecRef x, SolverWorkspace& w) {
  const double soft = sharing * p.G.diagonal().head(p.rows).mean();
  w.compliance.head(p.rows).array() += soft;
  w.direct_rows.resize(p.rows);
  std::iota(w.direct_rows.begin(), w.direct_rows.end(), 0);
  if (!bring_to_rest(p, 0, x, w) || !x.allFinite()) x.setZero();
  w.compliance.head(p.rows).array() -= soft;
}

// A row that moves by rounding only would be brought to rest by an impulse beyond all measure.
bool all_move(const Inclusion& p, const Vec& compliance) {
  double most = 0, least = infinity;
  for (int r = 0; r < p.rows; ++r) {
    const double d = p.G(r, r) + compliance[r];
    most = std::max(most, d);
    least = std::min(least, d);
  }
  return least > 1e-14 * most;
}

// -1 or 1 at a bound, 0 between.
int side_of(const Block& k, double x) {
  const auto& law = std::get<Interval>(k.law);
  return x >= law.upper ? 1 : x <= law.lower ? -1 : 0;
}

// Rows of joints that others imply: those that the factor left out.
int dropped_joints(const Inclusion& p, const std::vector<int>& kept) {
  int n = 0;
  for (const Block& k : p.blocks) {
    if (!std::holds_alternative<Bilateral>(k.law)) continue;
    for (int r = k.row; r < k.row + k.rows; ++r)
      n += !std::binary_search(kept.begin(), kept.end(), r);
  }
  return n;
}

bool inside(const Block& k, const double* x) {
  for (const ConvexSet& set : sets_of(k.law)) {
    const double* y = x + set.first;
    if (set.shape == ConvexSet::Shape::interval) {
      const double scale = set.scaled ? x[0] : 1;
      if (!(y[0] > scale * set.lower && y[0] < scale * set.upper)) return false;
    } else if (set.shape == ConvexSet::Shape::ellipse) {
      const double scale = set.scaled ? x[0] : 1;
      const double a = y[0] / (set.axis(y[0]) * scale), b = y[1] / (set.upper * scale);
      if (!(a * a + b * b < 1)) return false;
    }
  }
  return true;
}

}  // namespace

bool may_stick(const Inclusion& p, VecIn Lambda) {
  if (!p.has_G || p.rows > most_sticking_rows) return false;
  return std::none_of(p.blocks.begin(), p.blocks.end(), [&](const Block& k) {
    return !is_interval(k) && mode_of(k, Lambda.segment(k.row, k.rows)) == Mode::slip;
  });
}

SolveReport solve_sticking(const Inclusion& p, VecRef Lambda, double tolerance,
                           SolverWorkspace& w) {
  SolveReport report;
  report.solver = "stick";
  report.converged = false;
  report.gave_up = GaveUp::not_all_stick;
  report.residual = infinity;
  const int n = p.rows;
  auto x = w.next.head(n);
  std::array<int, most_sticking_rows> side{};
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& k = p.blocks[b];
    side[b] = is_interval(k) ? side_of(k, Lambda[k.row]) : 0;
  }
  set_compliance(p, w.compliance);
  if (!all_move(p, w.compliance)) return report;
  auto start = w.previous.head(n);
  start = Lambda.head(n);
  if (start.isZero(0)) share_load(p, start, w);
  for (bool changed = true; changed;) {
    if (report.iterations == most_changes) return report;
    ++report.iterations;
    x = start;
    w.direct_rows.clear();
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      const Block& k = p.blocks[b];
      if (side[b] != 0) {
        const auto& law = std::get<Interval>(k.law);
        x[k.row] = side[b] > 0 ? law.upper : law.lower;
      } else {
        for (int r = k.row; r < k.row + k.rows; ++r) w.direct_rows.push_back(r);
      }
    }
    if (!bring_to_rest(p, dependent_row, x, w)) return report;
    changed = false;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      const Block& k = p.blocks[b];
      if (!is_interval(k)) continue;
      int now = 0;
      if (side[b] == 0) {
        now = side_of(k, x[k.row]);
      } else {
        const double rate = p.c[k.row] + p.G.col(k.row).head(n).dot(x) + k.compliance * x[k.row];
        if (!(rate * side[b] > tolerance)) now = side[b];
      }
      changed = changed || now != side[b];
      side[b] = now;
    }
  }
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    if (side[b] == 0 && !inside(p.blocks[b], x.data() + p.blocks[b].row)) return report;
  note(residual(p, x, w), tolerance, report);
  report.redundant = dropped_joints(p, w.direct_rows);
  if (report.converged) {
    Lambda.head(n) = x;
    report.gave_up = GaveUp::no;
  }
  return report;
}

bool solve_bilateral(const Inclusion& p, double rank, VecRef Lambda, SolverWorkspace& w) {
  set_compliance(p, w.compliance);
  w.direct_rows.resize(p.rows);
  std::iota(w.direct_rows.begin(), w.direct_rows.end(), 0);
  return bring_to_rest(p, rank, Lambda, w);
}

bool solve_rows(const Inclusion& p, VecIn c, double rank, VecRef x, SolverWorkspace& w) {
  set_compliance(p, w.compliance);
  std::vector<int>& of = w.direct_rows;
  if (!factor(p, w.compliance, rank, of, w.stick)) return false;
  const int n = static_cast<int>(of.size());
  for (int i = 0; i < n; ++i) w.direct[i] = -c[of[i]];
  substitute(w.stick, w.direct.data());
  x.setZero();
  for (int i = 0; i < n; ++i) x[of[i]] = w.direct[i];
  return true;
}

}  // namespace saltus
