// Flows in Python.
#pragma once
#include <memory>

#include "arrays.h"
#include "saltus/model/flow.h"

namespace saltus::python {

using FlowPtr = std::shared_ptr<const Flow>;
struct FlowHandle {
  FlowPtr flow;
};
// A Flow, three numbers or a function of x and t; null for None.
[[nodiscard]] FlowPtr given_flow(const nb::object& flow);

}  // namespace saltus::python
