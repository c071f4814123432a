// Points that are held while the shape moves: feet on the ground, suckers, bristles (P4's remark on
// walking: with the feet in place a walker is a wheeled snake of another kind). A hold is bilateral
// rows, its point does not move; whether it could let go or slip is a matter of its force, which
// lambda_stat may help (analysis/stress.h).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "saltus/analysis/connection.h"
#include "saltus/analysis/stress.h"

namespace saltus {

struct Hold {
  std::string name;
  BodyIndex body;
  Vec3 point = Vec3::Zero();   // in the body [m]
  Vec3 normal = Vec3::Zero();  // in the world, unit: it only pushes that way; zero: it is pinned
  double friction = 1;         // of one that only pushes
  bool turning = true;         // false: the body does not turn there either
  std::vector<std::pair<double, double>> during;  // [s]; empty: always
  [[nodiscard]] bool at(double t) const;          // ends belong to what begins there
};

// Of each hold: no motion of its point along axes of its body (in the plane two of them), and
// none about them if it does not turn. Throws InputError: holds of what does not move, or of bodies
// that leave the plane of a planar creature.
[[nodiscard]] std::vector<ConstraintRow> hold_rows(const Model& model, const ShapeSpace& space,
                                                   const std::vector<Hold>& holds);
// The cones of those that only push, over the forces of rows whose holds begin at `first`, in the
// order of hold_rows. X: bodies in the world.
[[nodiscard]] std::vector<ForceCone> hold_cones(const std::vector<Hold>& holds,
                                                const std::vector<ConstraintRow>& rows, int first,
                                                const std::vector<SE3>& X);

}  // namespace saltus
