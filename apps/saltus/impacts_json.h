// Impacts as JSON: for `saltus audit --json`, and for the strip of the viewer and of reports.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "saltus/analysis/audit.h"

namespace saltus::cli {

[[nodiscard]] nlohmann::ordered_json impact_json(const AuditedImpact& impact,
                                                 const std::string& law);

// Columns t, before, after, gained, about; of more than `most` those that gained and the largest.
[[nodiscard]] nlohmann::ordered_json impacts_strip(const ImpactHistory& history, std::size_t most);

}  // namespace saltus::cli
