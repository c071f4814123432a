// The impacts and the energy balance of a run, from the tables of its file.
#pragma once
#include "saltus/analysis/audit.h"
#include "saltus/runs/run_file.h"

namespace saltus {

[[nodiscard]] bool has_impacts(const RunReader& run);

// Throw InputError: the run is of an older saltus and has no such tables (`path` says which run),
// or they are damaged.
[[nodiscard]] ImpactHistory read_impacts(const RunReader& run, const std::string& path);
[[nodiscard]] Balance read_balance(const RunReader& run, const std::string& path);

// A step whose energy no force accounts for.
struct StepError {
  double t = 0, error = 0;  // [s], [J]
};
// The worst, largest first.
[[nodiscard]] std::vector<StepError> worst_steps(const RunReader& run, std::size_t most);

}  // namespace saltus
