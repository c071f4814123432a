// Connections: what the net twist must be while the shape moves, eta = -A(r) r' (P4 eq. 4), with
// the local form A of
//   inertia: total momentum zero,  M eta + m u = 0 (P4 eq. 14; with added mass, hydrodynamic)
//   drag:    total Stokes force zero, the same with resistances in the place of inertias
//   rows:    ideal axles, A eta + B u = 0 (P4 eq. 17, 18), from the first n independent rows
// and its curvature F = -dA + [A, A]. With B = -A, F_ij = d_i B_j - d_j B_i + [B_i, B_j]: the net
// twist of a small loop from i to j is F_ij times its area. Derivatives are exact
// (shape_columns.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/shape_columns.h"

namespace saltus {

// A disc that leans (model.h, Wheel): its lowest point changes in it with the shape.
struct LeaningDisc {
  Vec3 centre, axis;  // in the body
  double radius = 0;
  Vec3 normal;  // of the plane, in the reference body's frame, unit
  enum class Row { along, across, off } row = Row::along;
};
// A bilateral row: wrench . (twist of the body, its frame) + rate u_variable = 0.
struct ConstraintRow {
  std::string name;
  BodyIndex body;
  Vec6 wrench = Vec6::Zero();  // of a disc that leans: from it and the shape
  int variable = -1;           // of the shape; -1: none
  double rate = 0;             // a rolling wheel's radius [m]
  std::optional<LeaningDisc> disc{};
};
// Of every runner with an edge: no side slip (P4 eq. 17). Its steering angle counts as zero, and a
// finite grip as one that holds.
[[nodiscard]] std::vector<ConstraintRow> edge_rows(const Model& model);
// And of every wheel: it rolls, and does not slip sideways; one that may lean stays on its plane as
// well, if it is pressed. An upright wheel on a carrier that stays in the plane is a row of that
// carrier. Throws InputError where the root does not move in the plane of the wheel.
[[nodiscard]] std::vector<ConstraintRow> axle_rows(const Model& model, const ShapeSpace& space);
// The Stokes resistance of every body.
[[nodiscard]] std::vector<Mat6> resistances(const Model& model);

// 0 = A eta + B u.
struct Constraints {
  Mat A, B;
};
[[nodiscard]] Constraints constraints(const ShapeSpace& space, const ShapeColumns& columns,
                                      const std::vector<ConstraintRow>& rows);
// Their derivative D_u, where `along` is that of the columns.
[[nodiscard]] Constraints constraints_along(const ShapeSpace& space, const ShapeColumns& columns,
                                            const ShapeColumns& along, VecIn u,
                                            const std::vector<ConstraintRow>& rows);

enum class ConnectionKind { inertia, drag, rows };
[[nodiscard]] std::string_view name_of(ConnectionKind kind);

// What the creature moves by.
struct Medium {
  ConnectionKind kind = ConnectionKind::inertia;
  std::vector<Mat6> K;              // inertias or resistances of the bodies
  std::vector<ConstraintRow> rows;  // of kind `rows`
};
[[nodiscard]] Medium by_inertia(const Model& model);
// Throws InputError unless the resistances are symmetric and positive semi-definite.
[[nodiscard]] Medium by_drag(const Model& model, std::vector<Mat6> resistances);
[[nodiscard]] Medium by_rows(std::vector<ConstraintRow> rows);

// Resistance of a straight slender link along x, of the given length, about its middle: forces per
// length c_t along and c_n across [N s/m^2], no drag in its own turning about x.
[[nodiscard]] Mat6 slender_resistance(double length, double c_t, double c_n,
                                      const Vec3& middle = Vec3::Zero());

struct LocalForm {
  Mat A;  // n x p, of r'; not numbers where `regular` is false
  bool regular = true;
  double ratio = 1;  // least to largest singular value of what was inverted
};
// Below this ratio a shape counts as singular.
inline constexpr double singular_ratio = 1e-10;

[[nodiscard]] LocalForm local_form(const Model& model, const ShapeSpace& space,
                                   const Medium& medium, VecIn r);
// F_ij, n components; not numbers at a singular shape.
[[nodiscard]] Vec curvature(const Model& model, const ShapeSpace& space, const Medium& medium,
                            VecIn r, int i, int j);
// B_i, B_j, F_ij and d_i B_j - d_j B_i at one shape.
struct FormPair {
  bool regular = true;
  double ratio = 1;
  int sign = 1;  // of the determinant of what was inverted; between both signs lie singular shapes
  Vec B_i, B_j, dB, F;
};
[[nodiscard]] FormPair form_pair(const Model& model, const ShapeSpace& space, const Medium& medium,
                                 VecIn r, int i, int j);

// ad_x y of net twists by components.
[[nodiscard]] Vec net_bracket(const ShapeSpace& space, VecIn x, VecIn y);

}  // namespace saltus
