// What is kept of an impact: the state before and after, and every contact's part in it.
//
// At a fixed configuration the change of kinetic energy is a sum over the impulses, without a rest:
//   T+ - T- = (v+ - v-)' M (v+ + v-)/2 = sum Lambda . (gamma- + gamma+)/2.
#pragma once
#include <string_view>
#include <vector>

#include "saltus/dynamics/workspace.h"
#include "saltus/impacts/impact.h"
#include "saltus/model/state.h"

namespace saltus {

// One contact's part, or a joint limit's or a scale's. Rows are (N, T1, T2).
struct ContactImpact {
  Place place;
  Vec3 before = Vec3::Zero(), after = Vec3::Zero();  // relative velocities [m/s]
  Vec3 impulse = Vec3::Zero();                       // [N s]
  // Lambda . (gamma- + gamma+)/2 of the normal row and of all others (rolling and drilling, too),
  // gamma+ before an attenuation [J].
  double work_normal = 0, work_tangential = 0;
  double restitution = 0;       // asked for
  double mu = 0, feasible = 0;  // coefficient in force; P1's mu_f (not a number: not computed)
};

struct ImpactRecord {
  double t = 0;
  Vec q, v_before, v_after;
  // Of the trees that take part [J]: T+ - T- is the sum of the works below.
  double kinetic_before = 0, kinetic_after = 0;
  double normal = 0, tangential = 0;  // of contacts and scales [J]
  double joints = 0;                  // of bilateral rows and limits [J]
  double drives = 0;                  // of prescribed motion [J]
  double attenuated = 0;              // taken by P1's attenuation of velocities, <= 0 [J]
  double accumulated = 0;  // by the rest of a sequence of impacts that was passed, <= 0 [J]
  double forces = 0;       // time stepping: of all that acts besides over the step [J]
  double slack = 0;        // what the residual and the step's forces may have added [J]
  double share = 1, attenuation = 1, bound = 0;  // worst of the islands: see ImpactReport
  ImpactPath path = ImpactPath::inclusion;
  std::vector<ContactImpact> parts;

  [[nodiscard]] double contacts() const { return normal + tangential; }
  // What the impact law answers for [J].
  [[nodiscard]] double by_law() const { return contacts() + attenuated + accumulated; }
  [[nodiscard]] double work() const { return by_law() + joints + drives; }
  // Keeps what was allocated.
  void clear();
};

// A gain below this share of the larger kinetic energy, besides `slack`, is rounding.
inline constexpr double gain_rounding = 1e-10;
// By how much the law's claim T+ <= bound T- is missed [J]; 0: kept. A bound above 1 allows a gain
// (P1's e* = 5), an infinite one claims nothing: either way what T+ exceeds T- by is gained.
[[nodiscard]] double energy_gained(const ImpactRecord& record);

[[nodiscard]] std::string_view name_of(ImpactPath path);

// Velocities of the model and their twists.
struct Velocities {
  VecIn v;
  const std::vector<Vec6>& twists;
};

// Adds what a block did. `law` is that of a contact (of Model::contact_laws), else -1; `raw` are
// the velocities that its impulse led to, `end` those after an attenuation.
void add_block(const Model& model, const Assembly& rows, int block, const Place& place, int law,
               double feasible, const Velocities& raw, const Velocities& end, ImpactRecord& record);
// Takes over the worst of share, attenuation, bound and path, and the slack.
void add_report(const ImpactReport& report, const IslandProblem& island, ImpactRecord& record);
// P1's mu_f of a block of an island; not a number where the law computes none.
[[nodiscard]] double feasible_of(const IslandProblem& island, std::size_t block);

// v <- factor v on the trees of an island (P1 eq. 5.2); prescribed velocities stay.
void attenuate(const Model& model, const Island& island, double factor, VecRef v);
// Kinetic energy of the marked trees; needs forward_kinematics with v.
[[nodiscard]] double kinetic_energy(const Model& model, VecIn v, const Workspace& work,
                                    const std::vector<char>& trees);

}  // namespace saltus
