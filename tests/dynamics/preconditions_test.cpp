// What callers have to keep: sizes of another model, indices out of range. Asserts of debug builds.
#include "saltus/dynamics/preconditions.h"

#include <gtest/gtest.h>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

namespace saltus {
namespace {

Model chain(int links) {
  ModelBuilder builder;
  for (int i = 0; i < links; ++i) {
    JointSpec joint;
    joint.kind = Revolute{Vec3::UnitZ()};
    joint.parent = i == 0 ? "world" : "b" + std::to_string(i - 1);
    builder.body("b" + std::to_string(i), {1, Vec3::UnitX(), solid_sphere(1, 0.1)}, joint);
  }
  return builder.build();
}

TEST(Preconditions, SizesTellAModelFromAnother) {
  const Model two = chain(2), three = chain(3);
  EXPECT_TRUE(fits(two, make_state(two)) && fits(two, Workspace(two)));
  EXPECT_FALSE(fits(two, make_state(three)) || fits(two, Workspace(three)));
  EXPECT_TRUE(has(two, world) && has(two, BodyIndex(1)) && has(two, CoordinateIndex(1)));
  EXPECT_FALSE(has(two, BodyIndex(2)) || has(two, CoordinateIndex(2)));
  EXPECT_FALSE(has(two, CoordinateIndex(-1)));
}

TEST(Preconditions, ADebugBuildStopsAtTheDoor) {
#ifdef NDEBUG
  GTEST_SKIP() << "asserts are off";
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Model two = chain(2), three = chain(3);
  Workspace work(two), other(three);
  StepWorkspace step_work(two);
  State good = make_state(two), bad = make_state(three);
  Vec tau = Vec::Zero(2);
  EXPECT_DEATH(forward_kinematics(two, bad.q, bad.v, work), "fits");
  EXPECT_DEATH(forward_kinematics(two, good.q, good.v, other), "fits");
  EXPECT_DEATH(rnea(two, bad.v, work, tau), "model.nv");
  EXPECT_DEATH(aba(two, bad.v, work, tau), "model.nv");
  EXPECT_DEATH((void)step(two, {}, bad, step_work, {}), "fits");
  EXPECT_DEATH((void)point_velocity(work, BodyIndex(2), Vec3::Zero()), "body");
#endif
}

}  // namespace
}  // namespace saltus
