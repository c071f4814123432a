// All that an exact restart needs, and nothing else. A copy is a checkpoint.
#pragma once
#include <cstdint>
#include <vector>

#include "saltus/model/model.h"

namespace saltus {

struct State {
  double t = 0;           // [s]
  std::int64_t step = 0;  // steps taken since t0; t = t0 + step dt, so rounding does not pile up
  double t0 = 0;
  Vec q, v;
  Vec Lambda;  // impulses of the last step in stable slots (Model::slots) [N s]
  std::vector<unsigned char> mode;  // of each block slot (solvers/inclusion.h Mode)
  std::vector<std::int32_t> turns;  // of each coordinate: full turns of cut revolute joints
  Vec memory;                       // what controllers declare

  bool operator==(const State&) const = default;
};

// At rest in the zero position (quaternions at identity).
[[nodiscard]] State make_state(const Model& model);

// Bytes of a state, for checkpoints: fixed size for a given model, bit-exact.
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const State& state);
// Throws InputError when the size does not fit the model.
[[nodiscard]] State from_bytes(const Model& model, const std::uint8_t* data, std::size_t size);

}  // namespace saltus
