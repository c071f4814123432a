// Bindings of runners, springs and drags, beside the other methods of ModelBuilder.
#pragma once
#include "handles.h"
#include "saltus/model/builder.h"

namespace saltus::python {

void bind_elements(nb::class_<ModelBuilder>& builder);

}  // namespace saltus::python
