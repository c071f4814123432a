// Sequences of modes side by side, and P3's explicit law as a third way to the same numbers.
#include "saltus/studies/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/integrators/events/explicit_law.h"
#include "saltus/studies/mode_sequence.h"

using namespace saltus;

namespace {

ModeMember held(int slot) { return {{slot, -1, -1, 0}, Status::holds}; }

ModeChange change(double t, std::vector<ModeMember> after) {
  ModeChange c;
  c.t = t;
  c.after = std::move(after);
  return c;
}

Scene scene(const std::string& name, const std::vector<std::string>& set = {}) {
  return load_scene(std::string(SALTUS_SOURCE_DIR) + "/scenes/" + name, set);
}

// Positions at the end of a scene by (3.1).
Vec by_explicit_law(const Scene& s, double dt) {
  const System system = build_system(s);
  ExplicitLaw law(system.model, system.actuation);
  Vec x = system.start.q, v = system.start.v;
  const int steps = static_cast<int>(std::lround(s.end / dt));
  for (int k = 0; k < steps; ++k) law.step(k * dt, dt, x, v);
  return x;
}

}  // namespace

TEST(ModeSequence, ShortModesMayBeMissing) {
  const auto a = mode_spans(
      {change(0, {held(0)}), change(1, {}), change(1.01, {held(1)}), change(2, {held(1), held(0)})},
      3);
  const auto b = mode_spans(
      {change(0.1, {held(0)}), change(1.2, {held(1)}), change(2.1, {held(0), held(1)})}, 3);
  ASSERT_EQ(a.size(), 4U);
  const ModeMatch match = match_modes(a, b, 0.05);
  EXPECT_TRUE(match.agree);
  EXPECT_EQ(match.partner, (std::vector<int>{0, -1, 1, 2}));
  EXPECT_FALSE(match_modes(a, b, 0.005).agree);
}

TEST(ModeSequence, AModeInterruptedShortlyIsOne) {
  const auto a = mode_spans({change(0, {held(0)})}, 3);
  const auto b = mode_spans({change(0, {held(0)}), change(1, {}), change(1.01, {held(0)})}, 3);
  EXPECT_TRUE(match_modes(a, b, 0.05).agree);
  EXPECT_TRUE(match_modes(b, a, 0.05).agree);
}

TEST(ModeSequence, DifferentModesPartWhereTheyDiffer) {
  const auto a = mode_spans({change(0, {held(0)}), change(1, {}), change(2, {held(1)})}, 3);
  const auto b = mode_spans({change(0, {held(0)}), change(1, {}), change(2, {held(0)})}, 3);
  const ModeMatch match = match_modes(a, b, 0.05);
  EXPECT_FALSE(match.agree);
  EXPECT_EQ(match.first_stop, 2);
  EXPECT_EQ(match.second_stop, 2);
}

// The trembling about v = 0 is of the order of a step, and so is the error: about half of it, with
// scatter from where in a step a mass is released.
TEST(ExplicitLaw, ComesToTheReferenceInFirstOrder) {
  const struct {
    const char* name;
    Vec expected;
  } cases[] = {{"p3/fig-4-1.yaml", Vec{{8.09996662, 7.23549028}}},
               {"p3/fig-4-6.yaml", Vec{{10.76417866, 10.09291715, 8.94055259}}}};
  for (const auto& c : cases) {
    const Scene s = scene(c.name);
    for (const double dt : {2e-3, 1e-3, 2.5e-4, 1e-4}) {
      const double error = (by_explicit_law(s, dt) - c.expected).cwiseAbs().maxCoeff();
      std::printf("      %s: %.3e at dt = %g s\n", c.name, error, dt);
      EXPECT_LT(error, dt) << c.name;
    }
  }
}

TEST(ExplicitLaw, RefusesOtherModelsByName) {
  const auto message = [](const Scene& s) -> std::string {
    const System system = build_system(s);
    try {
      ExplicitLaw law(system.model, system.actuation);
    } catch (const InputError& e) { return e.what(); }
    return "";
  };
  EXPECT_NE(message(scene("bouncing-ball.yaml")).find("there is a contact law"), std::string::npos);
  EXPECT_NE(message(scene("p3/fig-6-1.yaml")).find("the joint of body 'mass0'"), std::string::npos);
  EXPECT_NE(message(scene("p3/fig-4-1.yaml", {"worm.friction=0.1"})).find("runner 'runner1'"),
            std::string::npos);
}

TEST(Compare, MoreauComesToTheEvents) {
  const Comparison c = compare(scene("p3/fig-4-1.yaml"), {});
  ASSERT_EQ(c.runs.size(), 4U);
  for (const SteppingRun& r : c.runs) EXPECT_TRUE(r.modes_agree) << r.dt << ": " << r.difference;
  EXPECT_GT(c.position_order, 1.5);  // 1.95: second order but for the steps with events
  EXPECT_LT(c.runs.back().position.size, 0.3 * c.runs.front().position.size);
}
