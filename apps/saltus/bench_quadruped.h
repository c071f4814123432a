// The quadruped of P2 in every engine that is there: speed, and how well it stands and trots.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace saltus::cli {

// {truth, engines: [{engine, version, settings, time, measure}], absent: [{engine, why}]} of the
// programs quadruped_* in a folder. The programs take turns, so that all share what the machine
// does. Throws where ours is not among them.
[[nodiscard]] nlohmann::json bench_quadruped(const std::filesystem::path& folder, bool quick);
// As a table.
void print_quadruped(const nlohmann::json& result);

}  // namespace saltus::cli
