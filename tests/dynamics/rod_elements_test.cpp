// A rod as elements of a model against saltus/rods, which knows no model.
#include <gtest/gtest.h>

#include "saltus/base/error.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/forces/rod_forces.h"
#include "saltus/model/builder.h"
#include "saltus/rods/rod.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
using test::Worst;

RodSpec free_rod(const std::vector<SegmentSpec>& segments) {
  RodSpec rod;
  rod.name = "rod";
  rod.joint.kind = Floating{};
  rod.segments = segments;
  return rod;
}

// Rounding of chains of up to 36 stations, in numbers of size one.
TEST(RodElements, TheSameAsTheRodAlone) {
  Worst mass("M", 1e-12), poses("poses of stations", 1e-13), twists("twists", 1e-12);
  Worst energy("energies", 1e-12), momenta("momenta", 1e-12), forces("accelerations", 1e-8);
  for (const auto seed : seeds(1, 25)) {
    Random random(seed);
    std::vector<SegmentSpec> specs;
    for (int k = random.integer(1, 3); k > 0; --k)
      specs.push_back(test::random_segment(random).spec);
    const Rod rod = make_rod(specs);
    ModelBuilder builder;
    builder.rod(free_rod(specs));
    const Model model = builder.build();
    ASSERT_EQ(model.nv, 6 + rod.size);
    RodState alone{random.pose(), random.vector6(), random.vector(rod.size, 0.3),
                   random.vector(rod.size, 0.3)};
    RodWork work;
    work.resize(rod);
    rod_motion(rod, alone, work);
    const RodLoads loads{.gravity = model.gravity};
    rod_wrenches(rod, loads, work);

    State state = make_state(model);
    const Mat3& R = alone.base.R;
    const Quat p(R);
    state.q << alone.base.r, p.w(), p.x(), p.y(), p.z(), alone.q;
    state.v << R * alone.V.head<3>(), alone.V.tail<3>(), alone.v;
    Workspace w(model);
    forward_kinematics(model, state.q, state.v, w);

    for (std::size_t s = 0; s < model.rods.size(); ++s)
      for (int i = 0; i < model.rods[s].stations; ++i) {
        const int body = model.rods[s].first + i;
        const int station = std::get<RodPiece>(model.bodies[body].joint).station;
        const SE3 X = rod_pose(work, static_cast<int>(s), station);
        poses.add((X.R - w.X[body].R).norm() + (X.r - w.X[body].r).norm(), seed);
        twists.add((work.twist[s][station] - w.V[body]).norm(), seed);
      }

    // V_0 = T v: the floating joint's linear velocity is in the world's axes.
    Mat T = Mat::Identity(model.nv, model.nv);
    T.topLeftCorner<3, 3>() = R.transpose();
    Mat M(model.nv, model.nv);
    rod_mass(rod, work, M);
    crba(model, w);
    mass.add((w.M - T.transpose() * M * T).norm() / M.norm(), seed);

    const RodEnergy e = rod_energy(rod, alone, work, model.gravity);
    energy.add(std::abs(kinetic_energy(model, state.v, w) - e.kinetic) / e.kinetic, seed);
    energy.add(std::abs(elastic_energy(model, state.q) - e.elastic) / e.elastic, seed);
    energy.add(std::abs(gravity_energy(model, w) - e.gravity) / (1 + std::abs(e.gravity)), seed);
    const Momentum h = momentum(model, w);
    momenta.add((join(h.linear, h.angular) - rod_momentum(rod, work)).norm(), seed);

    Vec6 a = Vec6::Zero();
    Vec coefficients(rod.size);
    const Mat6X all = Mat6::Identity();
    ASSERT_TRUE(rod_articulated(rod, alone, work, &all, Vec6::Zero(), a, coefficients));
    Vec tau = Vec::Zero(model.nv), found(model.nv);
    const Vec zero = Vec::Zero(model.nv);
    const RodPowers power = add_rod_forces(model, state.q, state.v, zero, zero, tau);
    EXPECT_LE(power.dampers, 0);
    EXPECT_EQ(power.muscles, 0);
    aba(model, tau, w, found);
    Vec expected(model.nv);
    expected << R * (a.head<3>() + alone.V.tail<3>().cross(alone.V.head<3>())), a.tail<3>(),
        coefficients;
    forces.add((found - expected).norm() / expected.norm(), seed);
  }
}

TEST(RodElements, NamesOfStationsAndCoefficients) {
  SegmentSpec s = test::unit_rod(
      {{Strain::bend_y, BasisKind::constant, 1}, {Strain::bend_z, BasisKind::legendre, 2}});
  s.points = 3;
  ModelBuilder builder;
  RodSpec rod = free_rod({s, s});
  rod.joint.kind = Fixed{};
  rod.prescribed = {"s2.bend_z.1"};
  builder.rod(rod);
  const Model model = builder.build();
  EXPECT_EQ(model.body("rod.base"), 0);
  EXPECT_EQ(model.body("rod.3"), 3);
  EXPECT_EQ(model.body("rod.s1.tip"), 4);
  EXPECT_EQ(model.body("rod.6"), 7);
  EXPECT_EQ(model.body("rod.tip"), 8);
  EXPECT_EQ(model.coordinates[model.coordinate("rod.s1.bend_z.1")].v_index, 2);
  const Coordinate& last = model.coordinates[model.coordinate("rod.s2.bend_z.1")];
  EXPECT_EQ(last.v_index, 5);
  EXPECT_TRUE(last.dof.prescribed);
  EXPECT_EQ(model.rods[1].coordinate, 3);
}

std::string complaint(const RodSpec& rod, bool planar = false,
                      CoordinateSet set = CoordinateSet::as_marked) {
  try {
    ModelBuilder builder;
    builder.planar(planar).coordinates(set).rod(rod);
    (void)builder.build();
  } catch (const InputError& e) { return e.what(); }
  return "";
}

TEST(RodElements, BadInput) {
  const auto good = [] {
    SegmentSpec s;
    s.length = 1;
    s.material = {1e6, 0.3, 1000, 0, 1};
    s.section = CircleSection{0.01};
    s.basis = {{Strain::bend_y, BasisKind::legendre, 2}};
    RodSpec rod = free_rod({s});
    rod.joint.kind = Fixed{};
    return rod;
  };
  const auto with = [&](auto change) {
    RodSpec rod = good();
    change(rod, rod.segments[0]);
    return complaint(rod);
  };
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
  };
  EXPECT_EQ(complaint(good()), "");
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect(with([](RodSpec& r, SegmentSpec&) { r.name = ""; }), "rods[0].name");
  expect(with([](RodSpec& r, SegmentSpec&) { r.segments.clear(); }), "rods[0].segments");
  expect(with([](RodSpec&, SegmentSpec& s) { s.length = nan; }), "rods[0].length");
  expect(with([](RodSpec&, SegmentSpec& s) { s.section = CircleSection{-1}; }), "rods[0].section");
  expect(with([](RodSpec&, SegmentSpec& s) { s.material.E = nan; }), "rods[0].material.E");
  expect(with([](RodSpec&, SegmentSpec& s) { s.basis.clear(); }), "rods[0].basis");
  expect(with([](RodSpec&, SegmentSpec& s) { s.basis.push_back(s.basis[0]); }),
         "linearly independent");
  expect(with([](RodSpec&, SegmentSpec& s) { s.basis[0].count = 300; }), "at most 200");
  expect(
      with([](RodSpec&, SegmentSpec& s) { s.rest = [](double) { return Vec6(-Vec6::Unit(0)); }; }),
      "rods[0].rest");
  expect(with([](RodSpec& r, SegmentSpec&) { r.theta[4] = 0.4; }), "rods[0].theta");
  expect(with([](RodSpec& r, SegmentSpec&) { r.prescribed = {"bend_z.0"}; }), "rods[0].prescribed");
  expect(with([](RodSpec& r, SegmentSpec&) { r.joint.parent = "nobody"; }), "'nobody'");
  expect(complaint(good(), true), "planar model bend about z");
  expect(complaint(good(), false, CoordinateSet::maximal), "cannot be cut");
}

}  // namespace
}  // namespace saltus
