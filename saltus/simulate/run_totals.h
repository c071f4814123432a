// Figures of a whole run, and what it looks into beyond them: steps whose contacts contradict each
// other, and impulses that contacts do not determine.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

// Islands of more rows are not looked into: it is dense algebra.
inline constexpr int examined_rows = 600;

// Up to four different places of many.
struct PlaceList {
  std::int64_t count = 0;  // different ones
  std::array<Place, 4> first;
  Place last;
  void add(const Place& place);  // a contact's points are one place
};
// A checkpoint holds its bytes: with padding two runs of a scene would not be the same to the bit.
static_assert(sizeof(PlaceList) % alignof(double) == 0 &&
              sizeof(PlaceList) == sizeof(std::int64_t) + 5 * sizeof(Place));
[[nodiscard]] nlohmann::ordered_json names_of(const Model& model, const PlaceList& places);
// In a sentence.
[[nodiscard]] std::string text_of(const Model& model, const PlaceList& places);

// The first step found whose rows no velocity can meet (solvers/conflict.h).
struct NoSolution {
  double step = 0, time = 0;
  double miss = 0;  // [m/s]
  PlaceList at;     // none: no such step
};

// Steps at the output interval whose contacts do not determine their impulses
// (solvers/indeterminacy.h).
struct Undetermined {
  double examined = 0, found = 0, left_out = 0;  // steps; with an island that was left out
  double most = 0;                               // largest number of impulses a step leaves open
  double first_step = 0, first_time = 0;
  PlaceList at;  // of the first
};

// After the correction no contact may be deeper and no joint further open [m]; steps that are get
// counted and reported.
inline constexpr double penetration_allowed = 1e-6;

// Steps by the solver that finished them, of their hardest island; of the last that gave up before,
// how often and why.
struct SolverCounts {
  static constexpr std::array names{"none", "stick",  "warm start",    "sor",
                                    "jor",  "newton", "interior point"};
  static constexpr std::size_t reasons = gave_up_names.size();
  std::array<double, names.size()> finished{};
  std::array<std::array<double, reasons>, names.size()> gave_up{};
  void add(const SolveReport& r);
};
[[nodiscard]] nlohmann::ordered_json to_json(const SolverCounts& counts);

// Figures of the whole run; plain numbers, so that a checkpoint can hold them.
struct Totals {
  EnergyTerms ledger;
  double start_energy = 0;
  double iterations = 0, most_iterations = 0, unconverged = 0;
  double worst_residual = 0, worst_residual_time = 0, worst_residual_step = 0;
  double raw_penetration = 0, penetration = 0, raw_joint_gap = 0, joint_gap = 0;
  double sinking = 0;  // of compliant contacts
  double impacts = 0, least_share = 1;
  double gains = 0;                              // impacts whose law gained energy beyond its claim
  double most_gained = 0, most_gained_time = 0;  // share of the kinetic energy before
  double fallbacks = 0;                          // impacts whose law failed
  double worst_error = 0, worst_error_time = 0;  // of a step: energy that no force accounts for [J]
  double events = 0, mode_changes = 0;
  Place worst_residual_place;
  double open_joints = 0;   // steps
  double energy_error = 0;  // of the scheme, the correction and the joints' rows [J]
  double redundant = 0;     // most redundant joint rows of a step
  double penetrating = 0, deepest_time = 0;
  Place deepest;
  double pieced = 0, most_pieces = 1;  // steps that were taken in pieces
  double unsettled = 0;                // steps whose mean velocity was not found
  double paid = 0;                     // by velocities, for what steps would have gained [J]
  SolverCounts solvers;
  NoSolution no_solution;
  Undetermined undetermined;

  // Whether their places are the model's; not, where a checkpoint is damaged.
  [[nodiscard]] bool are_of(const Model& model) const;
  void add(const ImpactRecord& r);
  void add(const State& s, const StepReport& r) {
    ledger.add_work(r.energy);
    energy_error += r.energy_error();
    if (std::abs(r.energy_error()) > std::abs(worst_error)) {
      worst_error = r.energy_error();
      worst_error_time = s.t;
    }
    iterations += r.solve().iterations;
    most_iterations = std::max(most_iterations, static_cast<double>(r.solve().iterations));
    unconverged += !r.solve().converged;
    solvers.add(r.solve());
    if (r.solve().residual > worst_residual) {
      worst_residual = r.solve().residual;
      worst_residual_time = s.t;
      worst_residual_step = static_cast<double>(s.step);
      worst_residual_place = r.worst;
    }
    raw_penetration = std::max(raw_penetration, r.projection.raw_penetration);
    penetrating += r.projection.penetration > penetration_allowed;
    open_joints += r.projection.joint_gap > penetration_allowed;
    if (r.projection.penetration > penetration) {
      penetration = r.projection.penetration;
      deepest_time = s.t;
      deepest = r.projection.deepest;
    }
    sinking = std::max(sinking, r.sinking);
    raw_joint_gap = std::max(raw_joint_gap, r.projection.raw_joint_gap);
    joint_gap = std::max(joint_gap, r.projection.joint_gap);
    redundant = std::max(redundant, static_cast<double>(r.solve().redundant));
    least_share = std::min(least_share, r.impact.s);
    pieced += r.pieces > 1;
    most_pieces = std::max(most_pieces, static_cast<double>(r.pieces));
    unsettled += r.mean_missed > 0;
    paid += r.paid;
  }
};
static_assert(std::is_trivially_copyable_v<Totals>);

// Whether the island in StepResult::failing has a solution at all.
[[nodiscard]] NoSolution look_for_solution(const StepResult& step, double tolerance,
                                           const State& state);
// Counts the impulses that the contacts of the last step leave open; dense islands only. While the
// same contacts act in the same modes the number is that of the step looked at before.
class UndeterminedCounter {
 public:
  // Returns how many.
  int look(const StepResult& step, const State& state, Undetermined& all);

 private:
  [[nodiscard]] bool same_as_before(const State& state) const;
  void count(const StepResult& step, bool name, Undetermined& all);
  std::vector<ContactImpulse> contacts_;  // of the step that was counted
  std::vector<unsigned char> mode_;
  int open_ = -1;
  bool left_out_ = false;
};

}  // namespace saltus
