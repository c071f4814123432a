// Fig. 8's recursion against VERIFY-P4.md section 7, against the dense equations of random trees
// and against ABA, which its torques must lead back to the same motion.
#include "saltus/analysis/net_recursion.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "saltus/analysis/net_integration.h"
#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"
#include "saltus/model/builder.h"

namespace saltus {
namespace {

// Section 7: frame of body j at joint j, joint j at (L, 0, 0) of body j - 1.
Model chain_of_ten() {
  ModelBuilder builder;
  builder.gravity(Vec3::Zero());
  for (int j = 0; j < 10; ++j) {
    JointSpec joint;
    joint.kind.emplace<Floating>();
    if (j > 0) {
      joint.parent = fmt::format("body{}", j - 1);
      joint.placement = SE3::translation({0.1, 0, 0});
      joint.kind.emplace<Revolute>(j % 2 ? Vec3::UnitZ() : Vec3::UnitY());
    }
    const Vec3 moments = (1 + 0.1 * j) * Vec3(1e-4, 3e-4, 2.5e-4);
    builder.body(fmt::format("body{}", j),
                 {0.2 + 0.02 * j, {0.05, 0, 0}, Mat3(moments.asDiagonal())}, joint);
  }
  return builder.build();
}

// r_j = .8 t^2 sin(4t + .5 j) and its derivatives.
void shape_of_ten(double t, Vec& r, Vec& u, Vec& a) {
  for (int j = 1; j < 10; ++j) {
    const double s = std::sin(4 * t + 0.5 * j), c = std::cos(4 * t + 0.5 * j);
    r[j - 1] = 0.8 * t * t * s;
    u[j - 1] = 0.8 * (2 * t * s + 4 * t * t * c);
    a[j - 1] = 0.8 * (2 * s + 16 * t * c - 16 * t * t * s);
  }
}

struct TenBodies {
  Model model = chain_of_ten();
  Workspace work{model};
  NetRecursion recursion{model};
  Vec q = Vec::Zero(16), v = Vec::Zero(15), a = Vec::Zero(15), tau = Vec::Zero(15);

  // eta' of the head at (g, eta).
  Vec6 evaluate(double t, const SE3& g, const Vec6& eta) {
    Vec r(9), u(9), rdd(9);
    shape_of_ten(t, r, u, rdd);
    const Quat turned(g.R);
    q << g.r, turned.w(), turned.vec(), r;
    v << g.R * eta.head<3>(), eta.tail<3>(), u;
    a.tail(9) = rdd;
    EXPECT_TRUE(recursion.solve(q, v, a, work, tau));
    return join(g.R.transpose() * a.head<3>() - eta.tail<3>().cross(eta.head<3>()),
                a.segment<3>(3));
  }
  NetState integrate(double end) {
    NetState state{SE3{}, Vec::Zero(6)};
    const NetIntegration done = integrate_net(
        [&](double t, const NetState& s, Vec6& twist, VecRef xdot) {
          twist = s.x;
          xdot = evaluate(t, s.g, s.x);
        },
        0, end, 1e-13, state);
    EXPECT_TRUE(done.done);
    return state;
  }
};

void expect_all(const Vec& found, std::initializer_list<double> expected, double tolerance) {
  ASSERT_EQ(found.size(), static_cast<int>(expected.size()));
  int i = 0;
  for (const double x : expected) EXPECT_NEAR(found[i++], x, tolerance) << i - 1;
}

TEST(NetRecursion, ChainOfTenBodies) {
  TenBodies c;
  const NetState half = c.integrate(0.5);
  const Vec6 eta_dot = c.evaluate(0.5, half.g, half.x);
  // The digits of the reference: 13.
  expect_all(half.g.r, {0.0128278366943, -0.0412115773227, 0.0458123261543}, 1e-12);
  expect_all(log_so3(half.g.R), {-0.0014169460311, 0.1601483135659, 0.0801762211174}, 1e-12);
  expect_all(half.x,
             {0.0748667559526, -0.3148335287694, 0.3283582437275, -0.1091640010452, 1.5359843450084,
              1.4822996726316},
             1e-11);
  expect_all(eta_dot,
             {0.2218658158205, -0.9466384895025, 0.8315342438464, -0.7305574979384, 5.8739959253275,
              8.7136076925654},
             1e-10);
  expect_all(c.tau.tail(9),
             {-0.0058700865559, -0.0155912507673, -0.0189316205745, -0.0099845487642,
              0.006229865156, 0.0268596599612, 0.034715284269, 0.0313849062755, 0.0131012062177},
             1e-12);
  forward_kinematics(c.model, c.q, c.v, c.work);
  EXPECT_NEAR(kinetic_energy(c.model, c.v, c.work), 0.038963983685, 1e-11);
  EXPECT_NEAR(c.tau.tail(9).dot(c.v.tail(9)), 0.051538672329, 1e-11);
  const NetState one = c.integrate(1);
  expect_all(one.g.r, {0.1113582556085, -0.0532864663782, 0.0342325177898}, 1e-11);
  expect_all(log_so3(one.g.R), {0.1646111635768, 0.5604814507993, 0.9117660771648}, 1e-11);
  // Free check: total momentum stays zero.
  (void)c.evaluate(1, one.g, one.x);
  forward_kinematics(c.model, c.q, c.v, c.work);
  Vec6 momentum = Vec6::Zero();
  for (int b = 0; b < 10; ++b)
    momentum += wrench_to_parent(c.work.X[b], c.model.bodies[b].inertia * c.work.V[b]);
  EXPECT_LT(momentum.norm(), 1e-13);
}

// A random tree with joints of all kinds, gravity, added mass and wrenches from outside.
Model random_tree(std::mt19937& random, bool added) {
  std::uniform_real_distribution<double> x(-1, 1);
  const auto vec = [&] { return Vec3(x(random), x(random), x(random)); };
  ModelBuilder builder;
  builder.gravity({0.3, -1, -9.81});
  for (int j = 0; j < 12; ++j) {
    JointSpec joint;
    joint.kind.emplace<Floating>();
    if (j > 0) {
      joint.parent = fmt::format("body{}", std::uniform_int_distribution<int>(0, j - 1)(random));
      joint.kind = j % 5 == 4   ? Joint(Spherical{})
                   : j % 5 == 3 ? Joint(Prismatic{vec()})
                   : j % 5 == 2 ? Joint(Fixed{})
                                : Joint(Revolute{vec()});
    }
    joint.placement = {exp_so3(vec()), vec()};
    joint.in_body = {exp_so3(vec()), vec()};
    const std::string name = fmt::format("body{}", j);
    builder.body(name, {1 + 0.5 * x(random), vec(), Mat3(Vec3(0.3, 0.4, 0.5).asDiagonal())}, joint);
    if (added && j % 3 == 0) {
      const Mat6 L =
          Mat6::Identity() +
          0.3 * Mat6(Eigen::Matrix<double, 6, 6>::NullaryExpr([&] { return x(random); }));
      builder.added_inertia(name, L * L.transpose());
    }
  }
  return builder.build();
}

class RandomTrees : public ::testing::TestWithParam<bool> {};

TEST_P(RandomTrees, AgreeWithTheDenseEquationsAndWithAba) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> x(-1, 1);
  const Model model = random_tree(random, GetParam());
  NetRecursion recursion(model);
  for (int trial = 0; trial < 5; ++trial) {
    Vec q(model.nq), v(model.nv), a(model.nv), tau(model.nv);
    for (Vec* each : {&v, &a})
      for (double& e : *each) e = x(random);
    for (double& e : q) e = x(random);
    for (const Body& b : model.bodies)
      if (b.nq > b.nv) q.segment<4>(b.q0 + b.nq - 4).normalize();
    Workspace work(model);
    for (Vec6& f : work.external) f = Vec6::NullaryExpr([&] { return x(random); });
    const Vec given = a;
    ASSERT_TRUE(recursion.solve(q, v, a, work, tau));
    EXPECT_EQ(a.tail(model.nv - 6), given.tail(model.nv - 6));
    // Dense: the root's rows of M a + h = 0.
    forward_kinematics(model, q, v, work);
    bias_force(model, work);
    crba(model, work);
    const Vec rest = work.M.topRightCorner(6, model.nv - 6) * a.tail(model.nv - 6);
    const Vec root = work.M.topLeftCorner(6, 6).partialPivLu().solve(-rest - work.tau_bias.head(6));
    const double scale = 1 + a.norm();
    EXPECT_LT((a.head(6) - root).norm(), 1e-11 * scale);
    EXPECT_LT((work.M * a + work.tau_bias - tau).norm(), 1e-11 * work.M.norm() * scale);
    Vec back(model.nv);  // the torques, applied forward, reproduce the motion
    aba(model, q, v, tau, work, back);
    EXPECT_LT((back - a).norm(), 1e-10 * scale);
    // A free tree needs no net wrench; with another acceleration of the root it needs M+_0 of it.
    Vec again(model.nv);
    EXPECT_LT(recursion.net_wrench(q, v, a, work, again).norm(), 1e-11 * work.M.norm() * scale);
    EXPECT_LT((again - tau).norm(), 1e-11 * work.M.norm() * scale);
    Vec moved = a;
    moved.head(6) += Vec6::NullaryExpr([&] { return x(random); });
    const Vec6 wrench = recursion.net_wrench(q, v, moved, work, again);
    for (int c = 0; c < 6; ++c) {
      const double expected = (work.M.row(c) * moved)(0) + work.tau_bias[c];
      EXPECT_NEAR(work.S.col(c).dot(wrench), expected, 1e-11 * work.M.norm() * scale);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AddedMass, RandomTrees, ::testing::Bool());

TEST(NetRecursion, RefusesWhatItDoesNotKnow) {
  ModelBuilder two;
  const JointSpec joint{"", "world", Floating{}, {}, {}, {}, false, false};
  const RigidInertia one{1, Vec3::Zero(), Mat3::Identity()};
  two.body("a", one, joint).body("b", one, joint);
  const Model trees = two.build();
  EXPECT_THROW(NetRecursion{trees}, InputError);
}

}  // namespace
}  // namespace saltus
