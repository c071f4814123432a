// The second derivatives of a cubic spline: continuous slopes at the inner times ask for
//   h_(k-1) m_(k-1) + 2 (h_(k-1) + h_k) m_k + h_k m_(k+1) = 6 (d_k - d_(k-1)),
// with h the lengths of the pieces and d their slopes; a closed one goes round, an open one has no
// slope at its ends.
#include <Eigen/LU>

#include "saltus/base/error.h"
#include "saltus/base/types.h"
#include "saltus/control/signal.h"

namespace saltus {

Spline make_spline(std::vector<double> times, std::vector<double> values, bool closed) {
  if (times.size() != values.size() || times.size() < (closed ? 4U : 2U))
    throw InputError(closed ? "expected at least three points and the first again"
                            : "expected at least two points");
  const int n = static_cast<int>(times.size()) - 1;  // pieces
  const auto h = [&](int k) { return times[k + 1] - times[k]; };
  const auto d = [&](int k) { return (values[k + 1] - values[k]) / h(k); };
  const int unknowns = closed ? n : n + 1;
  Mat A = Mat::Zero(unknowns, unknowns);
  Vec b(unknowns);
  for (int k = 0; k < unknowns; ++k) {
    const int before = closed ? (k + n - 1) % n : k - 1, after = closed ? (k + 1) % n : k + 1;
    double rest = 0;
    if (before >= 0) {
      A(k, before) += h(before);
      A(k, k) += 2 * h(before);
      rest -= d(before);
    }
    if (closed || k < n) {
      A(k, after) += h(k);
      A(k, k) += 2 * h(k);
      rest += d(k);
    }
    b[k] = 6 * rest;
  }
  const Vec m = A.partialPivLu().solve(b);
  Spline s{std::move(times), std::move(values), closed, {}};
  for (int k = 0; k <= n; ++k) s.bends.push_back(m[closed ? k % n : k]);
  return s;
}

}  // namespace saltus
