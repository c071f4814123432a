#include "saltus/dynamics/workspace.h"

namespace saltus {

Workspace::Workspace(const Model& model) {
  const int n = model.body_count();
  for (auto* x : {&X_pb, &X}) x->assign(n, SE3{});
  for (auto* x : {&V, &bias, &external, &A, &F, &p_a}) x->assign(n, Vec6::Zero());
  for (auto* x : {&I_a, &D_inv}) x->assign(n, Mat6::Zero());
  for (auto* x : {&S, &S0, &U}) x->setZero(6, model.nv);
  for (auto* x : {&M, &L}) x->setZero(model.nv, model.nv);
  for (auto* x : {&tau_bias, &u, &column, &tau, &scratch_v}) x->setZero(model.nv);
}

}  // namespace saltus
