// The rows of one element of a model at a configuration: opens a block of an Assembly and fills its
// wrenches. Shared by time stepping and the event-driven integrator; all need
// forward_kinematics. Each returns the block's first row.
#pragma once
#include "saltus/contact/assembly.h"

namespace saltus {

int open_cut(const Model& model, const Workspace& work, int slot, Assembly& out);
// A block of one row on a joint coordinate, in the tree or cut; gamma = sign times its rate.
int open_coordinate(const Model& model, const Workspace& work, int slot, const Law& law, int c,
                    double sign, double compliance, Assembly& out);
int open_support(const Model& model, const Workspace& work, int slot, const Law& law,
                 Assembly& out);
// Of a runner, steered by `angle`: across (an edge's slot) or along (a scale's).
int open_runner(const Model& model, const Workspace& work, int slot, const Law& law, double angle,
                Assembly& out);
// Of a gap contact: its gap and, where the law has a second row, its sliding speed.
int open_gap_contact(const Model& model, int slot, const Law& law, Assembly& out);
// Of Assembly::contacts[k], with the tangent that it has.
int open_contact(const Model& model, const Workspace& work, int k, const Contact& contact,
                 const Law& law, Assembly& out);
// The contact of a key as the configuration has it now; false when there is no such feature within
// the margin.
[[nodiscard]] bool contact_of_key(const Model& model, const Workspace& work, const ContactKey& key,
                                  double margin, Contact& contact);

}  // namespace saltus
