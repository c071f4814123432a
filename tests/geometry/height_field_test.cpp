// Height fields: features of a grid, contact of all shapes with it, friction maps, meshes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/geometry/contact_points.h"
#include "saltus/geometry/friction_map.h"
#include "saltus/geometry/hull.h"
#include "saltus/geometry/mesh.h"
#include "saltus/geometry/terrain.h"
#include "saltus/lie/so3.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tests/support/touch.h"

namespace saltus {
namespace {

using test::infinity;
using test::least_gap;
using test::Random;
using test::seeds;
using test::touch;
using test::Worst;

SE3 at(double x, double y, double z) { return {Mat3::Identity(), Vec3(x, y, z)}; }

template <class Height>
HeightField field(int nx, int ny, double step, const Height& height) {
  std::vector<double> z;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i)
      z.push_back(height((i - 0.5 * (nx - 1)) * step, (j - 0.5 * (ny - 1)) * step));
  return height_field(nx, ny, step, step, std::move(z));
}
HeightField rough(Random& random, double amplitude, int n = 13, double step = 0.1) {
  return field(n, n, step, [&](double, double) { return random.uniform(-amplitude, amplitude); });
}
HeightField flat(double z, int n = 41, double step = 0.05) {
  return field(n, n, step, [&](double, double) { return z; });
}

ConvexHull random_hull(Random& random) {
  std::vector<Vec3> p;
  for (int i = 0; i < 12; ++i) p.push_back(random.uniform(0.1, 0.2) * random.direction());
  return convex_hull(p);
}
std::vector<Shape> bodies(Random& random) {
  const auto size = [&] { return random.uniform(0.05, 0.2); };
  return {Sphere{size()},           Sphere{0},
          Capsule{size(), size()},  Box{Vec3(size(), size(), size())},
          Cylinder{size(), size()}, Ellipsoid{Vec3(size(), size(), size())},
          random_hull(random)};
}
double lowest(const Shape& shape, const SE3& X) { return bounds(shape, X).low.z(); }

// --- the features of a grid

TEST(Terrain, APlaneIsOneFacet) {
  for (const double slope : {0.0, 0.3, -1.7}) {
    const HeightField f = field(30, 20, 0.07, [&](double x, double y) { return slope * x - y; });
    EXPECT_EQ(f.terrain->facets.size(), 1U);
    EXPECT_EQ(f.terrain->ridges.size(), 4U);  // the rims
    EXPECT_EQ(std::count(f.terrain->corner.begin(), f.terrain->corner.end(), 1), 4);
  }
}

TEST(Terrain, ARoofHasOneRidgeAndAValleyOne) {
  for (const double sign : {1.0, -1.0}) {
    const HeightField f =
        field(21, 11, 0.1, [&](double x, double) { return -0.5 * sign * std::abs(x); });
    ASSERT_EQ(f.terrain->facets.size(), 2U);
    int creases = 0;
    for (const Terrain::Ridge& r : f.terrain->ridges)
      if (r.left >= 0 && r.right >= 0) {
        ++creases;
        EXPECT_EQ(r.convex, sign > 0);
      }
    EXPECT_EQ(creases, 1);
  }
}

TEST(Terrain, HeightsAreThoseOfTheTriangles) {
  Random random(3);
  const HeightField f = rough(random, 0.2);
  const Terrain& t = *f.terrain;
  for (int j = 0; j < t.ny; ++j)
    for (int i = 0; i < t.nx; ++i) {
      double z = 0;
      ASSERT_TRUE(t.height_at(t.at(i, j).x(), t.at(i, j).y(), z));
      EXPECT_NEAR(z, t.at(i, j).z(), 1e-14);
    }
  double z = 0;
  ASSERT_TRUE(t.height_at(t.at(3, 4).x() + 0.05, t.at(3, 4).y() + 0.05, z));
  EXPECT_NEAR(z, 0.5 * (t.at(3, 4).z() + t.at(4, 5).z()), 1e-14) << "the stated diagonal";
  EXPECT_FALSE(t.height_at(t.origin.x() - 1e-9, 0, z));
}

TEST(Terrain, BadInput) {
  const auto make = [](int nx, int ny, double step, std::size_t count) {
    (void)height_field(nx, ny, step, step, std::vector<double>(count, 0.0));
  };
  EXPECT_THROW(make(1, 5, 0.1, 5), InputError);
  EXPECT_THROW(make(3, 3, 0.1, 8), InputError);
  EXPECT_THROW(make(3, 3, 0.0, 9), InputError);
  EXPECT_THROW(make(3, 3, -1.0, 9), InputError);
  try {
    (void)height_field(2, 2, 1, 1, {0, 1, NAN, 3});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("row 2, column 1"), std::string::npos) << e.what();
  }
}

// --- a flat field is the plane

TEST(HeightContact, AFlatFieldIsThePlaneForAllShapes) {
  Worst worst("difference from the plane", 1e-12);
  for (const auto seed : seeds(1, 60)) {
    Random random(seed);
    const double z = random.uniform(-0.5, 0.5);
    const HeightField ground = flat(z);
    const SE3 X_a = random.pose();
    const SE3 plane = X_a * at(0, 0, z);
    for (const Shape& body : bodies(random)) {
      SE3 X{random.chance(0.3) ? Mat3::Identity() : random.rotation(),
            Vec3(random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), 0)};
      if (random.chance(0.3)) X.r.head<2>().setZero();  // over a vertex
      X.r.z() = z - lowest(body, X) + random.uniform(-1e-3, 1e-3);
      const double margin = 2e-3;
      const Manifold a = touch(ground, X_a, body, X_a * X, margin);
      const Manifold b = touch(HalfSpace{}, plane, body, X_a * X, margin);
      const std::string where = std::string(name_of(body)) + ", seed " + std::to_string(seed);
      ASSERT_EQ(a.count, b.count) << where;
      for (int i = 0; i < a.count; ++i) {
        double nearest = infinity;
        for (int k = 0; k < b.count; ++k)
          nearest = std::min(nearest, std::abs(a.points[i].gap - b.points[k].gap) +
                                          (a.points[i].on_a - b.points[k].on_a).norm() +
                                          (a.points[i].on_b - b.points[k].on_b).norm() +
                                          (a.points[i].normal - b.points[k].normal).norm());
        worst.add(nearest, where);
      }
    }
  }
}

TEST(HeightContact, AFeatureLastsAcrossCells) {
  const HeightField ground = flat(0);
  int feature = -1;
  for (double x = -0.9; x < 0.9; x += 0.0037) {
    const Manifold m = touch(ground, SE3(), Sphere{0.1}, at(x, 0.3 * x, 0.1), 1e-3);
    ASSERT_EQ(m.count, 1) << x;
    if (feature < 0) feature = m.points[0].feature;
    EXPECT_EQ(m.points[0].feature, feature);
  }
}

// --- distances of balls, by brute force

double triangle_distance(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 n = (b - a).cross(c - a).normalized();
  const Vec3 q = p - n.dot(p - a) * n;
  const auto inside = [&](const Vec3& u, const Vec3& v) {
    return n.dot((v - u).cross(q - u)) >= 0;
  };
  if (inside(a, b) && inside(b, c) && inside(c, a)) return std::abs(n.dot(p - a));
  double least = infinity;
  for (const auto& [u, v] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
    const double s = std::clamp((p - u).dot(v - u) / (v - u).squaredNorm(), 0.0, 1.0);
    least = std::min(least, (p - u - s * (v - u)).norm());
  }
  return least;
}
double brute_distance(const Terrain& t, const Vec3& p) {
  double least = infinity;
  for (int j = 0; j + 1 < t.ny; ++j)
    for (int i = 0; i + 1 < t.nx; ++i) {
      least = std::min(least, triangle_distance(p, t.at(i, j), t.at(i + 1, j), t.at(i + 1, j + 1)));
      least = std::min(least, triangle_distance(p, t.at(i, j), t.at(i + 1, j + 1), t.at(i, j + 1)));
    }
  return least;
}

TEST(HeightContact, BallsAgainstAllTriangles) {
  Worst above("distance above", 1e-13), normals("normal", 1e-10);
  int many = 0, balls = 0;
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const HeightField ground = rough(random, random.chance(0.5) ? 0.03 : 0.2);
    for (int k = 0; k < 20; ++k) {
      const double r = random.uniform(0.02, 0.3);
      Vec3 p(random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), 0);
      double z = 0;
      if (!ground.terrain->height_at(p.x(), p.y(), z)) continue;
      p.z() = z + random.uniform(0.001, 0.4);
      const double exact = brute_distance(*ground.terrain, p) - r;
      const Manifold m = touch(ground, SE3(), Sphere{r}, {Mat3::Identity(), p}, 0.05);
      const std::string where = "seed " + std::to_string(seed);
      if (exact > 0.05) {
        EXPECT_EQ(m.count, 0) << where;
        continue;
      }
      ++balls;
      many += m.count > 1;
      above.add(std::abs(least_gap(m) - exact), where);
      for (int i = 0; i < m.count; ++i) {
        const ContactPoint& c = m.points[i];
        // The normal is towards the centre, and the point of the ground lies on it.
        normals.add((c.on_a + (c.gap + r) * c.normal - p).norm(), where);
        double surface = 0;
        if (ground.terrain->height_at(c.on_a.x(), c.on_a.y(), surface))
          normals.add(std::abs(surface - c.on_a.z()), where);
      }
    }
  }
  EXPECT_GT(balls, 2000);
  EXPECT_GT(many, 300) << "valleys";
}

TEST(HeightContact, PointsInTheGround) {
  // As deep as the nearest triangle where that is a facet; never deeper than straight up.
  Worst deeper("deeper than straight up", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const HeightField ground = rough(random, 0.1);
    const Vec3 p(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0);
    double z = 0;
    ASSERT_TRUE(ground.terrain->height_at(p.x(), p.y(), z));
    const double depth = std::pow(10.0, random.uniform(-14, -2));
    const Manifold m = touch(ground, SE3(), Sphere{0}, at(p.x(), p.y(), z - depth), 1e-3);
    ASSERT_GE(m.count, 1) << seed << " at depth " << depth;
    EXPECT_LE(least_gap(m), 1e-15);
    deeper.add(test::excess(-least_gap(m) - depth), std::to_string(seed));
  }
}

// --- ridge, valley, spike

TEST(HeightContact, ABallOnARidge) {
  const double r = 0.1, slope = 0.5;
  const HeightField roof =
      field(21, 21, 0.05, [&](double x, double) { return -slope * std::abs(x); });
  for (const double x : {0.0, 0.01, -0.02}) {  // within the ridge's normal cone
    const Vec3 p(x, 0.013, std::sqrt(r * r - x * x));
    const Manifold m = touch(roof, SE3(), Sphere{r}, {Mat3::Identity(), p}, 1e-3);
    ASSERT_EQ(m.count, 1) << x;
    EXPECT_NEAR(m.points[0].gap, 0, 1e-15);
    EXPECT_LT((m.points[0].normal - Vec3(x, 0, p.z()) / r).norm(), 1e-13);
  }
}

TEST(HeightContact, ABallInAValleyTouchesBothSides) {
  const double r = 0.1, slope = 0.75, c = 1 / std::hypot(1, slope);
  const HeightField valley =
      field(21, 21, 0.05, [&](double x, double) { return slope * std::abs(x); });
  const Manifold m = touch(valley, SE3(), Sphere{r}, at(0, 0.02, r / c), 1e-3);
  ASSERT_EQ(m.count, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(m.points[i].gap, 0, 1e-15);
    EXPECT_NEAR(m.points[i].normal.z(), c, 1e-14);
  }
  EXPECT_NEAR(m.points[0].normal.x() + m.points[1].normal.x(), 0, 1e-14);
  // A point at the bottom, whatever the rounding, is held by both sides too.
  for (const double dz : {1e-10, 1e-16, 0.0, -1e-16, -1e-10, -1e-6})
    for (const double dx : {0.0, 1e-16, -1e-12, 1e-10})
      EXPECT_EQ(touch(valley, SE3(), Sphere{0}, at(dx, 0.02, dz), 1e-3).count, 2)
          << dx << " " << dz;
}

TEST(HeightContact, ABoxOnASpikeDoesNotSink) {
  const HeightField spike =
      field(9, 9, 0.25, [](double x, double y) { return x == 0 && y == 0 ? 0.3 : 0.0; });
  for (const double tilt : {0.0, 0.1, -0.3}) {
    SE3 X = at(0.03, -0.02, 0);
    X.R = exp_so3(tilt * Vec3::UnitY());
    const Vec3 half(0.2, 0.15, 0.1), n = -X.R.col(2);     // of the lower face
    X.r += (Vec3(0, 0, 0.3) - X.r).dot(n) * n - 0.1 * n;  // which the tip touches
    const Manifold m = touch(spike, SE3(), Box{half}, X, 1e-3);
    ASSERT_EQ(m.count, 1) << tilt;
    EXPECT_NEAR(m.points[0].gap, 0, 1e-15);
    EXPECT_LT((m.points[0].normal + n).norm(), 1e-14);
    EXPECT_LT((m.points[0].on_a - Vec3(0, 0, 0.3)).norm(), 1e-15);
  }
}

TEST(HeightContact, ABoxAcrossARidge) {
  const HeightField roof = field(41, 41, 0.05, [](double x, double) { return -0.5 * std::abs(x); });
  const Manifold m = touch(roof, SE3(), Box{Vec3(0.2, 0.1, 0.05)}, at(0, 0.01, 0.05), 1e-3);
  ASSERT_EQ(m.count, 2) << "where its lower edges cross the ridge";
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(m.points[i].gap, 0, 1e-15);
    EXPECT_NEAR(m.points[i].on_a.x(), 0, 1e-14);
    EXPECT_NEAR(std::abs(m.points[i].on_a.y() - 0.01), 0.1, 1e-14);
    EXPECT_NEAR(m.points[i].normal.z(), 1, 1e-14);
  }
}

TEST(HeightContact, ABoxOverTheEdgeOfAStep) {
  // Half of it on the upper tread: two corners of its own, and two where its edges leave the tread.
  const HeightField step =
      field(41, 41, 0.05, [](double x, double) { return x > 0.01 ? -0.2 : 0.0; });
  const Manifold m = touch(step, SE3(), Box{Vec3(0.2, 0.1, 0.05)}, at(-0.05, 0.01, 0.05), 1e-3);
  ASSERT_EQ(m.count, 4);
  double west = infinity, east = -infinity;
  for (int i = 0; i < m.count; ++i) {
    EXPECT_NEAR(m.points[i].gap, 0, 1e-15);
    EXPECT_NEAR(m.points[i].normal.z(), 1, 1e-12);
    west = std::min(west, m.points[i].on_a.x());
    east = std::max(east, m.points[i].on_a.x());
  }
  EXPECT_NEAR(west, -0.25, 1e-14);
  EXPECT_NEAR(east, 0, 1e-14);
}

// --- all shapes on rough ground: nothing sinks in unseen, and gaps have the rate of their points

// The surface of a body, sampled; of polytopes the vertices and the edges.
std::vector<Vec3> samples(const Shape& shape, Random& random) {
  std::vector<Vec3> p;
  for (int k = 0; k < 400; ++k) {
    const Vec3 d = random.direction();
    if (const auto* s = std::get_if<Sphere>(&shape)) p.emplace_back(s->radius * d);
    if (const auto* s = std::get_if<Capsule>(&shape))
      p.emplace_back(s->radius * d + Vec3(random.uniform(-1, 1) * s->half_length, 0, 0));
    if (const auto* s = std::get_if<Ellipsoid>(&shape))
      p.emplace_back(s->semi_axes.cwiseProduct(d));
    if (const auto* s = std::get_if<Box>(&shape))
      p.emplace_back(s->half_size.cwiseProduct(d / d.cwiseAbs().maxCoeff()));
    if (const auto* s = std::get_if<Cylinder>(&shape)) {
      const Vec2 u = Vec2(d.y(), d.z()).normalized();
      p.emplace_back(random.uniform(-1, 1) * s->half_length, s->radius * u.x(), s->radius * u.y());
    }
    if (const auto* s = std::get_if<ConvexHull>(&shape)) {
      const auto& e = s->hull->edges[static_cast<std::size_t>(k) % s->hull->edges.size()];
      const double t = random.uniform(0, 1);
      p.emplace_back(t * s->hull->vertices[e.tail] + (1 - t) * s->hull->vertices[e.head]);
    }
  }
  return p;
}

TEST(HeightContact, NothingSinksInUnseen) {
  int sunk = 0;
  for (const auto seed : seeds(1, 400)) {
    Random random(seed);
    const HeightField ground = rough(random, random.chance(0.5) ? 0.02 : 0.08);
    for (const Shape& body : bodies(random)) {
      SE3 X{random.rotation(), Vec3(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0)};
      X.r.z() = -lowest(body, X) + random.uniform(-0.02, 0.08);
      double deepest = 0;
      for (const Vec3& s : samples(body, random)) {
        const Vec3 p = X * s;
        double z = 0;
        if (ground.terrain->height_at(p.x(), p.y(), z)) deepest = std::max(deepest, z - p.z());
      }
      if (deepest < 1e-4) continue;
      ++sunk;
      const Manifold m = touch(ground, SE3(), body, X, 1e-3);
      EXPECT_LT(least_gap(m), 0) << name_of(body) << ", seed " << seed << ", " << deepest
                                 << " m in the ground";
    }
  }
  EXPECT_GT(sunk, 300);
}

TEST(HeightContact, GapsHaveTheRateOfTheirPoints) {
  // Central differences over 1e-6 s leave 1e-10 / 1e-6 of rounding.
  Worst rate("d gap/dt - n . (v_B - v_A)", 1e-6);
  int points = 0;
  for (const auto seed : seeds(1, 400)) {
    Random random(seed);
    const HeightField ground = rough(random, random.chance(0.5) ? 0.02 : 0.08);
    for (const Shape& body : bodies(random)) {
      const SE3 X_a = random.pose();
      SE3 X{random.rotation(), Vec3(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0)};
      X.r.z() = -lowest(body, X) + random.uniform(0, 0.08);
      const Vec3 v = random.vector3(1), w = random.vector3(1), v_a = random.vector3(1),
                 w_a = random.vector3(1);
      const SE3 X_b = X_a * X;
      const double h = 1e-6;
      const auto moved = [](const SE3& Y, const Vec3& u, const Vec3& omega, double t) {
        return SE3{exp_so3(t * omega) * Y.R, Y.r + t * u};
      };
      const auto now = [&](double t) {
        return touch(ground, moved(X_a, v_a, w_a, t), body, moved(X_b, v, w, t), 0.02);
      };
      const Manifold m = now(0), before = now(-h), after = now(h);
      for (int i = 0; i < m.count; ++i) {
        const ContactPoint& c = m.points[i];
        const auto find = [&](const Manifold& list) -> const ContactPoint* {
          for (int k = 0; k < list.count; ++k)
            if (list.points[k].feature == c.feature) return &list.points[k];
          return nullptr;
        };
        const ContactPoint *p = find(before), *q = find(after);
        if (!p || !q) continue;
        ++points;
        const double exact =
            c.normal.dot(v + w.cross(c.on_b - X_b.r) - (v_a + w_a.cross(c.on_a - X_a.r)));
        rate.add(std::abs((q->gap - p->gap) / (2 * h) - exact),
                 std::string(name_of(body)) + ", seed " + std::to_string(seed));
        EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
        EXPECT_LT((c.on_b - c.on_a - c.gap * c.normal).norm(), 1e-9);
      }
    }
  }
  EXPECT_GT(points, 1000);
}

TEST(HeightContact, OfManyPointsThoseThatTouchAreKept) {
  // A plate on 25 spikes of which four, not at its corners, are the highest.
  const auto high = [](double x, double y) {
    return std::abs(std::abs(x) - 0.2) < 1e-9 && std::abs(std::abs(y) - 0.2) < 1e-9;
  };
  const HeightField spikes = field(21, 21, 0.1, [&](double x, double y) {
    const bool spike = std::llround(x * 10) % 2 == 0 && std::llround(y * 10) % 2 == 0;
    return spike ? (high(x, y) ? 0.1 : 0.0999) : 0.0;
  });
  const Manifold m = touch(spikes, SE3(), Box{Vec3(0.5, 0.5, 0.05)}, at(0, 0, 0.15), 1e-3);
  ASSERT_EQ(m.count, max_features);
  int touching = 0;
  for (int i = 0; i < m.count; ++i) touching += std::abs(m.points[i].gap) < 1e-12;
  EXPECT_EQ(touching, 4);
}

// --- friction maps

TEST(FrictionMap, CellsAndBilinear) {
  FrictionMap map{2, 2, 1, 2, Vec2(0, 0), {1, 2, 3, 4}, FrictionMap::Between::cells};
  const auto cells = friction_map(map);
  EXPECT_EQ(cells->at(0.5, 1), 1);
  EXPECT_EQ(cells->at(1.5, 1), 2);
  EXPECT_EQ(cells->at(0.5, 3), 3);
  EXPECT_EQ(cells->at(9, 9), 4);
  EXPECT_EQ(cells->at(-9, -9), 1);
  map.between = FrictionMap::Between::bilinear;
  const auto linear = friction_map(map);
  EXPECT_NEAR(linear->at(0.5, 0), 1.5, 1e-15);
  EXPECT_NEAR(linear->at(0.25, 1), 2.25, 1e-15);
  EXPECT_EQ(linear->at(9, -1), 2);
  map.factors[2] = -1;
  EXPECT_THROW((void)friction_map(map), InputError);
  map.factors.pop_back();
  EXPECT_THROW((void)friction_map(map), InputError);
}

// A patch is the map as far as its edges, and what it goes on to beyond them is what a neighbour
// that it is equal to has.
TEST(FrictionMap, PatchesAreTheMapPieceByPiece) {
  Random random(11);
  for (const auto between : {FrictionMap::Between::cells, FrictionMap::Between::bilinear}) {
    FrictionMap map{5, 4, 0.3, 0.2, Vec2(-0.4, 0.1), {}, between};
    for (int k = 0; k < 20; ++k) map.factors.push_back(random.integer(1, 2));
    const auto made = friction_map(map);
    for (int k = 0; k < 2000; ++k) {
      const Vec2 p(random.uniform(-1, 2), random.uniform(-1, 2));
      const FrictionPatch patch = patch_at(*made, p, Vec2::Zero(), 1e-12, {});
      EXPECT_GE(patch.room(p), 0);
      EXPECT_NEAR(patch.at(p), made->at(p.x(), p.y()), 1e-14);
      const Vec2 q = p + Vec2(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1));
      if (patch.room(q) > 0) { EXPECT_NEAR(patch.at(q), made->at(q.x(), q.y()), 1e-14); }
      const FrictionPatch again = patch_of(*made, patch.i, patch.j);
      EXPECT_EQ(again.low, patch.low);
      EXPECT_EQ(again.c, patch.c);
    }
  }
}

// On an edge it is the side that one moves to, or that one is on.
TEST(FrictionMap, AtAnEdgeTheHeadingDecides) {
  const auto map = friction_map({2, 1, 1, 1, Vec2(0, 0), {1, 3}, FrictionMap::Between::cells});
  const FrictionPatch left = patch_of(*map, 0, 0), right = patch_of(*map, 1, 0);
  const Vec2 edge(1 + 1e-13, 0.5);
  EXPECT_EQ(patch_at(*map, edge, Vec2(1, 0), 1e-11, left).c[0], 3);
  EXPECT_EQ(patch_at(*map, edge, Vec2(-1, 0), 1e-11, right).c[0], 1);
  EXPECT_EQ(patch_at(*map, edge, Vec2(0, 1), 1e-11, left).c[0], 1);
  EXPECT_EQ(patch_at(*map, edge, Vec2(0, 1), 1e-11, right).c[0], 3);
  EXPECT_NEAR(left.room(edge), 0, 1e-12);
  EXPECT_EQ(right.high.x(), infinity);
}

// --- meshes

TriangleMesh mesh_of(const Hull& hull) {
  TriangleMesh mesh{hull.vertices, {}};
  const std::vector<int> t = hull.triangles();
  for (std::size_t k = 0; k < t.size(); k += 3)
    mesh.triangles.push_back({t[k], t[k + 1], t[k + 2]});
  return mesh;
}

TEST(Mesh, ABoxHasItsInertia) {
  Random random(5);
  const Vec3 size(0.3, 0.5, 0.9), shift(4, -2, 1);
  const Mat3 R = random.rotation();
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i)
    points.emplace_back(
        shift +
        R * Vec3(0.5 * size.cwiseProduct(Vec3(i & 1 ? -1 : 1, i & 2 ? -1 : 1, i & 4 ? -1 : 1))));
  TriangleMesh mesh = mesh_of(*convex_hull(points).hull);
  for (const bool inside_out : {false, true}) {
    if (inside_out)
      for (auto& t : mesh.triangles) std::swap(t[0], t[1]);
    const RigidInertia solid = solid_mesh(2, mesh);
    EXPECT_LT((solid.com - shift).norm(), 1e-13);
    EXPECT_LT((solid.about_com - R * solid_box(2, size) * R.transpose()).norm(), 1e-13);
    EXPECT_NEAR(volume_of(mesh).volume, size.prod(), 1e-14);
  }
  mesh.triangles.pop_back();
  EXPECT_THROW((void)solid_mesh(2, mesh), InputError) << "not closed";
}

TEST(Mesh, ASphereByRefinement) {
  // Volume and inertia of an inscribed sphere converge with the square of the edges.
  double last = 0;
  for (const int n : {16, 32, 64}) {
    TriangleMesh mesh;
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i < 2 * n; ++i) {
        const double a = std::numbers::pi * j / n, b = std::numbers::pi * i / n;
        mesh.vertices.emplace_back(std::sin(a) * std::cos(b), std::sin(a) * std::sin(b),
                                   std::cos(a));
      }
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < 2 * n; ++i) {
        const auto v = [&](int a, int b) { return a * 2 * n + b % (2 * n); };
        mesh.triangles.push_back({v(j, i), v(j + 1, i), v(j + 1, i + 1)});
        mesh.triangles.push_back({v(j, i), v(j + 1, i + 1), v(j, i + 1)});
      }
    const RigidInertia solid = solid_mesh(1, mesh);
    const double error = (solid.about_com - solid_sphere(1, 1)).norm();
    EXPECT_LT(solid.com.norm(), 1e-13);
    if (last > 0) { EXPECT_NEAR(std::log2(last / error), 2, 0.05); }
    last = error;
  }
}

TEST(Mesh, AHullIsDrawnAsItsMesh) {
  const TriangleMesh mesh =
      mesh_of(*convex_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).hull);
  const ConvexHull hull = hull_of(mesh, Vec3(2, 1, -1));
  ASSERT_TRUE(hull.drawn);
  EXPECT_NEAR(hull.hull->volume, 1.0 / 3, 1e-14);
  EXPECT_NEAR(volume_of(*hull.drawn).volume, 1.0 / 3, 1e-14);
  const auto& t = hull.drawn->triangles[0];  // mirrored, and still seen from outside
  const Vec3 a = hull.drawn->vertices[t[0]],
             n = (hull.drawn->vertices[t[1]] - a).cross(hull.drawn->vertices[t[2]] - a);
  EXPECT_GT(n.dot(a - hull.hull->centroid), 0);
}

}  // namespace
}  // namespace saltus
