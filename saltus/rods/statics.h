// Equilibrium of a rod with a clamped or steadily moving base, and the stress along it.
//
//   K q = sum_i S_i(q)' F_i(q),   by Newton with the exact tangent (complex steps)
//
// Loads are raised from zero where Newton does not get there at once. Stable where the least
// eigenvalue of the symmetric tangent is positive; it is measured against K (1 without loads).
#pragma once
#include "saltus/rods/rod.h"

namespace saltus {

struct EquilibriumOptions {
  double tolerance = 1e-13;  // |residual| over |K q| and |forces|, in the norm of K^-1
  int max_iterations = 40;   // at one load
  double least_step = 1e-4;  // of the loads' share
};
struct EquilibriumReport {
  bool converged = false;
  int iterations = 0;           // in all
  double residual = 0;          // relative, as judged
  double least_eigenvalue = 0;  // [-]
};
// From the q given to the one that the loads ask for. `spin`: a constant body twist of the base.
[[nodiscard]] EquilibriumReport equilibrium(const Rod& rod, const SE3& base, const RodLoads& loads,
                                            Vec& q, const Vec6& spin = Vec6::Zero(),
                                            const EquilibriumOptions& options = {});

// What the part beyond X of a segment does to the part before it, in the section's frame: forces
// and moments Lambda of P4 eq. 33, integrated from the tip. Whole cells by their stations, the cell
// cut by X with as many Gauss points between X and its end. Needs rod_motion; a, acceleration: as
// rod_articulated found them (zero at rest).
[[nodiscard]] Vec6 internal_wrench(const Rod& rod, const RodState& state, const RodLoads& loads,
                                   const RodWork& work, const Vec6& a, VecIn acceleration,
                                   int segment, double X);

}  // namespace saltus
