#include "saltus/geometry/segments.h"

#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

// Below, the nearest points between the ends say nothing that the ends do not.
constexpr double parallel = 1e-7;

double clip(double x, double h) { return std::clamp(x, -h, h); }

// Segments that meet have no normal; a direction across both axes separates them.
Vec3 across(const Segment& a, const Segment& b) {
  if (!(a.half_length > 0)) return b.axis.unitOrthogonal();
  const Vec3 n = a.axis.cross(b.axis);
  const bool both = b.half_length > 0 && n.norm() > 1e-6;
  return both ? Vec3(n.normalized()) : a.axis.unitOrthogonal();
}

void finish(const Segment& a, const Segment& b, SegmentNearest& x) {
  x.on_a = a.at(x.s);
  x.on_b = b.at(x.t);
  const Vec3 d = x.on_b - x.on_a;
  x.distance = d.norm();
  const double rounding = 1e-14 * (1e-3 + x.on_a.norm());
  x.normal = x.distance > rounding ? Vec3(d / x.distance) : across(a, b);
}

}  // namespace

Segment segment_between(const Vec3& p, const Vec3& q) {
  const Vec3 d = q - p;
  const double length = d.norm();
  return {0.5 * (p + q), length > 0 ? Vec3(d / length) : Vec3::UnitX(), 0.5 * length};
}

// Minimises |a + s u - (b + t w)|^2 over the two intervals.
SegmentNearest nearest(const Segment& a, const Segment& b) {
  const Vec3 d = b.centre - a.centre, n = a.axis.cross(b.axis);
  const double k = a.axis.dot(b.axis), du = d.dot(a.axis), dw = d.dot(b.axis);
  const double det = n.squaredNorm();  // 1 - k^2; like this it does not cancel
  SegmentNearest x;
  // Parallel segments have a continuum of nearest points; take the one at a's middle if it counts.
  if (a.half_length > 0 && det > 1e-28) x.s = clip(d.dot(b.axis.cross(n)) / det, a.half_length);
  x.t = clip(x.s * k - dw, b.half_length);
  x.s = clip(du + x.t * k, a.half_length);
  finish(a, b, x);
  return x;
}

void segment_points(const Segment& a, double radius_a, const Segment& b, double radius_b, int first,
                    Collector& out, double parallel_below) {
  const auto add = [&](const SegmentNearest& x, int feature) {
    out.add(x.distance, x.on_a, x.on_b, x.normal, first + feature, radius_a, radius_b);
  };
  const SegmentNearest best = nearest(a, b);
  const bool rods = a.half_length > 0 && b.half_length > 0;
  const double sine = rods ? a.axis.cross(b.axis).norm() : 1;
  if (sine > parallel_below) {
    add(best, 0);
    return;
  }
  const double k = a.axis.dot(b.axis), du = (b.centre - a.centre).dot(a.axis),
               dw = (b.centre - a.centre).dot(b.axis);
  int ends = 0;
  for (int i = 0; i < 4; ++i) {
    SegmentNearest x;
    const double sign = i % 2 ? -1 : 1;
    if (!std::isfinite(i < 2 ? a.half_length : b.half_length)) continue;
    if (i < 2) {
      x.s = sign * a.half_length;
      x.t = x.s * k - dw;
      if (!(std::abs(x.t) <= b.half_length)) continue;
    } else {
      x.t = sign * b.half_length;
      x.s = du + x.t * k;
      // An end over an end is one point.
      if (!(std::abs(x.s) <= a.half_length * (1 - 1e-12))) continue;
    }
    finish(a, b, x);
    add(x, 1 + i);
    ++ends;
  }
  // The nearest points are one of the ends above if they are an end of one segment only.
  const bool a_inside = std::abs(best.s) < a.half_length * (1 - 1e-12),
             b_inside = std::abs(best.t) < b.half_length * (1 - 1e-12);
  if (a_inside == b_inside && (ends < 2 || sine > parallel)) add(best, 0);
}

}  // namespace saltus
