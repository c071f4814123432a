// How every body of a creature moves with the net twist and the shape: V_b = N_b eta + S_b u, body
// frames, u the engine's velocities of the shape; and the exact derivatives of these columns along
// a motion of the shape.
//
// With X_b the pose of body b in the reference body's frame and S_b its shape columns against that
// frame, N_b = Ad(X_b)^-1 basis and
//   D_u N_b = -ad(S_b u) N_b.
// S_b follows from the joints' own columns s by the same rule; for these the engine knows only
// bias(u) = (D_u s) u. A joint of plain coordinates has commuting ones, so D_u s_i - (D_i s) u =
// ad(s_i) (s u), and with the polarised bias D_u s_i = (bias(u + e_i) - bias(u) - bias(e_i) +
// ad(s_i) (s u)) / 2: exact, for every kind of joint.
#pragma once
#include <vector>

#include "saltus/analysis/shape_space.h"

namespace saltus {

struct ShapeColumns {
  std::vector<SE3> X;        // bodies in the reference body's frame
  std::vector<Mat6X> net;    // N_b, 6 x n; empty for bodies that do not move
  std::vector<Mat6X> shape;  // S_b, 6 x p
};

// Throws InputError of a shape at which a body has no finite place.
[[nodiscard]] ShapeColumns shape_columns(const Model& model, const ShapeSpace& space, VecIn r);
// Throws InputError where `m` is not: Eigen's decompositions of such a matrix read what was never
// written.
void require_finite(const Mat& m, const char* what);
// D_u of `net` and `shape` at the shape r of `columns`; X is left empty.
[[nodiscard]] ShapeColumns shape_columns_along(const Model& model, const ShapeSpace& space, VecIn r,
                                               const ShapeColumns& columns, VecIn u);

// sum_b [N_b S_b]' K_b [N_b S_b] of symmetric matrices of bodies: inertias or resistances.
struct NetMatrices {
  Mat net;    // n x n
  Mat mixed;  // n x p
  Mat shape;  // p x p
};
[[nodiscard]] NetMatrices net_matrices(const ShapeColumns& columns, const std::vector<Mat6>& K);
// Its derivative, where `along` is that of the columns.
[[nodiscard]] NetMatrices net_matrices_along(const ShapeColumns& columns, const ShapeColumns& along,
                                             const std::vector<Mat6>& K);

// Of each body: mass, moments and added mass.
[[nodiscard]] std::vector<Mat6> inertias(const Model& model);

}  // namespace saltus
