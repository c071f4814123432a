// The terms that RNEA, CRBA and ABA share.
//
// All in inertial axes at the joints' points, with plain (not spatial) accelerations:
//   a_i = a_p + alpha_p x r + c_linear + S qdd,   alpha_i = alpha_p + c_angular + S qdd
// Gravity is an upward acceleration of the world, so it acts on the rigid part by itself; an added
// mass, on which it does not act, gets the true acceleration.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus::recursion {

using Acceleration = Workspace::Acceleration;
using Wrench = Workspace::Wrench;

// Adds what a fluid's added mass asks for to move with the acceleration x (less gravity) to `to`.
inline void add_fluid_wrench(const Model& model, const Workspace& w, int i, const Acceleration& x,
                             Wrench& to) {
  const Link& k = w.plan->links[i];
  const LinkMotion& m = w.motion[i];
  const Mat6& I = w.plan->added[k.added];
  // To the body's frame and origin: its twist, and the spatial acceleration, which lacks w x v.
  const Vec3 turning = m.R.transpose() * m.w, alpha = m.R.transpose() * x.alpha;
  const Vec3 v = m.R.transpose() * m.v - turning.cross(k.point);
  const Vec3 a = m.R.transpose() * (x.a + model.gravity) - alpha.cross(k.point) -
                 turning.cross(turning.cross(k.point));
  const Vec6 V = join(v, turning), A = join(a - turning.cross(v), alpha);
  const Vec6 F = I * A + dual_bracket(V, I * V);
  const Vec3 f = F.head<3>(), n = F.tail<3>() - k.point.cross(f);
  to.f += m.R * f;
  to.n += m.R * n;
}

inline void subtract_external(const Workspace& w, int i, Wrench& to) {
  const Vec6& F = w.external[i - 1];
  if ((F.array() == 0).all()) return;
  const Mat3& R = w.motion[i].R;
  const Vec3 f = F.head<3>();
  to.f -= R * f;
  to.n -= R * (F.tail<3>() - w.plan->links[i].point.cross(f));
}

// Added mass at the body's point, inertial axes.
inline SymmetricInertia fluid_inertia(const Workspace& w, int i) {
  const Link& k = w.plan->links[i];
  // A twist of the body's frame at its origin from one in inertial axes at the point.
  const Mat6 A = adjoint(SE3{w.motion[i].R, -(w.motion[i].R * k.point)}.inverse());
  return SymmetricInertia(Mat6(A.transpose() * w.plan->added[k.added] * A));
}

inline RigidAtPoint rigid_inertia(const Link& k, const Mat3& R) {
  return {k.mass, k.mass * (R * k.com), turned(R, k.J)};
}

// Adds the joint's own acceleration S a.
inline void add_joint(const Workspace& w, const Link& k, const double* a, Acceleration& x) {
  if (k.turns) {
    x.alpha += a[0] * w.S_I.col(k.s0).tail<3>();
    return;
  }
  for (int c = 0; c < k.nv; ++c) {
    x.a += a[c] * w.S_I.col(k.s0 + c).head<3>();
    x.alpha += a[c] * w.S_I.col(k.s0 + c).tail<3>();
  }
}

inline double along(const Mat6X& S, int column, const Wrench& F) {
  return S.col(column).head<3>().dot(F.f) + S.col(column).tail<3>().dot(F.n);
}

}  // namespace saltus::recursion
