// Peers that may be linked into dynamics_bench; each registers nothing where it is not installed.
#pragma once
#include <string>

#include "saltus/model/model.h"

namespace saltus::bench {

// Our own tau for the acceleration a in some_state: peers are held to it. (Peers do not include the
// dynamics, so that they need not be compiled again with it.)
[[nodiscard]] Vec inverse_dynamics(const Model& model, const Vec& a);

void add_pinocchio(const std::string& name, const Model& model);

}  // namespace saltus::bench
