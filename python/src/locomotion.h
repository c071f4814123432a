// The locomotion controller in Python.
#pragma once
#include "handles.h"

namespace saltus::python {

void bind_locomotion(nb::module_& m, nb::class_<ActuationHandle>& actuation);
// What the controller remembers of its run as a dict, or None.
[[nodiscard]] nb::object locomotion_dict(const Actuation& actuation, const State& state);

}  // namespace saltus::python
