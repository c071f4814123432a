#include "saltus/dynamics/algorithms.h"

#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/recursion.h"

namespace saltus {

using recursion::Acceleration;
using recursion::Wrench;

void rnea(const Model& model, VecIn qdd, Workspace& w, VecRef tau) {
  const int n = model.body_count();
  w.acceleration[0] = {-model.gravity, Vec3::Zero()};
  for (int i = 1; i <= n; ++i) {
    const Link& k = w.tree.links[i];
    const LinkMotion& m = w.motion[i];
    const Acceleration& p = w.acceleration[k.parent];
    Acceleration& x = w.acceleration[i];
    x = {p.a + p.alpha.cross(m.r) + m.c_linear, p.alpha + m.c_angular};
    recursion::add_joint(w, k, qdd.data() + k.v0, x);
    // Newton: m (a + alpha x c + w x (w x c)); Euler in the body's axes, where J is constant.
    const Vec3 turning = m.R.transpose() * m.w, alpha = m.R.transpose() * x.alpha;
    const Vec3 c = m.R * k.com, ma = k.mass * x.a;
    const Vec3 euler = k.J * alpha + turning.cross(k.J * turning);
    Wrench& F = w.wrench[i];
    F.f = ma + k.mass * (x.alpha.cross(c) + m.w.cross(m.w.cross(c)));
    F.n = m.R * euler + c.cross(ma);
    if (k.added >= 0) recursion::add_fluid_wrench(model, w, i, x, F);
    recursion::subtract_external(w, i, F);
  }
  for (int i = n; i >= 1; --i) {
    const Link& k = w.tree.links[i];
    const Wrench& F = w.wrench[i];
    if (k.turns) {
      tau[k.v0] = w.S_I.col(k.v0).tail<3>().dot(F.n) + model.armature[k.v0] * qdd[k.v0];
    } else {
      for (int c = k.v0; c < k.v0 + k.nv; ++c)
        tau[c] = recursion::along(w.S_I, c, F) + model.armature[c] * qdd[c];
    }
    Wrench& p = w.wrench[k.parent];
    p.f += F.f;
    p.n += F.n + w.motion[i].r.cross(F.f);
  }
}

void bias_force(const Model& model, Workspace& w) {
  w.scratch_v.setZero();
  rnea(model, w.scratch_v, w, w.tau_bias);
}

namespace {

// The wrenches that unit accelerations of a subtree's velocities ask for, all at one point: plain
// arrays, so that the loops over them become vector code.
struct WrenchColumns {
  double* __restrict f0, * __restrict f1, * __restrict f2;
  double* __restrict n0, * __restrict n1, * __restrict n2, * __restrict row;
  explicit WrenchColumns(Mat& x)
      : f0(x.col(0).data()),
        f1(x.col(1).data()),
        f2(x.col(2).data()),
        n0(x.col(3).data()),
        n1(x.col(4).data()),
        n2(x.col(5).data()),
        row(x.col(6).data()) {}

  void set(int c, const Wrench& F) const {
    f0[c] = F.f[0], f1[c] = F.f[1], f2[c] = F.f[2];
    n0[c] = F.n[0], n1[c] = F.n[1], n2[c] = F.n[2];
  }
  void move(int first, int last, const Vec3& r) const {  // n += r x f
    const double x = r[0], y = r[1], z = r[2];
    for (int c = first; c < last; ++c) {
      n0[c] += y * f2[c] - z * f1[c];
      n1[c] += z * f0[c] - x * f2[c];
      n2[c] += x * f1[c] - y * f0[c];
    }
  }
  void along_turn(int first, int last, const Vec3& s) const {
    const double x = s[0], y = s[1], z = s[2];
    for (int c = first; c < last; ++c) row[c] = x * n0[c] + y * n1[c] + z * n2[c];
  }
  void along(int first, int last, const Vec6& S) const {
    const Vec3 t = S.head<3>();
    along_turn(first, last, S.tail<3>());
    const double x = t[0], y = t[1], z = t[2];
    for (int c = first; c < last; ++c) row[c] += x * f0[c] + y * f1[c] + z * f2[c];
  }
};

template <class Inertia>
void mass_matrix(const Model& model, Workspace& w, std::vector<Inertia>& composite) {
  const WrenchColumns columns(w.columns);
  const int* velocity = w.tree.velocity.data();
  for (auto branch = w.tree.order.rbegin(); branch != w.tree.order.rend(); ++branch) {
    const auto [i, first, last] = *branch;
    const Link& k = w.tree.links[i];
    for (int c = 0; c < k.nv; ++c) {
      Wrench F;
      composite[i].multiply(w.S_I.col(k.v0 + c).head<3>(), w.S_I.col(k.v0 + c).tail<3>(), F.f, F.n);
      columns.set(first + c, F);
    }
    for (int l = k.v0; l < k.v0 + k.nv; ++l) {
      if (k.turns)
        columns.along_turn(first, last, w.S_I.col(l).tail<3>());
      else
        columns.along(first, last, w.S_I.col(l));
      double* column = w.M.col(l).data();
      for (int c = first; c < last; ++c) column[velocity[c]] = w.M(l, velocity[c]) = columns.row[c];
      column[l] += model.armature[l];
    }
    if (k.parent == 0) continue;
    composite[k.parent].add_from(composite[i], w.motion[i].r);
    columns.move(first, last, w.motion[i].r);
  }
}

}  // namespace

void crba(const Model& model, Workspace& w) {
  const int n = model.body_count();
  if (w.M.rows() != model.nv) w.M.setZero(model.nv, model.nv);
  for (int i = 1; i <= n; ++i)
    w.composite[i] = recursion::rigid_inertia(w.tree.links[i], w.motion[i].R);
  if (w.tree.added.empty()) {
    mass_matrix(model, w, w.composite);
    return;
  }
  for (int i = 1; i <= n; ++i) {
    const RigidAtPoint& r = w.composite[i];
    w.articulated[i] = {r.mass, r.first, r.J};
    if (w.tree.links[i].added >= 0) w.articulated[i] += recursion::fluid_inertia(w, i);
  }
  mass_matrix(model, w, w.articulated);
}

void rnea(const Model& model, VecIn q, VecIn v, VecIn a, Workspace& work, VecRef tau) {
  move_links(model, q, v, work);
  rnea(model, a, work, tau);
}

void crba(const Model& model, VecIn q, Workspace& work) {
  work.scratch_v.setZero();
  move_links(model, q, work.scratch_v, work);
  crba(model, work);
}

void aba(const Model& model, VecIn q, VecIn v, VecIn tau, Workspace& work, VecRef a) {
  move_links(model, q, v, work);
  aba(model, tau, work, a);
}

}  // namespace saltus
