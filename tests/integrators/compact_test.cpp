// The lean form of small trees against the general recursions, and its step against the general
// step.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/compact_tree.h"
#include "saltus/dynamics/energy.h"
#include "saltus/integrators/moreau/compact_step.h"
#include "saltus/scene/scene.h"
#include "tests/support/check.h"
#include "tests/support/random_model.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::Random;

test::ForestOptions small_forests() {
  test::ForestOptions o;
  o.most_bodies = 8;
  return o;
}

// M, bias, energies, poses and twists over random forests of every kind of joint. Both sum the same
// terms in another order: rounding, which the largest entries scale.
TEST(CompactTree, AgreesWithTheRecursions) {
  int compared = 0;
  for (int seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Model m = test::random_forest(random, small_forests()).build();
    if (!CompactTree::holds(m, Tree(m))) continue;
    ++compared;
    const State s = test::random_state(random, m);
    Workspace w(m), published(m);
    forward_kinematics(m, s.q, s.v, w);
    crba(m, w);
    bias_force(m, w);
    CompactTree tree(m);
    tree.place(s.q.data());
    tree.turn_inertias();
    tree.move(s.v.data());
    const double scale = 1 + w.M.cwiseAbs().maxCoeff();
    EXPECT_NEAR(tree.kinetic_energy(m, s.v.data()), kinetic_energy(m, s.v, w),
                1e-12 * (1 + std::abs(kinetic_energy(m, s.v, w))));
    EXPECT_NEAR(tree.gravity_energy(m), gravity_energy(m, w),
                1e-12 * (1 + std::abs(gravity_energy(m, w))));
    tree.publish(m, published);
    for (int b = 0; b < m.body_count(); ++b) {
      ASSERT_LT((published.X[b].R - w.X[b].R).cwiseAbs().maxCoeff(), 1e-13);
      ASSERT_LT((published.X[b].r - w.X[b].r).norm(), 1e-12 * (1 + w.X[b].r.norm()));
      ASSERT_LT((published.V[b] - w.V[b]).norm(), 1e-12 * (1 + w.V[b].norm()));
      ASSERT_LT((published.bias[b] - w.bias[b]).norm(), 1e-12 * (1 + w.bias[b].norm()));
      const LinkMotion &x = published.motion[b + 1], &y = w.motion[b + 1];
      ASSERT_LT((x.origin - y.origin).norm(), 1e-12 * (1 + y.origin.norm()));
      ASSERT_LT((x.r - y.r).norm(), 1e-12 * (1 + y.origin.norm()));
      ASSERT_LT((x.v - y.v).norm() + (x.w - y.w).norm(), 1e-12 * (1 + y.v.norm() + y.w.norm()));
      ASSERT_LT((x.c_linear - y.c_linear).norm(), 1e-11 * (1 + y.c_linear.norm() + y.v.norm()));
      ASSERT_LT((x.c_angular - y.c_angular).norm(), 1e-11 * (1 + y.c_angular.norm()));
    }
    ASSERT_LT((published.S - w.S).cwiseAbs().maxCoeff(), 1e-12);
    ASSERT_LT((published.S_I - w.S_I).cwiseAbs().maxCoeff(), 1e-12);
    Vec tau(m.nv);
    tree.bias(m, s.v.data(), tau.data());
    ASSERT_LT((tau - w.tau_bias).cwiseAbs().maxCoeff(),
              1e-12 * (1 + w.tau_bias.cwiseAbs().maxCoeff()) * scale)
        << "seed " << seed;
    // M^-1 by the packed factor undoes M.
    tree.mass_matrix(m.armature);
    int culprit = -1;
    ASSERT_TRUE(tree.factor(culprit));
    const Vec x = random.vector(m.nv);
    Vec y = w.M * x;
    tree.solve(y.data());
    const double condition = Eigen::SelfAdjointEigenSolver<Mat>(w.M).eigenvalues().minCoeff();
    ASSERT_LT((y - x).cwiseAbs().maxCoeff(), 1e-14 * scale / condition * m.nv) << "seed " << seed;
  }
  EXPECT_GT(compared, 30);
}

// A scene twice, by the lean step and by the general one.
struct Twins {
  System system;
  MoreauMidpoint options;
  State lean, general;
  StepWorkspace lean_work, general_work;
  int lean_steps = 0, steps = 0;
  bool struck = false;  // in the last step of the lean one
  int same_impacts = 0;
  explicit Twins(const Scene& scene)
      : system(build_system(scene)),
        options(scene.integrator),
        lean(system.start),
        general(system.start),
        lean_work(system.model),
        general_work(system.model) {}
  EnergyTerms lean_ledger, general_ledger;
  void step() {
    MoreauMidpoint o = options;
    const StepReport a = saltus::step(system.model, system.actuation, lean, lean_work, o);
    o.compact = false;
    const StepReport b = saltus::step(system.model, system.actuation, general, general_work, o);
    ASSERT_TRUE(a.solve().converged && b.solve().converged);
    same_impacts += a.struck == b.struck;
    struck = a.struck;
    // The lean step leaves no islands.
    lean_steps += lean_work.islands.count() == 0;
    ++steps;
    lean_ledger.add_work(a.energy);
    general_ledger.add_work(b.energy);
    EXPECT_LE(a.projection.penetration, 1e-10);
  }
  [[nodiscard]] double difference() const {
    return std::max((lean.q - general.q).cwiseAbs().maxCoeff(),
                    (lean.v - general.v).cwiseAbs().maxCoeff());
  }
};

std::string source(const std::string& path) { return std::string(SALTUS_SOURCE_DIR) + path; }

// The trot of VERIFY.md. Both leave 1e-10 m/s to their solvers. Their corrections of contacts that
// persist differ by the metric: that of the lean step has the joints' dampers and springs in it, as
// the step's own matrix has (dt/2 d = 5e-4 kg m^2 beside legs of 1e-2 kg m^2 at 1 ms). What that
// makes of the motion stays below the error of the scheme, 5e-4 m and rad at 1 ms, and falls with
// dt.
TEST(CompactStep, TrotsAsTheGeneralStepDoes) {
  for (const double dt : {1e-3, 2.5e-3}) {
    Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
    scene.integrator.dt = dt;
    Twins t(scene);
    while (t.lean.t < 2.6 - 1e-9) {
      t.step();
      if (HasFatalFailure()) return;
    }
    fmt::print("    trot at {} ms: {:.1e} apart, {} of {} steps lean\n", 1e3 * dt, t.difference(),
               t.lean_steps, t.steps);
    EXPECT_LT(t.difference(), 1e-4 * dt / 1e-3);
    EXPECT_GT(t.lean_steps, 0.9 * t.steps);
    const EnergyTerms &a = t.lean_ledger, &b = t.general_ledger;
    // Energies of 100 J and works of 10 J that depend on the motion in the first order.
    EXPECT_NEAR(a.kinetic, b.kinetic, 1e-2 * dt / 1e-3);
    EXPECT_NEAR(a.potential, b.potential, 1e-2 * dt / 1e-3);
    EXPECT_NEAR(a.motors, b.motors, 1e-2 * dt / 1e-3);
    EXPECT_NEAR(a.dampers, b.dampers, 1e-2 * dt / 1e-3);
    EXPECT_NEAR(a.friction, b.friction, 1e-2 * dt / 1e-3);
    EXPECT_NEAR(a.correction, b.correction, 2e-3 * dt / 1e-3);
    EXPECT_NEAR(a.integrator, b.integrator, 1e-2 * dt / 1e-3);
  }
}

// One step from the same states: velocities (up to 10 rad/s) to where the lean step leaves its
// fixed point, 1e-9 of them, with the rate that it sees there; positions to a part O(dt) of
// corrections of up to 2e-4 m, where a foot lands.
TEST(CompactStep, OneStepFromTheSameState) {
  Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
  Twins t(scene);
  double worst_v = 0, worst_q = 0;
  int impacts = 0;
  while (t.lean.t < 2.6 - 1e-9) {
    t.general = t.lean;
    t.step();
    if (HasFatalFailure()) return;
    worst_v = std::max(worst_v, (t.lean.v - t.general.v).cwiseAbs().maxCoeff());
    worst_q = std::max(worst_q, (t.lean.q - t.general.q).cwiseAbs().maxCoeff());
    ASSERT_EQ(t.lean.contacts.size(), t.general.contacts.size()) << t.lean.t;
    if (!t.struck) continue;
    ++impacts;
    const ImpactRecord &a = t.lean_work.record, &b = t.general_work.record;
    ASSERT_EQ(a.parts.size(), b.parts.size());
    EXPECT_EQ(a.t, b.t);
    EXPECT_EQ(a.bound, b.bound);
    EXPECT_EQ(a.share, b.share);
    // Of energies of 10 J and velocities that are 1e-8 apart.
    EXPECT_NEAR(a.kinetic_before, b.kinetic_before, 1e-12);
    EXPECT_NEAR(a.kinetic_after, b.kinetic_after, 1e-7);
    EXPECT_NEAR(a.normal, b.normal, 1e-7);
    EXPECT_NEAR(a.tangential, b.tangential, 1e-7);
    EXPECT_NEAR(a.forces, b.forces, 1e-7);
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
      EXPECT_EQ(a.parts[i].place.shape_b, b.parts[i].place.shape_b);
      EXPECT_LT((a.parts[i].before - b.parts[i].before).norm(), 1e-12);
      EXPECT_LT((a.parts[i].after - b.parts[i].after).norm(), 1e-7);
      EXPECT_LT((a.parts[i].impulse - b.parts[i].impulse).norm(), 1e-7);
      EXPECT_EQ(a.parts[i].mu, b.parts[i].mu);
    }
  }
  EXPECT_GT(impacts, 4);
  EXPECT_EQ(t.same_impacts, t.steps);
  EXPECT_GT(t.lean_steps, 0.995 * t.steps);
  fmt::print("    one step: velocities {:.1e}, positions {:.1e} apart\n", worst_v, worst_q);
  EXPECT_LT(worst_v, 1e-7);
  EXPECT_LT(worst_q, 2e-6);
}

// Dry friction in all joints, so large that in the trot they stick and slide by turns, and standing
// all of them stick. Velocities are determined always, impulses where few joints stick: two legs on
// the ground whose joints all do are a statically indeterminate arch. One step from the same state,
// as above.
TEST(CompactStep, DryFrictionOfJoints) {
  Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
  for (BodyScene& b : scene.bodies)
    for (JointDof& d : b.joint.dofs) d.friction = 0.5;
  Twins t(scene);
  const auto stick = static_cast<unsigned char>(Mode::stick);
  double worst_v = 0, worst_Lambda = 0;
  int sticks = 0, slides = 0, last_lean = 0, other_modes = 0, determined = 0;
  while (t.lean.t < 2.6 - 1e-9) {
    t.general = t.lean;
    t.step();
    if (HasFatalFailure()) return;
    if (t.lean_steps == last_lean) continue;
    last_lean = t.lean_steps;
    worst_v = std::max(worst_v, (t.lean.v - t.general.v).cwiseAbs().maxCoeff());
    int other = 0, stuck = 0;
    for (std::size_t i = 0; i < t.lean.mode.size(); ++i) {
      if (t.system.model.slots[i].kind != BlockKind::joint_friction) continue;
      (t.lean.mode[i] == stick ? sticks : slides) += 1;
      stuck += t.lean.mode[i] == stick || t.general.mode[i] == stick;
      other += t.lean.mode[i] != t.general.mode[i];
    }
    if (stuck > 2) continue;
    ++determined;
    other_modes += other;
    worst_Lambda = std::max(worst_Lambda, (t.lean.Lambda - t.general.Lambda).cwiseAbs().maxCoeff());
  }
  fmt::print("    dry friction: velocities {:.1e}, impulses {:.1e} apart; {} of {} steps lean\n",
             worst_v, worst_Lambda, t.lean_steps, t.steps);
  EXPECT_GT(t.lean_steps, 0.9 * t.steps);
  EXPECT_GT(sticks, 1000);
  EXPECT_GT(slides, 1000);
  EXPECT_GT(determined, 1000);
  EXPECT_EQ(other_modes, 0);
  EXPECT_LT(worst_v, 1e-7);
  EXPECT_LT(worst_Lambda, 1e-9);
  EXPECT_NEAR(t.lean_ledger.joints, t.general_ledger.joints, 1e-6);
  EXPECT_LT(t.lean_ledger.joints, -0.1);
}

// Joint limits, torque limits, a payload fixed to a link, forces of the user: where one acts the
// general step is taken, elsewhere both do the same. A leg of two segments that is dropped and
// kicked.
TEST(CompactStep, LimitsAndForcesOfTheUser) {
  ModelBuilder b;
  b.shape("ground", "world", SE3{}, HalfSpace{});
  JointSpec base;
  base.name = "base";
  base.kind = Floating{};
  b.body("trunk", test::box_inertia(3, {0.3, 0.2, 0.1}), base);
  JointSpec hip;
  hip.name = "hip";
  hip.parent = "trunk";
  hip.kind = Revolute{Vec3(0, 1, 0)};
  JointDof dof;
  dof.damping = 0.1;
  dof.stiffness = 2;
  dof.armature = 0.01;
  dof.lower = -0.6;
  dof.upper = 0.6;
  hip.dofs = {dof};
  b.body("leg", {0.5, Vec3(0, 0, -0.1), solid_box(0.5, {0.03, 0.03, 0.2})}, hip);
  JointSpec weld;
  weld.name = "weld";
  weld.parent = "leg";
  weld.kind = Fixed{};
  weld.placement.r = Vec3(0.02, 0, -0.15);
  b.body("payload", test::box_inertia(0.3, {0.05, 0.05, 0.05}), weld);
  b.shape("foot", "leg", SE3{Mat3::Identity(), Vec3(0, 0, -0.2)}, Sphere{0.02});
  b.shape("load", "payload", SE3{}, Sphere{0.03});
  b.shape("trunk", "trunk", SE3{}, Box{{0.15, 0.1, 0.05}});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.6;
  for (const char* shape : {"foot", "load", "trunk"}) b.contact("ground", shape, law);
  const auto simulate = [&](bool lean, double dt, int& lean_steps, EnergyTerms& ledger) {
    test::Simulation s(b, dt);
    EXPECT_TRUE(s.work.compact != nullptr);
    s.options.compact = lean;
    s.state.q[2] = 0.3;
    s.state.v[0] = 0.2;
    Motor motor;
    motor.coordinate = s.model.coordinate("hip");
    motor.kp = 10;
    motor.kd = 0.2;
    motor.limit = 1.5;
    motor.reference = Sine{0.3, 9, 0, 0};
    s.actuation.motors.push_back(motor);
    s.actuation.user = [](const Model&, const Workspace& w, double t, VecIn, VecIn, VecRef tau,
                          std::vector<Vec6>& external) {
      tau[6] += 0.2 * std::sin(5 * t);
      external[2].head<3>() = w.X[2].R.transpose() * Vec3(0, 0.5 * std::cos(7 * t), 0);
    };
    s.run_until(1.0,
                [&] { lean_steps += s.work.islands.count() == 0 && s.work.record.t != s.state.t; });
    ledger = s.ledger;
    return s.state;
  };
  int lean_steps = 0, general_steps = 0;
  EnergyTerms a, c;
  const State lean = simulate(true, 1e-3, lean_steps, a),
              general = simulate(false, 1e-3, general_steps, c);
  int finer_steps = 0;
  EnergyTerms finer_ledger;
  const State finer = simulate(false, 5e-4, finer_steps, finer_ledger);
  const double apart = (lean.q - general.q).cwiseAbs().maxCoeff();
  const double scheme = (finer.q - general.q).cwiseAbs().maxCoeff();
  fmt::print("    limits and forces: {:.1e} apart, {} of 1000 steps lean; half the step: {:.1e}\n",
             apart, lean_steps, scheme);
  EXPECT_GT(lean_steps, 100);
  EXPECT_LT(lean_steps, 1000);
  // After the impacts of a tumbling body: well below the error of the scheme, as in the trot.
  EXPECT_LT(apart, 0.1 * scheme);
  for (const EnergyTerms* e : {&a, &c}) EXPECT_LT(std::abs(e->integrator), 0.05);
  EXPECT_NEAR(a.external, c.external, 1e-2);
  EXPECT_NEAR(a.motors, c.motors, 1e-1);
}

// From any checkpoint the same bits.
TEST(CompactStep, GoesOnFromACopyOfTheState) {
  const Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
  Twins t(scene);
  const auto run = [&](State s, double until) {
    StepWorkspace w(t.system.model);
    while (s.t < until - 1e-9)
      (void)saltus::step(t.system.model, t.system.actuation, s, w, t.options);
    return s;
  };
  const State whole = run(t.system.start, 1.6);
  for (const double at : {0.003, 0.7, 1.25, 1.4})
    EXPECT_EQ(whole, run(run(t.system.start, at), 1.6)) << "stopped at " << at;
}

}  // namespace
}  // namespace saltus
