// Boxes along the inertial axes: the support function of each shape in the six axis directions.
#include <cmath>
#include <limits>

#include "saltus/geometry/contact_points.h"
#include "saltus/geometry/hull.h"
#include "saltus/geometry/terrain.h"

namespace saltus {

namespace {

Aabb around(const Vec3& centre, const Vec3& reach) { return {centre - reach, centre + reach}; }

struct Bounds {
  const SE3& X;

  Aabb operator()(const Sphere& s) const { return around(X.r, Vec3::Constant(s.radius)); }
  Aabb operator()(const Capsule& s) const {
    return around(X.r, (s.half_length * X.R.col(0).cwiseAbs()).array() + s.radius);
  }
  Aabb operator()(const Box& s) const { return around(X.r, X.R.cwiseAbs() * s.half_size); }
  Aabb operator()(const Cylinder& s) const {  // a disc reaches r sqrt(1 - u_i^2) along axis i
    const Vec3 u = X.R.col(0);
    const Vec3 disc = (Vec3::Ones() - u.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
    return around(X.r, s.half_length * u.cwiseAbs() + s.radius * disc);
  }
  Aabb operator()(const ConvexHull& s) const {
    Aabb box{Vec3::Constant(infinity), Vec3::Constant(-infinity)};
    for (const Vec3& v : s.hull->vertices) {
      const Vec3 p = X * v;
      box.low = box.low.cwiseMin(p);
      box.high = box.high.cwiseMax(p);
    }
    return box;
  }
  Aabb operator()(const Ellipsoid& s) const {
    return around(X.r, (X.R * s.semi_axes.asDiagonal()).rowwise().norm());
  }
  Aabb operator()(const HeightField& s) const {
    const Terrain& t = *s.terrain;
    const Vec3 low(t.origin.x(), t.origin.y(), t.low - t.thickness()),
        high(t.origin.x() + t.width(), t.origin.y() + t.depth(), t.high);
    return around(X * Vec3(0.5 * (low + high)), X.R.cwiseAbs() * Vec3(0.5 * (high - low)));
  }
  Aabb operator()(const HalfSpace&) const { return around(Vec3::Zero(), Vec3::Constant(infinity)); }
  Aabb operator()(const Peg& s) const {
    const Vec3 u = X.R.col(2);
    Vec3 reach = s.radius * (Vec3::Ones() - u.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
    for (int i = 0; i < 3; ++i)
      if (std::abs(u[i]) > 1e-14) reach[i] = infinity;
    return around(X.r, reach);
  }
};

}  // namespace

Aabb bounds(const Shape& shape, const SE3& X) { return std::visit(Bounds{X}, shape); }

}  // namespace saltus
