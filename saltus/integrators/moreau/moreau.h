// Moreau's midpoint scheme on the configuration group (P0 eq. 54-63, P2 eq. 6-8):
//
//   q_M = q_S (+) dt/2 v_S
//   M(q_M) (v_E - v_S) = dt h(q_M, (v_S + v_E)/2) + W(q_M) Lambda,   Lambda by the laws
//   q_E = q_M (+) dt/2 v_E,  then drift is removed at position level.
//
// Stiff joint terms enter linearly implicitly; gyroscopic and Coriolis terms are taken at the mean
// velocity of the contact-free step (a fixed point), or a tumbling body would gain energy.
#pragma once
#include "saltus/integrators/moreau/step_result.h"
#include "saltus/integrators/moreau/step_scratch.h"
#include "saltus/solvers/solve.h"

namespace saltus {

struct MoreauMidpoint {
  static constexpr std::string_view name = "moreau";
  double dt = 1e-3;  // [s]
  Solver solver = AutoSolver{};
  ImpactLaw impact = CappedImpact{};
  MotorScheme motors = MotorScheme::midpoint;
  Projection projection = Projection::mass;
  // How the mechanism is kept (contact/mechanics.h); automatic: paths where the model is one for
  // them. `paths` for another model is refused by check_storage.
  Storage storage = Storage::automatic;
  int threads = 1;  // islands and contact points side by side; the bits do not depend on it
  // Twists of the bodies in StepResult::work at the end; who reads states can do without.
  bool poses = true;
  int keep_failing = 0;  // StepResult::failing, of islands of at most this many rows
};

// An impact of time stepping is a step in which a contact or limit closes: one that has restitution
// or carried no impulse in the step before, takes an impulse now and approached by more than this
// share of the model's length (or so many rad) in the time of a step. Slower is what rounding and
// the solver's tolerance do to a contact at rest.
inline constexpr double impact_approach = 1e-9;

// A step has diverged when a velocity is not finite, when a body moves at this speed [m/s], or
// when it turns by more than half a turn in the step: then its rotation is no longer resolved.
inline constexpr double divergence_speed = 1e7;

struct StepReport {
  ImpactReport impact;
  ProjectionReport projection;
  EnergyTerms energy;
  double cut_work = 0;     // of the rows of cuts, within energy.joints; none in exact motion [J]
  double mean_missed = 0;  // by how much v_E is not that of its mean velocity: no contraction [m/s]
  double paid = 0;         // by velocities for what the step would have gained (books.h) [J]
  double owed = 0;         // what they could not pay [J]
  int pieces = 1;          // that the step was taken in
  int repeated = 0;        // with places added at which rods were too deep (contact/rod_touches.h)
  bool singular = false;   // the mass matrix has no inverse
  bool diverged = false;   // see divergence_speed
  bool no_stress = false;  // because a rod's rheology gave no finite number
  bool struck = false;     // StepResult::record holds an impact of this step
  int culprit = -1;        // the velocity that diverged
  Place worst;             // where the largest residual is
  int islands = 0, contacts = 0;      // of the step
  Storage storage = Storage::forest;  // that ran
  double sinking = 0;                 // deepest compliant contact at the end [m]
  [[nodiscard]] const SolveReport& solve() const { return impact.solve; }
  // Energy that no force accounts for [J]: of the scheme, the correction and the rows of cuts.
  [[nodiscard]] double energy_error() const {
    return energy.integrator + energy.correction + cut_work;
  }
};

// Everything a step computes; sized once. A new one for each step gives the same motion.
struct StepWorkspace {
  explicit StepWorkspace(const Model& model) : result(model), scratch(model, result.work.plan) {}
  StepResult result;
  StepScratch scratch;
};

// What time stepping does not know of a model, in one place for scenes, C++ and Python: throws
// InputError. `path` is the options' place in the input, with a dot behind it, or empty.
void check_options(const MoreauMidpoint& options, const Model& model, const std::string& path);

// The storage that runs with these options.
[[nodiscard]] Storage storage_of(const MoreauMidpoint& options, const Model& model);

// One step. On divergence or a singular mass matrix the state is left as it was.
[[nodiscard]] StepReport step(const Model& model, const Actuation& actuation, State& state,
                              StepWorkspace& work, const MoreauMidpoint& options);

// Puts prescribed coordinates and their rates of a start state on their motion.
void impose_prescribed(const Model& model, const Actuation& actuation, State& state);

}  // namespace saltus
