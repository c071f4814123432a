#include "saltus/dynamics/workspace.h"

#include <utility>

#include "saltus/base/error.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

Workspace::Workspace(const Model& model) : Workspace(model, std::make_shared<const Plan>(model)) {}

Workspace::Workspace(const Model& model, SharedPlan shared) : plan(std::move(shared)) {
  const int n = model.body_count();
  X.assign(n, SE3{});
  for (auto* x : {&V, &bias, &external}) x->assign(n, Vec6::Zero());
  motion.resize(n + 1);
  acceleration.assign(n + 1, {Vec3::Zero(), Vec3::Zero()});
  wrench.assign(n + 1, {Vec3::Zero(), Vec3::Zero()});
  composite.resize(n + 1);
  articulated.resize(n + 1);
  D.assign(n + 1, Mat6::Zero());
  curvature.assign(n + 1, Vec3::Zero());
  idle.assign(n, 0);
  for (const RodElement& r : model.rods)
    for (int j = 0; j < r.touches; ++j) idle[r.first_touch + j] = 1;
  rods.resize(plan->rods.size());
  for (std::size_t i = 0; i < rods.size(); ++i) {
    SALTUS_ASSERT(plan->rods[i] == model.rods[i].segment);  // one order
    rods[i].resize(*plan->rods[i]);
  }
  for (auto* x : {&S, &S_I, &S0, &U}) x->setZero(6, model.ns);
  B.setZero(6, plan->elements.empty() ? 0 : model.nv);
  for (const int first : plan->elements)
    C.emplace_back(Mat::Zero(plan->links[first].nv, plan->links[first].nv));
  columns.setZero(model.nv, 6);
  for (auto* x : {&tau_bias, &u, &d_inv, &column, &tau, &scratch_v}) x->setZero(model.nv);
  // Most joints' columns are constant in the body's frame; forward_kinematics writes the others.
  const State zero = make_state(model);
  for (const Body& b : model.bodies) {
    if (is_rod(b.joint)) continue;
    SE3 pose;
    Columns6 own = Columns6::Zero();
    Vec6 none;
    joint_kinematics(b.joint, zero.q.segment(b.q0, b.nq), zero.v.segment(b.v0, b.nv), pose, own,
                     none);
    for (int k = 0; k < b.nv; ++k) S.col(b.s0 + k) = twist_to_parent(b.in_body, own.col(k));
  }
}

}  // namespace saltus
