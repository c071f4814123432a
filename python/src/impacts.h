// Impact laws as arguments: a name of saltus/impacts/impact.h, or one of the classes.
#pragma once
#include <initializer_list>
#include <string>
#include <variant>

#include "handles.h"
#include "saltus/impacts/impact.h"

namespace saltus::python {

// The position of a name among those known; the enums count in the same order as scenes.
[[nodiscard]] int choice(const char* what, const std::string& name,
                         std::initializer_list<const char*> known);

using ImpactArgument =
    std::variant<std::string, CappedImpact, NewtonImpact, MoreauImpact, PoissonImpact, ChainImpact>;
[[nodiscard]] ImpactLaw law_of(const ImpactArgument& argument);

}  // namespace saltus::python
