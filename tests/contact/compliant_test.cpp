// P2's compliant contact: springs and dampers in closed form, slip, momentum, the ledger, restarts.
#include "saltus/contact/compliant.h"

#include "saltus/base/error.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double g = 9.81, c = 3e4, mass = 2;

ContactLaw soft(double mu, double damping, double tangential_damping) {
  ContactLaw law{mu, mu};
  law.soft = {c, damping, c, tangential_damping};
  return law;
}

// A sphere that slides, and does not turn, on a floor tilted by `slope` about y.
ModelBuilder slider(const ContactLaw& law, double slope = 0) {
  ModelBuilder b;
  b.gravity(g * Vec3(std::sin(slope), 0, -std::cos(slope)));
  b.body("ball", ball_inertia(mass, 0.1), joint(Carrier{}));
  b.shape("ball", "ball", {}, Sphere{0.1});
  b.shape("floor", "world", {}, HalfSpace{});
  b.contact("floor", "ball", law);
  return b;
}

double rest_depth() { return mass * g / c; }

TEST(Compliant, SinksByItsWeight) {
  Simulation s(slider(soft(0, 200, 0)));
  s.state.q[2] = 0.1;
  s.run_until(2);  // damped out: exp(-200/(2 mass) 2) is rounding
  expect_figure("depth at rest [m]", 0.1 - s.state.q[2], rest_depth(), 1e-12);
}

// Undamped about its rest: z = -depth (1 - cos(omega t)/2), never open; the leapfrog is of second
// order.
TEST(Compliant, OscillatesInSecondOrder) {
  const double omega = std::sqrt(c / mass), t = 0.5;
  const double exact = 0.1 - rest_depth() * (1 - 0.5 * std::cos(omega * t));
  double error[2];
  for (const int i : {0, 1}) {
    Simulation s(slider(soft(0, 0, 0)), i == 0 ? 1e-3 : 5e-4);
    s.state.q[2] = 0.1 - 0.5 * rest_depth();
    s.run_until(t);
    error[i] = std::abs(s.state.q[2] - exact);
  }
  expect_figure("order", std::log2(error[0] / error[1]), 2, 0.1);
  // Phase error of the leapfrog: omega t (omega dt)^2/24 rad, times omega of the amplitude.
  EXPECT_LT(error[0], 0.5 * rest_depth() * omega * t * std::pow(omega * 1e-3, 2) / 24 * 1.1);
}

// Sticking: m x'' = -c x - d x' from the speed v, within the cone.
TEST(Compliant, SticksAsADampedSpring) {
  const double d = 40, v = 0.05, t = 0.05, damp = d / (2 * mass),
               omega = std::sqrt(c / mass - damp * damp);
  const double exact = v / omega * std::exp(-damp * t) * std::sin(omega * t);
  double error[2];
  for (const int i : {0, 1}) {
    Simulation s(slider(soft(0.8, 40, d)), i == 0 ? 2e-4 : 1e-4);
    s.state.q[2] = 0.1 - rest_depth();
    s.state.v[0] = v;
    s.run_until(t, [&] { EXPECT_EQ(s.state.contacts.at(0).mode, 1); });
    error[i] = std::abs(s.state.q[0] - exact);
  }
  expect_figure("order (explicit damper)", std::log2(error[0] / error[1]), 1, 0.2);
  EXPECT_LT(error[1], 1e-2 * v / omega);
}

// Slipping: decelerates by mu g and stops after v^2/(2 mu g); then it sticks and rests.
TEST(Compliant, SlipsByCoulombAndStops) {
  const double mu = 0.5, v = 1;
  Simulation s(slider(soft(mu, 200, 50)), 1e-4);
  s.state.q[2] = 0.1 - rest_depth();
  s.state.v[0] = v;
  s.run_until(0.1, [&] { EXPECT_EQ(s.state.contacts.at(0).mode, 2); });
  expect_figure("speed after 0.1 s [m/s]", s.state.v[0], v - mu * g * 0.1, 1e-9);
  s.run_until(1);
  expect_figure("way [m]", s.state.q[0], v * v / (2 * mu * g), 1e-6);
  expect_figure("speed at rest [m/s]", s.state.v[0], 0, 1e-6);
  EXPECT_EQ(s.state.contacts.at(0).mode, 1);
  // All of the start's energy but what the springs hold is lost in slip and dampers.
  expect_figure("friction [J]", s.ledger.friction, -0.5 * mass * v * v, 1e-6);
}

TEST(Compliant, HoldsOnASlopeWithoutCreep) {
  const double slope = 15 * 3.14159265358979 / 180;
  Simulation s(slider(soft(0.8, 200, 200), slope));
  s.state.q[2] = 0.1;
  s.run_until(2);
  const double x = s.state.q[0];
  expect_figure("normal depth [m]", 0.1 - s.state.q[2], rest_depth() * std::cos(slope), 1e-12);
  s.run_until(12);
  expect_figure("creep in 10 s [m]", s.state.q[0] - x, 0, 1e-14);
  const auto& L = s.state.contacts.at(0).Lambda;
  expect_figure("stretch [m]", L[3], rest_depth() * std::sin(slope), 1e-12);
}

// Two free balls meet off centre, with friction: both forces act at one point, so momentum and
// angular momentum stay.
TEST(Compliant, KeepsMomentum) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  for (const char* name : {"a", "b"}) {
    b.body(name, ball_inertia(mass, 0.1), joint(Floating{}));
    b.shape(name, name, {}, Sphere{0.1});
  }
  b.contact("a", "b", soft(0.4, 20, 20));
  Simulation s(b, 1e-4);
  s.state.q.segment<3>(7) = Vec3(0.25, 0.08, 0.05);
  s.state.v.segment<3>(6) = Vec3(-2, 0, 0);
  const auto both = [&] {
    forward_kinematics(s.model, s.state.q, s.state.v, s.work.result.work);
    return momentum(s.model, s.work.result.work);
  };
  const Momentum before = both();
  s.run_until(0.2);
  const Momentum after = both();
  EXPECT_LT(s.ledger.dampers, -0.01);  // they did meet
  EXPECT_LT(s.state.v[0], -0.1);
  expect_figure("momentum [kg m/s]", (after.linear - before.linear).norm(), 0, 1e-12);
  expect_figure("angular momentum [kg m^2/s]", (after.angular - before.angular).norm(), 0, 1e-12);
}

// Every term but the scheme's own error explains the change of energy, and that error vanishes.
TEST(Compliant, LedgerAddsUp) {
  double error[2];
  for (const int i : {0, 1}) {
    Simulation s(slider(soft(0.3, 50, 50)), i == 0 ? 4e-4 : 1e-4);
    s.state.q[2] = 0.12;
    s.state.v[0] = 0.7;
    const double start = 0.5 * mass * 0.49 + mass * g * 0.12;
    s.run_until(1);
    const EnergyTerms& e = s.ledger;
    expect_figure("sum of the ledger [J]", e.total() - start,
                  e.dampers + e.friction + e.contacts + e.integrator, 1e-12);
    EXPECT_LT(e.dampers, -0.05);
    EXPECT_LT(e.friction, -0.05);
    EXPECT_EQ(e.contacts, 0);
    error[i] = std::abs(e.integrator);
    fmt::print("    dt {:g}: integrator {:.2e} J, dampers {:.4f}, friction {:.4f}\n", s.options.dt,
               e.integrator, e.dampers, e.friction);
  }
  EXPECT_LT(error[1], 0.5 * error[0]);
  EXPECT_LT(error[1], 2e-3 * mass * g * 0.02);
}

TEST(Compliant, RestartsToTheBit) {
  Simulation s(slider(soft(0.8, 50, 50), 0.2));
  s.state.q[2] = 0.11;
  s.state.v[0] = 0.4;
  s.run_until(0.3);
  ASSERT_EQ(s.state.contacts.size(), 1u);
  EXPECT_NE(s.state.contacts[0].Lambda[3], 0);  // the spring is stretched
  const auto bytes = to_bytes(s.state);
  Simulation other(slider(soft(0.8, 50, 50), 0.2));
  other.state = from_bytes(other.model, bytes.data(), bytes.size());
  for (int i = 0; i < 300; ++i) {
    const StepReport a = s.step(), b = other.step();
    ASSERT_EQ(a.energy.integrator, b.energy.integrator) << i;
  }
  EXPECT_TRUE(s.state == other.state);
}

TEST(Compliant, RefusesWhatItDoesNotKnow) {
  const auto refused = [](auto change) {
    ContactLaw law = soft(0.5, 1, 1);
    change(law);
    EXPECT_THROW((void)slider(law), InputError);
  };
  refused([](ContactLaw& l) { l.soft.normal_stiffness = -1; });
  refused([](ContactLaw& l) { l.soft.normal_damping = -1; });
  refused([](ContactLaw& l) { l.soft.tangential_damping = infinity; });
  refused([](ContactLaw& l) { l.mu2 = 0.1; });
  refused([](ContactLaw& l) { l.restitution = 0.5; });
  refused([](ContactLaw& l) { l.rolling = 0.1; });
}

}  // namespace
}  // namespace saltus::test
