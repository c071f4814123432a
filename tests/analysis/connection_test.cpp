// Connections and their curvature: closed forms, finite differences, and the reference values of
// VERIFY-P4.md (its section in each comment; the models are written out in support/creatures.cpp).
#include "saltus/analysis/connection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/lie/so3.h"
#include "saltus/model/builder.h"
#include "tests/support/random.h"
#include "tests/support/shape_case.h"
#include "tests/support/shape_columns.h"

namespace saltus {
namespace {

using test::ShapeCase;
constexpr double pi = std::numbers::pi;

// B1, B2 of the turning of the free chain, l = m = 1, I = 1/12 (section 2, closed form).
struct ChainForm {
  double B1, B2;
};
ChainForm chain_form(double a1, double a2) {
  const double D = 13 + 6 * std::cos(a1) + 6 * std::cos(a2) + 2 * std::cos(a1 + a2);
  return {(3 + 3 * std::cos(a1) + std::cos(a1 + a2)) / D,
          -(3 + 3 * std::cos(a2) + std::cos(a1 + a2)) / D};
}

ShapeCase three(test::ChainLink link = {}) {
  return ShapeCase(test::chain(std::vector<test::ChainLink>(3, link), 1));
}
ShapeCase ellipses() {  // section 6
  constexpr double a = 1, b = 0.1, m = pi * a * b;
  test::ChainLink link{m, m * (a * a + b * b) / 4, 1.2};
  link.added.diagonal() << pi * b * b, pi * a * a, 0, 0, 0, pi * std::pow(a * a - b * b, 2) / 8;
  return three(link);
}
Vec curvature_of(const ShapeCase& c, double x, double y) {
  return curvature(c.model, c.space, c.medium, c.shape({"a1", "a2"}, {x, y}),
                   c.space.variable("a1"), c.space.variable("a2"));
}

TEST(Connection, FreeChainHasItsClosedForm) {
  const ShapeCase c = three();
  const int a1 = c.space.variable("a1"), a2 = c.space.variable("a2");
  for (const auto& [x, y] : {std::pair{0.3, -0.8}, {0.0, 0.0}, {1.2, 2.1}, {-2.0, 0.7}}) {
    const LocalForm f = local_form(c.model, c.space, c.medium, c.shape({"a1", "a2"}, {x, y}));
    EXPECT_NEAR(-f.A(2, a1), chain_form(x, y).B1, 1e-15);
    EXPECT_NEAR(-f.A(2, a2), chain_form(x, y).B2, 1e-15);
  }
}

TEST(Connection, CurvatureOfTheFreeChain) {
  const ShapeCase c = three();
  const auto F = [&](double x, double y) { return curvature_of(c, x, y)[2]; };
  EXPECT_NEAR(F(0, 0), 0, 1e-14);
  EXPECT_NEAR(F(1, -1), 0, 1e-14);
  EXPECT_NEAR(F(pi / 2, -pi / 4), -0.0182233347546704, 1e-15);  // section 2
  for (const auto& [x, y] : {std::pair{0.3, -0.8}, {1.2, 2.1}, {-2.0, 0.7}}) {
    EXPECT_NEAR(F(-x, -y), -F(x, y), 1e-14);
    EXPECT_NEAR(F(y, x), F(x, y), 1e-14);
    // dB by central differences of the closed form (error e^2); turns in a plane commute.
    const double e = 1e-5;
    const double fd = (chain_form(x + e, y).B2 - chain_form(x - e, y).B2 - chain_form(x, y + e).B1 +
                       chain_form(x, y - e).B1) /
                      (2 * e);
    EXPECT_NEAR(F(x, y), fd, 1e-9);
  }
}

TEST(Connection, CurvatureOfSwimmers) {  // section 6
  const auto expect = [](const Vec& F, double x, double y, double w) {
    EXPECT_NEAR(F[0], x, 1e-12);
    EXPECT_NEAR(F[1], y, 1e-12);
    EXPECT_NEAR(F[2], w, 1e-12);
  };
  const ShapeCase purcell = three().viscous(1, 2);
  expect(curvature_of(purcell, 0, 0), -5.0 / 81, 0, 0);
  expect(curvature_of(purcell, 0.5, 0.5), -0.0758043952454, 0, -0.0475958413753);
  const ShapeCase fluid = ellipses();
  expect(curvature_of(fluid, 0, 0), -1.240559156633, 0, 0);
  expect(curvature_of(fluid, 0.5, 0.5), -1.401014793602, 0, -0.2901531483535);
}

TEST(Connection, WheeledSnake) {  // section 3
  const ShapeCase c = ShapeCase(test::wheeled_snake(3)).axles();
  const Vec r = c.shape({"r1", "r2"}, {0.3, -0.8});
  const LocalForm f = local_form(c.model, c.space, c.medium, r);
  EXPECT_NEAR(f.A(0, 0), -0.369976551427, 1e-12);
  EXPECT_NEAR(f.A(0, 1), -0.5134586606261, 1e-12);
  EXPECT_NEAR(f.A(1, 0), 0, 1e-15);
  EXPECT_NEAR(f.A(1, 1), 0, 1e-15);
  EXPECT_NEAR(f.A(2, 0), 0.6232539006215, 1e-12);
  EXPECT_NEAR(f.A(2, 1), 0.1552033732753, 1e-12);
  // det of the rows = 4h cos(r1/2) cos(r2/2) sin((r2 - r1)/2), h = 1/2, at random shapes.
  test::Random random(41);
  for (int i = 0; i < 20; ++i) {
    const Vec s = random.vector(2) * 1.5;
    const Constraints k = constraints(c.space, shape_columns(c.model, c.space, s), c.medium.rows);
    EXPECT_NEAR(Mat3(k.A).determinant(),
                2 * std::cos(s[0] / 2) * std::cos(s[1] / 2) * std::sin((s[1] - s[0]) / 2), 1e-14);
  }
  // A singular shape is said, not divided by.
  EXPECT_FALSE(local_form(c.model, c.space, c.medium, c.shape({"r1", "r2"}, {0.4, 0.4})).regular);
}

// A tree with every kind of joint that may be a shape, its reference anywhere.
Model menagerie() {
  ModelBuilder b;
  const auto body = [&](const char* name, const char* parent, const Joint& kind, double s) {
    JointSpec j;
    j.parent = parent;
    j.kind = kind;
    j.placement = {exp_so3({0.2 * s, -0.4, 0.3}), {0.3, 0.1 * s, -0.2}};
    j.in_body = {exp_so3({0.1, 0.5 * s, -0.2}), {-0.2, 0.15, 0.1 * s}};
    b.body(name, {1 + 0.3 * s, {0.05, 0.1 * s, -0.1}, Vec3(0.03, 0.04, 0.05).asDiagonal()}, j);
  };
  body("trunk", "world", Floating{}, 0);
  body("ball", "trunk", Spherical{}, 1);
  body("slider", "ball", Prismatic{Vec3(1, 2, -1).normalized()}, 2);
  body("plate", "trunk", Planar{}, -1);
  body("arm", "plate", Revolute{Vec3(0, 1, 1).normalized()}, 1.5);
  body("stuck", "arm", Fixed{}, 0.5);
  BendSpec bend;
  bend.name = "tail";
  bend.parent = "slider";
  bend.stations = 3;
  b.bend(bend);
  return b.build();
}

// The exact derivatives against central differences of the columns, along q (+) e u.
TEST(Connection, DerivativesOfColumns) {
  const Model model = menagerie();
  test::Random random(7);
  for (const char* reference : {"trunk", "slider", "stuck", "tail.2"}) {
    const ShapeSpace space = shape_space(model, reference);
    ASSERT_EQ(space.p(), 3 + 1 + 3 + 1 + 1);
    const Vec r = 0.7 * random.vector(space.p()), rdot = random.vector(space.p());
    expect_derivatives_of_columns(model, space, r, rdot, 2e-9, reference);
    const double e = 1e-5;
    const double bias =
        ((rate_map(space, r + e * rdot) - rate_map(space, r - e * rdot)) / (2 * e) * rdot -
         rate_bias(space, r, rdot))
            .norm();
    EXPECT_LT(bias, 1e-9);
  }
}

// F of any model and reference against differences of the form, with the commutators of rotation
// vectors.
TEST(Connection, CurvatureAgainstDifferences) {
  const Model model = menagerie();
  test::Random random(8);
  for (const char* reference : {"trunk", "arm"}) {
    const ShapeSpace space = shape_space(model, reference);
    const Medium medium = by_inertia(model);
    const Vec r = 0.7 * random.vector(space.p());
    const double e = 1e-5;
    const auto slope = [&](int i, int j) -> Vec {  // d_i B_j
      const Vec step = e * Vec::Unit(space.p(), i);
      return -(local_form(model, space, medium, r + step).A.col(j) -
               local_form(model, space, medium, r - step).A.col(j)) /
             (2 * e);
    };
    const Mat B = -local_form(model, space, medium, r).A;
    for (const auto& [i, j] : {std::pair{0, 1}, {0, 3}, {2, 7}, {4, 6}, {5, 8}}) {
      const Vec F = slope(i, j) - slope(j, i) + net_bracket(space, B.col(i), B.col(j));
      EXPECT_LT((curvature(model, space, medium, r, i, j) - F).norm(), 2e-9) << i << " " << j;
    }
  }
}

// F at another reference is the same 2-form seen from there: F' = Ad(h^-1) F, h its pose.
TEST(Connection, CurvatureIsATensorOfTheReference) {
  const Model model = menagerie();
  const ShapeSpace here = shape_space(model), there = shape_space(model, "arm");
  const Medium medium = by_inertia(model);
  test::Random random(9);
  const Vec r = 0.7 * random.vector(here.p());
  const SE3 h = shape_columns(model, here, r).X[model.body("arm")];
  const Vec6 seen = twist_to_body(h, Vec6(curvature(model, here, medium, r, 1, 5)));
  EXPECT_LT((seen - curvature(model, there, medium, r, 1, 5)).norm(), 1e-13);
}

TEST(Connection, RefusesWhatHasNone) {
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const InputError& e) { return e.what(); }
    return "";
  };
  ModelBuilder two;
  JointSpec joint;
  joint.kind = Floating{};
  two.body("one", {1, Vec3::Zero(), Mat3::Identity()}, joint)
      .body("other", {1, Vec3::Zero(), Mat3::Identity()}, joint);
  EXPECT_EQ(message([&] { (void)shape_space(two.build()); }),
            "expected one tree on one moving root; 'one' and 'other' both hang on the world");
  const ShapeCase c = three();
  EXPECT_EQ(message([&] { (void)c.space.variable("a7"); }),
            "no shape variable is called 'a7'; there are: a2, a1");
  Mat6 R = Mat6::Identity();
  R(0, 1) = 0.5;
  EXPECT_EQ(message([&] { (void)by_drag(c.model, std::vector<Mat6>(3, R)); }),
            "the resistance of 'link2' is not symmetric and positive");
}

}  // namespace
}  // namespace saltus
