// Height functions over two shape variables, and the area rule: the net displacement of a loop is
// nearly the integral of the curvature F over what it encloses, the nearer the smaller the twist B
// is in the frame in which the integral is taken. A gauge chooses that frame: g' = g h(r), and then
//   F' = Ad(h^-1) F,   B'_th = B_th + grad b_th,   B'_xy = R(-b_th)(B_xy + P b B_th + grad b)
// in the plane, with h = (b, b_th) and P the turn by +90 degrees. "least" makes first B'_th and
// then B'_xy least in the mean square over a rectangle of shapes (Hatton and Choset's minimum
// perturbation coordinates), by Legendre polynomials.
#pragma once
#include <functional>

#include "saltus/analysis/connection.h"
#include "saltus/analysis/shape_path.h"

namespace saltus {

// Two variables of the shape over a rectangle, the others at `base`.
struct ShapePlane {
  Vec base;
  int i = 0, j = 1;
  double lower[2] = {-1.5, -1.5}, upper[2] = {1.5, 1.5};
  [[nodiscard]] Vec at(double x, double y) const;
};

// F_ij and what it was made of on a grid, x fastest.
struct HeightMap {
  int nx = 0, ny = 0;
  std::vector<double> x, y;     // of the columns, of the rows
  std::vector<FormPair> cells;  // nx * ny; regular = false at singular shapes
};
[[nodiscard]] HeightMap height_map(const Model& model, const ShapeSpace& space,
                                   const Medium& medium, const ShapePlane& plane, int nx, int ny);

// The frame of a gauge in the reference body's, at a shape.
using Gauge = std::function<SE3(double x, double y)>;
// At the mean of the bodies' centres of mass, turned by the mean of their angles; planar creatures.
[[nodiscard]] Gauge mean_frame(const Model& model, const ShapeSpace& space,
                               const ShapePlane& plane);
// Minimum perturbation over the rectangle; planar creatures. Throws InputError for others and where
// the rectangle holds singular shapes.
[[nodiscard]] Gauge least_frame(const Model& model, const ShapeSpace& space, const Medium& medium,
                                const ShapePlane& plane);

// Integrals over what a closed path in the plane encloses, each part as often as the path goes
// round it: the surface of the lines from its middle to the path.
struct AreaRule {
  Vec F;   // of F, in the gauge
  Vec dB;  // of d_i B_j - d_j B_i alone, in the reference frame
  double area = 0;
  bool regular = true;  // no singular shapes lie within: else the integrals mean nothing
};
// Throws InputError where the path is not closed.
[[nodiscard]] AreaRule area_rule(const Model& model, const ShapeSpace& space, const Medium& medium,
                                 const ShapePlane& plane, const ShapePath& path,
                                 const Gauge& gauge = {});

}  // namespace saltus
