// Signals as arguments: one of the classes, or a number.
#pragma once
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "handles.h"

namespace saltus::python {

using SignalLike = std::variant<Constant, Sine, HalfSine, Square, BangBang, Table, Move, Spline,
                                LegGait, Sum, double>;
[[nodiscard]] Signal signal_of(const SignalLike& x);

}  // namespace saltus::python
