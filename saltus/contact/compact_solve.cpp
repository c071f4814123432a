// Impulses of CompactContacts, and the linear systems of its correction.
#include <algorithm>
#include <cmath>

#include "saltus/contact/compact_contacts.h"
#include "saltus/dynamics/packed_ops.h"
#include "saltus/solvers/local.h"

namespace saltus {

namespace {

constexpr int most_sweeps = 40;
constexpr int most_changes = 6;  // of joints that stick and slide

}  // namespace

SALTUS_VECTORIZED void CompactContacts::velocities() {
  for (int r = 0; r < rows; ++r) {
    double sum = c_[r];
    const double* g = G_.col(r).data();
    for (int q = 0; q < rows; ++q) sum += g[q] * Lambda[q];
    xi_[r] = sum;
  }
}

// The residual that judges every solver (inclusion.h), of the impulses at hand.
double CompactContacts::judge(SolveReport& report) {
  velocities();
  Residual worst;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const CompactBlock& k = blocks[b];
    const BlockResidual e = block_residual(k.block, k.sets, Lambda.segment(k.row, k.rows),
                                           xi_.segment(k.row, k.rows), k.steps);
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  note(worst, 0, report);
  return worst.value;
}

bool CompactContacts::solve(double tolerance, SolveReport& report) {
  bool done = rows == 0 || stick(tolerance, report);
  if (!done) {
    report.solver = "warm start";
    done = judge(report) <= tolerance || sweeps(tolerance, report);
  }
  report.converged = done;
  return done;
}

// No contact slips or parts, and it is known which joints slide: a linear system, and its solution
// is one if it lies in the sets.
bool CompactContacts::stick(double tolerance, SolveReport& report) {
  for (const CompactBlock& k : blocks)
    if (k.slipped) return false;
  do {
    if (report.iterations == most_changes || !sticking_impulses()) return false;
    ++report.iterations;
  } while (change_sides(tolerance));
  if (!contacts_stick()) return false;
  next_.head(rows).swap(Lambda.head(rows));
  velocities();
  Residual worst;  // within the sets it is the velocity of what sticks, or slides backwards
  for (const CompactBlock& k : blocks)
    for (int r = k.row; r < k.row + k.rows; ++r) {
      const double miss = k.side == 0 ? std::abs(xi_[r]) : std::max(0.0, k.side * xi_[r]);
      if (!(miss <= worst.value)) worst.value = miss;
    }
  worst.normal = worst.tangential = worst.value;
  report.solver = "stick";
  note(worst, tolerance, report);
  if (report.converged) return true;
  next_.head(rows).swap(Lambda.head(rows));
  return false;
}

// next_ = impulses at which the sticking rows come to rest. Given are those of joints that slide,
// and those of rows that cannot move because others do not (the fourth leg of a table, a leg on the
// ground whose joints all stick): they keep what they had.
bool CompactContacts::sticking_impulses() {
  sticking_.clear();
  next_.head(rows) = Lambda.head(rows);
  for (const CompactBlock& k : blocks) {
    if (k.side != 0)
      next_[k.row] = k.side > 0 ? k.sets[0].upper : k.sets[0].lower;
    else
      for (int r = k.row; r < k.row + k.rows; ++r) sticking_.push_back(r);
  }
  if (!cholesky(sticking_)) return false;
  const int n = static_cast<int>(sticking_.size());
  double packed[most_rows];
  for (int i = 0; i < n; ++i) packed[i] = -c_[sticking_[i]];
  for (int r = 0, at = 0; n < rows && r < rows; ++r) {
    if (at < n && sticking_[at] == r) {
      ++at;
      continue;
    }
    const double* g = G_.col(r).data();
    for (int i = 0; i < n; ++i) packed[i] -= g[sticking_[i]] * next_[r];
  }
  substitute(n, packed);
  for (int i = 0; i < n; ++i) next_[sticking_[i]] = packed[i];
  return true;
}

// A joint that would need more than its friction to stick slides, one that its friction drives
// sticks. Whether one has changed.
bool CompactContacts::change_sides(double tolerance) {
  bool changed = false;
  for (CompactBlock& k : blocks) {
    if (k.slot < 0) continue;
    int side = 0;
    if (k.side == 0) {
      const double x = next_[k.row];
      if (x > k.sets[0].upper) side = 1;
      if (x < k.sets[0].lower) side = -1;
    } else {
      double rate = c_[k.row];
      const double* g = G_.col(k.row).data();
      for (int r = 0; r < rows; ++r) rate += g[r] * next_[r];
      if (!(rate * k.side > tolerance)) side = k.side;
    }
    changed = changed || side != k.side;
    k.side = side;
  }
  return changed;
}

bool CompactContacts::contacts_stick() const {
  for (const CompactBlock& k : blocks) {
    if (k.slot >= 0) continue;
    const double* x = next_.data() + k.row;
    if (!(x[0] > 0)) return false;
    if (k.rows < 3) continue;
    const double a = x[1] / (k.sets[1].axis(x[1]) * x[0]), b = x[2] / (k.sets[1].upper * x[0]);
    if (!(a * a + b * b < 1)) return false;
  }
  return true;
}

// Gauss-Seidel with exact local steps.
bool CompactContacts::sweeps(double tolerance, SolveReport& report) {
  report.solver = ProxGaussSeidel::name;
  Vec6 q, x;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double change = 0;
    for (const CompactBlock& k : blocks) {
      for (int i = 0; i < k.rows; ++i) {
        const double* g = G_.col(k.row + i).data();
        double sum = c_[k.row + i];
        for (int c = 0; c < k.row; ++c) sum += g[c] * Lambda[c];
        for (int c = k.row + k.rows; c < rows; ++c) sum += g[c] * Lambda[c];
        q[i] = sum;
        x[i] = Lambda[k.row + i];
      }
      solve_block(k.sets, k.rows, k.A, q, x);
      for (int i = 0; i < k.rows; ++i) {
        change = std::max(change, k.A(i, i) * std::abs(x[i] - Lambda[k.row + i]));
        Lambda[k.row + i] = x[i];
      }
    }
    ++report.iterations;
    ++report.sweeps;
    if (!std::isfinite(change)) return false;
    if (change <= tolerance && judge(report) <= tolerance) return true;
  }
  return false;
}

// G of some rows = C C', lower; the inverses of C's diagonal on the diagonal. A row that
// depends on those before it is taken out of `of`.
SALTUS_VECTORIZED bool CompactContacts::cholesky(std::vector<int>& of) {
  factored_.clear();
  for (int j = 0; j < static_cast<int>(of.size());) {
    const int n = static_cast<int>(of.size());
    double* own = factor_.col(j).data();
    const double* from = G_.col(of[j]).data();
    for (int i = j; i < n; ++i) own[i] = from[of[i]];
    for (int k = 0; k < j; ++k) {
      const double* other = factor_.col(k).data();
      const double x = other[j];
      for (int i = j; i < n; ++i) own[i] -= x * other[i];
    }
    if (!(own[j] > 1e-10 * from[of[j]])) {
      if (!std::isfinite(own[j])) return false;
      of.erase(of.begin() + j);
      for (int k = 0; k < j; ++k) std::copy_n(&factor_(j + 1, k), n - j - 1, &factor_(j, k));
      continue;
    }
    const double inverse = 1 / std::sqrt(own[j]);
    own[j] = inverse;
    for (int i = j + 1; i < n; ++i) own[i] *= inverse;
    ++j;
  }
  factored_ = of;
  return true;
}

SALTUS_VECTORIZED void CompactContacts::substitute(int n, double* x) const {
  for (int j = 0; j < n; ++j) {
    const double* own = factor_.col(j).data();
    const double y = x[j] *= own[j];
    for (int i = j + 1; i < n; ++i) x[i] -= own[i] * y;
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* own = factor_.col(j).data();
    double sum = x[j];
    for (int i = j + 1; i < n; ++i) sum -= own[i] * x[i];
    x[j] = sum * own[j];
  }
}

bool CompactContacts::factor_held(std::vector<int>& of) { return factored_ == of || cholesky(of); }

void CompactContacts::correct(const std::vector<int>& of, const Vec& gap, Vec& x) const {
  const int n = static_cast<int>(of.size());
  x.setZero();
  double packed[most_rows];
  for (int i = 0; i < n; ++i) packed[i] = -gap[of[i]];
  substitute(n, packed);
  for (int i = 0; i < n; ++i) x[of[i]] = packed[i];
}

}  // namespace saltus
