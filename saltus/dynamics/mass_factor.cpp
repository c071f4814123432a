#include <cmath>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/preconditions.h"

namespace saltus {

bool factor(const Model& model, VecIn extra, Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  SALTUS_ASSERT(extra.size() == model.nv);
  SALTUS_ASSERT(w.M.rows() == model.nv);
  // M' = L^T L with L lower triangular and as sparse as the tree (Featherstone 2008, 6.5).
  const auto& parent = model.v_parent;
  if (w.L.rows() != model.nv) w.L.setZero(model.nv, model.nv);
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
  SALTUS_ASSERT(x.size() == model.nv);
  SALTUS_ASSERT(w.L.rows() == model.nv);
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
  SALTUS_ASSERT(x.size() == model.nv && y.size() == model.nv);
  SALTUS_ASSERT(w.M.rows() == model.nv);
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
