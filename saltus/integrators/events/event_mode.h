// Modes of the event-driven integrator: which set-valued elements hold, slide or are open.
//
// An element is a joint kept by rows, a contact, a limit, a support, a runner: it has rows with
// velocities gamma and forces lambda, and consists of
//   bilateral   rows that are always kept, or
//   normal      one row, closed (gamma_N = 0, lambda_N >= 0) or open, and
//   sets        of friction: one or two rows that stick (gamma_T = 0, the force inside the set) or
//               slip (the force on the set's boundary, by the slip's direction). The set is given
//               in newtons, or scales with the normal force.
// A scale that holds is a set of one row without a bound towards the front.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "saltus/control/actuation.h"
#include "saltus/geometry/friction_map.h"
#include "saltus/integrators/mode_change.h"

namespace saltus {

struct FrictionSet {
  int first = 0, rows = 1;  // within the element's rows
  // Largest force against slip forwards, backwards (row 1) and sideways (row 2) [N], or per newton
  // of normal force [-] ([m]).
  double forward = 0, backward = 0, lateral = 0;
  double dynamic = 1;  // share of them that is left while the set slips: mu_d / mu_s
  bool scaled = true;  // by the normal force
  bool hu = false;     // the slip's direction is not that of the normal cone
  bool slips = false;
  // Slips in name only: its force is on the boundary, but others keep it at rest. The boundary is
  // that of mu_s; a box on an incline would else lose its corners' friction one by one.
  bool pinned = false;
  bool moving = false;  // slips faster than rounding: the end of a slip that has just begun is none
  Vec2 direction = Vec2::UnitX();  // of the slip, unit; what a slip starts with where gamma_T = 0
  // A slip of two rows that has begun and is slower than this along `direction` [m/s]; 0: it has
  // got going. See started_slip.
  double start = 0;
  bool operator==(const FrictionSet&) const = default;
};

struct Element {
  enum class Kind : unsigned char { bilateral, normal, friction };
  Kind kind = Kind::friction;
  int slot = -1;   // of Model::slots, or
  ContactKey key;  // a contact of these shapes
  int law = -1;    // and its law
  int rows = 1;
  double compliance = 0;  // 1 / armature of a cut coordinate [1/kg]
  double restitution = 0;
  bool closed = false;  // of a normal
  bool touches = true;  // at the event at hand: of a slot that is open it may not be so
  // Which inertial axis T1 follows where friction is the same in all directions; 3: as the law
  // says. The axes of a rolling body would turn over.
  int tangent_axis = 3;
  bool position = false;  // kept at position level: not so edges and scales
  int sets = 0;
  std::array<FrictionSet, 3> set;
  // Of a contact on shapes with friction maps, a and b: the piece of each that it is on.
  std::array<FrictionPatch, 2> patch;

  [[nodiscard]] bool is_contact() const { return slot < 0; }
  // Whether the element's rows are there at all.
  [[nodiscard]] bool present() const { return kind != Kind::normal || closed; }
  // Whether a row's force is an unknown that keeps its velocity.
  [[nodiscard]] bool keeps(int row) const;
  [[nodiscard]] Place place() const;
};

[[nodiscard]] Status status_of(const Element& element);

// Where a motor is in the play behind it: between the flanks, or with the joint behind the upper
// (r - x > b/2) or the lower one, which pushes, or would pull and does not.
enum class Flank : unsigned char { none, upper, upper_idle, lower, lower_idle };
[[nodiscard]] std::vector<Flank> no_flanks(const Actuation& actuation);  // none reached
// +1, -1, or 0 between them.
[[nodiscard]] int side_of(Flank flank);
[[nodiscard]] inline bool pushes(Flank flank) {
  return flank == Flank::upper || flank == Flank::lower;
}

struct EventMode {
  std::vector<Element> elements;  // of slots in their order, then contacts sorted by key
  std::vector<Flank> flanks;      // of each motor; empty: no motor has any play
};

// The element of a contact, or null.
[[nodiscard]] const Element* find_contact(const EventMode& mode, const ContactKey& key);

// The force of a slipping set, per unit of normal force where it is scaled, for a slip velocity u
// (1 or 2 rows used); u = 0 is not allowed. Of mu_d; all else here is of mu_s.
[[nodiscard]] Vec2 slip_force(const FrictionSet& set, const Vec2& u);
// The slip velocity that gives a set's force its direction. Of a slip that has only begun, friction
// across it is infinitely stiff: a force mu N u_across/|u| with |u| = 0. Until it has got to the
// speed s.start that stiffness is taken to be the one there, mu N u_across/s.start. It is
// continuous there, and what it changes is a velocity across of at most s.start times the angle by
// which the slip turns in so short a time.
[[nodiscard]] Vec2 started_slip(const FrictionSet& set, const Vec2& u);
// How far inside the set a force is: 1 at its boundary, below 1 inside. For a set of radius zero
// any force is infinitely far out.
[[nodiscard]] double gauge(const FrictionSet& set, const Vec2& force);
// How much room a force has to the boundary of its set, in shares of `scale` (two rows under a
// given load: of the set).
[[nodiscard]] double set_margin(const FrictionSet& set, double normal, const Vec2& force,
                                double scale);
// The slip direction for which `force` lies on the boundary.
[[nodiscard]] Vec2 slip_direction(const FrictionSet& set, const Vec2& force);

// The set with `share` of its friction: what a friction map leaves.
[[nodiscard]] FrictionSet with_share(FrictionSet set, double share);
// The velocities (or forces) of a set's rows; `row` is the element's first.
[[nodiscard]] Vec2 set_velocity(const FrictionSet& set, const Vec& gamma, int row);
// The set-valued law of all of an element's rows, with static friction, and with that of its mode;
// `share` of it is left by friction maps.
[[nodiscard]] Law law_of_element(const Model& model, const Element& element, double share);
[[nodiscard]] Law law_in_mode(const Model& model, const Element& element, double share);

// All elements of the model's slots; contacts come as they touch.
[[nodiscard]] EventMode static_elements(const Model& model);
[[nodiscard]] Element contact_element(const Model& model, const ContactKey& key, int law,
                                      const Vec3& normal);

}  // namespace saltus
