// Elements with several stations: links of constant curvature and rods among rigid bodies.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <string>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/bend.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/lie/so3.h"
#include "tests/support/check.h"
#include "tests/support/events.h"
#include "tests/support/random.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
using test::Worst;

BendSpec link(const std::string& name, const std::string& parent = "world") {
  BendSpec b;
  b.name = name;
  b.parent = parent;
  b.length = 0.4;
  b.mass = 0.3;
  b.section = round_section(0.01);
  return b;
}

// One or two segments with any bases.
RodSpec random_rod(Random& random, const std::string& name, const std::string& parent,
                   const SE3& at, bool planar, bool prescribed) {
  RodSpec rod;
  rod.name = name;
  rod.joint.parent = parent;
  rod.joint.placement = at;
  if (random.chance(0.3)) rod.joint.kind = Revolute{Vec3::UnitZ()};
  SegmentSpec s;
  s.length = 0.4;
  s.material = {1e4, 0.3, 1000, 1, 1};
  s.section = CircleSection{0.02};
  std::vector<Strain> components = {Strain::torsion, Strain::bend_y, Strain::bend_z,
                                    Strain::shear_z};
  if (planar) components = {Strain::stretch, Strain::bend_z};
  for (const Strain c : components)
    if (c == Strain::bend_z || random.chance(0.5))
      s.basis.push_back({c, static_cast<BasisKind>(random.integer(0, 2)), random.integer(1, 3)});
  s.steps = random.integer(1, 2);
  rod.segments.assign(random.integer(1, 2), s);
  if (prescribed && rod.segments.size() == 1) rod.prescribed = {"bend_z.0"};
  return rod;
}

// A tree of rods, bends and rigid joints, some with armature, some prescribed.
ModelBuilder mixed_tree(Random& random, bool planar, bool prescribed) {
  ModelBuilder builder;
  builder.planar(planar);
  std::vector<std::string> places = {"world"};
  const int count = random.integer(1, 8);
  for (int i = 0; i < count; ++i) {
    const std::string name = "b" + std::to_string(i);
    const std::string parent = places[random.integer(0, static_cast<int>(places.size()) - 1)];
    SE3 at = random.pose(0.3);
    if (planar) at = {exp_so3(random.uniform(-3, 3) * Vec3::UnitZ()), {at.r.x(), at.r.y(), 0}};
    JointDof dof;
    dof.armature = random.chance(0.3) ? 0.01 : 0;
    dof.prescribed = prescribed && random.chance(0.3);
    if (random.chance(0.3)) {
      const RodSpec rod = random_rod(random, name, parent, at, planar, prescribed);
      builder.rod(rod);
      places.push_back(name + ".base");
      for (const auto& names : station_names(rod))
        places.insert(places.end(), names.begin(), names.end());
      continue;
    }
    if (random.chance(0.6)) {
      BendSpec b = link(name, parent);
      b.placement = at;
      b.axis = planar ? Vec3::UnitZ() : Vec3(0, random.uniform(0.1, 1), random.uniform(-1, 1));
      b.stations = random.integer(1, 5);
      b.dof = dof;
      builder.bend(b);
      for (int k = 1; k <= b.stations; ++k) places.push_back(name + "." + std::to_string(k));
      places.push_back(name + ".tip");
      continue;
    }
    JointSpec joint;
    joint.parent = parent;
    joint.placement = at;
    const int kind = random.integer(0, 3);
    if (kind == 0) joint.kind = Fixed{};
    if (kind == 1) joint.kind = Revolute{planar ? Vec3::UnitZ() : random.direction()};
    if (kind == 2) joint.kind = planar ? Joint(Planar{}) : Joint(Spherical{});
    if (kind == 3) joint.kind = planar ? Joint(Carrier{}) : Joint(Floating{});
    if (kind == 1) joint.dofs = {dof};
    builder.body(name, random.inertia(0.5, 0.1), joint);
    places.push_back(name);
  }
  return builder;
}

State moving(Random& random, const Model& model) {
  State state = make_state(model);
  advance(model, state.q, random.vector(model.nv), 1);
  state.v = random.vector(model.nv);
  return state;
}

// Twists of all bodies a unit of each velocity, from poses on both sides.
std::vector<Mat> jacobians(const Model& model, const State& state) {
  std::vector<Mat> J(model.bodies.size(), Mat::Zero(6, model.nv));
  Workspace ahead(model), behind(model), here(model);
  forward_kinematics(model, state.q, state.v, here);
  constexpr double h = 1e-5;
  for (int k = 0; k < model.nv; ++k) {
    Vec plus = state.q, minus = state.q;
    advance(model, plus, Vec::Unit(model.nv, k), h);
    advance(model, minus, Vec::Unit(model.nv, k), -h);
    forward_kinematics(model, plus, state.v, ahead);
    forward_kinematics(model, minus, state.v, behind);
    for (std::size_t i = 0; i < J.size(); ++i) {
      const Mat3& R = here.X[i].R;
      J[i].col(k).head<3>() = R.transpose() * (ahead.X[i].r - behind.X[i].r) / (2 * h);
      const Mat3 W = R.transpose() * (ahead.X[i].R - behind.X[i].R) / (2 * h);
      J[i].col(k).tail<3>() << (W(2, 1) - W(1, 2)) / 2, (W(0, 2) - W(2, 0)) / 2,
          (W(1, 0) - W(0, 1)) / 2;
    }
  }
  return J;
}

TEST(Elements, TheCurveAndItsDerivatives) {
  Worst first("dr/dq against differences", 1e-10), second("d2r/dq2 against differences", 1e-10);
  Worst small("at small angles, of their limits", 1e-15);
  const Vec3 axis = Vec3::UnitY(), n = axis.cross(Vec3::UnitX());
  constexpr double L = 0.7, s = 0.5, h = 1e-5;
  for (const double q : {-9.0, -1.4001, -1.3999, -0.3, 1e-3, 0.0, 1e-9, 0.2, 1.39999, 1.41, 6.0}) {
    const BendCurve b = bend_curve(axis, L, s, q);
    const BendCurve up = bend_curve(axis, L, s, q + h), down = bend_curve(axis, L, s, q - h);
    first.add((b.slope - (up.r - down.r) / (2 * h)).norm());
    second.add((b.curvature - (up.slope - down.slope) / (2 * h)).norm());
  }
  const BendCurve b = bend_curve(axis, L, s, 1e-12);
  small.add((b.r - s * Vec3::UnitX()).norm() - 1e-12);
  small.add((b.slope - s * s / L / 2 * n).norm() - 1e-12);
  small.add((b.curvature + s * s * s / (L * L) / 3 * Vec3::UnitX()).norm() - 1e-12);
}

TEST(Elements, MassMatrixThreeWays) {
  Worst forest("M of the forest against CRBA", 1e-12);
  Worst sum("M against sum J' I J, J from differences", 1e-8);
  Worst columns("columns against differences", 1e-8), rows("point Jacobian", 1e-8);
  for (const bool planar : {false, true})
    for (const auto seed : seeds(1, 60)) {
      Random random(seed);
      const Model model = mixed_tree(random, planar, false).build();
      if (model.nv == 0) continue;
      const State state = moving(random, model);
      Workspace work(model);
      forward_kinematics(model, state.q, state.v, work);
      world_columns(model, work);
      crba(model, work);
      Forest mass;
      mass.resize(forest_shape(model));
      load_mass(work, Vec::Zero(model.nv), mass);
      for (int t = 0; t + 1 < static_cast<int>(model.tree_v.size()); ++t) {
        const int at = model.tree_v[t], n = model.tree_v[t + 1] - at;
        Mat H(n, n);
        mass.dense(t, H);
        forest.add((H - work.M.block(at, at, n, n)).norm() / work.M.norm(), seed);
      }
      const std::vector<Mat> J = jacobians(model, state);
      Mat M = model.armature.asDiagonal();
      for (int i = 0; i < model.body_count(); ++i) {
        M += J[i].transpose() * model.bodies[i].inertia * J[i];
        columns.add((J[i] * state.v - work.V[i]).norm() / (1 + work.V[i].norm()), seed);
        Mat6X at_origin(6, model.nv);
        point_jacobian(model, work, BodyIndex(i), work.X[i].r, at_origin);
        at_origin.topRows<3>() = work.X[i].R.transpose() * at_origin.topRows<3>();
        at_origin.bottomRows<3>() = work.X[i].R.transpose() * at_origin.bottomRows<3>();
        rows.add((at_origin - J[i]).norm() / (1 + J[i].norm()), seed);
      }
      sum.add((M - work.M).norm() / M.norm(), seed);
    }
}

TEST(Elements, ForwardAndInverse) {
  Worst aba_off("aba of rnea, of the acceleration", 1e-9), forest("the forest's", 1e-9);
  Worst bias("power of the bias against d/dt v'Mv / 2", 1e-6), renewed("renewed velocities", 1e-13);
  for (const bool planar : {false, true})
    for (const auto seed : seeds(1, 60)) {
      Random random(seed);
      const Model model = mixed_tree(random, planar, false).build();
      if (model.nv == 0) continue;
      const State state = moving(random, model);
      const Vec a = random.vector(model.nv, 3);
      Workspace work(model);
      forward_kinematics(model, state.q, state.v, work);
      crba(model, work);
      const Mat M = work.M;
      Vec tau(model.nv), back(model.nv);
      rnea(model, a, work, tau);
      aba(model, tau, work, back);
      const double least = Eigen::SelfAdjointEigenSolver<Mat>(M).eigenvalues()[0] / M.norm();
      aba_off.add((back - a).norm() / (1 + a.norm()) * std::min(1.0, 1e4 * least), seed);
      Forest mass;
      mass.resize(forest_shape(model));
      load_mass(work, Vec::Zero(model.nv), mass);
      ASSERT_TRUE(mass.factor()) << seed;
      bias_force(model, work);
      const Vec tau_bias = work.tau_bias, rhs = tau - tau_bias;
      mass.solve(-1, rhs.data(), nullptr, back.data(), nullptr);
      forest.add((back - a).norm() / (1 + a.norm()) * std::min(1.0, 1e4 * least), seed);
      // Another velocity and back again.
      renew_velocities(model, random.vector(model.nv), work);
      renew_velocities(model, state.v, work);
      bias_force(model, work);
      renewed.add((work.tau_bias - tau_bias).norm() / (1 + tau_bias.norm()), seed);
      // At constant v: d/dt (v' M v / 2) = v' (what velocities add to the bias).
      constexpr double h = 1e-6;
      const auto kinetic = [&](double t) {
        State s = state;
        advance(model, s.q, state.v, t);
        Workspace w(model);
        crba(model, s.q, w);
        return 0.5 * state.v.dot(w.M * state.v);
      };
      Workspace still(model);
      forward_kinematics(model, state.q, Vec::Zero(model.nv), still);
      bias_force(model, still);
      const double rate = (kinetic(h) - kinetic(-h)) / (2 * h);
      const double power = state.v.dot(tau_bias - still.tau_bias);
      bias.add(std::abs(rate - power) / (1 + std::abs(power) + kinetic(0)), seed);
    }
}

// A held unknown of an element stays.
TEST(Elements, PrescribedBends) {
  Worst solve("with held unknowns, against dense", 1e-9);
  for (const auto seed : seeds(1, 40)) {
    Random random(seed);
    const Model model = mixed_tree(random, false, true).build();
    if (model.nv == 0) continue;
    const State state = moving(random, model);
    Workspace work(model);
    forward_kinematics(model, state.q, state.v, work);
    crba(model, work);
    Mat M = work.M;
    Vec b = random.vector(model.nv), x(model.nv);
    Forest mass;
    mass.resize(forest_shape(model));
    load_mass(work, Vec::Zero(model.nv), mass);
    ASSERT_TRUE(mass.factor()) << seed;
    mass.solve(-1, b.data(), nullptr, x.data(), nullptr);
    for (int k = 0; k < model.nv; ++k)
      if (model.prescribed[k]) {
        M.row(k).setZero();
        M.col(k).setZero();
        M(k, k) = 1;
        b[k] = 0;
      }
    const double scale = M.norm() * x.norm() + b.norm() + 1e-3;
    solve.add((M * x - b).norm() / scale, seed);
  }
}

// --- motion -------------------------------------------------------------------------------------

double energy_of(const Model& model, const State& state) {
  Workspace work(model);
  forward_kinematics(model, state.q, state.v, work);
  double sum = 0;
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    sum += 0.5 * work.V[i].dot(b.inertia * work.V[i]);
    sum -= b.rigid.mass * model.gravity.dot(work.X[i] * b.rigid.com);
  }
  for (const Coordinate& c : model.coordinates) {
    const double q = state.q[c.q_index] - c.dof.rest;
    sum += 0.5 * c.dof.stiffness * q * q;
    sum += 0.5 * c.dof.armature * state.v[c.v_index] * state.v[c.v_index];
  }
  return sum;
}

struct Swing {
  std::string name;
  ModelBuilder builder;
  Vec q;
};
std::vector<Swing> swings() {
  std::vector<Swing> all;
  ModelBuilder one;
  one.bend(link("a"));
  all.push_back({"one, free", one, Vec::Constant(1, 0.5)});
  ModelBuilder sprung;
  BendSpec b = link("a");
  b.dof.stiffness = 0.8;
  sprung.bend(b);
  all.push_back({"one on a spring", sprung, Vec::Constant(1, 0.5)});
  ModelBuilder chain;
  for (int i = 0; i < 3; ++i) {
    BendSpec c = link(std::string(1, static_cast<char>('a' + i)),
                      i == 0 ? "world" : std::string(1, static_cast<char>('a' + i - 1)) + ".tip");
    c.dof.stiffness = 0.5;
    c.axis = i == 1 ? Vec3(0, 0, 1) : Vec3(0, 1, 0.5);
    chain.bend(c);
  }
  JointSpec hinge;
  hinge.kind = Revolute{Vec3::UnitY()};
  hinge.parent = "b.2";
  hinge.in_body.r = {-0.05, 0, 0};
  chain.body("ball", test::ball_inertia(0.1, 0.02), hinge);
  Vec q(4);
  q << 0.4, 0.8, -0.6, 0.3;
  all.push_back({"three, and a ball on the second", chain, q});
  return all;
}

TEST(Elements, EventDrivenKeepsTheEnergy) {
  for (Swing& s : swings()) {
    test::EventSimulation run(s.builder);
    run.state.q = s.q;
    run.options.tolerance = 1e-13;
    const double start = energy_of(run.model, run.state);
    Workspace work(run.model);
    double most = 0, kinetic = 0;
    for (int i = 1; i <= 20; ++i) {
      ASSERT_TRUE(run.run_until(0.1 * i)) << run.failure;
      most = std::max(most, std::abs(energy_of(run.model, run.state) - start));
      crba(run.model, run.state.q, work);
      kinetic = std::max(kinetic, 0.5 * run.state.v.dot(work.M * run.state.v));
    }
    test::expect_figure(s.name + ", 2 s: energy, of the largest kinetic", most / kinetic, 0, 1e-10);
  }
}

TEST(Elements, MidpointIsOfSecondOrder) {
  for (Swing& s : swings()) {
    test::EventSimulation exact(s.builder);
    exact.state.q = s.q;
    exact.options.tolerance = 1e-13;
    ASSERT_TRUE(exact.run_until(0.3)) << exact.failure;
    double off[2];
    for (int i = 0; i < 2; ++i) {
      test::Simulation run(s.builder, i == 0 ? 1e-3 : 5e-4);
      run.state.q = s.q;
      run.run_until(0.3);
      off[i] = (run.state.q - exact.state.q).norm();
    }
    test::expect_figure(s.name + ": order of the step", std::log2(off[0] / off[1]), 2, 0.2);
  }
}

// At rest straight: M = m (L^2 / 20 + k^2 / 3) with k the slices' radius of gyration across.
TEST(Elements, SmallOscillations) {
  BendSpec b = link("a");
  b.dof.stiffness = 2;
  ModelBuilder builder;
  builder.gravity(Vec3::Zero()).bend(b);
  const double M = b.mass * (b.length * b.length / 20 + b.section.y() / 3);
  const double omega = std::sqrt(b.dof.stiffness / M), a = 1e-4;
  test::EventSimulation run(builder);
  run.state.q[0] = a;
  run.options.tolerance = 1e-14;
  ASSERT_TRUE(run.run_until(std::numbers::pi / 2 / omega)) << run.failure;
  test::expect_figure("after a quarter of a period, of the amplitude", run.state.q[0] / a, 0, 1e-7);
  test::expect_figure("speed, of omega times the amplitude", run.state.v[0] / (omega * a), -1,
                      1e-7);
}

// A floating block with a soft tail falls on hard ground and comes to rest on several stations.
TEST(Elements, RestsOnSeveralStations) {
  ModelBuilder builder;
  JointSpec free;
  free.kind = Floating{};
  builder.body("block", test::box_inertia(0.2, {0.06, 0.06, 0.04}), free);
  BendSpec tail = link("tail", "block");
  tail.mass = 0.1;
  tail.placement.r = {0.03, 0, 0};
  tail.dof.stiffness = 0.05;
  tail.dof.damping = 0.002;
  builder.bend(tail);
  builder.shape("ground", "world", {}, HalfSpace{});
  builder.shape("block", "block", {}, Box{{0.03, 0.03, 0.02}});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.5;
  builder.contact("block", "ground", law);
  for (const char* station : {".1", ".2", ".3", ".4", ".tip"}) {
    const std::string name = std::string("tail") + station;
    builder.shape(name, name, {}, Sphere{0.02});
    builder.contact(name, "ground", law);
  }
  test::Simulation run(builder, 1e-3);
  run.state.q[2] = 0.12;
  run.state.q[7] = -0.6;
  double deepest = 0;
  run.run_until(3, [&] {
    if (run.state.t < 2.5) return;
    for (const Contact& c : run.work.result.assembly.contacts)
      deepest = std::max(deepest, -c.point.gap);
  });
  const double weight = run.model.total_mass() * 9.81;
  double force = 0;
  int resting = 0;
  for (const ContactImpulse& c : run.state.contacts) {
    force += c.Lambda[0] / run.options.dt;
    const int body = run.model.shapes[c.key.a].body.valid() ? run.model.shapes[c.key.a].body
                                                            : run.model.shapes[c.key.b].body;
    resting += body != run.model.body("block") && c.Lambda[0] > 0;
  }
  test::expect_figure("deepest penetration of the last 0.5 s [m]", deepest, 0, 1e-9);
  test::expect_figure("normal force at rest, of the weight", force / weight, 1, 1e-6);
  test::expect_figure("speed at rest", run.state.v.norm(), 0, 1e-6);
  fmt::print("    {} stations carry load\n", resting);
  EXPECT_GE(resting, 2);
}

// --- bad input ----------------------------------------------------------------------------------

std::string complaint(const BendSpec& bend, CoordinateSet set = CoordinateSet::as_marked) {
  try {
    ModelBuilder builder;
    builder.coordinates(set).bend(bend);
    (void)builder.build();
  } catch (const InputError& e) { return e.what(); }
  return "";
}

TEST(Elements, BadInput) {
  const auto with = [](auto change) {
    BendSpec b = link("a");
    change(b);
    return complaint(b);
  };
  EXPECT_EQ(complaint(link("a")), "");
  EXPECT_NE(with([](BendSpec& b) { b.name = ""; }).find("bends[0].name"), std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.length = -1; }).find("bends[0].length"), std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.mass = 0; }).find("bends[0].mass"), std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.stations = 0; }).find("bends[0].stations"), std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.axis = Vec3(1, 1, 0); }).find("across x"), std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.parent = "b"; }).find("no body is called 'b'"),
            std::string::npos);
  EXPECT_NE(with([](BendSpec& b) { b.parent = "a.tip"; }).find("form a loop"), std::string::npos);
  EXPECT_NE(complaint(link("a"), CoordinateSet::maximal).find("cannot be cut"), std::string::npos);
}

// What hangs on a station may be declared before it.
TEST(Elements, AnyOrder) {
  ModelBuilder builder;
  JointSpec joint;
  joint.kind = Spherical{};
  joint.parent = "a.2";
  builder.body("child", test::ball_inertia(1, 0.1), joint);
  builder.bend(link("a"));
  const Model model = builder.build();
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& b = model.bodies[i];
    EXPECT_LT(b.parent.value, i);
    const int before = b.station == 0 ? -1 : model.bodies[i - 1].station;
    EXPECT_EQ(before, b.station - 1);
  }
}

}  // namespace
}  // namespace saltus
