#include "saltus/solvers/forest_sweeps.h"

#include "saltus/base/vectorized.h"
#include "saltus/solvers/forest_kernels.h"

namespace saltus::forest_detail {

namespace {

template <int D>
const double* part(const Forest::Extra& extra, int node) {
  if constexpr (D == 6)
    return extra.A[node].data();
  else
    return extra.planar[node].data();
}

}  // namespace

// --- the factor -------------------------------------------------------------------------------

// What lies on the unknowns of an element themselves, without rows and columns of held ones.
template <int D>
void Sweeps<D>::add_own(int i, const Forest::Extra* extra, double* P) const {
  const int n = s.dim[i], first = s.first[i];
  for (int c = 0; c < n; ++c) {
    P[c + n * c] += k.d_free[first + c];
    if (extra) P[c + n * c] += extra->d[first + c];
  }
  for (const Vec* K : {static_cast<const Vec*>(&k.K), extra ? &extra->K : nullptr}) {
    if (!K || K->size() == 0) continue;
    const double* block = K->data() + s.pivot[i];
    for (int c = 0; c < n; ++c)
      for (int r = 0; r < n; ++r)
        P[r + n * c] += k.free[first + r] * k.free[first + c] * block[r + n * c];
  }
}

template <int D>
template <int N>
bool Sweeps<D>::eliminate_body(int i, const Forest::Extra* extra) {
  const int n = s.dim[i], parent = s.parent[i];
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(D) * s.column[i];
  double *I = h.IA[i].data(), *U = h.U.data() + at, *U_left = h.U_left.data() + at;
  const double *S = k.S_free.data() + at, *r = k.shift[i].data();
  double *inverse = h.inverse.data() + s.pivot[i], *Psi = h.Psi[i].data();
  if constexpr (N != 0) {
    double small[N > 0 ? 2 * N * N + D * N : 1];
    double* P = N > 0 ? small : h.chol.data() + s.pivot[i];
    double* X = N > 0 ? small + N * N : h.half.data() + s.pivot[i];
    double* UD = N > 0 ? small + 2 * N * N : h.scratch.data() + at;
    forest_detail::multiply<D, N>(I, S, n, U);
    std::fill(P, P + n * n, 0.0);
    add_pivot<D, N>(S, U, n, P);
    add_own(i, extra, P);
    if (!(h.symmetric ? invert_symmetric<N>(P, X, n, extra ? 0 : no_inertia, inverse)
                      : invert_general<N>(P, n, inverse)))
      return false;
    if (h.symmetric)
      std::copy(U, U + D * n, U_left);
    else
      multiply_transposed<D, N>(I, S, n, U_left);
    if (parent < 0) return true;
    multiply_right<D, N>(U, inverse, n, UD);
    subtract_outer<D, N>(UD, U_left, n, I);
    multiply_right<D, N>(S, inverse, n, UD);
    std::fill(Psi, Psi + D * D, 0.0);
    subtract_outer<D, N>(UD, U_left, n, Psi);
  } else {
    if (parent < 0) return true;
    std::fill(Psi, Psi + D * D, 0.0);
  }
  for (int c = 0; c < D; ++c) Psi[c + D * c] += 1;
  shift_columns<D>(r, Psi);
  add_shifted<D>(r, I, h.IA[parent].data());
  return true;
}

// [A B; B' C] of an element with several stations, over the twist of its parent and its unknowns.
template <int D>
template <int N>
bool Sweeps<D>::eliminate_element(int i, const Forest::Extra* extra) {
  const int n = N == any ? s.dim[i] : N, parent = s.parent[i], end = i + s.stations[i];
  const std::ptrdiff_t own = static_cast<std::ptrdiff_t>(D) * s.first[i];
  double *P = h.chol.data() + s.pivot[i], *inverse = h.inverse.data() + s.pivot[i];
  double *B = h.B.data() + own, *B_left = h.B_left.data() + own;
  std::fill(P, P + n * n, 0.0);
  std::fill(B, B + D * n, 0.0);
  std::fill(B_left, B_left + D * n, 0.0);
  const auto add_to_base = [&](int j, const double* U, double* sum) {
    for (int c = 0; c < n; ++c) {
      V F = Eigen::Map<const V>(U + D * c);
      shift_wrench<D>(k.shift[j].data(), F.data());
      for (int a = 0; a < D; ++a) sum[a + D * c] += F[a];
    }
  };
  for (int j = i; j < end; ++j) {
    if (k.idle[j]) continue;
    double* I = h.IA[j].data();
    if (h.symmetric && j > i) mirror<D>(I);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(D) * s.column[j];
    const double* S = k.S_free.data() + at;
    double *U = h.U.data() + at, *U_left = h.U_left.data() + at;
    forest_detail::multiply<D, N>(I, S, n, U);
    add_pivot<D, N>(S, U, n, P);
    if (!h.symmetric) multiply_transposed<D, N>(I, S, n, U_left);
    if (parent < 0) continue;
    add_to_base(j, U, B);
    if (!h.symmetric) add_to_base(j, U_left, B_left);
  }
  if (h.symmetric) std::copy(B, B + D * n, B_left);
  add_own(i, extra, P);
  if (n > 0 && !(h.symmetric ? invert_symmetric<N>(P, h.half.data() + s.pivot[i], n,
                                                   extra ? 0 : no_inertia, inverse)
                             : invert_general<N>(P, n, inverse)))
    return false;
  if (parent < 0) return true;
  double* to = h.IA[parent].data();
  double* scratch = h.scratch.data() + static_cast<std::ptrdiff_t>(D) * s.column[i];
  multiply_right<D, N>(B, inverse, n, scratch);
  subtract_outer<D, N>(scratch, B_left, n, to);
  for (int j = i; j < end; ++j) {
    if (k.idle[j]) continue;
    add_shifted<D>(k.shift[j].data(), h.IA[j].data(), to);
    if (extra) continue;  // Psi is for compliance(), which is that of M
    h.Psi[j].setIdentity();
    shift_columns<D>(k.shift[j].data(), h.Psi[j].data());
    multiply_right<D, N>(k.S_free.data() + static_cast<std::ptrdiff_t>(D) * s.column[j], inverse, n,
                         scratch);
    subtract_outer<D, N>(scratch, B_left, n, h.Psi[j].data());
  }
  return true;
}

template <int D>
bool Sweeps<D>::eliminate(int i, const Forest::Extra* extra) {
  if (s.stations[i] == 0) return true;         // with the first one
  if (h.symmetric) mirror<D>(h.IA[i].data());  // of its children, shifted: but for rounding
  return by_size(
      s.dim[i], [&](auto size) __attribute__((always_inline)) {
        constexpr int N = decltype(size)::value;
        return s.stations[i] > 1 ? eliminate_element<N>(i, extra) : eliminate_body<N>(i, extra);
      });
}

template <int D>
int Sweeps<D>::plain_factor(int begin, int end, const Forest::Extra* extra) {
  h.symmetric = !extra || extra->symmetric;
  for (int i = begin; i < end; ++i) {
    h.IA[i] = k.A[i];
    if (extra && extra->touched[i]) {
      const double* add = part<D>(*extra, i);
      for (int a = 0; a < D * D; ++a) h.IA[i].data()[a] += add[a];
    }
  }
  for (int i = end - 1; i >= begin; --i)
    if (!eliminate(i, extra)) return s.first[i];
  return -1;
}

// --- solves -----------------------------------------------------------------------------------

template <int D>
template <int N>
void Sweeps<D>::backward_body(int i, const double* b) {
  const int n = N == any ? s.dim[i] : N, first = s.first[i], parent = s.parent[i];
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(D) * s.column[i];
  const double *p = k.p[i].data(), *S = k.S_free.data() + at;
  double* u = k.u.data() + first;
  for (int c = 0; c < n; ++c)
    u[c] = (b ? k.free[first + c] * b[first + c] : 0.0) - dot<D>(S + D * c, p);
  if (parent < 0) return;
  double sum[D];
  if (h.symmetric)
    for (int c = 0; c < D; ++c) sum[c] = dot<D>(h.Psi[i].data() + D * c, p);
  else
    for (int c = 0; c < D; ++c) sum[c] = p[c];
  double on[D] = {};  // what the forces on the unknowns send to the parent
  if (b || !h.symmetric) {
    // All of u, or what Psi' has not done.
    const double *inverse = h.inverse.data() + s.pivot[i], *U = h.U.data() + at;
    for (int c = 0; c < n; ++c) {
      const double given = h.symmetric ? k.free[first + c] * b[first + c] : u[c];
      for (int a = 0; a < n; ++a) {
        const double y = inverse[a + n * c] * given;
        for (int l = 0; l < D; ++l) on[l] += U[l + D * a] * y;
      }
    }
    if (!h.symmetric)
      for (int c = 0; c < D; ++c) on[c] += sum[c], sum[c] = 0;
    shift_wrench<D>(k.shift[i].data(), on);
  }
  double* to = k.p[parent].data();
  for (int c = 0; c < D; ++c) to[c] += sum[c] + on[c];
}

template <int D>
template <int N>
void Sweeps<D>::backward_element(int i, const double* b, int station) {
  const int n = N == any ? s.dim[i] : N, first = s.first[i], parent = s.parent[i];
  double* u = k.u.data() + first;
  for (int c = 0; c < n; ++c) u[c] = b ? k.free[first + c] * b[first + c] : 0.0;
  const int begin = station < 0 ? i : station, end = station < 0 ? i + s.stations[i] : station + 1;
  V sum = V::Zero();
  for (int j = begin; j < end; ++j) {
    if (k.idle[j]) continue;
    const double* S = k.S_free.data() + static_cast<std::ptrdiff_t>(D) * s.column[j];
    V p = k.p[j];
    for (int c = 0; c < n; ++c) u[c] -= dot<D>(S + D * c, p.data());
    shift_wrench<D>(k.shift[j].data(), p.data());
    sum += p;
  }
  if (parent < 0) return;
  const double* B = h.B.data() + static_cast<std::ptrdiff_t>(D) * first;
  for (int a = 0; a < n; ++a) {
    const double y = row_times(h.inverse.data() + s.pivot[i], n, a, u);
    for (int l = 0; l < D; ++l) sum[l] += B[l + D * a] * y;
  }
  k.p[parent] += sum;
}

template <int D>
void Sweeps<D>::backward(int i, const double* b) {
  if (s.stations[i] == 0) return;
  by_size(
      s.dim[i], [&](auto size) __attribute__((always_inline)) {
        constexpr int N = decltype(size)::value;
        if (s.stations[i] > 1)
          backward_element<N>(i, b, -1);
        else
          backward_body<N>(i, b);
      });
}

template <int D>
template <int N>
void Sweeps<D>::forward_body(int i, double* x) {
  const int n = N == any ? s.dim[i] : N, first = s.first[i], parent = s.parent[i];
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(D) * s.column[i];
  const double *S = k.S_free.data() + at, *u = k.u.data() + first;
  const double* inverse = h.inverse.data() + s.pivot[i];
  V a = V::Zero(), carried = V::Zero();
  if (parent >= 0) {
    carried = k.a[parent];
    const double* Psi = h.Psi[i].data();
    add_columns<D, D>(Psi, carried.data(), D, a.data());
    shift_twist<D>(k.shift[i].data(), carried.data());
  }
  for (int c = 0; c < n; ++c) {
    const double own = row_times(inverse, n, c, u);
    add_columns<D, 1>(S + D * c, &own, 1, a.data());
    x[first + c] = own;
  }
  if (parent >= 0) {
    const double* U = h.U_left.data() + at;
    for (int j = 0; j < n; ++j) {
      const double left = dot<D>(U + D * j, carried.data());
      for (int c = 0; c < n; ++c) x[first + c] -= inverse[c + n * j] * left;
    }
  }
  k.a[i] = a;
}

template <int D>
template <int N>
void Sweeps<D>::forward_element(int i, double* x) {
  const int n = N == any ? s.dim[i] : N, first = s.first[i], parent = s.parent[i];
  double* u = k.u.data() + first;
  if (parent >= 0) {
    const double* B = h.B_left.data() + static_cast<std::ptrdiff_t>(D) * first;
    for (int c = 0; c < n; ++c) u[c] -= dot<D>(B + D * c, k.a[parent].data());
  }
  for (int c = 0; c < n; ++c) x[first + c] = row_times(h.inverse.data() + s.pivot[i], n, c, u);
  for (int j = i; j < i + s.stations[i]; ++j) {
    V a = V::Zero();
    if (parent >= 0) {
      a = k.a[parent];
      shift_twist<D>(k.shift[j].data(), a.data());
    }
    add_columns<D, N>(k.S_free.data() + static_cast<std::ptrdiff_t>(D) * s.column[j], x + first, n,
                      a.data());
    k.a[j] = a;
  }
}

template <int D>
void Sweeps<D>::forward(int i, double* x) {
  if (s.stations[i] == 0) return;
  by_size(
      s.dim[i], [&](auto size) __attribute__((always_inline)) {
        constexpr int N = decltype(size)::value;
        if (s.stations[i] > 1)
          forward_element<N>(i, x);
        else
          forward_body<N>(i, x);
      });
}

template <int D>
void Sweeps<D>::plain_sweep(int begin, int end, const double* b, double* x) {
  if constexpr (D == 3) {
    if (h.symmetric) return sweep_plane(begin, end, b, x);
  }
  for (int i = end - 1; i >= begin; --i) backward(i, b);
  for (int i = begin; i < end; ++i) forward(i, x);
}

// The same with the nodes of one unknown, most of a long creature in the plane, in plain numbers.
template <int D>
void Sweeps<D>::sweep_plane(int begin, int end, const double* b, double* x) {
  if constexpr (D == 3) {
    for (int i = end - 1; i >= begin; --i) {
      if (s.dim[i] != 1 || s.stations[i] != 1) {
        backward(i, b);
        continue;
      }
      const int n = s.first[i], parent = s.parent[i], at = 3 * s.column[i];
      const double *S = k.S_free.data() + at, *p = k.p[i].data();
      const double given = b ? k.free[n] * b[n] : 0.0;
      k.u[n] = given - (S[0] * p[0] + S[1] * p[1] + S[2] * p[2]);
      if (parent < 0) continue;
      const double *T = h.Psi[i].data(), *U = h.U.data() + at, *r = k.shift[i].data();
      double* to = k.p[parent].data();
      if (b) {
        const double y = h.inverse[s.pivot[i]] * given, f0 = U[0] * y, f1 = U[1] * y;
        to[0] += f0;
        to[1] += f1;
        to[2] += U[2] * y + (r[0] * f1 - r[1] * f0);
      }
      to[0] += T[0] * p[0] + T[1] * p[1] + T[2] * p[2];
      to[1] += T[3] * p[0] + T[4] * p[1] + T[5] * p[2];
      to[2] += T[6] * p[0] + T[7] * p[1] + T[8] * p[2];
    }
    for (int i = begin; i < end; ++i) {
      const int n = s.first[i], parent = s.parent[i], at = 3 * s.column[i];
      if (s.dim[i] != 1 || s.stations[i] != 1 || parent < 0) {
        forward(i, x);
        continue;
      }
      const double *S = k.S_free.data() + at, *U = h.U_left.data() + at;
      const double *T = h.Psi[i].data(), *r = k.shift[i].data(), *above = k.a[parent].data();
      const double v0 = above[0], v1 = above[1], v2 = above[2];
      const double inverse = h.inverse[s.pivot[i]], own = inverse * k.u[n];
      double* a = k.a[i].data();
      for (int j = 0; j < 3; ++j) a[j] = S[j] * own + (T[j] * v0 + T[3 + j] * v1 + T[6 + j] * v2);
      x[n] = own - inverse * (U[0] * (v0 - v2 * r[1]) + U[1] * (v1 + v2 * r[0]) + U[2] * v2);
    }
  }
}

template <int D>
void Sweeps<D>::solve(int begin, int end, const double* b, const Vec6* f, double* x,
                      std::vector<Vec6>* twist) {
  for (int i = begin; i < end; ++i) k.p[i] = f ? V(-narrow<D>(f[i])) : V(V::Zero());
  sweep(begin, end, b, x);
  if (twist)
    for (int i = begin; i < end; ++i) (*twist)[i] = widen<D>(k.a[i]);
}

template <int D>
void Sweeps<D>::solve_branch(int node, const V& p, int unknown, double value, double* x_tree) {
  const int tree = s.tree[node], begin = s.tree_begin[tree], end = s.tree_begin[tree + 1];
  const int base = s.unknown_begin[tree], count = s.unknown_begin[tree + 1] - base;
  k.u.segment(base, count).setZero();
  for (int i = node; i >= 0; i = s.parent[i]) k.p[i].setZero();
  k.p[node] = p;
  double none = 0;  // of a tree that does not move; no offset to a null pointer below
  if (count == 0) x_tree = &none;
  // A force on an unknown is read from x, which forward() fills afterwards.
  const double* b = nullptr;
  if (unknown >= 0) {
    std::fill(x_tree, x_tree + count, 0.0);
    x_tree[unknown - base] = value;
    b = x_tree - base;
  }
  for (int i = node; i >= 0; i = s.parent[i]) {
    if (s.stations[i] == 1)
      backward(i, i == node ? b : nullptr);
    else
      backward_element<any>(leader(i), i == node ? b : nullptr, i);
  }
  for (int i = begin; i < end; ++i) forward(i, x_tree - base);
}

// --- products ---------------------------------------------------------------------------------

template <int D>
void Sweeps<D>::move(int i, const double* x) {
  V a = V::Zero();
  if (s.parent[i] >= 0) {
    a = k.a[s.parent[i]];
    shift_twist<D>(k.shift[i].data(), a.data());
  }
  add_columns<D, any>(k.S.data() + static_cast<std::ptrdiff_t>(D) * s.column[i], x + s.first[i],
                      s.dim[i], a.data());
  k.a[i] = a;
}

template <int D>
void Sweeps<D>::twists(int begin, int end, const double* x, std::vector<Vec6>& out) {
  for (int i = begin; i < end; ++i) {
    move(i, x);
    out[i] = widen<D>(k.a[i]);
  }
}

template <int D>
void Sweeps<D>::gather(const Vec6* f, double* y) {
  for (int i = 0; i < s.nodes(); ++i) k.p[i] = narrow<D>(f[i]);
  collect(0, s.nodes(), y);
}

template <int D>
void Sweeps<D>::collect(int begin, int end, double* y) {
  if (s.shared)
    for (int i = begin; i < end; ++i) std::fill(y + s.first[i], y + s.first[i] + s.dim[i], 0.0);
  for (int i = end - 1; i >= begin; --i) {
    const double* S = k.S.data() + static_cast<std::ptrdiff_t>(D) * s.column[i];
    for (int c = 0; c < s.dim[i]; ++c) {
      const double along = dot<D>(S + D * c, k.p[i].data());
      double& to = y[s.first[i] + c];
      to = s.stations[i] == 1 ? along : to + along;
    }
    if (s.parent[i] < 0) continue;
    V p = k.p[i];
    shift_wrench<D>(k.shift[i].data(), p.data());
    k.p[s.parent[i]] += p;
  }
}

template <int D>
void Sweeps<D>::multiply(int begin, int end, const double* x, double* y) {
  for (int i = begin; i < end; ++i) {
    move(i, x);
    forest_detail::multiply<D, 1>(k.A[i].data(), k.a[i].data(), 1, k.p[i].data());
  }
  collect(begin, end, y);
  for (int i = begin; i < end; ++i) {
    if (s.stations[i] == 0) continue;
    const int first = s.first[i], n = s.dim[i];
    for (int c = 0; c < n; ++c) {
      y[first + c] += k.d[first + c] * x[first + c];
      if (k.K.size() > 0) y[first + c] += row_times(k.K.data() + s.pivot[i], n, c, x + first);
    }
  }
}

template <int D>
void Sweeps<D>::row(int node, const V& w, double* x_tree) const {
  const int tree = s.tree[node], base = s.unknown_begin[tree];
  std::fill(x_tree, x_tree + s.unknown_begin[tree + 1] - base, 0.0);
  V p = w;
  for (int i = node; i >= 0; i = s.parent[i]) {
    const double* S = k.S.data() + static_cast<std::ptrdiff_t>(D) * s.column[i];
    for (int c = 0; c < s.dim[i]; ++c) x_tree[s.first[i] + c - base] = dot<D>(S + D * c, p.data());
    shift_wrench<D>(k.shift[i].data(), p.data());
  }
}

// --- compliance: what a wrench on a station does to its own twist -----------------------------

template <int D>
void Sweeps<D>::plain_compliance(int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const int n = s.dim[i], parent = s.parent[i];
    const double* S = k.S_free.data() + static_cast<std::ptrdiff_t>(D) * s.column[i];
    double* scratch = h.scratch.data() + static_cast<std::ptrdiff_t>(D) * s.column[i];
    M& own = k.Omega[i];
    own.setZero();
    by_size(
        n, [&](auto size) __attribute__((always_inline)) {
          constexpr int N = decltype(size)::value;
          multiply_right<D, N>(S, h.inverse.data() + s.pivot[leader(i)], n, scratch);
          subtract_outer<D, N>(scratch, S, n, own.data());
        });
    own = -own;
    if (parent < 0) continue;
    // Psi Omega Psi', as -(-Psi Omega) Psi'.
    M half;
    forest_detail::multiply<D, D>(h.Psi[i].data(), k.Omega[parent].data(), D, half.data());
    half = -half;
    subtract_outer<D, D>(half.data(), h.Psi[i].data(), D, own.data());
  }
}

// x = C^-1 (b - B' a_parent), and for b = e_k the parent moves by Omega_p B C^-1 b.
template <int D>
double Sweeps<D>::compliance_of(int i, int unknown) const {
  if (k.free[unknown] == 0) return 0;
  const int n = s.dim[i], first = s.first[i], own = unknown - first, parent = s.parent[i];
  const double* inverse = h.inverse.data() + s.pivot[i];
  const double sum = inverse[own + n * own];
  if (parent < 0) return sum;
  const bool body = s.stations[i] == 1;
  const double* B = body ? h.U.data() + static_cast<std::ptrdiff_t>(D) * s.column[i]
                         : h.B.data() + static_cast<std::ptrdiff_t>(D) * first;
  V w = V::Zero();
  add_columns<D, any>(B, inverse + n * own, n, w.data());
  if (body) shift_wrench<D>(k.shift[i].data(), w.data());
  V moved;
  forest_detail::multiply<D, 1>(k.Omega[parent].data(), w.data(), 1, moved.data());
  return sum + dot<D>(w.data(), moved.data());
}

// --- compiled twice ---------------------------------------------------------------------------

namespace {

SALTUS_VECTORIZED int factor_in_space(Sweeps<6>& k, int begin, int end,
                                      const Forest::Extra* extra) {
  return k.plain_factor(begin, end, extra);
}
SALTUS_VECTORIZED void sweep_in_space(Sweeps<6>& k, int begin, int end, const double* b,
                                      double* x) {
  k.plain_sweep(begin, end, b, x);
}
SALTUS_VECTORIZED void compliance_in_space(Sweeps<6>& k, int begin, int end) {
  k.plain_compliance(begin, end);
}

}  // namespace

template <int D>
int Sweeps<D>::factor(int begin, int end, const Forest::Extra* extra) {
  if constexpr (D == 6)
    return factor_in_space(*this, begin, end, extra);
  else
    return plain_factor(begin, end, extra);
}

template <int D>
void Sweeps<D>::sweep(int begin, int end, const double* b, double* x) {
  if constexpr (D == 6)
    sweep_in_space(*this, begin, end, b, x);
  else
    plain_sweep(begin, end, b, x);
}

template <int D>
void Sweeps<D>::compliance(int begin, int end) {
  if constexpr (D == 6)
    compliance_in_space(*this, begin, end);
  else
    plain_compliance(begin, end);
}

template struct Sweeps<3>;
template struct Sweeps<6>;

}  // namespace saltus::forest_detail
