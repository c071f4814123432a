// Rods that touch between their stations: isolated minima, points added to rods that lie, rods on
// rods; and rods whose sections have a law of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "saltus/lie/so3.h"
#include "saltus/rods/rod.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/allocations.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using test::expect_figure;

RodSpec rod_of(const std::vector<SegmentSpec>& segments, const Joint& base, int touches) {
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = base;
  rod.segments = segments;
  for (SegmentSpec& s : rod.segments) s.touches = touches;
  return rod;
}

// A sphere at every station and every place between them, against all of `others`.
void touch(ModelBuilder& builder, const RodSpec& rod, double radius,
           const std::vector<std::string>& others, const ContactLaw& law) {
  std::vector<std::string> own;
  for (const auto& names : {station_names(rod), touch_names(rod)})
    for (const auto& list : names) own.insert(own.end(), list.begin(), list.end());
  for (const std::string& name : own) builder.shape(name, name, {}, Sphere{radius});
  builder.contact(own, others, law);
}

SegmentSpec planar_piece(double length, double EI, int pieces = 2) {
  SegmentSpec s;
  s.length = length;
  s.basis = {{Strain::bend_z, BasisKind::constant, pieces}};
  const Vec6 H = Vec6::Constant(EI), I = (Vec6() << 1, 1, 1, 1e-6, 1e-6, 1e-6).finished();
  s.given = [H, I](double) {
    RodProperties p = test::diagonal_rod(H, I);
    p.damping = 0.01 * p.stiffness;
    return p;
  };
  s.points = 3;
  return s;
}

// Of the true curve, at 4000 places that the contact code does not know: the least distance of a
// rod's centre line from a point of the plane.
double least_distance(const test::Simulation& run, const Vec3& point) {
  double least = std::numeric_limits<double>::infinity();
  for (const RodElement& r : run.model.rods) {
    RodShape shape;
    shape.resize(*r.segment);
    const Vec q = run.state.q.segment(r.q0, r.size);
    reconstruct<double>(*r.segment, q, shape);
    const SE3& base = run.work.result.work.X[r.base];
    for (int i = 0; i <= 4000; ++i) {
      const RodPoint p = point_at(*r.segment, r.segment->spec.length * i / 4000);
      const Vec3 at = base.R * pose_at(p, q, shape).r + base.r;
      least = std::min(least, (at - point).norm());
    }
  }
  return least;
}

double force_on(const test::Simulation& run, const std::string& shape) {
  double sum = 0;
  for (const ContactImpulse& c : run.state.contacts)
    for (const int k : {c.key.a, c.key.b})
      if (run.model.shapes[k].name == shape) sum += c.Lambda[0] / run.options.dt;
  return sum;
}

// A stiff rod on two thin pegs, neither at a station: they carry it by the lever rule, whatever it
// is made of. Without places between its stations it falls through.
TEST(RodTouches, TwoPegsCarryByTheLeverRule) {
  constexpr double radius = 0.02, left = 0.15, right = 0.65;
  for (const int touches : {2, 0}) {
    RodSpec rod = rod_of({planar_piece(1, 100)}, Planar{}, touches);
    rod.theta.fill(1);  // what rings in it fades
    ModelBuilder builder;
    builder.planar(true).gravity({0, -1, 0}).rod(rod);
    builder.shape("left", "world", SE3::translation({left, -radius, 0}), Peg{radius});
    builder.shape("right", "world", SE3::translation({right, -radius, 0}), Peg{radius});
    ContactLaw law;
    law.mu1 = law.mu2 = 0.5;
    touch(builder, rod, 0, {"left", "right"}, law);
    test::Simulation run(builder, 2e-3);
    run.state.q[1] = 1e-3;
    double deepest = 0, reported = 0;
    for (int i = 0; i < 300; ++i) {
      reported = std::max(reported, run.step().projection.penetration);
      for (const double x : {left, right})
        if (i % 10 == 0) deepest = std::max(deepest, radius - least_distance(run, {x, -radius, 0}));
    }
    if (touches == 0) {
      EXPECT_GT(deepest, 0.01);
      continue;
    }
    expect_figure("deepest of the true curve [m]", deepest, 0, 1.001e-6);
    expect_figure("deepest as reported [m]", reported, 0, 1e-6);
    expect_figure("left force, of the weight", force_on(run, "left"), 0.3, 1e-4);
    expect_figure("right force", force_on(run, "right"), 0.7, 1e-4);
    EXPECT_EQ(run.state.contacts.size(), 2U);
  }
}

// Drawn along a peg the place goes with it, from station to station.
TEST(RodTouches, FollowsAPegAlongTheRod) {
  constexpr double radius = 0.02, speed = 0.5;
  RodSpec rod = rod_of({planar_piece(1, 1e4)}, Prismatic{Vec3::UnitX()}, 2);
  rod.joint.dofs.resize(1);
  rod.joint.dofs[0].prescribed = true;
  ModelBuilder builder;
  builder.planar(true).gravity({0, 0, 0}).rod(rod);
  // The clamped rod is pushed up by a hundredth of a millimetre.
  builder.shape("peg", "world", SE3::translation({0.8, -radius + 1e-5, 0}), Peg{radius});
  touch(builder, rod, 0, {"peg"}, {});
  test::Simulation run(builder, 1e-3);
  run.actuation.prescribed = {{run.model.coordinate("rod.base"), Table{{0, 1}, {0, speed}}}};
  impose_prescribed(run.model, run.actuation, run.state);
  int at_places = 0;
  double off = 0, deepest = 0;
  for (int i = 0; i < 600; ++i) {
    const StepReport r = run.step();
    deepest = std::max(deepest, r.projection.penetration);
    const double x = 0.8 - speed * (run.state.t - 0.5 * run.options.dt);  // in the rod, mid-point
    for (const ContactImpulse& c : run.state.contacts) {
      const Body& body =
          run.model.bodies[run.model.shapes[c.key.a].body.valid() ? run.model.shapes[c.key.a].body
                                                                  : run.model.shapes[c.key.b].body];
      if (body.name.find("touch") == std::string::npos) continue;
      ++at_places;
      const int j = body.name.back() - '1';
      off = std::max(off, std::abs(run.state.touches[j] - x));
    }
  }
  fmt::print("    {} of 600 steps at places between stations\n", at_places);
  EXPECT_GT(at_places, 400);
  // A step's way, where it goes over a station from one interval to the next.
  expect_figure("place, of the peg's in the rod [m]", off, 0, 1.01 * speed * 1e-3);
  expect_figure("deepest [m]", deepest, 0, 1e-6);
}

// A soft rod laid over a log bends between its stations into it: places are added, the step is
// taken again, and in the end no part of the curve is deeper than a micrometre.
TEST(RodTouches, ALyingRodIsGivenPlaces) {
  constexpr double radius = 0.25;
  SegmentSpec s = planar_piece(1, 1e-3, 4);
  s.points = 2;
  const RodSpec rod = rod_of({s}, Planar{}, 16);
  ModelBuilder builder;
  builder.planar(true).gravity({0, -10, 0}).rod(rod);
  builder.shape("log", "world", SE3::translation({0.5, -radius, 0}), Peg{radius});
  ContactLaw law;
  law.mu1 = law.mu2 = 1;
  touch(builder, rod, 0, {"log"}, law);
  test::Simulation run(builder, 2e-3);
  run.state.q[1] = 1e-3;
  double deepest = 0, reported = 0;
  int repeated = 0, most = 0;
  for (int i = 0; i < 250; ++i) {
    const StepReport r = run.step();
    if (::testing::Test::HasFailure()) return;
    repeated += r.repeated;
    reported = std::max(reported, r.projection.penetration);
    if (i % 5 == 0) deepest = std::max(deepest, radius - least_distance(run, {0.5, -radius, 0}));
    most = std::max(most, static_cast<int>((run.state.touches.array() >= 0).count()));
  }
  fmt::print("    {} steps were taken again, {} places at most\n", repeated, most);
  EXPECT_GT(repeated, 0);
  EXPECT_GT(most, 1);
  expect_figure("deepest of the true curve [m]", deepest, 0, 1.001e-6);
  // What is said of a step is of its points; between them the curve is not deeper than this.
  expect_figure("deepest as reported [m]", reported, 0, 1e-6);
}

// A rod falls across another: they meet where neither has a station, by the radii of both.
TEST(RodTouches, RodsMeetBetweenTheirStations) {
  SegmentSpec s;
  s.length = 0.4;
  s.material = {1e10, 0.3, 1000, 1e7, 1};
  s.section = CircleSection{0.01};
  s.basis = {{Strain::bend_y, BasisKind::legendre, 1}, {Strain::bend_z, BasisKind::legendre, 1}};
  s.points = 3;
  RodSpec below = rod_of({s}, Fixed{}, 2);
  RodSpec above = rod_of({s}, Prismatic{Vec3::UnitZ()}, 2);
  above.name = "above";
  // Crosses at X = 0.3 of the lower one and at 0.25 of its own, 1 mm over it.
  const Mat3 turned = exp_so3(1.2 * Vec3::UnitZ());
  above.joint.placement = {turned, Vec3(0.3, 0, 0.021) - turned * Vec3(0.25, 0, 0)};
  ModelBuilder builder;
  builder.rod(below).rod(above);
  std::vector<std::string> own[2];
  int k = 0;
  for (const RodSpec* rod : {&below, &above}) {
    for (const auto& names : {station_names(*rod), touch_names(*rod)})
      for (const auto& list : names) own[k].insert(own[k].end(), list.begin(), list.end());
    for (const std::string& name : own[k]) builder.shape(name, name, {}, Sphere{0.01});
    ++k;
  }
  builder.contact(own[0], own[1], {});
  test::Simulation run(builder, 1e-3);
  run.run_until(0.3);
  ASSERT_EQ(run.state.contacts.size(), 1U);
  const auto place = [&](const char* body) {
    return run.work.result.work.X[run.model.body(body)].r;
  };
  ASSERT_GE(run.state.touches[0], 0);
  ASSERT_GE(run.state.touches[2], 0);
  expect_figure("place along the lower one", run.state.touches[0], 0.3, 1e-3);
  expect_figure("place along the upper one", run.state.touches[2], 0.25, 1e-3);
  expect_figure("distance of the axes", (place("above.touch1") - place("rod.touch1")).norm(), 0.02,
                1e-6);
  // The prismatic guide takes the rest; what crosses carries all of the weight of the upper one.
  const double weight = 0.4 * 1000 * M_PI * 1e-4 * 9.81;
  expect_figure("force, of the weight", run.state.contacts[0].Lambda[0] / run.options.dt / weight,
                1, 1e-2);
}

// A checkpoint in the middle goes on with the same bits; the second time nothing allocates.
TEST(RodTouches, PlacesAreState) {
  constexpr double radius = 0.02;
  const RodSpec rod = rod_of({planar_piece(1, 10)}, Planar{}, 3);
  ModelBuilder builder;
  builder.planar(true).gravity({0, -1, 0}).rod(rod);
  builder.shape("peg", "world", SE3::translation({0.4, -radius, 0}), Peg{radius});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.3;
  touch(builder, rod, 0, {"peg"}, law);
  test::Simulation run(builder, 1e-3);
  run.state.q[1] = 1e-3;
  const auto go = [&](int steps) {
    for (int i = 0; i < steps; ++i) (void)run.step();
  };
  go(100);
  const auto bytes = to_bytes(run.state);
  EXPECT_GE(run.state.touches.maxCoeff(), 0);
  go(100);
  const State end = run.state;
  run.work = StepWorkspace(run.model);
  run.state = from_bytes(run.model, bytes.data(), bytes.size());
  go(100);
  EXPECT_EQ(to_bytes(run.state), to_bytes(end));
#if SALTUS_COUNTS
  run.state = from_bytes(run.model, bytes.data(), bytes.size());
  std::size_t count = 0;
  for (int i = 0; i < 100; ++i) {
    const std::size_t before = test::allocations;
    (void)step(run.model, run.actuation, run.state, run.work, run.options);
    count += test::allocations - before;
  }
  expect_figure("allocations in 100 steps", static_cast<double>(count), 0, 0);
#endif
}

// A law that is a second spring and a second dashpot: the same motion as of their sum, up to what
// is explicit in it, O(dt); its work is in the books.
TEST(RodRheology, AddsToTheMaterial) {
  double off[2];
  for (int k = 0; k < 2; ++k) {
    SegmentSpec half = planar_piece(1, 0.5), whole = planar_piece(1, 1);
    half.rheology = [](double, const Vec6& strain, const Vec6& rate) {
      Vec6 stress = 0.5 * strain + 0.005 * rate;
      stress[0] = 0;
      return stress;
    };
    std::vector<Vec> end;
    for (const SegmentSpec& s : {whole, half}) {
      ModelBuilder builder;
      builder.planar(true).gravity({0, -1, 0}).rod(rod_of({s}, Fixed{}, 0));
      test::Simulation run(builder, k == 0 ? 2e-3 : 1e-3);
      run.run_until(0.4);
      end.push_back(run.state.q);
      const EnergyTerms& e = run.ledger;
      expect_figure("what the books lack", e.integrator, 0, 1e-4);
      EXPECT_EQ(e.external < 0, static_cast<bool>(s.rheology));
    }
    off[k] = (end[1] - end[0]).norm() / end[0].norm();
  }
  fmt::print("    off by {:.1e} at 2 ms, {:.1e} at 1 ms\n", off[0], off[1]);
  EXPECT_LE(off[1], 1e-2);
  EXPECT_LT(off[1], 0.7 * off[0]);
}

TEST(RodRheology, NoNumberIsReportedWhenItHappens) {
  SegmentSpec s = planar_piece(1, 1);
  s.rheology = [](double, const Vec6& strain, const Vec6&) {
    return Vec6(Vec6::Constant(std::sqrt(1 + strain[5]) - 1));  // no number where bent by -1
  };
  ModelBuilder builder;
  builder.planar(true).gravity({0, -9.81, 0}).rod(rod_of({s}, Fixed{}, 0));
  test::Simulation run(builder, 1e-3);
  bool reported = false;
  for (int i = 0; i < 2000 && !reported; ++i) {
    const State before = run.state;
    const StepReport r = step(run.model, run.actuation, run.state, run.work, run.options);
    if (!r.diverged) continue;
    reported = true;
    EXPECT_TRUE(r.no_stress);
    EXPECT_EQ(run.model.bodies[run.model.v_body[r.culprit]].name, "rod.1");
    EXPECT_EQ(run.state.q, before.q);
    fmt::print("    reported at t = {:.3f} s\n", run.state.t);
  }
  EXPECT_TRUE(reported);
}

}  // namespace
}  // namespace saltus
