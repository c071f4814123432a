// Added mass of solids: closed forms of spheres and spheroids, thin and slender limits, and a
// triaxial ellipsoid by Gauss' quadrature of Lamb's integrals.
#include "saltus/forces/added_mass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {
namespace {

constexpr double pi = std::numbers::pi;

TEST(AddedMass, Sphere) {  // half of what it displaces, and none in turning
  const Mat6 m = ellipsoid_added_mass(1000, Vec3::Constant(0.1));
  const double half = 2 * pi / 3 * 1000 * 1e-3;
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(m(i, i) / half, 1, 1e-14);
  EXPECT_EQ(m.diagonal().tail<3>().norm(), 0);
}

TEST(AddedMass, ProlateSpheroid) {  // Lamb 114: integrals by logarithms
  const double a = 2, b = 1, e = std::sqrt(1 - b * b / (a * a));
  const double L = std::log((1 + e) / (1 - e));
  const double alpha = 2 * (1 - e * e) / (e * e * e) * (L / 2 - e);
  const double beta = 1 / (e * e) - (1 - e * e) / (2 * e * e * e) * L;
  const double V = 4 * pi / 3 * a * b * b, d = a * a - b * b, s = a * a + b * b;
  const Mat6 m = ellipsoid_added_mass(1, {a, b, b});
  EXPECT_NEAR(m(0, 0), V * alpha / (2 - alpha), 1e-13);
  EXPECT_NEAR(m(1, 1), V * beta / (2 - beta), 1e-13);
  EXPECT_NEAR(m(2, 2), m(1, 1), 1e-14);
  EXPECT_EQ(m(3, 3), 0);
  EXPECT_NEAR(m(5, 5), V / 5 * d * d * (beta - alpha) / (2 * d + s * (alpha - beta)), 1e-13);
}

// Whatever the order of its axes: 4000 points on u = p^2 (1/t^2 - 1), p^2 = (a b c)^(2/3).
TEST(AddedMass, TriaxialEllipsoid) {
  const double along[3] = {4.656001269757185, 9.161970906564887, 34.2189176585402};
  const double about[3] = {9.632557631388527, 35.5998305077469, 3.9141914749975757};
  const double axes[3] = {3, 2, 1};
  int order[3] = {0, 1, 2};
  do {
    const Mat6 m = ellipsoid_added_mass(1, {axes[order[0]], axes[order[1]], axes[order[2]]});
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(m(i, i), along[order[i]], 1e-10);
      EXPECT_NEAR(m(3 + i, 3 + i), about[order[i]], 1e-10);
    }
  } while (std::next_permutation(order, order + 3));
}

TEST(AddedMass, NearlyRoundIsSmooth) {  // no loss where two axes are nearly equal
  double last = 0;
  for (const double d : {1e-3, 1e-5, 1e-7}) {
    const double turn = ellipsoid_added_mass(1, {1, 0.5, 0.5 + d})(3, 3) / (d * d);
    if (last > 0) { EXPECT_NEAR(turn / last, 1, 5e-3); }
    last = turn;
  }
  EXPECT_EQ(ellipsoid_added_mass(1, {1, 0.5, 0.5 + 1e-12})(3, 3), 0);
}

TEST(AddedMass, Limits) {
  // A disc: 8/3 rho a^3 across it, 16/45 rho a^5 about a diameter.
  const Mat6 disc = ellipsoid_added_mass(1, {1e-6, 1, 1});
  EXPECT_NEAR(disc(0, 0), 8.0 / 3, 1e-5);
  EXPECT_NEAR(disc(4, 4), 16.0 / 45, 1e-5);
  // A long one tends to the strips of its sections: their integral over the length.
  const double a = 1e3, b = 0.5, c = 1;
  const Mat6 needle = ellipsoid_added_mass(1, {a, b, c}), strip = cylinder_added_mass(1, b, c, 1);
  EXPECT_NEAR(needle(1, 1) / (strip(1, 1) * 4 * a / 3), 1, 1e-4);
  EXPECT_NEAR(needle(3, 3) / (strip(3, 3) * 16 * a / 15), 1, 1e-4);
}

TEST(AddedMass, Cylinder) {  // VERIFY-P4 section 6: ellipses in the plane, per length
  const double a = 1, b = 0.1, l = 3;
  const Mat6 m = cylinder_added_mass(1, b, a, l);
  EXPECT_EQ(m(0, 0), 0);
  EXPECT_NEAR(m(1, 1), pi * a * a * l, 1e-14);
  EXPECT_NEAR(m(2, 2), pi * b * b * l, 1e-15);
  EXPECT_NEAR(m(3, 3), pi * std::pow(a * a - b * b, 2) / 8 * l, 1e-14);
  EXPECT_NEAR(m(5, 5), m(1, 1) * l * l / 12, 1e-13);
}

}  // namespace
}  // namespace saltus
