// What callers have to keep, for SALTUS_ASSERT at the doors of the library: sizes and ranges alone,
// in constant time. Python and scenes check before they call and answer with an InputError; a C++
// program that breaks them has a bug, and a debug build says where.
#pragma once
#include "saltus/base/error.h"
#include "saltus/dynamics/workspace.h"

namespace saltus {

// The arguments are of the model, as far as their sizes tell.
[[nodiscard]] inline bool fits(const Model& model, VecIn q, VecIn v) {
  return q.size() == model.nq && v.size() == model.nv;
}
[[nodiscard]] inline bool fits(const Model& model, const Workspace& work) {
  return work.X.size() == model.bodies.size() && work.external.size() == model.bodies.size() &&
         work.S.cols() == model.ns;
}
[[nodiscard]] inline bool fits(const Model& model, const State& state) {
  return fits(model, state.q, state.v) && state.increment.size() == model.nv &&
         state.Lambda.size() == model.lambda_rows && state.mode.size() == model.slots.size() &&
         state.turns.size() == model.coordinates.size();
}

[[nodiscard]] inline bool has(const Model& model, BodyIndex body) {  // the world, too
  return body < model.body_count();
}
[[nodiscard]] inline bool has(const Model& model, CoordinateIndex c) {
  return c.valid() && c < static_cast<int>(model.coordinates.size());
}

}  // namespace saltus
