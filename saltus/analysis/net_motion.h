// Where a gait takes a creature whose net motion follows from its shape alone: g' = -g A(r) r'
// (P4 eq. 4), integrated on the group; and what keeps a gait from being possible.
//
// With ideal axles all rows decide, A eta = -B u (P4 eq. 17), by least squares; what is left of
// them is the residual, zero for a compatible gait. Where A loses rank at an instant, n'A = 0, the
// gait must have n'B u = 0 there too. If so the singularity is removable: eta(t) is smooth, and
// near the instant it is interpolated from its neighbours in time. If not, the gait ends there.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/connection.h"
#include "saltus/analysis/net_integration.h"
#include "saltus/analysis/shape_path.h"

namespace saltus {

// Why a gait cannot be: at t the named rows ask for rates that the others do not allow.
struct Obstruction {
  double t = 0;
  bool singular = false;  // the rows have lost rank there
  double residual = 0;    // side slip that would be needed [m/s]
  std::vector<std::string> rows;
};

struct NetMotion {
  SE3 g;            // of the reference body; it starts at the identity
  double turn = 0;  // of a planar creature [rad], full turns counted
  double t = 0;     // reached
  std::optional<Obstruction> obstruction;
  std::vector<double> removable;  // singular instants that were passed
  double least_ratio = 1;         // of singular values along the way
  double worst_residual = 0;      // of the rows [m/s]
  NetIntegration integration;
};

struct NetMotionOptions {
  double tolerance = 1e-13;  // of an integration step
  double residual = 1e-7;    // of the rows against |B u| that still counts as compatible
};

[[nodiscard]] NetMotion net_motion(const Model& model, const ShapeSpace& space,
                                   const Medium& medium, const ShapePath& path,
                                   const NetMotionOptions& options = {});
// The same, stopped at each of the ascending times within the path.
[[nodiscard]] std::vector<NetMotion> net_motion_at(const Model& model, const ShapeSpace& space,
                                                   const Medium& medium, const ShapePath& path,
                                                   const std::vector<double>& times,
                                                   const NetMotionOptions& options = {});

// The twist at one instant of a gait.
struct NetTwist {
  Vec eta;
  double ratio = 1;     // least to largest singular value
  double residual = 0;  // of the rows [m/s]
  double scale = 0;     // |B u| [m/s]
};
[[nodiscard]] NetTwist net_twist(const Model& model, const ShapeSpace& space, const Medium& medium,
                                 VecIn r, VecIn rdot);
// Its limit at a singular instant of a gait: with n'A = 0, n'A' eta = -n'(B u)' is the row that is
// missing (l'Hopital). Not numbers where that does not decide either.
[[nodiscard]] Vec limit_twist(const Model& model, const ShapeSpace& space, const Medium& medium,
                              VecIn r, VecIn rdot, VecIn rddot);

}  // namespace saltus
