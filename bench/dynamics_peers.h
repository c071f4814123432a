// What the peers' dynamics share. Peers do not include ours, so that they need not be compiled
// again with it.
#pragma once
#include <string>

#include "saltus/model/model.h"

namespace saltus::bench {

// Our own tau for the acceleration a in some_state: peers are held to it.
[[nodiscard]] Vec inverse_dynamics(const Model& model, const Vec& a);
// Throws where two results differ by more than rounding, relative: times of different mechanisms
// mean nothing.
void check_same(const char* peer, const Vec& ours, const Vec& theirs, double tolerance);
inline constexpr double rounding = 1e-10;
// Our inverse of their forward dynamics: the long chain's mass matrix is ill-conditioned (3e-9).
inline constexpr double rounding_there_and_back = 1e-7;

// Linked into dynamics_bench; registers nothing where it is not installed.
void add_pinocchio(const std::string& name, const Model& model);

}  // namespace saltus::bench
