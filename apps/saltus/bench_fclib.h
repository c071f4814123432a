// The friction problems of the literature, ours beside Siconos.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace saltus::cli {

// One entry a problem, sorted by name: {file, kind, rows, target, saltus, siconos, best}.
// `problems` holds files, or `problems/` and MANIFEST.csv (whose siconos_rel_residual is `best`);
// `siconos` is the program siconos_fclib, which need not exist. The target is 1e-8 or `best`,
// whichever is smaller. Empty where there are no problems.
[[nodiscard]] nlohmann::json bench_fclib(const std::filesystem::path& problems,
                                         const std::filesystem::path& siconos);
// As a table; true where all of ours met their target.
bool print_fclib(const nlohmann::json& entries, bool with_siconos);

}  // namespace saltus::cli
