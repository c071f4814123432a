// A model that stands still: how the acceleration of a point and the forces where it is held depend
// on the torques of its actuators (P1 section 6.1, with the contact force that (6.1) leaves out).
//
// What touches holds, in the directions in which it rubs; dry friction of joints is left out.
// At rest, M dv/dt = h + B tau + W F with W' dv/dt = 0 for every row that holds (no row lets go,
// none slips). With Y = M^-1 W, G = W' Y:
//   F  = -G^+ W' M^-1 (h + B tau) + N z = Fs tau + F0 + N z,    G N = 0,
//   dv/dt = M^-1 (h + B tau + W F),     a = J dv/dt = S tau + a0.
// W N = 0: the z of redundant rows, say of four feet, change no acceleration, only which forces
// share the load.
#pragma once
#include <string>
#include <vector>

#include "saltus/control/actuation.h"
#include "saltus/model/model.h"
#include "saltus/solvers/inclusion.h"

namespace saltus {

// A point that is held although no shape touches there.
struct Foothold {
  BodyIndex body = world;
  Vec3 point = Vec3::Zero();    // in the body [m]
  Vec3 normal = Vec3::UnitZ();  // inertial; the foot may only push along it,
  double friction = infinity;   // within this coefficient; infinity: it is pinned, all ways
};

// Whose acceleration is asked for: a point of a body, or the centre of mass.
struct CapabilityPoint {
  BodyIndex body = world;     // world: the centre of mass
  Vec3 point = Vec3::Zero();  // in the body [m]
};

struct StanceOptions {
  CapabilityPoint point;
  std::vector<Foothold> footholds;
  double touch = 1e-6;      // shapes nearer than this hold [m]
  bool contacts = true;     // shapes that touch hold
  double limit = infinity;  // of every actuator, besides its own [N m] or [N]
  std::string joints = {};  // pattern of coordinates that are driven; empty: those with motors
};

struct Actuator {
  std::string name;             // of its coordinate
  double lower = 0, upper = 0;  // of the torque at the joint [N m] or [N]
};

struct Stance {
  std::vector<Actuator> actuators;
  Eigen::Matrix<double, 3, Eigen::Dynamic> S;  // [1/kg] per N, or [1/(kg m)] per N m
  Vec3 a0 = Vec3::Zero();                      // [m/s^2]
  Mat Fs;                                      // rows x actuators
  Vec F0;                                      // [N] or [N m]
  Mat N;                                       // rows x redundancy, orthonormal columns
  std::vector<Block> blocks;                   // where it is held: laws of the forces
  std::vector<std::string> names;              // of the blocks
  double load = 1;                             // a force of the size of those here [N]
  [[nodiscard]] Vec3 acceleration(VecIn tau) const { return S * tau + a0; }
};

// At the configuration q, at rest, with the signals at t. Throws InputError: nothing drives the
// model, a motor without a limit, a mass matrix that is singular.
[[nodiscard]] Stance stance_of(const Model& model, const Actuation& actuation, VecIn q, double t,
                               const StanceOptions& options);

}  // namespace saltus
