// Numbers in JSON, which has no infinity.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>

namespace saltus::cli {

// null where it is none.
[[nodiscard]] inline nlohmann::ordered_json number(double x) {
  return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(nullptr);
}

}  // namespace saltus::cli
