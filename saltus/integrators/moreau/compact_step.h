// The step of a small tree on what does not move, in its lean form: the same scheme, laws and
// correction as the general one (stepper.h), on packed data (CompactTree, CompactContacts).
//
// It takes the steps in which nothing happens beyond smooth motion and contacts that persist or
// close without rebound. It finds out before it changes the state: an impact with restitution or
// one among several trees, a joint at its limit, a motor at its torque limit, impulses that its few
// sweeps do not find, and the general step is taken instead. What the state holds decides, so a run
// is the same after a restart.
#pragma once
#include "saltus/contact/compact_contacts.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

class CompactStep {
 public:
  explicit CompactStep(const Model& model) : tree_(model), contacts_(model, tree_) {
    const auto n = static_cast<Eigen::Index>(model.nv);
    for (Vec* x : {&diagonal_, &mean_, &y_, &image_, &image_before_, &missing_, &missing_before_})
      x->setZero(n);
    x_.setZero(contacts_.Lambda.size());
    gap_.setZero(contacts_.Lambda.size());
  }
  [[nodiscard]] static bool holds(const Model& model);

  // One step, or false with the state as it was. `called`: the user's forces of the step are known.
  [[nodiscard]] bool take(Stepper& step, StepReport& report, bool& called);

 private:
  [[nodiscard]] static bool serves(const Stepper& k);
  void known_energy(Stepper& k);
  [[nodiscard]] bool joints(Stepper& k);
  void user_forces(Stepper& k, bool& called);
  void smooth_velocity(Stepper& k);
  void free_velocity(Stepper& k, const Vec& mean);
  [[nodiscard]] bool within_limits(const Stepper& k) const;
  void keep_impulses(Stepper& k, EnergyTerms& e);
  [[nodiscard]] bool strikes() const;
  [[nodiscard]] bool struck() const;
  void record_impact(Stepper& k, StepReport& report);
  void motors_within(Stepper& k, EnergyTerms& e) const;
  void external_work(Stepper& k, EnergyTerms& e);
  void mechanical_energy(Stepper& k, EnergyTerms& e);
  [[nodiscard]] double potential_energy(const Stepper& k) const;
  // How far the contacts at the end, and limits, are from where they should be, over the target.
  struct Excess {
    double all = 0;          // of held contacts and penetrations [m]
    double penetration = 0;  // [m]
    bool new_ones = false;   // contacts that are not held penetrate
    bool limits = false;     // a joint is beyond its limit
    Place deepest;
  };
  [[nodiscard]] Excess measure(const Stepper& k);
  void project(Stepper& k, StepReport& report);
  [[nodiscard]] bool correct(Stepper& k, Excess& now, ProjectionReport& report);
  [[nodiscard]] bool exact_metric(const Stepper& k);
  [[nodiscard]] bool hold_new_ones(Stepper& k);
  [[nodiscard]] bool held_gaps();
  void closing_move(Vec& y);
  [[nodiscard]] bool pulls(double gap) const;

  CompactTree tree_;
  CompactContacts contacts_;
  std::vector<Contact> end_;  // contacts at the end of the step
  std::vector<int> held_;     // rows that the correction holds
  struct HeldNormal {         // the first of a contact's rows among them
    ContactKey key;
    int row, link;
    double sign;
    double push = 0;  // of the correction
  };
  std::vector<HeldNormal> held_normals_;
  int first_new_ = 0;  // of held_normals_: those that the correction only pushes
  struct Normal {      // the row of a held contact at the end
    int row, link;
    Vec3 point, direction;
  };
  std::vector<Normal> normals_;
  Vec diagonal_, mean_, y_;  // velocities
  Vec image_, image_before_, missing_, missing_before_;
  Vec x_, gap_;  // rows
};

}  // namespace saltus
