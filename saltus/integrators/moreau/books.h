// A step that does not gain energy (theory.md, section 15; docs/energy.md has the bound).
//
// The defect of a step, e = dT + dU - works, is O(dt^3) where motion is smooth and O(dt dv^2) where
// velocities jump; the correction adds what it lifts. As long as the gains of an episode stay well
// below its bound nothing is done: the scheme is as it was, with its order. From there on
// velocities pay. A part of the mechanism that nothing holds gets the momentum that it must have,
// and then its motion about its own rigid motion is scaled; of one that the world holds all of it
// is (what rests or sticks goes on doing so): so that e is taken out of T. What was paid is given
// back where a later step of the episode loses.
#pragma once
#include <vector>

#include "saltus/model/model.h"
#include "saltus/model/state.h"

namespace saltus {

// Of what moved in an episode, its steps may gain this share.
inline constexpr double energy_bound = 1e-3;
// And what rounding makes of things at rest: a share of the largest energy of the run, and the
// weight lifted by ten times what positions are corrected to [m].
inline constexpr double energy_rounding = 1e-12, position_rounding = 1e-9;

// The verdict on the episode that went on: at its end, or at that of the run.
void close_episode(EnergyBooks& books);

// Parts of a model that only contacts couple: trees that cuts and springs join are one.
struct EnergyParts {
  explicit EnergyParts(const Model& model);
  [[nodiscard]] int of_body(const Model& m, int body) const { return of_tree[m.tree[body]]; }
  int count = 0;
  std::vector<int> of_tree;
  std::vector<char> free;  // its roots may move as one rigid body does
  // Free, of one root, and the whole shape is given: its momentum is all that a step has to find.
  std::vector<char> given;
  std::vector<char> immersed;  // some of it has added mass
  bool any_given = false;
};

// Of a part as a whole; L and I about its centre of mass.
struct PartMotion {
  double mass = 0;
  Vec3 com = Vec3::Zero(), P = Vec3::Zero(), L = Vec3::Zero();
  Mat3 I = Mat3::Zero();
};

// Of a part whose shape is given, about the inertial origin: added mass belongs to H, and to no
// weight.
struct NetMomentum {
  double mass = 0;
  Vec3 first = Vec3::Zero();  // mass times centre of mass
  Vec6 H = Vec6::Zero();      // momentum
};

// Scratch of settle_books.
struct BooksWork {
  explicit BooksWork(const Model& model);
  EnergyParts parts;
  std::vector<double> defect, kinetic, scaled, kept;  // of each part
  std::vector<char> held, touched;  // whether the world holds it; whether anything acts on it
  std::vector<PartMotion> motion, wanted;
  std::vector<NetMomentum> net;
  std::vector<Mat6> locked;  // inertia of a part as one rigid body, about the inertial origin
  Vec x, y;                  // velocities that are scaled, and the others
  Vec mean, bias;            // (v_S + v_E)/2, and tau_bias there
  Vec bias_at_rest;          // tau_bias at `zero`
  Vec zero;                  // constant
  Vec q;                     // before the correction
  double weight = 0;         // of all [N]
};

}  // namespace saltus
