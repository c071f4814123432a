// Projections on the sets of the force laws: the properties of a projection, then closed forms.
#include "saltus/laws/laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::eps;
using test::excess;
using test::Random;
using test::seeds;
using test::Worst;
constexpr double pi = std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The laws whose set is fixed: their prox is the projection on a convex set.
std::vector<Law> fixed_sets(Random& random) {
  const double lower = random.uniform(-2, 1);
  return {Bilateral{1},
          Bilateral{4},
          Unilateral{},
          Interval{lower, lower + random.uniform(0, 2)},
          Interval{lower, lower},
          Interval{-infinity, lower},
          Interval{lower, infinity},
          Interval{-infinity, infinity},
          GivenLoad{random.uniform(0, 2), random.uniform(0, 2)},
          GivenLoad{random.log_uniform(1e-4, 1), random.log_uniform(1e-4, 1)},
          GivenLoad{0.7, 0.7},
          GivenLoad{0, random.uniform(0, 1)},
          GivenLoad{0, 0}};
}

Vec projected(const Law& law, const Vec& x) {
  Vec y = x;
  prox_law(law, y);
  return y;
}

TEST(Prox, IsIdempotent) {
  Worst worst("prox(prox x) - prox x, over |x|", 4 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    for (const Law& law : fixed_sets(random)) {
      const Vec x = random.vector(rows_of(law), 4), y = projected(law, x);
      worst.add((projected(law, y) - y).norm() / x.norm(), seed);
    }
    const Law coulomb = Coulomb{random.uniform(0, 2), random.uniform(0, 2)};
    const Vec x = random.vector(3, 4), y = projected(coulomb, x);
    worst.add((projected(coulomb, y) - y).norm() / x.norm(), seed);
  }
}

TEST(Prox, IsNonExpansive) {
  Worst worst("|prox x - prox y| - |x - y|, over |x| + |y|", 4 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    for (const Law& law : fixed_sets(random)) {
      const Vec x = random.vector(rows_of(law), 4);
      const Vec y = random.chance(0.5) ? random.vector(rows_of(law), 4)
                                       : Vec(x + 1e-3 * random.vector(rows_of(law)));
      const double growth = (projected(law, x) - projected(law, y)).norm() - (x - y).norm();
      worst.add(excess(growth) / (x.norm() + y.norm()), seed);
    }
  }
}

TEST(Prox, VariationalInequality) {
  // p = prox x if and only if (x - p)'(y - p) <= 0 for every y of the set; the set is that of all
  // prox z.
  Worst worst("(x - p)'(y - p), over sizes", 8 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    for (const Law& law : fixed_sets(random)) {
      const Vec x = random.vector(rows_of(law), 4), p = projected(law, x);
      for (int k = 0; k < 10; ++k) {
        const Vec y = projected(law, random.vector(rows_of(law), 4));
        worst.add(excess((x - p).dot(y - p)) / (1 + x.squaredNorm()), seed);
      }
    }
  }
}

TEST(Prox, ClosedForms) {
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Vec x = random.vector(1, 3), x4 = random.vector(4, 3);
    EXPECT_EQ(projected(Bilateral{4}, x4), x4);
    EXPECT_EQ(projected(Unilateral{}, x)[0], std::max(x[0], 0.0));
    const double lower = random.uniform(-2, 0), upper = random.uniform(0, 2);
    EXPECT_EQ(projected(Interval{lower, upper}, x)[0], std::clamp(x[0], lower, upper));
  }
  EXPECT_EQ(projected(Unilateral{}, Vec::Constant(1, -1e-300))[0], 0);
}

TEST(Prox, RowsAndDispatcher) {
  EXPECT_EQ(rows_of(Bilateral{5}), 5);
  EXPECT_EQ(rows_of(Unilateral{}), 1);
  EXPECT_EQ(rows_of(Interval{}), 1);
  EXPECT_EQ(rows_of(GivenLoad{}), 2);
  EXPECT_EQ(rows_of(Coulomb{}), 3);
  for (const auto seed : seeds(1, 20)) {  // the dispatcher calls the overload of the alternative
    Random random(seed);
    const Coulomb coulomb{0.3, 0.6};
    const GivenLoad load{0.3, 0.6};
    Vec x = random.vector(3, 2), y = x;
    prox(coulomb, x);
    prox_law(coulomb, y);
    EXPECT_EQ(x, y);
    Vec a = random.vector(2, 2), b = a;
    prox(load, a);
    prox_law(load, b);
    EXPECT_EQ(a, b);
  }
}

TEST(Prox, ActsOnASegmentOfAVector) {  // in place, and on nothing else
  Vec x = Vec::LinSpaced(7, -3, 3);
  const Vec before = x;
  prox_law(GivenLoad{0.1, 0.1}, x.segment(2, 2));
  EXPECT_EQ(x.head(2), before.head(2));
  EXPECT_EQ(x.tail(3), before.tail(3));
  EXPECT_NEAR(x.segment(2, 2).norm(), 0.1, 1e-16);
}

// --- The ellipse
// ----------------------------------------------------------------------------------

double level(const Vec2& p, double a, double b) { return std::hypot(p[0] / a, p[1] / b); }

TEST(Ellipse, InsideStaysAsItIs) {
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const double a = random.log_uniform(1e-8, 1e8), b = random.log_uniform(1e-8, 1e8);
    const double angle = random.uniform(0, 2 * pi), size = random.uniform(0, 0.999);
    const Vec2 p(a * size * std::cos(angle), b * size * std::sin(angle));
    EXPECT_EQ(project_on_ellipse(p, a, b), p) << "seed " << seed;
  }
}

// The root of Lagrange's function in long double: with foot = (a^2 x/(t + a^2), b^2 y/(t + b^2))
// the level decreases in t, and it is bisected until neighbouring numbers are left.
Vec2 foot_by_bisection(const Vec2& p, double a, double b) {
  using Real = long double;
  const Real x = p[0], y = p[1], a2 = Real(a) * a, b2 = Real(b) * b;
  const auto beyond = [&](Real t) {
    const Real u = a * x / (t + a2), v = b * y / (t + b2);
    return u * u + v * v - 1;
  };
  Real lower = 0, upper = std::max(a, b) * p.norm();
  for (int k = 0; k < 20000; ++k) {
    const Real middle = lower + (upper - lower) / 2;
    if (middle <= lower || middle >= upper) break;
    (beyond(middle) > 0 ? lower : upper) = middle;
  }
  return {static_cast<double>(a2 * x / (upper + a2)), static_cast<double>(b2 * y / (upper + b2))};
}

// How far each coordinate of the foot moves when p, a and b are rounded: what an algorithm in
// double cannot see. Near the end of a flat ellipse 1 - (x/a)^2 cancels, and this is large.
Vec2 foot_rounding(const Vec2& p, double a, double b) {
  const Vec2 foot = foot_by_bisection(p, a, b);
  const auto moved = [&](const Vec2& other) { return Vec2((other - foot).cwiseAbs()); };
  constexpr double up = 1 + 2 * eps;
  return moved(foot_by_bisection({p[0] * up, p[1]}, a, b)) +
         moved(foot_by_bisection({p[0], p[1] * up}, a, b)) +
         moved(foot_by_bisection(p, a * up, b)) + moved(foot_by_bisection(p, a, b * up));
}

struct EllipseCase {
  double a, b;
  Vec2 p;
};
EllipseCase random_outside(Random& random, double aspect) {
  const double size = random.log_uniform(1e-6, 1e6), root = std::sqrt(aspect);
  EllipseCase problem{size * root, size / root, Vec2::Zero()};
  do {
    // Near the boundary, far away, and everywhere relative to either axis.
    const double angle = random.uniform(0, 2 * pi);
    const Vec2 boundary(problem.a * std::cos(angle), problem.b * std::sin(angle));
    const double far = random.log_uniform(1e-3, 1e3) * (random.chance(0.5) ? problem.a : problem.b);
    problem.p = boundary + far * random.vector(2);
    if (random.chance(0.1)) problem.p[0] = 0;
    if (random.chance(0.1)) problem.p[1] = 0;
  } while (level(problem.p, problem.a, problem.b) < 1 + 1e-9);
  return problem;
}

TEST(Ellipse, FootOfTheNormal) {
  // Kuhn-Tucker: the foot is on the boundary and p - foot is along the gradient (x/a^2, y/b^2),
  // outwards. Rounding of p - foot itself is eps |p|/|p - foot|, which is added to the 1e-12.
  Worst boundary("level of the foot - 1", 8 * eps);
  Worst parallel("sine of the angle to the gradient", 1e-12);
  Worst coordinates("foot beyond rounding of the input, relative", 1e-14);
  for (const double aspect :
       {1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0, 2.0, 10.0, 1e2, 1e4, 1e6, 1e8}) {
    for (const auto seed : seeds(1, 300)) {
      Random random(seed);
      const auto [a, b, p] = random_outside(random, aspect);
      const Vec2 foot = project_on_ellipse(p, a, b);
      const std::string where =
          "aspect " + std::to_string(aspect) + " seed " + std::to_string(seed);
      boundary.add(std::abs(level(foot, a, b) - 1), where);
      const Vec2 gradient = Vec2(foot[0] / a / a, foot[1] / b / b).normalized();
      const Vec2 away = p - foot;
      const double sine = std::abs(away[0] * gradient[1] - away[1] * gradient[0]) / away.norm();
      EXPECT_GT(away.dot(gradient), 0) << where;
      parallel.add(excess(sine - 4 * eps * p.norm() / away.norm()), where);
      const Vec2 exact = foot_by_bisection(p, a, b), rounding = foot_rounding(p, a, b);
      for (int i = 0; i < 2; ++i) {
        const double size = std::abs(exact[i]);
        const double error = excess(std::abs(foot[i] - exact[i]) - 4 * rounding[i]);
        coordinates.add(size == 0 ? error : error / size, where);
      }
    }
  }
}

TEST(Ellipse, NoSampledPointIsNearer) {
  Worst worst("distance to the foot - least sampled distance", 8 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const double a = random.uniform(0.05, 2), b = random.uniform(0.05, 2);
    const Vec2 p = random.vector(2, 4);
    const Vec2 foot = project_on_ellipse(p, a, b);
    double least = level(p, a, b) <= 1 ? 0 : infinity;
    for (int k = 0; k < 20000; ++k) {
      const double angle = 2 * pi * k / 20000;
      least = std::min(least, (p - Vec2(a * std::cos(angle), b * std::sin(angle))).norm());
    }
    worst.add(excess((p - foot).norm() - least) / (1 + p.norm()), seed);
    EXPECT_NEAR((p - foot).norm(), least, 1e-6) << "seed " << seed;  // 20000 samples: (3e-4)^2
  }
}

TEST(Ellipse, OnTheAxes) {
  for (const double a : {1e-8, 1e-3, 1.0, 1e3, 1e8}) {
    for (const double b : {1e-8, 1e-3, 1.0, 1e3, 1e8}) {
      for (const double sign : {-1.0, 1.0}) {
        for (const double far : {1.0, 1 + 1e-12, 1.5, 1e6}) {
          const Vec2 on_x = project_on_ellipse({sign * far * a, 0}, a, b);
          const Vec2 on_y = project_on_ellipse({0, sign * far * b}, a, b);
          EXPECT_NEAR(on_x[0], sign * a, 2 * eps * a);
          EXPECT_EQ(on_x[1], 0);
          EXPECT_NEAR(on_y[1], sign * b, 2 * eps * b);
          EXPECT_EQ(on_y[0], 0);
        }
      }
    }
  }
}

TEST(Ellipse, SymmetricInItsAxes) {
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const auto [a, b, p] = random_outside(random, random.log_uniform(1e-4, 1e4));
    const Vec2 foot = project_on_ellipse(p, a, b);
    EXPECT_EQ(project_on_ellipse({-p[0], p[1]}, a, b), Vec2(-foot[0], foot[1])) << seed;
    EXPECT_EQ(project_on_ellipse({p[0], -p[1]}, a, b), Vec2(foot[0], -foot[1])) << seed;
    const Vec2 turned = project_on_ellipse({p[1], p[0]}, b, a);
    EXPECT_NEAR(turned[0], foot[1], 1e-13 * std::abs(foot[1])) << seed;
    EXPECT_NEAR(turned[1], foot[0], 1e-13 * std::abs(foot[0])) << seed;
  }
}

TEST(Ellipse, Homogeneous) {
  Worst worst("scaled problem, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const auto [a, b, p] = random_outside(random, random.log_uniform(1e-3, 1e3));
    const double scale = random.log_uniform(1e-6, 1e6);
    const Vec2 foot = project_on_ellipse(p, a, b);
    const Vec2 scaled = project_on_ellipse(scale * p, scale * a, scale * b);
    worst.add((scaled / scale - foot).norm() / foot.norm(), seed);
  }
}

TEST(Ellipse, DegenerateAxes) {
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Vec2 p = random.vector(2, 3);
    const double a = random.uniform(0.1, 2);
    EXPECT_EQ(project_on_ellipse(p, 0, 0), Vec2::Zero());
    const Vec2 along_x = project_on_ellipse(p, a, 0), along_y = project_on_ellipse(p, 0, a);
    EXPECT_NEAR(along_x[0], std::clamp(p[0], -a, a), 2 * eps);
    EXPECT_EQ(along_x[1], 0);
    EXPECT_NEAR(along_y[1], std::clamp(p[1], -a, a), 2 * eps);
    EXPECT_EQ(along_y[0], 0);
    // The limit b -> 0 is continuous: foot within b of the degenerate one.
    for (const double b : {1e-300, 1e-200, 1e-100, 1e-30, 1e-12}) {
      const Vec2 near = project_on_ellipse(p, a, b);
      EXPECT_TRUE(near.allFinite()) << "b = " << b << " seed " << seed;
      EXPECT_LE(std::abs(near[1]), b * (1 + 4 * eps));
      EXPECT_NEAR(near[0], std::clamp(p[0], -a, a), 1e-6) << "b = " << b << " seed " << seed;
    }
  }
  EXPECT_EQ(project_on_ellipse(Vec2::Zero(), 0, 0), Vec2::Zero());
  EXPECT_EQ(project_on_ellipse(Vec2::Zero(), 1, 2), Vec2::Zero());
}

TEST(Ellipse, ADiscIsIsotropic) {
  Worst radial("foot - r p/|p|, over r", 4 * eps), turned("project, then turn, over r", 8 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const double r = random.log_uniform(1e-8, 1e8);
    const Vec2 p = r * random.log_uniform(1 + 1e-9, 1e4) *
                   Eigen::Rotation2Dd(random.uniform(0, 2 * pi)).toRotationMatrix().col(0);
    const Mat2 R = Eigen::Rotation2Dd(random.uniform(0, 2 * pi)).toRotationMatrix();
    const Vec2 foot = project_on_ellipse(p, r, r);
    radial.add((foot - r * p.normalized()).norm() / r, seed);
    turned.add((project_on_ellipse(R * p, r, r) - R * foot).norm() / r, seed);
  }
}

TEST(Ellipse, ExtremeNumbersStayFinite) {
  for (const double size : {1e-300, 1e-150, 1e150, 1e300}) {
    for (const double far : {1e-5, 1.0, 1e5}) {
      const Vec2 p(0.6 * size * far, 0.8 * size);
      const Vec2 foot = project_on_ellipse(p, 0.5 * size, 0.25 * size);
      ASSERT_TRUE(foot.allFinite()) << size << " " << far;
      EXPECT_NEAR(level(foot, 0.5 * size, 0.25 * size), 1, 1e-12) << size << " " << far;
    }
  }
}

// --- Coulomb
// --------------------------------------------------------------------------------------

TEST(CoulombProx, NormalFirstThenItsEllipse) {
  Worst worst("against the two steps of P2 eq. 13", 4 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const Coulomb law{random.uniform(0, 1.5), random.chance(0.3) ? 0.5 : random.uniform(0, 1.5)};
    const Vec x = random.vector(3, 3), y = projected(law, x);
    EXPECT_EQ(y[0], std::max(x[0], 0.0));
    const Vec2 tangential = project_on_ellipse(x.tail<2>(), law.mu1 * y[0], law.mu2 * y[0]);
    worst.add((y.tail<2>() - tangential).norm(), seed);
    if (x[0] <= 0) { EXPECT_EQ(y, Vec::Zero(3)) << "seed " << seed; }
  }
}

TEST(CoulombProx, StaysInTheCone) {
  Worst worst("level of the friction - 1", 8 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const Coulomb law{random.log_uniform(1e-4, 1), random.log_uniform(1e-4, 1)};
    const Vec y = projected(law, random.vector(3, 3));
    EXPECT_GE(y[0], 0);
    if (y[0] > 0) {
      worst.add(excess(level(y.tail<2>(), law.mu1 * y[0], law.mu2 * y[0]) - 1), seed);
    }
  }
}

TEST(CoulombProx, WithoutFrictionNoTangentialImpulse) {
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    const Vec y = projected(Coulomb{0, 0}, random.vector(3, 3));
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
  }
}

TEST(CoulombProx, IsotropicUnderRotation) {
  Worst worst("turned in the tangent plane", 8 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const double mu = random.uniform(0, 1);
    const Coulomb law{mu, mu};
    const Vec x = random.vector(3, 2);
    Vec turned = x;
    const Mat2 R = Eigen::Rotation2Dd(random.uniform(0, 2 * pi)).toRotationMatrix();
    turned.tail<2>() = R * x.tail<2>();
    const Vec y = projected(law, x), z = projected(law, turned);
    worst.add((z.tail<2>() - R * y.tail<2>()).norm(), seed);
  }
}

TEST(CoulombProx, FrictionOpposesSlipByTheNormalCone) {
  // Fixed point Lambda = prox(Lambda - r xi) in slip: -xi_T is along the gradient of the ellipse
  // at Lambda_T (P0 Fig. 5b), for any r.
  Worst worst("fixed point of slip", 1e-13);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const Coulomb law{random.uniform(0.05, 1), random.uniform(0.05, 1)};
    const double normal = random.uniform(0.1, 2), angle = random.uniform(0, 2 * pi);
    const Vec2 axes(law.mu1 * normal, law.mu2 * normal);
    Vec Lambda(3), xi(3);
    Lambda << normal, axes[0] * std::cos(angle), axes[1] * std::sin(angle);
    const Vec2 gradient = (Lambda.tail<2>().array() / axes.array().square()).matrix().normalized();
    xi << 0, -random.uniform(0.01, 5) * gradient;
    const double r = random.log_uniform(1e-2, 1e2);
    worst.add((projected(law, Lambda - r * xi) - Lambda).norm() / (1 + r * xi.norm()), seed);
  }
}

}  // namespace
}  // namespace saltus
