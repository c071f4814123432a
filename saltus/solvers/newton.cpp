#include "saltus/solvers/newton.h"

#include "saltus/solvers/condense.h"
#include "saltus/solvers/newton_impl.h"

namespace saltus {

namespace {

template <class Backend>
SolveReport run(const Inclusion& p, VecRef Lambda, const Newton& o, SolverWorkspace& w) {
  SolveReport report;
  report.solver = Newton::name;
  Backend backend(p, w.newton);
  NewtonSolver<Backend> solver(p.blocks, p.rows, o, backend, w.newton);
  static_cast<void>(
      solver.run(Lambda.head(p.rows), report.iterations, o.history ? &w.history : nullptr));
  note(residual(p, Lambda, w), o.tolerance, report);
  report.newton = report.iterations;
  return report;
}

}  // namespace

SolveReport solve(const Inclusion& p, VecRef Lambda, const Newton& o, SolverWorkspace& w) {
  if (p.rows == 0) return {};
  const bool primal = !p.has_G || (p.has_M && p.W.rows() < p.rows);
  return primal ? run<PrimalBackend>(p, Lambda, o, w) : run<DualBackend>(p, Lambda, o, w);
}

namespace {

// Columns of the impulses that a block may still change at Lambda without leaving its mode.
int free_directions(const Block& k, VecIn Lambda, Mat6& B) {
  const ConvexSets sets = sets_of(k.law);
  int count = 0;
  const auto unit = [&](int row) {
    B.col(count).setZero();
    B(row, count++) = 1;
  };
  int normal = -1;
  for (const ConvexSet& set : sets) {
    const auto x = Lambda.segment(set.first, set.rows);
    const double scale = set.scaled ? std::max(Lambda[0], 0.0) : 1.0;
    if (set.scaled && normal < 0) continue;  // open
    if (set.shape == ConvexSet::Shape::all) {
      for (int i = 0; i < set.rows; ++i) unit(set.first + i);
    } else if (set.shape == ConvexSet::Shape::interval) {
      const double slack = 1e-9 * scale;
      const bool inside = set.scaled ? std::abs(x[0]) < scale * set.upper - slack * set.upper
                                     : x[0] > set.lower && x[0] < set.upper;
      if (inside) {
        if (!set.scaled && sets.count > 1) normal = count;
        unit(set.first);
      } else if (set.scaled) {
        B(set.first, normal) = x[0] / Lambda[0];
      }
    } else {
      const double a = scale * set.lower, b = scale * set.upper;
      const double level = a > 0 && b > 0 ? std::hypot(x[0] / a, x[1] / b) : 1.0;
      if (level < 1 - 1e-9) {
        unit(set.first);
        unit(set.first + 1);
      } else if (set.scaled) {
        B.col(normal).segment<2>(set.first) = x / Lambda[0];
      }
    }
  }
  return count;
}

}  // namespace

int indeterminacy(const Inclusion& p, VecIn Lambda, SolverWorkspace& w) {
  // A = B' G B over the free directions B; its rank by L D L'.
  Mat& A = w.newton.factor.A;
  w.newton.factor.valid = false;
  if (A.rows() < p.rows) A.setZero(p.rows, p.rows);
  int n = 0;
  Mat6 B, C;
  for (const Block& k : p.blocks) {
    const int columns = free_directions(k, Lambda.segment(k.row, k.rows), B);
    for (int j = 0; j < columns; ++j) {
      int m = 0;  // the lower triangle: rows after column n + j
      for (const Block& l : p.blocks) {
        const int others = free_directions(l, Lambda.segment(l.row, l.rows), C);
        for (int i = 0; i < others; ++i, ++m) {
          if (m < n + j) continue;
          double sum = 0;
          for (int s = 0; s < l.rows; ++s)
            for (int t = 0; t < k.rows; ++t)
              if (C(s, i) != 0 && B(t, j) != 0)
                sum += C(s, i) * B(t, j) *
                       (p.has_G ? p.G(l.row + s, k.row + t)
                                : p.W.col(l.row + s).dot(p.Y.col(k.row + t)));
          if (&k == &l && i == j) sum += k.compliance * B.col(j).head(k.rows).squaredNorm();
          A(m, n + j) = sum;
        }
      }
    }
    n += columns;
  }
  return factor_ldl(A, n, 1e-9);
}

}  // namespace saltus
