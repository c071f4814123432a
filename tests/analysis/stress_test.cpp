// lambda_stat within cones: closed forms of bodies wedged between walls, and the conditions of the
// optimum on random programs.
#include "saltus/analysis/stress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/analysis/holds.h"
#include "saltus/analysis/mass_centre.h"
#include "saltus/analysis/shape_dynamics.h"
#include "saltus/base/error.h"
#include "saltus/model/builder.h"
#include "tests/support/random.h"
#include "tests/support/shape_case.h"

namespace saltus {
namespace {

// Three links of length L in a row along x, which is up; the middle one is the root.
struct Shaft {
  static constexpr double L = 0.3, m = 0.5, g = 9.81;
  Model model;
  ShapeSpace space;
  std::vector<Hold> holds;
  NetForces forces;

  explicit Shaft(double mu) : model(build()), space(shape_space(model)) {
    // Walls on the left press on both outer links, on the right on the middle one: at the axis.
    for (const auto& [body, y] : {std::pair{"link1", -1.0}, {"link2", 1.0}, {"link3", -1.0}}) {
      Hold h;
      h.name = body;
      h.body = model.body(body);
      h.normal = {0, y, 0};
      h.friction = mu;
      holds.push_back(h);
    }
    forces.rows = hold_rows(model, space, holds);
  }
  static Model build() {
    ModelBuilder b;
    b.planar(true).gravity({-g, 0, 0});
    JointSpec root;
    root.kind = Planar{};
    const RigidInertia link{m, Vec3::Zero(), 1e-3 * Mat3::Identity()};
    b.body("link2", link, root);
    for (const auto& [name, side] : {std::pair{"link1", -1.0}, {"link3", 1.0}}) {
      JointSpec j;
      j.parent = "link2";
      j.kind = Revolute{};
      j.placement.r = {side * L / 2, 0, 0};
      j.in_body.r = {-side * L / 2, 0, 0};
      b.body(name, link, j);
    }
    return b.build();
  }
  [[nodiscard]] Torques at_rest() const {
    const Vec zero = Vec::Zero(2);
    return torques(model, space, forces, {zero, zero, zero}, Vec::Zero(3));
  }
  [[nodiscard]] std::vector<ForceCone> cones() const {
    return hold_cones(holds, forces.rows, 0, shape_columns(model, space, Vec::Zero(2)).X);
  }
  [[nodiscard]] Stress choose(const StressOptions& o = {}) const {
    const Torques t = at_rest();
    return choose_stress({t.lambda, t.stat, t.tau, t.tau_stat}, cones(), o);
  }
};

// 3 m g hangs on friction of N, 2N, N: N = 3 m g / (4 mu), and each joint carries N L/2.
TEST(Stress, LeastTorqueOfASnakeBetweenPegs) {
  for (const double mu : {0.3, 0.7}) {
    const Shaft c(mu);
    const Torques kin = c.at_rest();
    EXPECT_LT(kin.eta_dot.norm(), 1e-12);
    // The least forces: friction alone, a third of the weight each, which no joint feels, and which
    // nothing presses.
    EXPECT_LT(kin.tau.norm(), 1e-12);
    const double third = Shaft::m * Shaft::g;
    for (const ForceCone& cone : c.cones())
      EXPECT_NEAR(missing_force(cone, kin.lambda), third / mu, 1e-11);
    const Stress s = c.choose();
    ASSERT_TRUE(s.feasible);
    const double expected = 3 * Shaft::m * Shaft::g / (4 * mu) * Shaft::L / 2;
    for (const double tau : s.tau) EXPECT_NEAR(std::abs(tau), expected, 1e-6 * expected);
    EXPECT_NEAR(s.tau[0] + s.tau[1], 0, 2e-6 * expected * 2);  // the parent's hinge on either side
    for (const ForceCone& cone : c.cones()) EXPECT_LT(missing_force(cone, s.lambda), 1e-12);
    // It moves nothing.
    EXPECT_LT(
        (c.forces.rows.size() > 0 ? kin.stat.transpose() * kin.lambda : Vec(Vec::Zero(1))).norm(),
        1e-11);
  }
}

// Pressed at least so much: the middle takes what both ends give.
TEST(Stress, Press) {
  const Shaft c(10);
  StressOptions o;
  o.press = 7;
  const Stress s = c.choose(o);
  ASSERT_TRUE(s.feasible);
  const auto cones = c.cones();
  EXPECT_NEAR(cones[0].normal.dot(s.lambda), 7, 1e-5);
  EXPECT_NEAR(cones[1].normal.dot(s.lambda), 14, 1e-5);
  EXPECT_NEAR(cones[2].normal.dot(s.lambda), 7, 1e-5);
}

// Torques that are too weak: what the worst point lacks, by the limit N = 2 limit / L.
TEST(Stress, LimitsThatAreTooLow) {
  const double mu = 0.3, asked = 3 * Shaft::m * Shaft::g / (4 * mu) * Shaft::L / 2;
  const Shaft c(mu);
  StressOptions o;
  o.limit = Vec::Constant(2, 1.01 * asked);
  EXPECT_TRUE(c.choose(o).feasible);
  o.limit = Vec::Constant(2, 0.99 * asked);
  const Stress s = c.choose(o);
  EXPECT_FALSE(s.feasible);
  EXPECT_LT(s.room, 0);
  EXPECT_EQ(s.tau, c.at_rest().tau);
}

// Nothing can press a body that only one wall touches.
TEST(Stress, WithoutAnOppositeWall) {
  Shaft c(1);
  for (Hold& h : c.holds) h.normal = Vec3::UnitY();
  const Stress s = c.choose();
  EXPECT_FALSE(s.feasible);
}

// The optimum of random programs: no random feasible c has smaller torques.
TEST(Stress, NoOtherIsLess) {
  test::Random random(5);
  int found = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const int points = 4, k = 5, p = 6, m = 3 * points;
    OpenForces open{random.vector(m), Mat::Zero(m, k), random.vector(p), Mat::Zero(p, k)};
    for (int j = 0; j < k; ++j) {
      open.stat.col(j) = random.vector(m);
      open.tau_stat.col(j) = random.vector(p);
    }
    std::vector<ForceCone> cones;
    for (int i = 0; i < points; ++i) {
      ForceCone c{"point", Vec::Unit(m, 3 * i), Mat::Zero(2, m), 1.5};
      c.tangent(0, 3 * i + 1) = c.tangent(1, 3 * i + 2) = 1;
      cones.push_back(c);
    }
    const Stress s = choose_stress(open, cones, {});
    if (!s.feasible) continue;
    ++found;
    for (const ForceCone& c : cones) EXPECT_LT(missing_force(c, s.lambda), 1e-12);
    // Lines from the optimum into the set: the objective rises along each of them.
    for (int i = 0; i < 2000; ++i) {
      const Vec other = s.c + std::pow(10.0, -(i % 5)) * random.vector(k);
      const Vec lambda = open.lambda + open.stat * other;
      bool inside = true;
      for (const ForceCone& c : cones) inside = inside && missing_force(c, lambda) == 0;
      if (!inside) continue;
      EXPECT_GT((open.tau + open.tau_stat * other).norm(), s.tau.norm() * (1 - 1e-6));
    }
  }
  EXPECT_GE(found, 5);
}

TEST(Stress, BadInput) {
  const Shaft c(1);
  const Torques t = c.at_rest();
  auto cones = c.cones();
  cones[0].mu = 0;
  EXPECT_THROW((void)choose_stress({t.lambda, t.stat, t.tau, t.tau_stat}, cones), InputError);
  StressOptions o;
  o.limit = Vec::Ones(7);
  EXPECT_THROW((void)choose_stress({t.lambda, t.stat, t.tau, t.tau_stat}, c.cones(), o),
               InputError);
}

// From the centre of mass a creature without outer forces only turns; and its curvature has no
// linear part.
TEST(MassCentre, OfAFreeCreature) {
  const test::ShapeCase c(test::chain(std::vector<test::ChainLink>(3), 1));
  test::Random random(3);
  for (int i = 0; i < 5; ++i) {
    const Vec r = random.vector(2);
    const MassCentre h = mass_centre(c.model, c.space, r);
    const Mat A = h.seen * local_form(c.model, c.space, c.medium, r).A - h.slope;
    EXPECT_LT(A.topRows(2).norm(), 1e-14);
    const Vec F = h.seen * curvature(c.model, c.space, c.medium, r, 0, 1);
    EXPECT_LT(F.head(2).norm(), 1e-13);
  }
}

}  // namespace
}  // namespace saltus
