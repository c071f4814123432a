// Cables: against closed forms, rigid joints, motors and the derivative of their length.
#include <cmath>
#include <numbers>

#include "saltus/base/error.h"
#include "saltus/contact/cables.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/integrators/integrator.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tests/support/simulate.h"

using namespace saltus;
using namespace saltus::test;

namespace {

constexpr double g = 9.81;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

CablePoint at(const Vec3& p) { return {{}, p}; }

Cable rope(const std::vector<Vec3>& points, double length) {
  Cable c;
  c.name = "rope";
  for (const Vec3& p : points) c.points.push_back(at(p));
  c.length = length;
  return c;
}

JointSpec slide(const Vec3& axis) { return joint(Prismatic{axis}); }

// Two weights on one rope over two fixed rings, or with the second one hanging in its bight.
Simulation weights(double m1, double m2, bool bight) {
  ModelBuilder b;
  b.body("one", ball_inertia(m1, 0.1), slide(Vec3::UnitZ()));
  b.body("two", ball_inertia(m2, 0.1), slide(Vec3::UnitZ()));
  const Vec3 ring1(0, 0, 2), ring2 = bight ? Vec3(0, 0, 2) : Vec3(1, 0, 2);
  // Rings stand exactly above the weights: all pieces but the one between the rings are vertical.
  if (bight)
    b.cable(rope({Vec3::Zero(), ring1, Vec3::Zero(), ring2}, 6), {"one", "world", "two", "world"},
            {});
  else
    b.cable(rope({Vec3::Zero(), ring1, ring1, Vec3::Zero()}, 4), {"one", "world", "world", "two"},
            {});
  return Simulation(b, 1e-3);
}

}  // namespace

TEST(Cables, AtwoodsMachineAndABlockAndTackle) {
  {
    Simulation sim = weights(3, 1, false);
    sim.run_until(0.2);
    const double a = g * (3 - 1) / (3 + 1);  // of the light one, upwards
    // The motion is uniformly accelerated, which the scheme integrates exactly.
    expect_figure("Atwood: speed of the light one", sim.state.v[1], 0.2 * a, 1e-12);
    expect_figure("Atwood: way of the heavy one", sim.state.q[0], -0.5 * a * 0.04, 1e-9);
    // The tension is in the state, as an impulse.
    expect_figure("tension", sim.state.Lambda[sim.model.slots.back().row] / 1e-3,
                  2 * 3 * 1 * g / (3 + 1), 1e-8);
  }
  Simulation sim = weights(1, 3, true);
  sim.run_until(0.2);
  // x1 = -2 x2: (m1 + m2/4) a1 = (m2/2 - m1) g.
  const double a1 = g * (3.0 / 2 - 1) / (1 + 3.0 / 4);
  expect_figure("tackle: speed at the free end", sim.state.v[0], 0.2 * a1, 1e-12);
  expect_figure("tackle: speed of the load", sim.state.v[1], -0.1 * a1, 1e-12);
}

// A ball on a string is a pendulum as long as it pulls; and falls freely where it would push.
TEST(Cables, AStringIsAPendulumUntilItIsSlack) {
  const auto ball = [](double dt, bool string) {
    ModelBuilder b;
    const RigidInertia point{1, Vec3::Zero(), 1e-9 * Mat3::Identity()};
    if (string) {
      b.body("ball", point, joint(Floating{}));
      b.cable(rope({Vec3::Zero(), Vec3::Zero()}, 1), {"ball", "world"}, {});
    } else {
      JointSpec j = joint(Revolute{Vec3::UnitY()});
      j.in_body.r = Vec3(-1, 0, 0);
      b.body("ball", point, j);
    }
    Simulation sim(b, dt);
    if (string) sim.state.q[0] = 1;
    sim.run_until(0.9);
    forward_kinematics(sim.model, sim.state.q, sim.state.v, sim.work.result.work);
    return std::pair(sim.pose("ball").r, sim.ledger.integrator);
  };
  // A contact asks the velocity at the end of the step not to part along its normal at the middle,
  // which has turned by v dt/2 until then: first order, for a rope as for a ball in a bowl.
  const Vec3 exact = ball(2.5e-5, false).first;
  double off[4], orders[3];
  for (int i = 0; i < 4; ++i) off[i] = (ball(2e-3 / (1 << i), true).first - exact).norm();
  for (int i = 0; i < 3; ++i) {
    orders[i] = std::log2(off[i] / off[i + 1]);
    fmt::print("    string against pendulum: {:.3e} at {} ms, order {:.3f} to the next\n", off[i],
               2.0 / (1 << i), orders[i]);
  }
  for (const double order : orders) EXPECT_GT(order, 1);

  // Thrown up on a slack string: a parabola, to rounding.
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.01), joint(Floating{}));
  b.cable(rope({Vec3::Zero(), Vec3::Zero()}, 1), {"ball", "world"}, {});
  Simulation sim(b, 1e-3);
  sim.state.v[2] = 2;
  sim.run_until(0.4);
  expect_figure("slack: height", sim.state.q[2], 2 * 0.4 - 0.5 * g * 0.16, 1e-12);
}

// At the end of the string an impact: restitution as that of a contact, and never a gain.
TEST(Cables, AStringThatTightensIsAnImpact) {
  for (const double e : {0.0, 0.5, 1.0}) {
    ModelBuilder b;
    b.gravity(Vec3::Zero());
    b.body("ball", ball_inertia(2, 0.01), slide(Vec3::UnitX()));
    Cable c = rope({Vec3::Zero(), Vec3::Zero()}, 0.1);
    c.restitution = e;
    b.cable(c, {"ball", "world"}, {});
    Simulation sim(b, 1e-3);
    sim.state.v[0] = 3;
    sim.run_until(0.05);
    expect_figure(fmt::format("speed after it, e = {}", e), sim.state.v[0], -3 * e, 1e-9);
    expect_figure("lost", sim.ledger.joints, -9 * (1 - e * e), 1e-8);
  }
}

// A jump on elastic rope: free fall, then an oscillator; deepest where m g (l + s) = k s^2/2.
TEST(Cables, ASpringInTheCablePullsOnly) {
  constexpr double m = 70, k = 200, l = 10;
  const double s = (m * g + std::sqrt(m * m * g * g + 2 * k * m * g * l)) / k;
  double error[2];
  for (int i = 0; i < 2; ++i) {
    ModelBuilder b;
    b.body("jumper", ball_inertia(m, 0.3), slide(Vec3::UnitZ()));
    Cable c = rope({Vec3::Zero(), Vec3(0, 0, 0)}, l);
    c.stiffness = k;
    c.stretches = true;
    b.cable(c, {"jumper", "world"}, {});
    Simulation sim(b, i == 0 ? 4e-3 : 2e-3);
    double lowest = 0, highest = -100;
    sim.run_until(12, [&] {
      lowest = std::min(lowest, sim.state.q[0]);
      if (sim.state.t > 6) highest = std::max(highest, sim.state.q[0]);
    });
    error[i] = std::abs(-lowest - (l + s));
    expect_figure("deepest", -lowest, l + s, 1e-3);
    expect_figure("and back up to where it fell from", highest, 0, 1e-2);
    // Nothing damps; where the rope tightens within a step the scheme is of first order in energy.
    EXPECT_NEAR(sim.ledger.dampers, 0, 1e-9);
    EXPECT_LT(std::abs(sim.ledger.integrator), 1e-3 * m * g * (l + s));
  }
  EXPECT_LT(error[1], error[0] + 1e-6);
}

// While it is taut its spring and damper are those of a spring between points.
TEST(Cables, TautItIsASpring) {
  const auto hang = [](bool cable) {
    ModelBuilder b;
    b.body("mass", ball_inertia(2, 0.1), joint(Floating{}));
    if (cable) {
      Cable c = rope({Vec3::Zero(), Vec3(0, 0, 1)}, 0.85);
      c.stiffness = 150;
      c.damping = 3;
      c.stretches = true;
      b.cable(c, {"mass", "world"}, {});
    } else {
      Spring s;
      s.name = "spring";
      s.point_b = Vec3(0, 0, 1);
      s.stiffness = 150;
      s.damping = 3;
      s.length = 0.85;
      b.spring(s, "mass", "world");
    }
    Simulation sim(b, 2e-3);
    sim.state.v.head<3>() = Vec3(0.3, 0.1, -0.2);  // it never goes slack
    sim.run_until(1);
    return std::tuple(Vec(sim.state.q), sim.ledger.dampers, sim.ledger.total());
  };
  const auto [q, dampers, total] = hang(true);
  const auto [q2, dampers2, total2] = hang(false);
  expect_figure("q, apart", (q - q2).norm(), 0, 1e-12);
  expect_figure("dampers", dampers, dampers2, 1e-12);
  expect_figure("energy", total, total2, 1e-12);
}

namespace {

// A turning base with an arm, or an arm with a belt to a wheel.
ModelBuilder arm() {
  ModelBuilder b;
  b.body("wheel", {1, Vec3::Zero(), 0.02 * Mat3::Identity()}, joint(Revolute{Vec3::UnitY()}));
  JointSpec j = joint(Revolute{Vec3::UnitY()}, "wheel");
  j.placement.r = Vec3(0, 0, 0.3);
  b.body("arm", {0.5, Vec3(0, 0, 0.2), 0.01 * Mat3::Identity()}, j);
  return b;
}

Cable belt(const std::string& name, double ratio, double length = 0) {
  Cable c;
  c.name = name;
  c.pulleys = {{.coordinate = {}, .gap = ratio}};
  c.length = length;
  return c;
}

}  // namespace

// A pull over a pulley is a torque.
TEST(Cables, AMotorThatPullsIsATorque) {
  constexpr double radius = 0.02;
  const auto run = [&](bool cable) {
    ModelBuilder b = arm();
    if (cable) {
      Cable c = belt("pull", -radius);
      c.stretches = c.driven = true;
      c.upper = 100;
      b.cable(c, {}, {"arm"});
    }
    Simulation sim(b, 1e-3);
    if (cable) {
      sim.actuation.cables = {{.cable = 0, .pull = Sine{80, 20, 0, 30}}};  // cut at 0 and 100 N
    } else {
      Motor m;
      m.coordinate = sim.model.coordinate("arm");
      m.torque = Sine{80 * radius, 20, 0, 30 * radius};
      m.lower = 0;
      m.upper = 100 * radius;
      sim.actuation.motors = {m};
    }
    check(sim.model, sim.actuation);
    sim.run_until(1);
    return std::tuple(Vec(sim.state.q), sim.ledger.motors, sim.ledger.integrator);
  };
  const auto [q, work, off] = run(true);
  const auto [q2, work2, off2] = run(false);
  // The same impulses in other sums: rounding, which 37 rad of whirling make 1e-12.
  expect_figure("q, apart", (q - q2).norm(), 0, 1e-10);
  expect_figure("work of the motor", work, work2, 1e-10 * std::abs(work2));
}

// Two stiff cables, one for each way, are a belt: x2 = n x1 and the inertias add up by n^2.
TEST(Cables, ABeltOfTwoIsAGear) {
  constexpr double J1 = 0.01, J2 = 0.03, n = 2.5, torque = 0.4;
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("base", ball_inertia(1, 0.1), joint(Fixed{}));
  b.body("one", {1, Vec3::Zero(), J1 * Mat3::Identity()}, joint(Revolute{Vec3::UnitZ()}, "base"));
  b.body("two", {1, Vec3::Zero(), J2 * Mat3::Identity()}, joint(Revolute{Vec3::UnitZ()}, "base"));
  for (const double way : {1.0, -1.0}) {
    Cable c;
    c.name = way > 0 ? "over" : "under";
    c.pulleys = {{.coordinate = {}, .gap = 0.01 * n * way}, {.coordinate = {}, .gap = -0.01 * way}};
    b.cable(c, {}, {"one", "two"});
  }
  Simulation sim(b, 1e-3);
  Motor m;
  m.coordinate = sim.model.coordinate("one");
  m.torque = Constant{torque};
  sim.actuation.motors = {m};
  sim.run_until(0.5);
  const double a = torque / (J1 + n * n * J2);
  expect_figure("speed of the first", sim.state.v[0], 0.5 * a, 1e-9);
  expect_figure("and of the second", sim.state.v[1], 0.5 * a * n, 1e-9);
}

// dr/dv against the difference of lengths, over random trees, points and pulleys.
TEST(Cables, TheRowIsTheDerivativeOfTheLength) {
  Random random(11);
  // Central differences of 1e-5: h^2 r'''/6 and rounding/h, 1e-9 or so.
  Worst worst("dr/dv against differences of the length", 1e-7);
  for (int trial = 0; trial < 50; ++trial) {
    ModelBuilder b;
    b.body("b0", ball_inertia(1, 0.1), joint(Floating{}));
    for (int i = 1; i < 4; ++i) {
      JointSpec j =
          joint(i == 2 ? Joint(Spherical{}) : Joint(Revolute{random.vector3().normalized()}),
                fmt::format("b{}", random.integer(0, i - 1)));
      j.placement.r = random.vector3();
      b.body(fmt::format("b{}", i), ball_inertia(1, 0.1), j);
    }
    Cable c = rope({random.vector3(), random.vector3(), random.vector3(), random.vector3()}, 5);
    c.pulleys = {{.coordinate = {}, .gap = random.uniform(-1, 1)}};
    b.cable(c, {"b0", "b3", "b2", "world"}, {"b1"});
    const Model model = b.build();
    State s = make_state(model);
    const Vec v = random.vector(model.nv);
    advance(model, s.q, random.vector(model.nv), 1);
    const auto length = [&](double by) {
      Vec q = s.q;
      advance(model, q, v, by);
      Workspace w(model);
      forward_kinematics(model, q, v, w);
      return cable_length(w, model.cables[0], [&](CoordinateIndex i) {
        return coordinate_value(model, w, q, s.turns, i);
      });
    };
    Workspace w(model);
    forward_kinematics(model, s.q, v, w);
    const double h = 1e-5;
    worst.add(std::abs(stretch_column(model, w, model.cables[0]).dot(v) -
                       (length(h) - length(-h)) / (2 * h)));
  }
}

namespace {

Momentum momentum_now(Simulation& sim) {
  forward_kinematics(sim.model, sim.state.q, sim.state.v, sim.work.result.work);
  return momentum(sim.model, sim.work.result.work);
}

enum class Inside { tendon, two_way, spring };

// A trunk with a leg on a stretched tendon, which may be slack; on one that pushes as well; or on a
// spring of the joint of the same stiffness.
Simulation free_legged(Inside inside, double dt) {
  constexpr double radius = 0.03, stiffness = 5000, damping = 1;
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("trunk", ball_inertia(2, 0.2), joint(Floating{}));
  JointSpec hip = joint(Revolute{Vec3::UnitY()}, "trunk");
  if (inside == Inside::spring) {
    hip.dofs.resize(1);
    hip.dofs[0].stiffness = stiffness * radius * radius;
    hip.dofs[0].damping = damping * radius * radius;
  }
  b.body("leg", {0.5, Vec3(0, 0, -0.2), 0.01 * Mat3::Identity()}, hip);
  if (inside != Inside::spring) {
    Cable c = belt("tendon", radius, 0);
    c.stiffness = stiffness;
    c.damping = damping;
    c.stretches = true;
    if (inside == Inside::two_way) c.lower = -1e9;
    b.cable(c, {}, {"leg"});
  }
  Simulation sim(b, dt);
  sim.state.q[7] = 0.8;
  return sim;
}

}  // namespace

// The row of a cable whose ends are both on a free body puts no force and no moment on the whole:
// its components along the base's velocities vanish, at any posture.
TEST(Cables, InsideAFreeBodyTheRowBalances) {
  Random random(5);
  Worst worst("net force and moment of a pull of 1 N", 1e-14);
  for (int trial = 0; trial < 50; ++trial) {
    ModelBuilder b;
    b.body("b0", ball_inertia(1, 0.1), joint(Floating{}));
    for (int i = 1; i < 5; ++i) {
      JointSpec j = joint(Revolute{random.vector3().normalized()},
                          fmt::format("b{}", random.integer(0, i - 1)));
      j.placement.r = random.vector3();
      b.body(fmt::format("b{}", i), ball_inertia(1, 0.1), j);
    }
    Cable c = rope({random.vector3(), random.vector3(), random.vector3(), random.vector3()}, 5);
    c.pulleys = {{.coordinate = {}, .gap = random.uniform(-1, 1)}};
    b.cable(c, {"b4", "b0", "b2", "b3"}, {"b1"});
    const Model model = b.build();
    State s = make_state(model);
    advance(model, s.q, random.vector(model.nv), 1);
    Workspace w(model);
    forward_kinematics(model, s.q, s.v, w);
    const Vec column = stretch_column(model, w, model.cables[0]);
    EXPECT_GT(column.tail(4).norm(), 1e-3);
    worst.add(column.head<6>().norm());
  }
}

// Between two free bodies the pull is one force at one instant: their linear momentum stays to
// rounding. Angular momentum stays as far as the scheme keeps that of a body with a moment on it.
TEST(Cables, BetweenFreeBodiesMomentumStays) {
  for (const bool stretches : {true, false}) {
    double angular[2];
    for (int i = 0; i < 2; ++i) {
      ModelBuilder b;
      b.gravity(Vec3::Zero());
      b.body("one", box_inertia(2, {0.1, 0.2, 0.3}), joint(Floating{}));
      b.body("two", box_inertia(1, {0.3, 0.1, 0.2}), joint(Floating{}));
      Cable c = rope({Vec3(0.05, 0.1, 0), Vec3(-0.1, 0, 0.1)}, stretches ? 0.5 : 1.2);
      if (stretches) {
        c.stiffness = 300;
        c.damping = 1;
        c.stretches = true;
      }
      b.cable(c, {"one", "two"}, {});
      Simulation sim(b, i == 0 ? 1e-3 : 5e-4);
      sim.state.q[7] = 1;
      sim.state.v << 0.1, 0.2, -0.3, 0.5, 1, 1.5, 0.5, 0.4, 0.3, -1, 2, 0.5;
      const Momentum before = momentum_now(sim);
      double pulled = 0;
      sim.run_until(1, [&] { pulled += sim.state.Lambda.sum(); });
      EXPECT_GT(pulled, 0.1);  // [N s]
      const Momentum after = momentum_now(sim);
      expect_figure("linear momentum, change", (after.linear - before.linear).norm(), 0, 1e-13);
      angular[i] = (after.angular - before.angular).norm();
    }
    fmt::print("    angular momentum, change {:.2e}, {:.2e}\n", angular[0], angular[1]);
    EXPECT_LT(angular[0], 1e-4);
    // Where a rope tightens at once, where in the step it does so is luck: no order to be seen.
    if (stretches) { EXPECT_NEAR(std::log2(angular[0] / angular[1]), 2, 0.05); }
  }
}

// In a tree the scheme steps v, not momentum: M(q_M) (v_E - v_S) = dt h leaves A(q) v to O(dt^2),
// without any cable too. A tendon adds nothing to that: it is the spring of its joint, to rounding.
TEST(Cables, InsideAFreeBodyMomentumIsThatOfAJointsSpring) {
  double drift[2][2];
  for (int i = 0; i < 2; ++i) {
    const double dt = i == 0 ? 1e-3 : 5e-4;
    Simulation tendon = free_legged(Inside::two_way, dt), spring = free_legged(Inside::spring, dt),
               slack = free_legged(Inside::tendon, dt);
    for (Simulation* s : {&tendon, &spring, &slack}) s->run_until(0.5);
    EXPECT_GT(std::abs(slack.state.v[6]), 0.1);
    expect_figure(
        "q and v of tendon and spring, apart",
        (tendon.state.q - spring.state.q).norm() + (tendon.state.v - spring.state.v).norm(), 0,
        1e-11);
    expect_figure("momentum of tendon and spring, apart",
                  (momentum_now(tendon).linear - momentum_now(spring).linear).norm(), 0, 1e-12);
    drift[0][i] = momentum_now(tendon).linear.norm();
    drift[1][i] = momentum_now(slack).linear.norm();
    EXPECT_LT(slack.ledger.dampers, 0);
    expect_figure("energy that nothing explains", slack.ledger.integrator, 0,
                  1e-3 * 0.5 * 5000 * 5.76e-4);
  }
  for (const auto& d : drift) {
    fmt::print("    momentum {:.3e}, {:.3e} N s\n", d[0], d[1]);
    EXPECT_NEAR(std::log2(d[0] / d[1]), 2, 0.01);
  }
}

TEST(Cables, BadInput) {
  const auto complaint = [](const Cable& c, const std::vector<std::string>& bodies,
                            const std::vector<std::string>& joints) -> std::string {
    try {
      ModelBuilder b = arm();
      b.body("other", ball_inertia(1, 0.1), joint(Floating{}));
      (void)b.cable(c, bodies, joints).build();
    } catch (const InputError& e) { return e.what(); }
    return "";
  };
  const Cable two = rope({Vec3::Zero(), Vec3::UnitX()}, 1);
  EXPECT_EQ(complaint(two, {"arm", "other"}, {}), "");
  EXPECT_EQ(complaint(two, {"arm", "othr"}, {}),
            "cables[0].through[1].body: no body is called 'othr'");
  EXPECT_EQ(complaint(two, {"arm", "arm"}, {}),
            "cables[0].through: expected points of two bodies, or of a body and the world");
  EXPECT_EQ(complaint(rope({Vec3::Zero()}, 1), {"arm"}, {}),
            "cables[0].through: expected at least two points, got 1");
  EXPECT_EQ(complaint(belt("b", 0), {}, {"arm"}),
            "cables[0].pulleys[0].ratio: expected a number other than 0, got 0");
  EXPECT_EQ(complaint(belt("b", 1), {}, {"am"}),
            "cables[0].pulleys[0].joint: no joint coordinate is called 'am'");
  EXPECT_HAS(complaint(rope({Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY()}, 1),
                       {"arm", "wheel", "other"}, {}),
             "one tree");
  Cable limited = belt("b", 1);
  limited.upper = 3;
  EXPECT_HAS(complaint(limited, {}, {"arm"}), "does not stretch has no limit");
  ModelBuilder b = arm();
  b.cable(belt("b", 1), {}, {"arm"});
  const Model model = b.build();
  EXPECT_THROW(check_supported(EventDriven{}, model, {}, ""), InputError);
}
