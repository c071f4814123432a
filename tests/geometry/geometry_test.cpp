// Gap functions: P0's formulas, sampled distances, and the rate of the gap.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "saltus/geometry/contact_points.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::eps;
using test::Random;
using test::seeds;
using test::Worst;

using ContactPoints = std::array<ContactPoint, max_features>;

// How many points the pair always has, wherever the shapes are; 0: their number varies, and
// contact_points_test.cpp looks at them.
int feature_count(const Shape& a, const Shape& b) {
  const auto one_is = [&]<class S>(const S&) {
    return std::holds_alternative<S>(a) || std::holds_alternative<S>(b);
  };
  if (!can_touch(a, b)) return 0;
  if (one_is(HalfSpace{})) return one_is(Box{}) ? 8 : one_is(Capsule{}) ? 2 : 1;
  if (one_is(Box{})) return one_is(Sphere{}) ? 1 : 0;
  return 1;  // two round shapes; nearly parallel ones also touch at the ends of their overlap
}
// Those points, by their features; the nearest one where there is but one.
void gap_functions(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
                   ContactPoints& points) {
  Manifold m;
  contact_points(a, X_a, b, X_b, std::numeric_limits<double>::infinity(), m);
  const int count = feature_count(a, b);
  ASSERT_GE(m.count, count) << name_of(a) << " and " << name_of(b);
  if (count == 1) {
    points[0] = *std::min_element(m.points.begin(), m.points.begin() + m.count,
                                  [](const auto& x, const auto& y) { return x.gap < y.gap; });
    return;
  }
  for (int i = 0; i < count; ++i) {
    points[i] = m.points[i];
    ASSERT_EQ(points[i].feature, i) << name_of(a) << " and " << name_of(b);
  }
}
ContactPoint only_point(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b) {
  ContactPoints points;
  EXPECT_EQ(feature_count(a, b), 1);
  gap_functions(a, X_a, b, X_b, points);
  return points[0];
}

Mat3 rotation_about(const Vec3& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
}
SE3 planar_pose(double x, double y, double theta) {
  return {rotation_about(Vec3::UnitZ(), theta), Vec3(x, y, 0)};
}
SE3 turned_by_twist(const SE3& X, const Vec6& V, double t) {  // X exp(t V), by Eigen
  const Vec3 w = t * V.tail<3>(), v = t * V.head<3>();
  const double angle = w.norm();
  if (angle == 0) return X * SE3{Mat3::Identity(), v};
  const Vec3 n = w / angle;
  const Vec3 r = v + (1 - std::cos(angle)) / angle * n.cross(v) +
                 (1 - std::sin(angle) / angle) * n.cross(n.cross(v));
  return X * SE3{Eigen::AngleAxisd(angle, n).toRotationMatrix(), r};
}
// Velocity of the material point p (inertial) of a body with pose X and body twist V.
Vec3 velocity_at(const SE3& X, const Vec6& V, const Vec3& p) {
  return X.R * V.head<3>() + (X.R * V.tail<3>()).cross(p - X.r);
}

// --- P0, eq. 8-16
// ---------------------------------------------------------------------------------

struct LinkAndPeg {
  Capsule link;
  Peg peg;
  Vec2 r_G, r_H;
  double theta;
};
struct PaperGap {
  double gap;
  Eigen::RowVector3d w;  // gamma = w u, u = (v_G, omega)
  int part;              // 0 rectangle, 1 front, -1 rear
};

PaperGap paper_gap(const LinkAndPeg& s) {
  const Vec2 e_x(std::cos(s.theta), std::sin(s.theta)), e_y(-e_x[1], e_x[0]);
  const double along = (s.r_H - s.r_G).dot(e_x), L_GS = s.link.half_length;
  const double radii = s.peg.radius + s.link.radius;
  PaperGap result;
  if (std::abs(along) <= L_GS) {
    const double d = (s.r_G - s.r_H).dot(e_y);              // (8)
    result.gap = std::abs(d) - radii;                       // (9)
    result.w << e_y.transpose(), (s.r_H - s.r_G).dot(e_x);  // (14)
    result.w *= d < 0 ? -1 : 1;
    result.part = 0;
  } else {
    result.part = along > 0 ? 1 : -1;
    const Vec2 to_cap = result.part * L_GS * e_x, r_HS = s.r_G + to_cap - s.r_H;
    const Vec2 turned(-to_cap[1], to_cap[0]);        // R D r_GS
    result.gap = r_HS.norm() - radii;                // (10)
    result.w << r_HS.transpose(), r_HS.dot(turned);  // (16)
    result.w /= r_HS.norm();
  }
  return result;
}

TEST(P0, CapsuleAndPeg) {
  Worst gap("gap, eq. 9 and 10", 4 * eps), rate("rate, eq. 14 and 16", 64 * eps);
  std::array<int, 3> parts{};
  for (const auto seed : seeds(1, 600)) {
    Random random(seed);
    LinkAndPeg s{{random.uniform(0.02, 0.1), random.uniform(0.02, 0.2)},
                 {random.uniform(0.01, 0.2)},
                 random.vector(2, 0.3),
                 random.vector(2, 0.3),
                 random.uniform(-4, 4)};
    const PaperGap paper = paper_gap(s);
    if (paper.gap + s.link.radius + s.peg.radius < 1e-2) continue;  // normal undefined
    ++parts[paper.part + 1];
    const Vec3 u = random.vector3();
    const Vec3 v_G(u[0], u[1], 0), omega(0, 0, u[2]);
    const SE3 X = planar_pose(s.r_G[0], s.r_G[1], s.theta), H = planar_pose(s.r_H[0], s.r_H[1], 0);
    const ContactPoint ours = only_point(s.link, X, s.peg, H);
    gap.add(std::abs(ours.gap - paper.gap), seed);
    // Shape a moves, b stands: rate = n . (0 - v_A).
    const Vec3 v_A = v_G + omega.cross(ours.on_a - X.r);
    rate.add(std::abs(-ours.normal.dot(v_A) - paper.w * u), seed);
    EXPECT_NEAR(ours.on_a[2], 0, 1e-15);
  }
  for (const int part : parts) EXPECT_GE(part, 100);  // both semicircles and the rectangle
}

TEST(P0, BothSidesAndBothEndsByHand) {
  const Capsule link{0.05, 0.04};
  const Peg peg{0.125};
  const SE3 X = SE3::identity();
  const auto gap = [&](double x, double y) {
    return only_point(link, X, peg, SE3::translation({x, y, 0}));
  };
  EXPECT_NEAR(gap(0.01, 0.3).gap, 0.3 - 0.175, 1e-16);               // rectangle, +y
  EXPECT_NEAR(gap(0.01, -0.3).gap, 0.3 - 0.175, 1e-16);              // rectangle, -y
  EXPECT_NEAR(gap(0.34, 0).gap, 0.3 - 0.175, 1e-16);                 // front
  EXPECT_NEAR(gap(-0.34, 0).gap, 0.3 - 0.175, 1e-16);                // rear
  EXPECT_NEAR(gap(0.34, 0.4).gap, 0.5 - 0.175, 1e-16);               // front, oblique: 3-4-5
  EXPECT_NEAR(gap(0.01, 0.1).gap, -0.075, 1e-16);                    // in penetration
  EXPECT_LE((gap(0.01, 0.3).normal - Vec3::UnitY()).norm(), 1e-15);  // from link to peg
  EXPECT_LE((gap(0.01, 0.3).on_a - Vec3(0.01, 0.05, 0)).norm(), 1e-15);
  EXPECT_LE((gap(0.01, 0.3).on_b - Vec3(0.01, 0.175, 0)).norm(), 1e-15);
  EXPECT_LE((gap(-0.34, 0).normal + Vec3::UnitX()).norm(), 1e-15);
  EXPECT_LE((gap(-0.34, 0).on_a - Vec3(-0.09, 0, 0)).norm(), 1e-15);
}

TEST(P0, GapIsContinuousWhereTheRectangleEnds) {
  const Capsule link{0.05, 0.04};
  const Peg peg{0.1};
  for (const double side : {-1.0, 1.0}) {
    for (const double end : {-1.0, 1.0}) {
      const auto at = [&](double x) {
        return only_point(link, SE3::identity(), peg, SE3::translation({x, 0.3 * side, 0}));
      };
      const double edge = 0.04 * end;
      const ContactPoint in = at(edge * (1 - 1e-9)), out = at(edge * (1 + 1e-9));
      EXPECT_NEAR(in.gap, out.gap, 1e-12);
      EXPECT_LE((in.normal - out.normal).norm(), 1e-8);
      EXPECT_LE((in.on_a - out.on_a).norm(), 1e-8);
    }
  }
}

// --- Round shapes: a core (point, segment or line) and a radius
// -----------------------------------

struct Core {
  Vec3 centre, direction;  // inertial
  double half = 0, radius = 0;
};
Core core_of(const Shape& shape, const SE3& X) {
  if (const auto* s = std::get_if<Sphere>(&shape)) return {X.r, X.R.col(0), 0, s->radius};
  if (const auto* s = std::get_if<Capsule>(&shape)) {
    return {X.r, X.R.col(0), s->half_length, s->radius};
  }
  const auto& peg = std::get<Peg>(shape);
  return {X.r, X.R.col(2), std::numeric_limits<double>::infinity(), peg.radius};
}

// Nearest points of two cores by enumeration of the active bounds: the distance is convex in (s,
// t), so the least over all stationary points that are inside is the least of all. `where` tells
// which.
struct Nearest {
  Vec3 a, b;
  int where = -1;
};
Nearest nearest(const Core& a, const Core& b) {
  Nearest best;
  double least = std::numeric_limits<double>::infinity();
  const Vec3 d = a.centre - b.centre;
  const double c = a.direction.dot(b.direction);
  const auto consider = [&](double s, double t, int where) {
    if (!(std::abs(s) <= a.half && std::abs(t) <= b.half)) return;
    const Vec3 p = a.centre + s * a.direction, q = b.centre + t * b.direction;
    if ((p - q).norm() < least) {
      least = (p - q).norm();
      best = {p, q, where};
    }
  };
  const double da = d.dot(a.direction), db = d.dot(b.direction);
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {  // 0: free, +-1: at an end
      const int where = 3 * (i + 1) + j + 1;
      const double end_a = i * a.half, end_b = j * b.half;
      if ((i != 0 && !std::isfinite(end_a)) || (j != 0 && !std::isfinite(end_b))) continue;
      if (i != 0 && j != 0) consider(end_a, end_b, where);
      if (i != 0 && j == 0) consider(end_a, db + c * end_a, where);
      if (i == 0 && j != 0) consider(c * end_b - da, end_b, where);
      if (i == 0 && j == 0 && 1 - c * c > 1e-14) {
        const double t = (db - c * da) / (1 - c * c);
        consider(c * t - da, t, where);
      }
    }
  }
  return best;
}

// The same by brute force: a grid over both cores that zooms in on its best node.
double sampled_distance(const Core& a, const Core& b) {
  const double reach = 5;  // of an unbounded core, enough for the scenes below
  double s = 0, t = 0, ds = std::min(a.half, reach), dt = std::min(b.half, reach), best = 1e300;
  const auto clip = [](double x, const Core& core) { return std::clamp(x, -core.half, core.half); };
  for (int zoom = 0; zoom < 150; ++zoom) {
    const double s0 = s, t0 = t;
    for (int i = -10; i <= 10; ++i) {
      for (int j = -10; j <= 10; ++j) {
        const double u = clip(s0 + ds * i / 10, a), w = clip(t0 + dt * j / 10, b);
        const double distance = (a.centre + u * a.direction - b.centre - w * b.direction).norm();
        if (distance < best) {
          best = distance;
          s = u;
          t = w;
        }
      }
    }
    ds *= 0.8;
    dt *= 0.8;
  }
  return best;
}

Shape random_round(Random& random) {
  switch (random.integer(0, 2)) {
    case 0: return Sphere{random.uniform(0.05, 0.5)};
    case 1: return Capsule{random.uniform(0.05, 0.5), random.uniform(0.05, 1)};
    default: return Peg{random.uniform(0.05, 0.5)};
  }
}
bool both_pegs(const Shape& a, const Shape& b) {
  return std::holds_alternative<Peg>(a) && std::holds_alternative<Peg>(b);
}

TEST(RoundShapes, AgainstSampledDistances) {
  Worst exact("gap against enumeration", 1e-14), sampled("gap against samples", 1e-12);
  Worst normal("normal", 1e-12), points("points on the surfaces", 1e-13);
  for (const auto seed : seeds(1, 600)) {
    Random random(seed);
    const Shape a = random_round(random), b = random_round(random);
    if (feature_count(a, b) == 0) {
      EXPECT_TRUE(both_pegs(a, b)) << name_of(a) << " and " << name_of(b);
      continue;
    }
    const SE3 X_a = random.pose(), X_b = random.pose();
    const Core core_a = core_of(a, X_a), core_b = core_of(b, X_b);
    const Nearest cores = nearest(core_a, core_b);
    const double distance = (cores.a - cores.b).norm();
    if (distance < 1e-2) continue;
    const ContactPoint ours = only_point(a, X_a, b, X_b);
    const double radii = core_a.radius + core_b.radius;
    exact.add(std::abs(ours.gap - (distance - radii)), seed);
    if (seed % 4 == 0) {
      sampled.add(std::abs(ours.gap - (sampled_distance(core_a, core_b) - radii)), seed);
    }
    const Vec3 n = (cores.b - cores.a) / distance;
    // Nearly parallel axes leave the foot uncertain by eps/sin^2; distance and normal are not.
    normal.add((ours.normal - n).norm() * std::min(1.0, distance), seed);
    points.add((ours.on_b - ours.on_a - ours.gap * ours.normal).norm(), seed);
    const auto depth = [](const Core& core, const Vec3& p) {  // distance of p to the core
      const double s = std::clamp((p - core.centre).dot(core.direction), -core.half, core.half);
      return (p - core.centre - s * core.direction).norm();
    };
    points.add(std::abs(depth(core_a, ours.on_a) - core_a.radius), seed);
    points.add(std::abs(depth(core_b, ours.on_b) - core_b.radius), seed);
  }
}

TEST(RoundShapes, ParallelCapsules) {
  // The nearest points are not unique; the gap and the normal are.
  const Capsule a{0.1, 0.5}, b{0.2, 0.3};
  for (const double shift : {0.0, 0.2, 0.5, 0.79, 0.81, 2.0}) {
    for (const double sign : {1.0, -1.0}) {
      for (const double flip : {1.0, -1.0}) {
        const SE3 X_b{Vec3(flip, flip, 1).asDiagonal(), Vec3(sign * shift, 0.7, 0)};
        const double beyond = std::max(0.0, shift - 0.8);
        const ContactPoint p = only_point(a, SE3::identity(), b, X_b);
        EXPECT_NEAR(p.gap, std::hypot(0.7, beyond) - 0.3, 1e-15) << shift;
        EXPECT_NEAR(p.normal.norm(), 1, 4 * eps);
        EXPECT_LE((p.on_b - p.on_a - p.gap * p.normal).norm(), 1e-15);
      }
    }
  }
}

TEST(RoundShapes, NearlyParallelCapsules) {
  // Side by side and inclined by a tiny angle, in their common plane: the ends are nearest, and the
  // gap does not jump where an algorithm starts to call the axes parallel.
  Worst worst("gap", 1e-14);
  const Capsule a{0.1, 0.5}, b{0.2, 0.4};
  for (double angle = 1e-1; angle > 1e-17; angle /= 3) {
    for (const double sign : {-1.0, 1.0}) {
      const SE3 X_b{rotation_about(Vec3::UnitZ(), sign * angle), Vec3(0.05, 0.7, 0)};
      // The end of b that dips towards a lies over a's side.
      const double exact = 0.7 - 0.4 * std::sin(angle) - 0.3;
      const double ours = only_point(a, SE3::identity(), b, X_b).gap;
      worst.add(std::abs(ours - exact), "angle " + std::to_string(angle));
      const double swapped = only_point(b, X_b, a, SE3::identity()).gap;
      worst.add(std::abs(swapped - exact), "angle " + std::to_string(angle) + ", swapped");
    }
  }
}

TEST(RoundShapes, CoincidentCoresGiveANormalAcrossThem) {
  // Cores that meet have no nearest direction; moving along the normal must part them, so it is
  // across every axis.
  const std::vector<std::pair<Shape, Shape>> pairs{
      {Sphere{0.1}, Sphere{0.2}},       {Sphere{0.1}, Capsule{0.2, 0.3}},
      {Capsule{0.1, 0.3}, Sphere{0.2}}, {Capsule{0.1, 0.4}, Capsule{0.2, 0.3}},
      {Sphere{0.1}, Peg{0.2}},          {Peg{0.1}, Sphere{0.2}},
      {Capsule{0.1, 0.4}, Peg{0.2}},    {Peg{0.1}, Capsule{0.2, 0.3}}};
  Worst across("n . axis", 1e-13);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    for (const auto& [a, b] : pairs) {
      const Vec3 r = seed == 1 ? Vec3::Zero() : random.vector3();
      const SE3 X_a{seed == 1 ? Mat3::Identity() : random.rotation(), r};
      const SE3 X_b{seed < 5 ? X_a.R : random.rotation(), r};
      const ContactPoint p = only_point(a, X_a, b, X_b);
      const std::string where = std::string(name_of(a)) + " and " + std::string(name_of(b)) +
                                ", seed " + std::to_string(seed);
      EXPECT_NEAR(p.gap, -0.3, 1e-15) << where;
      EXPECT_NEAR(p.normal.norm(), 1, 4 * eps) << where;
      EXPECT_LE((p.on_b - p.on_a - p.gap * p.normal).norm(), 1e-15) << where;
      for (const Core& core : {core_of(a, X_a), core_of(b, X_b)}) {
        if (core.half > 0) across.add(std::abs(p.normal.dot(core.direction)), where);
      }
    }
  }
}

// --- Half-spaces and boxes
// ------------------------------------------------------------------------

double height(const SE3& plane, const Vec3& p) { return plane.R.col(2).dot(p - plane.r); }

TEST(HalfSpaces, SphereAndCapsuleEnds) {
  Worst worst("gap", 1e-14), normals("normal", 4 * eps), points("points", 1e-14);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const SE3 plane = random.pose(), X = random.pose();
    const Sphere sphere{random.uniform(0.05, 1)};
    const ContactPoint p = only_point(sphere, X, HalfSpace{}, plane);
    worst.add(std::abs(p.gap - (height(plane, X.r) - sphere.radius)), seed);
    normals.add((p.normal + plane.R.col(2)).norm(), seed);  // from the sphere into the ground
    points.add((p.on_a - (X.r - sphere.radius * plane.R.col(2))).norm(), seed);
    points.add(std::abs(height(plane, p.on_b)), seed);

    const Capsule capsule{random.uniform(0.05, 1), random.uniform(0.1, 1)};
    ASSERT_EQ(feature_count(capsule, HalfSpace{}), 2);
    ContactPoints ends;
    gap_functions(capsule, X, HalfSpace{}, plane, ends);
    std::array<double, 2> expected{}, ours{ends[0].gap, ends[1].gap};
    for (int k = 0; k < 2; ++k) {
      const Vec3 end = X * Vec3((2 * k - 1) * capsule.half_length, 0, 0);
      expected[k] = height(plane, end) - capsule.radius;
      points.add(std::abs(height(plane, ends[k].on_b)), seed);
      points.add((ends[k].on_b - ends[k].on_a - ends[k].gap * ends[k].normal).norm(), seed);
      normals.add((ends[k].normal + plane.R.col(2)).norm(), seed);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(ours.begin(), ours.end());
    for (int k = 0; k < 2; ++k) worst.add(std::abs(ours[k] - expected[k]), seed);
  }
}

TEST(HalfSpaces, BoxCorners) {
  Worst worst("gap", 1e-14);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const SE3 plane = random.pose(), X = random.pose();
    const Box box{Vec3(random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1))};
    ASSERT_EQ(feature_count(box, HalfSpace{}), 8);
    ContactPoints points;
    gap_functions(box, X, HalfSpace{}, plane, points);
    std::vector<bool> seen(8, false);
    for (const ContactPoint& point : points) {
      const Vec3 corner = X.inverse() * point.on_a;  // a corner of the box, each once
      worst.add((corner.cwiseAbs() - box.half_size).norm(), seed);
      seen[(corner[0] > 0 ? 1 : 0) + (corner[1] > 0 ? 2 : 0) + (corner[2] > 0 ? 4 : 0)] = true;
      worst.add(std::abs(point.gap - height(plane, point.on_a)), seed);
      worst.add((point.normal + plane.R.col(2)).norm(), seed);
      worst.add(std::abs(height(plane, point.on_b)), seed);
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 8) << "seed " << seed;
  }
}

TEST(Features, KeepTheirPlace) {  // feature k is the same material corner at every pose
  Random random(7);
  std::printf("[  SEEDS   ] mt19937_64: 7\n");
  const Box box{Vec3(0.1, 0.2, 0.3)};
  const Capsule capsule{0.1, 0.5};
  ContactPoints points;
  std::array<Vec3, 8> corners;
  std::array<double, 2> ends{};
  for (int trial = 0; trial < 50; ++trial) {
    const SE3 X = random.pose(), plane = random.pose();
    gap_functions(box, X, HalfSpace{}, plane, points);
    for (int k = 0; k < 8; ++k) {
      const Vec3 corner = X.inverse() * points[k].on_a;
      if (trial == 0) corners[k] = corner;
      EXPECT_LE((corner - corners[k]).norm(), 1e-14);
    }
    gap_functions(capsule, X, HalfSpace{}, plane, points);
    for (int k = 0; k < 2; ++k) {
      const Vec3 centre = X.inverse() * (points[k].on_a + 0.1 * plane.R.col(2));
      if (trial == 0) ends[k] = centre[0];
      EXPECT_NEAR(centre[0], ends[k], 1e-14);
    }
  }
}

// Signed distance of a point to a box, and the outward direction.
std::pair<double, Vec3> box_distance(const Box& box, const Vec3& p) {
  const Vec3 outside = p.cwiseAbs() - box.half_size;
  if (outside.maxCoeff() <= 0) {
    int axis = 0;
    const double depth = outside.maxCoeff(&axis);
    Vec3 n = Vec3::Zero();
    n[axis] = p[axis] < 0 ? -1 : 1;
    return {depth, n};
  }
  const Vec3 away = outside.cwiseMax(0).cwiseProduct(p.cwiseSign());
  return {away.norm(), away.normalized()};
}

TEST(BoxAndSphere, InsideAndOutside) {
  Worst gap("gap", 1e-14), normal("normal", 1e-13), points("points", 1e-13);
  int inside = 0, outside = 0;
  for (const auto seed : seeds(1, 1000)) {
    Random random(seed);
    const Box box{Vec3(random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1))};
    const Sphere sphere{random.uniform(0.05, 0.5)};
    const SE3 X = random.pose(), Y{random.rotation(), X * random.vector3()};
    const auto [distance, direction] = box_distance(box, X.inverse() * Y.r);
    if (std::abs(distance) < 1e-3) continue;
    ++(distance < 0 ? inside : outside);
    ASSERT_EQ(feature_count(box, sphere), 1);
    const ContactPoint ours = only_point(box, X, sphere, Y);
    gap.add(std::abs(ours.gap - (distance - sphere.radius)), seed);
    const Vec3 n = X.R * direction;
    normal.add((ours.normal - n).norm() * std::min(1.0, 100 * std::abs(distance)), seed);
    points.add((ours.on_b - (Y.r - sphere.radius * ours.normal)).norm(), seed);
    points.add((ours.on_b - ours.on_a - ours.gap * ours.normal).norm(), seed);
  }
  EXPECT_GE(inside, 100);
  EXPECT_GE(outside, 100);
}

// --- Every pair
// -----------------------------------------------------------------------------------

std::vector<Shape> one_of_each(Random& random) {
  return {Sphere{random.uniform(0.05, 0.3)},
          Capsule{random.uniform(0.05, 0.3), random.uniform(0.1, 0.6)},
          Box{Vec3(random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5))},
          HalfSpace{}, Peg{random.uniform(0.05, 0.3)}};
}

TEST(Pairs, SupportedOnesAndTheRest) {
  const Shape sphere = Sphere{1}, capsule = Capsule{1, 1}, box = Box{Vec3::Ones()},
              ground = HalfSpace{}, peg = Peg{1};
  EXPECT_EQ(feature_count(sphere, sphere), 1);
  EXPECT_EQ(feature_count(sphere, capsule), 1);
  EXPECT_EQ(feature_count(capsule, capsule), 1);
  EXPECT_EQ(feature_count(sphere, peg), 1);
  EXPECT_EQ(feature_count(capsule, peg), 1);
  EXPECT_EQ(feature_count(sphere, ground), 1);
  EXPECT_EQ(feature_count(capsule, ground), 2);
  EXPECT_EQ(feature_count(box, ground), 8);
  EXPECT_EQ(feature_count(box, sphere), 1);
  EXPECT_EQ(feature_count(ground, ground), 0);  // no finite contact
  EXPECT_EQ(feature_count(peg, ground), 0);
  EXPECT_EQ(feature_count(peg, peg), 0);
  EXPECT_TRUE(can_touch(box, box) && can_touch(box, capsule) && can_touch(box, peg));
  EXPECT_FALSE(can_touch(ground, ground) || can_touch(peg, ground) || can_touch(peg, peg));
  Random random(1);
  const std::vector<Shape> shapes = one_of_each(random);
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      EXPECT_EQ(feature_count(a, b), feature_count(b, a)) << name_of(a) << " " << name_of(b);
      EXPECT_EQ(can_touch(a, b), can_touch(b, a)) << name_of(a) << " " << name_of(b);
    }
  }
}

// How well the nearest points are determined: nearly parallel cores slide along each other, and the
// points are known to eps/sin^2 only.
double certainty(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b) {
  const auto round = [](const Shape& s) {
    return std::holds_alternative<Capsule>(s) || std::holds_alternative<Peg>(s);
  };
  if (!round(a) || !round(b)) return 1;
  return core_of(a, X_a).direction.cross(core_of(b, X_b).direction).squaredNorm();
}

TEST(Pairs, SwappedOrderIsSymmetric) {
  Worst gap("gap", 4 * eps), normal("normal, over distance", 16 * eps);
  Worst points("points, over certainty", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const std::vector<Shape> first = one_of_each(random), second = one_of_each(random);
    for (const Shape& a : first) {
      for (const Shape& b : second) {
        const SE3 X_a = random.pose(), X_b = random.pose();
        const int count = feature_count(a, b);
        if (count == 0) continue;
        ContactPoints forth, back;
        gap_functions(a, X_a, b, X_b, forth);
        gap_functions(b, X_b, a, X_a, back);
        const double sure = certainty(a, X_a, b, X_b);
        for (int k = 0; k < count; ++k) {
          gap.add(std::abs(forth[k].gap - back[k].gap), seed);
          // Rounding turns the normal by eps over the distance of the cores, here above 0.01.
          normal.add((forth[k].normal + back[k].normal).norm() * 0.1 * sure, seed);
          points.add((forth[k].on_a - back[k].on_b).norm() * sure, seed);
          points.add((forth[k].on_b - back[k].on_a).norm() * sure, seed);
        }
      }
    }
  }
}

TEST(Pairs, DoNotDependOnTheFrame) {
  Worst worst("moved together", 1e-13);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const std::vector<Shape> first = one_of_each(random), second = one_of_each(random);
    for (const Shape& a : first) {
      for (const Shape& b : second) {
        const SE3 X_a = random.pose(), X_b = random.pose(), Y = random.pose();
        const int count = feature_count(a, b);
        if (count == 0) continue;
        ContactPoints here, there;
        gap_functions(a, X_a, b, X_b, here);
        gap_functions(a, Y * X_a, b, Y * X_b, there);
        for (int k = 0; k < count; ++k) {
          worst.add(std::abs(here[k].gap - there[k].gap), seed);
          // A short distance between cores magnifies rounding in its direction.
          const double distance = std::min(1.0, std::abs((here[k].on_b - here[k].on_a).norm()));
          worst.add((Y.R * here[k].normal - there[k].normal).norm() * distance, seed);
        }
      }
    }
  }
}

// Which part of the shapes is in touch: the gap is smooth while this does not change.
int part_in_touch(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b) {
  const auto round = [](const Shape& s) {
    return !std::holds_alternative<Box>(s) && !std::holds_alternative<HalfSpace>(s);
  };
  if (round(a) && round(b)) return nearest(core_of(a, X_a), core_of(b, X_b)).where;
  if (std::holds_alternative<HalfSpace>(a) || std::holds_alternative<HalfSpace>(b)) return 0;
  const bool box_first = std::holds_alternative<Box>(a);
  const auto& box = std::get<Box>(box_first ? a : b);
  const Vec3 p = (box_first ? X_a : X_b).inverse() * (box_first ? X_b : X_a).r;
  int code = 0;
  const Vec3 outside = p.cwiseAbs() - box.half_size;
  int axis = 0;
  if (outside.maxCoeff(&axis) <= 0) return 100 + 2 * axis + (p[axis] < 0 ? 1 : 0);
  for (int i = 0; i < 3; ++i) code = 3 * code + (outside[i] <= 0 ? 0 : (p[i] < 0 ? 1 : 2));
  return code;
}

TEST(Pairs, RateOfTheGap) {
  // d gap/dt = n . (v_B - v_A) at the material points of contact. Differences of order 4 with
  // h = 1e-4: truncation is h^4/30 times the fifth derivative, which grows as speed^5/distance^4,
  // here up to 5^5/0.1^4: 1e-10 at the very worst; rounding is 1e-16/h = 1e-12.
  Worst worst("rate against differences", 1e-10);
  int skipped = 0;
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const std::vector<Shape> first = one_of_each(random), second = one_of_each(random);
    for (const Shape& a : first) {
      for (const Shape& b : second) {
        const SE3 X_a = random.pose(), X_b = random.pose();
        const Vec6 V_a = random.vector6(), V_b = random.vector6();
        const int count = feature_count(a, b);
        if (count == 0) continue;
        constexpr double h = 1e-4;
        const auto poses = [&](double t) {
          return std::pair(turned_by_twist(X_a, V_a, t), turned_by_twist(X_b, V_b, t));
        };
        const auto part = [&](double t) {
          const auto [Y_a, Y_b] = poses(t);
          return part_in_touch(a, Y_a, b, Y_b);
        };
        const auto gaps = [&](double t) {
          const auto [Y_a, Y_b] = poses(t);
          ContactPoints points;
          gap_functions(a, Y_a, b, Y_b, points);
          return points;
        };
        const ContactPoints now = gaps(0);
        const auto cores_apart = [&] {
          const bool flat =
              std::holds_alternative<HalfSpace>(a) || std::holds_alternative<HalfSpace>(b);
          if (flat) return true;
          double radii = 0;
          for (const Shape* s : {&a, &b}) {
            if (const auto* sphere = std::get_if<Sphere>(s)) radii += sphere->radius;
            if (const auto* capsule = std::get_if<Capsule>(s)) radii += capsule->radius;
            if (const auto* peg = std::get_if<Peg>(s)) radii += peg->radius;
          }
          return std::abs(now[0].gap + radii) > 0.1;
        };
        if (!cores_apart() || part(0) != part(2 * h) || part(0) != part(-2 * h)) {
          ++skipped;  // the formula of the gap changes within the stencil
          continue;
        }
        const ContactPoints f1 = gaps(h), f2 = gaps(2 * h), b1 = gaps(-h), b2 = gaps(-2 * h);
        for (int k = 0; k < count; ++k) {
          const double difference =
              (8 * (f1[k].gap - b1[k].gap) - (f2[k].gap - b2[k].gap)) / (12 * h);
          const Vec3 v_A = velocity_at(X_a, V_a, now[k].on_a),
                     v_B = velocity_at(X_b, V_b, now[k].on_b);
          worst.add(std::abs(now[k].normal.dot(v_B - v_A) - difference),
                    std::string(name_of(a)) + " and " + std::string(name_of(b)) + ", seed " +
                        std::to_string(seed));
        }
      }
    }
  }
  std::printf("[  COUNT   ] measured %d, skipped %d\n", worst.count(), skipped);
  EXPECT_LE(skipped, worst.count() / 4);
}

TEST(Names, OfShapes) {
  EXPECT_EQ(name_of(Shape{Sphere{}}), "sphere");
  EXPECT_EQ(name_of(Shape{Capsule{}}), "capsule");
  EXPECT_EQ(name_of(Shape{Box{}}), "box");
  EXPECT_EQ(name_of(Shape{HalfSpace{}}), "half-space");
  EXPECT_EQ(name_of(Shape{Peg{}}), "peg");
}

}  // namespace
}  // namespace saltus
