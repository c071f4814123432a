// The mass matrix of a model as a Forest: products with M and its inverse in O(n).
#pragma once
#include "saltus/dynamics/workspace.h"
#include "saltus/solvers/forest.h"

namespace saltus {

[[nodiscard]] ForestShape forest_shape(const Model& model);
// Inertias, columns and shifts of the configuration; armature plus `extra` on the diagonal;
// prescribed velocities held. `gain`: of each body, added to its inertia in its frame, or null.
// Needs forward_kinematics; does not factor.
void load_mass(const Workspace& work, VecIn extra_diagonal, Forest& forest,
               const Mat6* gain = nullptr);

// A velocity against whose motion there is no inertia but that of rounding, or -1: of trees small
// enough for their dense M, children eliminated first, and of others by the factor alone. Needs
// load_mass; factors.
[[nodiscard]] int without_inertia(const Model& model, Forest& forest);

}  // namespace saltus
