// The quadruped of P2 stands: neither its feet sink nor do its contact points creep, on flat ground
// and on a slope of 15 degrees (the paper: 750 um a minute, vertical). Ten minutes with
// SALTUS_SOAK=1, else one, with the same bounds. Before that it has 20 s to come to rest: its sway
// decays within seconds, and while the feet roll their contact points move with the scheme's error,
// of first order in dt. And copies of the trotting robot on several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/lie/so3.h"
#include "saltus/scene/scene.h"
#include "saltus/simulate/rollout.h"

namespace saltus {
namespace {

const std::string scenes = std::string(SALTUS_SOURCE_DIR) + "/scenes/p2/";

bool soak() {
  const char* flag = std::getenv("SALTUS_SOAK");
  return flag != nullptr && std::string(flag) == "1";
}

struct Feet {
  const Model& model;
  std::vector<const ContactShape*> feet;
  Vec3 normal, on_ground;  // of the ground

  explicit Feet(const Model& m) : model(m) {
    for (const ContactShape& s : m.shapes) {
      if (s.name.ends_with("_foot")) feet.push_back(&s);
      if (s.name != "ground") continue;
      normal = s.frame.R.col(2);
      on_ground = s.frame.r;
    }
  }
  [[nodiscard]] SE3 pose(const Workspace& work, int i) const {
    return work.X[feet[i]->body] * feet[i]->frame;
  }
  [[nodiscard]] double gap(const SE3& foot, int i) const {
    return normal.dot(foot.r - on_ground) - std::get<Sphere>(feet[i]->shape).radius;
  }
  // By what the contact point moves along the ground: as the foot's centre, less what it rolls. For
  // a ball that turns about a constant axis that is exact.
  [[nodiscard]] Vec3 slip(const SE3& from, const SE3& to, int i) const {
    const Vec3 turned = log_so3(to.R * from.R.transpose());
    const Vec3 moved =
        to.r - from.r - std::get<Sphere>(feet[i]->shape).radius * turned.cross(normal);
    return moved - normal.dot(moved) * normal;
  }
};

class Standing : public ::testing::TestWithParam<const char*> {};

TEST_P(Standing, NeitherSinksNorCreeps) {
  const Scene scene = load_scene(scenes + GetParam(), {});
  System system = build_system(scene);
  StepWorkspace work(system.model);
  Workspace kinematics(system.model);
  const Feet feet(system.model);
  ASSERT_EQ(feet.feet.size(), 4U);
  const auto look = [&](std::vector<SE3>& poses) {
    forward_kinematics(system.model, system.start.q, system.start.v, kinematics);
    poses.clear();
    for (int i = 0; i < 4; ++i) poses.push_back(feet.pose(kinematics, i));
  };
  std::vector<SE3> before, now;
  look(before);
  std::vector<Vec3> crept(4, Vec3::Zero());
  double most = 0, deepest = 0, widest = 0;
  const double settled = 20, end = settled + (soak() ? 600 : 60);
  const int steps = static_cast<int>(std::round(end / scene.stepping.dt));
  for (int k = 0; k < steps; ++k) {
    if (k == static_cast<int>(std::round(settled / scene.stepping.dt))) {
      std::printf("    %s: %.3g um while it settles\n", GetParam(), 1e6 * most);
      for (Vec3& c : crept) c.setZero();
      most = 0;
    }
    const StepReport r = step(system.model, system.actuation, system.start, work, scene.stepping);
    ASSERT_TRUE(r.solve().converged && !r.diverged);
    look(now);
    for (int i = 0; i < 4; ++i) {
      crept[i] += feet.slip(before[i], now[i], i);
      most = std::max(most, crept[i].norm());
      deepest = std::max(deepest, -feet.gap(now[i], i));
      widest = std::max(widest, feet.gap(now[i], i));
    }
    before.swap(now);
  }
  std::printf("    %s, then %g s: creep %.3g um, sinks %.3g um, lifts %.3g um\n", GetParam(),
              end - settled, 1e6 * most, 1e6 * deepest, 1e6 * widest);
  EXPECT_LT(most, 1e-6);
  EXPECT_LT(deepest, 1e-6);
  EXPECT_LT(widest, 1e-6);
  EXPECT_LT(system.start.v.norm(), 1e-3);  // and it stands
  const SE3& trunk = kinematics.X[0];
  EXPECT_GT(feet.normal.dot(trunk.r - feet.on_ground), 0.33);
}

// Copies that start a little elsewhere, on several threads and one by one; and again from where
// they were half-way, with workspaces that have seen nothing.
TEST(Rollout, TakesTheBitsOfSingleRuns) {
  const Scene scene = load_scene(scenes + "trot.yaml", {"time.step=2.5 ms"});
  const System system = build_system(scene);
  const Model& m = system.model;
  constexpr int copies = 6, steps = 600;
  std::vector<State> starts(copies, system.start);
  for (int i = 0; i < copies; ++i) {
    starts[i].q[2] += 3e-4 * i;
    starts[i].v[1] = 0.02 * i;
  }
  const auto roll = [&](std::vector<State> states, int count, int threads) {
    RolloutPlan plan;
    plan.steps = plan.every = count;
    plan.threads = threads;
    std::vector<double> q(copies * 2 * m.nq), v(copies * 2 * m.nv);
    const auto reports =
        rollout(m, system.actuation, states, scene.stepping, plan, q.data(), v.data());
    for (const RolloutReport& r : reports) EXPECT_TRUE(r.steps == count && r.unconverged == 0);
    for (int i = 0; i < copies; ++i)
      EXPECT_TRUE(Eigen::Map<Vec>(q.data() + (2 * i + 1) * m.nq, m.nq) == states[i].q);
    return states;
  };
  const std::vector<State> ends = roll(starts, steps, 1);
  EXPECT_TRUE(ends == roll(starts, steps, 2));
  EXPECT_TRUE(ends == roll(starts, steps, 5));
  EXPECT_TRUE(ends == roll(roll(starts, steps / 2, 2), steps / 2, 2));
  for (int i = 0; i < copies; ++i) {
    StepWorkspace work(m);
    State one = starts[i];
    for (int k = 0; k < steps; ++k)
      ASSERT_TRUE(step(m, system.actuation, one, work, scene.stepping).solve().converged);
    EXPECT_TRUE(one == ends[i]);
  }
  EXPECT_FALSE(ends[0] == ends[1]);
}

INSTANTIATE_TEST_SUITE_P(Quadruped, Standing, ::testing::Values("stand.yaml", "slope.yaml"));

}  // namespace
}  // namespace saltus
