// What a flow (model/flow.h) is at a place and a time.
#pragma once
#include "saltus/model/flow.h"

namespace saltus {

// Throws InputError with the place and the time where a user's flow is not finite.
[[nodiscard]] FlowAt flow_at(const Flow& flow, const Vec3& x, double t);

}  // namespace saltus
