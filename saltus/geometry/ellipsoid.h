// Ellipsoids: support points and nearest points, to rounding.
//
// With S = diag(semi-axes) the support function of an ellipsoid about the origin is h(n) = |S n|,
// attained at S S n / |S n|. A point p and its nearest point x on the surface differ by a multiple
// of the normal there, so that with one unknown t (scaled by the least semi-axis squared)
//   x_i = a_i^2 p_i / (t + a_i^2),   F(t) = sum (a_i p_i / (t + a_i^2))^2 - 1 = 0,  t > -min a_i^2.
// F is convex and falls, so that Newton's method from a t with F(t) >= 0 converges from one side.
// The signed distance from a line is that of a point from the ellipsoid's shadow along the line.
#pragma once
#include "saltus/geometry/polytope.h"
#include "saltus/geometry/shapes.h"
#include "saltus/lie/se3.h"

namespace saltus {

// The point farthest along n (any length), inertial frame.
[[nodiscard]] Vec3 farthest(const Ellipsoid& shape, const SE3& X, const Vec3& n);
// In the ellipsoid's frame; negative inside.
[[nodiscard]] PointDistance distance_to(const Ellipsoid& shape, const Vec3& p);
// From the line through p along the unit vector u, in the ellipsoid's frame; `on` is the point of
// the ellipsoid.
[[nodiscard]] PointDistance distance_to_line(const Ellipsoid& shape, const Vec3& p, const Vec3& u);

}  // namespace saltus
