// P0's snake at any length, slithering on flat ground: minimal coordinates, one support a link.
#pragma once
#include <fmt/format.h>

#include <numbers>

#include "saltus/control/actuation.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/snake.h"

namespace saltus::bench {

struct SnakeScene {
  Model model;
  State state;
  Actuation actuation;

  explicit SnakeScene(int links) : model(build(links)), state(make_state(model)) {
    constexpr double degree = std::numbers::pi / 180;
    const SerpenoidGait gait{40 * degree, 80 * degree, -50 * degree};
    const SnakePose pose = serpenoid_pose(spec(links), gait.amplitude, gait.delta);
    Posture posture = zero_posture(model);
    posture.q[0] << pose.x, pose.y, pose.theta;
    for (int i = 1; i < links; ++i) posture.q[i][0] = pose.phi[i - 1];
    set_posture(model, posture, state);
    for (int i = 1; i < links; ++i) {
      Motor motor;
      motor.coordinate = model.coordinate(fmt::format("joint{}", i));
      motor.reference = serpenoid(gait, i);
      motor.kp = 800;
      motor.kd = 2;
      actuation.motors.push_back(motor);
    }
  }

 private:
  static SnakeSpec spec(int links) {
    SnakeSpec s;
    s.links = links;
    s.mu_along = 0.1;
    s.mu_across = 0.3;
    return s;
  }
  static Model build(int links) {
    ModelBuilder builder;
    builder.planar(true).gravity(Vec3::Zero());
    add_snake(builder, spec(links));
    return builder.build();
  }
};

}  // namespace saltus::bench
