// Painleve's rod (VERIFY.md): a uniform rod slides on its lower end. Pressed down by gravity it has
// no acceleration iff mu > (1 + 3 cos^2)/(3 sin cos) of its angle, at least 4/3 at tan = 2.
#include <numbers>

#include "saltus/contact/rows/contact.h"
#include "saltus/dynamics/mass.h"
#include "tests/support/check.h"
#include "tests/support/events.h"

namespace saltus {
namespace {

using namespace test;

double critical(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return (1 + 3 * c * c) / (3 * s * c);
}

// A rod of 1 m and 1 kg in the x-z plane; its end at -x is down, at the origin.
ModelBuilder rod(double mu) {
  ModelBuilder b;
  Mat3 about = Mat3::Zero();
  about.diagonal() << 0, 1.0 / 12, 1.0 / 12;
  Mat3 upright;  // the planar joint's x, y along x, z
  upright << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  JointSpec plane = joint(Planar{});
  plane.placement = SE3{upright, Vec3::Zero()};
  plane.in_body = SE3{upright, Vec3::Zero()};
  b.body("rod", {1, Vec3::Zero(), about}, plane);
  b.shape("end", "rod", SE3::translation(Vec3(-0.5, 0, 0)), Sphere{0});
  b.shape("floor", "world", {}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = mu;
  b.contact("floor", "end", law);
  return b;
}

// The rod at an angle, its end on the floor and sliding at `speed` along x.
void place(State& s, double angle, double speed) {
  s.q << 0.5 * std::cos(angle), 0.5 * std::sin(angle), angle;
  s.v << speed, 0, 0;
}

// mu at which the normal force loses its hold on the normal acceleration: G_NN = mu |G_NT|.
double critical_of_engine(double angle) {
  const Model model = rod(1).build();
  State s = make_state(model);
  place(s, angle, 1);
  Workspace work(model);
  forward_kinematics(model, s.q, s.v, work);
  Forest mass;
  mass.resize(forest_shape(model));
  load_mass(work, Vec::Zero(model.nv), mass);
  EXPECT_TRUE(mass.factor());
  Assembly rows(model);
  ContactFinder finder(model);
  finder.find(model, work, 1e-6, rows.contacts);
  EXPECT_EQ(rows.contacts.size(), 1U);
  Contact& c = rows.contacts[0];
  c.tangent = tangent_of(model, work, c);
  open_contact(model, work, 0, c, law_of(model.contact_laws[c.law]), rows);
  Islands islands(model);
  islands.partition(model, rows);
  IslandProblem p;
  form_island(model, rows, islands[0], ProxGaussSeidel{}, s.v, mass, p);
  const Mat G = p.problem.W.leftCols(3).transpose() * p.problem.Y.leftCols(3);
  return G(0, 0) / G.block(0, 1, 1, 2).norm();
}

TEST(Painleve, WhereTheParadoxBegins) {
  Worst off("critical mu against (1 + 3 cos^2)/(3 sin cos), relative", 1e-12);
  double least = infinity, at = 0;
  for (int i = 1; i < 1800; ++i) {
    const double angle = std::numbers::pi / 2 * i / 1800;
    const double mu = critical_of_engine(angle);
    off.add(std::abs(mu / critical(angle) - 1), std::to_string(angle));
    if (mu < least) {
      least = mu;
      at = angle;
    }
  }
  expect_figure("least critical mu", least, 4.0 / 3, 1e-6);  // of a grid of 0.05 degrees
  expect_figure("tan of its angle", std::tan(at), 2, 5e-3);
}

bool jams(const EventSimulation& s) {
  for (const ModeChange& c : s.changes)
    for (const EventCause& e : c.causes)
      if (e.cause == Cause::jam) return true;
  return false;
}

// One of the two ways of sliding has the paradox above the critical mu, the other has not.
TEST(Painleve, OnlyOneWayOfSlidingHasIt) {
  int jammed = 0;
  for (const double speed : {1.0, -1.0}) {
    EventSimulation below(rod(1.3)), above(rod(1.4));
    for (EventSimulation* s : {&below, &above}) {
      place(s->state, std::atan(2.0), speed);
      ASSERT_TRUE(s->run_until(1e-3)) << s->failure;
    }
    EXPECT_FALSE(jams(below));
    jammed += jams(above);
  }
  EXPECT_EQ(jammed, 1);
}

// An impact without collision stops the end, which keeps the angular momentum about it: of a
// uniform rod of mass m and length l, m (l/2) sin(angle) speed = (m l^2/3) omega.
TEST(Painleve, TheEndStopsAndAngularMomentumAboutItStays) {
  const double angle = std::atan(2.0);
  for (const double mu : {1.4, 2.0})
    for (const double speed : {1.0, -1.0}) {
      EventSimulation s(rod(mu));
      place(s.state, angle, speed);
      ASSERT_TRUE(s.run_until(0.02)) << s.failure;
      if (!jams(s)) continue;
      const ModeChange& c = s.changes.front();
      ASSERT_TRUE(c.impact);
      EXPECT_EQ(c.t, 0);
      const double omega = -1.5 * std::sin(angle) * speed;
      expect_figure("omega after the jam [rad/s]", c.record.v_after[2], omega, 1e-12);
      expect_figure("kinetic energy after it [J]", c.kinetic_after, omega * omega / 6, 1e-12);
      // As time stepping has it in the limit.
      double last = infinity;
      for (const double dt : {1e-3, 1e-4, 1e-5}) {
        Simulation stepped(rod(mu), dt);
        place(stepped.state, angle, speed);
        stepped.run_until(0.02);
        const double off = (stepped.state.q - s.state.q).norm();
        fmt::print("    time stepping, dt = {:g} s: {:.2e} off\n", dt, off);
        EXPECT_LT(off, 0.2 * last);
        last = off;
      }
    }
}

// Time stepping passes: an impulse without a collision stops the end, and no energy comes from it.
TEST(Painleve, TimeSteppingPasses) {
  for (const double speed : {1.0, -1.0}) {
    Simulation s(rod(1.4), 1e-4);
    place(s.state, std::atan(2.0), speed);
    forward_kinematics(s.model, s.state.q, s.state.v, s.work.result.work);
    const double before = kinetic_energy(s.model, s.state.v, s.work.result.work);
    double most = 0;
    s.run_until(0.02, [&] { most = std::max(most, s.ledger.kinetic); });
    // Gravity gives at most m g times the fall of the centre.
    EXPECT_LE(s.ledger.kinetic, before + 9.81 * 0.45 + 1e-6);
    fmt::print("    sliding at {:+g} m/s: kinetic energy {:.6g} -> {:.6g} J, largest {:.6g} J\n",
               speed, before, s.ledger.kinetic, most);
  }
}

}  // namespace
}  // namespace saltus
