// Pictures of what actuators can do: accelerations that can be reached, and fields over a posture.
#pragma once
#include <string>
#include <vector>

#include "apps/saltus/papers/svg.h"
#include "saltus/studies/capability_study.h"

namespace saltus::cli {

// The same as plots of a page.
[[nodiscard]] std::vector<Plot> outline_plots(const CapabilityReport& report);
[[nodiscard]] std::vector<Plot> field_plots(const CapabilityField& field);

// Outlines in the planes x-y, x-z and y-z: dashed what the torques alone allow, filled within the
// laws of the forces.
[[nodiscard]] std::string outline_picture(const CapabilityReport& report, const std::string& title);
// Two maps: directional and held; what is infeasible stays empty.
[[nodiscard]] std::string field_picture(const CapabilityField& field, const std::string& title);

}  // namespace saltus::cli
