// The integrators as one choice: each does by Integration what it does by itself, a closed form
// holds for all, and what one does not support is refused with its place.
#include "saltus/integrators/integrator.h"

#include "saltus/base/error.h"
#include "saltus/geometry/friction_map.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double J = 0.02;         // of the wheel [kg m^2]
constexpr double friction = 0.05;  // of its joint [N m]
constexpr double dt = 1e-2;

// About z, with dry friction: all three integrators know it.
Model wheel() {
  ModelBuilder b;
  JointSpec j = joint(Revolute{Vec3::UnitZ()});
  JointDof dof;
  dof.friction = friction;
  j.dofs = {dof};
  b.body("wheel", {1, Vec3::Zero(), J * Mat3::Identity()}, j);
  return b.build();
}

ModelBuilder ball_over_floor(const ContactLaw& law, const Surface& surface = {}) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1});
  b.shape("floor", "world", SE3{}, HalfSpace{}, surface);
  b.contact("floor", "ball", law);
  return b;
}

std::vector<Integrator> all() {
  MoreauMidpoint moreau;
  moreau.dt = dt;
  EventDriven events;
  events.dt = dt;
  return {moreau, events, Rk4Projection{dt}};
}

TEST(Integrator, SlidesAsTheClosedFormSays) {
  const Model model = wheel();
  const Actuation none;
  for (const Integrator& which : all()) {
    Integration run(model, none, which);
    StepWorkspace work(model);
    State s = make_state(model);
    s.v[0] = 3;
    for (int n = 1; n <= 100; ++n) {
      const AdvanceReport r = run.advance(s, work);
      ASSERT_EQ(r.failure, "") << integrator_name(which);
      EXPECT_EQ(s.step, n);
      EXPECT_NEAR(s.t, n * dt, 1e-14);
      // Constant torque: no scheme has an error but rounding, and 1e-12 of the event-driven's
      // steps.
      ASSERT_NEAR(s.v[0], 3 - friction / J * s.t, 1e-11) << integrator_name(which);
      ASSERT_NEAR(s.q[0], 3 * s.t - 0.5 * friction / J * s.t * s.t, 1e-11);
      EXPECT_NEAR(r.step.energy.kinetic, 0.5 * J * s.v[0] * s.v[0], 1e-12);
    }
    EXPECT_EQ(integrator_dt(which), dt);
    EXPECT_EQ(run.time_stepping() != nullptr, std::holds_alternative<MoreauMidpoint>(which));
  }
}

TEST(Integrator, IsTheIntegratorItselfToTheBit) {
  const Model model = wheel();
  const Actuation none;
  const std::vector<Integrator> which = all();
  StepWorkspace work(model), own(model);
  EventIntegrator events(model, none, std::get<EventDriven>(which[1]));
  Rk4Integrator rk4(model, none);
  for (std::size_t i = 0; i < which.size(); ++i) {
    Integration run(model, none, which[i]);
    State a = make_state(model), b = a;
    a.v[0] = b.v[0] = 1;
    for (int n = 1; n <= 60; ++n) {  // it stops at 0.4 s and sticks
      ASSERT_EQ(run.advance(a, work).failure, "");
      EnergyTerms energy;
      if (i == 0) (void)step(model, none, b, own, std::get<MoreauMidpoint>(which[0]));
      if (i == 1) {
        ASSERT_EQ(events.advance(b, n * dt, dt).failure, "");
        b.step = n;
      }
      if (i == 2) { ASSERT_TRUE(rk4.step(b, dt, energy)); }
      ASSERT_EQ(to_bytes(a), to_bytes(b)) << integrator_name(which[i]) << ", step " << n;
    }
    EXPECT_EQ(a.v[0], 0) << integrator_name(which[i]);
  }
}

// A ball that falls from 0.2 m over the floor and leaves it with half its speed: one impact within
// 0.25 s, the second at sqrt(2 h/g) (1 + 2 e) = 0.404 s.
TEST(Integrator, TellsImpactsAndModes) {
  ContactLaw law;
  law.restitution = 0.5;
  const Model model = ball_over_floor(law).build();
  const Actuation none;
  const std::vector<Integrator> which = all();
  for (const Integrator& w : {which[0], which[1]}) {
    Integration run(model, none, w);
    run.watch_modes(true);
    StepWorkspace work(model);
    State s = make_state(model);
    s.q[2] = 0.3;
    int impacts = 0, told = 0;
    while (s.t < 0.25) {
      ASSERT_EQ(run.advance(s, work).failure, "");
      for (const ModeChange& c : run.changes()) told += c.impact;
      for (const ImpactRecord* r : run.impacts()) {
        ++impacts;
        // T+ / T- = e^2; a time step has gravity in it too: g dt = 0.05 of the speed.
        const double slack = std::holds_alternative<MoreauMidpoint>(w) ? 2 * 0.05 * 0.25 : 1e-12;
        EXPECT_NEAR(r->kinetic_after / r->kinetic_before, 0.25, slack) << integrator_name(w);
      }
    }
    EXPECT_EQ(impacts, 1) << integrator_name(w);
    EXPECT_EQ(told, 1) << integrator_name(w);
  }
}

TEST(Integrator, AFailureLeavesTheState) {
  const Model model = wheel();
  Actuation actuation;
  actuation.user = [](const Model&, const Workspace&, double, VecIn, VecIn, VecRef tau,
                      std::vector<Vec6>&) { tau[0] = 1e6; };
  Integration run(model, actuation, all()[0]);
  StepWorkspace work(model);
  State s = make_state(model);
  const std::vector<std::uint8_t> before = to_bytes(s);
  const AdvanceReport r = run.advance(s, work);
  EXPECT_NE(r.failure.find("diverged at t = 0 s, body 'wheel'"), std::string::npos) << r.failure;
  EXPECT_EQ(to_bytes(s), before);
  EXPECT_TRUE(run.impacts().empty() && run.changes().empty());
}

// --- what is refused

void refused(const Integrator& which, const Model& model, const Actuation& actuation,
             const std::string& path, const std::string& what) {
  try {
    check_supported(which, model, actuation, "integrator.");
    ADD_FAILURE() << "accepted: " << what;
  } catch (const InputError& e) {
    EXPECT_EQ(e.path(), path);
    EXPECT_NE(e.message().find(what), std::string::npos) << e.what();
  }
  // The same for those who take it by itself.
  EXPECT_THROW(Integration(model, actuation, which), InputError) << what;
}

TEST(Integrator, RefusesWhatItDoesNotSupport) {
  const EventDriven events;
  const Rk4Projection rk4;
  const Actuation none;
  const Model ball = ball_over_floor({}).build();
  check_supported(events, ball, none, "");
  refused(rk4, ball, none, "integrator.type", "got contacts");

  ContactLaw soft;
  soft.soft.normal_stiffness = 1e4;
  refused(events, ball_over_floor(soft).build(), none, "integrator.type", "compliant");
  Surface belt;
  belt.velocity = Vec3::UnitX();
  check_supported(events, ball_over_floor({}, belt).build(), none, "");
  Surface patchy;
  patchy.friction = friction_map({.nx = 1, .ny = 1, .factors = {0.5}});
  check_supported(events, ball_over_floor({}, patchy).build(), none, "");

  const Model model = wheel();
  Actuation pushed;
  pushed.pushes = {{BodyIndex(0), 0.1, 0, Vec3::UnitX(), Vec3::Zero()}};
  Actuation lagging;
  lagging.motors.resize(1);
  lagging.motors[0].coordinate = CoordinateIndex(0);
  lagging.motors[0].lag = 0.1;
  for (const Integrator& which : {Integrator(events), Integrator(rk4)}) {
    const std::string name(integrator_name(which));
    refused(which, model, pushed, "pushes",
            "expected time stepping (integrator moreau), got " + name);
    check_supported(which, model, none, "integrator.");
  }
  refused(rk4, model, lagging, "integrator.type", "the motor of 'wheel' has a lag");
  check_supported(events, model, lagging, "integrator.");
  MoreauMidpoint paths;
  paths.storage = Storage::paths;
  ModelBuilder planar;
  planar.planar(true);
  planar.body("wheel", {1, Vec3::Zero(), J * Mat3::Identity()}, joint(Revolute{Vec3::UnitZ()}));
  refused(paths, planar.build(), none, "integrator.storage", "cannot be kept along paths");
}

}  // namespace
}  // namespace saltus::test
