#include "saltus/solvers/cone_program.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

namespace saltus {

namespace {

using Matrix = ConeProgram::Matrix;
using Vector = ConeProgram::Vector;

void project(const Vector& x, Vector& y) {
  y.resize(x.size());
  for (Eigen::Index i = 0; i < x.size(); i += 3) y.segment<3>(i) = project_on_cone(x.segment<3>(i));
}

// Derivative of the projection on one cone.
Mat3 slope(const Vec3& x) {
  const double length = x.tail<2>().norm();
  if (length <= x[0]) return Mat3::Identity();
  if (length <= -x[0]) return Mat3::Zero();
  const Vec2 u = x.tail<2>() / length;
  const double ratio = x[0] / length;
  Mat3 P;
  P(0, 0) = 0.5;
  P.block<1, 2>(0, 1) = 0.5 * u.transpose();
  P.block<2, 1>(1, 0) = 0.5 * u;
  P.bottomRightCorner<2, 2>() =
      0.5 * ((1 + ratio) * Mat2::Identity() - ratio * (u * u.transpose()));
  return P;
}

struct ConeSolver {
  Matrix G;  // scaled
  Vector c;
  double r = 1;  // of the natural map: 1 / the mean of G's diagonal
  Vector before, image, F;

  // F = y - P(y - r xi); returns its largest entry.
  double natural(const Vector& y) {
    before = y - r * (G * y + c);
    project(before, image);
    F = y - image;
    return F.lpNorm<Eigen::Infinity>();
  }

  // Newton's steps from y, of which the best point is kept: near a kink one may lead astray, and
  // the next comes back. Returns the residual left.
  double polish(Vector& y, double tolerance, int& iterations) {
    double best = natural(y);
    Vector at = y;
    for (int k = 0; k < 30 && best > tolerance; ++k, ++iterations) {
      Matrix J = Matrix::Identity(y.size(), y.size());
      const Matrix inner = J - r * G;
      for (Eigen::Index i = 0; i < y.size(); i += 3)
        J.middleRows<3>(i) -= slope(before.segment<3>(i)) * inner.middleRows<3>(i);
      at -= J.partialPivLu().solve(F);
      if (!at.allFinite()) break;
      if (const double now = natural(at); now < best) {
        best = now;
        y = at;
      }
    }
    return best;
  }

  // One damped Newton step for tau times the cost less the logarithms of y_N^2 - |y_T|^2; returns
  // its decrement. With the length 1/(1 + decrement) it stays within the cones.
  double central_step(double tau, Vector& y) const {
    Matrix H = tau * G;
    Vector gradient = tau * (G * y + c);
    for (Eigen::Index i = 0; i < y.size(); i += 3) {
      const Vec3 v(y[i], -y[i + 1], -y[i + 2]);
      const double d = v[0] * v[0] - v.tail<2>().squaredNorm();
      gradient.segment<3>(i) -= 2 / d * v;
      H.block<3, 3>(i, i) += 4 / (d * d) * (v * v.transpose());
      H.block<3, 3>(i, i).diagonal() -= 2 / d * Vec3(1, -1, -1);
    }
    const Vector step = H.llt().solve(-gradient);
    const double decrement = std::sqrt(std::max(-gradient.dot(step), 0.0));
    y += (decrement < 0.25 ? 1 : 1 / (1 + decrement)) * step;
    return decrement;
  }

  [[nodiscard]] static bool within(const Vector& y) {
    for (Eigen::Index i = 0; i < y.size(); i += 3)
      if (!(y[i] > y.segment<2>(i + 1).norm())) return false;
    return true;
  }

  // Along the central path until rounding ends it.
  void follow_path(Vector& y, int& iterations) const {
    Vector last = y;
    for (double tau = 1; tau < 1e11; tau *= 20)
      for (int k = 0; k < 50; ++k, ++iterations) {
        last = y;
        const double decrement = central_step(tau, y);
        if (!within(y)) {
          y = last;
          return;
        }
        if (decrement < 0.5) break;
      }
  }
};

}  // namespace

Vec3 project_on_cone(const Vec3& x) {
  const double length = x.tail<2>().norm();
  if (length <= x[0]) return x;
  if (length <= -x[0]) return Vec3::Zero();
  const double n = 0.5 * (x[0] + length);
  return {n, n * x[1] / length, n * x[2] / length};
}

ConeReport solve(const ConeProgram& p, Vector& f, double tolerance) {
  ConeReport report;
  const Eigen::Index n = p.c.size();
  f.setZero(n);
  if (n == 0) return report;
  Vector scale = Vector::Ones(n);
  for (int i = 0; i < p.cones(); ++i) scale.segment<2>(3 * i + 1).setConstant(p.mu[i]);
  ConeSolver s;
  s.G = scale.asDiagonal() * p.G * scale.asDiagonal();
  s.c = scale.cwiseProduct(p.c);
  s.r = static_cast<double>(n) / s.G.trace();
  const Eigen::LLT<Matrix> free(s.G);
  Vector y = free.solve(-s.c);
  report.residual = s.natural(y);
  if (report.residual > tolerance) {
    const double size = 1 + y.lpNorm<Eigen::Infinity>();
    y.setZero();
    for (Eigen::Index i = 0; i < n; i += 3) y[i] = size;
    s.follow_path(y, report.iterations);
    report.residual = s.polish(y, tolerance, report.iterations);
  }
  project(y, f);  // on the cones to the last bit
  report.converged = report.residual <= tolerance;
  f = scale.cwiseProduct(f);
  return report;
}

}  // namespace saltus
