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
  StepResult& out;
  StepScratch& w;
  const MoreauMidpoint& o;
  Instants t;
  Mechanics mech;
  double earlier_gain = 0;  // of the pieces of the step before this one [J]

  [[nodiscard]] int coordinate_count() const { return static_cast<int>(m.coordinates.size()); }

  // smooth_terms.cpp
  void place_prescribed(VecRef q, double at) const;
  void start_rates();
  void close_loops();
  void start();
  void read_motors();
  void add_controllers(int memory);
  void add_impulse(int c, double impulse);
  void joint_terms();
  void element_terms();
  void load_gains();
  void cut_impulses();
  void user_forces();
  void free_velocity(VecIn v_mean);
  void open_rows();
  void guess_mean();
  [[nodiscard]] bool mean_found(StepReport& report);

  // rod_terms.cpp
  void choose_touches();
  [[nodiscard]] bool touches_missing(Vec& touches, double& deepest);
  void rod_blocks();
  void rod_terms();
  void rod_work(EnergyTerms& e);
  [[nodiscard]] int first_squeezed() const;

  // compliant_stage.cpp
  [[nodiscard]] double stored_energy();
  void compliant_forces();
  void keep_compliant();
  void compliant_work(EnergyTerms& e) const;

  // fluid_stage.cpp
  void start_fluids();
  [[nodiscard]] bool factor_mass(int& culprit);
  void add_fluids(VecIn v_mean, Vec& impulse);
  void fluid_work(EnergyTerms& e);

  // contact_stage.cpp
  void form_islands();
  [[nodiscard]] int cut_rows(const Island& island) const;
  void consistent_joints(const Island& island, IslandProblem& problem);
  void consistent_joints();
  void renew_islands();
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
  void keep_claim(int island);
  void attenuate_velocity(EnergyTerms& e);
  void record_impact(EnergyTerms& e);

  // books.cpp
  void kinetic_of_parts(VecIn v, std::vector<double>& T);
  void find_held(const StepReport& report);
  void motion_of_parts(VecIn v, std::vector<PartMotion>& parts);
  void add_rigid(int part, const PartMotion& at, const Vec3& linear, const Vec3& angular,
                 VecRef v) const;
  void restore_momentum();
  void net_momenta(std::vector<NetMomentum>& parts) const;
  [[nodiscard]] bool keeps_momentum(int part) const;
  void keep_momentum(const StepReport& report);
  void split_velocity();
  void share_defect(double e);
  [[nodiscard]] double keeps(double T) const;
  void pay(double e, double T, const StepReport& report);
  [[nodiscard]] bool touches(const StepReport& report) const;
  void find_episode(const EnergyTerms& e, const StepReport& report);
  [[nodiscard]] bool began_inside();
  void settle_books(StepReport& report);

  // end_of_step.cpp
  void block_work(StepReport& report);
  [[nodiscard]] double cut_rate(int c) const;
  void joint_work(EnergyTerms& e);
  void drive_work(EnergyTerms& e);
  void external_work(EnergyTerms& e);
  void mechanical_energy(EnergyTerms& e);
  void let_go();
  [[nodiscard]] double settle_joints();
  void finish(StepReport& report);
};

}  // namespace saltus
