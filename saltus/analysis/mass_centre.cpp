#include "saltus/analysis/mass_centre.h"

#include <fmt/format.h>

#include "saltus/base/error.h"

namespace saltus {

MassCentre mass_centre(const Model& model, const ShapeSpace& space, VecIn r) {
  if (space.group != NetGroup::se3 && space.group != NetGroup::se2)
    throw InputError(
        fmt::format("no frame at the centre of mass in the net group {}", name_of(space.group)));
  const ShapeColumns columns = shape_columns(model, space, r);
  MassCentre out;
  double mass = 0;
  Mat6X slope = Mat6X::Zero(6, space.p());
  for (int i = 0; i < model.body_count(); ++i) {
    const RigidInertia& b = model.bodies[i].rigid;
    if (!space.moves[i] || !(b.mass > 0)) continue;
    mass += b.mass;
    out.at += b.mass * (columns.X[i] * b.com);
    for (int k = 0; k < space.p(); ++k) {
      const Vec6 S = columns.shape[i].col(k);
      slope.col(k).head<3>() +=
          b.mass * (columns.X[i].R * (S.head<3>() + S.tail<3>().cross(b.com)));
    }
  }
  if (!(mass > 0)) throw InputError("no centre of mass: nothing that moves has mass");
  out.at /= mass;
  out.slope = space.to_net * (slope / mass) * rate_map(space, r);
  out.seen.resize(space.n(), space.n());
  for (int k = 0; k < space.n(); ++k) {
    Vec6 twist = space.basis.col(k);
    twist.head<3>() += twist.tail<3>().cross(out.at);
    out.seen.col(k) = space.to_net * twist;
  }
  return out;
}

}  // namespace saltus
