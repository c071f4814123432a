// Poses, twists and Jacobians of the tree.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

// Fills X, V, S and bias, and motion and S_I, for the configuration q and velocity v.
void forward_kinematics(const Model& model, VecIn q, VecIn v, Workspace& work);
// Puts the stations that rods touch by between the others (State::touches); kinematics that follow
// place them.
void put_touches(const Model& model, VecIn X, Workspace& work);
// Fills motion and S_I only: all that the recursions need.
void move_links(const Model& model, VecIn q, VecIn v, Workspace& work);
// The velocities of motion alone, for another v at the configuration of the last move_links or
// forward_kinematics.
void renew_velocities(const Model& model, VecIn v, Workspace& work);
// Fills the poses of motion, and S_I: all that crba needs.
void place_links(const Model& model, VecIn q, Workspace& work);
// Of a body in the parent of its tree joint; needs forward_kinematics.
[[nodiscard]] SE3 pose_in_parent(const Model& model, const Workspace& work, BodyIndex body);
// Fills S0; needs forward_kinematics.
void world_columns(const Model& model, Workspace& work);

// q <- q (+) dt v on the configuration group; prescribed coordinates move by their v too.
void advance(const Model& model, VecRef q, VecIn v, double dt);

// Exponential coordinates x about a configuration, q = q0 (+) x: their rates at the velocity v.
void local_rates(const Model& model, VecIn x, VecIn v, VecRef rates);

// Geometric Jacobian of a point of a body (6 x nv): linear velocity of the point and angular
// velocity, both in the inertial frame. Needs world_columns.
void point_jacobian(const Model& model, const Workspace& work, BodyIndex body, const Vec3& point_I,
                    Eigen::Ref<Mat6X> J);
[[nodiscard]] Vec3 point_velocity(const Workspace& work, BodyIndex body, const Vec3& point_I);

// column += sign * (velocity of the wrench's direction): for a unit wrench (f, m) about the
// inertial origin, the row that turns v into f . velocity + m . angular velocity of the body.
// Needs world_columns.
void add_wrench_row(const Model& model, const Workspace& work, BodyIndex body, const Vec6& wrench,
                    double sign, VecRef column);

// The frame of the joints given per body: q_joint in the order of the bodies' own joints, cut or
// not, so that one posture serves every coordinate set.
struct Posture {
  // Per body: coordinates and velocities of its own joint; of an element's stations the first's.
  std::vector<Vec> q, v;
};
[[nodiscard]] Posture zero_posture(const Model& model);
[[nodiscard]] const Joint& own_joint(const Model& model, BodyIndex body);
void set_posture(const Model& model, const Posture& posture, State& state);

}  // namespace saltus
