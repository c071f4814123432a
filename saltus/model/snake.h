// The planar snake of P0: n equal links, revolute joints, a capsule each for contact, friction
// with the ground under the link's weight. Link 1 leads; its x-axis points to link 2.
#pragma once
#include "saltus/model/builder.h"

namespace saltus {

struct SnakeSpec {
  std::string prefix = "link";  // bodies link1 ... linkN, joints joint1 ... (N - 1)
  int links = 11;
  double link_length = 0.122;              // between joints, L_i [m]
  double radius = 0.0525;                  // of the caps, L_SC [m]
  double half_length = 0.0393;             // centre to cap's centre, L_GS [m]
  double mass = 7.5 / 11;                  // of a link [kg]
  double inertia = 1.32e-3;                // about z, J_i [kg m^2]
  double mu_along = 0.2, mu_across = 0.2;  // ground friction along and across a link; 0: none
  double mu_backward = -1;                 // away from link 1's end; negative: mu_along both ways
  SlipRule rule = SlipRule::normal_cone;
  double gravity = 9.81;  // the load of a link is m g [m/s^2]
  JointDof joint;         // of every joint
};

// Adds bodies, shapes (named as the bodies) and support friction.
void add_snake(ModelBuilder& builder, const SnakeSpec& spec);

// The start pose: joint angles phi_i = A sin((i - 1) delta), the axis of the wave
// along x, link 1 ahead, the last link's centre at the origin.
struct SnakePose {
  double x = 0, y = 0, theta = 0;  // of link 1
  std::vector<double> phi;         // of the joints
};
[[nodiscard]] SnakePose serpenoid_pose(const SnakeSpec& spec, double amplitude, double delta);

}  // namespace saltus
