// The area rule in four frames against VERIFY-P4.md section 6, and against the motion itself.
#include "saltus/analysis/area_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.h"
#include "tests/support/shape_case.h"

namespace saltus {
namespace {

using test::ShapeCase;
constexpr double pi = std::numbers::pi;

struct Purcell : ShapeCase {
  ShapePlane plane;
  Purcell() : ShapeCase(test::chain(std::vector<test::ChainLink>(3), 1)) {
    viscous(1, 2);
    plane.base = Vec::Zero(2);
    plane.i = space.variable("a1");
    plane.j = space.variable("a2");
  }
  [[nodiscard]] AreaRule rule(const ShapePath& p, const Gauge& gauge = {}) const {
    return area_rule(model, space, medium, plane, p, gauge);
  }
};

TEST(AreaRule, PurcellOnTheUnitCircle) {
  const Purcell c;
  const ShapePath path = c.circle({"a1", "a2"}, 0, 0, 1);
  const AreaRule own = c.rule(path);
  EXPECT_NEAR(own.area, pi, 1e-12);
  EXPECT_NEAR(own.F[0], -0.1557543226283, 1e-12);
  EXPECT_NEAR(own.F[1], 0, 1e-12);
  EXPECT_NEAR(own.F[2], 0, 1e-12);
  EXPECT_NEAR(own.dB[0], -0.4007940712534, 1e-12);
  const AreaRule mean = c.rule(path, mean_frame(c.model, c.space, c.plane));
  EXPECT_NEAR(mean.F[0], -0.1555134810802, 1e-12);
  const AreaRule least = c.rule(path, least_frame(c.model, c.space, c.medium, c.plane));
  EXPECT_NEAR(least.F[0], -0.1539914, 1e-7);
}

// Small loops: the displacement tends to F times the area, with an error of the order rho^3.
TEST(AreaRule, HoldsForSmallLoops) {
  const Purcell c;
  double last = 0;
  for (const double rho : {0.2, 0.1, 0.05}) {
    const ShapePath path = c.circle({"a1", "a2"}, 0.4, 0.3, rho);
    const NetMotion m = c.along(path);
    const AreaRule rule = c.rule(path);
    const double error = std::hypot(m.g.r.x() - rule.F[0], m.g.r.y() - rule.F[1]);
    if (last > 0) { EXPECT_NEAR(last / error, 8, 1.5); }
    last = error;
  }
}

// What a loop encloses twice counts twice, and the other way round with the other sign.
TEST(AreaRule, CountsTurns) {
  const Purcell c;
  const AreaRule once = c.rule(c.circle({"a1", "a2"}, 0.1, 0, 0.7));
  const ShapePath back =
      c.path({"a1", "a2"}, {Sine{0.7, 1, pi / 2, 0.1}, Sine{-0.7, 1, 0, 0}}, 4 * pi);
  const AreaRule twice = c.rule(back);
  EXPECT_NEAR(twice.area, -2 * once.area, 1e-8);  // 64 points for two turns
  EXPECT_NEAR(twice.F[0], -2 * once.F[0], 1e-8);
}

// r1 = r2 is singular for the wheeled snake: a loop across it encloses no area that means anything.
TEST(AreaRule, SaysWhereItDoesNotHold) {
  const ShapeCase c = ShapeCase(test::wheeled_snake(3)).axles();
  ShapePlane plane;
  plane.base = Vec::Zero(2);
  const auto regular = [&](double x, double y) {
    return area_rule(c.model, c.space, c.medium, plane, c.circle({"r1", "r2"}, x, y, 0.3)).regular;
  };
  EXPECT_TRUE(regular(0.6, -0.6));
  EXPECT_FALSE(regular(0.6, 0.5));
}

TEST(AreaRule, RefusesAnOpenPath) {
  const Purcell c;
  EXPECT_THROW((void)c.rule(c.path({"a1"}, {Move{0, 1, 0, 1}}, 1)), InputError);
}

TEST(HeightMap, HasTheSymmetriesOfTheSwimmer) {
  const Purcell c;
  const HeightMap m = height_map(c.model, c.space, c.medium, c.plane, 9, 9);
  const auto F = [&](int i, int j) { return m.cells[j * 9 + i].F; };
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      // Reflection in the swimmer's axis: a -> -a keeps x, reverses y and turning.
      EXPECT_NEAR(F(8 - i, 8 - j)[0], F(i, j)[0], 1e-14);
      EXPECT_NEAR(F(8 - i, 8 - j)[2], -F(i, j)[2], 1e-14);
    }
}

}  // namespace
}  // namespace saltus
