// Ellipsoids: nearest points, the rate of the gap, and an ellipse that rolls, against quadratures.
#include "saltus/geometry/ellipsoid.h"

#include <numbers>

#include "saltus/base/error.h"
#include "saltus/geometry/contact_points.h"
#include "saltus/lie/so3.h"
#include "tests/support/check.h"
#include "tests/support/events.h"
#include "tests/support/random.h"

using namespace saltus;
using namespace saltus::test;

namespace {

constexpr double pi = std::numbers::pi;

Ellipsoid random_ellipsoid(Random& random) {
  return {Vec3(random.uniform(0.05, 1), random.uniform(0.05, 1), random.uniform(0.05, 1))};
}
double level(const Ellipsoid& e, const Vec3& p) { return p.cwiseQuotient(e.semi_axes).norm(); }
Vec3 on_surface(Random& random, const Ellipsoid& e) {
  return e.semi_axes.cwiseProduct(random.direction());
}

}  // namespace

// The nearest point lies on the surface, the way to it along the normal there, and no other point
// of the surface is nearer.
TEST(Ellipsoids, NearestPoints) {
  Worst surface("nearest point off the surface", 1e-14), across("way across the normal", 4e-15);
  Worst nearer("another point nearer by", 1e-15), sides("sign of the distance wrong", 0);
  for (const auto seed : seeds(1, 3000)) {
    Random random(seed);
    const Ellipsoid e = random_ellipsoid(random);
    Vec3 p = random.uniform(0, 2) * on_surface(random, e);
    for (int i = 0; i < 3; ++i)
      if (random.chance(0.15)) p[i] = 0;  // planes of symmetry
    const PointDistance d = distance_to(e, p);
    surface.add(std::abs(level(e, d.on) - 1), seed);
    across.add((p - d.on - d.distance * d.normal).norm(), seed);
    sides.add(std::abs(level(e, p) - 1) > 1e-12 && (d.distance > 0) != (level(e, p) > 1), seed);
    for (int k = 0; k < 40; ++k) {
      const Vec3 other =
          k < 20 ? on_surface(random, e)
                 : Vec3(e.semi_axes.cwiseProduct(
                       (d.on.cwiseQuotient(e.semi_axes) + random.vector3(0.03)).normalized()));
      nearer.add(excess(std::abs(d.distance) - (p - other).norm()), seed);
    }
  }
}

TEST(Ellipsoids, NearestPointsWhereThereAreSeveral) {
  const Ellipsoid flat{Vec3(0.5, 0.4, 0.1)};
  expect_figure("depth of the centre", distance_to(flat, Vec3::Zero()).distance, -0.1, 1e-16);
  // On the long axis the nearest points leave it until x = (a^2 - c^2)/a.
  const double edge = (0.25 - 0.01) / 0.5;
  expect_figure("beyond the evolute", distance_to(flat, {edge + 1e-3, 0, 0}).distance,
                -(0.5 - edge - 1e-3), 1e-15);
  const double x = 0.2, on = 0.25 * x / 0.24;
  expect_figure("within it", distance_to(flat, {x, 0, 0}).distance,
                -std::hypot(on - x, 0.1 * std::sqrt(1 - 4 * on * on)), 1e-15);
  const Ellipsoid ball{Vec3::Constant(0.3)};
  expect_figure("centre of a ball", distance_to(ball, Vec3::Zero()).distance, -0.3, 1e-16);
  expect_figure("inside a ball", distance_to(ball, {0, 0.1, 0}).distance, -0.2, 1e-16);
  expect_figure("outside a ball", distance_to(ball, {0, 0.6, 0.8}).distance, 0.7, 4e-16);
}

// Contract of contact_points.h, by differences of order six along random motions.
TEST(Ellipsoids, GapRateIsThatOfThePoints) {
  Worst rate("d gap/dt - n . (v_B - v_A)", 1e-9), closes("on_b - on_a - gap n", 1e-14);
  const Shape others[] = {HalfSpace{}, Sphere{0.2}, Sphere{}, Peg{0.15}};
  for (const auto seed : seeds(1, 400)) {
    Random random(seed);
    const Shape e = random_ellipsoid(random);
    const Shape& other = others[seed % 4];
    ASSERT_TRUE(can_touch(e, other) && can_touch(other, e));
    const bool first = random.chance(0.5);
    const SE3 X_a = random.pose(), X_b = random.pose();
    const Vec3 v[2] = {random.vector3(1), random.vector3(1)},
               w[2] = {random.vector3(1), random.vector3(1)};
    const auto at = [&](double t) {
      const auto moved = [&](const SE3& X, int k) {
        const double angle = t * w[k].norm();
        return SE3{Eigen::AngleAxisd(angle, w[k].normalized()) * X.R, X.r + t * v[k]};
      };
      Manifold m;
      contact_points(first ? e : other, moved(X_a, 0), first ? other : e, moved(X_b, 1), infinity,
                     m);
      EXPECT_EQ(m.count, 1);
      return m.points[0];
    };
    const ContactPoint p = at(0);
    if (p.gap < 0) continue;  // inside, nearest points may jump
    closes.add((p.on_b - p.on_a - p.gap * p.normal).norm() / (1 + X_a.r.norm() + X_b.r.norm()),
               seed);
    const double h = 2e-3, weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    double numeric = 0;
    for (int k = 1; k <= 3; ++k) numeric += weight[k - 1] / h * (at(k * h).gap - at(-k * h).gap);
    const auto velocity = [&](int k, const Vec3& point, const SE3& X) {
      return Vec3(v[k] + w[k].cross(point - X.r));
    };
    const double exact = p.normal.dot(velocity(1, p.on_b, X_b) - velocity(0, p.on_a, X_a));
    // Near the far ends of a slender ellipsoid the curvature is 400 times its size.
    rate.add(std::abs(numeric - exact) * std::min(1.0, p.gap), seed);
  }
}

TEST(Ellipsoids, RefusedWithTheRest) {
  const Ellipsoid e{Vec3::Ones()};
  for (const Shape& other :
       {Shape(Capsule{0.1, 0.2}), Shape(Box{Vec3::Ones()}), Shape(Cylinder{0.1, 0.2}), Shape(e)})
    EXPECT_FALSE(can_touch(e, other) || can_touch(other, e)) << name_of(other);
  ModelBuilder b;
  b.body("wheel", ball_inertia(1, 1), joint(Floating{}));
  b.shape("wheel", "wheel", SE3{}, e).shape("box", "world", SE3{}, Box{Vec3::Ones()});
  b.contact("box", "wheel", {});
  try {
    (void)b.build();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "contacts[0]: contact of a box with a ellipsoid is not supported");
  }
}

// --- an ellipse rolls on a line ----------------------------------------------------------------

namespace {

// Semi-axes a, b; turned by theta from a level major axis its centre is at h = |(a sin, b cos)| and
// the contact h' ahead; T = (I + m (h^2 + h'^2)) theta'^2 / 2, V = m g h.
struct Rolling {
  double a = 0.5, b = 0.4, m = 2, g = 9.81, spin = 4;  // spin at theta = 0
  [[nodiscard]] double inertia() const { return 0.25 * m * (a * a + b * b); }
  [[nodiscard]] double h(double x) const { return std::hypot(a * std::sin(x), b * std::cos(x)); }
  [[nodiscard]] double dh(double x) const {
    return (a * a - b * b) * std::sin(x) * std::cos(x) / h(x);
  }
  [[nodiscard]] double mass(double x) const {
    return inertia() + m * (h(x) * h(x) + dh(x) * dh(x));
  }
  [[nodiscard]] double rate(double x) const {
    return std::sqrt((mass(0) * spin * spin + 2 * m * g * (h(0) - h(x))) / mass(x));
  }
  // Over a period of a smooth function the trapezoidal rule converges faster than any power.
  template <class F>
  [[nodiscard]] static double over_a_turn(const F& f) {
    const int n = 2000;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += f(2 * pi * i / n);
    return sum * 2 * pi / n;
  }
  [[nodiscard]] double time_of_a_turn() const {
    return over_a_turn([&](double x) { return 1 / rate(x); });
  }
  [[nodiscard]] double circumference() const {  // e is the ellipse's angle, not the turn
    return over_a_turn([&](double e) { return std::hypot(a * std::sin(e), b * std::cos(e)); });
  }
};

ModelBuilder ellipse(const Rolling& r, double mu = 3) {
  ModelBuilder b;
  JointSpec j = joint(Planar{});
  j.placement.R = exp_so3(0.5 * pi * Vec3::UnitX());  // x, z, and the turn from x to z
  const double ix = 0.25 * r.m * r.b * r.b, iy = 0.25 * r.m * r.a * r.a;
  b.body("wheel", {r.m, Vec3::Zero(), Vec3(ix, iy, ix + iy).asDiagonal()}, j);
  b.shape("wheel", "wheel", SE3{}, Ellipsoid{Vec3(r.a, r.b, 0.1)});
  b.shape("floor", "world", SE3{}, HalfSpace{}).contact("floor", "wheel", {.mu1 = mu, .mu2 = mu});
  return b;
}

void start(const Rolling& r, State& s) {
  s.q = Vec3(0, r.b, 0);
  s.v = Vec3(r.b * r.spin, 0, -r.spin);
}

}  // namespace

TEST(Ellipsoids, RollWithoutSlip) {
  const Rolling r;
  EventSimulation s(ellipse(r));
  start(r, s.state);
  const double turn = r.time_of_a_turn();
  ASSERT_TRUE(s.run_until(3 * turn)) << s.failure;
  s.print();
  expect_figure("turned, three turns", -s.state.q[2], 6 * pi, 1e-9);
  expect_figure("rolled, three circumferences", s.state.q[0], 3 * r.circumference(), 1e-9);
  expect_figure("spin", -s.state.v[2], r.spin, 1e-9);
  expect_figure("height", s.state.q[1], r.b, 1e-12);
  Workspace w(s.model);
  forward_kinematics(s.model, s.state.q, s.state.v, w);
  Manifold m;
  contact_points(HalfSpace{}, SE3{}, s.model.shapes[0].shape, w.X[0], 1, m);
  const Vec3 slip = point_velocity(w, BodyIndex(0), m.points[0].on_b);
  expect_figure("slip of the touching point", slip.norm(), 0, 1e-12);
  const double T = 0.5 * r.mass(0) * r.spin * r.spin;
  expect_figure("energy", kinetic_energy(s.model, s.state.v, w) + r.m * r.g * (s.state.q[1] - r.b),
                T, 1e-10 * T);
  EXPECT_EQ(s.impacts, 0);  // the thesis's wheels chattered
  EXPECT_EQ(s.events, 0);
}

// Moreau's scheme converges to the same motion.
TEST(Ellipsoids, RollByTimeSteps) {
  const Rolling r;
  const double turn = r.time_of_a_turn();
  double before = 0;
  for (const int n : {400, 800, 1600}) {
    Simulation s(ellipse(r), turn / n);
    s.options.solver = AutoSolver{};
    start(r, s.state);
    s.run_until(turn);
    const double error = std::hypot(s.state.q[0] - r.circumference(), -s.state.q[2] - 2 * pi);
    const double order = before > 0 ? std::log2(before / error) : 0;
    fmt::print("    {} steps a turn: off {:.2e}, order {:.2f}\n", n, error, order);
    EXPECT_LT(error, 20.0 / n);
    EXPECT_TRUE(before == 0 || order > 0.9);
    before = error;
  }
}
