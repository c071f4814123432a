// The rows of a contact of two shapes at a configuration: opens a block of an Assembly and fills
// its wrenches. Shared by time stepping and the event-driven integrator; both need
// forward_kinematics. Those of a model's slots are in contact/rows/.
#pragma once
#include "saltus/contact/assembly.h"

namespace saltus {

// Of Assembly::contacts[k], with the tangent that it has; returns its first row.
int open_contact(const Model& model, const Workspace& work, int k, const Contact& contact,
                 const Law& law, Assembly& out);
// The contact of a key as the configuration has it now; false when there is no such feature within
// the margin.
[[nodiscard]] bool contact_of_key(const Model& model, const Workspace& work, const ContactKey& key,
                                  double margin, Contact& contact);

}  // namespace saltus
