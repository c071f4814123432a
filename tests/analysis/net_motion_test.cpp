// Net motion of gaits, against the reference values of VERIFY-P4.md (sections 2, 3, 6) and closed
// forms. Tolerances: the digits given there, and of what is integrated 5e-13: some ten steps of at
// most 1e-13 each.
#include "saltus/analysis/net_motion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/lie/so3.h"
#include "saltus/model/builder.h"
#include "tests/support/shape_case.h"

namespace saltus {
namespace {

using test::expect_pose;
using test::ShapeCase;
constexpr double pi = std::numbers::pi;

ShapeCase three() { return ShapeCase(test::chain(std::vector<test::ChainLink>(3), 1)); }
ShapeCase snake(int modules) { return ShapeCase(test::wheeled_snake(modules)).axles(); }

TEST(NetMotion, FreeChain) {
  const ShapeCase c = three();
  EXPECT_NEAR(c.along(c.circle({"a1", "a2"}, 0, 0, 1)).turn, 0, 1e-12);
  expect_pose(c.along(c.circle({"a1", "a2"}, 1, 1, 0.5)), -0.0171766214049, 0.0049064920844,
              -0.05647939092030, 5e-13);
  const NetMotion small = c.along(c.circle({"a1", "a2"}, pi / 2, -pi / 4, 0.1));
  EXPECT_NEAR(small.turn, -0.00057251782266, 5e-13);
}

TEST(NetMotion, CentreOfMassStays) {
  const ShapeCase c = three();
  const ShapePath path = c.circle({"a1", "a2"}, 1, 1, 0.5);
  const auto com = [&](const NetMotion& m, double t) {
    const ShapeColumns k = shape_columns(c.model, c.space, shape_at(path, t));
    return Vec3(m.g * ((k.X[0].r + k.X[1].r + k.X[2].r) / 3));
  };
  const std::vector<double> times = {0.5, 2, 3.7, 2 * pi};
  const auto at = net_motion_at(c.model, c.space, c.medium, path, times);
  const Vec3 start = com(NetMotion{}, 0);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_LT((com(at[i], times[i]) - start).norm(), 5e-13);
}

// Two slender links, m = (1, 2), l = (1, .5): one shape variable, so the time law does not matter.
TEST(NetMotion, TwoLinks) {
  const ShapeCase c(test::chain({{1, 1.0 / 12, 0.5}, {2, 2 * 0.25 / 12, 0.25}}, 0));
  for (const Signal& law : std::vector<Signal>{Move{0, 2, 0, 1}, Sine{2, pi / 2, 0, 0}})
    EXPECT_NEAR(c.along(c.path({"a1"}, {law}, 1)).turn, -0.57717393851296, 5e-13);
  EXPECT_NEAR(c.along(c.path({"a1"}, {Sine{1.3, 2 * pi, 0, 0.2}}, 1)).turn, 0, 5e-13);
}

// The cone gait of the falling cat: a rotation about k = (e3 + R_rel(0) e3)/norm by
// 2 pi (cos b / (cos^2 b + (It/Ia) sin^2 b) - 1), b = psi/2 (section 2, closed form).
TEST(NetMotion, FallingCat) {
  const ShapeCase c(test::falling_cat(), "front");
  for (const double psi : {1.2, 2 * std::acos((std::sqrt(13.0) - 1) / 3), 0.4, 2.2}) {
    const ShapePath path =
        c.path({"rear.x", "rear.y"}, {Sine{psi, 1, pi / 2, 0}, Sine{psi, 1, 0, 0}}, 2 * pi);
    const Mat3 R = c.along(path).g.R;
    const double b = psi / 2, s = std::sin(b), k = std::cos(b);
    const double angle = 2 * pi * (k / (k * k + 4 * s * s) - 1);
    const Vec3 axis = (Vec3::UnitZ() + exp_so3({psi, 0, 0}) * Vec3::UnitZ()).normalized();
    EXPECT_LT((R - exp_so3(angle * axis)).norm(), 5e-13) << psi;
    if (psi == 1.2) {  // the table's rows
      EXPECT_NEAR(R(0, 0), -0.8818495432501, 1e-12);
      EXPECT_NEAR(R(0, 1), -0.3891712395372, 1e-12);
      EXPECT_NEAR(R(1, 2), -0.8769786641093, 1e-12);
    }
  }
}

// A satellite runs two wheels in turn: exp(-a k1 e1) exp(-b k2 e2) exp(a k1 e1) exp(b k2 e2).
TEST(NetMotion, SatelliteByItsWheels) {
  ModelBuilder b;
  JointSpec root, w1, w2;
  root.kind = Floating{};
  w1.parent = w2.parent = "hub";
  w1.kind = Revolute{Vec3::UnitX()};
  w2.kind = Revolute{Vec3::UnitY()};
  b.gravity(Vec3::Zero());
  b.body("hub", {10, Vec3::Zero(), Vec3(0.8, 1.1, 0.9).asDiagonal()}, root);
  b.body("wheel1", {1, Vec3::Zero(), Vec3(0.05, 0.03, 0.03).asDiagonal()}, w1);
  b.body("wheel2", {1, Vec3::Zero(), Vec3(0.03, 0.05, 0.03).asDiagonal()}, w2);
  const ShapeCase c(b.build());
  const ShapePath path = c.path(
      {"wheel1", "wheel2"},
      {Sum{{Move{0, 9, 0, 1}, Move{0, -9, 2, 1}}}, Sum{{Move{0, 7, 1, 1}, Move{0, -7, 3, 1}}}}, 4);
  const double x = 9 * 0.05 / 0.88, y = 7 * 0.05 / 1.18;  // angle times wheel over total inertia
  const auto turn = [](double a, const Vec3& e) { return exp_so3(a * e); };
  const Mat3 exact = turn(-x, Vec3::UnitX()) * turn(-y, Vec3::UnitY()) * turn(x, Vec3::UnitX()) *
                     turn(y, Vec3::UnitY());
  EXPECT_LT((c.along(path).g.R - exact).norm(), 1e-12);
}

TEST(NetMotion, WheeledSnakeAtAnInstant) {  // section 3
  const ShapeCase c = snake(3);
  const NetTwist x = net_twist(c.model, c.space, c.medium, c.shape({"r1", "r2"}, {0.6, -0.4}),
                               c.shape({"r1", "r2"}, {0.3, -0.5}));
  EXPECT_NEAR(x.eta[0], -0.1400633592449, 1e-12);
  EXPECT_NEAR(x.eta[1], 0, 1e-15);
  EXPECT_NEAR(x.eta[2], -0.0776999887853, 1e-12);
}

ShapePath serpenoid(const ShapeCase& c, double end) {
  const double A = 0.5, b = 2 * pi / 5;
  return c.path({"r1", "r2"}, {Sine{A, 1, 0, 0}, Sine{A, 1, -b, 0}}, end);
}

TEST(NetMotion, WheeledSnakeGaits) {  // section 3
  const ShapeCase c = snake(3);
  const ShapePath G1 =
      c.path({"r1", "r2"}, {Sine{0.3, 1, pi / 2, 0.6}, Sine{0.3, 1, 0, -0.6}}, 2 * pi);
  expect_pose(c.along(G1), -0.21717303612214, -0.12801531131089, 0, 5e-13);
  const NetTwist x = net_twist(c.model, c.space, c.medium, shape_at(serpenoid(c, 1), 0.3),
                               shape_rate(serpenoid(c, 1), 0.3));
  EXPECT_NEAR(x.eta[0], 0.676432364426586, 1e-13);
  EXPECT_NEAR(x.eta[2], -0.34027446443950, 1e-13);
}

// r1 = r2 twice a period, where the rows lose rank: passed at finite speed.
TEST(NetMotion, RemovableSingularity) {  // section 3
  const ShapeCase c = snake(3);
  const ShapePath path = serpenoid(c, 2 * pi);
  const double t = 7 * pi / 10, b = 2 * pi / 5;
  const Vec limit = limit_twist(c.model, c.space, c.medium, shape_at(path, t), shape_rate(path, t),
                                shape_acceleration(path, t));
  EXPECT_NEAR(limit[0], 0.5 / std::tan(b / 2), 1e-12);
  EXPECT_NEAR(limit[2], -0.1291128854238, 1e-12);
  const NetMotion m = c.along(path);
  expect_pose(m, 3.8325578566662, -1.3680780745987, 0, 2e-12);
  ASSERT_EQ(m.removable.size(), 2u);
  EXPECT_NEAR(m.removable[0], t, 1e-9);
  EXPECT_NEAR(m.removable[1], t + pi, 1e-9);
}

// r1 meets r2 at t = pi/6 with r1' + r2' = r1' > 0: a true singularity, the axles would have to
// slip.
TEST(NetMotion, TrueSingularityEndsTheGait) {
  const ShapeCase c = snake(3);
  const NetMotion m = c.along(c.path({"r1", "r2"}, {Sine{0.4, 1, 0, 0.3}, Constant{0.5}}, 2 * pi));
  ASSERT_TRUE(m.obstruction);
  EXPECT_TRUE(m.obstruction->singular);
  EXPECT_NEAR(m.obstruction->t, pi / 6, 1e-7);
  EXPECT_EQ(m.obstruction->rows, (std::vector<std::string>{"axle1", "axle2", "axle3"}));
  EXPECT_LT(m.t, pi / 6);
}

TEST(NetMotion, IncompatibleRatesAreNamed) {
  const ShapeCase c = snake(5);
  const std::vector<std::string> names = {"r1", "r2", "r3", "r4"};
  const ShapePath path =
      c.path(names, {Sine{0.3, 1, 0, 0.5}, Sine{0.2, 1, 1, -0.3}, Constant{0.4}, Constant{0.2}}, 1);
  const NetMotion m = c.along(path);
  ASSERT_TRUE(m.obstruction);
  EXPECT_FALSE(m.obstruction->singular);
  EXPECT_EQ(m.obstruction->t, 0);
  EXPECT_GT(m.obstruction->residual, 0.01);
}

TEST(NetMotion, PurcellWithFiveLinks) {  // section 6
  ShapeCase c(test::chain(std::vector<test::ChainLink>(5), 2));
  c.viscous(1, 2);
  std::vector<Signal> wave;
  for (int j = 0; j < 4; ++j) wave.push_back(Sine{0.6, 1, -j * 2 * pi / 5, 0});
  const NetMotion m = c.along(c.path({"a1", "a2", "a3", "a4"}, wave, 2 * pi));
  expect_pose(m, -0.2939484379995, -0.0341027858900, 0, 1e-12);
  EXPECT_NEAR(m.g.r.norm(), 0.295920063882, 1e-12);
}

// There and back on the same way gives nothing, whatever the speeds (the scallop theorem).
TEST(NetMotion, ScallopTheorem) {
  const ShapeCase c = three().viscous(1, 2);
  const double a = 1.1;
  const ShapePath path = c.path(
      {"a1", "a2"},
      {Sum{{Move{0, a, 0, 1}, Move{0, -a, 1, 5}}}, Sum{{Move{0, -0.4, 0, 1}, Move{0, 0.4, 1, 5}}}},
      6);
  expect_pose(c.along(path), 0, 0, 0, 5e-13);
}

// Rates, not times: the same loop at another pace ends at the same place.
TEST(NetMotion, PaceDoesNotMatter) {
  const ShapeCase c = three().viscous(1, 2);
  const NetMotion slow = c.along(c.circle({"a1", "a2"}, 0.2, -0.1, 1));
  const ShapePath fast =
      c.path({"a1", "a2"}, {Sine{1, 40, pi / 2, 0.2}, Sine{1, 40, 0, -0.1}}, 2 * pi / 40);
  expect_pose(c.along(fast), slow.g.r.x(), slow.g.r.y(), slow.turn, 1e-12);
}

// Differential drive: wheels of radius R = .05 on a track of 2b = .3 (section 3, closed forms).
struct Unicycle {
  ShapeCase c;
  Unicycle() : c(model()) {
    const double R = 0.05;
    std::vector<ConstraintRow> rows;
    const BodyIndex base = c.model.body("base");
    // Forward speed of the base under each wheel = R times the wheel's rate; none across.
    rows.push_back({"axle", base, join(Vec3::UnitY(), Vec3::Zero())});
    for (const auto& [name, y] : {std::pair{"f1", -0.15}, {"f2", 0.15}})
      rows.push_back({name, base, join(Vec3::UnitX(), Vec3(0, y, 0).cross(Vec3::UnitX())),
                      c.space.variable(name), -R});
    c.medium = by_rows(rows);
  }
  static Model model() {
    ModelBuilder b;
    JointSpec root;
    root.kind = Planar{};
    b.body("base", {1, Vec3::Zero(), Mat3::Identity()}, root);
    for (const auto& [name, y] : {std::pair{"f1", -0.15}, {"f2", 0.15}}) {
      JointSpec j;
      j.parent = "base";
      j.kind = Revolute{Vec3::UnitY()};
      j.placement.r = {0, y, 0};
      b.body(name, {0.1, Vec3::Zero(), Vec3(1e-3, 2e-3, 1e-3).asDiagonal()}, j);
    }
    return b.build();
  }
};

TEST(NetMotion, Unicycle) {
  const Unicycle u;
  const ShapePath loop = u.c.path({"f1", "f2"},
                                  {Table{{0, 1, 2, 3, 4}, {0, 3, 3, 0, 0}, Interpolation::linear},
                                   Table{{0, 1, 2, 3, 4}, {0, 0, 3, 3, 0}, Interpolation::linear}},
                                  4);
  expect_pose(u.c.along(loop), 0, 4 * 0.15 * (1 - std::cos(0.5)), 0, 1e-11);
  const ShapePath arc = u.c.path({"f1", "f2"},
                                 {Table{{0, 5}, {0, 30}, Interpolation::linear},
                                  Table{{0, 5}, {0, 10}, Interpolation::linear}},
                                 5);
  expect_pose(u.c.along(arc), -0.05717038886265, 0.59450220141332, 10.0 / 3, 1e-11);
}

}  // namespace
}  // namespace saltus
