// The equations of motion of rods: two algorithms, two forms of the same figures.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "saltus/rods/rod.h"
#include "saltus/rods/statics.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/allocations.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
using test::Worst;

struct Case {
  Rod rod;
  RodState state;
  RodLoads loads;
  RodWork work;
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case c;
  std::vector<SegmentSpec> specs;
  for (int s = random.integer(1, 4); s > 0; --s) specs.push_back(test::random_segment(random).spec);
  c.rod = make_rod(specs);
  c.state = {random.pose(), random.vector6(), random.vector(c.rod.size), random.vector(c.rod.size)};
  c.loads = {random.vector3(9), random.vector3(), random.vector3(), random.vector6()};
  c.work.resize(c.rod);
  rod_motion(c.rod, c.state, c.work);
  rod_wrenches(c.rod, c.loads, c.work);
  return c;
}

Vec forces(Case& c) {
  Vec h(6 + c.rod.size);
  rod_forces(c.rod, c.state, c.work, h);
  rod_wrenches(c.rod, c.loads, c.work);
  return h;
}
Mat mass(Case& c) {
  Mat M(6 + c.rod.size, 6 + c.rod.size);
  rod_mass(c.rod, c.work, M);
  return M;
}

// Relative to the accelerations; M is ill-conditioned where a random basis bends short pieces, and
// what both lose by it is its condition in rounding: judged so.
TEST(RodDynamics, NodesAndTheDenseMatrixAgree) {
  Worst free("free: accelerations, over cond(M) |a|", 1e-15);
  Worst clamped("clamped", 1e-15), hinged("hinged", 1e-15);
  for (const auto seed : seeds(1, 40)) {
    Case c = random_case(seed);
    const int n = c.rod.size;
    const Vec h = forces(c);
    const Mat M = mass(c);
    const auto compare = [&](const Mat6X* base, Worst& worst) {
      const int k = base == nullptr ? 0 : static_cast<int>(base->cols());
      Mat P = Mat::Zero(6 + n, k + n);
      if (k > 0) P.topLeftCorner(6, k) = *base;
      P.bottomRightCorner(n, n).setIdentity();
      const Mat reduced = P.transpose() * M * P;
      const Eigen::LLT<Mat> factor(reduced);
      const Vec dense = P * factor.solve(P.transpose() * h);
      Vec nodes(6 + n);
      Vec6 a = Vec6::Zero();
      ASSERT_TRUE(rod_articulated(c.rod, c.state, c.work, base, Vec6::Zero(), a, nodes.tail(n)));
      rod_wrenches(c.rod, c.loads, c.work);
      nodes.head<6>() = a;
      worst.add((nodes - dense).norm() * factor.rcond() / dense.norm(), seed);
    };
    const Mat6X all = Mat6::Identity(), hinge = Mat6::Identity().col(5);
    compare(&all, free), compare(nullptr, clamped), compare(&hinge, hinged);
  }
}

TEST(RodDynamics, MassIsTheFormOfTheKineticEnergy) {
  Worst worst("T - 1/2 u' M u, relative", 1e-14), power("momentum: M u of the base", 1e-13);
  for (const auto seed : seeds(101, 40)) {
    Case c = random_case(seed);
    Vec u(6 + c.rod.size);
    u << c.state.V, c.state.v;
    const Vec Mu = mass(c) * u;
    const double T = rod_energy(c.rod, c.state, c.work, c.loads.gravity).kinetic;
    worst.add(std::abs(0.5 * u.dot(Mu) - T) / T, seed);
    const Vec6 sum = rod_momentum(c.rod, c.work),
               ours = wrench_to_parent(c.state.base, Mu.head<6>());
    power.add((sum - ours).norm() / sum.norm(), seed);
  }
}

// d/dt of energy and momentum along the motion by central differences: with the exact bias the
// energy of a free rod changes by the power of its loads less its damping, and by nothing else.
TEST(RodDynamics, PowerBalance) {
  Worst energy("dE/dt - power of tip loads + damping, relative", 1e-7);  // h^2 + eps/h
  Worst momentum("dP/dt - weight - tip loads, relative", 1e-7);
  for (const auto seed : seeds(201, 40)) {
    Case c = random_case(seed);
    const int n = c.rod.size;
    const Mat6X all = Mat6::Identity();
    Vec dv(n);
    Vec6 a = Vec6::Zero();
    ASSERT_TRUE(rod_articulated(c.rod, c.state, c.work, &all, Vec6::Zero(), a, dv));
    const SE3 tip = rod_tip(c.rod, c.work);
    const Vec6 load =
        join(tip.R.transpose() * c.loads.tip_force, tip.R.transpose() * c.loads.tip_moment) +
        c.loads.tip_follower;
    double expected = load.dot(c.work.twist.back().back());
    for (std::size_t s = 0; s < c.rod.segments.size(); ++s) {
      const auto v = c.state.v.segment(c.rod.first[s], c.rod.segments[s].size);
      expected -= v.dot(c.rod.segments[s].D * v);
    }
    const Vec6 V0 = c.state.V;
    const auto moved = [&](double h) {
      RodState x = c.state;
      x.base = x.base * exp_se3(h * V0 + 0.5 * h * h * a);
      x.V += h * a;
      x.q += h * c.state.v + 0.5 * h * h * dv;
      x.v += h * dv;
      rod_motion(c.rod, x, c.work);
      return std::pair(rod_energy(c.rod, x, c.work, c.loads.gravity).total(),
                       rod_momentum(c.rod, c.work));
    };
    const double h = 1e-5 / (1 + a.norm() + dv.norm());
    const auto [E1, P1] = moved(h);
    const auto [E0, P0] = moved(-h);
    const double scale =
        load.norm() * c.work.twist.back().back().norm() + std::abs(E1) / 1e-5 * 1e-3;
    energy.add(std::abs((E1 - E0) / (2 * h) - expected) / scale, seed);
    rod_motion(c.rod, c.state, c.work);
    Vec6 weight = wrench_to_parent(tip, load);
    for (std::size_t s = 0; s < c.rod.segments.size(); ++s) {
      for (int i = 0; i <= c.rod.segments[s].tip(); ++i) {
        const SE3 X = rod_pose(c.work, static_cast<int>(s), i);
        const double m = c.rod.segments[s].stations[i].inertia(0, 0);
        weight += m * join(c.loads.gravity, X.r.cross(c.loads.gravity));
      }
    }
    momentum.add(((P1 - P0) / (2 * h) - weight).norm() / (weight.norm() + P1.norm() / 1e-5 * 1e-3),
                 seed);
  }
}

TEST(RodDynamics, StressOfAMovingRod) {
  // Whatever the motion: at the base it is the wrench that the base must give, at the tip the tip's
  // load; at a cell's end it is the sum over the stations beyond, so the coefficients' equations
  // hold with it.
  Worst base("stress at the base - wrench on the base, relative", 1e-12);
  Worst tip("stress at the tip - its load, relative", 1e-12);
  for (const auto seed : seeds(301, 20)) {
    Case c = random_case(seed);
    const int n = c.rod.size;
    Vec dv(n);
    Vec6 a = Random(seed + 1000).vector6();  // the base is moved somehow
    const Vec6 given = a;
    ASSERT_TRUE(rod_articulated(c.rod, c.state, c.work, nullptr, Vec6::Zero(), a, dv));
    rod_wrenches(c.rod, c.loads, c.work);
    Vec acceleration(6 + n);
    acceleration << given, dv;
    const Vec rest = forces(c) - mass(c) * acceleration;  // f_0 = -rest, and 0 on the coefficients
    const Vec6 root = internal_wrench(c.rod, c.state, c.loads, c.work, given, dv, 0, 0);
    base.add((root - rest.head<6>()).norm() / (1 + root.norm()), seed);
    const int last = static_cast<int>(c.rod.segments.size()) - 1;
    const double L = c.rod.segments[last].spec.length;
    const Vec6 end = internal_wrench(c.rod, c.state, c.loads, c.work, given, dv, last, L);
    const SE3 X = rod_tip(c.rod, c.work);
    const Vec6 load =
        join(X.R.transpose() * c.loads.tip_force, X.R.transpose() * c.loads.tip_moment) +
        c.loads.tip_follower;
    tip.add((end - load).norm() / (1 + load.norm()), seed);
  }
}

TEST(RodDynamics, NothingAllocates) {
  if (!SALTUS_COUNTS) GTEST_SKIP() << "a sanitizer has its own malloc";
  Case c = random_case(401);
  Vec h(6 + c.rod.size), dv(c.rod.size);
  Mat M(6 + c.rod.size, 6 + c.rod.size);
  Vec6 a = Vec6::Zero();
  bool good = true;
  const Mat6X hinge = Mat6::Identity().col(5);
  const auto before = test::allocations.load();
  rod_motion(c.rod, c.state, c.work);
  rod_wrenches(c.rod, c.loads, c.work);
  rod_mass(c.rod, c.work, M);
  rod_forces(c.rod, c.state, c.work, h);
  for (const Mat6X* base : {static_cast<const Mat6X*>(nullptr), &hinge}) {
    rod_wrenches(c.rod, c.loads, c.work);
    good = good && rod_articulated(c.rod, c.state, c.work, base, Vec6::Zero(), a, dv);
  }
  const auto count = test::allocations - before;
  EXPECT_TRUE(good);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace saltus
