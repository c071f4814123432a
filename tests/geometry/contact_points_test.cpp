// Contact points of all pairs: certified distances, rates, resting manifolds, hulls and bounds.
#include "saltus/geometry/contact_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/geometry/hull.h"
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

Mat3 turned(const Vec3& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}
std::string names(const Shape& a, const Shape& b, std::uint64_t seed) {
  return std::string(name_of(a)) + " and " + std::string(name_of(b)) + ", seed " +
         std::to_string(seed);
}
ConvexHull cube(const Vec3& half) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(Vec3(i & 1 ? -1 : 1, i & 2 ? -1 : 1, i & 4 ? -1 : 1).cwiseProduct(half));
  return convex_hull(points);
}
ConvexHull random_hull(Random& random, int points = 14) {
  std::vector<Vec3> p;
  for (int i = 0; i < points; ++i) p.push_back(random.uniform(0.3, 0.6) * random.direction());
  return convex_hull(p);
}

// max n . p over a bounded shape.
double support(const Shape& shape, const SE3& X, const Vec3& n) {
  const Vec3 m = X.R.transpose() * n;
  double h = 0;
  if (const auto* s = std::get_if<Sphere>(&shape)) h = s->radius;
  if (const auto* s = std::get_if<Capsule>(&shape)) h = s->radius + s->half_length * std::abs(m[0]);
  if (const auto* s = std::get_if<Box>(&shape)) h = s->half_size.dot(m.cwiseAbs());
  if (const auto* s = std::get_if<Cylinder>(&shape))
    h = s->half_length * std::abs(m[0]) + s->radius * m.tail<2>().norm();
  if (const auto* s = std::get_if<ConvexHull>(&shape)) {
    h = -infinity;
    for (const Vec3& v : s->hull->vertices) h = std::max(h, m.dot(v));
  }
  return n.dot(X.r) + h;
}
double separation(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b, const Vec3& n) {
  return -support(b, X_b, -n) - support(a, X_a, n);
}
// Signed distance of a point from a shape, exact outside, by hand for each.
double outside(const Shape& shape, const SE3& X, const Vec3& p) {
  const Vec3 q = X.R.transpose() * (p - X.r);
  if (const auto* s = std::get_if<Sphere>(&shape)) return q.norm() - s->radius;
  if (const auto* s = std::get_if<Capsule>(&shape))
    return (q - Vec3(std::clamp(q[0], -s->half_length, s->half_length), 0, 0)).norm() - s->radius;
  if (const auto* s = std::get_if<Box>(&shape)) return (q.cwiseAbs() - s->half_size).maxCoeff();
  if (const auto* s = std::get_if<Cylinder>(&shape))
    return std::max(std::abs(q[0]) - s->half_length, q.tail<2>().norm() - s->radius);
  double most = -infinity;
  for (const auto& f : std::get<ConvexHull>(shape).hull->faces)
    most = std::max(most, f.normal.dot(q) - f.offset);
  return most;
}

std::vector<Shape> bounded(Random& random) {
  return {Sphere{random.uniform(0.1, 0.4)},
          Capsule{random.uniform(0.05, 0.2), random.uniform(0.1, 0.6)},
          Box{Vec3(random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5))},
          Cylinder{random.uniform(0.1, 0.4), random.uniform(0.1, 0.5)}, random_hull(random)};
}
bool is_cylinder(const Shape& s) { return std::holds_alternative<Cylinder>(s); }
// b so that its separation from a along a random direction is `gap`.
SE3 beside(Random& random, const Shape& a, const SE3& X_a, const Shape& b, double gap) {
  const Vec3 n = random.direction();
  SE3 X{random.rotation(), X_a.r + random.vector3(0.2)};
  X.r += (gap - separation(a, X_a, b, X, n)) * n;
  return X;
}

template <class Body>
void for_all_pairs(int count, const Body& body) {
  for (const auto seed : seeds(1, count)) {
    Random random(seed);
    const auto first = bounded(random), second = bounded(random);
    for (const Shape& a : first)
      for (const Shape& b : second) body(random, a, b, seed);
  }
}

// --- distances
// ------------------------------------------------------------------------------------

TEST(Distances, ApartAreCertified) {
  // A pair of points of the two solids bounds the distance from above, a separating direction from
  // below: where both give the gap, it is the distance.
  Worst below("separation along the normal", 2e-13), above("points of the solids", 2e-12);
  Worst rim("the same, cylinders", 1e-10);
  for_all_pairs(150, [&](Random& random, const Shape& a, const Shape& b, std::uint64_t seed) {
    const SE3 X_a = random.pose();
    const SE3 X_b = beside(random, a, X_a, b, random.chance(0.5) ? random.uniform(0, 0.3) : 1e-6);
    const Manifold m = touch(a, X_a, b, X_b);
    ASSERT_GE(m.count, 1) << names(a, b, seed);
    const auto least = std::min_element(m.points.begin(), m.points.begin() + m.count,
                                        [](auto& x, auto& y) { return x.gap < y.gap; });
    const std::string where = names(a, b, seed);
    const bool smooth = is_cylinder(a) || is_cylinder(b);
    below.add(std::abs(separation(a, X_a, b, X_b, least->normal) - least->gap), where);
    (smooth ? rim : above)
        .add((least->on_b - least->on_a - least->gap * least->normal).norm(), where);
    (smooth ? rim : above).add(test::excess(outside(a, X_a, least->on_a)), where);
    (smooth ? rim : above).add(test::excess(outside(b, X_b, least->on_b)), where);
  });
}

// Every face normal and every cross product of edges, with no pruning.
double deepest_axis(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b) {
  const auto hull_of = [](const Shape& s) {
    if (const auto* box = std::get_if<Box>(&s)) return cube(box->half_size);
    return std::get<ConvexHull>(s);
  };
  const ConvexHull p = hull_of(a), q = hull_of(b);
  double best = -infinity;
  const auto consider = [&](const Vec3& n) {
    best = std::max(best, separation(a, X_a, b, X_b, n));
  };
  for (const auto& f : p.hull->faces) consider(X_a.R * f.normal);
  for (const auto& f : q.hull->faces) consider(-(X_b.R * f.normal));
  const auto edge = [](const Hull& h, std::size_t i) {
    return Vec3(h.vertices[h.edges[i].head] - h.vertices[h.edges[i].tail]);
  };
  for (std::size_t i = 0; i < p.hull->edges.size(); ++i)
    for (std::size_t j = 0; j < q.hull->edges.size(); ++j) {
      const Vec3 n = (X_a.R * edge(*p.hull, i)).cross(X_b.R * edge(*q.hull, j));
      if (n.norm() < 1e-6) continue;
      consider(n.normalized());
      consider(-n.normalized());
    }
  return best;
}

TEST(Distances, PenetrationOfPolytopesIsTheLeast) {
  Worst depth("depth against all axes", 1e-12), shallow("no point less deep, sum", 1e-8);
  int edges = 0, total = 0;
  for (const auto seed : seeds(1, 400)) {
    Random random(seed);
    const auto first = bounded(random), second = bounded(random);
    for (const int i : {2, 4})
      for (const int j : {2, 4}) {
        const Shape &a = first[i], &b = second[j];
        const SE3 X_a = random.pose(), X_b = beside(random, a, X_a, b, random.uniform(-0.4, -0.05));
        const double exact = deepest_axis(a, X_a, b, X_b);
        if (exact > 0 || exact < -0.1) continue;
        const Manifold m = touch(a, X_a, b, X_b);
        double nearest = infinity;
        for (int k = 0; k < m.count; ++k)
          nearest = std::min(nearest, std::abs(m.points[k].gap - exact));
        depth.add(nearest, names(a, b, seed));
        shallow.add(test::excess(least_gap(m) - exact), names(a, b, seed));
        ++total;
        edges += m.count == 1;
      }
  }
  std::printf("[  COUNT   ] %d pairs, %d with one point\n", total, edges);
  EXPECT_GT(total, 400);
}

TEST(Distances, PenetrationOfHullsWithManyCorners) {
  Worst depth("depth against all axes", 1e-12), shallow("no point less deep, sum", 1e-8);
  int total = 0;
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    // Round ones, whose nearest faces and edges are many alike, and small ones deep inside.
    std::vector<Vec3> ball, pebble;
    for (int i = 0; i < 60; ++i) ball.push_back(0.5 * random.direction());
    for (int i = 0; i < 40; ++i) pebble.push_back(random.uniform(0.05, 0.2) * random.direction());
    const Shape first = convex_hull(ball), second = convex_hull(pebble);
    const SE3 X = random.pose();
    for (const double far : {-0.3, -0.1, -0.01, -1e-4})
      for (const auto& [a, b] : {std::pair(&first, &first), {&first, &second}, {&second, &first}}) {
        const SE3 Y = beside(random, *a, X, *b, far);
        const double exact = deepest_axis(*a, X, *b, Y);
        if (exact > 0) continue;
        const Manifold m = touch(*a, X, *b, Y);
        double nearest = infinity;
        for (int k = 0; k < m.count; ++k)
          nearest = std::min(nearest, std::abs(m.points[k].gap - exact));
        depth.add(nearest, names(*a, *b, seed));
        shallow.add(test::excess(least_gap(m) - exact), names(*a, *b, seed));
        ++total;
      }
  }
  EXPECT_GT(total, 100);
}

// The greatest separation by a grid of directions, then a pattern search about the best few.
double searched(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b) {
  std::vector<std::pair<double, Vec3>> grid;
  constexpr int count = 4000;
  for (int i = 0; i < count; ++i) {  // Fibonacci's
    const double z = 1 - (2 * i + 1.0) / count, t = i * std::numbers::pi * (3 - std::sqrt(5.0));
    const double r = std::sqrt(1 - z * z);
    const Vec3 n(r * std::cos(t), r * std::sin(t), z);
    grid.emplace_back(-separation(a, X_a, b, X_b, n), n);
  }
  std::partial_sort(grid.begin(), grid.begin() + 6, grid.end(),
                    [](auto& x, auto& y) { return x.first < y.first; });
  double best = -infinity;
  for (int k = 0; k < 6; ++k) {
    Vec3 n = grid[k].second;
    double value = -grid[k].first;
    for (double step = 0.05; step > 1e-9; step *= 0.6) {
      for (bool moved = true; moved;) {
        moved = false;
        const Vec3 e1 = n.unitOrthogonal(), e2 = n.cross(e1), from = n;
        for (int d = 0; d < 12; ++d) {
          const double t = d * std::numbers::pi / 6;
          const Vec3 next = (from + step * (std::cos(t) * e1 + std::sin(t) * e2)).normalized();
          const double there = separation(a, X_a, b, X_b, next);
          if (there > value) {
            value = there;
            n = next;
            moved = true;
          }
        }
      }
    }
    best = std::max(best, value);
  }
  return best;
}

TEST(Distances, NoDirectionSeparatesMore) {  // all pairs, apart and in penetration
  Worst better("a direction better than ours", 1e-9), certain("gap against its direction", 1e-12);
  for (const auto seed : seeds(1, 4)) {
    Random random(seed);
    const auto first = bounded(random), second = bounded(random);
    for (const Shape& a : first)
      for (const Shape& b : second) {
        const SE3 X_a = random.pose(), X_b = beside(random, a, X_a, b, random.uniform(-0.25, 0));
        const Manifold m = touch(a, X_a, b, X_b);
        double ours = -infinity, mismatch = 0;
        for (int k = 0; k < m.count; ++k) {
          const double along = separation(a, X_a, b, X_b, m.points[k].normal);
          if (along > ours) {
            ours = along;
            mismatch = infinity;
          }
          if (along == ours) mismatch = std::min(mismatch, std::abs(m.points[k].gap - along));
        }
        if (ours < -0.1) continue;
        better.add(test::excess(searched(a, X_a, b, X_b) - ours), names(a, b, seed));
        certain.add(mismatch, names(a, b, seed));
      }
  }
}

TEST(Distances, PointsAreOnTheirSurfaces) {
  Worst gap("on_b - on_a = gap n", 1e-12), unit("unit normals", 1e-14);
  Worst surface("points within the solids", 1e-6);
  for_all_pairs(60, [&](Random& random, const Shape& a, const Shape& b, std::uint64_t seed) {
    const SE3 X_a = random.pose(), X_b = beside(random, a, X_a, b, random.uniform(-0.02, 0.02));
    const Manifold m = touch(a, X_a, b, X_b, 0.02);
    for (int i = 0; i < m.count; ++i) {
      const ContactPoint& p = m.points[i];
      gap.add((p.on_b - p.on_a - p.gap * p.normal).norm(), names(a, b, seed));
      unit.add(std::abs(p.normal.norm() - 1), names(a, b, seed));
      EXPECT_LE(p.gap, 0.02);
      EXPECT_GE(p.feature, 0);
      EXPECT_TRUE(i == 0 || p.feature > m.points[i - 1].feature);
      // Off an edge the foot of a point is off the solid by what the gap and the angle allow.
      surface.add(test::excess(outside(a, X_a, p.on_a) - std::abs(p.gap)), names(a, b, seed));
      surface.add(test::excess(outside(b, X_b, p.on_b) - std::abs(p.gap)), names(a, b, seed));
    }
  });
}

// --- symmetry and frames
// --------------------------------------------------------------------------

// How far two manifolds differ as sets of points; `swapped`: a and b are exchanged in the second.
double difference(const Manifold& m, const Manifold& other, const SE3& Y, bool swapped) {
  if (m.count != other.count) return infinity;
  double worst = 0;
  for (int i = 0; i < m.count; ++i) {
    double nearest = infinity;
    for (int j = 0; j < other.count; ++j) {
      const ContactPoint &p = m.points[i], &q = other.points[j];
      const Vec3 &on_a = swapped ? q.on_b : q.on_a, &on_b = swapped ? q.on_a : q.on_b;
      const Vec3 n = swapped ? Vec3(-q.normal) : q.normal;
      nearest =
          std::min(nearest, std::abs(p.gap - q.gap) + (Y * p.on_a - on_a).norm() +
                                (Y * p.on_b - on_b).norm() + 0.1 * (Y.R * p.normal - n).norm());
    }
    worst = std::max(worst, nearest);
  }
  return worst;
}

TEST(Pairs, SwappedOrderIsSymmetric) {
  Worst worst("gaps, points, normals", 1e-8), gaps("least gap", 1e-12);
  for_all_pairs(100, [&](Random& random, const Shape& a, const Shape& b, std::uint64_t seed) {
    const SE3 X_a = random.pose(), X_b = beside(random, a, X_a, b, random.uniform(-0.03, 0.03));
    const Manifold forth = touch(a, X_a, b, X_b, 0.05), back = touch(b, X_b, a, X_a, 0.05);
    worst.add(difference(forth, back, SE3(), true), names(a, b, seed));
    if (forth.count > 0) gaps.add(std::abs(least_gap(forth) - least_gap(back)), names(a, b, seed));
  });
}

TEST(Pairs, DoNotDependOnTheFrame) {
  Worst worst("gaps, points, normals", 1e-8);
  for_all_pairs(60, [&](Random& random, const Shape& a, const Shape& b, std::uint64_t seed) {
    const SE3 X_a = random.pose(), X_b = beside(random, a, X_a, b, random.uniform(-0.03, 0.03));
    const SE3 Y = random.pose(3);
    worst.add(
        difference(touch(a, X_a, b, X_b, 0.05), touch(a, Y * X_a, b, Y * X_b, 0.05), Y, false),
        names(a, b, seed));
  });
}

TEST(Pairs, HullOfACubeIsTheBox) {
  Worst worst("gaps, points, normals", 1e-9);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Box box{
        Vec3(random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5))};
    const Shape hull = cube(box.half_size);
    for (const Shape& b : bounded(random)) {
      const SE3 X_a = random.pose(), X_b = beside(random, box, X_a, b, random.uniform(-0.03, 0.03));
      worst.add(
          difference(touch(box, X_a, b, X_b, 0.05), touch(hull, X_a, b, X_b, 0.05), SE3(), false),
          names(box, b, seed));
    }
    const SE3 X = random.pose(), plane = random.pose();
    worst.add(difference(touch(HalfSpace{}, plane, box, X), touch(HalfSpace{}, plane, hull, X),
                         SE3(), false),
              seed);
  }
}

TEST(Pairs, Supported) {
  Random random(1);
  const auto shapes = bounded(random);
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) EXPECT_TRUE(can_touch(a, b)) << name_of(a) << " " << name_of(b);
    EXPECT_TRUE(can_touch(a, HalfSpace{}) && can_touch(HalfSpace{}, a)) << name_of(a);
    EXPECT_TRUE(can_touch(a, Peg{0.1}) && can_touch(Peg{0.1}, a)) << name_of(a);
  }
  EXPECT_FALSE(can_touch(Peg{0.1}, Peg{0.1}));
  EXPECT_FALSE(can_touch(Peg{0.1}, HalfSpace{}));
  EXPECT_FALSE(can_touch(HalfSpace{}, HalfSpace{}));
}

TEST(Pairs, PegsAreLongCapsules) {
  Worst worst("gaps, points, normals", 1e-9);
  for (const auto seed : seeds(1, 60)) {
    Random random(seed);
    const Peg peg{random.uniform(0.05, 0.3)};
    for (const Shape& a : bounded(random)) {
      const SE3 X_a = random.pose(), X_b = random.pose();
      SE3 along;
      along.R << X_b.R.col(2), X_b.R.col(0), X_b.R.col(1);
      along.r = X_b.r;
      const Manifold m = touch(a, X_a, peg, X_b, 0.5),
                     n = touch(a, X_a, Capsule{peg.radius, 50}, along, 0.5);
      worst.add(difference(m, n, SE3(), false), names(a, peg, seed));
    }
  }
}

// --- rates
// ----------------------------------------------------------------------------------------

SE3 moved(const SE3& X, const Vec6& V, double t) { return X * exp_se3(t * V); }
Vec3 velocity_at(const SE3& X, const Vec6& V, const Vec3& p) {
  return X.R * V.head<3>() + (X.R * V.tail<3>()).cross(p - X.r);
}
const ContactPoint* find(const Manifold& m, int feature) {
  for (int i = 0; i < m.count; ++i)
    if (m.points[i].feature == feature) return &m.points[i];
  return nullptr;
}

void check_rates(const std::vector<Shape>& first, const std::vector<Shape>& second, Random& random,
                 std::uint64_t seed, Worst& worst, int& skipped) {
  constexpr double h = 2e-5;
  for (const Shape& a : first)
    for (const Shape& b : second) {
      if (!can_touch(a, b)) continue;
      const SE3 X_a = random.pose();
      const SE3 X_b = std::holds_alternative<HalfSpace>(a)
                          ? random.pose()
                          : beside(random, a, X_a, b, random.uniform(-0.03, 0.03));
      const Vec6 V_a = random.vector6(), V_b = random.vector6();
      const auto at = [&](double t) {
        return touch(a, moved(X_a, V_a, t), b, moved(X_b, V_b, t), 0.1);
      };
      const Manifold now = at(0), f1 = at(h), f2 = at(2 * h), b1 = at(-h), b2 = at(-2 * h);
      for (int k = 0; k < now.count; ++k) {
        const ContactPoint& p = now.points[k];
        const auto *p1 = find(f1, p.feature), *p2 = find(f2, p.feature), *m1 = find(b1, p.feature),
                   *m2 = find(b2, p.feature);
        const auto jumps = [&](const ContactPoint* q) {  // the same key, but another formula
          return !q || (q->normal - p.normal).norm() > 0.02 || (q->on_a - p.on_a).norm() > 0.02;
        };
        const double wide = p2 && m2 ? (p2->gap - m2->gap) / (4 * h) : 0;
        if (jumps(p1) || jumps(p2) || jumps(m1) || jumps(m2)) {
          ++skipped;
          continue;
        }
        const double narrow = (p1->gap - m1->gap) / (2 * h);
        if (std::abs(wide - narrow) > 1e-5) {  // a kink within the stencil
          ++skipped;
          continue;
        }
        const Vec3 v_A = velocity_at(X_a, V_a, p.on_a), v_B = velocity_at(X_b, V_b, p.on_b);
        worst.add(std::abs(p.normal.dot(v_B - v_A) - (4 * narrow - wide) / 3), names(a, b, seed));
      }
    }
}

TEST(Rates, OfEveryFeature) {
  // Differences of order 4: rounding 1e-15/h = 1e-10 and truncation below it; a kink that the
  // stencil's two differences do not see is worth 1e-5 at most.
  Worst worst("rate against differences", 3e-6);
  int skipped = 0;
  for (const auto seed : seeds(1, 120)) {
    Random random(seed);
    const auto first = bounded(random), second = bounded(random);
    check_rates(first, second, random, seed, worst, skipped);
    check_rates({HalfSpace{}}, second, random, seed, worst, skipped);
  }
  std::printf("[  COUNT   ] measured %d, skipped %d\n", worst.count(), skipped);
  EXPECT_LE(skipped, worst.count() / 20);
}

// --- resting
// --------------------------------------------------------------------------------------

double area(const Manifold& m) {  // of the hull of the points, seen from above
  std::vector<Vec2> p;
  for (int i = 0; i < m.count; ++i) p.emplace_back(m.points[i].on_a.head<2>());
  std::sort(p.begin(), p.end(),
            [](auto& x, auto& y) { return x[0] != y[0] ? x[0] < y[0] : x[1] < y[1]; });
  double sum = 0;
  for (const double side : {1.0, -1.0}) {
    std::vector<Vec2> chain;
    for (const Vec2& q : p) {
      while (chain.size() > 1) {
        const Vec2 u = chain.back() - chain[chain.size() - 2], w = q - chain.back();
        if (side * (u[0] * w[1] - u[1] * w[0]) > 0) break;
        chain.pop_back();
      }
      chain.push_back(q);
    }
    for (std::size_t i = 1; i < chain.size(); ++i)
      sum += side * 0.5 * (chain[i - 1][0] * chain[i][1] - chain[i - 1][1] * chain[i][0]);
  }
  return sum;
}
void expect_level(const Manifold& m, double gap, double tolerance = 1e-15) {
  for (int i = 0; i < m.count; ++i) {
    EXPECT_NEAR(m.points[i].gap, gap, tolerance);
    EXPECT_LE((m.points[i].normal - Vec3::UnitZ()).norm(), 1e-9);
  }
}

TEST(Resting, EqualBoxesHaveFourCornersWhateverTheRounding) {
  const Box box{Vec3(0.5, 0.5, 0.5)};
  std::vector<int> features;
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const SE3 X{turned(random.direction(), 1e-11 * random.uniform(0, 1)),
                Vec3(0, 0, 1) + random.vector3(1e-11)};
    const Manifold m = touch(box, SE3(), box, X, 1e-3);
    ASSERT_EQ(m.count, 4) << seed;
    expect_level(m, 0, 1e-10);
    EXPECT_NEAR(area(m), 1, 1e-6);
    for (int i = 0; i < 4; ++i) {
      if (seed == 1) features.push_back(m.points[i].feature);
      EXPECT_EQ(m.points[i].feature, features[i]) << seed;
    }
  }
}

TEST(Resting, BoxesOverlapInTheirCommonArea) {
  const Box low{Vec3(1, 1, 0.5)}, small{Vec3(0.3, 0.2, 0.1)}, plank{Vec3(2, 0.2, 0.1)};
  const auto on = [&](const Box& box, double x, double y, double yaw) {
    return touch(low, SE3(), box, SE3{turned(Vec3::UnitZ(), yaw), Vec3(x, y, 0.6)}, 1e-3);
  };
  EXPECT_EQ(on(small, 0, 0, 0.3).count, 4);
  EXPECT_NEAR(area(on(small, 0, 0, 0.3)), 0.24, 1e-12);
  EXPECT_NEAR(area(on(small, 0.9, 0, 0)), 0.4 * 0.4, 1e-12);  // over an edge
  EXPECT_NEAR(area(on(small, 1, 1, 0)), 0.3 * 0.2, 1e-12);    // over a corner: vertex and crossings
  EXPECT_NEAR(area(on(plank, 0, 0, 0)), 2 * 0.4, 1e-12);      // across: four crossings
  // Along the diagonal: a hexagon.
  EXPECT_NEAR(area(on(plank, 0, 0, std::numbers::pi / 4)), 0.8 * std::sqrt(2.0) - 0.08, 1e-12);
  const Box same{Vec3(1, 1, 0.1)};  // an octagon
  const Manifold octagon = on(same, 0, 0, std::numbers::pi / 4);
  EXPECT_EQ(octagon.count, 8);
  EXPECT_NEAR(area(octagon), 8 * (std::sqrt(2.0) - 1), 1e-12);
  for (const double yaw : {0.0, 0.1, 0.5}) expect_level(on(small, 0.9, 0.9, yaw), 0);
  EXPECT_EQ(on(small, 1.31, 0, 0).count, 0);  // beside it, 1 cm away
}

TEST(Resting, CrossedSticksAndEdges) {
  const Box stick{Vec3(1, 0.1, 0.1)};
  const Manifold flat =
      touch(stick, SE3(), stick, SE3{turned(Vec3::UnitZ(), 1), Vec3(0, 0, 0.2)}, 1e-3);
  EXPECT_EQ(flat.count, 4);
  expect_level(flat, 0);
  // Both on edge: one point, with a normal across both edges.
  const Mat3 roll = turned(Vec3::UnitX(), std::numbers::pi / 4);
  const double height = 2 * 0.1 * std::sqrt(2.0);
  const Manifold edges =
      touch(stick, SE3{roll, Vec3::Zero()}, stick,
            SE3{turned(Vec3::UnitZ(), 1) * roll, Vec3(0, 0, height - 1e-3)}, 1e-3);
  ASSERT_EQ(edges.count, 1);
  expect_level(edges, -1e-3, 1e-14);
  // A card on edge: the two ends of the edge.
  const Box table{Vec3(1, 1, 0.5)}, card{Vec3(0.3, 0.2, 0.005)};
  const Mat3 lean = turned(Vec3::UnitY(), 1.2);
  const double lowest = support(card, SE3{lean, Vec3::Zero()}, -Vec3::UnitZ());
  const Manifold on_edge = touch(table, SE3(), card, SE3{lean, Vec3(0, 0, 0.5 + lowest)}, 1e-4);
  ASSERT_EQ(on_edge.count, 2);
  expect_level(on_edge, 0);
  EXPECT_NEAR((on_edge.points[0].on_a - on_edge.points[1].on_a).norm(), 0.4, 1e-12);
}

TEST(Resting, BoxInACorner) {
  const Box wall{Vec3(1, 1, 1)}, cube_shape{Vec3(0.2, 0.2, 0.2)};
  for (int k = 0; k < 3; ++k) {
    const SE3 X = SE3::translation(-Vec3::Unit(k));
    const Manifold m = touch(wall, X, cube_shape, SE3::translation(Vec3::Constant(0.2)), 1e-3);
    EXPECT_EQ(m.count, 4);
    for (int i = 0; i < m.count; ++i) {
      EXPECT_NEAR(m.points[i].gap, 0, 1e-15);
      EXPECT_LE((m.points[i].normal - Vec3::Unit(k)).norm(), 1e-15);
    }
  }
}

TEST(Resting, Capsules) {
  const Capsule rod{0.1, 0.5};
  const Box table{Vec3(1, 1, 0.5)};
  const Manifold m = touch(table, SE3(), rod, SE3::translation({0, 0, 0.6}), 1e-3);
  EXPECT_EQ(m.count, 2);
  expect_level(m, 0);
  EXPECT_NEAR((m.points[0].on_a - m.points[1].on_a).norm(), 1, 1e-14);
  const Manifold over = touch(table, SE3(), rod, SE3::translation({0.9, 0, 0.6}), 1e-3);
  EXPECT_EQ(over.count, 2);
  EXPECT_NEAR((over.points[0].on_a - over.points[1].on_a).norm(), 0.6, 1e-14);
  for (const double tilt : {0.0, 1e-17, 1e-12, 1e-9, 1e-3}) {
    const SE3 X{turned(Vec3::UnitZ(), tilt), Vec3(0.3, 0, 0.2)};
    const Manifold along = touch(rod, SE3(), rod, X, 1e-3);
    ASSERT_GE(along.count, 2) << tilt;
    EXPECT_LE(along.count, 3) << tilt;
    for (int i = 0; i < along.count; ++i) EXPECT_NEAR(along.points[i].gap, 0, 1e-5);
    EXPECT_NEAR(least_gap(along), 0, tilt < 1e-6 ? 1e-15 : 1e-7);
  }
}

TEST(Resting, Cylinders) {
  const Cylinder can{0.3, 0.5};
  const Mat3 up = turned(Vec3::UnitY(), -std::numbers::pi / 2);  // x to z
  const Box table{Vec3(1, 1, 0.5)};
  const auto on = [&](const SE3& X) {
    return std::pair(touch(HalfSpace{}, SE3(), can, X, 1e-3),
                     touch(table, SE3::translation({0, 0, -0.5}), can, X, 1e-3));
  };
  const auto [ground, face] = on(SE3::translation({0, 0, 0.3}));  // on its side
  EXPECT_EQ(ground.count, 2);
  EXPECT_EQ(face.count, 2);
  expect_level(ground, 0);
  expect_level(face, 0);
  for (const double tilt : {0.0, 1e-12, 1e-6, 1e-3}) {  // standing, and tilted by little
    const auto [standing, cap] = on(SE3{turned(Vec3::UnitX(), tilt) * up, Vec3(0, 0, 0.5)});
    for (const Manifold* m : {&standing, &cap}) {
      ASSERT_GE(m->count, 4) << tilt;
      EXPECT_GE(area(*m), 0.3 * 0.3 * 2 - 1e-3);
      EXPECT_NEAR(
          least_gap(*m),
          0.5 - support(can, SE3{turned(Vec3::UnitX(), tilt) * up, Vec3::Zero()}, -Vec3::UnitZ()),
          1e-10);
    }
  }
  // Rolling on its rim: the lowest point alone.
  const SE3 leaning{turned(Vec3::UnitX(), 0.5) * up, Vec3(0, 0, 0.6)};
  const Manifold rim = touch(HalfSpace{}, SE3(), can, leaning, 0.02 + 0.6);
  EXPECT_NEAR(least_gap(rim), -support(can, leaning, -Vec3::UnitZ()), 1e-15);
  // Stacked cans, on the axis and beside it.
  for (const double x : {0.0, 0.1, 0.3, 0.5}) {
    const Manifold stack = touch(can, SE3{up, Vec3::Zero()}, can, SE3{up, Vec3(x, 0, 1)}, 1e-3);
    ASSERT_GE(stack.count, 3) << x;
    expect_level(stack, 0);
    const double lens = 2 * 0.09 * std::acos(x / 0.6) - 0.5 * x * std::sqrt(4 * 0.09 - x * x);
    EXPECT_GE(area(stack), 0.5 * lens) << x;
    EXPECT_LE(area(stack), lens + 1e-12) << x;
  }
  const Manifold logs = touch(can, SE3(), can, SE3::translation({0.2, 0, 0.6}), 1e-3);
  EXPECT_EQ(logs.count, 2);
  expect_level(logs, 0);
}

TEST(Resting, FewerThanNinePointsOfManySpanTheFace) {
  std::vector<Vec3> prism;
  for (int i = 0; i < 40; ++i)
    for (const double z : {-0.2, 0.2}) {
      const double t = i * std::numbers::pi / 20;
      prism.emplace_back(std::cos(t), std::sin(t), z);
    }
  const ConvexHull hull = convex_hull(prism);
  EXPECT_EQ(hull.hull->faces.size(), 42);
  const Manifold m = touch(Box{Vec3(2, 2, 1)}, SE3(), hull, SE3::translation({0, 0, 1.2}), 1e-3);
  EXPECT_EQ(m.count, 8);
  expect_level(m, 0, 1e-14);
  EXPECT_GE(area(m), 2.7);  // of pi
  const Manifold ground = touch(HalfSpace{}, SE3(), hull, SE3::translation({0, 0, 0.2}), 1e-3);
  EXPECT_EQ(ground.count, 8);
  EXPECT_GE(area(ground), 2.7);
}

// --- never NaN
// ------------------------------------------------------------------------------------

TEST(Degenerate, NothingIsNaN) {
  const auto check = [](const Manifold& m, const std::string& where) {
    for (int i = 0; i < m.count; ++i) {
      const ContactPoint& p = m.points[i];
      EXPECT_TRUE(std::isfinite(p.gap) && p.on_a.allFinite() && p.on_b.allFinite()) << where;
      EXPECT_NEAR(p.normal.norm(), 1, 1e-12) << where;
    }
  };
  for_all_pairs(60, [&](Random& random, const Shape& a, const Shape& b, std::uint64_t seed) {
    const std::string where = names(a, b, seed);
    const SE3 X = random.pose();
    const Mat3 quarter = turned(random.direction(), 0);
    check(touch(a, X, b, X), where);  // at the centre
    check(touch(a, SE3(), b, SE3()), where);
    for (int k = 0; k < 3; ++k) {  // axes aligned, edges parallel
      const Vec3 axis = Vec3::Unit(k);
      const SE3 Y{quarter * turned(axis, random.integer(0, 3) * std::numbers::pi / 2),
                  random.integer(-2, 2) * 0.25 * Vec3::Unit(random.integer(0, 2))};
      check(touch(a, SE3(), b, Y), where);
      check(touch(a, X, b, X * Y), where);
    }
    check(touch(a, X, b, random.pose()), where);
    check(touch(a, X, b, {X.R, random.vector3()}), where);
  });
}

TEST(Degenerate, PenetratingCentresHaveAPoint) {
  for_all_pairs(5, [&](Random&, const Shape& a, const Shape& b, std::uint64_t seed) {
    EXPECT_GE(touch(a, SE3(), b, SE3(), 0).count, 1) << names(a, b, seed);
    EXPECT_LT(least_gap(touch(a, SE3(), b, SE3(), 0)), 0) << names(a, b, seed);
  });
}

// --- hulls
// ----------------------------------------------------------------------------------------

std::string message_of(const std::vector<Vec3>& points) {
  try {
    (void)convex_hull(points);
  } catch (const InputError& e) { return e.what(); }
  return "";
}

TEST(Hulls, BadPointsAreRejected) {
  const std::vector<Vec3> tetrahedron{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(message_of(tetrahedron), "");
  EXPECT_EQ(message_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}),
            "expected at least 4 points of a hull, got 3");
  auto points = tetrahedron;
  points[2][1] = std::nan("");
  EXPECT_EQ(message_of(points), "point 2 is not finite");
  points = tetrahedron;
  points[2] = points[1] + Vec3(0, 5e-10, 0);  // nearer than 1e-9 of the size: one point
  EXPECT_EQ(message_of(points), "expected at least 4 distinct points of a hull, got 3");
  EXPECT_EQ(message_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 3, 0}}),
            "the points lie in one plane");
  EXPECT_EQ(message_of({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), "the points lie on one line");
  EXPECT_EQ(message_of({}), "expected at least 4 points of a hull, got 0");
}

TEST(Hulls, NearlyEqualPointsAreOne) {
  // Each corner of a cube eight times: as it is, and moved by less than what tells points apart
  // (4e-20 as in mesh files, and up to 1e-10 of the size). The first of each is kept, to the bit.
  std::vector<Vec3> corners, points;
  for (int i = 0; i < 8; ++i) corners.emplace_back(i & 1, i & 2, i & 4);
  points = corners;
  for (const Vec3& c : corners)
    for (int k = 0; k < 7; ++k)
      points.push_back(c + (k < 3 ? 4e-20 : 1e-10) * Vec3(k % 3 - 1, (k + 1) % 3 - 1, 1));
  const ConvexHull made = convex_hull(points), plain = convex_hull(corners);
  ASSERT_EQ(made.hull->vertices.size(), 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(made.hull->vertices[i], corners[i]);
  EXPECT_EQ(made.hull->faces.size(), 6);
  EXPECT_EQ(made.hull->volume, plain.hull->volume);
  // Far from the origin, and very small: what counts is the size.
  for (Vec3& p : points) p = Vec3(100, -50, 20) + 1e-3 * p;
  EXPECT_EQ(convex_hull(points).hull->vertices.size(), 8);
}

TEST(Hulls, ACubeIsSixFaces) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i) points.emplace_back(i & 1 ? -1 : 1, i & 2 ? -2 : 2, i & 4 ? -3 : 3);
  points.emplace_back(0, 0, 0);    // inside
  points.emplace_back(1, 0.5, 0);  // in a face
  points.emplace_back(1, 2, 0);    // in an edge
  const ConvexHull made = convex_hull(points);
  const Hull& h = *made.hull;
  EXPECT_EQ(h.vertices.size(), 8);
  EXPECT_EQ(h.faces.size(), 6);
  EXPECT_EQ(h.edges.size(), 12);
  EXPECT_EQ(h.triangles().size(), 36);
  EXPECT_NEAR(h.volume, 48, 1e-13);
  EXPECT_LE(h.centroid.norm(), 1e-15);
  const RigidInertia solid = solid_hull(2, h);
  EXPECT_LE((solid.about_com - solid_box(2, Vec3(2, 4, 6))).norm(), 1e-14);
}

TEST(Hulls, FacesAndMassOfRandomOnes) {
  Worst planes("vertices behind the faces", 1e-14), volume("volume", 1e-13),
      moved_by("moved", 1e-13);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    std::vector<Vec3> points;
    for (int i = 0; i < random.integer(4, 60); ++i) points.push_back(random.vector3());
    const ConvexHull made = convex_hull(points);
    const Hull& h = *made.hull;
    EXPECT_EQ(h.vertices.size() + h.faces.size(), h.edges.size() + 2);  // Euler
    for (const auto& f : h.faces)
      for (const Vec3& p : points) planes.add(test::excess(f.normal.dot(p) - f.offset), seed);
    for (const auto& e : h.edges) EXPECT_NE(e.left, e.right);
    double sum = 0;  // pyramids from the origin
    for (const auto& f : h.faces) {
      Vec3 A = Vec3::Zero();
      for (int k = 1; k + 1 < f.count; ++k) {
        const Vec3 o = h.vertices[h.loop[f.first]];
        A += 0.5 *
             (h.vertices[h.loop[f.first + k]] - o).cross(h.vertices[h.loop[f.first + k + 1]] - o);
      }
      EXPECT_GT(A.dot(f.normal), 0);
      sum += A.norm() * f.offset / 3;
    }
    volume.add(std::abs(sum - h.volume), seed);
    const SE3 X = random.pose();
    for (Vec3& p : points) p = X * p;
    const ConvexHull again = convex_hull(points);
    const Hull& there = *again.hull;
    const RigidInertia m = solid_hull(3, h), n = solid_hull(3, there);
    moved_by.add((X * m.com - n.com).norm(), seed);
    moved_by.add((X.R * m.about_com * X.R.transpose() - n.about_com).norm(), seed);
  }
}

// --- bounds
// ---------------------------------------------------------------------------------------

TEST(Bounds, AreTheSupportAlongTheAxes) {
  Worst worst("box against support", 1e-14);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const Shape& s : bounded(random)) {
      const SE3 X = random.pose();
      const Aabb box = bounds(s, X);
      for (int k = 0; k < 3; ++k) {
        worst.add(std::abs(box.high[k] - support(s, X, Vec3::Unit(k))), seed);
        worst.add(std::abs(box.low[k] + support(s, X, -Vec3::Unit(k))), seed);
      }
    }
  }
  EXPECT_EQ(bounds(HalfSpace{}, SE3()).low[0], -infinity);
  const Aabb peg = bounds(Peg{0.5}, SE3::translation({1, 2, 3}));
  EXPECT_EQ(peg.high[2], infinity);
  EXPECT_NEAR(peg.high[0], 1.5, 1e-15);
  EXPECT_NEAR(peg.low[1], 1.5, 1e-15);
}

}  // namespace
}  // namespace saltus
