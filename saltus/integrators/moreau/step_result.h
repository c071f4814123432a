// What a step found: all that recorders, metrics, sensors, the viewer and Python read after it. The
// event-driven integrator fills what it has of it too (events/event_step.h).
#pragma once
#include "saltus/contact/islands.h"
#include "saltus/integrators/impact_record.h"
#include "saltus/integrators/moreau/books.h"

namespace saltus {

struct StepResult {
  explicit StepResult(const Model& model);

  // Poses and twists at the end; before that, the kinematics of the stages.  <- Mechanics::place
  Workspace work;
  // Contacts, blocks, rows and impulses.  <- ContactFinder::find, assemble, store_impulses,
  // Stepper::keep_impulses
  Assembly assembly;
  Islands islands;                      // of the blocks  <- Stepper::form_islands
  std::vector<IslandProblem> problems;  // theirs: what they leave undetermined  <- form_islands
  // The first island that missed its tolerance, dense, if MoreauMidpoint::keep_failing asks for it;
  // -1: none.  <- Stepper::solve_islands
  IslandProblem failing;
  int failing_island = -1;
  double failing_tolerance = 0;       // that it missed [m/s]
  ImpactRecord record;                // of the last step that had an impact  <- record_impact
  std::vector<ImpactRecord> earlier;  // of its earlier pieces, the first `earlier_count`  <- step
  int earlier_count = 0;
  Vec motor_force;  // of each coordinate, mean over the step [N m] or [N]  <- Stepper::joint_work
  Vec drive;        // of each prescribed velocity, likewise  <- Stepper::drive_work

  // The state that a step ended in, and what is known of it: a step that begins elsewhere finds it
  // anew.  <- Stepper::finish
  struct End {
    double value = 0, kinetic = 0;  // mechanical and kinetic energy [J]
    Vec lengths;                    // of springs [m]
    std::vector<NetMomentum> net;   // of parts whose shape is given
    double t = 0;
    Vec q, v;
    std::vector<std::int32_t> turns;
    [[nodiscard]] bool is_of(const State& s) const {
      return t == s.t && q == s.q && v == s.v && turns == s.turns;
    }
  } end;
};

}  // namespace saltus
