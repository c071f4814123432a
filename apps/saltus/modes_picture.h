// The transition graph of a run's modes as a picture: SVG with a layout of our own, and DOT.
#pragma once
#include <string>

#include "saltus/analysis/modes.h"

namespace saltus::cli {

// Modes on a circle in the order of their first appearance; of many those that last longest, which
// the picture says.
[[nodiscard]] std::string modes_svg(const ModeHistory& history, const ModeGraph& graph,
                                    const std::string& title);
[[nodiscard]] std::string modes_dot(const ModeHistory& history, const ModeGraph& graph,
                                    const std::string& title);

}  // namespace saltus::cli
