// The parts of the locomotion controller against closed forms: gait timing, foot trajectories,
// foot forces, pushes; and the controller's memory.
#include "saltus/control/locomotion.h"

#include <atomic>
#include <cstring>
#include <numbers>
#include <random>

#include "saltus/base/error.h"
#include "saltus/control/swing.h"
#include "saltus/scene/scene.h"
#include "saltus/solvers/cone_program.h"
#include "tests/support/allocations.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double g = 9.81;

int standing(const Gait& gait, double t) {
  int n = 0;
  for (int i = 0; i < leg_count; ++i) n += leg_phase(gait, i, t).stance;
  return n;
}

TEST(Gait, TrotHasDiagonalPairsInAntiphase) {
  const Gait trot = trot_gait();
  EXPECT_EQ(trot.frequency, 1.25);  // P2
  for (int k = 0; k < 4000; ++k) {
    const double t = 1e-3 * k + 3e-4;
    EXPECT_EQ(leg_phase(trot, 0, t).stance, leg_phase(trot, 3, t).stance);
    EXPECT_EQ(leg_phase(trot, 1, t).stance, leg_phase(trot, 2, t).stance);
    EXPECT_EQ(leg_phase(trot, 0, t).stance, leg_phase(trot, 1, t + 0.4).stance);
    EXPECT_GE(standing(trot, t), 2);
  }
}

TEST(Gait, StancesTakeTheDutyOfEveryCycle) {
  for (const Gait& gait : {walk_gait(), trot_gait(), pronk_gait()})
    for (int leg = 0; leg < leg_count; ++leg) {
      const int n = 100000;
      int stands = 0;
      for (int k = 0; k < n; ++k)
        stands += leg_phase(gait, leg, (k + 0.5) / n / gait.frequency).stance;
      EXPECT_NEAR(static_cast<double>(stands) / n, gait.duty, 2.0 / n);
      // The time left ends with the phase, and progress goes from 0 to 1.
      for (double t = 0.01; t < 2; t += 0.0137) {
        const LegPhase p = leg_phase(gait, leg, t), after = leg_phase(gait, leg, t + p.left + 1e-6);
        EXPECT_NE(p.stance, after.stance);
        EXPECT_LT(after.progress, 1e-4);
        EXPECT_GT(leg_phase(gait, leg, t + p.left - 1e-6).progress, 1 - 1e-4);
      }
    }
}

TEST(Gait, WalkSwingsOneLegAtATimeHindLegFirst) {
  const Gait walk = walk_gait();
  std::vector<int> order;
  for (int k = 0; k < 8000; ++k) {
    const double t = 1e-3 * k + 3e-4;
    EXPECT_GE(standing(walk, t), 3);
    for (int i = 0; i < leg_count; ++i)
      if (!leg_phase(walk, i, t).stance && (order.empty() || order.back() != i)) order.push_back(i);
  }
  // LH, LF, RH, RF and again, wherever it begins.
  const int next[] = {3, 2, 0, 1};  // after LF comes RH, after RF LH, after LH LF, after RH RF
  ASSERT_GE(order.size(), 7U);
  for (std::size_t k = 1; k < order.size(); ++k) EXPECT_EQ(order[k], next[order[k - 1]]);
}

TEST(Gait, BounceIsAMotionUnderGravityAndOneArchOfForce) {
  Gait flying_trot = trot_gait();
  flying_trot.duty = 0.4;
  for (const Gait& gait : {pronk_gait(), flying_trot}) {
    const Bouts b = bouts_of(gait);
    ASSERT_GT(b.count, 0);
    EXPECT_NEAR(b.count * (b.stance + b.flight), 1 / gait.frequency, 1e-12);
    const double h = 1e-6;
    double force = 0;
    const int n = 20000;
    for (int k = 0; k < n; ++k) {
      const double t = (k + 0.5) / n / gait.frequency;
      const Bounce x = bounce(gait, t, g), before = bounce(gait, t - h, g),
                   after = bounce(gait, t + h, g);
      EXPECT_NEAR((after.z - before.z) / (2 * h), x.rate, 1e-6);
      EXPECT_NEAR((after.rate - before.rate) / (2 * h), x.acceleration, 2e-3);
      if (standing(gait, t) == 0) { EXPECT_EQ(x.acceleration, -g); }
      force += (x.acceleration + g) / n;
    }
    EXPECT_NEAR(force, g, 1e-6);  // the mean force is the weight
  }
  EXPECT_EQ(bouts_of(trot_gait()).count, 0);
  EXPECT_EQ(bounce(walk_gait(), 0.3, g).acceleration, 0);
}

TEST(Gait, ImpossibleTimingIsRefused) {
  const double tick = 1.0 / 400;
  for (const Gait& gait : {stand_gait(), walk_gait(), trot_gait(), pronk_gait()})
    EXPECT_EQ(fault_of(gait, tick), nullptr);
  const auto faulty = [&](auto change) {
    Gait gait = trot_gait();
    change(gait);
    return fault_of(gait, tick) != nullptr;
  };
  EXPECT_TRUE(faulty([](Gait& x) { x.duty = 0; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.duty = 1.2; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.duty = 0.999; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.frequency = 40; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.frequency = -1; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.phase[2] = 1; }));
  EXPECT_TRUE(faulty([](Gait& x) { x.phase[2] = -0.1; }));
  // Two flights of different length.
  EXPECT_TRUE(faulty([](Gait& x) { x.duty = 0.2, x.phase = {0, 0.3, 0.3, 0}; }));
}

TEST(Swing, IsSmoothAndAtRestAtItsEnds) {
  const Vec3 a(0.1, -0.2, 0.02), b(0.25, -0.15, 0.05), up = Vec3::UnitZ();
  const double clearance = 0.06, time = 0.36;
  const auto at = [&](double s) { return swing_foot(a, b, up, clearance, s, time); };
  for (const double s : {0.0, 1.0}) {
    EXPECT_EQ(at(s).p, s == 0 ? a : b);
    EXPECT_LT(at(s).v.norm() + at(s).a.norm(), 1e-13);
  }
  EXPECT_NEAR(at(0.5).p[2], 0.5 * (a[2] + b[2]) + clearance, 1e-15);
  const double h = 1e-6;  // so the differences are 1e-12 / h^2 of rounding and h^2 of their own
  for (double s = 0.01; s < 1; s += 0.01) {
    EXPECT_LT(((at(s + h).p - at(s - h).p) / (2 * h * time) - at(s).v).norm(), 1e-8);
    EXPECT_LT(((at(s + h).v - at(s - h).v) / (2 * h * time) - at(s).a).norm(), 1e-6);
    EXPECT_GE(at(s).p[2], std::min(a[2], b[2]));
  }
}

// --- foot forces
// ----------------------------------------------------------------------------------

ConeProgram random_program(std::mt19937& random, int cones) {
  std::normal_distribution<double> normal;
  ConeProgram p;
  Mat A(6, 3 * cones);
  for (int i = 0; i < A.size(); ++i) A.data()[i] = normal(random);
  p.G = A.transpose() * A + 1e-3 * Mat::Identity(3 * cones, 3 * cones);
  Vec w(6);
  for (int i = 0; i < 6; ++i) w[i] = normal(random);
  p.c = -A.transpose() * w;
  for (double& mu : p.mu) mu = 0.2 + std::abs(normal(random));
  return p;
}

// The Euclidean projection on {|x_T| <= mu x_N}, in its own coordinates.
Vec3 onto(const Vec3& x, double mu) {
  const double length = x.tail<2>().norm();
  if (length <= mu * x[0]) return x;
  if (mu * length <= -x[0]) return Vec3::Zero();
  const double n = (x[0] + mu * length) / (1 + mu * mu);
  return {n, mu * n * x[1] / length, mu * n * x[2] / length};
}

TEST(ConeProgram, OneConeWithTheIdentityIsAProjection) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 1000; ++k) {
    ConeProgram p;
    p.G = Mat3::Identity();
    p.c = -Vec3(normal(random), normal(random), normal(random));
    p.mu[0] = 0.1 + std::abs(normal(random));
    ConeProgram::Vector f;
    const ConeReport r = solve(p, f);
    EXPECT_TRUE(r.converged) << r.residual;
    EXPECT_LT((Vec3(f) - onto(-Vec3(p.c), p.mu[0])).norm(), 1e-9);
  }
}

// Against another method, projected gradients with the Euclidean projection, and the conditions of
// optimality: f in K, xi = G f + c in K*, f . xi = 0.
TEST(ConeProgram, AgreesWithProjectedGradientsAndIsOptimal) {
  std::mt19937 random(11);
  int bound = 0, most = 0;
  for (int k = 0; k < 300; ++k) {
    const int cones = 1 + k % 4;
    const ConeProgram p = random_program(random, cones);
    ConeProgram::Vector f;
    const ConeReport r = solve(p, f);
    ASSERT_TRUE(r.converged) << "case " << k << ": " << r.residual;
    most = std::max(most, r.iterations);
    const Vec xi = p.G * f + p.c;
    for (int i = 0; i < cones; ++i) {
      const Vec3 fi = f.segment<3>(3 * i), x = xi.segment<3>(3 * i);
      EXPECT_LE(fi.tail<2>().norm(), p.mu[i] * fi[0] + 1e-12);
      EXPECT_LE(p.mu[i] * x.tail<2>().norm(), x[0] + 1e-7);
      EXPECT_NEAR(fi.dot(x), 0, 1e-7);
      bound += fi[0] > 1e-6 && x.norm() > 1e-6;
    }
    Vec y = Vec::Zero(3 * cones), ahead = y, next;  // accelerated, with restarts
    const double step = 1 / p.G.trace();
    double momentum = 1;
    for (int i = 0; i < 200000; ++i) {
      next = ahead - step * (p.G * ahead + p.c);
      for (int j = 0; j < cones; ++j)
        next.segment<3>(3 * j) = onto(next.segment<3>(3 * j), p.mu[j]);
      const double faster = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
      const bool restart = (ahead - next).dot(next - y) > 0;
      ahead = restart ? next : Vec(next + (momentum - 1) / faster * (next - y));
      momentum = restart ? 1 : faster;
      const double change = (next - y).lpNorm<Eigen::Infinity>();
      y = next;
      if (change < 1e-14 && !restart) break;
    }
    const auto cost = [&](const Vec& x) -> double { return 0.5 * x.dot(p.G * x) + p.c.dot(x); };
    EXPECT_LE(cost(f), cost(y) + 1e-9) << "case " << k;
    EXPECT_LT((f - y).norm(), 1e-4 * (1 + y.norm())) << "case " << k;
  }
  EXPECT_GT(bound, 100) << "the cases have cones at their bound";
  std::printf("    at most %d iterations\n", most);
}

// --- the controller
// -------------------------------------------------------------------------------

struct Robot {
  System system;
  StepWorkspace work;
  State state;
  MoreauMidpoint options;

  explicit Robot(const std::vector<std::string>& set = {}, double dt = 1e-3)
      : system(build_system(
            load_scene(std::string(SALTUS_SOURCE_DIR) + "/scenes/p2/trot-controlled.yaml", set))),
        work(system.model),
        state(system.start) {
    options.dt = dt;
  }
  void step() {
    const StepReport r = saltus::step(system.model, system.actuation, state, work, options);
    ASSERT_FALSE(r.diverged || r.singular);
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
  }
  [[nodiscard]] const Locomotion& locomotion() const { return *locomotion_of(system.actuation); }
  [[nodiscard]] std::vector<double> torques() const {
    const double* held = held_torques(*system.actuation.controllers[0], state.memory.data());
    return {held, held + 3 * leg_count};
  }
};

TEST(Controller, HoldsItsTorquesFromTickToTick) {
  for (const double dt : {2.5e-3, 1e-3, 0.5e-3, 0.625e-3}) {
    Robot robot({}, dt);
    std::vector<double> before;
    int changes = 0;
    const int steps = static_cast<int>(std::round(0.1 / dt));
    for (int k = 0; k < steps; ++k) {
      const double t = robot.state.t;
      robot.step();
      const std::vector<double> now = robot.torques();
      if (now != before) {
        ++changes;
        // The first step at or after a multiple of 2.5 ms.
        const double since = std::fmod(t + 1e-9, 2.5e-3);
        EXPECT_LT(since, dt) << "t = " << t;
      }
      for (int i = 0; i < leg_count; ++i)  // an impulse over dt: to rounding
        for (int j = 0; j < 3; ++j)
          EXPECT_NEAR(robot.work.result.motor_force[robot.locomotion().robot.legs[i].joints[j]],
                      now[3 * i + j], 1e-13 * (1 + std::abs(now[3 * i + j])));
      before = now;
    }
    EXPECT_EQ(changes, 40) << "dt = " << dt;  // 0.1 s at 400 Hz
  }
}

TEST(Controller, ResumesFromACheckpointBitByBit) {
  Robot whole, first;
  whole.run(1500);
  first.run(833);  // in the middle of a swing, between two ticks
  const std::vector<std::uint8_t> bytes = to_bytes(first.state);
  Robot second;
  second.state = from_bytes(second.system.model, bytes.data(), bytes.size());
  second.run(1500 - 833);
  EXPECT_EQ(to_bytes(whole.state), to_bytes(second.state));
}

TEST(Controller, AllocatesNothing) {
#if SALTUS_COUNTS
  Robot robot;
  robot.run(3000);  // every contact has been met
  const std::size_t before = allocations;
  robot.run(800);
  EXPECT_EQ(allocations - before, 0U);
#else
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
}

// The forces that hold the standing robot: torques that do what they are computed for.
TEST(Controller, StandsWhereItIsTold) {
  Robot robot({"locomotion.gaits=[{type: stand}]", "locomotion.height=0.33"});
  robot.run(4000);
  const LocomotionReport r = locomotion_report(robot.system.actuation, robot.state).value();
  EXPECT_EQ(r.fall, Fall::none);
  expect_figure("height of the trunk [m]", robot.state.q[2], 0.33, 1e-4);
  EXPECT_LT(robot.state.v.norm(), 1e-3);
}

TEST(Controller, FindsTheLegsByTheirPlace) {
  const Robot robot;
  const char* const feet[] = {"LF_foot", "RF_foot", "LH_foot", "RH_foot"};
  for (int i = 0; i < leg_count; ++i) {
    const Leg& leg = robot.locomotion().robot.legs[i];
    EXPECT_EQ(robot.system.model.shapes[leg.foot].name, feet[i]);
    EXPECT_EQ(leg.joints.size(), 3U);
    EXPECT_EQ(leg.radius, 0.02);
  }
}

// --- pushes
// ---------------------------------------------------------------------------------------

TEST(Push, GivesItsImpulseWhateverTheStep) {
  for (const double dt : {1e-3, 0.7e-3, 0.03}) {
    for (const double duration : {0.0, 0.05}) {
      ModelBuilder b;
      b.gravity(Vec3::Zero());
      b.body("box", box_inertia(2, {0.1, 0.2, 0.3}), joint(Floating{}));
      Simulation s(b, dt);
      Push push;
      push.body = s.model.body("box");
      push.at = 0.1;
      push.duration = duration;
      push.impulse = {1, -2, 0.5};
      s.actuation.pushes.push_back(push);
      s.run_until(0.3);
      EXPECT_LT((s.state.v.head<3>() - push.impulse / 2).norm(), 1e-12);
      EXPECT_NEAR(s.ledger.external, 0.5 * 2 * push.impulse.squaredNorm() / 4, 1e-12);
    }
  }
}

TEST(Push, BesideTheCentreTurnsTheBody) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("box", box_inertia(2, {0.1, 0.2, 0.3}), joint(Floating{}));
  Simulation s(b);
  Push push;
  push.body = s.model.body("box");
  push.impulse = {0, 1e-3, 0};
  push.point = {0.05, 0, 0};
  s.actuation.pushes.push_back(push);
  s.run_until(0.01);
  const double J = 2 * (0.01 + 0.04) / 12;
  EXPECT_NEAR(s.state.v[5], 0.05 * 1e-3 / J, 1e-9);
}

}  // namespace
}  // namespace saltus::test
