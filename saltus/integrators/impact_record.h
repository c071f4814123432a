// What is kept of an impact: the state before and after, and every contact's part in it.
#pragma once
#include <vector>

#include "saltus/impacts/impact.h"
#include "saltus/model/state.h"

namespace saltus {

// One contact's part. Rows are (N, T1, T2).
struct ContactImpact {
  Place place;
  Vec3 before = Vec3::Zero(), after = Vec3::Zero();  // relative velocities [m/s]
  Vec3 impulse = Vec3::Zero();                       // [N s]
  // impulse . (before + after)/2 is exactly the row's share of the change of kinetic energy [J].
  double work_normal = 0, work_tangential = 0;
  double restitution = 0;       // asked for
  double mu = 0, feasible = 0;  // coefficient in force; P1's mu_f (not a number: not computed)
};

struct ImpactRecord {
  double t = 0;
  Vec q, v_before, v_after;
  double kinetic_before = 0, kinetic_after = 0;  // [J]
  double contacts = 0;                           // work of all contacts [J]
  double joints = 0;      // of bilateral rows, limits and drives of prescribed motion [J]
  double attenuated = 0;  // taken by P1's attenuation of velocities, <= 0 [J]
  double share = 1, attenuation = 1, bound = 1;  // worst of the islands: see ImpactReport
  ImpactPath path = ImpactPath::inclusion;
  std::vector<ContactImpact> parts;
};

}  // namespace saltus
