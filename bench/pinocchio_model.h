// Our mechanisms in Pinocchio, its templates compiled with our compiler and flags.
#pragma once
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <stdexcept>

#include "saltus/model/model.h"

namespace saltus::bench {

inline pinocchio::SE3 pinocchio_pose(const SE3& X) { return {X.R, X.r}; }

// Floating roots and hinges about x, y or z.
inline pinocchio::Model pinocchio_model(const Model& model) {
  pinocchio::Model result;
  result.gravity.linear(model.gravity);
  for (const Body& body : model.bodies) {
    const auto parent = static_cast<pinocchio::JointIndex>(body.parent + 1);
    const pinocchio::SE3 at = pinocchio_pose(body.placement);
    pinocchio::JointIndex joint = 0;
    if (std::holds_alternative<Floating>(body.joint)) {
      joint = result.addJoint(parent, pinocchio::JointModelFreeFlyer(), at, body.name);
    } else {
      const Vec3 axis = std::get<Revolute>(body.joint).axis;
      if (axis == Vec3::UnitX())
        joint = result.addJoint(parent, pinocchio::JointModelRX(), at, body.name);
      else if (axis == Vec3::UnitY())
        joint = result.addJoint(parent, pinocchio::JointModelRY(), at, body.name);
      else if (axis == Vec3::UnitZ())
        joint = result.addJoint(parent, pinocchio::JointModelRZ(), at, body.name);
      else
        throw std::runtime_error("bench: no such joint in the conversion to Pinocchio");
    }
    result.appendBodyToJoint(joint, {body.rigid.mass, body.rigid.com, body.rigid.about_com});
  }
  return result;
}

}  // namespace saltus::bench
