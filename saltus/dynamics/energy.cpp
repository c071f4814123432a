#include "saltus/dynamics/energy.h"

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/preconditions.h"

namespace saltus {

double kinetic_energy(const Model& model, VecIn v, const Workspace& w) {
  SALTUS_ASSERT(v.size() == model.nv);
  SALTUS_ASSERT(fits(model, w));
  double T = 0;
  for (int i = 0; i < model.body_count(); ++i)
    T += 0.5 * w.V[i].dot(model.bodies[i].inertia * w.V[i]);
  for (std::size_t c = 0; c < model.coordinates.size(); ++c)
    if (const double a = model.coordinates[c].dof.armature; a > 0) {
      const double rate = coordinate_rate(model, w, v, CoordinateIndex(static_cast<int>(c)));
      T += 0.5 * a * rate * rate;
    }
  return T;
}

double gravity_energy(const Model& model, const Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  double U = 0;
  for (int i = 0; i < model.body_count(); ++i) {
    const RigidInertia& r = model.bodies[i].rigid;
    U -= r.mass * model.gravity.dot(w.X[i] * r.com);
  }
  return U;
}

Vec3 centre_of_mass(const Model& model, const Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  Vec3 sum = Vec3::Zero();
  for (int i = 0; i < model.body_count(); ++i)
    sum += model.bodies[i].rigid.mass * (w.X[i] * model.bodies[i].rigid.com);
  const double m = model.total_mass();
  return m > 0 ? Vec3(sum / m) : sum;
}

Momentum momentum(const Model& model, const Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  Vec6 h = Vec6::Zero();
  for (int i = 0; i < model.body_count(); ++i)
    h += wrench_to_parent(w.X[i], model.bodies[i].inertia * w.V[i]);
  return {h.head<3>(), h.tail<3>()};
}

}  // namespace saltus
