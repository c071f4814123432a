// Discs that lean and rods in shape space: their rows and columns against the engine's own
// kinematics, derivatives against differences, and a disc that rolls in a circle (closed form).
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/analysis/classify.h"
#include "saltus/analysis/shape_dynamics.h"
#include "saltus/base/error.h"
#include "saltus/contact/elements.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"
#include "saltus/model/builder.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/random.h"
#include "tests/support/shape_columns.h"

namespace saltus {
namespace {

constexpr double pi = std::numbers::pi;

JointSpec on(const std::string& parent, const Joint& kind, const Vec3& at = Vec3::Zero()) {
  JointSpec j;
  j.parent = parent;
  j.kind = kind;
  j.placement = SE3::translation(at);
  return j;
}

// A bicycle of sorts: a frame that rises and leans on a planar root, a wheel on it, another on a
// raked fork that steers.
Model bicycle() {
  ModelBuilder b;
  const RigidInertia light{0.1, Vec3::Zero(), 0.01 * Mat3::Identity()};
  b.body("root", light, on("world", Planar{}));
  b.body("height", light, on("root", Prismatic{Vec3::UnitZ()}));
  b.body("lean", {3, {0.1, 0, 0.2}, 0.2 * Mat3::Identity()}, on("height", Revolute{Vec3::UnitX()}));
  b.body("rear", light, on("lean", Revolute{Vec3::UnitY()}, {-0.5, 0, 0}));
  JointSpec fork = on("lean", Revolute{Vec3::UnitZ()}, {0.5, 0, 0.1});
  fork.placement.R = exp_so3(Vec3(0, -0.3, 0));
  b.body("fork", light, fork);
  b.body("front", light, on("fork", Revolute{Vec3::UnitY()}, {0.05, 0, -0.1}));
  Wheel rear, front;
  rear.name = "rear", front.name = "front";
  rear.radius = 0.3, front.radius = 0.25;
  rear.pressed = front.pressed = true;
  b.wheel(rear, "rear").wheel(front, "front");
  return b.build();
}

// Twists of every body for random coordinates agree with N eta + S u, and the rows with what the
// engine's wheels say of the velocity of their lowest points.
TEST(ShapeDiscs, RowsAreThoseOfTheEngine) {
  const Model model = bicycle();
  const ShapeSpace space = shape_space(model);
  const std::vector<ConstraintRow> rows = axle_rows(model, space);
  ASSERT_EQ(rows.size(), 6U);
  test::Random random(3);
  for (int round = 0; round < 5; ++round) {
    const Vec q = 0.5 * random.vector(model.nq), v = random.vector(model.nv);
    Workspace work(model);
    forward_kinematics(model, q, v, work);
    const Vec r = shape_of(model, space, q);
    const Constraints c = constraints(space, shape_columns(model, space, r), rows);
    const Vec slip = c.A * (space.to_net * work.V[space.root]) + c.B * v.tail(space.p());
    for (int k = 0; k < 2; ++k) {
      const Wheel& w = model.wheels[k];
      const WheelRows at = wheel_rows(work, w);
      const Vec3 u = point_velocity(work, w.body, at.lowest);
      EXPECT_NEAR(slip[3 * k], at.along.head<3>().dot(u), 1e-13);
      EXPECT_NEAR(slip[3 * k + 1], at.across.head<3>().dot(u), 1e-13);
      EXPECT_NEAR(slip[3 * k + 2], w.normal.dot(u), 1e-13);
    }
  }
}

TEST(ShapeDiscs, DerivativesOfRows) {
  const Model model = bicycle();
  const ShapeSpace space = shape_space(model);
  const std::vector<ConstraintRow> rows = axle_rows(model, space);
  test::Random random(4);
  const Vec r = 0.5 * random.vector(space.p()), u = random.vector(space.p());
  const ShapeColumns columns = shape_columns(model, space, r);
  const Constraints d =
      constraints_along(space, columns, shape_columns_along(model, space, r, columns, u), u, rows);
  const double e = 1e-5;
  const auto at = [&](double x) {
    return constraints(space, shape_columns(model, space, r + x * u), rows);
  };
  const Constraints plus = at(e), minus = at(-e);
  EXPECT_LT(((plus.A - minus.A) / (2 * e) - d.A).norm(), 1e-8);
  EXPECT_LT(((plus.B - minus.B) / (2 * e) - d.B).norm(), 1e-8);
}

// The disc of scenes/p4/rolling-disc.yaml: the angle a between disc and ground and the precession W
// ask for the spin w3 about its axis, and the centre goes round on a circle of radius R w3 / W.
struct RollingDisc {
  static constexpr double R = 0.2, It = 0.01, Ia = 0.02, a = 1.2, W = 2;
  double w3 = (It * W * W * std::sin(a) * std::cos(a) - 9.81 * R * std::cos(a)) /
              (W * std::sin(a) * (Ia + R * R));
  Model model;

  RollingDisc() {
    ModelBuilder b;
    b.body("root", {}, on("world", Planar{}));
    b.body("height", {}, on("root", Prismatic{Vec3::UnitZ()}));
    b.body("lean", {}, on("height", Revolute{Vec3::UnitX()}));
    const Vec3 I(It, Ia, It);
    b.body("disc", {1, Vec3::Zero(), I.asDiagonal()}, on("lean", Revolute{Vec3::UnitY()}));
    Wheel wheel;
    wheel.name = "disc";
    wheel.radius = R;
    wheel.pressed = true;
    b.wheel(wheel, "disc");
    model = b.build();
  }
  [[nodiscard]] Vec start() const { return Vec3(R * std::sin(a), a - pi / 2, 0); }
  [[nodiscard]] double roll() const { return -w3 + W * std::cos(a); }
  [[nodiscard]] Vec twist() const { return Vec3(-R * w3, 0, W); }
};

TEST(ShapeDiscs, RollsInACircle) {
  const RollingDisc d;
  const ShapeSpace space = shape_space(d.model);
  const NetForces forces{axle_rows(d.model, space), {}};
  ShapePath path{d.start(), {2}, {Table{{0, 10}, {0, 10 * d.roll()}}}, 0, 2 * pi / d.W};
  const ReducedMotion m =
      reduced_motion(d.model, space, forces, path, {SE3{}, d.twist()}, {path.end / 2, path.end});
  ASSERT_TRUE(m.done);
  EXPECT_LT((m.at[0].eta - d.twist()).norm(), 1e-11);
  EXPECT_NEAR(m.at[0].g.r.y(), 2 * d.R * std::abs(d.w3) / d.W, 1e-10);  // across the circle
  EXPECT_LT(m.at[1].g.r.norm(), 1e-10);
  EXPECT_NEAR(m.at[1].turn, 2 * pi, 1e-11);
  // It needs no drive: some pressure on the plane leaves all torques at zero.
  const Torques t = torques(d.model, space, forces, instant(path, 0.3), d.twist(), SE3{});
  EXPECT_LT(t.residual, 1e-11);
  EXPECT_LT((t.tau + t.tau_stat * least_torque(t)).norm(), 1e-10);
}

// Lean and height go together as the lowest point asks: d(height) = R d(sin a).
TEST(ShapeDiscs, HeightFollowsTheLean) {
  const RollingDisc d;
  const ShapeSpace space = shape_space(d.model);
  const Classification c = classify(d.model, space, axle_rows(d.model, space), d.start());
  EXPECT_EQ(c.kind, ShapeClass::under);
  EXPECT_EQ(c.rank, 2);
  ASSERT_EQ(c.rates.cols(), 2);
  for (int k = 0; k < 2; ++k)
    EXPECT_NEAR(c.rates(0, k), d.R * std::cos(d.a) * c.rates(1, k), 1e-13);
}

TEST(ShapeDiscs, Refused) {
  const auto message = [](const Model& model) -> std::string {
    try {
      (void)axle_rows(model, shape_space(model));
    } catch (const InputError& e) { return e.what(); }
    return "";
  };
  Wheel wheel;
  wheel.name = "w";
  ModelBuilder flying;
  flying.body("disc", {1, Vec3::Zero(), Mat3::Identity()}, on("world", Floating{}));
  flying.wheel(wheel, "disc");
  EXPECT_NE(message(flying.build()).find("root moves in the plane"), std::string::npos);
  ModelBuilder wall;
  wall.body("disc", {1, Vec3::Zero(), Mat3::Identity()}, on("world", Planar{}));
  wheel.normal = Vec3::UnitX();
  wall.wheel(wheel, "disc");
  EXPECT_NE(message(wall.build()).find("expected the plane in which the root"), std::string::npos);
  const RollingDisc d;
  const ShapeSpace space = shape_space(d.model);
  const Vec flat = Vec3(0, pi / 2, 0);
  EXPECT_THROW((void)classify(d.model, space, axle_rows(d.model, space), flat), InputError);
}

// A trunk with a rod of two segments that stretches, twists and bends, and a link on its tip.
Model with_rod() {
  ModelBuilder b;
  JointSpec root;
  root.kind = Floating{};
  b.body("trunk", {2, {0.1, 0, 0}, 0.1 * Mat3::Identity()}, root);
  SegmentSpec s;
  s.length = 0.7;
  s.basis = {{Strain::stretch, BasisKind::legendre, 2},
             {Strain::torsion, BasisKind::legendre, 2},
             {Strain::bend_y, BasisKind::legendre, 3},
             {Strain::bend_z, BasisKind::legendre, 3}};
  s.given = [](double) { return test::diagonal_rod(Vec6::Ones(), Vec6::Ones()); };
  RodSpec rod;
  rod.name = "rod";
  rod.joint = on("trunk", Spherical{}, {0.2, 0, 0});
  rod.segments = {s, s};
  b.rod(rod);
  b.body("link", {1, {0.1, 0, 0}, 0.1 * Mat3::Identity()}, on("rod.tip", Revolute{Vec3::UnitZ()}));
  return b.build();
}

TEST(ShapeOfRods, ColumnsAreThoseOfTheEngine) {
  const Model model = with_rod();
  const ShapeSpace space = shape_space(model);
  ASSERT_EQ(space.p(), 3 + 10 + 10 + 1);
  test::Random random(5);
  const Vec r = 0.6 * random.vector(space.p()), u = random.vector(space.p());
  const Vec q = shape_q(model, space, r);
  Vec v = Vec::Zero(model.nv);
  for (int i = 0; i < space.p(); ++i)
    v[model.bodies[space.variables[i].body].v0 + space.variables[i].component] = u[i];
  Workspace work(model);
  forward_kinematics(model, q, v, work);
  const ShapeColumns c = shape_columns(model, space, r);
  for (int i = 0; i < model.body_count(); ++i) {
    EXPECT_LT((c.shape[i] * u - work.V[i]).norm(), 1e-13) << model.bodies[i].name;
    EXPECT_LT((c.X[i].r - work.X[i].r).norm(), 1e-13) << model.bodies[i].name;
  }
  EXPECT_LT((shape_of(model, space, q) - r).norm(), 1e-13);
}

TEST(ShapeOfRods, DerivativesOfColumns) {
  const Model model = with_rod();
  test::Random random(6);
  for (const char* reference : {"trunk", "rod.3", "link"}) {
    const ShapeSpace space = shape_space(model, reference);
    const Vec r = 0.6 * random.vector(space.p()), rdot = random.vector(space.p());
    expect_derivatives_of_columns(model, space, r, rdot, 1e-7, reference);
  }
}

}  // namespace
}  // namespace saltus
