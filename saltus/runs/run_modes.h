// The modes of a run, from the tables modes, causes and members of its file.
#pragma once
#include "saltus/analysis/modes.h"
#include "saltus/runs/run_file.h"

namespace saltus {

[[nodiscard]] bool has_modes(const RunReader& run);

// Throws InputError: the run has no such tables (`path` says which run), or they are damaged.
[[nodiscard]] ModeHistory read_modes(const RunReader& run, const std::string& path);

}  // namespace saltus
