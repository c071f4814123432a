// What actuators can do: against P1's leg in the completion of its chapter 6, a fine sampling of
// the torque box, first steps of the engine, and each other.
#include "saltus/analysis/capability.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"
#include "saltus/scene/scene.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;
using test::Random;
using test::Worst;

// A rod of P1's leg along -y from its joint.
RigidInertia hanging_rod(double mass, double length) {
  const Vec3 along = solid_cylinder(mass, 0.005, length).diagonal();  // axis x
  return {mass, {0, -0.5 * length, 0}, Vec3(along[1], along[0], along[2]).asDiagonal()};
}

JointSpec hangs_on(const std::string& parent, const Joint& kind, const Vec3& at) {
  JointSpec j;
  j.parent = parent;
  j.kind = kind;
  j.placement.r = at;
  return j;
}

// P1's jumping leg with nothing but motors: body, coxa, femur, tibia; y is up.
Model jumping_leg() {
  const Revolute y{Vec3::UnitY()}, z{Vec3::UnitZ()};
  ModelBuilder b;
  b.gravity({0, -9.81, 0});
  b.body("body", test::box_inertia(0.112, {0.08, 0.03, 0.06}),
         hangs_on("world", Floating{}, Vec3::Zero()));
  b.body("coxa", {0.018, {0.015, 0, 0}, solid_cylinder(0.018, 0.005, 0.03)},
         hangs_on("body", y, {0, -0.03, 0}));
  b.body("femur", hanging_rod(0.024, 0.0646), hangs_on("coxa", z, {0.03, 0, 0}));
  b.body("tibia", hanging_rod(0.022, 0.09), hangs_on("femur", z, {0, -0.0646, 0}));
  return b.build();
}

// R = R3(q6) R2(q5) R1(q4); the height changes nothing.
Vec posture(const Model& model, const std::array<double, 6>& q4_to_q9) {
  Vec q = Vec::Zero(model.nq);
  const Quat R = Eigen::AngleAxisd(q4_to_q9[2], Vec3::UnitZ()) *
                 Eigen::AngleAxisd(q4_to_q9[1], Vec3::UnitY()) *
                 Eigen::AngleAxisd(q4_to_q9[0], Vec3::UnitX());
  q.segment<4>(3) << R.w(), R.x(), R.y(), R.z();
  for (int i = 0; i < 3; ++i) q[7 + i] = q4_to_q9[3 + i];
  return q;
}
const std::array<double, 6> guess = {0, 0, 0, 0, 0.09, -0.61};
const std::array<double, 6> printed = {0.52, -0.5, -0.46, 0.15, 0.03, 0.67};

Stance leg_stance(const std::array<double, 6>& angles, double friction = infinity) {
  const Model model = jumping_leg();
  StanceOptions o;
  o.point.body = model.body("body");
  o.footholds = {{model.body("tibia"), {0, -0.09, 0}, Vec3::UnitY(), friction}};
  o.joints = "coxa|femur|tibia";
  o.limit = 2.5;
  return stance_of(model, {}, posture(model, angles), 0, o);
}
const Vec3 forward_up = Vec3(-1, 1, 0).normalized();

TEST(Capability, P1sLegAtTheGuessAndAtThePrintedOptimum) {
  const struct {
    const char* name;
    std::array<double, 6> q;
    Vec3 d;
    double directional, free, held;
  } cases[] = {
      {"guess, (-1, 1, 0)", guess, forward_up, 112.93271340, 233.43681685, 233.43681685},
      {"guess, (0, 1, 0)", guess, Vec3::UnitY(), 265.37402916, 379.06885745, 379.06885745},
      {"optimum, (-1, 1, 0)", printed, forward_up, 268.13124865, 910.92762478, 908.36486092}};
  for (const auto& c : cases) {
    const Stance s = leg_stance(c.q), cone = leg_stance(c.q, 0.5);
    // Two recomputations agree to 1e-7, the digits that are printed.
    constexpr double tolerance = 1e-7;
    const std::string name = c.name;
    expect_figure(name + ": directional", directional_by_ratios(s, c.d).value, c.directional,
                  tolerance);
    expect_figure(name + ": directional, program", directional_capability(s, c.d).value,
                  c.directional, tolerance);
    expect_figure(name + ": free", free_capability(s, c.d).value, c.free, tolerance);
    expect_figure(name + ": held, 16 sides", held_capability(cone, c.d, 16).value, c.held,
                  tolerance);
    // The cone itself lies between its inner polygon and no limit at all.
    const Capability held = held_capability(cone, c.d);
    EXPECT_GE(held.value, c.held - tolerance);
    EXPECT_LE(held.value, c.free + tolerance);
    EXPECT_LE(held.error, 1e-8 * held.value);
    std::printf("    the cone itself: %.8f, stated error %.1e\n", held.value, held.error);
  }
}

TEST(Capability, P1sJumpBegins) {
  const Stance s = leg_stance(guess);
  const Vec3 tau(0, 0.4, 1.2);
  const Vec3 a = s.acceleration(tau);
  const Vec F = s.Fs * tau + s.F0;                             // along y, x, -z: normal, T1, T2
  expect_figure("foot force along x", F[1], 1.8415986, 5e-8);  // digits as printed
  expect_figure("foot force along y", F[0], 34.1755752, 5e-8);
  expect_figure("acceleration along x", a.x(), 52.459435, 5e-7);
  expect_figure("acceleration along y", a.y(), 158.330130, 5e-7);
  EXPECT_NEAR(a.z(), 0, 1e-10);
}

TEST(Capability, AnInfeasibleStandIsSaidToBe) {
  Stance s = leg_stance(guess);
  for (Actuator& a : s.actuators) a.lower = -(a.upper = 1e-6);  // it cannot carry itself
  EXPECT_FALSE(directional_by_ratios(s, Vec3::UnitX()).feasible);
  EXPECT_FALSE(directional_capability(s, Vec3::UnitX()).feasible);
  EXPECT_TRUE(free_capability(s, Vec3::UnitX()).feasible);  // it falls
  // A foot that would have to pull.
  Stance hanging = leg_stance(guess, 0.5);
  hanging.F0[0] -= 1e6;
  EXPECT_FALSE(held_capability(hanging, Vec3::UnitY()).feasible);
  EXPECT_THROW((void)free_capability(s, Vec3::Zero()), InputError);
}

// Largest d.a of the points of a grid over the torque box whose forces are in the cones.
double by_grid(const Stance& s, const Vec3& d, double mu, int n) {
  double best = -infinity;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= n; ++k) {
        Vec3 tau;
        const int at[3] = {i, j, k};
        for (int m = 0; m < 3; ++m)
          tau[m] = s.actuators[m].lower + (s.actuators[m].upper - s.actuators[m].lower) * at[m] / n;
        const Vec F = s.Fs * tau + s.F0;
        if (F[0] >= 0 && std::hypot(F[1], F[2]) <= mu * F[0])
          best = std::max(best, d.dot(s.acceleration(tau)));
      }
  return best;
}

TEST(Capability, TheProgramAgainstAFineSamplingOfTheBox) {
  Random random(11);
  constexpr int n = 80;
  int bent = 0;
  for (int k = 0; k < 12; ++k) {
    std::array<double, 6> q = guess;
    for (double& x : q) x += random.uniform(-0.5, 0.5);
    const double mu = random.uniform(0.1, 0.8);
    const Vec3 d = Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    const Stance s = leg_stance(q, mu);
    const Vec3 unit = d.normalized();
    const Capability exact = held_capability(s, d);
    const double sampled = by_grid(s, unit, mu, n);
    ASSERT_TRUE(exact.feasible);
    // No sample is better. A feasible neighbour of the optimum lies within two cells of it, unless
    // the feasible part of the box is thinner than that.
    EXPECT_LE(sampled, exact.value * (1 + 1e-12));
    double cell = 0;
    for (int m = 0; m < 3; ++m) cell += std::abs(unit.dot(s.S.col(m))) * 5.0 / n;
    EXPECT_GE(sampled, exact.value - 4 * cell) << "case " << k;
    bent += exact.value < free_capability(s, d).value * (1 - 1e-6);
    // What it claims is so: the torques are within their limits, the forces in the cone.
    EXPECT_LE(exact.tau.lpNorm<Eigen::Infinity>(), 2.5 * (1 + 1e-12));
    EXPECT_LE(std::hypot(exact.force[1], exact.force[2]), mu * exact.force[0] + 1e-8 * s.load);
    EXPECT_NEAR(unit.dot(s.acceleration(exact.tau)), exact.value, 1e-10 * std::abs(exact.value));
  }
  EXPECT_GE(bent, 4) << "the cone must matter in some of them";
  // Without cones the corners of the box are samples: equality.
  const Stance free = leg_stance(printed);
  double best = -infinity;
  for (int c = 0; c < 8; ++c)
    best = std::max(best, forward_up.dot(free.acceleration(
                              2.5 * Vec3(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1))));
  EXPECT_NEAR(free_capability(free, forward_up).value, best, 1e-12 * best);
}

TEST(Capability, RatiosAndProgramAgree) {
  Random random(5);
  Worst worst("directional capability: ratios against the program", 1e-9);
  int infeasible = 0;
  for (int k = 0; k < 200; ++k) {
    std::array<double, 6> q = guess;
    for (double& x : q) x += random.uniform(-0.8, 0.8);
    Stance s = leg_stance(q);
    const double limit = random.uniform(0.02, 1);
    for (Actuator& a : s.actuators) a.upper = random.uniform(0.5, 1) * -(a.lower = -limit);
    const Vec3 d(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    const Capability ratios = directional_by_ratios(s, d), program = directional_capability(s, d);
    ASSERT_EQ(ratios.feasible, program.feasible) << k;
    infeasible += !ratios.feasible;
    if (!ratios.feasible) continue;
    worst.add(std::abs(ratios.value - program.value) / (1 + std::abs(ratios.value)));
    EXPECT_LE(program.value, free_capability(s, d).value + 1e-9);
    const Actuator& at = s.actuators[ratios.limiting];
    const double tau = ratios.tau[ratios.limiting];
    EXPECT_LT(std::min(std::abs(tau - at.lower), std::abs(tau - at.upper)), 1e-10);
  }
  EXPECT_GT(infeasible, 5);
  EXPECT_LT(infeasible, 150);
}

// The standing quadruped of P2: twelve motors, four feet, twelve rows of rank twelve.
struct Quadruped {
  Scene scene = load_scene(std::string(SALTUS_SOURCE_DIR) + "/scenes/p2/stand.yaml", {});
  System system = build_system(scene);
  [[nodiscard]] Stance stance(double limit, const char* body = "trunk") const {
    StanceOptions o;
    o.limit = limit;
    if (*body != '\0') o.point.body = system.model.body(body);
    return stance_of(system.model, system.actuation, system.start.q, 0, o);
  }
};

// The acceleration of the trunk's origin and of the centre of mass in a first, short step under
// constant torques.
std::pair<Vec3, Vec3> first_step(const Quadruped& robot, const Stance& s, const Vec& tau) {
  const Model& model = robot.system.model;
  Actuation actuation;
  Vec generalised = Vec::Zero(model.nv);
  for (std::size_t i = 0; i < s.actuators.size(); ++i)
    generalised[model.coordinates[model.coordinate(s.actuators[i].name)].v_index] =
        tau[static_cast<int>(i)];
  actuation.user = [&](const Model&, const Workspace&, double, VecIn, VecIn, VecRef out,
                       std::vector<Vec6>&) { out += generalised; };
  State state = robot.system.start;
  StepWorkspace work(model);
  MoreauMidpoint options;
  options.dt = 1e-7;  // velocities grow by 1e-5 m/s: terms of second order are 1e-10 of the first
  ProxGaussSeidel sweeps;
  sweeps.tolerance = 1e-16;
  sweeps.max_iterations = 200000;
  options.solver = sweeps;
  (void)step(model, actuation, state, work, options);
  Workspace at(model);
  forward_kinematics(model, robot.system.start.q, state.v, at);
  world_columns(model, at);
  Vec3 com = Vec3::Zero();
  for (int i = 0; i < model.body_count(); ++i) {
    const RigidInertia& r = model.bodies[i].rigid;
    com += r.mass / model.total_mass() *
           point_velocity(at, BodyIndex(i), at.X[i].R * r.com + at.X[i].r);
  }
  const BodyIndex trunk = model.body("trunk");
  return {point_velocity(at, trunk, at.X[trunk].r) / options.dt, com / options.dt};
}

TEST(Capability, TheStandingQuadrupedAgainstItsFirstStep) {
  const Quadruped robot;
  const Stance s = robot.stance(40), com = robot.stance(40, "");
  ASSERT_EQ(s.actuators.size(), 12u);
  ASSERT_EQ(s.blocks.size(), 4u);
  Worst worst("acceleration of the first step, relative", 1e-6);
  Random random(2);
  for (int k = 0; k < 6; ++k) {
    const Vec3 d = k == 0
                       ? Vec3(Vec3::UnitZ())
                       : Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0, 2));
    const Capability c = held_capability(s, d);
    ASSERT_TRUE(c.feasible);
    EXPECT_LE(c.error, 1e-6 * c.value);
    // Within the cones by a little: at their edge a step may slip.
    const Vec tau = 0.999 * c.tau + 0.001 * held_capability(s, Vec3::UnitZ(), 8).tau;
    const auto [trunk, centre] = first_step(robot, s, tau);
    worst.add((trunk - s.acceleration(tau)).norm() / trunk.norm(), fmt::format("trunk {}", k));
    worst.add((centre - com.acceleration(tau)).norm() / centre.norm(), fmt::format("com {}", k));
    if (k == 0) std::printf("    up with 40 N m: %.6f m/s^2\n", c.value);
  }
}

TEST(Capability, RedundantFeetShareTheLoad) {
  // A box on four corners: twelve rows of rank six, a drive that pushes it up against nothing.
  ModelBuilder b;
  b.body("box", test::box_inertia(2, {0.4, 0.4, 0.2}), hangs_on("world", Floating{}, Vec3::Zero()));
  b.shape("box", "box", {}, Box{{0.2, 0.2, 0.1}});
  b.shape("floor", "world", {}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.5;
  b.contact("floor", "box", law);
  b.body("arm", test::ball_inertia(0.5, 0.05),
         hangs_on("box", Prismatic{Vec3::UnitZ()}, {0, 0, 0.3}));
  const Model model = b.build();
  Vec q = Vec::Zero(model.nq);
  q[2] = 0.1;
  q[3] = 1;
  StanceOptions o;
  o.point.body = model.body("arm");
  o.joints = "arm";
  const auto held = [&](double limit, const Vec3& d) {
    o.limit = limit;
    return held_capability(stance_of(model, {}, q, 0, o), d).value;
  };
  o.limit = 10;
  EXPECT_EQ(stance_of(model, {}, q, 0, o).N.cols(), 6);
  // Upwards, F/m - g: the arm presses the box on the floor, nothing else bounds it. Downwards F/m +
  // g until the arm's reaction would lift the box, F = m_box g. 1e-9: forces of up to 1e3 N in
  // loads.
  expect_figure("arm up, 10 N", held(10, Vec3::UnitZ()), 10 / 0.5 - 9.81, 1e-9);
  expect_figure("arm up, 1000 N", held(1e3, Vec3::UnitZ()), 1e3 / 0.5 - 9.81, 1e-9);
  expect_figure("arm down, 10 N", held(10, -Vec3::UnitZ()), 10 / 0.5 + 9.81, 1e-9);
  expect_figure("arm down, 1000 N", held(1e3, -Vec3::UnitZ()), 2 * 9.81 / 0.5 + 9.81, 1e-8);
  // A point of the box cannot move at all while it is held.
  o.point.body = model.body("box");
  EXPECT_NEAR(held(1e3, {1, 2, 3}), 0, 1e-9);
}

TEST(Capability, ConesLieBetweenTheirPolygonsAndNoLimit) {
  // The quadruped on slippery ground, in directions that press its feet sideways.
  const Quadruped robot;
  const Stance s = robot.stance(40);
  Random random(8);
  int bent = 0;
  for (int k = 0; k < 40; ++k) {
    Stance t = s;
    for (Block& b : t.blocks) b.law = Coulomb{0.25, 0.25};
    const Vec3 d(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-0.2, 1));
    const Capability inner = held_capability(t, d, 64), cone = held_capability(t, d);
    ASSERT_EQ(inner.feasible, cone.feasible) << k;
    if (!cone.feasible) continue;
    EXPECT_GE(cone.value, inner.value - 1e-9 * std::abs(cone.value)) << k;
    // A polygon of 64 sides is 0.12 % smaller than its circle, and forces decide the rest.
    EXPECT_LE(cone.value - inner.value, 0.05 * (1 + std::abs(cone.value))) << k;
    EXPECT_LE(cone.error, 1e-6 * (1 + std::abs(cone.value))) << k;
    bent += cone.value < free_capability(t, d).value * (1 - 1e-6);
  }
  EXPECT_GT(bent, 10);
}

TEST(Capability, OutlinesHoldEverySample) {
  const Stance s = leg_stance(printed, 0.5);
  for (const bool held : {false, true}) {
    const std::vector<Vec2> outline = capability_outline(s, Vec3::UnitX(), Vec3::UnitY(), held);
    ASSERT_GE(outline.size(), 3u);
    if (!held) { EXPECT_EQ(outline.size(), 6u) << "the shadow of a parallelepiped"; }
    Random random(3);
    Worst worst("acceleration outside the outline, of its size", held ? 2e-3 : 1e-9);
    double size = 0;
    for (const Vec2& p : outline) size = std::max(size, (p - outline[0]).norm());
    int inside = 0;
    for (int k = 0; k < 4000; ++k) {
      const Vec3 tau =
          2.5 * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
      const Vec F = s.Fs * tau + s.F0;
      if (held && (F[0] < 0 || std::hypot(F[1], F[2]) > 0.5 * F[0])) continue;
      ++inside;
      const Vec2 a = s.acceleration(tau).head<2>();
      for (std::size_t i = 0; i < outline.size(); ++i) {
        const Vec2 side = outline[(i + 1) % outline.size()] - outline[i];
        worst.add(Vec2(side[1], -side[0]).normalized().dot(a - outline[i]) / size);
      }
    }
    EXPECT_GT(inside, 100);
  }
}

TEST(Capability, LinearProgramsAgainstTheirCorners) {
  Random random(9);
  Worst worst("program against the corners of its constraints", 1e-9);
  int infeasible = 0;
  for (int k = 0; k < 300; ++k) {
    LinearProgram p;
    const auto one = [&] { return random.uniform(-1, 1); };
    p.c = Vec3(one(), one(), k % 5 == 0 ? 0 : one());
    p.lower = Vec3::Constant(-1);
    p.upper = Vec3::Constant(1);
    for (int r = 0; r < 4; ++r) p.rows.push_back({Vec3(one(), one(), one()), 0.7 * one()});
    // Every corner is where three planes meet.
    std::vector<HalfSpaceCut> all = p.rows;
    for (int i = 0; i < 3; ++i) {
      all.push_back({Vec3::Unit(i), 1});
      all.push_back({-Vec3::Unit(i), 1});
    }
    double best = -infinity;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b)
        for (std::size_t c = b + 1; c < all.size(); ++c) {
          Mat3 A;
          A << all[a].a.transpose(), all[b].a.transpose(), all[c].a.transpose();
          if (std::abs(A.determinant()) < 1e-9) continue;
          const Vec3 x = A.inverse() * Vec3(all[a].b, all[b].b, all[c].b);
          bool holds = true;
          for (const HalfSpaceCut& h : all) holds &= h.a.dot(x) <= h.b + 1e-10;
          if (holds) best = std::max(best, p.c.dot(x));
        }
    const LinearAnswer found = maximise(p);
    if (best == -infinity) {
      EXPECT_EQ(found.status, LinearAnswer::Status::infeasible) << k;
      ++infeasible;
      continue;
    }
    ASSERT_EQ(found.status, LinearAnswer::Status::optimal) << k;
    worst.add(std::abs(found.value - best), static_cast<std::uint64_t>(k));
    EXPECT_LE(found.violation, 1e-11);
  }
  EXPECT_GT(infeasible, 5);
}

TEST(Capability, WhatIsMissingIsNamed) {
  const Model model = jumping_leg();
  const Vec q = posture(model, guess);
  StanceOptions o;
  const auto message = [&] {
    try {
      (void)stance_of(model, {}, q, 0, o);
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_NE(message().find("nothing drives the model"), std::string::npos);
  o.joints = "knee";
  EXPECT_EQ(message(), "no joint is called 'knee'");
  o.joints = "femur";
  EXPECT_NE(message().find("the motor of 'femur' has no torque limit"), std::string::npos);
}

}  // namespace
}  // namespace saltus
