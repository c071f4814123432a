// The derived tables of a Model: coordinates, velocity tree, rows of State::Lambda.
#pragma once
#include "saltus/model/builder.h"

namespace saltus {

// Scalar coordinates of a joint: of the cut, or where there is none, of the tree joint of `body`.
void add_coordinates(Model& model, const Joint& kind, const std::string& joint_name,
                     const std::vector<JointDof>& dofs, BodyIndex self, const Body& body);
void lay_out(Model& model);
// As Python and run files call a family.
[[nodiscard]] std::string_view name_of(BlockKind kind);
// More rotor inertia at a coordinate of a built model: a motor's [kg m^2] or [kg].
void add_armature(Model& model, CoordinateIndex coordinate, double inertia);

}  // namespace saltus
