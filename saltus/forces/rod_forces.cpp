#include "saltus/forces/rod_forces.h"

#include "saltus/rods/segment.h"

namespace saltus {

RodPowers add_rod_forces(const Model& model, VecIn q, VecIn v, VecIn a, VecIn a_rate, VecRef tau) {
  RodPowers power;
  for (const RodElement& r : model.rods) {
    const Mat &K = r.segment->K, &D = r.segment->D;
    for (int i = 0; i < r.size; ++i) {
      double elastic = 0, viscous = 0;
      for (int j = 0; j < r.size; ++j) {
        elastic += K(i, j) * (q[r.q0 + j] - a[r.v0 + j]);
        viscous += D(i, j) * v[r.v0 + j];
      }
      tau[r.v0 + i] -= elastic + viscous;
      power.dampers -= v[r.v0 + i] * viscous;
      power.muscles -= a_rate[r.v0 + i] * elastic;
    }
  }
  return power;
}

double elastic_energy(const RodElement& r, const double* x) {
  const Mat& K = r.segment->K;
  double U = 0;
  for (int j = 0; j < r.size; ++j)
    for (int i = 0; i < r.size; ++i) U += 0.5 * x[i] * K(i, j) * x[j];
  return U;
}

double elastic_energy(const Model& model, VecIn q) {
  double U = 0;
  for (const RodElement& r : model.rods) U += elastic_energy(r, q.data() + r.q0);
  return U;
}

}  // namespace saltus
