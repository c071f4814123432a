// Changes of mode as they are recorded: when, why, and what holds or slips from then on.
#pragma once
#include <string_view>
#include <vector>

#include "saltus/integrators/impact_record.h"

namespace saltus {

// How an element stands.
enum class Status : unsigned char { open = 0, holds = 1, slips = 2 };

enum class Cause : unsigned char {
  start,         // the first mode
  drive,         // a signal of the actuation jumps or bends
  gap,           // a contact or limit closes
  force,         // a normal force vanishes
  stick,         // the force of a holding set reaches its boundary
  slip,          // a slip velocity vanishes
  feature,       // a contact moves to another part of its shapes
  accumulation,  // impacts follow each other ever faster: passed
  jam,           // forces contradict: an impact without collision (Painleve)
  chatter,       // events without an end, or no mode that lasts: time stepping went over it
};
inline constexpr Cause last_cause = Cause::chatter;
[[nodiscard]] std::string_view name_of(Cause cause);

struct EventCause {
  Cause cause = Cause::start;
  Place place;  // none for a drive
  // Accumulation: when the last of its impacts would be; chatter: where it was left again [s].
  double value = 0;
};

struct ModeMember {
  Place place;
  Status status = Status::open;
  bool operator==(const ModeMember&) const;
};

// A change of mode or an impact.
struct ModeChange {
  double t = 0;
  std::vector<EventCause> causes;
  std::vector<ModeMember> after;  // all that hold or slip, bilateral joints left out
  bool impact = false;
  double kinetic_before = 0, kinetic_after = 0;  // [J]
  double share = 1;                              // of the restitution that energy allowed
  double driven = 0;    // work of drives whose rates jump, before any impact [J]
  ImpactRecord record;  // of an impact
};

// What holds or slips after a step, by the modes that its state keeps.
[[nodiscard]] std::vector<ModeMember> members_of(const Model& model, const State& state);

// Time stepping has no events: a mode change is a step after which other things hold or slip than
// before. Its causes are those differences.
class ModeWatcher {
 public:
  // Appends the change, if there is one; the first call always is.
  void look(const Model& model, const State& state, bool impact, std::vector<ModeChange>& changes);

 private:
  bool begun_ = false;
  std::vector<ModeMember> last_;
};

}  // namespace saltus
