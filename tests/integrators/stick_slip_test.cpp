// Static and dynamic friction in continuous contact, mu_s -> mu_d, in both integrators: closed
// forms of the incline and of the classical stick-slip oscillator, a block that a spring pulls
// whose end moves at a constant speed.
#include <numbers>

#include "tests/support/events.h"

using namespace saltus;
using namespace saltus::test;

namespace {

constexpr double pi = std::numbers::pi;

enum class Kind { joint, support, contact };
constexpr Kind all_kinds[] = {Kind::joint, Kind::support, Kind::contact};
const char* text(Kind k) {
  return k == Kind::joint ? "joint" : k == Kind::support ? "support" : "contact";
}

struct Oscillator {
  double m = 2, k = 50, V = 0.1, g = 9.81, mu_s = 0.5, mu_d = 0.3;

  [[nodiscard]] double normal() const { return m * g; }
  [[nodiscard]] double omega() const { return std::sqrt(k / m); }
  // Half the way by which a slip shortens the spring: (mu_s - mu_d) N / k.
  [[nodiscard]] double D() const { return (mu_s - mu_d) * normal() / k; }
  // Of stretch y: at rest y = V t up to mu_s N / k. Then y'' = -omega^2 (y - mu_d N / k) from
  // y' = V, until the block rests again, y' = V: tan(omega t / 2) = -D omega / V.
  [[nodiscard]] double first_release() const { return mu_s * normal() / (k * V); }
  [[nodiscard]] double slip() const { return 2 * (pi - std::atan(D() * omega() / V)) / omega(); }
  [[nodiscard]] double stick() const { return 2 * D() / V; }
  // Block's position at t.
  [[nodiscard]] double x(double t) const {
    if (t <= first_release()) return 0;
    const double period = slip() + stick();
    const double n = std::floor((t - first_release()) / period);
    const double s = std::min((t - first_release()) - n * period, slip());
    const double at = first_release() + n * period;  // this slip began
    const double y =
        mu_d * normal() / k + D() * std::cos(omega() * s) + V / omega() * std::sin(omega() * s);
    return V * (at + s) - y;
  }
};

// The block moves along `d`; the spring's end is a body on a prescribed joint.
ModelBuilder build(const Oscillator& o, Kind kind, bool dynamic = true) {
  const Vec3 d = kind == Kind::contact ? Vec3(0.6, 0.8, 0) : Vec3(1, 0, 0);
  const double share = dynamic ? o.mu_d / o.mu_s : 1;
  ModelBuilder b;
  b.gravity({0, 0, -o.g});
  JointSpec hand = joint(Prismatic{d});
  hand.dofs = {JointDof{}};
  hand.dofs[0].prescribed = true;
  b.body("hand", {1, Vec3::Zero(), Mat3::Zero()}, hand);
  const Vec3 size(0.2, 0.2, 0.2);
  if (kind == Kind::contact) {
    b.body("block", box_inertia(o.m, size), joint(Carrier{}));
    b.shape("block", "block", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "block", {.mu1 = o.mu_s, .mu2 = o.mu_s, .dynamic = share});
  } else {
    JointSpec rail = joint(Prismatic{d});
    if (kind == Kind::joint) {
      rail.dofs = {JointDof{}};
      rail.dofs[0].friction = o.mu_s * o.normal();
      rail.dofs[0].dynamic = share;
    }
    b.body("block", box_inertia(o.m, size), rail);
    if (kind == Kind::support) {
      SupportFriction f;
      f.name = "block";
      f.mu1 = f.mu2 = o.mu_s;
      f.load = o.normal();
      f.dynamic = share;
      b.support(f, "block");
    }
  }
  Spring s;
  s.name = "spring";
  s.stiffness = o.k;
  s.axis = d;
  b.spring(s, "hand", "block");
  return b;
}

template <class S>
void prepare(S& s, const Oscillator& o, Kind kind) {
  s.actuation.prescribed = {{CoordinateIndex(0), Table{{0, 1000}, {0, 1000 * o.V}}}};
  impose_prescribed(s.model, s.actuation, s.state);
  if (kind == Kind::contact) s.state.q[s.model.bodies[s.model.body("block")].q0 + 2] = 0.1;
}

template <class S>
double position(const S& s, Kind kind) {
  const int q0 = s.model.bodies[s.model.body("block")].q0;
  if (kind != Kind::contact) return s.state.q[q0];
  return 0.6 * s.state.q[q0] + 0.8 * s.state.q[q0 + 1];
}

// The prescribed rate of a table bends nowhere within the run.
double moreau_error(const Oscillator& o, Kind kind, double dt, double end) {
  Simulation s(build(o, kind), dt);
  prepare(s, o, kind);
  double worst = 0;
  s.run_until(end, [&] { worst = std::max(worst, std::abs(position(s, kind) - o.x(s.state.t))); });
  return worst;
}

// A body that does not turn, on an incline of slope `tangent` that falls along (0.6, 0.8).
ModelBuilder incline(double tangent, double mu_s, double mu_d) {
  ModelBuilder b;
  const double angle = std::atan(tangent);
  b.gravity(9.81 * Vec3(0.6 * std::sin(angle), 0.8 * std::sin(angle), -std::cos(angle)));
  b.body("block", box_inertia(2, {0.2, 0.2, 0.2}), joint(Carrier{}));
  b.shape("block", "block", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "block", {.mu1 = mu_s, .mu2 = mu_s, .dynamic = mu_d / mu_s});
  return b;
}

// The same as a box on its four corners: no single one may decide.
ModelBuilder box_on_incline(double tangent, double mu_s, double mu_d) {
  ModelBuilder b;
  const double angle = std::atan(tangent);
  b.gravity(9.81 * Vec3(std::sin(angle), 0, -std::cos(angle)));
  const Vec3 size(0.2, 0.2, 0.1);
  b.body("block", box_inertia(2, size), joint(Floating{}));
  b.shape("block", "block", SE3{}, Box{0.5 * size}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "block", {.mu1 = mu_s, .mu2 = mu_s, .dynamic = mu_d / mu_s});
  return b;
}

double slide(double tangent, double mu_d, double t) {
  const double angle = std::atan(tangent);
  return 0.5 * 9.81 * (std::sin(angle) - mu_d * std::cos(angle)) * t * t;
}

}  // namespace

TEST(StickSlip, InclineEventDriven) {
  for (const double tangent : {0.499999, 0.500001, 0.6}) {
    EventSimulation s(incline(tangent, 0.5, 0.3));
    s.state.q[2] = 0.1;
    ASSERT_TRUE(s.run_until(1)) << s.failure;
    const double x = 0.6 * s.state.q[0] + 0.8 * s.state.q[1];
    expect_figure(fmt::format("tan = {}", tangent), x, tangent <= 0.5 ? 0 : slide(tangent, 0.3, 1),
                  1e-9);
  }
  // No friction at all in sliding.
  EventSimulation free(incline(0.6, 0.5, 0));
  free.state.q[2] = 0.1;
  ASSERT_TRUE(free.run_until(1)) << free.failure;
  expect_figure("mu_d = 0", 0.6 * free.state.q[0] + 0.8 * free.state.q[1], slide(0.6, 0, 1), 1e-9);
  // Thrown up: comes to rest and stays, as mu_s holds it and mu_d not.
  EventSimulation s(incline(0.4, 0.5, 0.3));
  s.state.q[2] = 0.1;
  s.state.v.head<2>() = Vec2(-0.6, -0.8);
  ASSERT_TRUE(s.run_until(1)) << s.failure;
  s.print();
  const double angle = std::atan(0.4), a = 9.81 * (std::sin(angle) + 0.3 * std::cos(angle));
  ASSERT_EQ(s.changes.size(), 2U);
  expect_figure("comes to rest at", s.changes[1].t, 1 / a, 1e-9);
  expect_figure("and stays at", 0.6 * s.state.q[0] + 0.8 * s.state.q[1], -0.5 / a, 1e-9);
  EXPECT_EQ(s.state.v.norm(), 0);
}

TEST(StickSlip, InclineTimeStepping) {
  for (const double tangent : {0.4999, 0.6}) {
    Simulation s(incline(tangent, 0.5, 0.3), 1e-3);
    s.state.q[2] = 0.1;
    s.run_until(1);
    const double x = 0.6 * s.state.q[0] + 0.8 * s.state.q[1];
    // One step with mu_s before it slides: less way by (mu_s - mu_d) g cos dt t.
    expect_figure(fmt::format("tan = {}", tangent), x, tangent <= 0.5 ? 0 : slide(tangent, 0.3, 1),
                  2e-3);
    if (tangent <= 0.5) { EXPECT_LT(std::abs(x), 1e-9); }
  }
  double last = 0;
  for (const double dt : {4e-3, 2e-3, 1e-3}) {  // thrown up: captured by mu_s, which mu_d would not
    Simulation s(incline(0.4, 0.5, 0.3), dt);
    s.state.q[2] = 0.1;
    s.state.v.head<2>() = Vec2(-0.6, -0.8);
    s.run_until(1);
    const double angle = std::atan(0.4), a = 9.81 * (std::sin(angle) + 0.3 * std::cos(angle));
    const double x = 0.6 * s.state.q[0] + 0.8 * s.state.q[1];
    expect_figure(fmt::format("rests, dt = {}", dt), x, -0.5 / a, dt);  // at 1 m/s
    EXPECT_LT(s.state.v.norm(), 1e-9);
    last = x;
  }
  EXPECT_LT(last, 0);
}

// With 99.9 % of what mu_s holds the corners in front and behind carry unequal loads, so that some
// are on the boundary of their friction while the box rests.
TEST(StickSlip, BoxOnItsCorners) {
  for (const double tangent : {0.4995, 0.55}) {
    EventSimulation e(box_on_incline(tangent, 0.5, 0.3));
    Simulation m(box_on_incline(tangent, 0.5, 0.3), 1e-3);
    e.state.q[2] = m.state.q[2] = 0.05;
    ASSERT_TRUE(e.run_until(0.5)) << e.failure;
    m.run_until(0.5);
    const double x = tangent < 0.5 ? 0 : slide(tangent, 0.3, 0.5);
    expect_figure(fmt::format("events, tan = {}", tangent), e.state.q[0], x, 1e-9);
    expect_figure(fmt::format("time stepping, tan = {}", tangent), m.state.q[0], x,
                  tangent < 0.5 ? 1e-8 : 0.02);
  }
}

TEST(StickSlip, OscillatorEventDriven) {
  for (const Kind kind : all_kinds)
    // Not mu_d = 0: there the slip ends with exactly the force that mu_s can hold.
    for (const double mu_d : {0.3, 0.1, 0.02}) {
      Oscillator o;
      o.mu_d = mu_d;
      EventSimulation s(build(o, kind));
      prepare(s, o, kind);
      const double end = o.first_release() + 3.5 * o.slip() + 3 * o.stick();
      ASSERT_TRUE(s.run_until(end)) << s.failure;
      fmt::print("  {}, mu_d = {}\n", text(kind), mu_d);
      ASSERT_EQ(s.changes.size(), 8U) << s.failure;
      double t = o.first_release();
      for (int i = 1; i < 8; ++i) {
        const bool slips = i % 2 == 1;
        expect_figure(slips ? "slips from" : "sticks from", s.changes[i].t, t, 1e-9);
        EXPECT_EQ(s.changes[i].causes.front().cause, slips ? Cause::stick : Cause::slip);
        t += slips ? o.slip() : o.stick();
      }
      expect_figure("x(end)", position(s, kind), o.x(end), 1e-9);
      expect_figure("energy balance", s.ledger.integrator, 0, 1e-9);
    }
}

TEST(StickSlip, OscillatorTimeSteppingIsOfFirstOrder) {
  for (const Kind kind : all_kinds)
    for (const double mu_d : {0.3, 0.1, 0.0}) {
      Oscillator o;
      o.mu_d = mu_d;
      const double end = o.first_release() + 2.5 * o.slip() + 2 * o.stick();
      const double coarse = moreau_error(o, kind, 4e-4, end);
      const double fine = moreau_error(o, kind, 5e-5, end);
      const double order = std::log(coarse / fine) / std::log(8.0);
      fmt::print(
          "    {:<8} mu_d = {}: error {:.2e} at dt = 4e-4 s, {:.2e} at 5e-5 s, order {:.2f}\n",
          text(kind), mu_d, coarse, fine, order);
      EXPECT_GT(order, 0.8);
      // Releases and captures are up to a step or two off, at slip speeds of D omega + V.
      EXPECT_LT(fine, 20 * 5e-5 * (o.D() * o.omega() + o.V));
    }
}

// The same mu for both is the old law, bit for bit.
TEST(StickSlip, EqualCoefficientsChangeNothing) {
  Oscillator o;
  o.mu_d = o.mu_s;
  for (const Kind kind : all_kinds) {
    Simulation with(build(o, kind)), without(build(o, kind, false));
    EventSimulation e_with(build(o, kind)), e_without(build(o, kind, false));
    const auto kick = [&](auto& s) {  // it swings on its spring until it sticks
      prepare(s, o, kind);
      s.actuation.prescribed[0].r = Constant{0};
      impose_prescribed(s.model, s.actuation, s.state);
      const int v0 = s.model.bodies[s.model.body("block")].v0;
      s.state.v[v0] = kind == Kind::contact ? 0.6 * 3 : 3;
      if (kind == Kind::contact) s.state.v[v0 + 1] = 0.8 * 3;
    };
    for (Simulation* s : {&with, &without}) {
      kick(*s);
      s->run_until(3);
    }
    for (EventSimulation* s : {&e_with, &e_without}) {
      kick(*s);
      ASSERT_TRUE(s->run_until(3)) << s->failure;
    }
    EXPECT_TRUE(to_bytes(with.state) == to_bytes(without.state)) << text(kind);
    EXPECT_TRUE(to_bytes(e_with.state) == to_bytes(e_without.state)) << text(kind);
  }
}

// A copy of the state is a restart, in both integrators and in every phase.
TEST(StickSlip, RestartsToTheSameBits) {
  for (const Kind kind : all_kinds)
    for (const double mu_d : {0.3, 0.02}) {
      Oscillator o;
      o.mu_d = mu_d;
      const double begin = o.first_release(), period = o.slip() + o.stick();
      for (const double phase : {-0.05, 0.2 * o.slip() / period, 0.9 * o.slip() / period, 0.999}) {
        const double middle = 1e-3 * std::round(1e3 * (begin + phase * period)), end = middle + 1;
        Simulation a(build(o, kind)), b(build(o, kind));
        prepare(a, o, kind);
        a.run_until(middle);
        b.actuation = a.actuation;
        b.state = from_bytes(b.model, to_bytes(a.state).data(), to_bytes(a.state).size());
        a.run_until(end);
        b.run_until(end);
        EXPECT_TRUE(to_bytes(a.state) == to_bytes(b.state)) << text(kind) << ' ' << phase;

        EventSimulation c(build(o, kind)), d(build(o, kind));
        prepare(c, o, kind);
        ASSERT_TRUE(c.run_until(middle)) << c.failure;
        d.actuation = c.actuation;
        d.state = c.state;
        ASSERT_TRUE(c.run_until(end, 0.1) && d.run_until(end, 0.1)) << c.failure << d.failure;
        EXPECT_TRUE(to_bytes(c.state) == to_bytes(d.state)) << text(kind) << ' ' << phase;
      }
    }
}
