#include "saltus/geometry/ellipsoid.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

namespace saltus {

namespace {

// Steps of Newton's method: next to a pole of F each gains a factor 1.5, then digits double.
constexpr int most_steps = 200;

// Nearest point of an ellipse or ellipsoid with semi-axes a along the axes to p.
template <int N>
Eigen::Matrix<double, N, 1> nearest(const Eigen::Matrix<double, N, 1>& a,
                                    const Eigen::Matrix<double, N, 1>& p) {
  using V = Eigen::Matrix<double, N, 1>;
  int least = 0;
  const double smallest = a.minCoeff(&least);
  const V r = (a / smallest).cwiseAbs2();     // >= 1
  const V z = p.cwiseAbs().cwiseQuotient(a);  // the surface is |z| = 1
  if (z[least] == 0) {
    // In the plane of symmetry across the shortest axis: near the middle the nearest points lie
    // off that plane, at the pole.
    V x = V::Zero();
    double left = 1;
    for (int i = 0; i < N; ++i)
      if (r[i] > 1) {
        x[i] = r[i] * p[i] / (r[i] - 1);
        left -= (x[i] / a[i]) * (x[i] / a[i]);
      } else if (z[i] > 0) {
        left = -1;  // as short as the shortest, and not in the middle along it: F has a pole
      }
    if (left >= 0) {
      x[least] = smallest * std::sqrt(left);
      return x;
    }
  }
  // u = t / least^2 + 1, the distance from the last pole; where it starts one term alone is 1.
  const V above = (r.array() - 1).matrix();
  double u = (r.cwiseProduct(z) - above).maxCoeff();
  for (int k = 0; k < most_steps; ++k) {
    double F = -1, slope = 0;
    for (int i = 0; i < N; ++i) {
      if (z[i] == 0) continue;  // its pole is none
      const double q = r[i] * z[i] / (above[i] + u);
      F += q * q;
      slope -= 2 * q * q / (above[i] + u);
    }
    const double next = u - F / slope;
    if (!(next > u)) break;
    u = next;
  }
  V x = V::Zero();
  for (int i = 0; i < N; ++i)
    if (z[i] > 0) x[i] = r[i] * p[i] / (above[i] + u);
  return x;
}

template <int N>
Eigen::Matrix<double, N, 1> normal_at(const Eigen::Matrix<double, N, 1>& a,
                                      const Eigen::Matrix<double, N, 1>& x) {
  return x.cwiseQuotient(a).cwiseQuotient(a).normalized();
}

}  // namespace

Vec3 farthest(const Ellipsoid& shape, const SE3& X, const Vec3& n) {
  const Vec3 s = shape.semi_axes.cwiseProduct(X.R.transpose() * n);
  return X.r + X.R * shape.semi_axes.cwiseProduct(s) / s.norm();
}

PointDistance distance_to(const Ellipsoid& shape, const Vec3& p) {
  PointDistance d;
  d.on = nearest<3>(shape.semi_axes, p);
  d.normal = normal_at<3>(shape.semi_axes, d.on);
  d.distance = d.normal.dot(p - d.on);
  return d;
}

PointDistance distance_to_line(const Ellipsoid& shape, const Vec3& p, const Vec3& u) {
  const Vec3 e1 = u.unitOrthogonal();
  Eigen::Matrix<double, 3, 2> across;
  across << e1, u.cross(e1);
  // The shadow {x: x' A^-1 x <= 1}, A = E' S^2 E, in its own axes.
  const Eigen::Matrix2d A = across.transpose() * shape.semi_axes.cwiseAbs2().asDiagonal() * across;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> solved(A);
  const Eigen::Matrix<double, 3, 2> axes = across * solved.eigenvectors();
  const Vec2 a = solved.eigenvalues().cwiseSqrt(), at = axes.transpose() * p;
  const Vec2 x = nearest<2>(a, at), n = normal_at<2>(a, x);
  PointDistance d;
  d.normal = axes * n;
  d.distance = n.dot(at - x);
  d.on = farthest(shape, SE3(), d.normal);
  return d;
}

}  // namespace saltus
