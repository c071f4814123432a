// Joints that follow others: URDF's mimic, MJCF's equality/joint.
//
// q_f = ratio q_l + offset is kept exactly by two contacts of one gap, g = q_f - ratio q_l - offset
// with a lever of one metre a radian, and its negative: g >= 0 and -g >= 0.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/robots/robot.h"

namespace saltus {

namespace {

const BodyScene* moved_by(const Robot& robot, const std::string& joint) {
  for (const BodyScene& b : robot.bodies)
    if ((b.joint.name.empty() ? b.name : b.joint.name) == joint) return &b;
  return nullptr;
}

// The body of a tree that hangs on the world: parents come first.
const std::string& root_of(const Robot& robot, const BodyScene& body) {
  const BodyScene* at = &body;
  for (auto i = static_cast<std::size_t>(&body - robot.bodies.data()); i-- > 0;)
    if (robot.bodies[i].name == at->joint.parent) at = &robot.bodies[i];
  return at->name;
}

// Whether a joint follows another, directly or through others.
bool leads(const Robot& robot, const std::string& leader, std::string follower) {
  for (std::size_t step = 0; step <= robot.couplings.size(); ++step) {
    if (follower == leader) return true;
    const auto own = std::find_if(robot.couplings.begin(), robot.couplings.end(),
                                  [&](const RobotCoupling& c) { return c.follower == follower; });
    if (own == robot.couplings.end()) return false;
    follower = own->leader;
  }
  return false;
}

}  // namespace

std::string add_coupling(Robot& robot, const RobotCoupling& coupling) {
  const BodyScene* follower = moved_by(robot, coupling.follower);
  if (!follower || !has_scalar_coordinates(follower->joint.kind) ||
      nv_of(follower->joint.kind) != 1)
    return fmt::format("joint '{}' has not one coordinate", coupling.follower);
  for (const RobotCoupling& other : robot.couplings)
    if (other.follower == coupling.follower)
      return fmt::format("joint '{}' follows '{}' already", coupling.follower, other.leader);
  if (!coupling.leader.empty()) {
    const BodyScene* leader = moved_by(robot, coupling.leader);
    if (!leader) return fmt::format("there is no joint '{}'", coupling.leader);
    if (leader == follower) return "a joint does not follow itself";
    if (!has_scalar_coordinates(leader->joint.kind) || nv_of(leader->joint.kind) != 1)
      return fmt::format("joint '{}' has not one coordinate", coupling.leader);
    if (root_of(robot, *leader) != root_of(robot, *follower))
      return fmt::format("joint '{}' and joint '{}' belong to two trees", coupling.follower,
                         coupling.leader);
    if (leads(robot, coupling.follower, coupling.leader))
      return fmt::format("joint '{}' follows '{}' already, through others", coupling.leader,
                         coupling.follower);
  }
  robot.couplings.push_back(coupling);
  return "";
}

}  // namespace saltus
