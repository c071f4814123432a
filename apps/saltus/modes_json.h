// The modes of a run as JSON: for tools (saltus modes --json) and for the viewer's strip.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "saltus/analysis/modes.h"

namespace saltus::cli {

[[nodiscard]] nlohmann::ordered_json modes_json(const ModeHistory& history, const ModeGraph& graph);

// Stretches and impacts along the time, at most `most` of each: the longest stretches, impacts at
// equal distances in their list. "left_out" says how many are missing.
[[nodiscard]] nlohmann::ordered_json modes_strip(const ModeHistory& history, std::size_t most);

}  // namespace saltus::cli
