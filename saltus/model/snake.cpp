#include "saltus/model/snake.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

void add_snake(ModelBuilder& builder, const SnakeSpec& s) {
  SALTUS_ASSERT(s.links >= 1);
  SALTUS_ASSERT(s.link_length > 0 && s.radius > 0 && s.half_length >= 0);
  SALTUS_ASSERT(s.mass > 0 && s.inertia > 0);
  // About x: no motion of the plane uses it, but an inertia must be possible.
  const double roll = std::min(0.5 * s.mass * s.radius * s.radius, s.inertia);
  RigidInertia link{s.mass, Vec3::Zero(), Vec3(roll, s.inertia, s.inertia).asDiagonal()};
  const SE3 front = SE3::translation({0.5 * s.link_length, 0, 0});
  const SE3 rear = SE3::translation({-0.5 * s.link_length, 0, 0});
  for (int i = 1; i <= s.links; ++i) {
    const std::string name = fmt::format("{}{}", s.prefix, i);
    JointSpec joint;
    if (i == 1) {
      joint.kind = Planar{};
      joint.name = s.prefix == "link" ? "root" : s.prefix + ".root";
    } else {
      joint.kind = Revolute{Vec3::UnitZ()};
      joint.name = fmt::format("{}{}", s.prefix == "link" ? "joint" : s.prefix + ".joint", i - 1);
      joint.parent = fmt::format("{}{}", s.prefix, i - 1);
      joint.placement = front;
      joint.in_body = rear;
      joint.dofs = {s.joint};
    }
    builder.body(name, link, joint);
    builder.shape(name, name, SE3{}, Capsule{s.radius, s.half_length});
    if (s.mu_along > 0 || s.mu_across > 0) {
      SupportFriction friction;
      friction.name = name;
      // Forward is where link 1 is, against the links' x.
      const bool both = s.mu_backward < 0;
      friction.mu1 = both ? s.mu_along : s.mu_backward;
      friction.mu_back = both ? -1 : s.mu_along;
      friction.mu2 = s.mu_across;
      friction.rule = s.rule;
      friction.load = s.mass * s.gravity;
      builder.support(friction, name);
    }
  }
}

SnakePose serpenoid_pose(const SnakeSpec& s, double amplitude, double delta) {
  const double alpha = delta == 0 ? 0 : amplitude / (2 * std::sin(0.5 * delta));
  const auto heading = [&](int i) {
    return std::numbers::pi - alpha * std::cos((i - 1.5) * delta);
  };
  // Walk from the last link, at the origin, to the first.
  Vec2 r = Vec2::Zero();
  for (int i = s.links; i > 1; --i) {
    const double a = heading(i), b = heading(i - 1);
    r -= 0.5 * s.link_length * (Vec2(std::cos(a), std::sin(a)) + Vec2(std::cos(b), std::sin(b)));
  }
  SnakePose pose{r.x(), r.y(), heading(1), {}};
  for (int i = 1; i < s.links; ++i) pose.phi.push_back(amplitude * std::sin((i - 1) * delta));
  return pose;
}

}  // namespace saltus
