#include "saltus/geometry/gap.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus {

namespace {

// A sphere, a capsule and a peg are the points within `radius` of a core: a point, a segment or a
// line, centre +- half_length axis.
struct Round {
  Vec3 centre, axis;
  double half_length, radius;
};

Round round(const Sphere& s, const SE3& X) { return {X.r, X.R.col(0), 0.0, s.radius}; }
Round round(const Capsule& s, const SE3& X) { return {X.r, X.R.col(0), s.half_length, s.radius}; }
Round round(const Peg& s, const SE3& X) {
  return {X.r, X.R.col(2), std::numeric_limits<double>::infinity(), s.radius};
}

template <class S> concept IsRound = requires(const S& s, const SE3& X) { round(s, X); };

// Closest points of two cores: minimise |a + s u - (b + t w)|^2 over the two intervals.
void closest(const Round& a, const Round& b, double& s, double& t) {
  const Vec3 d = b.centre - a.centre, n = a.axis.cross(b.axis);
  const double k = a.axis.dot(b.axis), du = d.dot(a.axis), dw = d.dot(b.axis);
  const double det = n.squaredNorm();  // 1 - k^2; like this it does not cancel
  const auto clip = [](double x, double h) { return std::clamp(x, -h, h); };
  s = 0;
  if (a.half_length > 0) {
    // Parallel cores have a continuum of closest points; take the one at a's middle if it counts.
    s = det > 1e-28 ? clip(d.dot(b.axis.cross(n)) / det, a.half_length) : 0.0;
  }
  t = clip(s * k - dw, b.half_length);
  s = clip(du + t * k, a.half_length);
}

// Cores that meet have no normal; a direction across both axes separates them.
Vec3 across(const Round& a, const Round& b) {
  if (!(a.half_length > 0)) return b.axis.unitOrthogonal();
  const Vec3 n = a.axis.cross(b.axis);
  const bool both = b.half_length > 0 && n.norm() > 1e-6;
  return both ? Vec3(n.normalized()) : a.axis.unitOrthogonal();
}

ContactPoint touch(const Round& a, const Round& b) {
  double s = 0, t = 0;
  closest(a, b, s, t);
  const Vec3 pa = a.half_length > 0 ? Vec3(a.centre + s * a.axis) : a.centre;
  const Vec3 pb = b.half_length > 0 ? Vec3(b.centre + t * b.axis) : b.centre;
  const Vec3 d = pb - pa;
  const double distance = d.norm();
  const double rounding = 1e-14 * (a.radius + b.radius + pa.norm());
  const Vec3 n = distance > rounding ? Vec3(d / distance) : across(a, b);
  return {distance - a.radius - b.radius, pa + a.radius * n, pb - b.radius * n, n};
}

// A point with a radius against a half-space; the half-space is a, its normal points to b.
ContactPoint above_plane(const SE3& plane, const Vec3& centre, double radius) {
  const Vec3 n = plane.R.col(2);
  const double height = n.dot(centre - plane.r);
  return {height - radius, centre - height * n, centre - radius * n, n};
}

struct Pair {
  const SE3 &X_a, &X_b;
  ContactPoints* points;  // null: only count

  template <class A, class B>
  requires(IsRound<A>&& IsRound<B> && !(std::same_as<A, Peg> && std::same_as<B, Peg>)) int
  operator()(const A& a, const B& b) const {
    if (points) (*points)[0] = touch(round(a, X_a), round(b, X_b));
    return 1;
  }
  int operator()(const HalfSpace&, const Sphere& b) const {
    if (points) (*points)[0] = above_plane(X_a, X_b.r, b.radius);
    return 1;
  }
  int operator()(const HalfSpace&, const Capsule& b) const {
    if (points)
      for (int i = 0; i < 2; ++i)
        (*points)[i] =
            above_plane(X_a, X_b.r + (i ? -1 : 1) * b.half_length * X_b.R.col(0), b.radius);
    return 2;
  }
  int operator()(const HalfSpace&, const Box& b) const {
    if (points)
      for (int i = 0; i < 8; ++i) {
        const Vec3 sign((i & 1) ? -1 : 1, (i & 2) ? -1 : 1, (i & 4) ? -1 : 1);
        (*points)[i] = above_plane(X_a, X_b * Vec3(sign.cwiseProduct(b.half_size)), 0.0);
      }
    return 8;
  }
  int operator()(const Box& a, const Sphere& b) const {
    if (points) {
      const Vec3 p = X_a.inverse() * X_b.r;
      const Vec3 h = a.half_size;
      Vec3 q = p.cwiseMax(-h).cwiseMin(h);
      double distance = (p - q).norm();
      Vec3 n = distance > 0 ? Vec3((p - q) / distance) : Vec3::Zero();
      if (distance == 0) {  // the centre is inside: leave by the nearest face
        int axis = 0;
        distance = -(h - p.cwiseAbs()).minCoeff(&axis);
        n[axis] = p[axis] < 0 ? -1 : 1;
        q[axis] = n[axis] * h[axis];
      }
      const Vec3 n_I = X_a.R * n;
      (*points)[0] = {distance - b.radius, X_a * q, X_b.r - b.radius * n_I, n_I};
    }
    return 1;
  }
  template <class A, class B>
  int operator()(const A&, const B&) const {
    return 0;
  }
};

int visit_pair(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
               ContactPoints* points) {
  return std::visit(Pair{X_a, X_b, points}, a, b);
}

}  // namespace

std::string_view name_of(const Shape& shape) {
  return std::visit([](const auto& s) { return s.name; }, shape);
}

int feature_count(const Shape& a, const Shape& b) {
  const SE3 X;
  const int n = visit_pair(a, X, b, X, nullptr);
  return n > 0 ? n : visit_pair(b, X, a, X, nullptr);
}

void gap_functions(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
                   ContactPoints& points) {
  if (visit_pair(a, X_a, b, X_b, &points) > 0) return;
  const int n = visit_pair(b, X_b, a, X_a, &points);  // written the other way round
  for (int i = 0; i < n; ++i) {
    std::swap(points[i].on_a, points[i].on_b);
    points[i].normal = -points[i].normal;
  }
}

}  // namespace saltus
