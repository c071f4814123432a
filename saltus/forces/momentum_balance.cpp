#include "saltus/forces/momentum_balance.h"

#include "saltus/forces/flow.h"

namespace saltus {

namespace {

Vec6 pushed_at(const Vec3& point, const Vec3& force) { return join(force, point.cross(force)); }

void add_flow_of(const Fluid& f, const SE3& X, const Vec6& twist, double t, MomentumBalance& out) {
  const FlowAt at = flow_at(*f.flow, X * f.centre, t);
  const Vec3 U = X.R.transpose() * at.velocity;
  const Vec3 v = twist.head<3>() + twist.tail<3>().cross(f.centre);
  const Vec3 carried = X.R.transpose() * (at.gradient * (X.R * v - at.velocity));
  const Vec6 stream = join(U, Vec3::Zero());
  const Vec6 momentum = f.added * stream + pushed_at(f.centre, f.lift * U);
  const Vec6 missing = pushed_at(f.centre, f.lift * carried) +
                       join(Vec3::Zero(), v.cross(f.lift * U)) -
                       dual_bracket(stream, f.added * (twist - stream));
  out.flow -= wrench_to_parent(X, momentum);
  out.missing += wrench_to_parent(X, missing);
}

}  // namespace

MomentumBalance momentum_balance(const Model& model, const Workspace& work, double t) {
  MomentumBalance out;
  for (int i = 0; i < model.body_count(); ++i) {
    const int root = model.tree_begin[model.tree[i]];
    const SE3& X = work.X[i];
    const Vec6 net = twist_to_body(X, twist_to_parent(work.X[root], work.V[root]));
    const Mat6& I = model.bodies[i].inertia;
    out.net += wrench_to_parent(X, I * net);
    out.shape += wrench_to_parent(X, I * (work.V[i] - net));
  }
  for (const Fluid& f : model.fluids)
    if (f.flow) add_flow_of(f, work.X[f.body], work.V[f.body], t, out);
  return out;
}

}  // namespace saltus
