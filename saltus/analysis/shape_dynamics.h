// Dynamics of the net motion while the shape follows a path (P4 eq. 16, 19, 20), with ideal axles
// and Stokes drag or neither:
//
//   P  = M eta + m u                       net momentum in the reference frame
//   P' = ad*_eta P + F + A' lambda         F: weight and drag
//   A eta + B u = 0                        the axles
//
// Reduced: eta = H eta_r + J u, p = H'P, p' = (dH/dt)'P + H'(ad*_eta P + F). H and J come from the
// echelon form of A: some components of eta are free (H has a unit row there, J a zero row) and the
// others follow. p and eta_r depend on that choice, the motion and P do not: H is reported with p.
#pragma once
#include <optional>
#include <vector>

#include "saltus/analysis/connection.h"
#include "saltus/analysis/net_integration.h"
#include "saltus/analysis/shape_path.h"

namespace saltus {

struct NetForces {
  std::vector<ConstraintRow> rows;
  std::vector<Mat6> resistances;  // of the bodies; empty: no drag
};

struct ReducedState {
  double t = 0;
  SE3 g;            // of the reference body
  double turn = 0;  // of a planar creature [rad]
  Vec eta;
  Vec P;  // net momentum, by the components of eta
  Mat H;  // of p = H'P
  Vec p;
};

struct ReducedStart {
  SE3 g;                   // only the weight depends on it
  std::optional<Vec> eta;  // its free components; none: p = 0
};

struct ReducedMotion {
  std::vector<ReducedState> at;  // of the times asked for, as far as it went
  bool done = true;
  double t = 0;  // reached
};

[[nodiscard]] ReducedMotion reduced_motion(const Model& model, const ShapeSpace& space,
                                           const NetForces& forces, const ShapePath& path,
                                           const ReducedStart& start,
                                           const std::vector<double>& times,
                                           double tolerance = 1e-13);

// The shape's motion at an instant.
struct ShapeInstant {
  Vec r, rdot, rddot;
};
[[nodiscard]] ShapeInstant instant(const ShapePath& path, double t);

// Accelerations, axle forces and drive torques at a state (P4 eq. 21, 25 to 28).
struct Torques {
  Vec eta_dot;
  Vec lambda;    // lambda_kin: of all that give the motion, the least sum of weight lambda^2 [N]
  Mat stat;      // m x k: lambda_stat = stat c does not change the motion, whatever c
  Vec tau;       // of each shape variable's velocity u, with lambda_kin [N m], [N]
  Mat tau_stat;  // p x k: tau changes by tau_stat c
  double power = 0;     // tau . u [W]
  double energy = 0;    // kinetic [J]
  double residual = 0;  // of the net equations: axles that cannot hold the motion [N], [m/s^2]
};
// weights: of the rows' forces; empty: 1 each.
[[nodiscard]] Torques torques(const Model& model, const ShapeSpace& space, const NetForces& forces,
                              const ShapeInstant& shape, VecIn eta, const SE3& g = {},
                              const std::vector<double>& weights = {});
// The c that makes the torques tau + tau_stat c smallest.
[[nodiscard]] Vec least_torque(const Torques& torques);

}  // namespace saltus
