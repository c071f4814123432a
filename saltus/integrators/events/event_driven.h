// The event-driven integrator: exact in time (DESIGN section 5).
//
// Between events the motion of one mode (event_dynamics.h) is integrated by a Runge-Kutta method of
// order 8 in exponential coordinates about the start of the step, or by collocation where that is
// stiff; kept rows are put to rest and kept gaps closed after each. Guards (gaps, normal forces,
// forces of sticking sets, slip velocities) are watched on the dense output; the first zero is
// polished by stepping to it again. There all simultaneous changes are resolved together
// (event_decide.cpp): impacts by the scene's law, then the mode problem at acceleration level,
// then, where forces and accelerations both vanish, by what they do a moment later
// (docs/events.md).
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/impacts/impact.h"
#include "saltus/integrators/events/collocation.h"
#include "saltus/integrators/events/event_bands.h"
#include "saltus/integrators/events/event_dynamics.h"
#include "saltus/integrators/events/runge_kutta.h"
#include "saltus/integrators/ledger.h"
#include "saltus/integrators/mode_change.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/integrators/moreau/projection.h"

namespace saltus {

// Slips in two directions that begin have this share of the speed of a fall over a length scale to
// find their direction (started_slip).
inline constexpr double slip_start = 1e-7;

struct EventDriven {
  static constexpr std::string_view name = "event-driven";
  double dt = 1e-3;          // between landings [s]
  double tolerance = 1e-12;  // of a step, relative to lengths, angles and velocities
  ImpactLaw impact = CappedImpact{};
  int max_events = 100000;  // between two landings
};

struct EventReport {
  int steps = 0, rejected = 0, events = 0, impacts = 0;
  double least_share = 1;
  double drift = 0;      // largest rate of a kept row before it was put to rest [m/s]
  double gap_drift = 0;  // largest gap of a kept contact or joint before it was closed [m]
  double stepped = 0;    // time that time stepping went over: chatter, no mode lasts [s]
  EnergyTerms energy;    // of the whole advance
  std::string failure;   // empty, or what went wrong, with time and places
};

// Magnitudes by which guards are judged; renewed at every event.
struct EventScales {
  double length = 1;        // [m]
  double velocity = 1;      // [m/s]
  double acceleration = 1;  // [m/s^2]
  double force = 1;         // [N]
  [[nodiscard]] double time() const { return velocity / acceleration; }
};

class EventIntegrator {
 public:
  // Throws InputError (check_supported of integrator.h).
  EventIntegrator(const Model& model, const Actuation& actuation, const EventDriven& options);

  // Integrates to t_end and lands there. All that it depends on is in the state (State::events;
  // empty: it begins). `dt` turns forces into the impulses that State keeps. On failure the state
  // is as it was. Throws InputError where State::events is of another model.
  [[nodiscard]] EventReport advance(State& state, double t_end, double dt);

  // Changes since they were last taken.
  [[nodiscard]] std::vector<ModeChange> take_changes();
  [[nodiscard]] const EventMode& mode() const { return mode_; }
  // The instant of the state that advance() left: forces, contacts, kinematics.
  [[nodiscard]] const Evaluation& now() const { return now_; }
  [[nodiscard]] const ModeDynamics& dynamics() const { return dynamics_; }

 private:
  enum class GuardKind : unsigned char { gap, force, stick, slip, map, flank };
  struct Guard {
    GuardKind kind;
    int element = -1, set = -1;  // of the mode (flank: of the motors); open contacts: -1 and
    ContactKey key;              // their key
    double value = 0;            // positive: as it should be
    double band = 0;             // values within it are zero
    int place = -1;              // in the list of guards; not of open contacts
    [[nodiscard]] bool same(const Guard& o) const {
      return kind == o.kind && element == o.element && set == o.set && key == o.key;
    }
  };
  struct Instant {  // a state and what the mode makes of it
    double t = 0;
    Vec q, v;
    std::vector<std::int32_t> turns;
    Vec lagged;  // torques of the motors that lag
  };
  struct Bracket {  // a guard is above `level` at low and not at high
    Guard guard;
    double level = 0, low = 0, high = 0;
  };
  struct Chatter {  // work in a window of time, event_bridge.cpp
    double since = -infinity, work = 0;
  };
  struct Crossing {
    double t = 0;
    Guard guard;
    double level = 0;  // of the guard at the crossing
  };

  // event_driven.cpp
  void forget();
  void take(const State& state);
  bool derivative(double t, const Vec& y, Vec& dy);
  // A step of size h from here in mode_, by the method that is at work; what it gives.
  bool smooth_step(const Vec& y, double h);
  [[nodiscard]] const Vec& reached() const { return stiff_ ? collocation_.next() : rk_.next(); }
  void interpolate(double t, Vec& y) const;
  bool short_step(const Vec& y, double h, Vec& end);
  void choose_method();
  void set_nudge();
  void pack(Vec& y) const;
  void unpack(const Vec& y, Instant& out) const;
  bool evaluate(const Instant& at, const EventMode& mode, Evaluation& out);
  bool free_motion(const EventMode& mode, Evaluation& out);
  void choose_pieces(EventMode& mode);
  void set_tolerances();
  [[nodiscard]] double propose(double end) const;
  // One step, to `end` at most and to an event if there is one.
  bool integrate(double end, EventReport& report);
  bool accept(const Vec& y, double t, EventReport& report);
  bool stabilise(EventReport& report);
  void note_slips();
  void store(State& state, double dt);
  bool fail(EventReport& report, const std::string& what) const;
  [[nodiscard]] double next_drive_event(double t) const;
  [[nodiscard]] double mechanical_energy(double signals_at);

  // event_memory.cpp
  void recall(const Vec& memory);
  void remember(Vec& memory);

  // event_guards.cpp
  bool guards_at(const Instant& at, std::vector<Guard>& out);
  void corners_at(const Instant& at, std::vector<Guard>& out);
  bool guards_on_step(double t, std::vector<Guard>& out);
  [[nodiscard]] std::optional<Crossing> first_crossing(double t, double t_next);
  [[nodiscard]] std::optional<Bracket> bracket(const Guard& like);
  [[nodiscard]] Crossing first_zero(std::vector<Bracket>& all);
  [[nodiscard]] double value_on_step(const Guard& guard, double t);
  [[nodiscard]] bool polish(Crossing& crossing, double& t, Vec& y);
  [[nodiscard]] bool was_positive(const Guard& guard) const;
  [[nodiscard]] static const Guard* find(const std::vector<Guard>& list, const Guard& like);
  bool take_event(Crossing crossing, EventReport& report);

  // event_impact.cpp
  bool impose_drives(std::string& why);
  bool admissible_start(const EventMode& trial, std::string& why);
  bool settle_velocities(EventMode& trial, ModeChange& change, std::string& why);
  bool impact(const EventMode& trial, ModeChange& change, std::string& why);
  bool jump_out(const EventMode& trial, ModeChange& change, std::string& why);
  void pose_impact(const EventMode& trial);
  void apply_impact(const Vec& v_free, ModeChange& change);
  bool let_slide(const Island& island, const IslandProblem& solved);
  void begin_record(const Vec& v_before, ImpactRecord& record);
  double drive_work(const Vec& v_before, const Vec& v_after);
  void pass_accumulation(EventMode& trial, ModeChange& change);
  [[nodiscard]] std::string places_of(const Island& island) const;

  // event_bridge.cpp
  [[nodiscard]] double fall_time() const;
  void note_work(int events, int steps);
  void note_step(int tries);
  [[nodiscard]] double chatters() const;
  void take_mode_of(const State& state);
  bool step_over(double end, EventReport& report);
  bool step_to_a_mode(const std::string& why, EventReport& report);
  bool pass_chatter(EventReport& report);
  void record_stretch(double from, const EventMode& before);

  // event_decide.cpp
  // False: no mode lasts, `why`; all that happened to the velocities is in the books.
  bool decide(std::vector<EventCause> causes, std::string& why, EventReport& report);
  bool resolve_event(std::vector<EventCause> causes, EventReport& report);
  EventMode touching();
  bool classify(EventMode& trial, std::string& why);
  bool rest(const EventMode& trial);
  bool solve_mode(EventMode& trial, std::string& why);
  void guess(Element& e, const Vec& force, const Vec& acceleration, double A) const;
  bool follow(double moment);
  bool unpin(EventMode& trial);
  bool settle_mode(EventMode& trial, std::string& why);
  bool explore(EventMode& trial, std::string& why);
  // Which statuses do not last: bit 0 the normal's, bit i + 1 set i's, per element.
  bool violations(const EventMode& trial, std::vector<unsigned char>& flips);
  void judge(const EventMode& trial, std::vector<unsigned char>& flips,
             std::vector<unsigned char>& settled);
  void flip(EventMode& trial, const std::vector<unsigned char>& flips) const;
  bool unkept(const EventMode& trial, std::vector<unsigned char>& flips);
  bool find_mode(EventMode& trial, std::string& why);
  bool enumerate(EventMode& trial, const std::vector<unsigned char>& ever, std::string& why);
  void renew_scales();
  static void enter_books(const ModeChange& change, EventReport& report);
  void record(ModeChange change, const EventMode& before);
  int take_rows(const Law& law, int block, double compliance);
  void partition();

  const Model& model_;
  const Actuation& actuation_;
  EventDriven options_;
  EventBands bands_;
  double slow_slip_ = 0;  // until then a slip has only begun, see started_slip [m/s]
  ModeDynamics dynamics_;
  ContactFinder finder_;
  ProjectionWorkspace projection_;
  Workspace work_;
  ForestStorage storage_;  // of corrections and jumps of drives
  Assembly problem_;
  Islands islands_;
  std::vector<IslandProblem> island_problems_;
  std::vector<ImpactReport> impact_reports_;  // of the islands of an impact
  std::vector<Element> impact_elements_;      // of the blocks of its problem
  std::vector<char> struck_;                  // trees that take part in it
  std::vector<Vec6> wrenches_;
  RungeKutta8 rk_;
  Derivative derivative_;

  EventMode mode_;
  Instant here_;  // the last accepted instant
  Evaluation now_, trial_evaluation_, sample_;
  EventScales scales_;
  double pace_ = infinity;    // last step's size [s]
  double flight_ = infinity;  // a contact that just left comes back after this [s]
  std::vector<ContactKey> leaving_;
  std::vector<double> impact_times_;
  std::array<Chatter, 2> chatter_;
  double chatter_end_ = -infinity, chatter_stretch_ = 0;  // the last one passed [s]
  double landing_ = 0;                                    // of this advance [s]
  bool inadmissible_ = false;  // decide() failed by velocities that no motion leads from
  std::unique_ptr<StepWorkspace> stepping_;  // made where it is needed
  std::vector<ModeChange> changes_;
  State energy_state_;

  // scratch
  std::string stuck_;  // why stabilise() refused
  Vec y_, scale_, impulse_, rates_, rates_here_;
  std::vector<double> memory_scratch_;
  std::vector<int> all_rows_;
  std::vector<std::array<Vec2, 3>> directions_;  // of sets that let go
  Instant stage_, probe_;
  std::vector<Contact> found_;
  std::vector<Guard> start_guards_, guard_scratch_;
  std::vector<double> sample_times_;
  std::vector<std::vector<Guard>> samples_;

  // stiff motions
  Collocation collocation_;
  bool stiff_ = false;   // it is at work
  int stiff_steps_ = 0;  // of the other method, one after the other
  Vec nudge_;
};

}  // namespace saltus
