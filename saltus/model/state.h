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

// Energies of an episode of contact or flight, for the bound on what its steps may gain
// (docs/energy.md). Numbers without padding: a checkpoint holds their bytes.
struct EnergyTally {
  double gained = 0;               // by steps that gained [J]
  double paid = 0;                 // by velocities, less what they were given back [J]
  double most_T = 0;               // largest kinetic energy [J]
  double least_U = 0, most_U = 0;  // range of the potential energy [J]
  double most = 0, most_t = 0;     // largest gain of a step [J], and when [s]
  Place at;                        // deepest contact of that step
  bool operator==(const EnergyTally&) const = default;
  [[nodiscard]] double scale() const { return most_T + most_U - least_U; }
};
struct EnergyBooks {
  EnergyTally episode;        // that goes on
  EnergyTally flight;         // since the last contact; an episode of its own if it lasts
  double flight_steps = -1;   // whole steps, of pieces their share; -1: nothing was entered yet
  double most_energy = 0;     // largest T + |U| so far [J]
  double rounding = 0;        // gains up to this are those of things at rest [J]
  double broken = 0;          // episodes that are over and gained more than the bound
  double worst = 0;           // largest share of what moved that one of them gained,
  EnergyTally worst_episode;  // and that one
  bool operator==(const EnergyBooks&) const = default;
};

struct State {
  double t = 0;           // [s]
  std::int64_t step = 0;  // steps taken since t0; t = t0 + step dt, so rounding does not pile up
  double t0 = 0;
  Vec q, v;
  Vec increment;  // of v in the last step: where the next begins to look for its mean velocity
  Vec Lambda;     // impulses of the last step in stable slots (Model::slots) [N s]
  std::vector<unsigned char> mode;       // of each block slot (solvers/inclusion.h Mode)
  std::vector<ContactImpulse> contacts;  // sorted by key
  // Where rods touch between their stations: arc lengths of RodElement::touches, -1: nowhere.
  Vec touches;
  std::vector<std::int32_t> turns;  // of each coordinate: full turns of cut revolute joints
  Vec memory;                       // what controllers declare
  EnergyBooks books;
  // All else that decides what the event-driven integrator does next (event_memory.cpp); empty: it
  // has not begun.
  Vec events;

  bool operator==(const State&) const = default;
};

// At rest in the zero position (quaternions at identity).
[[nodiscard]] State make_state(const Model& model);

// The entry of a key, or null.
[[nodiscard]] const ContactImpulse* find_contact(const State& state, const ContactKey& key);

// Whether the model has such a place, or it is none.
[[nodiscard]] bool is_place_of(const Model& model, const Place& place);

// Not what the damage of a file may leave: positions and velocities that are no numbers,
// quaternions that turn nothing, modes and shapes that there are not.
[[nodiscard]] bool is_sound(const Model& model, const State& state);

// Bytes of a state, for checkpoints: bit-exact.
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const State& state);
// Throws InputError when the size does not fit the model.
[[nodiscard]] State from_bytes(const Model& model, const std::uint8_t* data, std::size_t size);

}  // namespace saltus
