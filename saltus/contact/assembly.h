// The bridge between a Model and the solvers: finds the closed contacts of a state and writes the
// inclusion problem of one step as plain data.
#pragma once
#include <vector>

#include "saltus/dynamics/impedance.h"
#include "saltus/dynamics/workspace.h"
#include "saltus/geometry/gap.h"
#include "saltus/solvers/inclusion.h"

namespace saltus {

// What a step knows of a joint coordinate before it solves.
struct CoordinateTerms {
  double value = 0, rate = 0;  // at the mid-point with the start velocity
  Impedance linear;            // everything without a bound: spring, damper, armature, motor
  Impedance limited;           // a motor with a torque limit
  double prescribed_rate = 0;  // at the end, for prescribed cut coordinates
  double rate_start = 0;       // at the start, for the same
};

struct Assembly {
  Inclusion problem;
  Vec Lambda;                          // impulses of the problem's rows (warm start, solution)
  Vec restitution;                     // eps min(gamma_S, 0) per row, apart from problem.b
  std::vector<int> slot;               // Model::slots index of each block
  std::vector<ContactPoint> points;    // of every contact slot   <- find_contacts
  std::vector<Vec3> tangent;           // T1 of every contact slot <- assemble
  std::vector<ContactPoint> supports;  // point and normal of every support <- assemble
  std::vector<Vec3> support_tangent;   // and its T1 <- assemble
  Vec gamma_S;                         // W' v_S per row           <- assemble
  Vec rate_start;                      // W(q_S)' v_S of the cuts' rows, as in State::Lambda; input
  bool joints_at_end = true;           // joints' rates vanish at q_E, or as P0 prints, at q_M

  explicit Assembly(const Model& model);
};

// Gap functions of every contact slot; needs forward_kinematics.
void find_contacts(const Model& model, const Workspace& work, std::vector<ContactPoint>& points);

// T1 in the tangent plane: the x-axis of the shape whose axes carry the friction coefficients.
[[nodiscard]] Vec3 tangent_of(const Model& model, const Workspace& work, const ContactPair& pair,
                              const Vec3& normal);

// The blocks that may act in a step of length dt from `state`: cuts, implicit joint terms, motors
// with limits, joint friction, closed limits, supports, closed contacts. A contact is closed by
// its gap at the mid-point, and a loaded one stays until its impulse vanishes. Fills blocks, W, b,
// restitution and the warm start; needs world_columns at the mid-point, find_contacts and the
// rates of the cuts at the start (theory.md, section 11: joints).
void assemble(const Model& model, const State& state, const std::vector<CoordinateTerms>& terms,
              double dt, const Workspace& work, Assembly& assembly);

// Y = M'^-1 W, c = W' v_free + b and, for Delassus solvers, G = W' Y. Needs factor.
void condense_mass(const Model& model, const Workspace& work, VecIn v_free, bool form_G,
                   Inclusion& problem);

// Adds the unit rows of a contact: normal, and with friction T1 and T2 = n x T1.
void add_contact_rows(const Model& model, const Workspace& work, const ContactPair& pair,
                      const ContactPoint& point, const Vec3& tangent, Eigen::Ref<Mat> columns);

}  // namespace saltus
