// Bindings of runners, springs, drags, wheels and fluids, beside the other methods of ModelBuilder.
#pragma once
#include "handles.h"
#include "saltus/model/builder.h"

namespace saltus::python {

void bind_elements(nb::class_<ModelBuilder>& builder);
void bind_fluids(nb::class_<ModelBuilder>& builder);

}  // namespace saltus::python
