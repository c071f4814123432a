// Gaits of several joints, and the spline signal under some of them.
#include "saltus/control/shape_gait.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {
namespace {

constexpr double pi = std::numbers::pi;

TEST(ShapeGait, EllipseIsItsSum) {
  const auto r = ellipse_gait({0.3, -1}, {0.5, 0}, {-0.2, 0.7}, 3);
  for (const double t : {0.0, 0.4, 1.7}) {
    EXPECT_NEAR(value(r[0], t), 0.3 + 0.5 * std::cos(3 * t) - 0.2 * std::sin(3 * t), 1e-15);
    EXPECT_NEAR(rate(r[1], t), 2.1 * std::cos(3 * t), 1e-14);
  }
}

TEST(ShapeGait, SerpenoidLags) {
  const auto r = serpenoid_wave(3, 0.5, 2, 0.4, 0.1);
  for (int j = 0; j < 3; ++j)
    EXPECT_NEAR(value(r[j], 0.7), 0.1 + 0.5 * std::sin(1.4 - 0.4 * j), 1e-15);
}

TEST(ShapeGait, PolygonPassesItsCornersAndStays) {
  const auto r = polygon_gait({{0, 1}, {2, 3}, {4, 0}}, 3, 2);
  EXPECT_NEAR(value(r[0], 1), 2, 1e-12);
  EXPECT_NEAR(value(r[1], 2.5), 0.5, 1e-12);
  EXPECT_NEAR(value(r[0], 5), 4, 1e-12);
  EXPECT_NEAR(value(r[0], 6), 0, 1e-12);
  EXPECT_NEAR(value(r[0], 9), 0, 1e-12);
  EXPECT_NEAR(rate(r[1], 1), -3, 1e-12);
}

// Through its points, with two continuous derivatives everywhere, round and round.
TEST(ShapeGait, ClosedSpline) {
  const auto r = spline_gait({{0, 1}, {2, 3}, {4, 0}, {1, -1}}, 4);
  for (int k = 0; k < 9; ++k) {
    const double points[] = {0, 2, 4, 1};
    EXPECT_NEAR(value(r[0], k), points[k % 4], 1e-14);
    const double e = 1e-7;
    EXPECT_NEAR(rate(r[0], k - e), rate(r[0], k + e), 2e-5 * e / 1e-7);
    EXPECT_NEAR(acceleration(r[0], k - e), acceleration(r[0], k + e), 1e-5);
  }
  for (const double t : {0.3, 1.8, 3.95, 7.2}) {
    const double e = 1e-5;  // differences of the value: e^2
    EXPECT_NEAR(rate(r[1], t), (value(r[1], t + e) - value(r[1], t - e)) / (2 * e), 1e-8);
    EXPECT_NEAR(acceleration(r[1], t), (rate(r[1], t + e) - rate(r[1], t - e)) / (2 * e), 1e-8);
    EXPECT_NEAR(value(r[1], t), value(r[1], t + 4), 1e-13);
  }
  EXPECT_DOUBLE_EQ(next_break(r[0], 1), 2);
  EXPECT_DOUBLE_EQ(next_break(r[0], 5.5), 6);
}

// A closed spline through a sine converges with the fourth order of its spacing.
TEST(ShapeGait, SplineConverges) {
  double last = 0;
  for (const int n : {8, 16, 32}) {
    std::vector<std::vector<double>> points;
    for (int k = 0; k < n; ++k) points.push_back({std::sin(2 * pi * k / n)});
    const auto r = spline_gait(points, 1);
    double error = 0;
    for (int k = 0; k < 500; ++k)
      error = std::max(error, std::abs(value(r[0], k / 500.0) - std::sin(2 * pi * k / 500.0)));
    if (last > 0) { EXPECT_NEAR(std::log2(last / error), 4, 0.3); }
    last = error;
  }
}

TEST(ShapeGait, OpenSplineRestsAtItsEnds) {
  const auto r = table_gait({1, 2, 4}, {{0}, {1}, {3}}, true);
  EXPECT_EQ(value(r[0], 0), 0);
  EXPECT_NEAR(rate(r[0], 1), 0, 1e-14);
  EXPECT_NEAR(value(r[0], 2), 1, 1e-14);
  EXPECT_NEAR(rate(r[0], 4), 0, 1e-13);
  EXPECT_EQ(rate(r[0], 5), 0);
  EXPECT_EQ(value(r[0], 5), 3);
}

TEST(ShapeGait, RefusesTooFewPoints) {
  EXPECT_THROW((void)make_spline({0, 1}, {0, 0}, true), InputError);
  EXPECT_THROW((void)make_spline({0}, {0}, false), InputError);
}

}  // namespace
}  // namespace saltus
