// Featherstone's articulated-body algorithm, in the form of recursion.h.
#include <algorithm>
#include <cmath>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/dynamics/recursion.h"

namespace saltus {

namespace {

using recursion::Acceleration;
using recursion::Wrench;

// D = L L' in place (lower part), with the inverses of L's diagonal on the diagonal.
template <int n>
void cholesky(Mat6& D) {
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k)
      for (int i = j; i < n; ++i) D(i, j) -= D(i, k) * D(j, k);
    D(j, j) = 1 / std::sqrt(D(j, j));
    for (int i = j + 1; i < n; ++i) D(i, j) *= D(j, j);
  }
}

template <int n>
void solve(const Mat6& L, Eigen::Matrix<double, n, 1>& x) {
  for (int j = 0; j < n; ++j) {
    x[j] *= L(j, j);
    for (int i = j + 1; i < n; ++i) x[i] -= L(i, j) * x[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    for (int i = j + 1; i < n; ++i) x[j] -= L(i, j) * x[i];
    x[j] *= L(j, j);
  }
}

Vec6 stacked(const Vec3& a, const Vec3& b) { return join(a, b); }

struct Aba {
  const Model& model;
  Workspace& w;
  const double* tau;
  double* qdd;

  void start(int i) const {  // inertia and the wrench that velocities and outside forces ask for
    const Link& k = w.plan->links[i];
    const LinkMotion& m = w.motion[i];
    const RigidAtPoint rigid = recursion::rigid_inertia(k, m.R);
    w.articulated[i] = {rigid.mass, rigid.first, rigid.J};
    Wrench& F = w.wrench[i];
    F.f = m.w.cross(m.w.cross(rigid.first));
    F.n = m.w.cross(rigid.J * m.w);
    if (k.added >= 0) {
      w.articulated[i] += recursion::fluid_inertia(w, i);
      recursion::add_fluid_wrench(model, w, i, {Vec3::Zero(), Vec3::Zero()}, F);
    }
    recursion::subtract_external(w, i, F);
  }

  void hand_over(const Link& k, int i) const {
    if (k.parent == 0) return;
    const Vec3& r = w.motion[i].r;
    w.articulated[k.parent].add_from(w.articulated[i], r);
    const Wrench& F = w.wrench[i];
    Wrench& p = w.wrench[k.parent];
    p.f += F.f;
    p.n += F.n + r.cross(F.f);
  }

  // F <- F + I c
  void add_velocity_terms(int i) const {
    const LinkMotion& m = w.motion[i];
    Vec3 f, n;
    w.articulated[i].multiply(m.c_linear, m.c_angular, f, n);
    w.wrench[i].f += f;
    w.wrench[i].n += n;
  }

  void one_turn(const Link& k, int i) const {
    SymmetricInertia& I = w.articulated[i];
    Wrench& F = w.wrench[i];
    const int c = k.v0;
    const Vec3 s = w.S_I.col(k.s0).tail<3>(), f = I.B * s, n = I.C * s;
    const double inverse = 1 / (s.dot(n) + model.armature[c]), u = tau[c] - s.dot(F.n);
    w.U.col(k.s0) << f, n;
    w.u[c] = u;
    w.d_inv[c] = inverse;
    if (k.parent == 0) return;
    I.subtract_square(inverse, f, n);
    F.f += (u * inverse) * f;
    F.n += (u * inverse) * n;
  }

  template <int nv>
  void joint_columns(const Link& k, int i) const {
    Wrench& F = w.wrench[i];
    const auto S = w.S_I.middleCols<nv>(k.s0);
    auto U = w.U.middleCols<nv>(k.s0);
    const Mat6 I = w.articulated[i].matrix();
    U.noalias() = I * S;
    Mat6& D = w.D[i];
    D.topLeftCorner<nv, nv>().noalias() = S.transpose() * U;
    for (int c = 0; c < nv; ++c) D(c, c) += model.armature[k.v0 + c];
    cholesky<nv>(D);
    Eigen::Matrix<double, nv, 1> u = Eigen::Map<const Eigen::Matrix<double, nv, 1>>(tau + k.v0);
    u.noalias() -= S.transpose() * stacked(F.f, F.n);
    w.u.segment<nv>(k.v0) = u;
    if (k.parent == 0) return;
    Eigen::Matrix<double, 6, nv> UD;
    for (int row = 0; row < 6; ++row) {
      Eigen::Matrix<double, nv, 1> x = U.row(row).transpose();
      solve<nv>(D, x);
      UD.row(row) = x.transpose();
    }
    w.articulated[i] = SymmetricInertia(Mat6(I - UD * U.transpose()));
    const Vec6 p = UD * u;
    F.f += p.head<3>();
    F.n += p.tail<3>();
  }

  // Six columns that are orthonormal leave the body free: I x + F = S tau.
  [[nodiscard]] bool free(const Link& k) const {
    return k.joint == JointCase::floating && (model.armature.segment<6>(k.v0).array() == 0).all();
  }
  void free_body(const Link& k, int i) const {
    Wrench& F = w.wrench[i];
    const Vec6 push = w.S_I.middleCols<6>(k.s0) * Eigen::Map<const Vec6>(tau + k.v0);
    w.D[i] = w.articulated[i].matrix();
    cholesky<6>(w.D[i]);
    // Velocity terms are in the acceleration found here, not in F.
    w.u.segment<6>(k.v0) = push - stacked(F.f, F.n);
    F = {push.head<3>(), push.tail<3>()};
    w.articulated[i] = SymmetricInertia();
  }

  // An element with several stations, when all that hangs on them is in: over the acceleration of
  // its parent and its own [A B; B' C], A = sum T' I T, B = sum T' I S, C = sum S' I S + armature.
  void element(const Link& first, int i) const {
    const int n = first.nv, v0 = first.v0;
    Mat& C = w.C[element_of(i)];
    auto B = w.B.middleCols(v0, n);
    auto u = w.u.segment(v0, n);
    C.setZero();
    B.setZero();
    for (int c = 0; c < n; ++c) {
      u[c] = tau[v0 + c];
      C(c, c) = model.armature[v0 + c];
    }
    for (int j = i; j < i + first.stations; ++j) {
      add_velocity_terms(j);
      const Wrench& F = w.wrench[j];
      const int s0 = w.plan->links[j].s0;
      for (int c = 0; c < n; ++c) {
        const auto S = w.S_I.col(s0 + c);
        Vec3 f, moment;
        w.articulated[j].multiply(S.head<3>(), S.tail<3>(), f, moment);
        for (int l = 0; l <= c; ++l)
          C(c, l) += w.S_I.col(s0 + l).head<3>().dot(f) + w.S_I.col(s0 + l).tail<3>().dot(moment);
        u[c] -= recursion::along(w.S_I, s0 + c, F);
        B.col(c) += stacked(f, moment + w.motion[j].r.cross(f));
      }
      hand_over(first, j);
    }
    factor_in_place(C);
    if (first.parent == 0) return;
    // With C = L L': A - (B L'^-1) (B L'^-1)'. The columns of B become those, u becomes L^-1 u.
    SymmetricInertia& I = w.articulated[first.parent];
    Wrench& p = w.wrench[first.parent];
    for (int c = 0; c < n; ++c) {
      for (int l = 0; l < c; ++l) {
        B.col(c) -= C(c, l) * B.col(l);
        u[c] -= C(c, l) * u[l];
      }
      B.col(c) *= C(c, c);
      u[c] *= C(c, c);
      I.subtract_square(1, B.col(c).head<3>(), B.col(c).tail<3>());
      p.f += u[c] * B.col(c).head<3>();
      p.n += u[c] * B.col(c).tail<3>();
    }
  }
  void element_acceleration(const Link& first, int i) const {
    const int n = first.nv, v0 = first.v0;
    const Mat& L = w.C[element_of(i)];
    double* x = qdd + v0;
    const Acceleration& p = w.acceleration[first.parent];
    for (int c = 0; c < n; ++c) {
      x[c] = w.u[v0 + c];
      if (first.parent == 0) {  // B and u are as they were
        x[c] -= w.B.col(v0 + c).head<3>().dot(p.a) + w.B.col(v0 + c).tail<3>().dot(p.alpha);
        for (int l = 0; l < c; ++l) x[c] -= L(c, l) * x[l];
        x[c] *= L(c, c);
      } else {
        x[c] -= w.B.col(v0 + c).head<3>().dot(p.a) + w.B.col(v0 + c).tail<3>().dot(p.alpha);
      }
    }
    for (int c = n - 1; c >= 0; --c) {
      for (int l = c + 1; l < n; ++l) x[c] -= L(l, c) * x[l];
      x[c] *= L(c, c);
    }
  }
  [[nodiscard]] std::size_t element_of(int i) const {
    const auto& all = w.plan->elements;
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), i) - all.begin());
  }
  // The lower part of C becomes L, the inverses of its diagonal on it.
  static void factor_in_place(Mat& C) {
    const Eigen::Index n = C.rows();
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index k = 0; k < j; ++k)
        for (Eigen::Index i = j; i < n; ++i) C(i, j) -= C(i, k) * C(j, k);
      C(j, j) = 1 / std::sqrt(C(j, j));
      for (Eigen::Index i = j + 1; i < n; ++i) C(i, j) *= C(j, j);
    }
  }

  void inwards(int i) const {
    const Link& k = w.plan->links[i];
    if (k.stations > 1) {
      if (k.station == 0) element(k, i);
      return;
    }
    if (free(k)) {
      free_body(k, i);
    } else {
      add_velocity_terms(i);
      if (k.turns) {
        one_turn(k, i);
      } else {
        switch (k.nv) {
          case 1: joint_columns<1>(k, i); break;
          case 2: joint_columns<2>(k, i); break;
          case 3: joint_columns<3>(k, i); break;
          case 6: joint_columns<6>(k, i); break;
          default: break;
        }
      }
    }
    hand_over(k, i);
  }

  template <int nv>
  void joint_acceleration(const Link& k, int i, const Acceleration& above) const {
    Eigen::Matrix<double, nv, 1> x = w.u.segment<nv>(k.v0);
    x.noalias() -= w.U.middleCols<nv>(k.s0).transpose() * stacked(above.a, above.alpha);
    solve<nv>(w.D[i], x);
    Eigen::Map<Eigen::Matrix<double, nv, 1>>(qdd + k.v0) = x;
  }

  void outwards(int i) const {
    const Link& k = w.plan->links[i];
    const LinkMotion& m = w.motion[i];
    const Acceleration& p = w.acceleration[k.parent];
    Acceleration& x = w.acceleration[i];
    x = {p.a + p.alpha.cross(m.r), p.alpha};
    if (k.stations > 1) {
      if (k.station == 0) element_acceleration(k, i);
    } else if (k.turns) {
      const int c = k.v0;
      qdd[c] = w.d_inv[c] *
               (w.u[c] - w.U.col(k.s0).head<3>().dot(x.a) - w.U.col(k.s0).tail<3>().dot(x.alpha));
    } else if (free(k)) {
      Vec6 all = w.u.segment<6>(k.v0);
      solve<6>(w.D[i], all);
      const Vec6 carried = stacked(x.a + m.c_linear, x.alpha + m.c_angular);
      Eigen::Map<Vec6>(qdd + k.v0).noalias() =
          w.S_I.middleCols<6>(k.s0).transpose() * (all - carried);
      x = {all.head<3>(), all.tail<3>()};
      return;
    } else {
      switch (k.nv) {
        case 1: joint_acceleration<1>(k, i, x); break;
        case 2: joint_acceleration<2>(k, i, x); break;
        case 3: joint_acceleration<3>(k, i, x); break;
        case 6: joint_acceleration<6>(k, i, x); break;
        default: break;
      }
    }
    x.a += m.c_linear;
    x.alpha += m.c_angular;
    recursion::add_joint(w, k, qdd + k.v0, x);
  }
};

}  // namespace

void aba(const Model& model, VecIn tau, Workspace& w, VecRef a) {
  SALTUS_ASSERT(fits(model, w));
  SALTUS_ASSERT(tau.size() == model.nv && a.size() == model.nv);
  const Aba pass{model, w, tau.data(), a.data()};
  const int n = model.body_count();
  for (int i = 1; i <= n; ++i) pass.start(i);
  for (int i = n; i >= 1; --i) pass.inwards(i);
  w.acceleration[0] = {-model.gravity, Vec3::Zero()};
  for (int i = 1; i <= n; ++i) pass.outwards(i);
}

}  // namespace saltus
