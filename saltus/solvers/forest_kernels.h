// Small dense kernels of the forest, as plain loops over column-major arrays: D is 6 or 3, N the
// number of unknowns of a node, or `any` with the number at run time. Internal to forest*.cpp.
//
// All of them are inlined, into functions that are compiled for AVX2 as well (base/vectorized.h);
// columns of six are four and two numbers there. Sums have the same order in all forms.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>

#define SALTUS_KERNEL [[gnu::always_inline]] inline

namespace saltus::forest_detail {

inline constexpr int any = -1;

// A column of six numbers, at any address of doubles.
struct Six {
  using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
  using Two = double __attribute__((vector_size(16), aligned(8), may_alias));
  Four a = {};
  Two b = {};
  SALTUS_KERNEL void load(const double* x) {
    a = *reinterpret_cast<const Four*>(x);
    b = *reinterpret_cast<const Two*>(x + 4);
  }
  SALTUS_KERNEL void store(double* x) const {
    *reinterpret_cast<Four*>(x) = a;
    *reinterpret_cast<Two*>(x + 4) = b;
  }
  // += s x
  SALTUS_KERNEL void add(const double* x, double s) {
    a += *reinterpret_cast<const Four*>(x) * s;
    b += *reinterpret_cast<const Two*>(x + 4) * s;
  }
  // += s x - t y
  SALTUS_KERNEL void add(double s, const Six& x, double t, const Six& y) {
    a += s * x.a - t * y.a;
    b += s * x.b - t * y.b;
  }
  // What shift_wrench does to it.
  SALTUS_KERNEL void shift(const double* r) {
    const Four after = {r[1], r[2], r[0], 0}, before = {r[2], r[0], r[1], 0};
    const Four moment = after * __builtin_shufflevector(a, a, 2, 0, 1, 3) -
                        before * __builtin_shufflevector(a, a, 1, 2, 0, 3);
    a = __builtin_shufflevector(a, a + __builtin_shufflevector(moment, moment, 0, 0, 0, 0), 0, 1, 2,
                                7);
    b += __builtin_shufflevector(moment, moment, 1, 2);
  }
};

// Calls f with the number of unknowns as a constant, or `any`.
template <class F>
SALTUS_KERNEL auto by_size(int n, F&& f) {
  switch (n) {
    case 0: return f(std::integral_constant<int, 0>{});
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 6: return f(std::integral_constant<int, 6>{});
    default: return f(std::integral_constant<int, any>{});
  }
}

// C = A B with A D x D, B D x n.
template <int D, int N>
SALTUS_KERNEL void multiply(const double* A, const double* B, int width, double* C) {
  const int n = N == any ? width : N;
  for (int j = 0; j < n; ++j) {
    if constexpr (D == 6) {
      Six sum;
      for (int k = 0; k < 6; ++k) sum.add(A + 6 * k, B[k + 6 * j]);
      sum.store(C + 6 * j);
    } else {
      double sum[D] = {};
      for (int k = 0; k < D; ++k)
        for (int i = 0; i < D; ++i) sum[i] += A[i + D * k] * B[k + D * j];
      for (int i = 0; i < D; ++i) C[i + D * j] = sum[i];
    }
  }
}
// C = A' B.
template <int D, int N>
SALTUS_KERNEL void multiply_transposed(const double* A, const double* B, int width, double* C) {
  const int n = N == any ? width : N;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < D; ++i) {
      double sum = 0;
      for (int k = 0; k < D; ++k) sum += A[k + D * i] * B[k + D * j];
      C[i + D * j] = sum;
    }
}
// P += S' U, n x n.
template <int D, int N>
SALTUS_KERNEL void add_pivot(const double* S, const double* U, int width, double* P) {
  const int n = N == any ? width : N;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < D; ++k) sum += S[k + D * i] * U[k + D * j];
      P[i + n * j] += sum;
    }
}
// C = A B with A D x n, B n x n.
template <int D, int N>
SALTUS_KERNEL void multiply_right(const double* A, const double* B, int width, double* C) {
  const int n = N == any ? width : N;
  for (int j = 0; j < n; ++j) {
    if constexpr (D == 6) {
      Six sum;
      for (int k = 0; k < n; ++k) sum.add(A + 6 * k, B[k + n * j]);
      sum.store(C + 6 * j);
    } else {
      double sum[D] = {};
      for (int k = 0; k < n; ++k)
        for (int i = 0; i < D; ++i) sum[i] += A[i + D * k] * B[k + n * j];
      for (int i = 0; i < D; ++i) C[i + D * j] = sum[i];
    }
  }
}
// M -= A B' with A, B D x n.
template <int D, int N>
SALTUS_KERNEL void subtract_outer(const double* A, const double* B, int width, double* M) {
  const int n = N == any ? width : N;
  for (int j = 0; j < D; ++j) {
    if constexpr (D == 6) {
      Six sum, column;
      for (int k = 0; k < n; ++k) sum.add(A + 6 * k, B[j + 6 * k]);
      column.load(M + 6 * j);
      column.a -= sum.a;
      column.b -= sum.b;
      column.store(M + 6 * j);
    } else {
      double sum[D] = {};
      for (int k = 0; k < n; ++k)
        for (int i = 0; i < D; ++i) sum[i] += A[i + D * k] * B[j + D * k];
      for (int i = 0; i < D; ++i) M[i + D * j] -= sum[i];
    }
  }
}
// y += A x with A D x n.
template <int D, int N>
SALTUS_KERNEL void add_columns(const double* A, const double* x, int width, double* y) {
  const int n = N == any ? width : N;
  if constexpr (D == 6) {
    Six sum;
    sum.load(y);
    for (int k = 0; k < n; ++k) sum.add(A + 6 * k, x[k]);
    sum.store(y);
  } else {
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < D; ++i) y[i] += A[i + D * k] * x[k];
  }
}
template <int D>
SALTUS_KERNEL double dot(const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < D; ++i) sum += a[i] * b[i];
  return sum;
}
// Row i of an n x n matrix times x.
SALTUS_KERNEL double row_times(const double* A, int n, int i, const double* x) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += A[i + n * k] * x[k];
  return sum;
}
// M <- the symmetric matrix of its lower part.
template <int D>
SALTUS_KERNEL void mirror(double* M) {
  for (int j = 1; j < D; ++j)
    for (int i = 0; i < j; ++i) M[i + D * j] = M[j + D * i];
}

// --- pivots -----------------------------------------------------------------------------------

// Pivots below this share of the largest entry are no pivots.
inline constexpr double least_pivot = 1e-20;
// Of M itself: what is left of an entry by elimination is rounding below this share of it, and
// there is no inertia against that motion. With Newton's K beside M entries differ by more.
inline constexpr double no_inertia = 1e-14;

// A symmetric pivot by Cholesky, from its lower part: P = L L', and its inverse X' X with X = L^-1.
// The inverse is symmetric to the bit, and so stays what is eliminated with it: an antisymmetric
// part of rounding would grow from link to link as the articulated inertias are handed down.
// P becomes L; X is scratch. A pivot that elimination leaves less of than the share `least` of its
// own entry is rounding.
template <int N>
SALTUS_KERNEL bool invert_symmetric(double* L, double* X, int width, double least,
                                    double* inverse) {
  const int n = N == any ? width : N;
  double scale = 0;
  for (int j = 0; j < n; ++j) scale = std::max(scale, std::abs(L[j + n * j]));
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  for (int j = 0; j < n; ++j) {
    const double own = L[j + n * j];
    for (int k = 0; k < j; ++k)
      for (int i = j; i < n; ++i) L[i + n * j] -= L[i + n * k] * L[j + n * k];
    if (!(L[j + n * j] > least_pivot * scale && L[j + n * j] > least * own)) return false;
    X[j + n * j] = 1 / std::sqrt(L[j + n * j]);
    for (int i = j + 1; i < n; ++i) L[i + n * j] *= X[j + n * j];
  }
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= L[i + n * k] * X[k + n * j];
      X[i + n * j] = sum * X[i + n * i];
    }
  bool finite = true;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = 0;
      for (int k = i; k < n; ++k) sum += X[k + n * i] * X[k + n * j];
      inverse[i + n * j] = inverse[j + n * i] = sum;
      finite = finite && std::isfinite(sum);
    }
  return finite;
}

// A pivot of a matrix that is not symmetric (the slope of a slip): Gauss-Jordan, rows exchanged.
// P is used up.
template <int N>
SALTUS_KERNEL bool invert_general(double* P, int width, double* inverse) {
  const int n = N == any ? width : N;
  double scale = 0;
  for (int i = 0; i < n * n; ++i) scale = std::max(scale, std::abs(P[i]));
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) inverse[i + n * j] = i == j ? 1 : 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(P[i + n * k]) > std::abs(P[best + n * k])) best = i;
    if (!(std::abs(P[best + n * k]) > least_pivot * scale)) return false;
    if (best != k)
      for (int j = 0; j < n; ++j) {
        std::swap(P[best + n * j], P[k + n * j]);
        std::swap(inverse[best + n * j], inverse[k + n * j]);
      }
    const double over = 1 / P[k + n * k];
    for (int j = 0; j < n; ++j) {
      P[k + n * j] *= over;
      inverse[k + n * j] *= over;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = P[i + n * k];
      if (i == k || factor == 0) continue;
      for (int j = 0; j < n; ++j) {
        P[i + n * j] -= factor * P[k + n * j];
        inverse[i + n * j] -= factor * inverse[k + n * j];
      }
    }
  }
  return std::all_of(inverse, inverse + n * n, [](double x) { return std::isfinite(x); });
}

// --- shifts of the origin by r (linear part of the array) -------------------------------------

// V <- T V, a twist of the parent's origin to the one of the origin at +r: v + w x r.
template <int D>
SALTUS_KERNEL void shift_twist(const double* r, double* V) {
  if constexpr (D == 6) {
    V[0] += V[4] * r[2] - V[5] * r[1];
    V[1] += V[5] * r[0] - V[3] * r[2];
    V[2] += V[3] * r[1] - V[4] * r[0];
  } else {
    V[0] -= V[2] * r[1];
    V[1] += V[2] * r[0];
  }
}
// F <- T' F, a wrench at +r to the one at the parent's origin: m + r x f.
template <int D>
SALTUS_KERNEL void shift_wrench(const double* r, double* F) {
  if constexpr (D == 6) {
    F[3] += r[1] * F[2] - r[2] * F[1];
    F[4] += r[2] * F[0] - r[0] * F[2];
    F[5] += r[0] * F[1] - r[1] * F[0];
  } else {
    F[2] += r[0] * F[1] - r[1] * F[0];
  }
}
// A <- A T: every row is a wrench's.
SALTUS_KERNEL void shift_columns(const double* r, Six* A) {
  A[3].add(r[1], A[2], r[2], A[1]);
  A[4].add(r[2], A[0], r[0], A[2]);
  A[5].add(r[0], A[1], r[1], A[0]);
}
template <int D>
SALTUS_KERNEL void shift_columns(const double* r, double* A) {
  if constexpr (D == 6) {
    Six columns[6];
    for (int j = 0; j < 6; ++j) columns[j].load(A + 6 * j);
    shift_columns(r, columns);
    for (int j = 3; j < 6; ++j) columns[j].store(A + 6 * j);
  } else {
    for (int i = 0; i < D; ++i) A[i + 6] += r[0] * A[i + 3] - r[1] * A[i];
  }
}
// B += T' A T: first the columns, then the rows.
template <int D>
SALTUS_KERNEL void add_shifted(const double* r, const double* A, double* B) {
  if constexpr (D == 6) {
    Six columns[6];
    for (int j = 0; j < 6; ++j) columns[j].load(A + 6 * j);
    shift_columns(r, columns);
    for (int j = 0; j < 6; ++j) {
      Six sum;
      sum.load(B + 6 * j);
      columns[j].shift(r);
      sum.a += columns[j].a;
      sum.b += columns[j].b;
      sum.store(B + 6 * j);
    }
  } else {
    double C[D * D];
    for (int i = 0; i < D * D; ++i) C[i] = A[i];
    shift_columns<D>(r, C);
    for (int j = 0; j < D; ++j) shift_wrench<D>(r, C + D * j);
    for (int i = 0; i < D * D; ++i) B[i] += C[i];
  }
}

}  // namespace saltus::forest_detail
