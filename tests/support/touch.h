// Contact points of two shapes, for the tests of geometry.
#pragma once
#include <algorithm>
#include <limits>

#include "saltus/geometry/contact_points.h"

namespace saltus::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Manifold touch(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
                      double margin = infinity) {
  Manifold m;
  contact_points(a, X_a, b, X_b, margin, m);
  return m;
}
inline double least_gap(const Manifold& m) {
  double least = infinity;
  for (int i = 0; i < m.count; ++i) least = std::min(least, m.points[i].gap);
  return least;
}

}  // namespace saltus::test
