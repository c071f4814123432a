#include "saltus/forces/fluid.h"

namespace saltus {

FluidForce fluid_force(const Fluid& fluid, const Vec3& gravity, const SE3& X, const Vec6& twist) {
  FluidForce f;
  Vec6 V = twist;
  const Vec6 carried = join(X.R.transpose() * fluid.current, Vec3::Zero());
  V -= carried;
  f.wrench = -fluid.resistance * V;
  f.slope = fluid.resistance;
  const Vec3& c = fluid.centre;
  if (!fluid.quadratic.isZero(0)) {
    Mat6 T = Mat6::Identity();  // v_c = v + omega x c
    T.topRightCorner<3, 3>() << 0, c.z(), -c.y(), -c.z(), 0, c.x(), c.y(), -c.x(), 0;
    const Vec6 at = T * V, k = fluid.quadratic.cwiseProduct(at.cwiseAbs());
    f.wrench -= T.transpose() * k.cwiseProduct(at);
    f.slope += T.transpose() * (2 * k).asDiagonal() * T;
  }
  f.lost = f.wrench.dot(V);
  f.carried = f.wrench.dot(carried);
  const Vec3 lift = -fluid.lift * (X.R.transpose() * gravity);
  f.wrench += join(lift, c.cross(lift));
  return f;
}

double buoyancy_energy(const Model& model, const Workspace& work) {
  double U = 0;
  for (const Fluid& f : model.fluids)
    if (f.lift > 0) U += f.lift * model.gravity.dot(work.X[f.body] * f.centre);
  return U;
}

}  // namespace saltus
