// Bodies and joints of the user that are called like parts of a snake stay the user's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"

namespace saltus {
namespace {

System built(const std::string& more) {
  return build_system(
      read_scene(Document::from_text(fmt::format("saltus: 1\nplanar: true\n"
                                                 "snake: {{links: 11, motor: {{kp: 800, kd: 2}},\n"
                                                 "  gait: {{amplitude: 40 deg, omega: 80 deg/s, "
                                                 "delta: -50 deg}}}}\n"
                                                 "{}time: {{end: 0.01}}\n",
                                                 more),
                                     "snake.yaml")));
}

constexpr auto others = R"(bodies:
- {name: link50, mass: 1, inertia: [1, 1, 1], joint: {type: planar, name: joint50}}
- {name: link0, mass: 1, inertia: [1, 1, 1], joint: {type: revolute, axis: [0, 0, 1], name: joint0}}
- {name: linkage, mass: 1, inertia: [1, 1, 1], joint: {type: planar, parent: link50, name: jointed}}
initial: {joint50: {q: [7, 8, 0.5]}, joint3: {q: [0.25]}}
)";

TEST(SnakeNames, ASnakeAndABodyCalledLink50) {
  const System alone = built("initial: {joint3: {q: [0.25]}}\n");
  const System both = built(others);
  const Model& model = both.model;
  for (int i = 1; i <= 11; ++i) {
    const std::string name = fmt::format("link{}", i);
    const Body &a = alone.model.bodies[alone.model.body(name)], &b = model.bodies[model.body(name)];
    ASSERT_EQ(a.nq, b.nq);
    for (int k = 0; k < a.nq; ++k)
      EXPECT_EQ(alone.start.q[a.q0 + k], both.start.q[b.q0 + k]) << name;
  }
  const auto start = [&](const char* name) {
    const Body& body = model.bodies[model.body(name)];
    return Vec(both.start.q.segment(body.q0, body.nq));
  };
  EXPECT_EQ(start("link50"), Vec(Vec3(7, 8, 0.5)));
  EXPECT_EQ(start("link0"), Vec::Zero(1));
  EXPECT_EQ(start("linkage"), Vec::Zero(3));
}

TEST(SnakeNames, MotorsOfASnakeAreOfItsOwnJoints) {
  const System alone = built(""), both = built(others);
  ASSERT_EQ(both.actuation.motors.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    const Motor &a = alone.actuation.motors[i], &b = both.actuation.motors[i];
    EXPECT_EQ(both.model.coordinates[b.coordinate].name, fmt::format("joint{}", i + 1));
    EXPECT_EQ(alone.model.coordinates[a.coordinate].name, fmt::format("joint{}", i + 1));
    EXPECT_EQ(value(a.reference, 0.3), value(b.reference, 0.3));
  }
}

}  // namespace
}  // namespace saltus
