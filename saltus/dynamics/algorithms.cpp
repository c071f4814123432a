#include "saltus/dynamics/algorithms.h"

#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/dynamics/recursion.h"

namespace saltus {

using recursion::Acceleration;
using recursion::Wrench;

void rnea(const Model& model, VecIn qdd, Workspace& w, VecRef tau) {
  SALTUS_ASSERT(fits(model, w));
  SALTUS_ASSERT(qdd.size() == model.nv && tau.size() == model.nv);
  const int n = model.body_count();
  w.acceleration[0] = {-model.gravity, Vec3::Zero()};
  for (int i = 1; i <= n; ++i) {
    const Link& k = w.plan->links[i];
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
    const Link& k = w.plan->links[i];
    const Wrench& F = w.wrench[i];
    if (k.turns) {
      tau[k.v0] = w.S_I.col(k.s0).tail<3>().dot(F.n) + model.armature[k.v0] * qdd[k.v0];
    } else {
      for (int c = 0; c < k.nv; ++c) {
        const int at = k.v0 + c;
        double sum = recursion::along(w.S_I, k.s0 + c, F);
        if (k.station < k.stations - 1) sum += tau[at];  // of the stations after it
        if (k.station == 0) sum += model.armature[at] * qdd[at];
        tau[at] = sum;
      }
    }
    Wrench& p = w.wrench[k.parent];
    p.f += F.f;
    p.n += F.n + w.motion[i].r.cross(F.f);
  }
}

void bias_force(const Model& model, Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  w.scratch_v.setZero();
  rnea(model, w.scratch_v, w, w.tau_bias);
}

namespace {

// n += r x f for wrenches in plain arrays: vector code.
void move_wrenches(int count, const Vec3& r, const double* __restrict f0,
                   const double* __restrict f1, const double* __restrict f2, double* __restrict n0,
                   double* __restrict n1, double* __restrict n2) {
  const double x = r[0], y = r[1], z = r[2];
  for (int c = 0; c < count; ++c) {
    const double a = f0[c], b = f1[c], d = f2[c];
    n0[c] += y * d - z * b;
    n1[c] += z * a - x * d;
    n2[c] += x * b - y * a;
  }
}

// The wrenches that unit accelerations of a subtree's velocities ask for, all at one point.
struct WrenchColumns {
  double *f[3], *n[3];
  explicit WrenchColumns(Mat& x) {
    for (int i = 0; i < 3; ++i) {
      f[i] = x.col(i).data();
      n[i] = x.col(3 + i).data();
    }
  }
  void set(int c, const Wrench& F) const {
    for (int i = 0; i < 3; ++i) {
      f[i][c] = F.f[i];
      n[i][c] = F.n[i];
    }
  }
  [[nodiscard]] Wrench at(int c) const {
    return {{f[0][c], f[1][c], f[2][c]}, {n[0][c], n[1][c], n[2][c]}};
  }
  void add(int c, Wrench& F) const {  // F += the column
    const Wrench x = at(c);
    F.f += x.f;
    F.n += x.n;
  }
  void move(int first, int last, const Vec3& r) const {
    move_wrenches(last - first, r, f[0] + first, f[1] + first, f[2] + first, n[0] + first,
                  n[1] + first, n[2] + first);
  }
};

// A station: the element's own entries and columns are sums over its stations, of which the last
// one comes first.
template <class Inertia>
void add_station(const Model& model, Workspace& w, const Plan::Branch& branch,
                 const WrenchColumns& columns, std::vector<Inertia>& composite) {
  const auto [i, begin, last, own] = branch;
  const Link& k = w.plan->links[i];
  const Vec3& r = w.motion[i].r;
  const int* velocity = w.plan->velocity.data();
  const int first = k.station == 0 ? begin + k.nv : begin;  // of what hangs on this station
  const bool begins = k.station == k.stations - 1;
  const auto along = [&](int l, const Wrench& F) { return recursion::along(w.S_I, k.s0 + l, F); };
  for (int c = 0; c < k.nv; ++c) {
    Wrench F;
    composite[i].multiply(w.S_I.col(k.s0 + c).head<3>(), w.S_I.col(k.s0 + c).tail<3>(), F.f, F.n);
    for (int l = 0; l < k.nv; ++l) {
      double& entry = w.M(k.v0 + l, k.v0 + c);
      entry = (begins ? 0 : entry) + along(l, F);
      if (k.station == 0 && l == c) entry += model.armature[k.v0 + c];
    }
    F.n += r.cross(F.f);
    if (!begins) columns.add(own + c, F);
    columns.set(own + c, F);
  }
  for (int c = first; c < last; ++c)
    for (int l = 0; l < k.nv; ++l)
      w.M(velocity[c], k.v0 + l) = w.M(k.v0 + l, velocity[c]) = along(l, columns.at(c));
  if (k.parent == 0) return;
  composite[k.parent].add_from(composite[i], r);
  columns.move(first, last, r);
}

template <class Inertia>
void mass_matrix(const Model& model, Workspace& w, std::vector<Inertia>& composite) {
  const WrenchColumns columns(w.columns);
  const int* velocity = w.plan->velocity.data();
  for (auto branch = w.plan->order.rbegin(); branch != w.plan->order.rend(); ++branch) {
    const int i = branch->link, first = branch->first, last = branch->last;
    const Link& k = w.plan->links[i];
    if (k.mixed) {
      add_station(model, w, *branch, columns, composite);
      continue;
    }
    for (int c = 0; c < k.nv; ++c) {
      Wrench F;
      composite[i].multiply(w.S_I.col(k.s0 + c).head<3>(), w.S_I.col(k.s0 + c).tail<3>(), F.f, F.n);
      columns.set(first + c, F);
    }
    for (int l = 0; l < k.nv; ++l) {
      const bool linear = l < k.linear;
      const int at = k.v0 + l, from = k.s0 + l;
      const Vec3 s = linear ? w.S_I.col(from).head<3>() : w.S_I.col(from).tail<3>();
      double* const* x = linear ? columns.f : columns.n;
      double* column = w.M.col(at).data();
      for (int c = first; c < last; ++c)
        column[velocity[c]] = w.M(at, velocity[c]) =
            s[0] * x[0][c] + s[1] * x[1][c] + s[2] * x[2][c];
      column[at] += model.armature[at];
    }
    if (k.parent == 0) continue;
    composite[k.parent].add_from(composite[i], w.motion[i].r);
    columns.move(first, last, w.motion[i].r);
  }
}

}  // namespace

void crba(const Model& model, Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  const int n = model.body_count();
  if (w.M.rows() != model.nv) w.M.setZero(model.nv, model.nv);
  for (int i = 1; i <= n; ++i)
    w.composite[i] = recursion::rigid_inertia(w.plan->links[i], w.motion[i].R);
  if (w.plan->added.empty()) {
    mass_matrix(model, w, w.composite);
    return;
  }
  for (int i = 1; i <= n; ++i) {
    const RigidAtPoint& r = w.composite[i];
    w.articulated[i] = {r.mass, r.first, r.J};
    if (w.plan->links[i].added >= 0) w.articulated[i] += recursion::fluid_inertia(w, i);
  }
  mass_matrix(model, w, w.articulated);
}

void rnea(const Model& model, VecIn q, VecIn v, VecIn a, Workspace& work, VecRef tau) {
  move_links(model, q, v, work);
  rnea(model, a, work, tau);
}

void crba(const Model& model, VecIn q, Workspace& work) {
  place_links(model, q, work);
  crba(model, work);
}

void aba(const Model& model, VecIn q, VecIn v, VecIn tau, Workspace& work, VecRef a) {
  move_links(model, q, v, work);
  aba(model, tau, work, a);
}

}  // namespace saltus
