// The two storages of a mechanism (contact/mechanics.h): the same step over both, in lockstep over
// the scenes of the project, and the recursions of paths against those of the forest's kinematics.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <filesystem>
#include <numbers>
#include <set>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/path_tree.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"
#include "saltus/simulate/run_totals.h"
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
TEST(PathTree, AgreesWithTheRecursions) {
  int compared = 0;
  for (int seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Model m = test::random_forest(random, small_forests()).build();
    const auto plan = std::make_shared<const Plan>(m);
    if (!plan->paths) continue;
    ++compared;
    const State s = test::random_state(random, m);
    Workspace w(m), published(m);
    forward_kinematics(m, s.q, s.v, w);
    crba(m, w);
    bias_force(m, w);
    PathTree tree(plan);
    tree.place(s.q.data());
    tree.turn_inertias();
    tree.move(s.v.data());
    const double scale = 1 + w.M.cwiseAbs().maxCoeff();
    EXPECT_NEAR(tree.kinetic_energy(s.v.data()), kinetic_energy(m, s.v, w),
                1e-12 * (1 + std::abs(kinetic_energy(m, s.v, w))));
    tree.publish(published);
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
    tree.bias(m.gravity, s.v.data(), tau.data());
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

// Its sines and cosines are its own: of angles that are tiny, near quarter turns, of many turns,
// and beyond what it reduces by itself.
TEST(PathTree, TurnsByAnyAngle) {
  int compared = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Model m = test::random_forest(random, small_forests()).build();
    const auto plan = std::make_shared<const Plan>(m);
    if (!plan->paths) continue;
    const State s = test::random_state(random, m);
    Workspace w(m);
    PathTree tree(plan);
    std::vector<SE3> poses(w.X);
    for (const double turn : {0.0, 1e-300, 1e-9, 1.0, 1e4, 9.9e4, 1.1e5, 1e9}) {
      Vec q = s.q;
      for (const Coordinate& c : m.coordinates) {
        if (c.q_index < 0 || !c.rotational) continue;
        ++compared;
        q[c.q_index] *= turn;
        const double quarter = 0.5 * std::numbers::pi;
        if (seed % 3 == 0) q[c.q_index] = quarter * std::round(q[c.q_index] / quarter);
      }
      forward_kinematics(m, q, s.v, w);
      tree.place(q.data());
      tree.publish_poses(poses);
      for (int b = 0; b < m.body_count(); ++b) {
        ASSERT_LT((poses[b].R - w.X[b].R).cwiseAbs().maxCoeff(), 1e-14) << "seed " << seed;
        ASSERT_LT((poses[b].r - w.X[b].r).norm(), 1e-13 * (1 + w.X[b].r.norm()));
      }
    }
  }
  EXPECT_GT(compared, 100);
}

// One table for a Model: what steps along paths and what steps as a forest read the same one, and
// what it says of nodes, inertias and held velocities is what the Model says.
TEST(Plan, IsSharedByBothStoragesAndSaysWhatTheModelSays) {
  int with_paths = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Model m = test::random_forest(random, small_forests()).build();
    const StepWorkspace work(m);
    const Plan& plan = *work.result.work.plan;
    if (work.scratch.paths) {
      ++with_paths;
      EXPECT_EQ(&work.scratch.paths->paths(), &*plan.paths) << "seed " << seed;
    }
    ASSERT_EQ(static_cast<int>(plan.links.size()), m.body_count() + 1);
    for (int b = 0; b < m.body_count(); ++b) {
      ASSERT_EQ(plan.links[b + 1].parent, m.bodies[b].parent.value + 1);
      ASSERT_EQ(plan.inertia[b], m.bodies[b].inertia);
    }
    for (int k = 0; k < m.nv; ++k) ASSERT_EQ(plan.held[k] != 0, static_cast<bool>(m.prescribed[k]));
    ASSERT_EQ(plan.armature, m.armature);
  }
  EXPECT_GT(with_paths, 5);
}

std::string source(const std::string& path) { return std::string(SALTUS_SOURCE_DIR) + path; }

// A scene twice, along paths and as a forest.
struct Twins {
  System system;
  MoreauMidpoint options;
  State paths, forest;
  StepWorkspace paths_work, forest_work;
  StepReport on_paths, on_forest;  // of the last step
  EnergyTerms paths_ledger, forest_ledger;
  explicit Twins(const Scene& scene)
      : system(build_system(scene)),
        options(scene.stepping),
        paths(system.start),
        forest(system.start),
        paths_work(system.model),
        forest_work(system.model) {}
  void step() {
    MoreauMidpoint o = options;
    o.storage = Storage::paths;
    on_paths = saltus::step(system.model, system.actuation, paths, paths_work, o);
    o.storage = Storage::forest;
    on_forest = saltus::step(system.model, system.actuation, forest, forest_work, o);
    ASSERT_EQ(on_paths.storage, Storage::paths);
    ASSERT_EQ(on_forest.storage, Storage::forest);
    paths_ledger.add_work(on_paths.energy);
    forest_ledger.add_work(on_forest.energy);
  }
  [[nodiscard]] double speed() const { return forest.v.cwiseAbs().maxCoeff(); }
  [[nodiscard]] double apart() const {
    return std::max((paths.q - forest.q).cwiseAbs().maxCoeff(),
                    (paths.v - forest.v).cwiseAbs().maxCoeff());
  }
};

std::vector<std::string> all_scenes() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source("/scenes")))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Every scene that both hold, step by step from the same state: velocities to ten tolerances of the
// solver, the same contacts in the same modes. Where a contact is on the boundary of two modes, the
// velocities say that it is a tie: they agree all the same. The others are listed with the reason.
TEST(Storage, AgreeInLockstepOnEveryScene) {
  int held = 0, ties = 0;
  for (const std::string& path : all_scenes()) {
    const std::string name = path.substr(source("/scenes/").size());
    const Scene scene = load_scene(path, {});
    if (scene.method != Method::moreau) {
      fmt::print("    {}: not time stepping\n", name);
      continue;
    }
    Twins t(scene);
    std::string why;
    if (!PathStorage::holds(t.system.model, &why)) {
      fmt::print("    {}: a forest only, {}\n", name, why);
      continue;
    }
    if (storage_of(t.options, t.system.model) != Storage::paths) {
      fmt::print("    {}: a forest only, its impact law asks for M\n", name);
      continue;
    }
    ++held;
    const double tolerance = options_of(t.options.solver).tolerance;
    const int steps = std::min(600, static_cast<int>(std::lround(scene.end / scene.stepping.dt)));
    double worst = 0;
    for (int i = 0; i < steps; ++i) {
      t.forest = t.paths;
      t.step();
      ASSERT_FALSE(HasFatalFailure()) << name;
      ASSERT_EQ(t.on_paths.diverged || t.on_paths.singular,
                t.on_forest.diverged || t.on_forest.singular);
      if (t.on_paths.diverged || t.on_paths.singular) break;
      const double off = (t.paths.v - t.forest.v).cwiseAbs().maxCoeff() / (1 + t.speed());
      worst = std::max(worst, off);
      ASSERT_LE(off, 10 * tolerance) << name << ", t = " << t.paths.t;
      ASSERT_EQ(t.on_paths.solve().converged, t.on_forest.solve().converged) << name;
      const bool same =
          t.paths.mode == t.forest.mode &&
          std::equal(t.paths.contacts.begin(), t.paths.contacts.end(), t.forest.contacts.begin(),
                     t.forest.contacts.end(), [](const ContactImpulse& a, const ContactImpulse& b) {
                       return a.key == b.key && a.mode == b.mode;
                     });
      if (same) continue;
      if (ties++ < 20) fmt::print("    {}: a tie of modes at t = {:.6g} s\n", name, t.paths.t);
    }
    fmt::print("    {}: {} steps, velocities {:.1e} apart\n", name, steps, worst);
  }
  EXPECT_GE(held, 10);
  fmt::print("    {} scenes held by both, {} ties\n", held, ties);
}

// Without contacts nothing but rounding tells them apart, also after a hundred free steps.
TEST(Storage, AgreeInFlight) {
  int compared = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Model m = test::random_forest(random, small_forests()).build();
    if (!PathStorage::holds(m)) continue;
    ++compared;
    const State start = test::random_state(random, m);
    const auto run = [&](Storage storage) {
      MoreauMidpoint o;
      o.storage = storage;
      State s = start;
      StepWorkspace w(m);
      for (int i = 0; i < 100; ++i) {
        const StepReport r = step(m, {}, s, w, o);
        EXPECT_EQ(r.storage, storage);
        EXPECT_FALSE(r.diverged || r.singular);
      }
      return s;
    };
    const State a = run(Storage::paths), b = run(Storage::forest);
    ASSERT_LT((a.v - b.v).cwiseAbs().maxCoeff(), 1e-10 * (1 + b.v.cwiseAbs().maxCoeff()))
        << "seed " << seed;
    ASSERT_LT((a.q - b.q).cwiseAbs().maxCoeff(), 1e-10 * (1 + b.q.cwiseAbs().maxCoeff()))
        << "seed " << seed;
  }
  EXPECT_GT(compared, 20);
}

// Two strides of the trot, each on its own: what rounding makes of impacts stays small.
TEST(Storage, TrotAlikeOnTheirOwn) {
  for (const double dt : {1e-3, 2.5e-3}) {
    Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
    scene.stepping.dt = dt;
    Twins t(scene);
    while (t.paths.t < 2.6 - 1e-9) {
      t.step();
      if (HasFatalFailure()) return;
      ASSERT_TRUE(t.on_paths.solve().converged && t.on_forest.solve().converged);
    }
    fmt::print("    trot at {} ms: {:.1e} apart\n", 1e3 * dt, t.apart());
    EXPECT_LT(t.apart(), 1e-7);
    EXPECT_NEAR(t.paths_ledger.motors, t.forest_ledger.motors, 1e-6);
    EXPECT_NEAR(t.paths_ledger.correction, t.forest_ledger.correction, 1e-6);
    EXPECT_NEAR(t.paths_ledger.integrator, t.forest_ledger.integrator, 1e-6);
  }
}

// Impacts are recorded alike.
TEST(Storage, RecordTheSameImpacts) {
  Scene scene = load_scene(source("/scenes/p2/trot.yaml"), {});
  Twins t(scene);
  int impacts = 0;
  while (t.paths.t < 2.6 - 1e-9) {
    t.forest = t.paths;
    t.step();
    if (HasFatalFailure()) return;
    ASSERT_EQ(t.on_paths.struck, t.on_forest.struck);
    if (!t.on_paths.struck) continue;
    ++impacts;
    const ImpactRecord &a = t.paths_work.result.record, &b = t.forest_work.result.record;
    ASSERT_EQ(a.parts.size(), b.parts.size());
    EXPECT_EQ(a.t, b.t);
    EXPECT_EQ(a.bound, b.bound);
    EXPECT_EQ(a.share, b.share);
    EXPECT_NEAR(a.kinetic_before, b.kinetic_before, 1e-11);
    EXPECT_NEAR(a.kinetic_after, b.kinetic_after, 1e-8);
    EXPECT_NEAR(a.normal, b.normal, 1e-8);
    EXPECT_NEAR(a.tangential, b.tangential, 1e-8);
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
      EXPECT_EQ(a.parts[i].place.shape_b, b.parts[i].place.shape_b);
      EXPECT_LT((a.parts[i].impulse - b.parts[i].impulse).norm(), 1e-8);
      EXPECT_EQ(a.parts[i].mu, b.parts[i].mu);
    }
  }
  EXPECT_GT(impacts, 4);
}

// Joint limits, torque limits, a payload fixed to a link, forces of the user, restitution: a leg of
// two segments that is dropped and kicked. One step from the same state, and the books.
TEST(Storage, LimitsAndForcesOfTheUser) {
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
  dof.lower = -0.25;
  dof.upper = 0.25;
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
  law.restitution = 0.4;
  b.contact("ground", "foot", law);
  const Model m = b.build();
  ASSERT_TRUE(PathStorage::holds(m));
  Actuation actuation;
  Motor motor;
  motor.coordinate = m.coordinate("hip");
  motor.kp = 10;
  motor.kd = 0.2;
  motor.limit = 1.5;
  motor.reference = Sine{0.3, 9, 0, 0};
  actuation.motors.push_back(motor);
  actuation.user = [](const Model&, const Workspace& w, double t, VecIn, VecIn, VecRef tau,
                      std::vector<Vec6>& external) {
    tau[6] += 0.2 * std::sin(5 * t);
    external[2].head<3>() = w.X[2].R.transpose() * Vec3(0, 0.5 * std::cos(7 * t), 0);
  };
  State paths = make_state(m);
  paths.q[2] = 0.3;
  paths.v[0] = 0.2;
  StepWorkspace first(m), second(m);
  MoreauMidpoint o;
  int at_limit = 0, at_torque = 0, struck = 0;
  const int motor_slot = m.motor_slot[motor.coordinate];
  for (int i = 0; i < 1000; ++i) {
    State forest = paths;
    o.storage = Storage::paths;
    const StepReport a = step(m, actuation, paths, first, o);
    o.storage = Storage::forest;
    const StepReport c = step(m, actuation, forest, second, o);
    ASSERT_LT((paths.v - forest.v).cwiseAbs().maxCoeff(),
              1e-9 * (1 + forest.v.cwiseAbs().maxCoeff()))
        << "t = " << paths.t;
    ASSERT_LT((paths.q - forest.q).cwiseAbs().maxCoeff(), 1e-9) << "t = " << paths.t;
    ASSERT_NEAR(a.energy.motors, c.energy.motors, 1e-8);
    ASSERT_NEAR(a.energy.external, c.energy.external, 1e-8);
    ASSERT_NEAR(a.energy.joints, c.energy.joints, 1e-8);
    ASSERT_EQ(paths.mode, forest.mode);
    struck += a.struck;
    for (std::size_t k = 0; k < m.slots.size(); ++k)
      at_limit += m.slots[k].kind == BlockKind::joint_limit && paths.Lambda[m.slots[k].row] > 0;
    at_torque += paths.mode[motor_slot] == static_cast<unsigned char>(Mode::slip);
  }
  fmt::print("    {} steps at the joint's limit, {} at the motor's, {} impacts\n", at_limit,
             at_torque, struck);
  EXPECT_GT(at_limit, 0);
  EXPECT_GT(at_torque, 0);
  EXPECT_GT(struck, 1);
}

// What the contacts of a box, a table and a standing robot leave open (docs/solvers.md). A box on
// four corners with friction: 12 rows, 6 velocities of which all are held, so 6 directions; without
// friction 4 rows that hold 3 velocities: 1. The robot's twelve joints give way, its 12 rows are
// independent: 0.
int undetermined(const Scene& scene, Storage storage) {
  const System system = build_system(scene);
  MoreauMidpoint o = scene.stepping;
  o.storage = storage;
  State s = system.start;
  StepWorkspace w(system.model);
  UndeterminedCounter counter;
  Undetermined all;
  for (int i = 0; i < 200; ++i) {
    const StepReport r = step(system.model, system.actuation, s, w, o);
    EXPECT_TRUE(r.solve().converged);
    EXPECT_EQ(r.storage, storage);
  }
  return counter.look(w.result, s, all);
}

Scene scene_of_text(const std::string& text) {
  return read_scene(Document::from_text(text, "test.yaml"));
}

TEST(Storage, CountUndeterminedDirectionsAlike) {
  const auto box = [](double mu) {
    return scene_of_text(fmt::format(R"(saltus: 1
bodies:
  - {{name: box, mass: 2, solid: {{shape: box, size: [0.4, 0.3, 0.2]}}, joint: {{type: floating}},
     shapes: [{{type: box, size: [0.4, 0.3, 0.2]}}]}}
obstacles: [{{name: floor, type: half-space}}]
contacts: [{{between: [floor, box], friction: {}}}]
initial: {{box: {{q: [0, 0, 0.1, 1, 0, 0, 0]}}}}
time: {{step: 1 ms, end: 1}}
)",
                                     mu));
  };
  const auto table = [](double mu) {
    std::string legs;
    for (const char* at : {"0.4, 0.3", "0.4, -0.3", "-0.4, 0.3", "-0.4, -0.3"})
      legs +=
          fmt::format("{}{{name: leg{}, type: sphere, radius: 0.02, at: {{position: [{}, -0.3]}}}}",
                      legs.empty() ? "" : ", ", legs.size(), at);
    return scene_of_text(fmt::format(R"(saltus: 1
bodies:
  - {{name: table, mass: 10, solid: {{shape: box, size: [1, 0.8, 0.05]}}, joint: {{type: floating}},
     shapes: [{}]}}
obstacles: [{{name: floor, type: half-space}}]
contacts: [{{between: [floor, "*"], friction: {}}}]
initial: {{table: {{q: [0, 0, 0.32, 1, 0, 0, 0]}}}}
time: {{step: 1 ms, end: 1}}
)",
                                     legs, mu));
  };
  const Scene robot = load_scene(source("/scenes/p2/stand.yaml"), {});
  for (const Storage storage : {Storage::paths, Storage::forest}) {
    EXPECT_EQ(undetermined(box(0.5), storage), 6) << name_of(storage);
    EXPECT_EQ(undetermined(box(0), storage), 1) << name_of(storage);
    EXPECT_EQ(undetermined(table(0.5), storage), 6) << name_of(storage);
    EXPECT_EQ(undetermined(table(0), storage), 1) << name_of(storage);
    EXPECT_EQ(undetermined(robot, storage), 0) << name_of(storage);
  }
}

// A model that cannot be kept along paths says why.
TEST(Storage, RefusesPathsWithAReason) {
  const System system = build_system(load_scene(source("/scenes/p0/pegs.yaml"), {}));
  MoreauMidpoint o;
  o.storage = Storage::paths;
  try {
    check_options(o, system.model, "integrator.");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.path(), "integrator.storage");
    EXPECT_NE(std::string(e.what()).find("paths"), std::string::npos);
  }
  EXPECT_THROW(
      (void)build_system(load_scene(source("/scenes/p0/pegs.yaml"), {"integrator.storage=paths"})),
      InputError);
}

// From any checkpoint the same bits.
TEST(Storage, GoesOnFromACopyOfTheState) {
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
