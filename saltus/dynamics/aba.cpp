// Featherstone's articulated-body algorithm, in the form of recursion.h.
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
    const Link& k = w.tree.links[i];
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
    const Vec3 s = w.S_I.col(c).tail<3>(), f = I.B * s, n = I.C * s;
    const double inverse = 1 / (s.dot(n) + model.armature[c]), u = tau[c] - s.dot(F.n);
    w.U.col(c) << f, n;
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
    const auto S = w.S_I.middleCols<nv>(k.v0);
    auto U = w.U.middleCols<nv>(k.v0);
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
    const Vec6 push = w.S_I.middleCols<6>(k.v0) * Eigen::Map<const Vec6>(tau + k.v0);
    w.D[i] = w.articulated[i].matrix();
    cholesky<6>(w.D[i]);
    // Velocity terms are in the acceleration found here, not in F.
    w.u.segment<6>(k.v0) = push - stacked(F.f, F.n);
    F = {push.head<3>(), push.tail<3>()};
    w.articulated[i] = SymmetricInertia();
  }

  void inwards(int i) const {
    const Link& k = w.tree.links[i];
    if (free(k)) {
      free_body(k, i);
    } else {
      add_velocity_terms(i);
      if (k.turns) {
        one_turn(k, i);
      } else {
        switch (k.nv) {
          case 1: joint_columns<1>(k, i); break;
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
    x.noalias() -= w.U.middleCols<nv>(k.v0).transpose() * stacked(above.a, above.alpha);
    solve<nv>(w.D[i], x);
    Eigen::Map<Eigen::Matrix<double, nv, 1>>(qdd + k.v0) = x;
  }

  void outwards(int i) const {
    const Link& k = w.tree.links[i];
    const LinkMotion& m = w.motion[i];
    const Acceleration& p = w.acceleration[k.parent];
    Acceleration& x = w.acceleration[i];
    x = {p.a + p.alpha.cross(m.r), p.alpha};
    if (k.turns) {
      const int c = k.v0;
      qdd[c] =
          w.d_inv[c] * (w.u[c] - w.U.col(c).head<3>().dot(x.a) - w.U.col(c).tail<3>().dot(x.alpha));
    } else if (free(k)) {
      Vec6 all = w.u.segment<6>(k.v0);
      solve<6>(w.D[i], all);
      const Vec6 carried = stacked(x.a + m.c_linear, x.alpha + m.c_angular);
      Eigen::Map<Vec6>(qdd + k.v0).noalias() =
          w.S_I.middleCols<6>(k.v0).transpose() * (all - carried);
      x = {all.head<3>(), all.tail<3>()};
      return;
    } else {
      switch (k.nv) {
        case 1: joint_acceleration<1>(k, i, x); break;
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
