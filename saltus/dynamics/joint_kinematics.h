// The motion of a joint by its kind: no algorithm after it looks at one (model/joint_traits.h).
#pragma once
#include "saltus/lie/se3.h"
#include "saltus/model/joint.h"

namespace saltus {

// X: the joint's moved frame in its base frame; S: its body-frame twist columns, V_J = S v;
// bias = (dS/dt) v.
void joint_kinematics(const Joint& joint, VecIn q, VecIn v, SE3& X, Columns6& S, Vec6& bias);

// q <- q (+) dt v on the joint's group.
void joint_advance(const Joint& joint, VecRef q, VecIn v, double dt);

// The coordinates that bring the moved frame nearest to X (exactly, where the joint can reach it).
void joint_coordinates(const Joint& joint, const SE3& X, VecRef q);
// The velocities that give the body-frame twist V at q (its reachable part).
void joint_velocities(const Joint& joint, VecIn q, const Vec6& V, VecRef v);

}  // namespace saltus
