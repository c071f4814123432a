// Moreau's midpoint scheme on the configuration group (P0 eq. 54-63, P2 eq. 6-8):
//
//   q_M = q_S (+) dt/2 v_S
//   M(q_M) (v_E - v_S) = dt h(q_M, (v_S + v_E)/2) + W(q_M) Lambda,   Lambda by the laws
//   q_E = q_M (+) dt/2 v_E,  then drift is removed at position level.
//
// Stiff joint terms enter linearly implicitly; gyroscopic and Coriolis terms are taken at the mean
// velocity of the contact-free step (a fixed point), or a tumbling body would gain energy.
#pragma once
#include <memory>

#include "saltus/contact/assembly.h"
#include "saltus/contact/compliant.h"
#include "saltus/contact/mechanics.h"
#include "saltus/control/actuation.h"
#include "saltus/forces/joint_forces.h"
#include "saltus/impacts/impact.h"
#include "saltus/integrators/ledger.h"
#include "saltus/integrators/moreau/elements.h"
#include "saltus/integrators/moreau/projection.h"
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
  // Twists of the bodies in StepWorkspace::work at the end; who reads states can do without.
  bool poses = true;
  int keep_failing = 0;  // StepWorkspace::failing, of islands of at most this many rows
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
  double cut_work = 0;    // of the rows of cuts, within energy.joints; none in exact motion [J]
  bool singular = false;  // the mass matrix has no inverse
  bool diverged = false;  // see divergence_speed
  bool struck = false;    // StepWorkspace::record holds an impact of this step
  int culprit = -1;       // the velocity that diverged
  Place worst;            // where the largest residual is
  int islands = 0, contacts = 0;      // of the step
  Storage storage = Storage::forest;  // that ran
  double sinking = 0;                 // deepest compliant contact at the end [m]
  [[nodiscard]] const SolveReport& solve() const { return impact.solve; }
  // Energy that no force accounts for [J]: of the scheme, the correction and the rows of cuts.
  [[nodiscard]] double energy_error() const {
    return energy.integrator + energy.correction + cut_work;
  }
};

// Everything a step computes; sized once.
struct StepWorkspace {
  explicit StepWorkspace(const Model& model);

  Workspace work;                      // kinematics, at the mid-point, then at the end
  ForestStorage forest;                // one of the two runs
  std::unique_ptr<PathStorage> paths;  // null where the model is none for it
  ContactFinder finder;
  Assembly assembly;  // the rows of the step
  Islands islands;
  std::vector<IslandProblem> problems;  // of the islands
  std::vector<ImpactReport> results;    // and how they were solved
  IslandProblem failing;  // the first island that missed its tolerance, dense; if asked for
  int failing_island = -1;
  std::vector<char> struck;        // islands in which something closes with a jump of velocity
  std::vector<char> struck_trees;  // and their trees
  ImpactRecord record;             // of the last step that had one
  ProjectionWorkspace projection;
  std::vector<CoordinateTerms> terms;  // per coordinate
  std::vector<MotorCommand> commands;  // per coordinate
  std::vector<Impedance> passive;
  std::vector<MotorTerms> motor;
  std::vector<Vec6> twists, wrenches;  // of bodies, inertial axes at their origins
  std::vector<Vec6> end_twists;        // after an attenuation
  bool cut_impulses = false;           // wrenches hold explicit impulses of cut coordinates
  ElementTerms elements;               // runners, springs and drags
  CompliantTerms compliant;            // contacts with springs and dampers
  Vec values_start;                    // coordinate values at the start of the step
  Vec q_M;                             // q_S (+) dt/2 v_S
  Vec q_W;  // the same with its loops closed: where the terms of the step are evaluated
  Vec v_S, v_E, v_free, v_before, extra, impulse, start_impulse, tau_user, rhs;
  // Of the fixed point of the smooth terms: its mean velocity, what that leads to, and their
  // difference, in this round and in the last.
  Vec mean, image, image_before, missing, missing_before, change;
  Vec drive;        // force of each prescribed velocity over the step [N m] or [N]
  Vec motor_force;  // of each coordinate, mean over the step [N m] or [N]
  std::optional<LocomotionWork> locomotion;  // scratch of the controller
  // The mechanical energy at the end of the last step, and of which state it is: a step that begins
  // elsewhere finds it anew.
  struct KnownEnergy {
    double value = 0, t = 0;
    Vec q, v;
    std::vector<std::int32_t> turns;
    [[nodiscard]] bool is_of(const State& s) const {
      return t == s.t && q == s.q && v == s.v && turns == s.turns;
    }
  } energy;
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
