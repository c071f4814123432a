#include "saltus/rods/statics.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

using Complex = std::complex<double>;
using generic::Pose;
using generic::Twist;

template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// The problem with one set of shapes a scalar.
class Statics {
 public:
  Statics(const Rod& rod, const SE3& base, const RodLoads& loads, const Vec6& spin)
      : rod_(rod), base_(base), loads_(loads), spin_(spin), K_(Mat::Zero(rod.size, rod.size)) {
    real_.resize(rod.segments.size());
    complex_.resize(rod.segments.size());
    for (std::size_t s = 0; s < rod.segments.size(); ++s) {
      real_[s].resize(rod.segments[s]);
      complex_[s].resize(rod.segments[s]);
      const int n = rod.segments[s].size;
      K_.block(rod.first[s], rod.first[s], n, n) = rod.segments[s].K;
    }
    factor_.compute(K_);
  }
  [[nodiscard]] Vec forces(const Vec& q, double share) {
    return forces_of<double>(q, share, real_);
  }
  [[nodiscard]] const Mat& K() const { return K_; }
  [[nodiscard]] double norm(const Vec& r) const { return std::sqrt(r.dot(factor_.solve(r))); }
  // K - d forces/dq, column by column.
  [[nodiscard]] Mat tangent(const Vec& q, double share) {
    constexpr double tiny = 1e-30;
    Mat tangent = K_;
    VectorOf<Complex> moved = q.cast<Complex>();
    for (int j = 0; j < rod_.size; ++j) {
      moved[j] = {q[j], tiny};
      tangent.col(j) -= forces_of<Complex>(moved, share, complex_).imag() / tiny;
      moved[j] = q[j];
    }
    return tangent;
  }

 private:
  template <class T>
  Twist<T> station_wrench(const RodStation& station, const Pose<T>& X, const Twist<T>& V) const {
    const Eigen::Matrix<T, 6, 6> I = station.inertia.cast<T>();
    const generic::Vector3<T> g = X.R.transpose() * loads_.gravity.cast<T>();
    return I * generic::join<T>(g, generic::Vector3<T>::Zero()) -
           generic::dual_bracket<T>(V, I * V);
  }
  template <class T>
  VectorOf<T> forces_of(const VectorOf<T>& q, double share,
                        std::vector<RodShapeOf<T>>& shape) const {
    std::vector<std::vector<Twist<T>>> F(rod_.segments.size());
    Pose<T> base{base_.R.cast<T>(), base_.r.cast<T>()};
    Twist<T> V = spin_.cast<T>();
    for (std::size_t s = 0; s < rod_.segments.size(); ++s) {
      const RodSegment& segment = rod_.segments[s];
      reconstruct<T>(segment, q.segment(rod_.first[s], segment.size), shape[s]);
      F[s].assign(segment.stations.size(), Twist<T>::Zero());
      for (std::size_t i = 0; i < segment.stations.size(); ++i) {
        if (!segment.stations[i].heavy) continue;
        const Pose<T>& G = shape[s].pose[i];
        F[s][i] = share *
                  station_wrench<T>(segment.stations[i], base * G, generic::twist_to_body<T>(G, V));
      }
      V = generic::twist_to_body<T>(shape[s].pose[segment.tip()], V);
      base = base * shape[s].pose[segment.tip()];
    }
    const generic::Matrix3<T> back = base.R.transpose();
    F.back().back() += share * (generic::join<T>(back * loads_.tip_force.cast<T>(),
                                                 back * loads_.tip_moment.cast<T>()) +
                                loads_.tip_follower.cast<T>());
    VectorOf<T> tau = VectorOf<T>::Zero(rod_.size);
    Twist<T> beyond = Twist<T>::Zero();
    for (std::size_t s = rod_.segments.size(); s-- > 0;) {
      F[s].back() += beyond;
      beyond.setZero();
      pull_back<T>(rod_.segments[s], shape[s], F[s],
                   tau.segment(rod_.first[s], rod_.segments[s].size), beyond);
    }
    return tau;
  }

  const Rod& rod_;
  SE3 base_;
  RodLoads loads_;
  Vec6 spin_;
  Mat K_;
  Eigen::LLT<Mat> factor_;
  std::vector<RodShapeOf<double>> real_;
  std::vector<RodShapeOf<Complex>> complex_;
};

// Newton at one share of the loads; true when converged. The step is halved while it makes things
// worse; a step that cannot be helped ends it.
bool newton(Statics& problem, double share, Vec& q, const EquilibriumOptions& options,
            EquilibriumReport& report) {
  for (int k = 0; k < options.max_iterations; ++k) {
    const Vec f = problem.forces(q, share), elastic = problem.K() * q, r = f - elastic;
    const double size = std::max(problem.norm(f), problem.norm(elastic)), before = problem.norm(r);
    report.residual = size > 0 ? before / size : 0;
    if (report.residual <= options.tolerance) return true;
    if (!std::isfinite(before)) return false;
    ++report.iterations;
    const Vec step = problem.tangent(q, share).partialPivLu().solve(r);
    double length = 1;
    const auto after = [&] {
      const Vec x = q + length * step;
      return problem.norm(problem.forces(x, share) - problem.K() * x);
    };
    const double limit = std::max(before, 4 * options.tolerance * size);
    for (double there = after(); !(there <= limit); there = after()) {
      length *= 0.5;
      if (length < 1e-3) return false;
    }
    q += length * step;
  }
  return false;
}

}  // namespace

EquilibriumReport equilibrium(const Rod& rod, const SE3& base, const RodLoads& loads, Vec& q,
                              const Vec6& spin, const EquilibriumOptions& options) {
  EquilibriumReport report;
  Statics problem(rod, base, loads, spin);
  double share = 0, step = 1;
  while (share < 1) {
    const double next = std::min(1.0, share + step);
    Vec trial = q;
    if (newton(problem, next, trial, options, report)) {
      share = next;
      q = trial;
      step *= 2;
    } else if ((step *= 0.5) < options.least_step) {
      return report;
    }
  }
  report.converged = true;
  const Mat tangent = problem.tangent(q, 1);
  const Mat symmetric = 0.5 * (tangent + tangent.transpose());
  report.least_eigenvalue =
      Eigen::GeneralizedSelfAdjointEigenSolver<Mat>(symmetric, problem.K(), Eigen::EigenvaluesOnly)
          .eigenvalues()[0];
  return report;
}

}  // namespace saltus
