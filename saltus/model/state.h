// All that an exact restart needs, and nothing else. A copy is a checkpoint.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "saltus/model/model.h"

namespace saltus {

// A contact of the last step that carried load, for the warm start of the next.
struct ContactImpulse {
  ContactKey key;
  unsigned char mode = 0;  // solvers/inclusion.h Mode
  // Normal, T1, T2, then rolling and drilling moments [N s, N m s]; of a compliant contact instead
  // of these the stretch of its tangential spring, or where it slips the direction (inertial) [m].
  std::array<double, 6> Lambda{};
  bool operator==(const ContactImpulse&) const = default;
};

struct State {
  double t = 0;           // [s]
  std::int64_t step = 0;  // steps taken since t0; t = t0 + step dt, so rounding does not pile up
  double t0 = 0;
  Vec q, v;
  Vec Lambda;  // impulses of the last step in stable slots (Model::slots) [N s]
  std::vector<unsigned char> mode;       // of each block slot (solvers/inclusion.h Mode)
  std::vector<ContactImpulse> contacts;  // sorted by key
  std::vector<std::int32_t> turns;       // of each coordinate: full turns of cut revolute joints
  Vec memory;                            // what controllers declare
  double pace = 0;  // last step of an integrator that chooses its own [s]; 0: it has not begun

  bool operator==(const State&) const = default;
};

// At rest in the zero position (quaternions at identity).
[[nodiscard]] State make_state(const Model& model);

// The entry of a key, or null.
[[nodiscard]] const ContactImpulse* find_contact(const State& state, const ContactKey& key);

// Bytes of a state, for checkpoints: bit-exact.
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const State& state);
// Throws InputError when the size does not fit the model.
[[nodiscard]] State from_bytes(const Model& model, const std::uint8_t* data, std::size_t size);

}  // namespace saltus
