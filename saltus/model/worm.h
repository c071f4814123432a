// The worms of P3: point masses joined by springs with controlled natural length.
//
// Straight (sections 1-4): masses 1 ... n on a line, mass 1 ahead, each with a coordinate x1 ... xn
// of its own; scales on any of them keep v >= 0.
//
// Planar (sections 5, 6): masses 0 ... n, mass 0 ahead at (mass0.x, mass0.y). A massless link i
// turns about mass i - 1 by its heading Theta_i (joints theta1, then bend2 = Theta_2 - Theta_1,
// ...) and mass i slides on it, r_i behind (joints r1 ...): x_i = x_(i-1) - r_i (cos Theta_i, sin
// Theta_i). The runner of mass i points along Theta_i + gamma_i, Theta_0 := Theta_1. A mass in a
// guiding tube has its successor on its own line: there is no bend.
#pragma once
#include "saltus/model/builder.h"

namespace saltus {

struct WormMass {
  double mass = 1;      // [kg]
  double drag = 0;      // external damping k_i [N s/m]
  double friction = 0;  // sliding friction of the runner [N]
  bool scales = true;   // v >= 0 along the runner, or along x
  bool runner = true;   // planar: no side slip
  bool tube = false;    // planar: collinear with its neighbours, without a runner
};

struct WormSpring {
  double stiffness = 0;  // c [N/m]
  double damping = 0;    // k between the masses [N s/m]
  double length = 1;     // natural, where no signal is given [m]
};

struct WormSpec {
  bool planar = false;
  std::vector<WormMass> masses;
  std::vector<WormSpring> springs;  // between neighbours, one fewer than masses
  // Start. Straight: positions and velocities of the masses; without positions the springs are
  // relaxed and the last mass is at 0.
  std::vector<double> positions, velocities;
  // Planar: where mass 0 is, Theta and r of every link; default (0, 0), 0 and the natural length.
  Vec2 head = Vec2::Zero();
  std::vector<double> headings, distances;
};

// Adds bodies mass1 ... (planar: mass0 ..., link1 ...), springs spring1 ..., drags drag1 ... and
// runners runner1 ..., numbered as their masses; spring i lies behind mass i (planar: behind mass
// i - 1). The builder must be planar for a planar worm. Throws InputError.
void add_worm(ModelBuilder& builder, const WormSpec& spec);

// The joint of every body of a worm, in the order in which they are added, and its start.
struct WormJoint {
  std::string body, joint;
  std::vector<double> q, v;
};
[[nodiscard]] std::vector<WormJoint> worm_joints(const WormSpec& spec);

// The runner of a mass (its place in the list of masses) among those of the worm, or -1.
[[nodiscard]] int worm_runner(const WormSpec& spec, int mass);
// The joints whose sum is Theta_i, i = 1 ...
[[nodiscard]] std::vector<std::string> heading_joints(const WormSpec& spec, int link);

}  // namespace saltus
