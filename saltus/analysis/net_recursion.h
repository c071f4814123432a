// Forward dynamics of the net motion and inverse dynamics of the joints in O(n): the shape's motion
// is given, the root's acceleration and all joint forces are asked for (P4 section 7, Fig. 8), for
// chains and trees.
//
//   forward   accelerations with the root held: zeta_j
//   backward  F+_j and the composite inertia M+_j of what hangs on each body
//   head      M+_0 eta_0' = F+_0
//   forward   f_j = M+_j eta_j' - F+_j, tau_j = A_j' f_j
//
// The field of eta_0' is that of one rigid body, so the last sweep needs no accelerations of its
// own: tau_j gains A_j' M+_j times the field at joint j.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"

namespace saltus {

class NetRecursion {
 public:
  // Throws InputError: several trees, a root that does not move, cuts, elements with stations.
  explicit NetRecursion(const Model& model);

  // a: accelerations of all joints but the root's, which are filled in. tau: force of every
  // velocity, the root's zero. Wrenches from outside: work.external. False: no inertia at the root.
  [[nodiscard]] bool solve(VecIn q, VecIn v, VecRef a, Workspace& work, VecRef tau);

  // Inverse external dynamics (P4 section 7): the motion of the root is known too, and what acts on
  // it from outside is asked for, as a wrench on the root body in its frame; tau as above, without
  // the root's.
  [[nodiscard]] Vec6 net_wrench(VecIn q, VecIn v, VecIn a, Workspace& work, VecRef tau) const;

 private:
  template <class Inertia>
  bool solve_with(std::vector<Inertia>& composite, VecRef a, const Workspace& work, VecRef tau);

  const Model& model_;
  std::vector<RigidAtPoint> rigid_;
  std::vector<SymmetricInertia> general_;  // with added mass
  std::vector<Vec3> arm_;                  // from the root's point
};

}  // namespace saltus
