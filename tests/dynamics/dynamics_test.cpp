// The recursions against each other, against finite differences, closed forms and laws of
// mechanics, over random forests with every kind of joint.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <string>
#include <vector>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/dynamics/planar_bias.h"
#include "tests/support/check.h"
#include "tests/support/random_model.h"

namespace saltus {
namespace {

using test::derivative;
using test::eps;
using test::ForestOptions;
using test::Random;
using test::seeds;
using test::Worst;

struct Scene {
  Model model;
  State state;
  Workspace work;
  Scene(Random& random, const ForestOptions& options)
      : Scene(test::random_forest(random, options).build(), random) {}
  Scene(Model m, Random& random)
      : model(std::move(m)), state(test::random_state(random, model)), work(model) {
    update();
  }
  void update() {
    forward_kinematics(model, state.q, state.v, work);
    world_columns(model, work);
    crba(model, work);
  }
  [[nodiscard]] int bodies() const { return model.body_count(); }
  // M + diag(extra) as steps keep it, not factored.
  [[nodiscard]] Forest forest(const Vec& extra) const {
    Forest mass;
    mass.resize(forest_shape(model));
    load_mass(work, extra, mass);
    return mass;
  }
};

// Twist of a body in its own frame per velocity, from the inertial Jacobian of its origin.
Mat6X body_jacobian(const Scene& s, int body) {
  Mat6X J = Mat6X::Zero(6, s.model.nv);
  const SE3& X = s.work.X[body];
  point_jacobian(s.model, s.work, BodyIndex(body), X.r, J);
  J.topRows<3>() = (X.R.transpose() * J.topRows<3>()).eval();
  J.bottomRows<3>() = (X.R.transpose() * J.bottomRows<3>()).eval();
  return J;
}

constexpr double h = 1e-3;  // of differences of order 8: truncation below rounding, 1e-13 a unit

// Velocities alone, at a configuration that stays: as if all had been computed again.
TEST(Kinematics, VelocitiesRenewed) {
  Worst difference("velocities, of the largest", 100 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    Scene s(random, ForestOptions{});
    const Vec v = random.vector(s.model.nv);
    renew_velocities(s.model, v, s.work);
    const std::vector<LinkMotion> renewed = s.work.motion;
    move_links(s.model, s.state.q, v, s.work);
    for (std::size_t i = 1; i < renewed.size(); ++i) {
      const LinkMotion &a = renewed[i], &b = s.work.motion[i];
      difference.add((a.w - b.w).norm() / (1 + b.w.norm()), seed);
      difference.add((a.v - b.v).norm() / (1 + b.v.norm()), seed);
      difference.add((a.c_linear - b.c_linear).norm() / (1 + b.c_linear.norm()), seed);
      difference.add((a.c_angular - b.c_angular).norm() / (1 + b.c_angular.norm()), seed);
    }
  }
}

// The bias in the plane is that of space, with gravity and wrenches from outside.
TEST(Bias, OfThePlane) {
  Worst difference("tau_bias, of the largest", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    ForestOptions options;
    options.kinds = test::Kinds::planar;
    options.most_bodies = 12;
    Scene s(random, options);
    if (!PlanarBias::holds(s.model, s.work)) continue;
    for (Vec6& F : s.work.external) F = random.vector(6);
    PlanarBias planar(s.model);
    planar.load(s.model, s.work);
    const Vec v = random.vector(s.model.nv);
    Vec tau(s.model.nv);
    planar.compute(s.model, v, tau);
    move_links(s.model, s.state.q, v, s.work);
    bias_force(s.model, s.work);
    const double largest = 1 + s.work.tau_bias.lpNorm<Eigen::Infinity>();
    if (s.model.nv > 0)
      difference.add((tau - s.work.tau_bias).lpNorm<Eigen::Infinity>() / largest, seed);
  }
}

// --- Joints
// ---------------------------------------------------------------------------------------

std::vector<Joint> every_kind(Random& random) {
  return {Fixed{},
          Revolute{random.direction()},
          Prismatic{random.direction()},
          Planar{},
          Spherical{},
          Floating{},
          Carrier{}};
}

struct JointTerms {
  SE3 X;
  Columns6 S = Columns6::Zero();
  Vec6 bias = Vec6::Zero();
};
JointTerms terms_of(const Joint& joint, const Vec& q, const Vec& v) {
  JointTerms terms;
  joint_kinematics(joint, q, v, terms.X, terms.S, terms.bias);
  return terms;
}

TEST(Joints, PoseColumnsAndBias) {
  Worst pose("pose", 16 * eps), columns("S v against differences", 1e-11);
  Worst bias("(dS/dt) v against differences", 1e-11);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const Joint& joint : every_kind(random)) {
      const int nv = nv_of(joint);
      const Vec q = test::random_q(random, joint), v = random.vector(nv, 2);
      const JointTerms terms = terms_of(joint, q, v);
      const SE3 X = test::joint_pose(joint, q);
      const std::string where = std::string(name_of(joint)) + " seed " + std::to_string(seed);
      pose.add((terms.X.R - X.R).norm() + (terms.X.r - X.r).norm(), where);
      const auto moved = [&](double t) { return test::joint_flow(joint, q, v, t); };
      const Vec3 r = derivative([&](double t) { return test::joint_pose(joint, moved(t)).r; }, h);
      const Mat3 R = derivative([&](double t) { return test::joint_pose(joint, moved(t)).R; }, h);
      const Mat3 W = X.R.transpose() * R;
      const Vec6 twist = join(X.R.transpose() * r, Vec3(W(2, 1), W(0, 2), W(1, 0)));
      const Vec6 ours = terms.S.leftCols(nv) * v;
      columns.add((ours - twist).norm(), where);
      const Vec6 rate = derivative(
          [&](double t) { return Vec6(terms_of(joint, moved(t), v).S.leftCols(nv) * v); }, h);
      bias.add((terms.bias - rate).norm(), where);
    }
  }
}

TEST(Joints, AdvanceIsTheFlow) {
  Worst worst("q (+) dt v", 8 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const Joint& joint : every_kind(random)) {
      const Vec q = test::random_q(random, joint), v = random.vector(nv_of(joint), 2);
      Vec moved = q;
      const double dt = random.uniform(-0.5, 0.5);
      joint_advance(joint, moved, v, dt);
      worst.add((moved - test::joint_flow(joint, q, v, dt)).norm(),
                std::string(name_of(joint)) + " seed " + std::to_string(seed));
    }
  }
}

TEST(Joints, CoordinatesAndVelocitiesFromAPoseAndATwist) {
  Worst pose("X(coordinates(X)) - X", 32 * eps), velocity("v", 64 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    for (const Joint& joint : every_kind(random)) {
      const int nv = nv_of(joint);
      const Vec q = test::random_q(random, joint), v = random.vector(nv, 2);
      const JointTerms terms = terms_of(joint, q, v);
      Vec back = Vec::Zero(q.size()), rate = Vec::Zero(nv);
      joint_coordinates(joint, terms.X, back);
      const SE3 X = test::joint_pose(joint, back);
      const std::string where = std::string(name_of(joint)) + " seed " + std::to_string(seed);
      pose.add((X.R - terms.X.R).norm() + (X.r - terms.X.r).norm(), where);
      joint_velocities(joint, q, terms.S.leftCols(nv) * v, rate);
      velocity.add((rate - v).norm(), where);
    }
  }
}

// --- Kinematics
// -----------------------------------------------------------------------------------

TEST(Kinematics, PosesTwistsAndTheirRates) {
  // Poses after 12 bodies: rounding in products of rotations. Twists by differences: lengths up to
  // 10 m and rates up to 20 rad/s, so 1e-12 of the scale.
  Worst pose("poses", 1e-13), twist("twists against differences, over scale", 1e-11);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const Scene s(random, {});
    const std::vector<SE3> X = test::body_poses(s.model, s.state.q);
    for (int i = 0; i < s.bodies(); ++i) {
      pose.add((X[i].R - s.work.X[i].R).norm() + (X[i].r - s.work.X[i].r).norm(), seed);
      const int parent = s.model.bodies[i].parent;
      const SE3 X_pb = pose_in_parent(s.model, s.work, BodyIndex(i));
      const SE3 global = parent < 0 ? X_pb : s.work.X[parent] * X_pb;
      pose.add((global.R - X[i].R).norm() + (global.r - X[i].r).norm(), seed);
    }
    const auto stacked = [&](double t) {
      const std::vector<SE3> Y =
          test::body_poses(s.model, test::flow(s.model, s.state.q, s.state.v, t));
      Mat all(3, 4 * s.bodies());
      for (int i = 0; i < s.bodies(); ++i) all.middleCols(4 * i, 4) << Y[i].R, Y[i].r;
      return all;
    };
    const Mat rates = derivative(stacked, h);
    for (int i = 0; i < s.bodies(); ++i) {
      const Mat3 W = X[i].R.transpose() * rates.middleCols(4 * i, 3);
      const Vec6 V =
          join(X[i].R.transpose() * rates.col(4 * i + 3), Vec3(W(2, 1), W(0, 2), W(1, 0)));
      twist.add((s.work.V[i] - V).norm() / (1 + V.norm() + X[i].r.norm()), seed);
    }
  }
}

TEST(Kinematics, AdvanceIsTheFlow) {
  Worst worst("q (+) dt v", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Scene s(random, {});
    Vec q = s.state.q;
    advance(s.model, q, s.state.v, 0.1);
    worst.add((q - test::flow(s.model, s.state.q, s.state.v, 0.1)).cwiseAbs().maxCoeff(), seed);
  }
}

TEST(Kinematics, PointJacobianAgainstDifferences) {
  Worst linear("linear part, over scale", 1e-11), angular("angular part", 1e-11);
  Worst velocity("point_velocity - J v, over scale", 1e-13), row("wrench row, over scale", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Scene s(random, {});
    const int body = random.integer(0, s.bodies() - 1);
    const Vec3 local = random.vector3(), point = s.work.X[body] * local;
    Mat6X J = Mat6X::Zero(6, s.model.nv);
    point_jacobian(s.model, s.work, BodyIndex(body), point, J);
    const double scale = 1 + point.norm();
    for (int k = 0; k < s.model.nv; ++k) {
      const Vec direction = Vec::Unit(s.model.nv, k);
      const auto pose = [&](double t) {
        return test::body_poses(s.model, test::flow(s.model, s.state.q, direction, t))[body];
      };
      const Vec3 v = derivative([&](double t) { return Vec3(pose(t) * local); }, h);
      const Mat3 R = derivative([&](double t) { return pose(t).R; }, h);
      const Mat3 W = R * s.work.X[body].R.transpose();
      linear.add((J.col(k).head<3>() - v).norm() / scale, seed);
      angular.add((J.col(k).tail<3>() - Vec3(W(2, 1), W(0, 2), W(1, 0))).norm(), seed);
    }
    const Vec6 moved = J * s.state.v;
    velocity.add((point_velocity(s.work, BodyIndex(body), point) - moved.head<3>()).norm() /
                     (scale * (1 + moved.norm())),
                 seed);
    // A force f at the point and a moment m: about the inertial origin (f, m + point x f).
    const Vec3 f = random.vector3(), m = random.vector3();
    Vec column = random.vector(s.model.nv);
    const Vec before = column;
    add_wrench_row(s.model, s.work, BodyIndex(body), join(f, m + point.cross(f)), -1, column);
    row.add((column - (before - J.transpose() * join(f, m))).norm() / scale / scale, seed);
  }
}

TEST(Kinematics, TheWorldHasNoJacobian) {
  Random random(3);
  std::printf("[  SEEDS   ] mt19937_64: 3\n");
  const Scene s(random, {});
  Mat6X J = Mat6X::Ones(6, s.model.nv);
  point_jacobian(s.model, s.work, world, Vec3(1, 2, 3), J);
  EXPECT_EQ(J.norm(), 0);
  EXPECT_EQ(point_velocity(s.work, world, Vec3(1, 2, 3)), Vec3::Zero());
  Vec column = Vec::Ones(s.model.nv);
  add_wrench_row(s.model, s.work, world, Vec6::Ones(), 1, column);
  EXPECT_EQ(column, Vec::Ones(s.model.nv));
}

// --- Mass matrix, inverse and forward dynamics
// ----------------------------------------------------

TEST(Dynamics, MassMatrixFromJacobians) {
  Worst worst("M against sum J'IJ, relative", 1e-13), symmetric("M - M', relative", 0);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const Scene s(random, {.added_inertia = seed % 2 == 0});
    Mat M = s.model.armature.asDiagonal();
    for (int i = 0; i < s.bodies(); ++i) {
      const Mat6X J = body_jacobian(s, i);
      M += J.transpose() * s.model.bodies[i].inertia * J;
    }
    if (s.model.nv == 0) continue;
    worst.add((s.work.M - M).norm() / M.norm(), seed);
    symmetric.add((s.work.M - s.work.M.transpose()).norm() / M.norm(), seed);
    EXPECT_EQ(Eigen::LLT<Mat>(s.work.M).info(), Eigen::Success) << "seed " << seed;
  }
}

TEST(Dynamics, AlgorithmsAgree) {
  // Backward errors: what is left of the equation of motion over the size of its terms.
  Worst inverse("rnea(a) - M a - bias, relative", 1e-12);
  Worst forward("M aba(tau) + bias - tau, relative", 1e-12);
  Worst multiplied("M x by the forest, relative", 1e-13), undone("M^-1 M x, relative", 1e-12);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    Scene s(random, {.added_inertia = seed % 2 == 0});
    const int nv = s.model.nv;
    if (nv == 0) continue;
    for (Vec6& wrench : s.work.external) wrench = random.vector6(10);
    const Vec a = random.vector(nv, 5), tau = random.vector(nv, 20);
    Vec result = Vec::Zero(nv);
    bias_force(s.model, s.work);
    const Vec bias = s.work.tau_bias;
    rnea(s.model, a, s.work, result);
    inverse.add((result - s.work.M * a - bias).norm() / (s.work.M.norm() * a.norm() + bias.norm()),
                seed);
    aba(s.model, tau, s.work, result);
    forward.add((s.work.M * result + bias - tau).norm() /
                    (s.work.M.norm() * result.norm() + bias.norm() + tau.norm()),
                seed);
    Forest mass = s.forest(Vec::Zero(nv));
    mass.multiply(a, result);
    multiplied.add((result - s.work.M * a).norm() / (s.work.M.norm() * a.norm()), seed);
    ASSERT_TRUE(mass.factor()) << "seed " << seed;
    const Vec Ma = s.work.M * a;
    mass.solve(-1, Ma.data(), nullptr, result.data(), nullptr);
    undone.add((s.work.M * result - Ma).norm() / (s.work.M.norm() * result.norm()), seed);
  }
}

TEST(Dynamics, WithTheirOwnKinematics) {
  // The entries that take q give the same bits as forward_kinematics and then the recursion.
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    Scene s(random, {.added_inertia = seed % 2 == 0});
    const int nv = s.model.nv;
    Workspace other(s.model);
    for (int i = 0; i < s.bodies(); ++i)
      other.external[i] = s.work.external[i] = random.vector6(10);
    const Vec a = random.vector(nv, 5);
    Vec ours = Vec::Zero(nv), theirs = Vec::Zero(nv);
    EXPECT_EQ(other.M.size(), 0);
    rnea(s.model, a, s.work, ours);
    rnea(s.model, s.state.q, s.state.v, a, other, theirs);
    EXPECT_EQ(ours, theirs) << "seed " << seed;
    aba(s.model, a, s.work, ours);
    aba(s.model, s.state.q, s.state.v, a, other, theirs);
    EXPECT_EQ(ours, theirs) << "seed " << seed;
    EXPECT_EQ(other.M.size(), 0);  // nothing of O(n) makes the dense matrices
    crba(s.model, s.state.q, other);
    EXPECT_EQ(s.work.M, other.M) << "seed " << seed;
  }
}

TEST(Dynamics, RneaUndoesAba) {  // forward errors, where the condition number allows to see them
  Worst worst("aba(rnea(a)) - a, over the condition", 1e-14);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    Scene s(random, {});
    const int nv = s.model.nv;
    if (nv == 0) continue;
    const Vec a = random.vector(nv, 5);
    Vec tau = Vec::Zero(nv), back = Vec::Zero(nv);
    rnea(s.model, a, s.work, tau);
    aba(s.model, tau, s.work, back);
    const Vec values = Eigen::SelfAdjointEigenSolver<Mat>(s.work.M).eigenvalues();
    const double condition = values.maxCoeff() / values.minCoeff();
    worst.add((back - a).norm() / (condition * (a.norm() + tau.norm() / values.maxCoeff())), seed);
  }
}

TEST(Dynamics, BiasFromFirstPrinciples) {
  // Newton and Euler of every body, dJ/dt v by differences of the twists along the motion:
  //   bias = sum J' (I d/dt(J) v + V x* I V - gravity - external).
  Worst worst("bias, relative", 1e-10);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    Scene s(random, {.added_inertia = seed % 2 == 0});
    for (Vec6& wrench : s.work.external) wrench = random.vector6(10);
    Workspace moving(s.model);
    const auto twists = [&](double t) {
      forward_kinematics(s.model, test::flow(s.model, s.state.q, s.state.v, t), s.state.v, moving);
      Mat all(6, s.bodies());
      for (int i = 0; i < s.bodies(); ++i) all.col(i) = moving.V[i];
      return all;
    };
    const Mat rates = derivative(twists, h);
    Vec bias = Vec::Zero(s.model.nv);
    double size = 1;
    for (int i = 0; i < s.bodies(); ++i) {
      const Body& body = s.model.bodies[i];
      const Vec6& V = s.work.V[i];
      const Vec3 weight = body.rigid.mass * s.work.X[i].R.transpose() * s.model.gravity;
      const Vec6 F = body.inertia * rates.col(i) + dual_bracket(V, body.inertia * V) -
                     join(weight, body.rigid.com.cross(weight)) - s.work.external[i];
      const Mat6X J = body_jacobian(s, i);
      bias += J.transpose() * F;
      size += J.norm() * F.norm();
    }
    bias_force(s.model, s.work);
    worst.add((s.work.tau_bias - bias).norm() / size, seed);
  }
}

TEST(Dynamics, ExternalWrenchesAct) {
  Worst worst("bias(F) - bias(0) + sum J'F, over size", 1e-13);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    Scene s(random, {});
    bias_force(s.model, s.work);
    Vec expected = s.work.tau_bias;
    double size = 1 + expected.norm();
    for (int i = 0; i < s.bodies(); ++i) {
      s.work.external[i] = random.vector6(10);
      const Mat6X J = body_jacobian(s, i);
      expected -= J.transpose() * s.work.external[i];
      size += J.norm() * s.work.external[i].norm();
    }
    bias_force(s.model, s.work);
    worst.add((s.work.tau_bias - expected).norm() / size, seed);
  }
}

// --- Energy and momentum
// --------------------------------------------------------------------------

TEST(Energy, KineticInThreeWays) {
  Worst worst("1/2 v'Mv, sum over bodies, kinetic_energy, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Scene s(random, {.added_inertia = seed % 2 == 0});
    const double T = 0.5 * s.state.v.dot(s.work.M * s.state.v);
    double sum = 0.5 * s.state.v.dot(s.model.armature.cwiseProduct(s.state.v));
    for (int i = 0; i < s.bodies(); ++i) {
      sum += 0.5 * s.work.V[i].dot(s.model.bodies[i].inertia * s.work.V[i]);
    }
    if (T == 0) continue;
    worst.add(std::abs(T - sum) / T, seed);
    worst.add(std::abs(T - kinetic_energy(s.model, s.state.v, s.work)) / T, seed);
  }
}

TEST(Energy, CoriolisForcesObeyThePowerBalance) {
  // Without gravity v . bias = 1/2 v' (dM/dt) v: the only work is the change of kinetic energy.
  Worst worst("v . bias - 1/2 v' Mdot v, relative", 1e-10);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    Scene s(
        test::random_forest(random, {.added_inertia = seed % 2 == 0}).gravity(Vec3::Zero()).build(),
        random);
    Workspace moving(s.model);
    const auto energy = [&](double t) {
      forward_kinematics(s.model, test::flow(s.model, s.state.q, s.state.v, t), s.state.v, moving);
      crba(s.model, moving);
      return 0.5 * s.state.v.dot(moving.M * s.state.v);
    };
    bias_force(s.model, s.work);
    const double power = s.state.v.dot(s.work.tau_bias), rate = derivative(energy, h);
    worst.add(std::abs(power - rate) / (1 + energy(0) * s.state.v.norm()), seed);
  }
}

TEST(Energy, GravityIsTheGradientOfItsPotential) {
  Worst gradient("bias at rest - dV/dq, relative", 1e-11), value("gravity_energy, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    Scene s(random, {.added_inertia = seed % 2 == 0});
    s.state.v.setZero();
    s.update();
    bias_force(s.model, s.work);
    const double weight = s.model.total_mass() * s.model.gravity.norm();
    const Vec direction = random.vector(s.model.nv);
    Workspace moving(s.model);
    const auto potential = [&](double t) {
      const Vec q = test::flow(s.model, s.state.q, direction, t);
      forward_kinematics(s.model, q, direction, moving);
      return gravity_energy(s.model, moving);
    };
    gradient.add(std::abs(direction.dot(s.work.tau_bias) - derivative(potential, h)) /
                     (weight * (1 + direction.norm())),
                 seed);
    double sum = 0;
    for (int i = 0; i < s.bodies(); ++i) {
      const RigidInertia& body = s.model.bodies[i].rigid;
      sum -= body.mass * s.model.gravity.dot(s.work.X[i] * body.com);
    }
    value.add(std::abs(gravity_energy(s.model, s.work) - sum) / weight, seed);
  }
}

TEST(Energy, MomentumIsTheMotionOfTheMass) {
  Worst centre("centre_of_mass", 1e-13), linear("linear, against differences, relative", 1e-11);
  Worst angular("angular, against the sum over bodies, relative", 1e-13);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Scene s(random, {});
    const double mass = s.model.total_mass();
    const auto com = [&](double t) {
      const std::vector<SE3> X =
          test::body_poses(s.model, test::flow(s.model, s.state.q, s.state.v, t));
      Vec3 sum = Vec3::Zero();
      for (int i = 0; i < s.bodies(); ++i) {
        const RigidInertia& body = s.model.bodies[i].rigid;
        sum += body.mass / mass * (X[i] * body.com);
      }
      return sum;
    };
    centre.add((centre_of_mass(s.model, s.work) - com(0)).norm(), seed);
    const Momentum p = momentum(s.model, s.work);
    linear.add((p.linear - mass * derivative(com, h)).norm() / (mass * (1 + p.linear.norm())),
               seed);
    Vec3 sum = Vec3::Zero();
    double size = 1;
    for (int i = 0; i < s.bodies(); ++i) {
      const RigidInertia& body = s.model.bodies[i].rigid;
      const SE3& X = s.work.X[i];
      const Vec3 w = s.work.V[i].tail<3>(), v = s.work.V[i].head<3>() + w.cross(body.com);
      const Vec3 term = (X * body.com).cross(body.mass * X.R * v) + X.R * body.about_com * w;
      sum += term;
      size += term.norm();
    }
    angular.add((p.angular - sum).norm() / size, seed);
  }
}

// --- Invariance
// -----------------------------------------------------------------------------------

// The same forest with the world turned and moved by Y, gravity with it.
TEST(Invariance, OfTheInertialFrame) {
  Worst mass("M, relative", 1e-13), bias("bias, relative", 1e-12), pose("poses", 1e-13);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    Scene s(random, {});
    const SE3 Y = random.pose();
    Scene moved = s;
    for (Body& body : moved.model.bodies) {
      if (!body.parent.valid()) body.placement = Y * body.placement;
    }
    moved.model.gravity = Y.R * s.model.gravity;
    moved.work = Workspace(moved.model);  // it holds what the recursions read of the model
    moved.update();
    if (s.model.nv == 0) continue;
    mass.add((moved.work.M - s.work.M).norm() / s.work.M.norm(), seed);
    bias_force(s.model, s.work);
    bias_force(moved.model, moved.work);
    bias.add((moved.work.tau_bias - s.work.tau_bias).norm() /
                 (s.work.tau_bias.norm() + s.work.M.norm() * s.state.v.squaredNorm()),
             seed);
    for (int i = 0; i < s.bodies(); ++i) {
      pose.add(((Y * s.work.X[i]).r - moved.work.X[i].r).norm(), seed);
    }
  }
}

// The same forest with every body's frame chosen anew: nothing that has a physical meaning changes.
TEST(Invariance, OfTheBodyFrames) {
  Worst mass("M, relative", 1e-13), bias("bias, relative", 1e-12);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    Scene s(random, {});
    Scene moved = s;
    std::vector<SE3> Y;  // the old frame in the new one
    for (Body& body : moved.model.bodies) {
      Y.push_back(random.pose());
      const SE3& y = Y.back();
      body.rigid.com = y * body.rigid.com;
      body.rigid.about_com = y.R * body.rigid.about_com * y.R.transpose();
      body.inertia = spatial_inertia(body.rigid);
      body.in_body = y * body.in_body;
      if (body.parent.valid()) body.placement = Y[body.parent] * body.placement;
    }
    moved.work = Workspace(moved.model);  // it holds what the recursions read of the model
    moved.update();
    if (s.model.nv == 0) continue;
    mass.add((moved.work.M - s.work.M).norm() / s.work.M.norm(), seed);
    bias_force(s.model, s.work);
    bias_force(moved.model, moved.work);
    bias.add((moved.work.tau_bias - s.work.tau_bias).norm() /
                 (s.work.tau_bias.norm() + s.work.M.norm() * s.state.v.squaredNorm()),
             seed);
  }
}

// --- The factor
// -----------------------------------------------------------------------------------

TEST(Factor, PrescribedVelocitiesStayOut) {
  Worst worst("free part against a dense solve, over the condition", 1e-14);
  int cases = 0;
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    Scene s(random, {.prescribed = 0.4});
    const int nv = s.model.nv;
    std::vector<int> free;
    for (int k = 0; k < nv; ++k) {
      if (s.model.prescribed[k] == 0) free.push_back(k);
    }
    EXPECT_EQ(s.model.any_prescribed, static_cast<int>(free.size()) < nv);
    if (static_cast<int>(free.size()) == nv || free.empty()) continue;
    ++cases;
    const Vec extra = random.vector(nv).cwiseAbs(), rhs = random.vector(nv);
    Forest mass = s.forest(extra);
    ASSERT_TRUE(mass.factor()) << "seed " << seed;
    Vec x(nv);
    mass.solve(-1, rhs.data(), nullptr, x.data(), nullptr);
    const Mat A = (s.work.M + Mat(extra.asDiagonal()))(free, free);
    const Vec exact = A.ldlt().solve(Vec(rhs(free)));
    const Vec values = Eigen::SelfAdjointEigenSolver<Mat>(A).eigenvalues();
    const double condition = values.maxCoeff() / values.minCoeff();
    worst.add((x(free) - exact).norm() / (condition * exact.norm()), seed);
    for (int k = 0; k < nv; ++k) {
      if (s.model.prescribed[k] != 0) { EXPECT_EQ(x[k], 0) << "seed " << seed; }
    }
  }
  EXPECT_GE(cases, 50);
}

TEST(Factor, SaysWhenThereIsNoInverse) {
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    Scene s(random, {});
    if (s.model.nv == 0) continue;
    EXPECT_TRUE(s.forest(Vec::Zero(s.model.nv)).factor());
    Vec extra = Vec::Zero(s.model.nv);
    const int k = random.integer(0, s.model.nv - 1);
    extra[k] = -1.5 * s.work.M(k, k);
    EXPECT_FALSE(s.forest(extra).factor()) << "seed " << seed;
  }
}

// --- Closed forms
// ---------------------------------------------------------------------------------

TEST(ClosedForm, DoublePendulum) {
  // Two bars with centres of mass at c1, c2, in a vertical plane: x across, y up, joints about z.
  // With absolute angles t1, t2 of the textbook and q2 relative:
  //   M11 = I1 + I2 + m1 c1^2 + m2 (l1^2 + c2^2 + 2 l1 c2 cos q2),  M12 = I2 + m2 (c2^2 + l1 c2 cos
  //   q2) M22 = I2 + m2 c2^2 bias1 = -m2 l1 c2 sin q2 (2 v1 v2 + v2^2) + g (m1 c1 + m2 l1) cos q1 +
  //   m2 g c2 cos(q1 + q2) bias2 = m2 l1 c2 sin q2 v1^2 + m2 g c2 cos(q1 + q2)
  Worst worst("M and bias, relative", 1e-14);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const double m1 = random.uniform(0.5, 2), m2 = random.uniform(0.5, 2);
    const double l1 = random.uniform(0.3, 1), c1 = random.uniform(0.1, 1),
                 c2 = random.uniform(0.1, 1);
    const double I1 = random.uniform(0.01, 0.1), I2 = random.uniform(0.01, 0.1), g = 9.81;
    const auto bar = [](double m, double c, double I) {
      return RigidInertia{m, Vec3(c, 0, 0), Vec3(0.5 * I, I, I).asDiagonal()};
    };
    JointSpec shoulder, elbow;
    shoulder.kind = Revolute{Vec3::UnitZ()};
    elbow = shoulder;
    elbow.parent = "upper";
    elbow.placement = SE3::translation({l1, 0, 0});
    Scene s(ModelBuilder()
                .gravity({0, -g, 0})
                .body("upper", bar(m1, c1, I1), shoulder)
                .body("lower", bar(m2, c2, I2), elbow)
                .build(),
            random);
    const double q1 = s.state.q[0], q2 = s.state.q[1], v1 = s.state.v[0], v2 = s.state.v[1];
    const double coupling = m2 * l1 * c2;
    Mat2 M;
    M(0, 0) = I1 + I2 + m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2) + 2 * coupling * std::cos(q2);
    M(0, 1) = M(1, 0) = I2 + m2 * c2 * c2 + coupling * std::cos(q2);
    M(1, 1) = I2 + m2 * c2 * c2;
    const double second = m2 * g * c2 * std::cos(q1 + q2);
    const Vec2 bias(-coupling * std::sin(q2) * (2 * v1 * v2 + v2 * v2) +
                        g * (m1 * c1 + m2 * l1) * std::cos(q1) + second,
                    coupling * std::sin(q2) * v1 * v1 + second);
    bias_force(s.model, s.work);
    worst.add((s.work.M - M).norm() / M.norm(), seed);
    worst.add((s.work.tau_bias - bias).norm() / (bias.norm() + g), seed);
  }
}

TEST(ClosedForm, FreeBody) {
  // P2 eq. 21 with the centre of mass in the origin: m dv = m g dt, J dw + w x J w = 0.
  Worst worst("acceleration", 1e-13);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    RigidInertia body = random.inertia();
    body.com.setZero();
    JointSpec joint;
    joint.kind = Floating{};
    const Vec3 g = random.vector3(10);
    Scene s(ModelBuilder().gravity(g).body("body", body, joint).build(), random);
    Vec a = Vec::Zero(6);
    aba(s.model, Vec::Zero(6), s.work, a);
    const Vec3 w = s.state.v.tail<3>();
    worst.add((a.head<3>() - g).norm(), seed);
    const Vec3 exact = -body.about_com.ldlt().solve(w.cross(body.about_com * w));
    worst.add((a.tail<3>() - exact).norm() / (1 + exact.norm()) /
                  (body.about_com.norm() * body.about_com.inverse().norm()),
              seed);
    EXPECT_LE((s.work.M.topRightCorner(3, 3)).norm(), 1e-15);
  }
}

// --- Motion
// ---------------------------------------------------------------------------------------

// dq/dt = F(q) v from the definitions of the joints: plain numbers, or 1/2 q (0, w).
Vec rate_of_q(const Model& model, const Vec& q, const Vec& v) {
  Vec rate = Vec::Zero(model.nq);
  for (const Body& body : model.bodies) {
    if (has_scalar_coordinates(body.joint)) {
      rate.segment(body.q0, body.nq) = v.segment(body.v0, body.nv);
      continue;
    }
    const Vec3 w = v.segment(body.v0, body.nv).tail<3>();
    rate.segment(body.q0, body.nq).tail<4>() =
        0.5 *
        test::quaternion_product(q.segment(body.q0, body.nq).tail<4>(), Vec4(0, w[0], w[1], w[2]));
    if (body.nv == 6) rate.segment(body.q0, 3) = v.segment(body.v0, 3);
  }
  return rate;
}

// The classical Runge-Kutta method in the coordinates themselves; quaternions are drawn back to
// length one after each step.
void runge_kutta(Scene& s, double dt, int steps) {
  const int nq = s.model.nq, nv = s.model.nv;
  const auto rate = [&](const Vec& x) {
    Vec y(nq + nv), a = Vec::Zero(nv);
    forward_kinematics(s.model, x.head(nq), x.tail(nv), s.work);
    aba(s.model, Vec::Zero(nv), s.work, a);
    y << rate_of_q(s.model, x.head(nq), x.tail(nv)), a;
    return y;
  };
  Vec x(nq + nv);
  x << s.state.q, s.state.v;
  for (int k = 0; k < steps; ++k) {
    const Vec k1 = rate(x), k2 = rate(x + 0.5 * dt * k1), k3 = rate(x + 0.5 * dt * k2);
    x += dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + dt * k3));
    for (const Body& body : s.model.bodies) {
      if (!has_scalar_coordinates(body.joint)) x.segment(body.q0, body.nq).tail<4>().normalize();
    }
  }
  s.state.q = x.head(nq);
  s.state.v = x.tail(nv);
  s.update();
}

TEST(Motion, EnergyIsConserved) {
  // Runge-Kutta's error falls as dt^4: at dt = 2.5e-4 and rates of some 5 rad/s, (1e-3)^4 = 1e-12.
  Worst fine("relative drift in 0.25 s, dt = 2.5e-4", 1e-11);
  for (const auto seed : seeds(1, 30)) {
    Random random(seed);
    Scene s(random, {.least_bodies = 2, .most_bodies = 6});
    if (s.model.nv == 0) continue;
    const auto total = [](const Scene& scene) {
      return kinetic_energy(scene.model, scene.state.v, scene.work) +
             gravity_energy(scene.model, scene.work);
    };
    const double size =
        kinetic_energy(s.model, s.state.v, s.work) + s.model.total_mass() * s.model.gravity.norm();
    const double before = total(s);
    runge_kutta(s, 2.5e-4, 1000);
    fine.add(std::abs(total(s) - before) / size, seed);
  }
}

TEST(Motion, DriftFallsAsTheFourthPowerOfTheStep) {
  // An error in the dynamics would not go away with the step.
  for (const auto seed : seeds(1, 10)) {
    Random random(seed);
    const Scene start(random, {.least_bodies = 3, .most_bodies = 5, .single_root = true});
    const auto drift = [&](double dt) {
      Scene s = start;
      const auto total = [](const Scene& scene) {
        return kinetic_energy(scene.model, scene.state.v, scene.work) +
               gravity_energy(scene.model, scene.work);
      };
      const double before = total(s);
      runge_kutta(s, dt, static_cast<int>(std::lround(0.2 / dt)));
      return std::abs(total(s) - before);
    };
    const double coarse = drift(4e-3), fine = drift(1e-3);
    const double rounding = 1e-11 * kinetic_energy(start.model, start.state.v, start.work);
    EXPECT_LE(fine, coarse / 64 + rounding) << "seed " << seed;  // 4^4 = 256 at the best
  }
}

TEST(Motion, MomentumOfAFreeTreeIsConserved) {
  Worst linear("linear momentum, relative", 1e-11), angular("angular momentum, relative", 1e-11);
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    const ForestOptions options{
        .least_bodies = 2, .most_bodies = 6, .single_root = true, .armature = false};
    Scene s(test::random_forest(random, options).gravity(Vec3::Zero()).build(), random);
    const Momentum before = momentum(s.model, s.work);
    runge_kutta(s, 2.5e-4, 1000);
    const Momentum after = momentum(s.model, s.work);
    const double size = s.model.total_mass() * (1 + s.state.v.norm());
    linear.add((after.linear - before.linear).norm() / size, seed);
    angular.add((after.angular - before.angular).norm() / size, seed);
  }
}

TEST(Motion, MomentumChangesByTheWeight) {
  // d/dt of linear and angular momentum under gravity: total weight, at the centre of mass.
  Worst worst("rate of momentum, relative", 1e-10);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    Scene s(random, {.most_bodies = 6, .single_root = true, .armature = false});
    Vec a = Vec::Zero(s.model.nv);
    aba(s.model, Vec::Zero(s.model.nv), s.work, a);
    Workspace moving(s.model);
    const auto both = [&](double t) {  // to first order in t the motion with acceleration a
      const Vec q = test::flow(s.model, s.state.q, s.state.v, t);
      forward_kinematics(s.model, q, s.state.v + t * a, moving);
      const Momentum p = momentum(s.model, moving);
      return Vec6(join(p.linear, p.angular));
    };
    const Vec6 rate = derivative(both, 1e-4);  // accelerations to 1e3: smaller steps
    const Vec3 weight = s.model.total_mass() * s.model.gravity;
    const Vec6 expected = join(weight, centre_of_mass(s.model, s.work).cross(weight));
    worst.add((rate - expected).norm() / (s.model.total_mass() * (1 + a.norm())), seed);
  }
}

}  // namespace
}  // namespace saltus
