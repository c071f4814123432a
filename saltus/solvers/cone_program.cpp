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

struct Solver {
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

  // Newton's steps from y while they help; returns the residual that is left.
  double polish(Vector& y, double tolerance, int& iterations) {
    double now = natural(y);
    Vector trial;
    for (int k = 0; k < 20 && now > tolerance; ++k) {
      Matrix J = Matrix::Identity(y.size(), y.size());
      Matrix inner = J - r * G;
      for (Eigen::Index i = 0; i < y.size(); i += 3)
        J.middleRows<3>(i) -= slope(before.segment<3>(i)) * inner.middleRows<3>(i);
      trial = y - J.partialPivLu().solve(F);
      ++iterations;
      const double next = trial.allFinite() ? natural(trial) : now;
      if (!(next < now)) return natural(y);
      y = trial;
      now = next;
    }
    return now;
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
  Solver s;
  s.G = scale.asDiagonal() * p.G * scale.asDiagonal();
  s.c = scale.cwiseProduct(p.c);
  s.r = static_cast<double>(n) / s.G.trace();
  const Eigen::LLT<Matrix> free(s.G);
  Vector y = free.solve(-s.c);
  report.residual = s.natural(y);
  if (report.residual > tolerance) {
    const double rho = 0.1 / s.r;
    const Eigen::LLT<Matrix> damped(s.G + rho * Matrix::Identity(n, n));
    Vector z, u = Vector::Zero(n), start;
    project(y, z);
    for (int round = 0; round < 200 && report.residual > tolerance; ++round) {
      for (int k = 0; k < 10; ++k, ++report.iterations) {
        y = damped.solve(rho * (z - u) - s.c);
        start = y + u;
        project(start, z);
        u = start - z;
      }
      y = z;
      report.residual = s.polish(y, tolerance, report.iterations);
    }
  }
  project(y, f);  // on the cones to the last bit
  report.converged = report.residual <= tolerance;
  f = scale.cwiseProduct(f);
  return report;
}

}  // namespace saltus
