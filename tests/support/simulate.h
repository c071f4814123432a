// Small helpers for tests that step a model: a simulation in a struct, and figures printed beside
// their references.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

namespace saltus::test {

struct Simulation {
  Model model;
  Actuation actuation;
  State state;
  StepWorkspace work;
  MoreauMidpoint options;
  EnergyTerms ledger;

  explicit Simulation(const ModelBuilder& builder, double dt = 1e-3)
      : model(builder.build()), state(make_state(model)), work(model) {
    options.dt = dt;
  }
  StepReport step() {
    const StepReport r = saltus::step(model, actuation, state, work, options);
    EXPECT_TRUE(r.solve().converged) << "t = " << state.t << ", residual " << r.solve().residual;
    EXPECT_FALSE(r.diverged || r.singular) << "t = " << state.t;
    ledger.add_work(r.energy);
    return r;
  }
  void run_until(double t, const std::function<void()>& each = {}) {
    const auto steps = std::llround(t / options.dt);
    while (state.step < steps) {
      (void)step();
      if (each) each();
      if (::testing::Test::HasFailure()) return;
    }
  }
  [[nodiscard]] const SE3& pose(const std::string& body) const {
    return work.result.work.X[model.body(body)];
  }
};

// Prints "what: value (reference, difference, tolerance)" and checks it.
inline void expect_figure(const std::string& what, double value, double reference,
                          double tolerance) {
  fmt::print("    {:<52} {:>17.10g}  reference {:>17.10g}  off {:.1e} of {:.1e}\n", what, value,
             reference, std::abs(value - reference), tolerance);
  EXPECT_NEAR(value, reference, tolerance) << what;
}

inline RigidInertia box_inertia(double mass, const Vec3& size) {
  return {mass, Vec3::Zero(), solid_box(mass, size)};
}
inline RigidInertia ball_inertia(double mass, double radius) {
  return {mass, Vec3::Zero(), solid_sphere(mass, radius)};
}
inline JointSpec joint(Joint kind, const std::string& parent = "world") {
  JointSpec j;
  j.kind = kind;
  j.parent = parent;
  return j;
}

}  // namespace saltus::test
