// The books of impacts: T+ - T- is the sum of the works that are recorded, in both integrators.
#include "saltus/analysis/audit.h"

#include <numbers>

#include "saltus/model/builder.h"
#include "tests/support/events.h"
#include "tests/support/simulate.h"

namespace saltus {

using namespace test;

namespace {

// A slender rod of length 2 and mass 1 that slants by `angle`, with a tip of radius 1e-3 at its
// lower end, above a floor; no gravity. It does not turn: v is that of its tip.
struct Rod {
  double angle = std::numbers::pi / 4, radius = 1e-3;
  [[nodiscard]] Vec3 tip() const { return {-std::cos(angle), 0, -std::sin(angle)}; }
  [[nodiscard]] ModelBuilder model(double mu, double restitution) const {
    ModelBuilder b;
    b.gravity(Vec3::Zero());
    b.body("rod", RigidInertia{1, Vec3::Zero(), Vec3(1.0 / 3, 1.0 / 3, 1.0 / 3).asDiagonal()},
           joint(Floating{}));
    b.shape("tip", "rod", SE3{Mat3::Identity(), tip()}, Sphere{radius});
    b.shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "tip", {.mu1 = mu, .mu2 = mu, .restitution = restitution});
    return b;
  }
  // Gain of Newton's law with e = 1 where the tip sticks: Lambda_T u / 2 with G Lambda = (2 v, -u).
  [[nodiscard]] double gain(double v, double u) const {
    const Vec3 r = tip() - Vec3(0, 0, radius);
    Eigen::Matrix2d G;
    G << 1 + 3 * r.x() * r.x(), -3 * r.x() * r.z(), -3 * r.x() * r.z(), 1 + 3 * r.z() * r.z();
    return 0.5 * G.inverse().row(1).dot(Vec2(2 * v, -u)) * u;
  }
  template <class S>
  void place(S& s, double v, double u) const {
    s.state.q[2] = 0.01 - tip().z() + radius;
    s.state.v.template head<3>() = Vec3(u, 0, -v);
  }
};

double parts_of(const ImpactRecord& r) {
  double sum = 0;
  for (const ContactImpact& c : r.parts) sum += c.work_normal + c.work_tangential;
  return sum;
}

void expect_closed(const ImpactRecord& r) {
  const double scale = std::max(r.kinetic_before, r.kinetic_after);
  EXPECT_NEAR(r.kinetic_after - r.kinetic_before, r.work() + r.forces, 1e-13 * scale) << r.t;
}

}  // namespace

TEST(Audit, NewtonsLawGainsOnTheSlantingRodAndTheCappedLawDoesNot) {
  const Rod rod;
  const double v = 1, u = 0.6;
  for (const bool newton : {true, false}) {
    EventSimulation s(rod.model(1, 1));
    if (newton) s.options.impact = NewtonImpact{};
    rod.place(s, v, u);
    ASSERT_TRUE(s.run_until(0.02)) << s.failure;
    ASSERT_EQ(s.impacts, 1);
    const ImpactRecord& r = s.changes.back().record;
    expect_closed(r);
    EXPECT_NEAR(parts_of(r), r.contacts(), 1e-15);
    EXPECT_NEAR(r.t, 0.01 / v, 1e-12);
    ASSERT_EQ(r.parts.size(), 1U);
    EXPECT_EQ(r.parts[0].restitution, 1);
    EXPECT_EQ(r.parts[0].mu, 1);
    EXPECT_NEAR(r.parts[0].before[0], -v, 1e-12);
    const double gain = r.kinetic_after - r.kinetic_before;
    if (newton) {
      expect_figure("Newton's gain [J]", gain, rod.gain(v, u), 1e-11);
      EXPECT_NEAR(energy_gained(r), gain, 1e-12);
    } else {
      EXPECT_LE(gain, 1e-12);
      EXPECT_EQ(energy_gained(r), 0);
      EXPECT_LT(r.share, 1);
    }
    EXPECT_NEAR(s.ledger.impacts, gain, 1e-13);
    EXPECT_NEAR(s.ledger.contacts, r.normal, 1e-15);
    EXPECT_NEAR(s.ledger.friction, r.tangential, 1e-15);
    EXPECT_NEAR(s.ledger.integrator, 0, 1e-13);
  }
}

TEST(Audit, TimeSteppingRecordsTheSameImpact) {
  const Rod rod;
  Simulation s(rod.model(1, 1));
  s.options.impact = NewtonImpact{};
  AutoSolver solver;
  solver.tolerance = 1e-13;
  s.options.solver = solver;
  rod.place(s, 1, 0.6);
  int struck = 0;
  for (int i = 0; i < 20; ++i) {
    if (!s.step().struck) continue;
    ++struck;
    const ImpactRecord& r = s.work.result.record;
    expect_closed(r);
    expect_figure("Newton's gain [J]", r.kinetic_after - r.kinetic_before, rod.gain(1, 0.6), 1e-9);
    EXPECT_NEAR(r.forces, 0, 1e-9);  // gyroscopic terms only
    EXPECT_NEAR(s.ledger.impacts, r.work(), 1e-15);
  }
  EXPECT_EQ(struck, 1);
}

// T+/T- = e^2 of a bouncing ball; what gravity does over the step is told apart: m g dt v_mean.
TEST(Audit, BallInTimeStepping) {
  ModelBuilder b;
  b.body("ball", ball_inertia(2, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {.restitution = 0.5});
  Simulation s(b);
  s.state.q[2] = 0.5;
  int struck = 0, at_rest = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!s.step().struck) {
      at_rest += !s.state.contacts.empty();
      continue;
    }
    const ImpactRecord& r = s.work.result.record;
    expect_closed(r);
    if (++struck > 3) continue;  // later it rests within a step
    EXPECT_NEAR(r.kinetic_after / r.kinetic_before, 0.25, 1e-9);
    const double mean = 0.5 * (r.v_before[2] + r.v_after[2]);
    EXPECT_NEAR(r.forces, -2 * 9.81 * s.options.dt * mean, 1e-9 * r.kinetic_before);
  }
  EXPECT_GE(struck, 4);
  EXPECT_GT(at_rest, 500);  // and a ball at rest has no impacts
}

// A plastic contact has a record, too, where it closes.
TEST(Audit, PlasticImpactOfTimeStepping) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {.mu1 = 0.3, .mu2 = 0.3});
  Simulation s(b);
  s.state.q[2] = 0.2;
  s.state.v[0] = 1;
  int struck = 0;
  for (int i = 0; i < 1000; ++i)
    if (s.step().struck) {
      ++struck;
      expect_closed(s.work.result.record);
      EXPECT_LT(s.work.result.record.normal, 0);
      EXPECT_LT(s.work.result.record.tangential, 0);
    }
  EXPECT_EQ(struck, 1);
}

TEST(Audit, AccumulationIsInTheBooks) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {.restitution = 0.5});
  EventSimulation s(b);
  s.state.q[2] = 1.1;
  ASSERT_TRUE(s.run_until(2)) << s.failure;
  double impacts = 0, accumulated = 0;
  for (const ModeChange& c : s.changes) {
    if (!c.impact) continue;
    expect_closed(c.record);
    impacts += c.record.work();
    accumulated += c.record.accumulated;
    if (c.record.accumulated == 0) {
      EXPECT_NEAR(c.record.kinetic_after / c.record.kinetic_before, 0.25, 1e-12);
    }
  }
  EXPECT_LT(accumulated, 0);
  expect_figure("energy lost at impacts [J]", impacts, -9.81, 1e-10);
  EXPECT_NEAR(s.ledger.contacts, impacts, 1e-12);
  EXPECT_NEAR(s.ledger.integrator, 0, 1e-12);
}

// Two independent balls: only the one that hits is in the record.
TEST(Audit, OnlyTheTreesThatTakePart) {
  ModelBuilder b;
  for (const char* name : {"low", "high"}) {
    b.body(name, ball_inertia(1, 0.1), joint(Floating{}));
    b.shape(name, name, SE3{}, Sphere{0.1});
  }
  b.shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "low", {.restitution = 0.5}).contact("floor", "high", {.restitution = 0.5});
  EventSimulation s(b);
  s.state.q[2] = 0.2;
  s.state.q[7] = 1;
  s.state.q[9] = 3;
  ASSERT_TRUE(s.run_until(0.2)) << s.failure;
  ASSERT_EQ(s.impacts, 1);
  const ImpactRecord& r = s.changes.back().record;
  EXPECT_NEAR(r.kinetic_before, 9.81 * 0.1, 1e-11);
  EXPECT_NEAR(r.kinetic_after, 0.25 * r.kinetic_before, 1e-12);
  EXPECT_GT(s.changes.back().kinetic_before, 1.5 * r.kinetic_before);
}

// P1 eq. 5.2: the attenuation slows the trees of an island, and no prescribed velocity.
TEST(Audit, AttenuationLeavesPrescribedVelocities) {
  Model model = Rod{}.model(0, 0).build();
  model.prescribed[1] = 1;
  Island island;
  island.trees = {0};
  Vec v = Vec::Ones(model.nv);
  attenuate(model, island, 0.5, v);
  for (int i = 0; i < model.nv; ++i) EXPECT_EQ(v[i], i == 1 ? 1 : 0.5);
}

TEST(Audit, WorstAreSortedAndComplainedOf) {
  ImpactHistory h{.law = "newton", .impacts = std::vector<AuditedImpact>(3)};
  for (AuditedImpact& i : h.impacts) i.before = 2, i.path = "inclusion";
  h.impacts[0].normal = -1;
  h.impacts[1].normal = 0.5;
  h.impacts[1].gained = 0.5;
  h.impacts[1].bound = infinity;
  h.impacts[2].normal = -0.1;
  h.impacts[2].path = "fallback";
  const ImpactAudit a = audit_impacts(h, 2);
  EXPECT_EQ(a.gained, 1U);
  EXPECT_EQ(a.fallbacks, 1U);
  EXPECT_EQ(a.worst, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(a.losses, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(complaint(h.impacts[1], h.law), "gains 25 %: newton's law promises nothing");
  EXPECT_EQ(complaint(h.impacts[0], h.law), "");
  h.impacts[1].bound = 0.5;
  EXPECT_NE(complaint(h.impacts[1], h.law).find("T+ <= 0.5 T-"), std::string::npos);
}

}  // namespace saltus
