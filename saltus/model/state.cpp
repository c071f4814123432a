#include "saltus/model/state.h"

#include <fmt/format.h>

#include <cstring>

#include "saltus/base/error.h"

namespace saltus {

State make_state(const Model& model) {
  State s;
  s.q.setZero(model.nq);
  s.v.setZero(model.nv);
  for (const Body& b : model.bodies) {
    if (std::holds_alternative<Spherical>(b.joint)) s.q[b.q0] = 1;
    if (std::holds_alternative<Floating>(b.joint)) s.q[b.q0 + 3] = 1;
  }
  s.Lambda.setZero(model.lambda_rows);
  s.mode.assign(model.slots.size(), 0);
  s.turns.assign(model.coordinates.size(), 0);
  return s;
}

namespace {

// Visits every field as raw bytes, in one fixed order, for writing and reading alike.
template <class S, class F>
void each_field(S& s, F&& field) {
  field(&s.t, sizeof s.t);
  field(&s.step, sizeof s.step);
  field(&s.t0, sizeof s.t0);
  field(s.q.data(), s.q.size() * sizeof(double));
  field(s.v.data(), s.v.size() * sizeof(double));
  field(s.Lambda.data(), s.Lambda.size() * sizeof(double));
  field(s.mode.data(), s.mode.size());
  field(s.turns.data(), s.turns.size() * sizeof(std::int32_t));
  field(s.memory.data(), s.memory.size() * sizeof(double));
}

}  // namespace

std::vector<std::uint8_t> to_bytes(const State& state) {
  std::vector<std::uint8_t> bytes;
  each_field(state, [&](const void* p, std::size_t n) {
    const auto* first = static_cast<const std::uint8_t*>(p);
    bytes.insert(bytes.end(), first, first + n);
  });
  return bytes;
}

State from_bytes(const Model& model, const std::uint8_t* data, std::size_t size) {
  State s = make_state(model);
  std::size_t expected = 0;
  each_field(s, [&](void*, std::size_t n) { expected += n; });
  if (size < expected || (size - expected) % sizeof(double) != 0)
    throw InputError(
        fmt::format("a checkpoint of this model has {} bytes, got {}", expected, size));
  s.memory.setZero(static_cast<Eigen::Index>((size - expected) / sizeof(double)));
  each_field(s, [&](void* p, std::size_t n) {
    if (n > 0) std::memcpy(p, data, n);
    data += n;
  });
  return s;
}

}  // namespace saltus
