// What a run file's header says of the elements of a model.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "saltus/control/actuation.h"

namespace saltus {

// Short names of Model::slots for sets of them: P3 writes {1} where mass 1 rests. Numbers alone
// where everything that has a mode is numbered alike (runner1, runner2, ...).
[[nodiscard]] std::vector<std::string> element_labels(const Model& model);

// Where a fluid acts, in the body: a wake at its end.
[[nodiscard]] Vec3 place_of(const Fluid& fluid);

// Adds `elements`, `labels`, `springs`, `runners` and, where there are any, `rods`, `fluids` and
// `streets`.
void describe_elements(const Model& model, const Actuation& actuation,
                       nlohmann::ordered_json& header);

}  // namespace saltus
