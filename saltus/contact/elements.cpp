#include "saltus/contact/elements.h"

#include <cmath>

namespace saltus {

RunnerRows runner_rows(const Model&, const Workspace& work, const Runner& r, double angle) {
  const Mat3& R = work.X[r.body].R;
  const Vec3 arm = R * r.point, forward = R * r.direction, left = R * r.normal.cross(r.direction);
  const Vec3 e = std::cos(angle) * forward + std::sin(angle) * left;
  const Vec3 g = std::cos(angle) * left - std::sin(angle) * forward;
  return {join(e, arm.cross(e)), join(g, arm.cross(g))};
}

WheelRows wheel_rows(const Workspace& work, const Wheel& x) {
  const SE3& X = work.X[x.body];
  const Vec3 axis = X.R * x.axis, heading = axis.cross(x.normal).normalized();
  const Vec3 arm = X.R * x.centre - x.radius * heading.cross(axis);
  const Vec3 across = x.normal.cross(heading);
  return {join(heading, arm.cross(heading)), join(across, arm.cross(across)),
          join(x.normal, arm.cross(x.normal)), X.r + arm};
}

SpringRow spring_row(const Workspace& work, const Spring& s) {
  const Vec3 a = s.a.valid() ? work.X[s.a] * s.point_a : s.point_a;
  const Vec3 b = s.b.valid() ? work.X[s.b] * s.point_b : s.point_b;
  SpringRow row;
  if (!s.axis.isZero(0)) {
    row.length = s.axis.dot(b - a);
    row.wrench = join(s.axis, b.cross(s.axis));
    return row;
  }
  row.length = (b - a).norm();
  if (row.length > 0) {  // at length zero it has no direction, and pulls nowhere
    const Vec3 d = (b - a) / row.length;
    row.wrench = join(d, b.cross(d));
  }
  return row;
}

Eigen::Matrix<double, 6, 3> drag_rows(const Workspace& work, const Drag& drag) {
  const Vec3 arm = work.X[drag.body].R * drag.point;
  Eigen::Matrix<double, 6, 3> rows;
  for (int i = 0; i < 3; ++i) rows.col(i) = join(Vec3::Unit(i), arm.cross(Vec3::Unit(i)));
  return rows;
}

}  // namespace saltus
