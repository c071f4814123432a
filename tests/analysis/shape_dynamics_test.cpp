// Classes, reduced dynamics and torques against VERIFY-P4.md (sections 3, 4, 5, 7, 8), and the
// reduced dynamics against the engine's own forward dynamics.
#include "saltus/analysis/shape_dynamics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/analysis/classify.h"
#include "saltus/lie/so3.h"
#include "saltus/model/builder.h"
#include "tests/support/shape_case.h"

namespace saltus {
namespace {

using test::ShapeCase;
constexpr double pi = std::numbers::pi;
const double open_rate = std::nan("");

Vec vec(std::initializer_list<double> x) {
  Vec v(static_cast<int>(x.size()));
  std::copy(x.begin(), x.end(), v.data());
  return v;
}
void expect_near(const Vec& a, const Vec& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (int i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "component " << i;
}

ShapeCase snake(int modules) { return ShapeCase(test::wheeled_snake(modules)).axles(); }
const std::vector<std::string> r4 = {"r1", "r2", "r3", "r4"};

TEST(Classify, WheeledSnake) {  // section 3
  const auto ranks = [](const std::vector<double>& r) {
    const ShapeCase c = snake(static_cast<int>(r.size()) + 1);
    const Classification k =
        classify(c.model, c.space, c.medium.rows, Eigen::Map<const Vec>(r.data(), c.space.p()));
    return std::tuple{k.kind, k.rank, k.rank_all};
  };
  using C = ShapeClass;
  EXPECT_EQ(ranks({0.4, 0.4}), (std::tuple{C::under, 2, 3}));
  EXPECT_EQ(ranks({0, 0}), (std::tuple{C::under, 2, 3}));
  EXPECT_EQ(ranks({0.4, 0.4, 0.4, 0.4}), (std::tuple{C::under, 2, 5}));
  EXPECT_EQ(ranks({0, 0, 0, 0}), (std::tuple{C::under, 2, 5}));
  EXPECT_EQ(ranks({0.4, 0.4, 0.3, 0.4}), (std::tuple{C::over, 3, 5}));
  EXPECT_EQ(ranks({0.3, -0.8}), (std::tuple{C::fully, 3, 3}));
}

TEST(Classify, LockedTwistAtConstantCurvature) {  // section 3: (-h cot(r/2), 0, 1), h = 1/2
  const ShapeCase c = snake(5);
  const double r = 0.4;
  const Vec shape = Vec::Constant(4, r);
  const Classification k = classify(c.model, c.space, c.medium.rows, shape);
  ASSERT_EQ(k.H.cols(), 1);
  const Vec H = k.H / k.H(2, 0);
  expect_near(H, vec({-0.5 / std::tan(r / 2), 0, 1}), 1e-13);
  EXPECT_EQ(k.N.cols(), 3);
  // The straight one slides along itself.
  const Mat straight = classify(c.model, c.space, c.medium.rows, Vec::Zero(4)).H;
  expect_near(straight / straight(0, 0), vec({1, 0, 0}), 1e-15);
}

TEST(Classify, CompletedRates) {  // section 3
  const ShapeCase c = snake(5);
  const CompletedRates x =
      complete_rates(c.model, c.space, c.medium.rows, c.shape(r4, {0.5, -0.3, 0.4, 0.2}),
                     Vec::Constant(3, open_rate), vec({0.3, -0.5, open_rate, open_rate}));
  EXPECT_TRUE(x.unique);
  expect_near(x.eta, vec({-0.1563036673508, 0, -0.0799581670794}), 1e-12);
  expect_near(x.rdot, vec({0.3, -0.5, 0.6002938834564, -0.6265873002125}), 1e-12);
  // They are a combination of what the classification calls compatible, one direction is free.
  const Classification k =
      classify(c.model, c.space, c.medium.rows, c.shape(r4, {0.5, -0.3, 0.4, 0.2}));
  ASSERT_EQ(k.rates.cols(), 2);
  EXPECT_LT((x.rdot - k.rates * (k.rates.transpose() * x.rdot)).norm(), 1e-13);
}

// The head is driven at V = 1, r1 = .6 sin(pi t); the others follow (section 3), and obey the
// follower law r_j' = -w_j (1 + cos r_j) - (V_j/h) sin r_j.
TEST(Classify, TheOthersFollowTheHead) {
  const ShapeCase c = snake(5);
  const auto rates_at = [&](double t, VecIn others) {
    Vec r(4);
    r << 0.6 * std::sin(pi * t), others;
    return complete_rates(c.model, c.space, c.medium.rows, r, vec({1, open_rate, open_rate}),
                          vec({0.6 * pi * std::cos(pi * t), open_rate, open_rate, open_rate}));
  };
  NetState state{SE3{}, Vec::Zero(3)};
  const NetIntegration done = integrate_net(
      [&](double t, const NetState& s, Vec6& twist, VecRef xdot) {
        const CompletedRates x = rates_at(t, s.x);
        twist = c.space.basis * x.eta;
        xdot = x.rdot.tail(3);
      },
      0, 2, 1e-13, state);
  EXPECT_TRUE(done.done);
  expect_near(state.x, vec({-0.54152376717483, 0.5088137047767, 0.37457519457587}), 1e-12);
  EXPECT_NEAR(state.g.r.x(), 1.8977078036018, 1e-12);
  EXPECT_NEAR(state.g.r.y(), -0.3746566028962, 1e-12);
  const CompletedRates x = rates_at(0.3, vec({0.2, -0.5, 0.4}));
  double V = x.eta[0], w = x.eta[2];
  const double r[] = {0.6 * std::sin(pi * 0.3), 0.2, -0.5, 0.4};
  for (int j = 0; j < 4; ++j) {
    EXPECT_NEAR(x.rdot[j], -w * (1 + std::cos(r[j])) - 2 * V * std::sin(r[j]), 1e-13);
    const double next = V * std::cos(r[j]) - 0.5 * w * std::sin(r[j]);
    w += x.rdot[j];
    V = next;
  }
}

// --- mixed systems -------------------------------------------------------------------------------

struct Mixed : ShapeCase {
  NetForces forces;
  explicit Mixed(Model m) : ShapeCase(std::move(m)) { forces.rows = edge_rows(model); }
  [[nodiscard]] ReducedMotion run(const ShapePath& path, const ReducedStart& start,
                                  const std::vector<double>& times) const {
    return reduced_motion(model, space, forces, path, start, times);
  }
};

TEST(ReducedDynamics, Trikke) {  // section 4
  const Mixed c(test::trikke());
  const ShapePath path =
      c.path({"phi", "gam"}, {Sine{0.5, 2, 0, 0}, Sine{0.6, 2, pi / 2, 0}}, 2 * pi);
  const ReducedMotion m = c.run(path, {{}, vec({0, 0, 0})}, {0, pi / 4, pi, 2 * pi});
  ASSERT_TRUE(m.done);
  const double table[4][4] = {
      {0, 0, 0, 0.3387854840370},
      {0.0456401621969, 0.0022656081944, 0.0780883791291, 1.301164344258},
      {0.2217123076260, -0.0043031519932, -0.0390074624608, 4.3070209742524},
      {0.896970068954, -0.009083980385, -0.0859056137759, 9.0779775229253}};
  for (int i = 0; i < 4; ++i) {
    const ReducedState& s = m.at[i];
    EXPECT_NEAR(s.g.r.x(), table[i][0], 1e-11);
    EXPECT_NEAR(s.g.r.y(), table[i][1], 1e-11);
    EXPECT_NEAR(s.turn, table[i][2], 1e-11);
    const double phi = 0.5 * std::sin(2 * s.t);  // H of that section
    EXPECT_NEAR(s.P.dot(Vec3(std::cos(phi) - 0.1, 0, std::sin(phi))), table[i][3], 2e-10);
  }
  expect_near(m.at[2].eta, vec({0.1336106225662, 0, 1.0 / 9}), 1e-11);
  const Torques t = torques(c.model, c.space, c.forces, instant(path, pi), m.at[2].eta);
  EXPECT_NEAR(t.tau[c.space.variable("phi")], 0.3126808315382, 1e-10);
  EXPECT_NEAR(t.tau[c.space.variable("gam")], -4.6909803026715, 1e-10);
  expect_near(t.lambda, vec({12.2511587125631, 1.7461652155315}), 1e-10);
}

ShapePath drive_gait(const Mixed& c, double end) {
  return c.path({"psi", "phi_f", "phi_b"},
                {Sine{0.7, 1, 0, 0}, Sine{0.3, 1, 0, 0}, Sine{-0.3, 1, 0, 0}}, end);
}

TEST(ReducedDynamics, Snakeboard) {  // sections 4 and 5
  const Mixed c(test::snakeboard());
  const ShapePath path = drive_gait(c, 6 * pi);
  const ReducedMotion m = c.run(path, {}, {1, 6 * pi});
  ASSERT_TRUE(m.done);
  const auto p_of = [&](const ReducedState& s) {  // H = (1, 0, tan(phi)/l)
    return s.P.dot(Vec3(1, 0, std::tan(0.3 * std::sin(s.t)) / 0.2));
  };
  EXPECT_NEAR(p_of(m.at[1]), 0.7045274430, 1e-10);
  EXPECT_NEAR(m.at[1].g.r.x(), 1.0776520406, 1e-10);  // VERIFY.md
  EXPECT_NEAR(m.at[1].g.r.y(), -0.0033000857, 1e-10);
  EXPECT_NEAR(m.at[1].turn, -0.1743768713, 1e-10);
  EXPECT_NEAR(m.at[0].eta[0], 0.003304175941209, 1e-13);
  EXPECT_NEAR(m.at[0].eta[2], 0.004261462044716, 1e-13);
  const ShapeInstant now = instant(path, 1);
  const Torques t = torques(c.model, c.space, c.forces, now, m.at[0].eta);
  EXPECT_NEAR(t.tau[c.space.variable("psi")], -0.04142361137495, 1e-12);
  EXPECT_NEAR(t.tau[c.space.variable("phi_f")], -0.000310361404392, 1e-12);
  EXPECT_NEAR(t.tau[c.space.variable("phi_b")], 0.0003459859637582, 1e-12);
  expect_near(t.lambda, vec({-0.100961984759, 0.1010492337914}), 1e-11);
  EXPECT_NEAR(t.power, -0.01577327871923, 1e-12);
  EXPECT_NEAR(t.energy, 0.005334717134283, 1e-13);
}

// p' of the snakeboard's own equation, p' = (m l^2 th' + Jr psi') phi'/(l cos^2 phi), along the
// way.
TEST(ReducedDynamics, SnakeboardObeysItsMomentumEquation) {
  const Mixed c(test::snakeboard());
  const ShapePath path = drive_gait(c, 3);
  NetState exact{SE3{}, Vec::Zero(1)};
  const auto v_of = [](double t, double p) {
    const double k = std::tan(0.3 * std::sin(t)) / 0.2;
    return (p - 0.072 * 0.7 * std::cos(t) * k) / (6 * (1 + 0.04 * k * k));
  };
  const NetIntegration done = integrate_net(
      [&](double t, const NetState& s, Vec6& twist, VecRef xdot) {
        const double phi = 0.3 * std::sin(t), k = std::tan(phi) / 0.2, v = v_of(t, s.x[0]);
        twist << v, 0, 0, 0, 0, v * k;
        xdot[0] = (6 * 0.04 * v * k + 0.072 * 0.7 * std::cos(t)) * 0.3 * std::cos(t) /
                  (0.2 * std::cos(phi) * std::cos(phi));
      },
      0, 3, 1e-13, exact);
  ASSERT_TRUE(done.done);
  const ReducedMotion m = c.run(path, {}, {3});
  EXPECT_NEAR(m.at[0].g.r.x(), exact.g.r.x(), 1e-12);
  EXPECT_NEAR(m.at[0].g.r.y(), exact.g.r.y(), 1e-12);
  EXPECT_NEAR(m.at[0].eta[0], v_of(3, exact.x[0]), 1e-12);
}

// --- torques -------------------------------------------------------------------------------------

TEST(Torques, ThreeModules) {  // section 5
  const Mixed c(test::wheeled_snake(3));
  const ShapePath G1 =
      c.path({"r1", "r2"}, {Sine{0.3, 1, pi / 2, 0.6}, Sine{0.3, 1, 0, -0.6}}, 2 * pi);
  const ShapeInstant now = instant(G1, 1);
  const Vec eta = net_twist(c.model, c.space, by_rows(c.forces.rows), now.r, now.rdot).eta;
  expect_near(eta, vec({-0.0040482584295, 0, 0.1497228150427}), 1e-12);
  const Torques t = torques(c.model, c.space, c.forces, now, eta);
  expect_near(t.lambda, vec({-0.4981499365247, 1.0179334015712, -0.493331397744}), 1e-12);
  expect_near(t.tau, vec({-0.2680668530869, -0.2598714084491}), 1e-12);
  EXPECT_NEAR(t.power, 0.0255484072941, 1e-12);
  EXPECT_EQ(t.stat.cols(), 0);
}

ShapeInstant five_modules() {  // section 5
  return {vec({0.3221088436188, -0.2641669663605, -0.4845189071864, -0.0336817752515}),
          vec({0.3824210936422, 0.4245183316229, -0.1186531175407, -0.5043992878411}),
          vec({-0.3221088436188, 0.2641669663605, 0.4872205484286, 0.040429553198})};
}

TEST(Torques, FiveModulesAreHyperstatic) {  // section 5; 1e-11: its rates have 13 digits
  const Mixed c(test::wheeled_snake(5));
  const Vec eta = vec({0.6669329386708, 0, -0.4129591980243});
  const Torques t = torques(c.model, c.space, c.forces, five_modules(), eta);
  expect_near(t.eta_dot, vec({-0.0169674896469, 0, -0.1031557630087}), 1e-11);
  expect_near(
      t.lambda,
      vec({-0.1904539733299, 0.0723279253421, 0.0766865441055, -0.0291800673063, 0.0784444186943}),
      1e-11);
  expect_near(t.tau, vec({0.0510773726639, 0.2085589623958, 0.3040793559175, 0.1486498480312}),
              1e-11);
  EXPECT_NEAR(t.energy, 1.1806694758439, 1e-12);
  EXPECT_NEAR(t.power, -0.0029886735683, 1e-11);
  ASSERT_EQ(t.stat.cols(), 2);
  // Stresses among the axles do no work and move nothing: torques change, power does not.
  EXPECT_LT((t.tau_stat.transpose() * five_modules().rdot).norm(), 1e-12);
  const Vec c_least = least_torque(t), least = t.tau + t.tau_stat * c_least;
  EXPECT_LT(least.norm(), t.tau.norm());
  EXPECT_NEAR(least.dot(five_modules().rdot), t.power, 1e-12);
  EXPECT_LT((t.tau_stat.transpose() * least).norm(), 1e-13);  // no direction makes it smaller
  // Other weights, other axle forces, the same power.
  const Torques w = torques(c.model, c.space, c.forces, five_modules(), eta, {}, {1, 10, 1, 1, 3});
  EXPECT_GT((w.lambda - t.lambda).norm(), 1e-3);
  EXPECT_LT(std::abs(w.lambda[1]), std::abs(t.lambda[1]));
  EXPECT_NEAR(w.power, t.power, 1e-12);
}

// A snake of length 1 in n modules with an axle each, mass 1 in all, of points.
Model fine_snake(int n) {
  const double l = 1.0 / n;
  ModelBuilder b;
  b.planar(true).gravity(Vec3::Zero());
  for (int i = 1; i <= n; ++i) {
    const std::string name = fmt::format("module{}", i);
    JointSpec joint;
    joint.kind = Planar{};
    if (i > 1) {
      joint.name = fmt::format("r{}", i - 1);
      joint.parent = fmt::format("module{}", i - 1);
      joint.kind = Revolute{Vec3::UnitZ()};
      joint.placement.r = {-l / 2, 0, 0};
      joint.in_body.r = {l / 2, 0, 0};
    }
    b.body(name, {l, Vec3::Zero(), 1e-12 * Mat3::Identity()}, joint);
    Runner axle;
    axle.name = fmt::format("axle{}", i);
    axle.edge = true;
    b.runner(axle, name);
  }
  return b.build();
}

// Axle forces per length at s = .25, .5, .75 and moments of [0, s] on [s, 1] at .1, .25, .5, .75,
// .9 of the snake whose modules have the headings alpha sin(2 pi (sigma - s)/.8), alpha = .764, at
// their middles, sigma = 2, sigma' = 1.
Vec snake_stress(int n) {
  const Mixed c(fine_snake(n));
  const double k = 2 * pi / 0.8, alpha = 6 / k, l = 1.0 / n;
  ShapeInstant now{Vec(n - 1), Vec(n - 1), Vec(n - 1)};
  const auto heading = [&](int j) -> Vec3 {  // with its rates
    const double p = k * (2 - (j + 0.5) * l);
    return alpha * Vec3(std::sin(p), k * std::cos(p), -k * k * std::sin(p));
  };
  for (int j = 0; j + 1 < n; ++j) {
    const Vec3 bend = heading(j + 1) - heading(j);
    const int at = c.space.variable(fmt::format("r{}", j + 1));
    now.r[at] = bend[0];
    now.rdot[at] = bend[1];
    now.rddot[at] = bend[2];
  }
  const Vec eta = net_twist(c.model, c.space, by_rows(c.forces.rows), now.r, now.rdot).eta;
  const Torques t = torques(c.model, c.space, c.forces, now, eta);
  Vec out(8);
  int i = 0;
  for (const double s : {0.25, 0.5, 0.75}) {  // between two modules
    const int j = static_cast<int>(std::lround(s * n));
    out[i++] = (t.lambda[j - 1] + t.lambda[j]) / (2 * l);
  }
  for (const double s : {0.1, 0.25, 0.5, 0.75, 0.9})
    out[i++] = t.tau[c.space.variable(fmt::format("r{}", static_cast<int>(std::lround(s * n))))];
  return out;
}

// VERIFY-P4 section 10: reactions of the continuous snake of least int lambda^2 ds, as the limit of
// modules: of second order; of two with a half of the length their combination has the fourth, of
// two such the sixth.
TEST(Torques, ContinuousSnake) {
  const Vec limit = vec(
      {-.75762571, .15287176, -1.56124931, .03294300, .13935550, .16242608, .01301429, -.00765125});
  const Vec coarse = snake_stress(20), fine = snake_stress(40), finest = snake_stress(80);
  EXPECT_NEAR(std::log2((coarse - limit).norm() / (fine - limit).norm()), 2, 0.1);
  EXPECT_NEAR(std::log2((fine - limit).norm() / (finest - limit).norm()), 2, 0.05);
  const Vec fourth = (4 * fine - coarse) / 3, better = (4 * finest - fine) / 3;
  expect_near((16 * better - fourth) / 15, limit, 1e-6);
}

// --- no axles ------------------------------------------------------------------------------------

TEST(ReducedDynamics, IsotropicDragKeepsZeroMomentum) {  // section 8
  Mixed c(test::chain(std::vector<test::ChainLink>(3), 1));
  const ShapePath path = c.circle({"a1", "a2"}, 1, 1, 0.5);
  for (const double drag : {0.3, 1.0, 5.0}) {
    c.forces.resistances.assign(3, slender_resistance(1, drag, drag));
    const ReducedMotion m = c.run(path, {}, {2 * pi});
    EXPECT_LT(m.at[0].P.norm(), 1e-12);
    EXPECT_NEAR(m.at[0].g.r.x(), -0.0171766214049, 5e-13);
    EXPECT_NEAR(m.at[0].g.r.y(), 0.0049064920844, 5e-13);
    EXPECT_NEAR(m.at[0].turn, -0.0564793909203, 5e-13);
  }
}

TEST(ReducedDynamics, AnisotropicDrag) {  // section 8: the middle link at rest at t = 0
  Mixed c(test::chain(std::vector<test::ChainLink>(3), 1));
  c.forces.resistances.assign(3, slender_resistance(1, 1, 2));
  const ReducedMotion m = c.run(c.circle({"a1", "a2"}, 0, 0, 1), {{}, Vec::Zero(3)}, {2 * pi});
  EXPECT_NEAR(m.at[0].g.r.x(), -0.0692927877139, 1e-12);
  EXPECT_NEAR(m.at[0].g.r.y(), 0.0920995999679, 1e-12);
  EXPECT_NEAR(m.at[0].turn, 0.1671368898463, 1e-12);
}

// After some periods every cycle is the same, seen from the middle link at its start (section 8).
// What is left of the start decays by a factor of about 20 a period, so sixteen leave nothing.
TEST(ReducedDynamics, AnisotropicDragSettles) {
  Mixed c(test::chain(std::vector<test::ChainLink>(3), 1));
  c.forces.resistances.assign(3, slender_resistance(1, 1, 2));
  ShapePath path = c.circle({"a1", "a2"}, 0, 0, 1);
  path.end = 32 * pi;
  const ReducedMotion m = c.run(path, {{}, Vec::Zero(3)}, {30 * pi, 32 * pi});
  ASSERT_TRUE(m.done);
  const SE3 cycle = m.at[0].g.inverse() * m.at[1].g;
  EXPECT_NEAR(cycle.r.x(), -0.14473393854, 2e-11);
  EXPECT_NEAR(cycle.r.y(), 0.03968705725, 2e-11);
  EXPECT_NEAR(m.at[1].turn, m.at[0].turn, 2e-11);
  EXPECT_NEAR(cycle.r.norm(), 0.150076565392, 2e-11);
}

// Connection against reduced dynamics without axles from zero momentum.
TEST(ReducedDynamics, AgreesWithTheConnection) {
  const Mixed c(test::falling_cat());
  const ShapePath path =
      c.path({"rear.x", "rear.y"}, {Sine{1.2, 1, pi / 2, 0}, Sine{1.2, 1, 0, 0}}, 2 * pi);
  const SE3 g = c.along(path).g;
  const ReducedMotion m = c.run(path, {}, {2 * pi});
  EXPECT_LT((m.at[0].g.R - g.R).norm(), 1e-11);
  EXPECT_LT((m.at[0].g.r - g.r).norm(), 1e-11);
}

}  // namespace
}  // namespace saltus
