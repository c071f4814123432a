#include "saltus/analysis/net_recursion.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/recursion.h"

namespace saltus {

NetRecursion::NetRecursion(const Model& model) : model_(model) {
  if (!model.cuts.empty())
    throw InputError(fmt::format("expected minimal coordinates: joint '{}' is cut or closes a loop",
                                 model.cuts.front().name));
  if (model.has_stations) throw InputError("expected rigid bodies: an element has stations");
  if (model.tree_begin.size() != 2 || model.bodies.front().nv == 0)
    throw InputError("expected one tree whose root moves");
  const std::size_t n = model.bodies.size() + 1;
  arm_.resize(n);
  if (Plan(model).added.empty())
    rigid_.resize(n);
  else
    general_.resize(n);
}

template <class Inertia>
bool NetRecursion::solve_with(std::vector<Inertia>& M, VecRef a, const Workspace& w, VecRef tau) {
  const auto& links = w.plan->links;
  const int n = model_.body_count();
  for (int i = n; i >= 2; --i) M[links[i].parent].add_from(M[i], w.motion[i].r);
  const Link& root = links[1];
  Mat6 net = Mat6::Zero();
  for (int c = 0; c < root.nv; ++c) {
    const auto S = w.S_I.col(root.s0 + c);
    recursion::Wrench F;
    M[1].multiply(S.head<3>(), S.tail<3>(), F.f, F.n);
    for (int l = 0; l < root.nv; ++l) net(l, c) = recursion::along(w.S_I, root.s0 + l, F);
    net(c, c) += model_.armature[root.v0 + c];
  }
  const Eigen::LDLT<Mat> head(net.topLeftCorner(root.nv, root.nv));
  if (head.info() != Eigen::Success || !(head.vectorD().minCoeff() > 0)) return false;
  a.segment(root.v0, root.nv) = head.solve(-tau.segment(root.v0, root.nv));
  tau.segment(root.v0, root.nv).setZero();
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  for (int c = 0; c < root.nv; ++c) {
    linear += a[root.v0 + c] * w.S_I.col(root.s0 + c).template head<3>();
    angular += a[root.v0 + c] * w.S_I.col(root.s0 + c).template tail<3>();
  }
  arm_[1].setZero();
  for (int i = 2; i <= n; ++i) {
    const Link& k = links[i];
    arm_[i] = arm_[k.parent] + w.motion[i].r;
    if (k.nv == 0) continue;
    recursion::Wrench F;
    M[i].multiply(linear + angular.cross(arm_[i]), angular, F.f, F.n);
    for (int c = 0; c < k.nv; ++c) tau[k.v0 + c] += recursion::along(w.S_I, k.s0 + c, F);
  }
  return true;
}

bool NetRecursion::solve(VecIn q, VecIn v, VecRef a, Workspace& w, VecRef tau) {
  const Link& root = w.plan->links[1];
  a.segment(root.v0, root.nv).setZero();
  rnea(model_, q, v, a, w, tau);
  const int n = model_.body_count();
  if (general_.empty()) {
    for (int i = 1; i <= n; ++i)
      rigid_[i] = recursion::rigid_inertia(w.plan->links[i], w.motion[i].R);
    return solve_with(rigid_, a, w, tau);
  }
  for (int i = 1; i <= n; ++i) {
    const Link& k = w.plan->links[i];
    const RigidAtPoint r = recursion::rigid_inertia(k, w.motion[i].R);
    general_[i] = SymmetricInertia(r.mass, r.first, r.J);
    if (k.added >= 0) general_[i] += recursion::fluid_inertia(w, i);
  }
  return solve_with(general_, a, w, tau);
}

Vec6 NetRecursion::net_wrench(VecIn q, VecIn v, VecIn a, Workspace& w, VecRef tau) const {
  rnea(model_, q, v, a, w, tau);
  const Link& root = w.plan->links[1];
  tau.segment(root.v0, root.nv).setZero();
  const recursion::Wrench& F = w.wrench[1];  // at the root's joint, inertial axes
  const Mat3& R = w.motion[1].R;
  const Vec3 f = R.transpose() * F.f;
  return join(f, R.transpose() * F.n + root.point.cross(f));
}

}  // namespace saltus
