// Poses, columns and biases of segments: the derivatives of the discrete map by complex steps,
// poses by closed forms, the order of the steps.
#include "saltus/rods/reconstruction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/rods/rod_cases.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::eps;
using test::Random;
using test::seeds;
using test::Worst;
using Complex = std::complex<double>;
using ComplexVec = Eigen::Matrix<Complex, Eigen::Dynamic, 1>;

constexpr double tiny = 1e-30;

ComplexVec stepped(const Vec& x, const Vec& along) {
  return x.cast<Complex>() + Complex(0, tiny) * along.cast<Complex>();
}
Vec6 body_rate(const generic::Pose<Complex>& X) {
  const Mat3 R = X.R.real(), W = R.transpose() * X.R.imag() / tiny;
  return join(R.transpose() * X.r.imag() / tiny, Vec3(W(2, 1), W(0, 2), W(1, 0)));
}

// Lengths, strains and rates of the random segments are of order 1, so are twists and wrenches; a
// chain of some thirty steps adds up its roundings.
constexpr double chain = 1e-14;

TEST(Reconstruction, ColumnsAreTheTangentOfTheDiscretePoses) {
  Worst worst("S v - complex step of the poses", chain), same("rates: S v", chain);
  for (const auto seed : seeds(1, 40)) {
    Random random(seed);
    const RodSegment s = test::random_segment(random);
    const Vec q = random.vector(s.size), v = random.vector(s.size);
    RodShape shape;
    RodShapeOf<Complex> moved;
    shape.resize(s), moved.resize(s);
    reconstruct<double>(s, q, shape);
    columns(s, shape);
    rates<double>(s, v, shape);
    reconstruct<Complex>(s, stepped(q, v), moved);
    for (std::size_t i = 0; i < s.stations.size(); ++i) {
      const Vec6 V = shape.columns_at(s, static_cast<int>(i)) * v;
      worst.add((V - body_rate(moved.pose[i])).norm(), seed);
      same.add((V - shape.twist[i]).norm(), seed);
    }
  }
}

TEST(Reconstruction, BiasIsTheRateOfTheTwist) {
  Worst worst("(dS/dt) v - complex step of S v", chain);
  for (const auto seed : seeds(101, 40)) {
    Random random(seed);
    const RodSegment s = test::random_segment(random);
    const Vec q = random.vector(s.size), v = random.vector(s.size);
    RodShape shape;
    RodShapeOf<Complex> moved;
    shape.resize(s), moved.resize(s);
    reconstruct<double>(s, q, shape);
    rates<double>(s, v, shape);
    reconstruct<Complex>(s, stepped(q, v), moved);
    columns(s, moved);
    for (std::size_t i = 0; i < s.stations.size(); ++i) {
      const auto S = moved.columns_at(s, static_cast<int>(i));
      const Vec6 exact = (S * v.cast<Complex>()).imag() / tiny;
      worst.add((shape.bias[i] - exact).norm(), seed);
    }
  }
}

TEST(Reconstruction, PullBackIsTheTransposeOfTheColumns) {
  Worst own("sum S' F", 10 * chain), base("wrench at the base", 10 * chain);
  for (const auto seed : seeds(201, 40)) {
    Random random(seed);
    const RodSegment s = test::random_segment(random);
    RodShape shape;
    shape.resize(s);
    reconstruct<double>(s, random.vector(s.size), shape);
    columns(s, shape);
    std::vector<Vec6> F(s.stations.size());
    Vec tau = Vec::Zero(s.size), exact = tau;
    Vec6 sum = Vec6::Zero(), ours = sum;
    for (std::size_t i = 0; i < F.size(); ++i) {
      F[i] = random.vector6();
      exact += shape.columns_at(s, static_cast<int>(i)).transpose() * F[i];
      sum += wrench_to_parent(generic::pose_of(shape.pose[i]), F[i]);
    }
    pull_back<double>(s, shape, F, tau, ours);
    own.add((tau - exact).norm(), seed);
    base.add((ours - sum).norm(), seed);
  }
}

TEST(Reconstruction, AnyArcLength) {
  // At a station the place is the station; elsewhere its columns and bias are those of its own
  // pose.
  Worst station("place at a station", chain), tangent("S v at any X", chain);
  Worst bias("(dS/dt) v at any X", 1e-7);  // by differences of S v: h^2 + eps/h with h = 1e-5
  for (const auto seed : seeds(301, 40)) {
    Random random(seed);
    const RodSegment s = test::random_segment(random);
    const Vec q = random.vector(s.size), v = random.vector(s.size);
    RodShape shape;
    shape.resize(s);
    const auto at = [&](const Vec& x, double X) {
      RodPlace p;
      reconstruct<double>(s, x, shape);
      columns(s, shape);
      rates<double>(s, v, shape);
      place(s, point_at(s, X), x, &v, shape, p);
      return p;
    };
    const int i = random.integer(0, s.tip());
    const RodPlace there = at(q, s.stations[i].X);
    station.add((there.S - shape.columns_at(s, i)).norm() + (there.bias - shape.bias[i]).norm(),
                seed);
    const double X = random.uniform(0, s.spec.length), h = 1e-5;
    const RodPlace here = at(q, X), up = at(q + h * v, X), down = at(q - h * v, X);
    tangent.add((here.S * v - here.twist).norm(), seed);
    bias.add((here.bias - (up.S * v - down.S * v) / (2 * h)).norm(), seed);
    const Vec6 V =
        (log_se3(here.pose.inverse() * up.pose) - log_se3(here.pose.inverse() * down.pose)) /
        (2 * h);
    EXPECT_LE((V - here.twist).norm(), 1e-7) << "seed " << seed;
  }
}

TEST(Reconstruction, ConstantStrainIsExact) {  // a helix: one exponential, however it is cut
  Worst worst("helix, pose of the tip", 1e-14);
  for (const int pieces : {1, 3, 8}) {
    SegmentSpec spec = test::unit_rod({{Strain::torsion, BasisKind::constant, pieces},
                                       {Strain::bend_y, BasisKind::constant, pieces},
                                       {Strain::bend_z, BasisKind::linear, pieces}});
    const RodSegment s = make_segment(spec);
    Vec q(s.size);
    q << Vec::Constant(pieces, 0.7), Vec::Constant(pieces, -1.1), Vec::Constant(pieces + 1, 2.3);
    RodShape shape;
    shape.resize(s);
    reconstruct<double>(s, q, shape);
    Vec6 xi;
    xi << 1, 0, 0, 0.7, -1.1, 2.3;
    const SE3 exact = exp_se3(xi), ours = generic::pose_of(shape.pose[s.tip()]);
    worst.add((ours.R - exact.R).norm() + (ours.r - exact.r).norm());
  }
}

TEST(Reconstruction, ClothoidIsOfFourthOrder) {
  // Curvature 6 X: x = int cos 3X^2, y = int sin 3X^2 (Fresnel), here by a fine sum.
  double x = 0, y = 0;
  const int n = 200;
  const auto points = gauss_points(8);
  for (int k = 0; k < n; ++k) {
    for (const GaussPoint& p : points) {
      const double X = (k + p.x) / n;
      x += p.weight / n * std::cos(3 * X * X);
      y += p.weight / n * std::sin(3 * X * X);
    }
  }
  double before = 0, order = 0;
  for (const int steps : {1, 2, 4, 8, 16}) {
    SegmentSpec spec = test::unit_rod({{Strain::bend_z, BasisKind::legendre, 2}});
    spec.points = 1;
    spec.steps = 2 * steps;
    const RodSegment s = make_segment(spec);
    RodShape shape;
    shape.resize(s);
    reconstruct<double>(s, Eigen::Vector2d(3, 3), shape);
    const Vec3 r = shape.pose[s.tip()].r;
    const double error = std::hypot(r.x() - x, r.y() - y);
    order = std::log2(before / error);
    std::printf("[  ORDER   ] %3d steps: tip %9.2e, order %.2f\n", 4 * steps, error, order);
    before = error;
    EXPECT_EQ(r.z(), 0);
    EXPECT_NEAR(std::atan2(shape.pose[s.tip()].R(1, 0), shape.pose[s.tip()].R(0, 0)), 3, 1e-13);
  }
  EXPECT_NEAR(order, 4, 0.05);
}

}  // namespace
}  // namespace saltus
