// What the surfaces of two shapes that touch add to their law: friction maps and belts.
#pragma once
#include "saltus/contact/assembly.h"

namespace saltus {

// Where a point of a shape's surface is on its friction map.
[[nodiscard]] Vec2 place_on_map(const Workspace& work, const ContactShape& shape, const Vec3& at);

// The product of the friction maps of both shapes at the contact, each at its own surface point.
[[nodiscard]] double friction_share(const Model& model, const Workspace& work, const Contact& c);

// The slip of a belt against the bodies: drift = T . (u_B - u_A), u the surfaces' velocities; it is
// added to b of the contact's tangential rows.
void set_drift(const Model& model, const Workspace& work, const Contact& c, int row, Assembly& out);

// u_B - u_A.
[[nodiscard]] Vec3 belt_velocity(const Model& model, const Workspace& work, const Contact& c);

// Whether any shape has a friction map or a velocity of its surface; which one.
[[nodiscard]] const ContactShape* first_surface(const Model& model);

}  // namespace saltus
