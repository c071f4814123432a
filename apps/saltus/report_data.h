// The rows that a report holds: as many frames as its size allows, their contacts, and the steps
// that tell most; in single precision, as bytes for the page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "saltus/runs/run_file.h"

namespace saltus::cli {

struct ReportData {
  nlohmann::ordered_json info;  // describe_run() with the place of each column in the bytes
  std::string bytes;
};

// Throws InputError when not even two frames fit into `most_bytes`.
[[nodiscard]] ReportData report_data(const std::string& path, const RunReader& run,
                                     std::size_t most_bytes);

}  // namespace saltus::cli
