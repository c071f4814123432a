// One step, stage by stage; internal to the integrator. step() calls the stages in order.
#pragma once
#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

struct Instants {
  double S, M, E;
};

// The first velocity that is not finite or beyond all measure, or -1.
[[nodiscard]] int first_diverged(const Model& model, VecIn v, double dt);

// The contact of a key in a list that is sorted by key, or null.
[[nodiscard]] const Contact* find_contact(const std::vector<Contact>& sorted,
                                          const ContactKey& key);

struct Stepper {
  const Model& m;
  const Actuation& act;
  State& s;
  StepWorkspace& w;
  const MoreauMidpoint& o;
  Instants t;
  Mechanics mech;

  [[nodiscard]] int coordinate_count() const { return static_cast<int>(m.coordinates.size()); }

  // smooth_terms.cpp
  void place_prescribed(VecRef q, double at) const;
  void start_rates();
  void close_loops();
  void start();
  void read_motors();
  void control_legs(int memory);
  void add_impulse(int c, double impulse);
  void joint_terms();
  void element_terms();
  void load_gains();
  void cut_impulses();
  void user_forces();
  void free_velocity(VecIn v_mean);
  [[nodiscard]] bool settled(double tolerance, double& last) const;
  void open_rows();
  void smooth_velocity();

  // compliant_stage.cpp
  [[nodiscard]] double stored_energy();
  void compliant_forces();
  void keep_compliant();
  void compliant_work(EnergyTerms& e) const;

  // contact_stage.cpp
  void form_islands();
  [[nodiscard]] int cut_rows(const Island& island) const;
  void consistent_joints(const Island& island, IslandProblem& problem);
  void smooth_velocity_of_joints();
  void solve_islands(StepReport& report);
  void retry_dense(int i);
  void keep_failing(int i);
  static void merge(ImpactReport& all, const ImpactReport& one);
  void end_velocity();
  [[nodiscard]] double limited_impulse(int coordinate) const;
  [[nodiscard]] bool motors_within();
  [[nodiscard]] bool slip_ends(int block) const;
  void capture(StepReport& report);
  [[nodiscard]] double resting_speed() const;
  void keep_impulses();

  // step_impact.cpp
  [[nodiscard]] bool closes(int block) const;
  [[nodiscard]] bool gaining_impact() const;
  void find_impacts(StepReport& report);
  void attenuate_velocity(EnergyTerms& e);
  void record_impact(EnergyTerms& e);

  // end_of_step.cpp
  void block_work(StepReport& report);
  [[nodiscard]] double cut_rate(int c) const;
  void joint_work(EnergyTerms& e);
  void drive_work(EnergyTerms& e);
  void external_work(EnergyTerms& e);
  void mechanical_energy(EnergyTerms& e);
  void let_go();
  void finish(StepReport& report);
};

}  // namespace saltus
