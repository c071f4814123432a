// The stepper: conservation, prescribed coordinates, coordinate sets, joint elements, the ledger,
// restarts and allocations.
#include <cstdlib>
#include <new>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/geometry/friction_map.h"
#include "saltus/geometry/terrain.h"
#include "saltus/lie/so3.h"
#include "saltus/model/snake.h"
#include "saltus/model/worm.h"
#include "tests/support/allocations.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi;

// --- conservation -------------------------------------------------------------------------------

Simulation tumbling(double dt) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("body", {1, Vec3::Zero(), Vec3(1, 2, 3).asDiagonal()}, joint(Floating{}));
  Simulation s(b, dt);
  s.state.v << 0.3, -0.2, 0.1, 0.01, 1, 0.01;
  return s;
}

TEST(TumblingBody, KeepsEnergyAndMomentum) {
  Simulation s = tumbling(1e-3);
  const double T0 = 0.5 * (0.14 + 0.0001 + 2 + 0.0003);
  const Vec3 L0(0.01, 2, 0.03);
  double energy = 0, spin = 0, size = 0;
  s.run_until(10, [&] {
    const Momentum p = momentum(s.model, s.work.result.work);
    const Vec3 L = p.angular - s.state.q.head<3>().cross(p.linear);
    energy = std::max(energy, std::abs(s.ledger.kinetic / T0 - 1));
    spin = std::max(spin, (L - L0).norm() / L0.norm());
    size = std::max(size, std::abs(L.norm() / L0.norm() - 1));
  });
  // The mid-point rule keeps quadratic invariants (energy, |L|) to rounding; the direction of L
  // is kept to O(dt^2).
  expect_figure("relative drift of energy over 10 s", energy, 0, 1e-12);
  expect_figure("relative drift of |L| over 10 s", size, 0, 1e-12);
  expect_figure("relative drift of L over 10 s", spin, 0, 1e-6);
  expect_figure("linear momentum x", momentum(s.model, s.work.result.work).linear.x(), 0.3, 1e-14);
}

// Period of omega: 4 K(m)/lambda (Jacobi). With 2T and L^2 at hand for I = (1, 2, 3).
TEST(TumblingBody, DzhanibekovPeriod) {
  const Vec3 I(1, 2, 3), w(0.01, 1, 0.01);
  const double T2 = I.dot(w.cwiseAbs2()), L2 = I.cwiseAbs2().dot(w.cwiseAbs2());
  // L^2 > 2 T I_2: rotation about the largest axis; else about the smallest.
  const bool largest = L2 > T2 * I[1];
  const double a = largest ? I[2] : I[0], c = largest ? I[0] : I[2];
  const double lambda = std::sqrt((a - I[1]) * (L2 - T2 * c) / (I[0] * I[1] * I[2]));
  const double m = (I[1] - c) * (T2 * a - L2) / ((a - I[1]) * (L2 - T2 * c));
  const double period = 4 * std::comp_ellint_1(std::sqrt(m)) / std::abs(lambda);
  double last_error = 0;
  for (const double dt : {4e-3, 2e-3, 1e-3}) {
    Simulation s = tumbling(dt);
    std::vector<double> crossings;  // of omega_2, upwards
    double before = s.state.v[4];
    s.run_until(2.2 * period, [&] {
      const double now = s.state.v[4];
      if (before < 0 && now >= 0) crossings.push_back(s.state.t - dt * now / (now - before));
      before = now;
    });
    ASSERT_GE(crossings.size(), 2U);
    const double measured = crossings[1] - crossings[0];
    expect_figure(fmt::format("dt = {}: period of the flip [s]", dt), measured, period,
                  4 * dt * dt);
    const double error = std::abs(measured - period);
    if (last_error > 0 && error > 1e-9)
      fmt::print("    observed order {:.2f}\n", std::log2(last_error / error));
    last_error = error;
  }
}

// --- prescribed coordinates
// -----------------------------------------------------------------------

struct Satellite {
  double a = 9, b = 7;
  RigidInertia hub{10, Vec3::Zero(), Vec3(0.8, 1.1, 0.9).asDiagonal()};
  RigidInertia wheel1{1, Vec3::Zero(), Vec3(0.05, 0.03, 0.03).asDiagonal()};
  RigidInertia wheel2{1, Vec3::Zero(), Vec3(0.03, 0.05, 0.03).asDiagonal()};

  [[nodiscard]] Simulation simulation(bool prescribed, double dt,
                                      CoordinateSet set = CoordinateSet::minimal) const {
    ModelBuilder m;
    m.gravity(Vec3::Zero()).coordinates(set);
    m.body("hub", hub, joint(Floating{}));
    JointSpec j1 = joint(Revolute{Vec3::UnitX()}, "hub"),
              j2 = joint(Revolute{Vec3::UnitY()}, "hub");
    JointDof dof;
    dof.prescribed = prescribed;
    j1.dofs = j2.dofs = {dof};
    m.body("wheel1", wheel1, j1).body("wheel2", wheel2, j2);
    return Simulation(m, dt);
  }
  [[nodiscard]] Mat3 exact() const {
    const double k1 = 0.05 / (0.8 + 0.05 + 0.03), k2 = 0.05 / (1.1 + 0.05 + 0.03);
    const Vec3 e1 = Vec3::UnitX(), e2 = Vec3::UnitY();
    return exp_so3(-a * k1 * e1) * exp_so3(-b * k2 * e2) * exp_so3(a * k1 * e1) *
           exp_so3(b * k2 * e2);
  }
  void prescribe(Simulation& s) const {
    const auto back_and_forth = [](double to, double start) {
      return Sum{{Move{0, to, start, 1}, Move{0, -to, start + 2, 1}}};
    };
    s.actuation.prescribed = {{s.model.coordinate("wheel1"), back_and_forth(a, 0)},
                              {s.model.coordinate("wheel2"), back_and_forth(b, 1)}};
  }
};

TEST(Satellite, ReorientsByTheProductOfExponentials) {
  const Satellite satellite;
  Simulation s = satellite.simulation(true, 1e-3);
  satellite.prescribe(s);
  double L = 0;
  s.run_until(4, [&] { L = std::max(L, momentum(s.model, s.work.result.work).angular.norm()); });
  const Mat3 R = s.pose("hub").R;
  // A cycloid's rate is a full cosine wave: the trapezoid rule of the step integrates it exactly.
  expect_figure("attitude, distance from the product",
                log_so3(satellite.exact().transpose() * R).norm(), 0, 1e-9);
  expect_figure("turned by [rad]", log_so3(R).norm(), log_so3(satellite.exact()).norm(), 1e-9);
  expect_figure("largest angular momentum [N m s]", L, 0, 1e-12);
}

TEST(Satellite, TorquesFromInverseDynamicsReproduceTheMotion) {
  const Satellite satellite;
  Simulation s = satellite.simulation(true, 1e-3);
  satellite.prescribe(s);
  Table torque[2];
  for (Table& t : torque) t.interpolation = Interpolation::hold;
  s.run_until(4, [&] {
    for (int i = 0; i < 2; ++i) {
      torque[i].times.push_back(s.state.t - s.options.dt);
      torque[i].values.push_back(s.work.result.drive[6 + i]);
    }
  });
  Simulation free = satellite.simulation(false, 1e-3);
  for (int i = 0; i < 2; ++i) {
    Motor m;
    m.coordinate = free.model.coordinate(i == 0 ? "wheel1" : "wheel2");
    m.torque = torque[i];
    free.actuation.motors.push_back(m);
  }
  free.run_until(4);
  // The same equations solved for other unknowns: rounding, 4000 steps long.
  expect_figure("attitude of the replay, distance",
                log_so3(s.pose("hub").R.transpose() * free.pose("hub").R).norm(), 0, 1e-11);
  expect_figure("wheel 1 of the replay [rad]", free.state.q[7], s.state.q[7], 1e-11);
  expect_figure("wheel 2 of the replay [rad]", free.state.q[8], s.state.q[8], 1e-11);
  // Independent of the stepper: RNEA at a mid-point with the exact accelerations of the motion.
  const double t = 0.3, w = 2 * pi;
  Workspace work(s.model);
  Simulation at = satellite.simulation(true, 1e-3);
  satellite.prescribe(at);
  at.run_until(t);
  const double rate = 9 * (1 - std::cos(w * t)), acceleration = 9 * w * std::sin(w * t);
  Vec v = Vec::Zero(8), acc = Vec::Zero(8), tau(8);
  const double k1 = 0.05 / 0.88;
  v[6] = rate;
  v[3] = -k1 * rate;
  acc[6] = acceleration;
  acc[3] = -k1 * acceleration;
  forward_kinematics(s.model, at.state.q, v, work);
  rnea(s.model, acc, work, tau);
  // The step's drive is the mean over the step that ends at t: first order in dt.
  expect_figure("wheel torque at 0.3 s [N m], RNEA", at.work.result.drive[6], tau[6],
                0.06 * std::abs(9 * w * w * std::cos(w * t)) * 1e-3);
  EXPECT_LT(tau.head<6>().norm(), 1e-12);
}

// A jump of a prescribed rate is an impulse: momentum stays what it was.
TEST(Prescribed, RateJumpsKeepMomentum) {
  const Satellite satellite;
  Simulation s = satellite.simulation(true, 1e-2);
  Table saw{{0, 0.5, 1.0, 1.5}, {0, 3, -2, -2}, Interpolation::linear};
  saw.times[0] = 0.1;
  s.actuation.prescribed = {{s.model.coordinate("wheel1"), saw},
                            {s.model.coordinate("wheel2"), Constant{0}}};
  double L = 0;
  s.run_until(2, [&] { L = std::max(L, momentum(s.model, s.work.result.work).angular.norm()); });
  expect_figure("largest angular momentum [N m s]", L, 0, 1e-13);
}

// A prescribed joint that is cut is kept by a row of its own. Each move turns the hub about one
// axis, so here even the maximal set is exact.
TEST(Prescribed, CutCoordinatesFollowTheirMotion) {
  const Satellite satellite;
  Simulation s = satellite.simulation(true, 1e-3, CoordinateSet::maximal);
  satellite.prescribe(s);
  EXPECT_EQ(s.model.nv, 18);
  double gap = 0;
  while (s.state.step < 4000) gap = std::max(gap, s.step().projection.joint_gap);
  expect_figure("maximal: attitude, distance from the product",
                log_so3(satellite.exact().transpose() * s.pose("hub").R).norm(), 0, 1e-12);
  expect_figure("maximal: largest joint gap [m]", gap, 0, 1e-12);
}

// --- coordinate sets
// --------------------------------------------------------------------------------

ModelBuilder pendulum(int links, CoordinateSet set, bool spatial) {
  ModelBuilder b;
  b.coordinates(set);
  for (int i = 0; i < links; ++i) {
    JointSpec j = joint(Revolute{spatial && i % 2 ? Vec3(0.6, 0, 0.8) : Vec3::UnitY()},
                        i == 0 ? "world" : fmt::format("l{}", i - 1));
    if (i > 0) j.placement = SE3::translation({0.25, 0, 0});
    j.in_body = SE3::translation({-0.25, 0, 0});
    j.dofs = {JointDof{}};
    j.dofs[0].armature = 0.01;
    j.dofs[0].damping = 0.05;
    j.dofs[0].stiffness = 0.5;
    b.body(fmt::format("l{}", i), box_inertia(1, Vec3(0.5, 0.05, 0.05)), j);
  }
  return b;
}

// Minimal and maximal coordinates converge to the same motion; at finite dt they differ by O(dt^2).
TEST(CoordinateSets, MinimalAndMaximalConvergeToEachOther) {
  for (const bool spatial : {false, true}) {
    double last = 0;
    for (const double dt : {4e-3, 2e-3, 1e-3, 5e-4}) {
      Vec3 tip[2];
      for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
        Simulation s(pendulum(3, set, spatial), dt);
        set_posture(s.model, zero_posture(s.model), s.state);
        s.run_until(1);
        tip[set == CoordinateSet::maximal] = s.pose("l2") * Vec3(0.25, 0, 0);
      }
      const double distance = (tip[0] - tip[1]).norm();
      fmt::print("    {} dt = {:<7} minimal - maximal {:.3e} m", spatial ? "spatial" : "planar", dt,
                 distance);
      if (last > 0) fmt::print(", observed order {:.2f}", std::log2(last / distance));
      fmt::print("\n");
      if (last > 0) { EXPECT_NEAR(std::log2(last / distance), 2, 0.15); }
      last = distance;
    }
    EXPECT_LT(last, 10 * 5e-4 * 5e-4);  // [m/s^2]: the constant is about 5 here
  }
}

TEST(CoordinateSets, ExtendedIsInBetween) {
  // Cut only the middle joint.
  ModelBuilder b;
  for (int i = 0; i < 3; ++i) {
    JointSpec j = joint(Revolute{Vec3::UnitY()}, i == 0 ? "world" : fmt::format("l{}", i - 1));
    if (i > 0) j.placement = SE3::translation({0.25, 0, 0});
    j.in_body = SE3::translation({-0.25, 0, 0});
    j.cut = i == 1;
    b.body(fmt::format("l{}", i), box_inertia(1, Vec3(0.5, 0.05, 0.05)), j);
  }
  Simulation extended(b, 2.5e-4);
  EXPECT_EQ(extended.model.nv, 1 + 6 + 1);
  b.coordinates(CoordinateSet::minimal);
  Simulation minimal(b, 2.5e-4);
  EXPECT_EQ(minimal.model.nv, 3);
  double gap = 0;
  while (extended.state.t < 0.8) {
    gap = std::max(gap, extended.step().projection.joint_gap);
    (void)minimal.step();
  }
  expect_figure("largest joint gap [m]", gap, 0, 1e-9);
  expect_figure("tip of the extended set, distance [m]",
                (extended.pose("l2").r - minimal.pose("l2").r).norm(), 0, 3e-3);
}

// --- joint elements
// ----------------------------------------------------------------------------------

Simulation hinge(const JointDof& dof, CoordinateSet set = CoordinateSet::minimal) {
  ModelBuilder b;
  b.gravity(Vec3::Zero()).coordinates(set);
  JointSpec j = joint(Revolute{Vec3::UnitZ()});
  j.dofs = {dof};
  b.body("arm", {1, Vec3::Zero(), Vec3(0.1, 0.1, 0.1).asDiagonal()}, j);
  return Simulation(b);
}

void set_hinge(Simulation& s, double q, double v) {
  Posture p = zero_posture(s.model);
  p.q[0][0] = q;
  p.v[0][0] = v;
  set_posture(s.model, p, s.state);
}
double coordinate_value_of(const Simulation& s) {
  return coordinate_value(s.model, s.work.result.work, s.state.q, s.state.turns,
                          CoordinateIndex(0));
}
double hinge_rate(const Simulation& s) { return s.state.v[s.model.nv == 1 ? 0 : 5]; }

TEST(JointElements, SpringDamperArmatureGiveTheOscillator) {
  JointDof dof;
  dof.armature = 0.1;
  dof.stiffness = 20;
  dof.damping = 0.4;
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Simulation s = hinge(dof, set);
    set_hinge(s, 0.5, 0);
    s.run_until(1);
    // m = 0.2, d = 0.4, k = 20: delta = 1, omega = sqrt(100 - 1); mid-point rule: O(dt^2).
    const double omega = std::sqrt(99.0);
    const double x = 0.5 * std::exp(-1.0) * (std::cos(omega) + std::sin(omega) / omega);
    const double now = coordinate_value_of(s);
    expect_figure(
        set == CoordinateSet::minimal ? "oscillator, minimal [rad]" : "oscillator, maximal [rad]",
        now, x, 3e-5);
  }
}

TEST(JointElements, DryFrictionHoldsAndStops) {
  JointDof dof;
  dof.friction = 0.2;
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Simulation s = hinge(dof, set);
    set_hinge(s, 0, 1);
    s.run_until(1);  // decelerates by 2 rad/s^2, stops after 0.5 s and 0.25 rad
    expect_figure("stops at [rad]", coordinate_value_of(s), 0.25, 1e-6);
    expect_figure("and stays [rad/s]", hinge_rate(s), 0, 1e-12);
  }
}

TEST(JointElements, LimitsHold) {
  JointDof dof;
  dof.lower = -0.3;
  dof.upper = 0.4;
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Simulation s = hinge(dof, set);
    set_hinge(s, 0, 2);
    s.run_until(1);
    expect_figure("upper limit [rad]", coordinate_value_of(s), 0.4, 1e-9);
    expect_figure("rate there [rad/s]", hinge_rate(s), 0, 1e-9);
    set_hinge(s, 0.4, -2);
    s.run_until(2);
    expect_figure("lower limit [rad]", coordinate_value_of(s), -0.3, 1e-9);
  }
}

TEST(JointElements, TorqueLimitSaturatesTheMotor) {
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal})
    for (const auto scheme : {MotorScheme::midpoint, MotorScheme::end, MotorScheme::start}) {
      Simulation s = hinge(JointDof{}, set);
      s.options.motors = scheme;
      Motor m;
      m.coordinate = s.model.coordinate("arm");
      m.kp = 100;
      m.kd = 10;  // well damped: kp/kd = 10 a second once it is no longer saturated
      m.reference = Constant{1};
      m.limit = 0.5;
      s.actuation.motors = {m};
      s.run_until(0.1);
      // Saturated: 0.5 N m on 0.1 kg m^2 for 0.1 s.
      expect_figure("rate under the limit [rad/s]", hinge_rate(s), 0.5, 1e-9);
      expect_figure("motor force [N m]", s.work.result.motor_force[0], 0.5, 1e-9);
      s.run_until(4);
      expect_figure("and it arrives [rad]", coordinate_value_of(s), 1, 1e-6);
    }
}

TEST(JointElements, CutRevoluteCountsTurns) {
  Simulation s = hinge(JointDof{}, CoordinateSet::maximal);
  set_hinge(s, 0, 20);
  s.run_until(2);
  expect_figure("angle after 40 rad", coordinate_value_of(s), 40, 1e-9);
}

// --- ledger, restart, allocations
// ------------------------------------------------------------------

Simulation snake(CoordinateSet set, double dt, bool pegs) {
  SnakeSpec spec;
  ModelBuilder b;
  b.planar(true).coordinates(set);
  add_snake(b, spec);
  const double A = 40 * pi / 180, delta = -50 * pi / 180;
  if (pegs) {
    int k = 0;
    for (const Vec3& p :
         {Vec3(0.0507, 0.1761, 0), Vec3(0.4215, 0.0029, 0), Vec3(0.8037, 0.1851, 0)}) {
      const std::string name = fmt::format("peg{}", ++k);
      b.shape(name, "world", SE3::translation(p), Peg{0.125});
      for (int i = 1; i <= spec.links; ++i)
        b.contact(name, fmt::format("link{}", i), {0.1, 0.1, 0.2, FrictionAxes::b});
    }
  }
  Simulation s(b, dt);
  const SnakePose pose = serpenoid_pose(spec, A, delta);
  Posture p = zero_posture(s.model);
  p.q[0] << pose.x, pose.y, pose.theta;
  for (int i = 1; i < spec.links; ++i) p.q[i][0] = pose.phi[i - 1];
  set_posture(s.model, p, s.state);
  for (int i = 1; i < spec.links; ++i) {
    Motor m;
    m.coordinate = s.model.coordinate(fmt::format("joint{}", i));
    m.kp = 800;
    m.kd = 2;
    m.reference = serpenoid({A, 80 * pi / 180, delta}, i);
    s.actuation.motors.push_back(m);
  }
  return s;
}

// What the ledger cannot explain is the integrator's error: O(dt) in minimal coordinates, where M
// changes along the step, and rounding in maximal ones, where it does not.
TEST(Ledger, ClosesAndItsErrorConverges) {
  double last = 0;
  for (const double dt : {2e-3, 1e-3, 5e-4}) {
    Simulation s = snake(CoordinateSet::minimal, dt, false);
    s.run_until(1);
    const EnergyTerms& e = s.ledger;
    expect_figure(fmt::format("dt = {}: sum of the ledger [J]", dt),
                  e.work_without_integrator() + e.integrator, e.total(), 1e-12);
    fmt::print("    integrator error {:.3e} J of {:.3f} J by motors", e.integrator, e.motors);
    if (last != 0) fmt::print(", observed order {:.2f}", std::log2(std::abs(last / e.integrator)));
    fmt::print("\n");
    if (last != 0) { EXPECT_GT(std::log2(std::abs(last / e.integrator)), 0.7); }
    last = e.integrator;
  }
  Simulation s = snake(CoordinateSet::maximal, 1e-3, false);
  s.run_until(1);
  expect_figure("maximal: integrator error [J]", s.ledger.integrator, 0, 1e-12);
}

TEST(Restart, ACopyOfTheStateIsACheckpoint) {
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Simulation whole = snake(set, 1e-3, true);
    whole.run_until(0.3);
    const std::vector<std::uint8_t> saved = to_bytes(whole.state);
    whole.run_until(0.6);
    Simulation again = snake(set, 1e-3, true);
    again.state = from_bytes(again.model, saved.data(), saved.size());
    again.run_until(0.6);
    EXPECT_TRUE(again.state == whole.state) << "bits differ";
    fmt::print("    resumed at 0.3 s, compared at 0.6 s: {}\n",
               again.state == whole.state ? "same bits" : "different bits");
  }
}

// A ball, a box, a cylinder and an ellipsoid over bumps, with a friction map and a belt.
Simulation rough_ground() {
  std::vector<double> heights;
  for (int row = 0; row < 31; ++row)
    for (int column = 0; column < 31; ++column)
      heights.push_back(0.03 * std::sin(1.7 * column) * std::cos(2.3 * row));
  Surface surface;
  surface.velocity = Vec3(0.1, 0, 0);
  surface.friction = friction_map({2, 1, 0.5, 1, Vec2(-0.5, 0), {1, 0.5}});
  ModelBuilder b;
  b.shape("ground", "world", SE3(), height_field(31, 31, 0.1, 0.1, std::move(heights)), surface);
  const std::vector<Shape> shapes = {Sphere{0.1}, Box{Vec3(0.15, 0.1, 0.05)}, Cylinder{0.1, 0.1},
                                     Ellipsoid{Vec3(0.15, 0.1, 0.1)}, Capsule{0.05, 0.15}};
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const std::string name = fmt::format("body{}", k);
    b.body(name, {1, Vec3::Zero(), 0.01 * Mat3::Identity()}, joint(Floating{}));
    b.shape(name, name, SE3(), shapes[k]);
    b.contact("ground", name, {0.5, 0.5, 0.2});
  }
  Simulation s(b, 1e-3);
  for (int k = 0; k < static_cast<int>(shapes.size()); ++k)
    s.state.q.segment<3>(7 * k) = Vec3(0.5 * k - 1.03, 0.07 * k, 0.12);
  return s;
}

TEST(Step, AllocatesNothing) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  std::vector<std::pair<std::string, Simulation>> cases;
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal})
    for (const bool velocity : {false, true})
      for (const bool jor : {false, true}) {
        Simulation s = snake(set, 1e-3, true);
        ProxJacobi j;
        ProxGaussSeidel g;
        g.on = j.on = velocity ? ProxOptions::On::velocity : ProxOptions::On::delassus;
        if (jor)
          s.options.solver = j;
        else
          s.options.solver = g;
        cases.emplace_back(fmt::format("snake among pegs, {}, {}, on {}",
                                       set == CoordinateSet::minimal ? "minimal" : "maximal",
                                       jor ? "jor" : "sor", velocity ? "velocities" : "Delassus"),
                           std::move(s));
      }
  const Satellite satellite;
  Simulation sat = satellite.simulation(true, 1e-3);
  satellite.prescribe(sat);
  cases.emplace_back("satellite, prescribed", std::move(sat));
  cases.emplace_back("pendulum in space, maximal",
                     Simulation(pendulum(3, CoordinateSet::maximal, true), 1e-3));
  JointDof dof;
  dof.friction = 0.1;
  dof.lower = -0.1;
  dof.upper = 0.1;
  Simulation h = hinge(dof);
  set_hinge(h, 0, 1);
  cases.emplace_back("hinge with limits and friction", std::move(h));
  cases.emplace_back("bodies on a height field", rough_ground());
  for (auto& [name, s] : cases) {
    // A step allocates only to hold more contacts than any step before: the second time the same
    // 200 steps need nothing.
    const State start = s.state;
    for (int i = 0; i < 200; ++i) (void)s.step();
    s.state = start;
    std::size_t count = 0;
    for (int i = 0; i < 200; ++i) {
      const std::size_t before = allocations;
      const StepReport r = saltus::step(s.model, s.actuation, s.state, s.work, s.options);
      count += allocations - before;
      ASSERT_FALSE(r.diverged);
    }
    expect_figure(name + ": allocations in 200 steps", static_cast<double>(count), 0, 0);
  }
  EXPECT_GT(allocations, 1000U) << "the counter does not count";
}

// Springs, drags, edges and scales, with signals that break within the steps.
TEST(Steps, OfAWormDoNotAllocate) {
  WormSpec w;
  w.planar = true;
  w.masses.resize(4);
  w.springs.resize(3);
  for (WormMass& m : w.masses) m.drag = 0.1;
  for (WormSpring& k : w.springs) k.stiffness = 4;
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  add_worm(b, w);
  Simulation s(b, 1e-2);
  int q = 0;
  for (const WormJoint& j : worm_joints(w))
    for (const double x : j.q) s.state.q[q++] = x;
  for (int i = 0; i < 3; ++i)
    s.actuation.lengths.push_back({i, Sum{{Square{0.7, 1, 0.333, 0.5, 0.1 * i}, Constant{0}}}});
  for (int i = 0; i < 4; ++i) s.actuation.steering.push_back({i, Sine{0.3, 2, 1.0 * i, 0}});
  const State start = s.state;
  for (int i = 0; i < 200; ++i) (void)s.step();
  s.state = start;
  const std::size_t before = allocations;
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(saltus::step(s.model, s.actuation, s.state, s.work, s.options).solve().converged);
  expect_figure("worm: allocations in 200 steps", static_cast<double>(allocations - before), 0, 0);
}

// --- solvers agree
// ---------------------------------------------------------------------------------

TEST(Solvers, AgreeWithinACoordinateSet) {
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    Vec reference;
    for (const bool jor : {false, true})
      for (const auto on : {ProxOptions::On::delassus, ProxOptions::On::velocity})
        for (const auto bilaterals :
             {ProxOptions::Bilaterals::direct, ProxOptions::Bilaterals::prox}) {
          if (set == CoordinateSet::minimal && bilaterals == ProxOptions::Bilaterals::prox)
            continue;
          Simulation s = snake(set, 1e-3, true);
          ProxOptions o;
          o.tolerance = 1e-12;
          o.max_iterations = 200000;
          o.on = on;
          o.bilaterals = bilaterals;
          ProxJacobi j;
          ProxGaussSeidel g;
          static_cast<ProxOptions&>(j) = o;
          static_cast<ProxOptions&>(g) = o;
          if (jor)
            s.options.solver = j;
          else
            s.options.solver = g;
          s.run_until(0.1);
          if (reference.size() == 0) reference = s.state.q;
          expect_figure(
              fmt::format("{}, {}, on {}, bilaterals {}: distance",
                          set == CoordinateSet::minimal ? "minimal" : "maximal",
                          jor ? "jor" : "sor", on == ProxOptions::On::delassus ? "G" : "v",
                          bilaterals == ProxOptions::Bilaterals::direct ? "direct" : "prox"),
              (s.state.q - reference).cwiseAbs().maxCoeff(), 0, 1e-8);
        }
  }
}

}  // namespace
}  // namespace saltus::test
