// A creature seen from its centre of mass: h(r) = (c(r), 1), c in the reference body's frame, whose
// axes are kept. With g' = g h a twist becomes Ad(h^-1) eta + (dc/dt, 0), a connection
//
//   A' = Ad(h^-1) A - dc/dr,   F' = Ad(h^-1) F.
//
// Free of forces c does not move: then the linear part of A' is zero.
#pragma once
#include "saltus/analysis/shape_columns.h"

namespace saltus {

struct MassCentre {
  Vec3 at = Vec3::Zero();  // c [m]
  Mat slope;               // dc/dr, n x p: by the components of eta, in its linear part
  Mat seen;                // Ad(h^-1), n x n
};
// Throws InputError: without mass, or where the net group has no frame at the centre of mass.
[[nodiscard]] MassCentre mass_centre(const Model& model, const ShapeSpace& space, VecIn r);

}  // namespace saltus
