// StepScratch keeps nothing that a later step needs: with a new one for every step the motion and
// its books are the same, bit by bit. And a step does not depend on what an earlier one of another
// motion left in the whole workspace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "saltus/scene/scene.h"

namespace saltus {
namespace {

void expect_same(const StepReport& a, const StepReport& b) {
  EXPECT_EQ(a.energy.total(), b.energy.total());
  EXPECT_EQ(a.energy.work_without_integrator(), b.energy.work_without_integrator());
  EXPECT_EQ(a.energy.integrator, b.energy.integrator);
  EXPECT_EQ(a.solve().residual, b.solve().residual);
  EXPECT_EQ(a.struck, b.struck);
}

void expect_same(const State& a, const State& b) {
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.Lambda, b.Lambda);
  EXPECT_EQ(a.mode, b.mode);
  EXPECT_EQ(a.contacts.size(), b.contacts.size());
}

class Scratch : public testing::TestWithParam<const char*> {};

// Cuts, loops, supports, runners, springs, drives, shapes that touch; both storages.
INSTANTIATE_TEST_SUITE_P(Scenes, Scratch,
                         testing::Values("p0/pegs.yaml", "p2/trot.yaml", "p3/fig-4-1.yaml",
                                         "p3/fig-6-1.yaml", "loops/four-bar.yaml",
                                         "energy/dice.yaml"));

TEST_P(Scratch, KeepsNothingForALaterStep) {
  const Scene scene = load_scene(std::string(SALTUS_SOURCE_DIR) + "/scenes/" + GetParam(), {});
  const System system = build_system(scene);
  const Model& m = system.model;
  StepWorkspace kept(m), renewed(m);
  State a = system.start, b = system.start;
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
    std::destroy_at(&renewed.scratch);
    std::construct_at(&renewed.scratch, m, renewed.result.work.plan);
    const StepReport ra = step(m, system.actuation, a, kept, scene.stepping);
    const StepReport rb = step(m, system.actuation, b, renewed, scene.stepping);
    SCOPED_TRACE(fmt::format("step {}", i));
    expect_same(ra, rb);
    expect_same(a, b);
  }
}

TEST_P(Scratch, IsThatOfAnyEarlierMotion) {
  const Scene scene = load_scene(std::string(SALTUS_SOURCE_DIR) + "/scenes/" + GetParam(), {});
  const System system = build_system(scene);
  const Model& m = system.model;
  StepWorkspace used(m), fresh(m);
  State other = system.start, a = system.start, b = system.start;
  for (int i = 0; i < 50; ++i) (void)step(m, system.actuation, other, used, scene.stepping);
  for (int i = 0; i < 5; ++i) {
    const StepReport ra = step(m, system.actuation, a, used, scene.stepping);
    const StepReport rb = step(m, system.actuation, b, fresh, scene.stepping);
    expect_same(ra, rb);
    expect_same(a, b);
  }
}

}  // namespace
}  // namespace saltus
