// P2's compliant contact: springs and dampers between two surfaces (Algorithm 1, corrected).
//
//   lambda_N = max(-c_N g - d_N gamma_N, 0)                                       where g < 0
//   sticks:  lambda_T = -c_T s - d_T gamma_T,  ds/dt = gamma_T,  s = 0 where it closes or sticks
//   anew slips:   lambda_T = -mu lambda_N gamma_T/|gamma_T|
//
// It slips once the force of sticking would leave the disc of mu lambda_N, and sticks again where
// gamma_T comes to rest or turns over. The stretch s is P - P_0 of a point that does not roll;
// taken from gamma_T it lets a round foot roll, as a hard contact does.
#pragma once
#include "saltus/contact/finder.h"
#include "saltus/model/state.h"

namespace saltus {

// What the law sees of a closed contact; vectors in inertial axes, velocities of b against a.
struct CompliantInput {
  double gap = 0;            // < 0 [m]
  double approach = 0;       // gamma_N [m/s]
  Vec3 slip = Vec3::Zero();  // gamma_T, belts included [m/s]
  double mu = 0;
  bool slipped = false;        // in the last step
  Vec3 memory = Vec3::Zero();  // s, or the direction of the last slip
};

// Force on b, and what becomes of the memory.
struct CompliantForce {
  double normal = 0, damper = 0;  // lambda_N and the damper's part of it [N]
  Vec3 friction = Vec3::Zero();   // lambda_T [N]
  Vec3 tangential_damper = Vec3::Zero();
  bool slips = false;
  Vec3 memory = Vec3::Zero();
  double released = 0;  // energy of the tangential spring that is let go [J]
};
[[nodiscard]] CompliantForce compliant_force(const Compliance& law, const CompliantInput& input);

// The law of a contact if it is compliant, else null.
[[nodiscard]] const ContactLaw* compliant_law(const Model& model, const ContactKey& key);

// A compliant contact that is closed at the mid-point of a step.
struct CompliantContact {
  int contact = 0;            // of the step's contacts
  BodyIndex a, b;             // either may be the world
  Vec3 point = Vec3::Zero();  // where both forces act: between the surfaces [m]
  Vec3 rate = Vec3::Zero();   // of b against a there, at the start velocity [m/s]
  Vec3 belt = Vec3::Zero();   // of the surfaces against the bodies [m/s]
  CompliantForce force;
};
struct CompliantTerms {
  std::vector<CompliantContact> closed;
  std::vector<Contact> contacts;  // scratch: those of a start or an end
  double released = 0;            // energy of tangential springs whose contacts opened [J]
  double sinking = 0;             // deepest at the last end [m]
};

// Energy of the springs [J]; needs forward_kinematics. `found` returns the contacts.
[[nodiscard]] double stored_energy(const Model& model, const State& state, const Workspace& work,
                                   ContactFinder& finder, std::vector<Contact>& found);

}  // namespace saltus
