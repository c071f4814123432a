#include "saltus/dynamics/algorithms.h"

#include <Eigen/Cholesky>

namespace saltus {

namespace {

// Gravity acts on the rigid part of a body's inertia only, at the centre of mass.
Vec6 gravity_wrench(const Model& model, const Body& b, const SE3& X) {
  const Vec3 f = b.rigid.mass * (X.R.transpose() * model.gravity);
  return join(f, b.rigid.com.cross(f));
}

Vec6 joint_sum(const Workspace& w, const Body& b, VecIn x) {
  Vec6 sum = Vec6::Zero();
  for (int k = 0; k < b.nv; ++k) sum += x[b.v0 + k] * w.S.col(b.v0 + k);
  return sum;
}

// Velocity-dependent acceleration of a body's joint: (dS/dt) v + V x (S v), Featherstone's c.
Vec6 velocity_acceleration(const Workspace& w, const Body& b, int i) {
  const Vec6 V_J =
      b.parent.valid() ? Vec6(w.V[i] - twist_to_body(w.X_pb[i], w.V[b.parent])) : w.V[i];
  return w.bias[i] + bracket(w.V[i], V_J);
}

Mat6 inertia_to_parent(const SE3& X, const Mat6& I) {
  const Mat6 A = adjoint(X.inverse());
  return A.transpose() * I * A;
}

}  // namespace

void rnea(const Model& model, VecIn a, Workspace& w, VecRef tau) {
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    w.A[i] = joint_sum(w, b, a) + velocity_acceleration(w, b, i);
    if (b.parent.valid()) w.A[i] += twist_to_body(w.X_pb[i], w.A[b.parent]);
    w.F[i] = b.inertia * w.A[i] + dual_bracket(w.V[i], b.inertia * w.V[i]) -
             gravity_wrench(model, b, w.X[i]) - w.external[i];
  }
  for (int i = model.body_count() - 1; i >= 0; --i) {
    const Body& b = model.bodies[i];
    for (int k = b.v0; k < b.v0 + b.nv; ++k)
      tau[k] = w.S.col(k).dot(w.F[i]) + model.armature[k] * a[k];
    if (b.parent.valid()) w.F[b.parent] += wrench_to_parent(w.X_pb[i], w.F[i]);
  }
}

void bias_force(const Model& model, Workspace& w) {
  w.scratch_v.setZero();
  rnea(model, w.scratch_v, w, w.tau_bias);
}

void crba(const Model& model, Workspace& w) {
  for (int i = 0; i < model.body_count(); ++i) w.I_a[i] = model.bodies[i].inertia;
  for (int i = model.body_count() - 1; i >= 0; --i) {
    const Body& b = model.bodies[i];
    if (b.parent.valid()) w.I_a[b.parent] += inertia_to_parent(w.X_pb[i], w.I_a[i]);
    for (int k = b.v0; k < b.v0 + b.nv; ++k) {
      Vec6 F = w.I_a[i] * w.S.col(k);
      for (int l = b.v0; l <= k; ++l) w.M(k, l) = w.M(l, k) = w.S.col(l).dot(F);
      w.M(k, k) += model.armature[k];
      int child = i;
      for (int j = b.parent; j >= 0; j = model.bodies[j].parent) {
        F = wrench_to_parent(w.X_pb[child], F);
        const Body& above = model.bodies[j];
        for (int l = above.v0; l < above.v0 + above.nv; ++l)
          w.M(k, l) = w.M(l, k) = w.S.col(l).dot(F);
        child = j;
      }
    }
  }
}

void aba(const Model& model, VecIn tau, Workspace& w, VecRef a) {
  const int n = model.body_count();
  for (int i = 0; i < n; ++i) {
    const Body& b = model.bodies[i];
    w.I_a[i] = b.inertia;
    w.p_a[i] =
        dual_bracket(w.V[i], b.inertia * w.V[i]) - gravity_wrench(model, b, w.X[i]) - w.external[i];
    w.A[i] = velocity_acceleration(w, b, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    const Body& b = model.bodies[i];
    const auto S = w.S.middleCols(b.v0, b.nv);
    auto U = w.U.middleCols(b.v0, b.nv);
    Mat6 I = w.I_a[i];
    Vec6 p = w.p_a[i] + I * w.A[i];
    if (b.nv > 0) {
      U.noalias() = w.I_a[i] * S;
      Mat6 D = Mat6::Identity();
      D.topLeftCorner(b.nv, b.nv).noalias() = S.transpose() * U;
      for (int k = 0; k < b.nv; ++k) D(k, k) += model.armature[b.v0 + k];
      w.D_inv[i] = D.llt().solve(Mat6::Identity());
      auto u = w.u.segment(b.v0, b.nv);
      u = tau.segment(b.v0, b.nv);
      u.noalias() -= S.transpose() * p;
      const auto D_inv = w.D_inv[i].topLeftCorner(b.nv, b.nv);
      Columns6 UD;
      UD.leftCols(b.nv).noalias() = U * D_inv;
      I.noalias() -= UD.leftCols(b.nv) * U.transpose();
      p.noalias() += UD.leftCols(b.nv) * u;
    }
    if (b.parent.valid()) {
      w.I_a[b.parent] += inertia_to_parent(w.X_pb[i], I);
      w.p_a[b.parent] += wrench_to_parent(w.X_pb[i], p);
    }
  }
  for (int i = 0; i < n; ++i) {
    const Body& b = model.bodies[i];
    Vec6 above = Vec6::Zero();
    if (b.parent.valid()) above = twist_to_body(w.X_pb[i], w.A[b.parent]);
    if (b.nv > 0) {
      Vec6 rhs = Vec6::Zero();
      rhs.head(b.nv) = w.u.segment(b.v0, b.nv);
      rhs.head(b.nv).noalias() -= w.U.middleCols(b.v0, b.nv).transpose() * above;
      a.segment(b.v0, b.nv).noalias() = w.D_inv[i].topLeftCorner(b.nv, b.nv) * rhs.head(b.nv);
    }
    w.A[i] += above + joint_sum(w, b, a);
  }
}

bool factor(const Model& model, VecIn extra, Workspace& w) {
  // M' = L^T L with L lower triangular and as sparse as the tree (Featherstone 2008, 6.5).
  const auto& parent = model.v_parent;
  for (int k = 0; k < model.nv; ++k)
    for (int l = k; l >= 0; l = parent[l]) w.L(k, l) = w.M(k, l);
  for (int k = 0; k < model.nv; ++k) w.L(k, k) += extra[k];
  if (model.any_prescribed)
    for (int k = 0; k < model.nv; ++k)
      for (int l = k; l >= 0; l = parent[l])
        if (model.prescribed[k] || model.prescribed[l]) w.L(k, l) = k == l ? 1 : 0;
  for (int k = model.nv - 1; k >= 0; --k) {
    if (!(w.L(k, k) > 0)) return false;
    const double d = std::sqrt(w.L(k, k));
    w.L(k, k) = d;
    for (int i = parent[k]; i >= 0; i = parent[i]) w.L(k, i) /= d;
    for (int i = parent[k]; i >= 0; i = parent[i])
      for (int j = i; j >= 0; j = parent[j]) w.L(i, j) -= w.L(k, i) * w.L(k, j);
  }
  return true;
}

void solve_mass(const Model& model, const Workspace& w, VecRef x) {
  const auto& parent = model.v_parent;
  if (model.any_prescribed)
    for (int k = 0; k < model.nv; ++k)
      if (model.prescribed[k]) x[k] = 0;
  for (int k = model.nv - 1; k >= 0; --k) {  // L^T y = x
    if (x[k] == 0) continue;
    x[k] /= w.L(k, k);
    for (int i = parent[k]; i >= 0; i = parent[i]) x[i] -= w.L(k, i) * x[k];
  }
  for (int k = 0; k < model.nv; ++k) {  // L z = y
    double sum = x[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) sum -= w.L(k, i) * x[i];
    x[k] = sum / w.L(k, k);
  }
}

void multiply_mass(const Model& model, const Workspace& w, VecIn x, VecRef y) {
  y.setZero();
  for (int k = 0; k < model.nv; ++k) {
    y[k] += w.M(k, k) * x[k];
    for (int l = model.v_parent[k]; l >= 0; l = model.v_parent[l]) {
      y[k] += w.M(k, l) * x[l];
      y[l] += w.M(k, l) * x[k];
    }
  }
}

}  // namespace saltus
