// What a step computes on its way. Each field has one meaning and is filled in every step that
// reads it, by the stage (stepper.h) that is named: nothing here is reset by hand, nothing is kept
// for a later step.
#pragma once
#include <memory>
#include <optional>

#include "saltus/contact/compliant.h"
#include "saltus/contact/mechanics.h"
#include "saltus/contact/rod_touches.h"
#include "saltus/control/actuation.h"
#include "saltus/forces/joint_forces.h"
#include "saltus/impacts/impact.h"
#include "saltus/integrators/ledger.h"
#include "saltus/integrators/moreau/books.h"
#include "saltus/integrators/moreau/elements.h"
#include "saltus/integrators/moreau/projection.h"

namespace saltus {

// Of rods, over the velocities  <- rod_terms, rod_work
struct RodTerms {
  explicit RodTerms(const Model& model);
  Vec a_S, a_E;            // offsets of muscles at the start and the end; zero without
  Vec x_theta, change;     // q_theta - a_theta; change of q - a in the step
  std::vector<Mat> block;  // what v_E does to the impulse, by segments
  Vec rheology;            // its forces  <- rod_terms
  int no_stress = -1;      // a velocity of the rod whose rheology gave no number  <- rod_terms
};

// Fluids on bodies (fluid_stage.cpp).
struct FluidTerms {
  explicit FluidTerms(const Model& model);
  std::vector<int> bodies;        // that are in one
  std::vector<Mat6> gain;         // dt/2 K' of each body, its frame  <- factor_mass
  std::vector<Vec6> start, mean;  // twists: body frames  <- start; inertial axes  <- add_fluids
  std::vector<Vec6> wrench;       // impulses, inertial axes at the bodies' origins  <- add_fluids
  Vec gathered;                   // in the velocities  <- add_fluids
};

struct StepScratch {
  StepScratch(const Model& model, const SharedPlan& plan);

  ForestStorage forest;                // one of the two runs  <- Mechanics
  std::unique_ptr<PathStorage> paths;  // null where the model is none for it
  ContactFinder finder;
  RodTouches touches;

  // Of a step that may have to be taken again with places at which rods touch: how it begins, and
  // whether its places are given.  <- take_touching_step
  State untouched;
  Vec next_touches;
  bool touches_given = false;

  double whole_step = 0;  // of which a piece is taken [s]  <- step
  State begin;            // of a step that may have to be taken in pieces  <- step
  State start;            // of a step or piece with cuts, to begin with joints at rest  <- step
  Vec q_S, v_S;           // at the start  <- start
  Vec values_start;       // coordinate values there, where there are cuts  <- start
  Vec q_M;                // q_S (+) dt/2 v_S  <- start
  Vec q_W;                // with its loops closed: where terms are evaluated  <- start, close_loops
  RodTerms rods;
  FluidTerms fluids;
  ElementTerms elements;  // springs and drags  <- start, element_terms, mechanical_energy

  // Per coordinate.
  std::vector<MotorCommand> commands;                           // <- read_motors
  std::vector<std::unique_ptr<ControllerScratch>> controllers;  // <- add_controllers
  std::vector<CoordinateTerms> terms;                           // <- joint_terms
  std::vector<Impedance> passive;                               // <- joint_terms
  std::vector<MotorTerms> motor;                                // <- joint_terms

  // Explicit impulses on bodies, inertial axes at their origins, and whether there are any.
  // <- joint_terms, element_terms, compliant_forces
  std::vector<Vec6> wrenches;
  bool cut_impulses = false;
  CompliantTerms compliant;  // contacts with springs and dampers  <- compliant_forces
  Vec tau_user;              // <- user_forces
  Vec extra, start_impulse;  // gains on the diagonal, explicit impulses  <- load_gains
  Vec gathered;              // wrenches in the velocities  <- cut_impulses, drive_work

  Vec impulse;    // of all forces without rows  <- free_velocity
  Vec rate_jump;  // increments of prescribed rates  <- free_velocity
  Vec rhs;        // impulse less what the increments take  <- free_velocity
  Vec v_free;     // the velocity without impulses of rows  <- free_velocity
  // The fixed point of the mean velocity: the velocity, what it leads to and their difference, in
  // this round and in the last.  <- guess_mean, mean_found
  Vec mean, image, image_before, missing, missing_before, missing_change, change, v_before;
  double contraction = 0, mean_change = 0;
  int mean_rounds = 0;

  std::vector<Vec6> twists_S;         // of bodies, inertial axes at their origins  <- open_rows
  std::vector<ImpactReport> results;  // of the islands  <- solve_islands
  Vec v_E;                            // at the end  <- end_velocity, attenuate_velocity
  std::vector<Vec6> twists_E;         // of v_E before an attenuation  <- end_velocity

  std::vector<char> struck;         // islands where something closes with a jump  <- find_impacts
  std::vector<char> slowed_trees;   // of islands that are attenuated  <- attenuate_velocity
  std::vector<char> struck_trees;   // of islands that are struck  <- record_impact
  std::vector<Vec6> slowed_twists;  // after an attenuation  <- record_impact

  std::vector<Vec6> settled_twists;  // of the velocity whose joints are stilled  <- settle_joints
  Vec increment, applied;            // v_E - v_S; all impulses but the drives'  <- drive_work
  Vec v_mean;                        // (v_S + v_E)/2  <- external_work
  ProjectionWorkspace projection;    // <- keep_impulses, close_loops, finish
  BooksWork books;                   // <- finish, settle_books
};

}  // namespace saltus
