#include "saltus/geometry/contact_points.h"

#include "saltus/geometry/gap.h"

namespace saltus {

bool can_touch(const Shape& a, const Shape& b) { return feature_count(a, b) > 0; }

void contact_points(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b, double margin,
                    Manifold& out) {
  ContactPoints points;
  gap_functions(a, X_a, b, X_b, points);
  out.count = 0;
  for (int i = 0; i < feature_count(a, b); ++i) {
    if (!(points[i].gap <= margin)) continue;
    points[i].feature = i;
    out.points[out.count++] = points[i];
  }
}

}  // namespace saltus
