// The bridge between a Model and the solvers: writes the inclusion problem of one step as plain
// data. A row acts on one or two bodies by wrenches, on one velocity, or on those of a gap contact;
// nothing here is as large as rows times velocities.
#pragma once
#include <vector>

#include "saltus/contact/finder.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/impedance.h"
#include "saltus/solvers/forest.h"
#include "saltus/solvers/inclusion.h"

namespace saltus {

// What a step knows of a joint coordinate before it solves.
struct CoordinateTerms {
  double value = 0, rate = 0;  // at the mid-point with the start velocity
  Impedance linear;            // everything without a bound: spring, damper, armature, motor
  Impedance limited;           // a motor with a torque limit
  bool within = false;         // which is taken to stay below it: on the diagonal, no block
  double prescribed_rate = 0;  // at the end, for prescribed cut coordinates
  double rate_start = 0;       // at the start, for the same
};

// Where a block comes from and what it acts on.
struct BlockSource {
  int slot = -1;       // of Model::slots, or
  int contact = -1;    // of Assembly::contacts
  int a = -1, b = -1;  // bodies (-1: world); gamma = wrench_b . V_b + wrench_a . V_a, or
  int velocity = -1;   // gamma = sign v[velocity]
  double sign = 1;
  double dynamic = 1;      // mu_d / mu_s of a contact whose law holds mu_s
  double restitution = 0;  // e_n, whether it approaches or not
  // or several velocities: gamma = sum (w_0 gap_i + w_1 slide_i) v_i, where w = wrench_b of the row
  const GapContact* gap = nullptr;
  bool closes = false;    // as a contact does: impact laws know it, and loaded it is kept closed
  bool internal = false;  // forces between parts of one tree
  bool elastic = false;   // a spring within bounds: the step settles it as it does joints
};

// What a row with this wrench_b makes of a term's velocity.
[[nodiscard]] inline double coefficient(const GapTerm& term, const Vec6& wrench_b) {
  return wrench_b[0] * term.gap + wrench_b[1] * term.slide;
}

// A cable in a step.
struct CableRow {
  double natural = 0, pull = 0;  // means over the step [m], [N]; input, natural is the model's else
  double length = 0;             // at the mid-point with the start velocity [m]  <- assemble
  GapContact run;                // where it is a row of velocities: -dr/dv  <- open_rows
};

struct Assembly {
  std::vector<Block> blocks;  // rows numbered through all
  std::vector<BlockSource> source;
  int rows = 0;
  Mat6X wrench_a, wrench_b;   // per row, inertial axes at the body's origin
  Vec b;                      // offset: xi = gamma + b + C Lambda
  Vec restitution;            // eps min(gamma_S, 0), apart from b
  Vec gamma_S;                // rate of the row at the start velocity
  Vec drift;                  // of belts: the slip is gamma + drift; part of b
  Vec Lambda;                 // warm start, solution
  Vec rate_start;             // W(q_S)' v_S of cuts and runners, as in State::Lambda; input
  Vec steering;               // angle of each runner at the mid-point [rad]; input
  bool joints_at_end = true;  // joints' rates vanish at q_E, or as P0 prints, at q_M

  // Blocks that slide, so with mu_d, and their laws at rest, with mu_s  <- assemble
  struct Sliding {
    int block = 0;
    Law at_rest;
  };
  std::vector<Sliding> sliding;

  std::vector<CableRow> cables;        // of the model
  std::vector<Contact> contacts;       // those of the configuration   <- ContactFinder
  std::vector<ContactPoint> supports;  // point and normal of every support <- assemble
  std::vector<Vec3> support_tangent;   // and its T1 <- assemble

  explicit Assembly(const Model& model);
  void clear();
  // Opens a block of `law`; the caller fills its wrenches and b. Returns its first row.
  int open(const Law& law, const BlockSource& source, double compliance = 0, double length = 1);
  [[nodiscard]] double rate(int row, const BlockSource& s, const std::vector<Vec6>& twists,
                            VecIn v) const;
  [[nodiscard]] Place place(int block) const;

 private:
  void grow(int rows_needed);
};

// The blocks that may act in a step of length dt from `state`: cuts, implicit joint terms, motors
// with limits, joint friction, closed limits, supports, closed contacts. A contact is closed by
// its gap at the mid-point, and a loaded one stays until its impulse vanishes. Needs
// forward_kinematics at the mid-point, the contacts there and the rates of the cuts at the start
// (theory.md, section 11: joints); twists are those of the start velocity (Forest::twists).
// Friction with two coefficients is static where the last step stuck, and where what is new rests.
void assemble(const Model& model, const State& state, const std::vector<CoordinateTerms>& terms,
              double dt, const Workspace& work, const std::vector<Vec6>& twists,
              Assembly& assembly);

// Restitution acts on approach only: e_n gamma_N and e_t gamma_T of a contact's block, whose
// gamma_S is known.
void set_restitution(const ContactLaw& law, const Block& block, Assembly& out);

// W Lambda: wrenches on bodies (inertial axes at their origins) and impulses on velocities. Lambda
// has an entry for each row.
void apply_rows(const Assembly& assembly, VecIn Lambda, std::vector<Vec6>& wrenches,
                VecRef impulses);

// Fills the wrenches of a contact's rows: normal, T1, T2, then rolling and drilling moments;
// `count` of them from the `first` on.
void set_contact_rows(const Model& model, const Workspace& work, const Contact& contact, int row,
                      int count, Assembly& assembly, int first = 0);
// The same wrench (about the inertial origin) on body b and, reversed, on body a.
void set_pair_row(const Workspace& work, const BlockSource& source, const Vec6& wrench, int row,
                  Assembly& assembly);

// The law and the rows of a contact.
[[nodiscard]] Law law_of(const ContactLaw& law);
// A share of a law's sliding friction; rolling and drilling stay.
void scale_friction(Law& law, double share);
// The rows of a block's sliding friction, within it.
struct SlipRows {
  int first = 0, count = 0;
};
[[nodiscard]] SlipRows slip_rows(const Law& law);
[[nodiscard]] Law law_of(const GapContact& contact);

}  // namespace saltus
