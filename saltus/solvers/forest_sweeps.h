// The sweeps over a forest, for both dimensions; internal to forest*.cpp.
#pragma once
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "saltus/solvers/forest.h"

namespace saltus::forest_detail {

// --- the two dimensions -----------------------------------------------------------------------

template <int D>
Eigen::Matrix<double, D, 1> narrow(const Vec6& x) {
  if constexpr (D == 6)
    return x;
  else
    return {x[0], x[1], x[5]};
}
template <int D>
Vec6 widen(const Eigen::Matrix<double, D, 1>& x) {
  if constexpr (D == 6) {
    return x;
  } else {
    Vec6 y = Vec6::Zero();
    y[0] = x[0];
    y[1] = x[1];
    y[5] = x[2];
    return y;
  }
}
template <int D>
Eigen::Matrix<double, D, D> narrow_matrix(const Mat6& A) {
  if constexpr (D == 6) {
    return A;
  } else {
    Mat3 B;
    const int k[3] = {0, 1, 5};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) B(i, j) = A(k[i], k[j]);
    return B;
  }
}

// Twist of the parent's origin -> of the origin at +r: v + w x r.
inline Vec6 shift_twist(const Vec6& r, const Vec6& V) {
  Vec6 y = V;
  y[0] += V[4] * r[2] - V[5] * r[1];
  y[1] += V[5] * r[0] - V[3] * r[2];
  y[2] += V[3] * r[1] - V[4] * r[0];
  return y;
}
inline Vec3 shift_twist(const Vec3& r, const Vec3& V) {
  return {V[0] - V[2] * r[1], V[1] + V[2] * r[0], V[2]};
}
// Wrench at +r -> at the parent's origin: m + r x f.
inline Vec6 shift_wrench(const Vec6& r, const Vec6& F) {
  Vec6 y = F;
  y[3] += r[1] * F[2] - r[2] * F[1];
  y[4] += r[2] * F[0] - r[0] * F[2];
  y[5] += r[0] * F[1] - r[1] * F[0];
  return y;
}
inline Vec3 shift_wrench(const Vec3& r, const Vec3& F) {
  return {F[0], F[1], F[2] + r[0] * F[1] - r[1] * F[0]};
}
// B += T' A T with T the twist shift: first the columns, then the rows.
inline void add_shifted(const Vec6& r, const Mat6& A, Mat6& B) {
  Mat6 C = A;
  C.col(3) += r[1] * A.col(2) - r[2] * A.col(1);
  C.col(4) += r[2] * A.col(0) - r[0] * A.col(2);
  C.col(5) += r[0] * A.col(1) - r[1] * A.col(0);
  for (int j = 0; j < 6; ++j) {
    const double x = C(0, j), y = C(1, j), z = C(2, j);
    B(0, j) += x;
    B(1, j) += y;
    B(2, j) += z;
    B(3, j) += C(3, j) + r[1] * z - r[2] * y;
    B(4, j) += C(4, j) + r[2] * x - r[0] * z;
    B(5, j) += C(5, j) + r[0] * y - r[1] * x;
  }
}
inline void add_shifted(const Vec3& r, const Mat3& A, Mat3& B) {
  Mat3 C = A;
  C.col(2) += r[0] * A.col(1) - r[1] * A.col(0);
  for (int j = 0; j < 3; ++j) {
    B(0, j) += C(0, j);
    B(1, j) += C(1, j);
    B(2, j) += C(2, j) + r[0] * C(1, j) - r[1] * C(0, j);
  }
}

// A <- A T: every row is a wrench's, from the node's origin to the parent's.
inline void shift_columns(const Vec6& r, Mat6& A) {
  A.col(3) += r[1] * A.col(2) - r[2] * A.col(1);
  A.col(4) += r[2] * A.col(0) - r[0] * A.col(2);
  A.col(5) += r[0] * A.col(1) - r[1] * A.col(0);
}
inline void shift_columns(const Vec3& r, Mat3& A) { A.col(2) += r[0] * A.col(1) - r[1] * A.col(0); }

template <int D>
const Eigen::Matrix<double, D, D>& part(const Forest::Extra& extra, int node) {
  if constexpr (D == 6)
    return extra.A[node];
  else
    return extra.planar[node];
}

// --- the sweeps, over the dimension and the unknowns of a node --------------------------------

// Calls f with the number of unknowns as a constant.
template <class F>
bool by_size(int n, F&& f) {
  switch (n) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 6: return f(std::integral_constant<int, 6>{});
    default: return f(std::integral_constant<int, 0>{});
  }
}

// Pivots below this share of the largest entry are no pivots.
inline constexpr double least_pivot = 1e-20;

// A symmetric pivot by Cholesky, from its lower part: P = L L', and its inverse X' X with X = L^-1.
// The inverse is symmetric to the bit, and so stays what is eliminated with it: an antisymmetric
// part of rounding would grow from link to link as the articulated inertias are handed down.
template <int N>
bool invert_symmetric(const Eigen::Matrix<double, N, N>& P, double* inverse) {
  if constexpr (N == 1) {
    if (!(P(0, 0) > 0)) return false;
    inverse[0] = 1 / P(0, 0);
    return true;
  } else {
    using Block = Eigen::Matrix<double, N, N>;
    const double scale = P.diagonal().cwiseAbs().maxCoeff();
    if (!(scale > 0) || !std::isfinite(scale)) return false;
    Block L = P, X = Block::Zero();
    for (int j = 0; j < N; ++j) {
      for (int k = 0; k < j; ++k)
        for (int i = j; i < N; ++i) L(i, j) -= L(i, k) * L(j, k);
      if (!(L(j, j) > least_pivot * scale)) return false;
      X(j, j) = 1 / std::sqrt(L(j, j));
      for (int i = j + 1; i < N; ++i) L(i, j) *= X(j, j);
    }
    for (int j = 0; j < N; ++j)
      for (int i = j + 1; i < N; ++i) {
        double sum = 0;
        for (int k = j; k < i; ++k) sum -= L(i, k) * X(k, j);
        X(i, j) = sum * X(i, i);
      }
    Eigen::Map<Block, 0, Eigen::OuterStride<6>> out(inverse);
    for (int j = 0; j < N; ++j)
      for (int i = j; i < N; ++i) {
        double sum = 0;
        for (int k = i; k < N; ++k) sum += X(k, i) * X(k, j);
        out(i, j) = out(j, i) = sum;
      }
    return out.allFinite();
  }
}

// A pivot of a matrix that is not symmetric (the slope of a slip).
template <int N>
bool invert_general(const Eigen::Matrix<double, N, N>& P, double* inverse) {
  if constexpr (N == 1) {
    return invert_symmetric<1>(P, inverse);
  } else {
    Eigen::Map<Eigen::Matrix<double, N, N>, 0, Eigen::OuterStride<6>> out(inverse);
    const double scale = P.cwiseAbs().maxCoeff();
    if (!(scale > 0) || !std::isfinite(scale)) return false;
    const Eigen::PartialPivLU<Eigen::Matrix<double, N, N>> lu(P);
    for (int i = 0; i < N; ++i)
      if (!(std::abs(lu.matrixLU()(i, i)) > least_pivot * scale)) return false;
    out = lu.inverse();
    return out.allFinite();
  }
}

// The upper part from the lower one.
template <class M>
void mirror(M& A) {
  for (int j = 1; j < A.cols(); ++j)
    for (int i = 0; i < j; ++i) A(i, j) = A(j, i);
}

template <int D>
struct Sweeps {
  using Data = ForestData<D>;
  using V = typename Data::V;
  using M = typename Data::M;
  const ForestShape& s;
  Data& k;
  ForestFactor<D>& h;

  Sweeps(const ForestShape& shape, Data& data, bool with_extra = false)
      : s(shape), k(data), h(data.factor[with_extra ? 1 : 0]) {}

  int factor(int begin, int end, const Forest::Extra* extra) {
    h.symmetric = !extra || extra->symmetric;
    for (int i = begin; i < end; ++i) {
      h.IA[i] = k.A[i];
      if (extra && extra->touched[i]) h.IA[i] += part<D>(*extra, i);
    }
    for (int i = end - 1; i >= begin; --i) {
      const int first = s.first[i], parent = s.parent[i];
      M& I = h.IA[i];
      if (h.symmetric) mirror(I);  // of its children, shifted: symmetric but for rounding
      const bool ok = by_size(s.dim[i], [&](auto size) {
        constexpr int N = decltype(size)::value;
        if constexpr (N > 0) {
          const auto S = k.S_free.template middleCols<N>(first);
          auto U = h.U.template middleCols<N>(first);
          U.noalias() = I * S;
          Eigen::Matrix<double, N, N> P;
          P.noalias() = S.transpose() * U;
          for (int n = 0; n < N; ++n) {
            P(n, n) += k.d_free[first + n];
            if (extra) P(n, n) += extra->d[first + n];
          }
          double* inverse = h.D_inv.data() + 6 * static_cast<std::ptrdiff_t>(first);
          if (!(h.symmetric ? invert_symmetric<N>(P, inverse) : invert_general<N>(P, inverse)))
            return false;
          auto U_left = h.U_left.template middleCols<N>(first);
          if (h.symmetric)
            U_left = U;
          else
            U_left.noalias() = I.transpose() * S;
          if (parent >= 0) {
            const auto inv = pivot<N>(first);
            Eigen::Matrix<double, D, N> UD;
            UD.noalias() = U * inv;
            I.noalias() -= UD * U_left.transpose();
            UD.noalias() = S * inv;
            h.Psi[i].noalias() = -UD * U_left.transpose();
          }
        } else {
          h.Psi[i].setZero();
        }
        return true;
      });
      if (!ok) return first;
      if (parent < 0) continue;
      h.Psi[i].diagonal().array() += 1;
      shift_columns(k.shift[i], h.Psi[i]);
      add_shifted(k.shift[i], I, h.IA[parent]);
    }
    return -1;
  }

  // The inverse pivot of a node by its first unknown.
  template <int N>
  auto pivot(int first) const {
    return Eigen::Map<const Eigen::Matrix<double, N, N>, 0, Eigen::OuterStride<6>>(
        h.D_inv.data() + 6 * static_cast<std::ptrdiff_t>(first));
  }

  void backward(int i, const double* b) {
    const int first = s.first[i], parent = s.parent[i];
    const V p = k.p[i];
    V on = V::Zero();  // what the forces on the unknowns send to the parent
    by_size(s.dim[i], [&](auto size) {
      constexpr int N = decltype(size)::value;
      if constexpr (N > 0) {
        using VN = Eigen::Matrix<double, N, 1>;
        VN u, given = VN::Zero();
        u.noalias() = -(k.S_free.template middleCols<N>(first).transpose() * p);
        if (b)
          for (int n = 0; n < N; ++n) given[n] = k.free[first + n] * b[first + n];
        k.u.template segment<N>(first) = u + given;
        if (parent < 0) return true;
        if (!h.symmetric) given += u;  // and all that Psi' does not do
        if (b || !h.symmetric) {
          const VN y = pivot<N>(first) * given;
          on.noalias() = h.U.template middleCols<N>(first) * y;
        }
      }
      return true;
    });
    if (parent < 0) return;
    V sum = h.symmetric ? V(h.Psi[i].transpose() * p) : shift_wrench(k.shift[i], p);
    if (b || !h.symmetric) sum += shift_wrench(k.shift[i], on);
    k.p[parent] += sum;
  }

  // x points at the unknown 0 of the forest.
  void forward(int i, double* x) {
    const int first = s.first[i], parent = s.parent[i];
    V a = V::Zero(), carried = V::Zero();
    if (parent >= 0) {
      carried = shift_twist(k.shift[i], k.a[parent]);
      a.noalias() = h.Psi[i] * k.a[parent];
    }
    by_size(s.dim[i], [&](auto size) {
      constexpr int N = decltype(size)::value;
      if constexpr (N > 0) {
        using VN = Eigen::Matrix<double, N, 1>;
        const VN u = k.u.template segment<N>(first);
        const auto inv = pivot<N>(first);
        const VN own = inv * u;
        a.noalias() += k.S_free.template middleCols<N>(first) * own;
        VN left;
        left.noalias() = h.U_left.template middleCols<N>(first).transpose() * carried;
        Eigen::Map<VN>(x + first) = own - inv * left;
      }
      return true;
    });
    k.a[i] = a;
  }

  // From the wrenches -p of the nodes (and b) to x and the twists a.
  void sweep(int begin, int end, const double* b, double* x) {
    if constexpr (D == 3) {
      if (h.symmetric) return sweep_plane(begin, end, b, x);
    }
    for (int i = end - 1; i >= begin; --i) backward(i, b);
    for (int i = begin; i < end; ++i) forward(i, x);
  }

  // The same with the nodes of one unknown, most of a long creature in the plane, in plain numbers.
  void sweep_plane(int begin, int end, const double* b, double* x) requires(D == 3) {
    for (int i = end - 1; i >= begin; --i) {
      if (s.dim[i] != 1) {
        backward(i, b);
        continue;
      }
      const int n = s.first[i], parent = s.parent[i];
      const double *S = k.S_free.data() + 3 * n, *p = k.p[i].data();
      const double given = b ? k.free[n] * b[n] : 0.0;
      k.u[n] = given - (S[0] * p[0] + S[1] * p[1] + S[2] * p[2]);
      if (parent < 0) continue;
      const double *T = h.Psi[i].data(), *U = h.U.data() + 3 * n, *r = k.shift[i].data();
      double* to = k.p[parent].data();
      if (b) {
        const double y = h.D_inv(0, n) * given, f0 = U[0] * y, f1 = U[1] * y;
        to[0] += f0;
        to[1] += f1;
        to[2] += U[2] * y + (r[0] * f1 - r[1] * f0);
      }
      to[0] += T[0] * p[0] + T[1] * p[1] + T[2] * p[2];
      to[1] += T[3] * p[0] + T[4] * p[1] + T[5] * p[2];
      to[2] += T[6] * p[0] + T[7] * p[1] + T[8] * p[2];
    }
    for (int i = begin; i < end; ++i) {
      const int n = s.first[i], parent = s.parent[i];
      if (s.dim[i] != 1 || parent < 0) {
        forward(i, x);
        continue;
      }
      const double *S = k.S_free.data() + 3 * n, *U = h.U_left.data() + 3 * n;
      const double *T = h.Psi[i].data(), *r = k.shift[i].data(), *above = k.a[parent].data();
      const double v0 = above[0], v1 = above[1], v2 = above[2];
      const double inverse = h.D_inv(0, n), own = inverse * k.u[n];
      double* a = k.a[i].data();
      for (int j = 0; j < 3; ++j) a[j] = S[j] * own + (T[j] * v0 + T[3 + j] * v1 + T[6 + j] * v2);
      x[n] = own - inverse * (U[0] * (v0 - v2 * r[1]) + U[1] * (v1 + v2 * r[0]) + U[2] * v2);
    }
  }

  void solve(int begin, int end, const double* b, const Vec6* f, double* x,
             std::vector<Vec6>* twist) {
    for (int i = begin; i < end; ++i) k.p[i] = f ? V(-narrow<D>(f[i])) : V(V::Zero());
    sweep(begin, end, b, x);
    if (twist)
      for (int i = begin; i < end; ++i) (*twist)[i] = widen<D>(k.a[i]);
  }

  // One source only: the way back is a single branch.
  void solve_branch(int node, const V& p, int unknown, double value, double* x_tree) {
    const int tree = s.tree[node], begin = s.tree_begin[tree], end = s.tree_begin[tree + 1];
    const int base = s.unknown_begin[tree], count = s.unknown_begin[tree + 1] - base;
    k.u.segment(base, count).setZero();
    for (int i = node; i >= 0; i = s.parent[i]) k.p[i].setZero();
    k.p[node] = p;
    for (int i = node; i >= 0; i = s.parent[i]) {
      if (unknown >= 0 && i == node) {
        // backward() reads b at the node's own unknowns only
        double b[6] = {0, 0, 0, 0, 0, 0};
        b[unknown - s.first[i]] = value;
        backward(i, b - s.first[i]);
      } else {
        backward(i, nullptr);
      }
    }
    for (int i = begin; i < end; ++i) forward(i, x_tree - base);
  }

  void twists(int begin, int end, const double* x, std::vector<Vec6>& out) {
    for (int i = begin; i < end; ++i) {
      V a = s.parent[i] >= 0 ? shift_twist(k.shift[i], k.a[s.parent[i]]) : V(V::Zero());
      for (int n = s.first[i]; n < s.first[i] + s.dim[i]; ++n) a += x[n] * k.S.col(n);
      k.a[i] = a;
      out[i] = widen<D>(a);
    }
  }

  void gather(const Vec6* f, double* y) {
    for (int i = 0; i < s.nodes(); ++i) k.p[i] = narrow<D>(f[i]);
    collect(0, s.nodes(), y);
  }
  void collect(int begin, int end, double* y) {
    for (int i = end - 1; i >= begin; --i) {
      for (int n = s.first[i]; n < s.first[i] + s.dim[i]; ++n) y[n] = k.S.col(n).dot(k.p[i]);
      if (s.parent[i] >= 0) k.p[s.parent[i]] += shift_wrench(k.shift[i], k.p[i]);
    }
  }
  void multiply(int begin, int end, const double* x, double* y) {
    for (int i = begin; i < end; ++i) {
      V a = s.parent[i] >= 0 ? shift_twist(k.shift[i], k.a[s.parent[i]]) : V(V::Zero());
      for (int n = s.first[i]; n < s.first[i] + s.dim[i]; ++n) a += x[n] * k.S.col(n);
      k.a[i] = a;
      k.p[i].noalias() = k.A[i] * a;
    }
    collect(begin, end, y);
    for (int i = begin; i < end; ++i)
      for (int n = s.first[i]; n < s.first[i] + s.dim[i]; ++n) y[n] += k.d[n] * x[n];
  }

  void row(int node, const V& w, double* x_tree) const {
    const int tree = s.tree[node], base = s.unknown_begin[tree];
    std::fill(x_tree, x_tree + s.unknown_begin[tree + 1] - base, 0.0);
    V p = w;
    for (int i = node; i >= 0; i = s.parent[i]) {
      for (int n = s.first[i]; n < s.first[i] + s.dim[i]; ++n) x_tree[n - base] = k.S.col(n).dot(p);
      p = shift_wrench(k.shift[i], p);
    }
  }
};
}  // namespace saltus::forest_detail
