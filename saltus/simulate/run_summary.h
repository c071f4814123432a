// The summary of a run as a JSON object: apart, so that users of run.h need no JSON library.
#pragma once
#include <nlohmann/json.hpp>

namespace saltus {

struct RunSummary {
  nlohmann::ordered_json json;  // numbers that are not finite are kept; as text they become null
};

}  // namespace saltus
