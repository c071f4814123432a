// The peer of net_recursion.cpp.
#pragma once
#include <functional>

#include "saltus/model/model.h"

namespace saltus::bench {

// One RNEA of Pinocchio on the same chain at q, v, a; empty where it is not installed, and of
// more than 500 velocities, for which its data do not fit into memory. The root is
// at rest at the origin, where both conventions are one. Throws where its torques are not ours.
[[nodiscard]] std::function<void()> pinocchio_rnea(const Model& model, const Vec& q, const Vec& v,
                                                   const Vec& a, const Vec& tau);

}  // namespace saltus::bench
