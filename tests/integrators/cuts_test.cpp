// Cuts: the same mechanism in minimal and in maximal coordinates.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "tests/support/check.h"
#include "tests/support/random_model.h"

namespace saltus {
namespace {

using test::derivative;
using test::ForestOptions;
using test::Kinds;
using test::Random;
using test::seeds;
using test::Worst;
constexpr double pi = std::numbers::pi;

struct Side {
  Model model;
  State state;
  Workspace work;
  explicit Side(Model m) : model(std::move(m)), state(make_state(model)), work(model) { update(); }
  void update() {
    forward_kinematics(model, state.q, state.v, work);
    world_columns(model, work);
    crba(model, work);
  }
};

// Velocities and positions of a body's own joint, by the name of the body.
struct Motion {
  std::vector<std::string> names;
  std::vector<Vec> q, v;
};
Motion random_motion(Random& random, const Model& model) {
  Motion motion;
  for (int i = 0; i < model.body_count(); ++i) {
    const Joint& joint = own_joint(model, BodyIndex(i));
    motion.names.push_back(model.bodies[i].name);
    motion.q.push_back(test::random_q(random, joint));
    motion.v.push_back(random.vector(nv_of(joint), 2));
  }
  return motion;
}
void put(const Motion& motion, Side& side) {
  Posture posture = zero_posture(side.model);
  for (std::size_t k = 0; k < motion.names.size(); ++k) {
    const BodyIndex body = side.model.body(motion.names[k]);
    posture.q[body] = motion.q[k];
    posture.v[body] = motion.v[k];
  }
  set_posture(side.model, posture, side.state);
  side.update();
}

struct Pair {
  Side minimal, maximal;
  Motion motion;
  Pair(Random& random, ModelBuilder builder)
      : minimal(builder.coordinates(CoordinateSet::minimal).build()),
        maximal(builder.coordinates(CoordinateSet::maximal).build()),
        motion(random_motion(random, minimal.model)) {
    put(motion, minimal);
    put(motion, maximal);
  }
  [[nodiscard]] int other(int body) const {  // of the minimal model, in the maximal one
    return maximal.model.body(minimal.model.bodies[body].name);
  }
};
Pair random_pair(std::uint64_t seed) {
  Random random(seed);
  ForestOptions options;
  options.armature = false;  // of a cut coordinate it is no part of M
  if (seed % 2 == 0) options.kinds = Kinds::planar;
  const ModelBuilder builder = test::random_forest(random, options);
  return {random, builder};
}

struct Rows {
  Vec gap;
  Mat columns;  // nv x rows
};
// A wrench about the inertial origin on the child and its reverse on the parent, as a column.
void add_pair(const Side& side, BodyIndex parent, BodyIndex child, const Vec6& wrench,
              VecRef column) {
  add_wrench_row(side.model, side.work, child, wrench, 1, column);
  add_wrench_row(side.model, side.work, parent, wrench, -1, column);
}
Rows all_rows(const Side& side) {
  int count = 0;
  for (const Cut& cut : side.model.cuts) count += cut.translations + cut.rotations;
  Rows rows{Vec::Zero(count), Mat::Zero(side.model.nv, count)};
  int row = 0;
  Columns6 wrenches;
  const auto add = [&](const Cut& cut, int n) {
    for (int k = 0; k < n; ++k)
      add_pair(side, cut.parent, cut.child, wrenches.col(k), rows.columns.col(row + k));
    row += n;
  };
  for (const Cut& cut : side.model.cuts) {
    cut_translation_gap(side.model, side.work, cut, rows.gap.segment(row, cut.translations));
    cut_translation_wrenches(side.model, side.work, cut, wrenches);
    add(cut, cut.translations);
    cut_rotation_gap(side.model, side.work, cut, rows.gap.segment(row, cut.rotations));
    cut_rotation_wrenches(side.model, side.work, cut, wrenches);
    add(cut, cut.rotations);
  }
  return rows;
}

TEST(Cuts, SamePosesAndTwists) {
  Worst pose("poses", 1e-13), twist("twists, relative", 1e-13), energy("energy, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    const Pair pair = random_pair(seed);
    for (int i = 0; i < pair.minimal.model.body_count(); ++i) {
      const int j = pair.other(i);
      const SE3 &X = pair.minimal.work.X[i], &Y = pair.maximal.work.X[j];
      pose.add((X.R - Y.R).norm() + (X.r - Y.r).norm(), seed);
      const Vec6 &V = pair.minimal.work.V[i], &U = pair.maximal.work.V[j];
      twist.add((V - U).norm() / (1 + V.norm()), seed);
    }
    const double T = kinetic_energy(pair.minimal.model, pair.minimal.state.v, pair.minimal.work);
    const double S = kinetic_energy(pair.maximal.model, pair.maximal.state.v, pair.maximal.work);
    energy.add(std::abs(T - S) / (1 + T), seed);
  }
}

TEST(Cuts, ArmatureMovesInBothSets) {  // a rotor's energy belongs to its joint, cut or not
  Worst energy("energy with armature, relative", 1e-13);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const ModelBuilder builder = test::random_forest(random, {});
    const Pair pair(random, builder);
    const double T = kinetic_energy(pair.minimal.model, pair.minimal.state.v, pair.minimal.work);
    const double S = kinetic_energy(pair.maximal.model, pair.maximal.state.v, pair.maximal.work);
    energy.add(std::abs(T - S) / (1 + T), seed);
  }
}

TEST(Cuts, SameCoordinates) {
  Worst value("values", 1e-13), rate("rates, relative", 1e-12);
  int compared = 0;
  for (const auto seed : seeds(1, 200)) {
    const Pair pair = random_pair(seed);
    ASSERT_EQ(pair.minimal.model.coordinates.size(), pair.maximal.model.coordinates.size());
    for (const Coordinate& c : pair.minimal.model.coordinates) {
      const CoordinateIndex a = pair.minimal.model.coordinate(c.name);
      const CoordinateIndex b = pair.maximal.model.coordinate(c.name);
      const auto value_of = [](const Side& side, CoordinateIndex k) {
        return coordinate_value(side.model, side.work, side.state.q, side.state.turns, k);
      };
      value.add(std::abs(value_of(pair.minimal, a) - value_of(pair.maximal, b)), seed);
      const double exact =
          coordinate_rate(pair.minimal.model, pair.minimal.work, pair.minimal.state.v, a);
      const double ours =
          coordinate_rate(pair.maximal.model, pair.maximal.work, pair.maximal.state.v, b);
      double scale = 1;
      for (const Vec6& V : pair.maximal.work.V) scale = std::max(scale, V.norm());
      rate.add(std::abs(exact - ours) / scale, seed);
      // In the tree they are the joint's own numbers.
      EXPECT_EQ(value_of(pair.minimal, a), pair.minimal.state.q[c.q_index]);
      EXPECT_EQ(exact, pair.minimal.state.v[c.v_index]);
      ++compared;
    }
  }
  EXPECT_GE(compared, 500);
}

TEST(Cuts, GapsAndTheirRatesVanishOnThePosture) {
  Worst gap("gaps", 1e-13), rate("rates, relative", 1e-12);
  for (const auto seed : seeds(1, 200)) {
    const Pair pair = random_pair(seed);
    const Rows rows = all_rows(pair.maximal);
    if (rows.gap.size() == 0) continue;
    gap.add(rows.gap.cwiseAbs().maxCoeff(), seed);
    rate.add((rows.columns.transpose() * pair.maximal.state.v).cwiseAbs().maxCoeff() /
                 (1 + pair.maximal.state.v.cwiseAbs().maxCoeff()),
             seed);
  }
}

TEST(Cuts, RowsTakeExactlyTheMissingFreedoms) {
  for (const auto seed : seeds(1, 100)) {
    const Pair pair = random_pair(seed);
    const Rows rows = all_rows(pair.maximal);
    const auto count = static_cast<int>(rows.gap.size());
    EXPECT_EQ(pair.maximal.model.nv - count, pair.minimal.model.nv) << "seed " << seed;
    if (count == 0) continue;
    const Vec values = Eigen::JacobiSVD<Mat>(rows.columns).singularValues();
    EXPECT_GT(values.minCoeff(), 1e-3 * values.maxCoeff()) << "seed " << seed;  // independent
  }
}

// Differences of the gaps along any motion of the loose bodies: at the closed posture, and with the
// joints torn open.
TEST(Cuts, RowsAreTheRatesOfTheGaps) {
  Worst closed("at the posture, relative", 1e-11), open("torn open, relative", 1e-11);
  for (const auto seed : seeds(1, 200)) {
    Pair pair = random_pair(seed);
    Side& side = pair.maximal;
    Random random(seed + 1000);
    const auto measure = [&](Worst& worst) {
      side.update();
      const Rows rows = all_rows(side);
      if (rows.gap.size() == 0) return;
      const Vec q = side.state.q;
      Side moving = side;
      const auto gaps = [&](double t) {
        moving.state.q = test::flow(side.model, q, side.state.v, t);
        moving.update();
        return all_rows(moving).gap;
      };
      const Vec rates = derivative(gaps, 1e-3);
      worst.add((rates - rows.columns.transpose() * side.state.v).cwiseAbs().maxCoeff() /
                    (1 + side.state.v.norm()),
                seed);
    };
    side.state.v = random.vector(side.model.nv, 2);
    measure(closed);
    side.state.q = test::flow(side.model, side.state.q, random.vector(side.model.nv), 0.2);
    measure(open);
  }
}

TEST(Cuts, CoordinateRowsAreTheRatesOfTheValues) {
  Worst row("row . v - rate, relative", 1e-13), rate("rate against differences, relative", 1e-10);
  for (const auto seed : seeds(1, 100)) {
    Pair pair = random_pair(seed);
    for (Side* side : {&pair.minimal, &pair.maximal}) {
      const auto count = static_cast<int>(side->model.coordinates.size());
      const double scale = 1 + side->state.v.norm();
      // Along the motion of the mechanism: joints stay closed.
      const auto values = [&](double t) {
        Motion moved = pair.motion;
        for (std::size_t k = 0; k < moved.q.size(); ++k) {
          const Joint& joint = own_joint(side->model, side->model.body(moved.names[k]));
          moved.q[k] = test::joint_flow(joint, moved.q[k], moved.v[k], t);
        }
        Side there = *side;
        put(moved, there);
        Vec x(count);
        for (int c = 0; c < count; ++c) {
          x[c] = coordinate_value(there.model, there.work, there.state.q, there.state.turns,
                                  CoordinateIndex(c));
        }
        return x;
      };
      const Vec rates = derivative(values, 1e-3);
      for (int c = 0; c < count; ++c) {
        const double ours =
            coordinate_rate(side->model, side->work, side->state.v, CoordinateIndex(c));
        Vec column = Vec::Zero(side->model.nv);
        const CoordinateRow r = coordinate_row(side->model, side->work, CoordinateIndex(c));
        EXPECT_EQ(r.velocity, side->model.coordinates[c].v_index);
        if (r.velocity >= 0)
          column[r.velocity] = 1;
        else
          add_pair(*side, BodyIndex(r.parent), BodyIndex(r.child), r.wrench, column);
        row.add(std::abs(column.dot(side->state.v) - ours) / scale, seed);
        rate.add(std::abs(rates[c] - ours) / scale, seed);
      }
    }
  }
}

// dv_maximal/dv_minimal at the posture.
Mat embedding(const Pair& pair) {
  Side side = pair.maximal;
  Motion motion = pair.motion;
  Mat J(side.model.nv, pair.minimal.model.nv);
  for (int k = 0; k < pair.minimal.model.nv; ++k) {
    for (std::size_t i = 0; i < motion.v.size(); ++i) {
      motion.v[i].setZero();
      const Body& body = pair.minimal.model.bodies[i];
      if (k >= body.v0 && k < body.v0 + body.nv) motion.v[i][k - body.v0] = 1;
    }
    put(motion, side);
    J.col(k) = side.state.v;
  }
  return J;
}

TEST(Cuts, SameDynamics) {
  // With v_max = J v: M = J' M_max J, bias = J'(M_max dJ/dt v + bias_max), and W' J = 0.
  Worst mass("M, relative", 1e-12), rows("W'J, relative", 1e-12), bias("bias, relative", 1e-10);
  for (const auto seed : seeds(1, 100)) {
    Pair pair = random_pair(seed);
    if (pair.minimal.model.nv == 0) continue;
    const Mat J = embedding(pair), &M = pair.minimal.work.M, &M_max = pair.maximal.work.M;
    mass.add((J.transpose() * M_max * J - M).norm() / M.norm(), seed);
    const Rows cuts = all_rows(pair.maximal);
    if (cuts.gap.size() > 0) {
      rows.add((cuts.columns.transpose() * J).norm() / (cuts.columns.norm() * J.norm()), seed);
    }
    const auto velocities = [&](double t) {
      Side there = pair.maximal;
      Motion moved = pair.motion;
      for (std::size_t k = 0; k < moved.q.size(); ++k) {
        const Joint& joint = own_joint(there.model, there.model.body(moved.names[k]));
        moved.q[k] = test::joint_flow(joint, moved.q[k], moved.v[k], t);
      }
      put(moved, there);
      return there.state.v;
    };
    const Vec rate = derivative(velocities, 1e-3);
    bias_force(pair.minimal.model, pair.minimal.work);
    bias_force(pair.maximal.model, pair.maximal.work);
    const Vec ours = J.transpose() * (M_max * rate + pair.maximal.work.tau_bias);
    const double size =
        J.norm() * (M_max.norm() * (1 + rate.norm()) + pair.maximal.work.tau_bias.norm());
    bias.add((ours - pair.minimal.work.tau_bias).norm() / size, seed);
  }
}

TEST(Cuts, TurnsAreCounted) {
  // A cut revolute joint turned five times forth and back again: its value follows.
  Worst worst("value after turns", 1e-12);
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    const bool planar = seed % 2 == 0;
    JointSpec root, joint;
    root.kind = planar ? Joint(Planar{}) : Joint(Floating{});
    joint.parent = "base";
    joint.kind = Revolute{planar ? Vec3(0, 0, 1) : random.direction()};
    joint.placement = test::random_placement(random, planar ? Kinds::planar : Kinds::all, 1);
    joint.in_body = test::random_placement(random, planar ? Kinds::planar : Kinds::all, 1);
    Side side(ModelBuilder()
                  .planar(planar)
                  .coordinates(CoordinateSet::maximal)
                  .body("base", random.inertia(), root)
                  .body("arm", random.inertia(), joint)
                  .build());
    const CoordinateIndex c = side.model.coordinate("arm");
    Vec values = Vec::Zero(static_cast<int>(side.model.coordinates.size()));
    Motion motion = random_motion(random, side.model);
    const BodyIndex arm = side.model.body("arm");
    const double peak = 10 * pi;
    for (int k = 0; k <= 400; ++k) {
      const double angle = peak * std::sin(2 * pi * k / 400);
      motion.q[arm] = Vec::Constant(1, angle);
      // set_posture counts turns itself: here they are kept from the step before.
      const auto turns = side.state.turns;
      put(motion, side);
      side.state.turns = turns;
      update_turns(side.model, side.work, side.state.q, values, side.state.turns);
      for (int i = 0; i < values.size(); ++i) {
        values[i] = coordinate_value(side.model, side.work, side.state.q, side.state.turns,
                                     CoordinateIndex(i));
      }
      worst.add(std::abs(values[c] - angle), seed);
    }
  }
}

TEST(Cuts, PostureBeyondHalfATurn) {  // set_posture keeps what it was told, in both sets
  JointSpec root, joint;
  root.kind = Planar{};
  joint.parent = "base";
  joint.kind = Revolute{Vec3::UnitZ()};
  RigidInertia unit{1, Vec3::Zero(), Mat3::Identity()};
  ModelBuilder builder;
  builder.planar(true).body("base", unit, root).body("arm", unit, joint);
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Side side(builder.coordinates(set).build());
    for (const double angle : {0.0, 3.0, pi, -pi, 3.5, -3.5, 3 * pi, 7.0, 20.0, -20.0}) {
      Posture posture = zero_posture(side.model);
      posture.q[side.model.body("arm")] = Vec::Constant(1, angle);
      set_posture(side.model, posture, side.state);
      side.update();
      EXPECT_NEAR(coordinate_value(side.model, side.work, side.state.q, side.state.turns,
                                   side.model.coordinate("arm")),
                  angle, 1e-14);
    }
  }
}

// --- The papers' sets
// -----------------------------------------------------------------------------

ModelBuilder quadruped(const std::vector<std::string>& cut) {
  ModelBuilder builder;
  JointSpec trunk;
  trunk.kind = Floating{};
  const RigidInertia unit{1, Vec3::Zero(), 0.1 * Mat3::Identity()};
  builder.body("trunk", unit, trunk);
  for (const std::string leg : {"lf", "rf", "lh", "rh"}) {
    std::string parent = "trunk";
    for (const std::string part : {"hip", "thigh", "shank"}) {
      JointSpec joint;
      joint.parent = parent;
      joint.kind = Revolute{part == "hip" ? Vec3(1, 0, 0) : Vec3(0, 1, 0)};
      joint.placement = SE3::translation({0.1, 0, -0.1});
      joint.cut = std::find(cut.begin(), cut.end(), part) != cut.end();
      parent = leg + "-" + part;
      builder.body(parent, unit, joint);
    }
  }
  return builder;
}
int cut_rows(const Model& model) {
  int rows = 0;
  for (const Cut& cut : model.cuts) rows += cut.translations + cut.rotations;
  return rows;
}

TEST(Sets, QuadrupedOfP2) {
  const Model minimal = quadruped({}).build();
  EXPECT_EQ(minimal.nv, 18);
  EXPECT_EQ(cut_rows(minimal), 0);
  const Model maximal = quadruped({}).coordinates(CoordinateSet::maximal).build();
  EXPECT_EQ(maximal.nv, 78);
  EXPECT_EQ(cut_rows(maximal), 60);
  const Model extended = quadruped({"hip"}).build();
  EXPECT_EQ(extended.nv, 6 + 4 * 8);
  EXPECT_EQ(cut_rows(extended), 20);
  EXPECT_EQ(quadruped({"hip"}).coordinates(CoordinateSet::minimal).build().nv, 18);
}

TEST(Sets, SnakeOfP0) {  // 3n velocities, 2(n - 1) rows
  ModelBuilder builder;
  builder.planar(true).coordinates(CoordinateSet::maximal);
  const RigidInertia link{1, Vec3::Zero(), 0.01 * Mat3::Identity()};
  JointSpec head;
  head.kind = Planar{};
  builder.body("link1", link, head);
  for (int i = 2; i <= 11; ++i) {
    JointSpec joint;
    joint.parent = "link" + std::to_string(i - 1);
    joint.kind = Revolute{};
    builder.body("link" + std::to_string(i), link, joint);
  }
  const Model model = builder.build();
  EXPECT_EQ(model.nv, 33);
  EXPECT_EQ(cut_rows(model), 20);
}

}  // namespace
}  // namespace saltus
