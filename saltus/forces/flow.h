// What a flow (model/flow.h) is at a place and a time.
#pragma once
#include <memory>

#include "saltus/model/model.h"

namespace saltus {

// Throws InputError with the place and the time where a user's flow is not finite.
[[nodiscard]] FlowAt flow_at(const Flow& flow, const Vec3& x, double t);

// The wave of that length in deep water: what is missing of `wave` (wave_number, omega), its
// directions made unit. Throws InputError: heading and up that are not across each other, and waves
// that would break.
[[nodiscard]] WaveFlow airy_wave(WaveFlow wave, double length, double gravity);

// Every fluid and wing of the model moves in this flow. Throws InputError where there are none.
void use_flow(Model& model, const std::shared_ptr<const Flow>& flow);

}  // namespace saltus
