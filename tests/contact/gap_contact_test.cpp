// Contacts given by gap functions against the same contacts given by shapes.
#include "saltus/base/error.h"
#include "tests/support/check.h"
#include "tests/support/events.h"

using namespace saltus;
using namespace saltus::test;

namespace {

constexpr double tilt = 0.3;

// A point mass on slides along x' and z', turned by `tilt` against the floor: height and sliding
// speed of the floor's contact are combinations of both.
ModelBuilder point_mass(bool by_gap, double mu, double restitution) {
  ModelBuilder b;
  JointSpec x = joint(Prismatic{Vec3(std::cos(tilt), 0, std::sin(tilt))});
  JointSpec z = joint(Prismatic{Vec3(-std::sin(tilt), 0, std::cos(tilt))}, "carriage");
  b.body("carriage", {0.5, Vec3::Zero(), Mat3::Zero()}, x);
  b.body("mass", {1, Vec3::Zero(), 0.01 * Mat3::Identity()}, z);
  if (by_gap) {
    GapContact c;
    c.name = "floor";
    c.terms = {{{}, std::sin(tilt), std::cos(tilt)}, {{}, std::cos(tilt), -std::sin(tilt)}};
    c.mu = mu;
    c.restitution = restitution;
    b.gap_contact(c, {"carriage", "mass"});
  } else {
    b.shape("mass", "mass", SE3{}, Sphere{}).shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "mass", {.mu1 = mu, .mu2 = mu, .restitution = restitution});
  }
  return b;
}

void throw_it(State& s) {
  s.q = Vec2(0.2, 0.9);
  s.v = Vec2(1.5, 0.5);
}

}  // namespace

// Bounces, accumulates, slides and stops: event-driven to the integrator's tolerance.
TEST(GapContacts, EventDrivenAsShapes) {
  for (const double e : {0.0, 0.5}) {
    EventSimulation gap(point_mass(true, 0.6, e)), shape(point_mass(false, 0.6, e));
    throw_it(gap.state);
    throw_it(shape.state);
    ASSERT_TRUE(gap.run_until(3)) << gap.failure;
    ASSERT_TRUE(shape.run_until(3)) << shape.failure;
    gap.print();
    shape.print();
    ASSERT_GT(gap.impacts, 0);
    EXPECT_EQ(gap.impacts, shape.impacts);
    ASSERT_EQ(gap.changes.size(), shape.changes.size());
    double apart = 0;
    for (std::size_t i = 0; i < gap.changes.size(); ++i)
      apart = std::max(apart, std::abs(gap.changes[i].t - shape.changes[i].t));
    expect_figure("instants of events, apart", apart, 0, 1e-11);
    expect_figure("q, apart", (gap.state.q - shape.state.q).norm(), 0, 1e-11);
    EXPECT_EQ(gap.model.name_of(gap.changes.back().after.front().place), "contact floor");
  }
}

// To what the correction of positions leaves: it stops at 1e-9 m or so.
TEST(GapContacts, TimeSteppingAsShapes) {
  for (const double e : {0.0, 0.5}) {
    Simulation gap(point_mass(true, 0.3, e)), shape(point_mass(false, 0.3, e));
    throw_it(gap.state);
    throw_it(shape.state);
    gap.run_until(2);
    shape.run_until(2);
    expect_figure("q, apart", (gap.state.q - shape.state.q).norm(), 0, 1e-6);
    expect_figure("work of friction", gap.ledger.friction, shape.ledger.friction, 1e-6);
    expect_figure("work of contacts", gap.ledger.contacts, shape.ledger.contacts, 1e-6);
  }
}

TEST(GapContacts, BadInput) {
  const auto complaint = [](const GapContact& c, const std::vector<std::string>& joints,
                            CoordinateSet set = CoordinateSet::as_marked) -> std::string {
    ModelBuilder b = point_mass(false, 0, 0);
    b.coordinates(set);
    b.body("other", ball_inertia(1, 0.1), joint(Prismatic{}));
    try {
      (void)b.gap_contact(c, joints).build();
    } catch (const InputError& e) { return e.what(); }
    return "";
  };
  const GapContact good{.name = "g", .terms = {{{}, 1, 0}, {{}, 0, 1}}};
  EXPECT_EQ(complaint(good, {"carriage", "mass"}), "");
  EXPECT_EQ(complaint(good, {"carriage", "mess"}),
            "gaps[0].terms[1].joint: no joint coordinate is called 'mess'");
  EXPECT_EQ(complaint(good, {"mass", "mass"}),
            "gaps[0].terms[1].joint: the coordinate 'mass' has a term already");
  EXPECT_EQ(complaint(good, {"carriage", "other"}),
            "gaps[0].terms[1].joint: expected joints of one tree, 'other' hangs on another than "
            "'carriage'");
  EXPECT_EQ(complaint(good, {"carriage", "mass"}, CoordinateSet::maximal),
            "gaps[0].terms[0].joint: expected a joint that is not cut, 'carriage' is: gaps are "
            "functions of the coordinates of a tree");
  EXPECT_EQ(complaint(good, {"carriage"}),
            "gaps[0].terms: expected a joint for each of 2 terms, got 1");
  GapContact bad = good;
  bad.terms[0].gap = 0;
  EXPECT_EQ(complaint(bad, {"carriage", "mass"}),
            "gaps[0].terms: expected a term with a gap: this one never changes");
  bad = good;
  bad.restitution = 1.5;
  EXPECT_EQ(complaint(bad, {"carriage", "mass"}),
            "gaps[0].restitution: expected a number in [0, 1], got 1.5");
  bad = good;
  bad.mu = -1;
  EXPECT_EQ(complaint(bad, {"carriage", "mass"}),
            "gaps[0].friction: expected a number >= 0, got -1");
}

// A limit that is open and approached has no say in an event elsewhere: it once closed there.
TEST(GapContacts, OpenOnesStayOutOfEventsElsewhere) {
  for (const bool limit : {false, true}) {
    ModelBuilder b = point_mass(false, 0.3, 0);
    JointSpec far = joint(Prismatic{});
    if (limit) far.dofs = {{.upper = 5}};
    b.body("runaway", ball_inertia(1, 0.1), far);
    if (!limit) {
      GapContact wall{.name = "wall", .offset = 5, .terms = {{{}, -1, 0}}};
      b.gap_contact(wall, {"runaway"});
    }
    EventSimulation s(b);
    throw_it(s.state);
    Vec v(3);
    s.state.q.conservativeResize(3);
    s.state.q[2] = 0;
    v << s.state.v[0], s.state.v[1], 1;
    s.state.v = v;
    ASSERT_TRUE(s.run_until(6)) << s.failure;
    s.print();
    expect_figure("stopped at", s.state.q[2], 5, 1e-12);
    bool early = false;
    for (const ModeChange& c : s.changes)
      for (const ModeMember& m : c.after) early = early || (m.place.slot >= 0 && c.t < 4.99);
    EXPECT_FALSE(early);
  }
}
