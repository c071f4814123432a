// Closed loops: the scenes of scenes/loops against reduced equations with one degree of freedom,
// redundant rows, coordinate sets, and what acts on a loop's own coordinate.
#include <complex>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"
#include "saltus/solvers/condense.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi;

// --- scenes --------------------------------------------------------------------------------------

struct Played {
  System system;
  StepWorkspace work;
  MoreauMidpoint options;
  State state;
  double joint_gap = 0, drift = 0, least = infinity, most = -infinity, error = 0;
  int redundant = 0;

  Played(const std::string& name, double dt, const std::string& coordinates = "as-marked")
      : Played(load_scene(fmt::format("{}/scenes/loops/{}.yaml", SALTUS_SOURCE_DIR, name),
                          {fmt::format("time.step={}", dt), "coordinates=" + coordinates})) {}
  explicit Played(const Scene& scene)
      : system(build_system(scene)),
        work(system.model),
        options(scene.stepping),
        state(system.start) {}

  void step() {
    const StepReport r = saltus::step(system.model, system.actuation, state, work, options);
    ASSERT_TRUE(r.solve().converged && !r.diverged && !r.singular) << "t = " << state.t;
    joint_gap = std::max(joint_gap, r.projection.joint_gap);
    redundant = std::max(redundant, r.solve().redundant);
    error += r.energy.integrator + r.energy.correction + r.cut_work;
    drift = std::max(drift, std::abs(error));
    least = std::min(least, r.energy.kinetic);
    most = std::max(most, r.energy.kinetic);
  }
  void run_until(double t) {
    while (state.t < t - 1e-9 && !::testing::Test::HasFatalFailure()) step();
  }
  [[nodiscard]] double coordinate(const std::string& name) {
    return coordinate_value(system.model, work.result.work, state.q, state.turns,
                            system.model.coordinate(name));
  }
  [[nodiscard]] double relative_drift() const { return drift / (most - least); }
  [[nodiscard]] Vec3 point(const std::string& body, const Vec3& p) const {
    return work.result.work.X[system.model.body(body)] * p;
  }
};

// Must-show 7 of the issue, for every scene in every coordinate set.
class Mechanism : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Mechanism, KeepsItsLoopClosedAndItsEnergy) {
  const auto [name, set] = GetParam();
  Played p(name, 1e-3, set);
  p.run_until(10);
  fmt::print("    {} {}: gap {:.1e} m, drift {:.1e} of {:.3g} J, {} redundant rows\n", name, set,
             p.joint_gap, p.relative_drift(), p.most - p.least, p.redundant);
  EXPECT_LT(p.joint_gap, 1e-9);
  EXPECT_LT(p.relative_drift(), 1e-4);
  EXPECT_EQ(p.redundant, std::string(name) == "four-bar"  ? 3
                         : std::string(name) == "bricard" ? 1
                                                          : 0);
}
INSTANTIATE_TEST_SUITE_P(Loops, Mechanism,
                         ::testing::Combine(::testing::Values("four-bar", "slider-crank",
                                                              "bricard"),
                                            ::testing::Values("minimal", "maximal")));

// --- one degree of freedom -----------------------------------------------------------------------

// m(a) a'' + m'(a) a'^2 / 2 + V'(a) = 0; m and V as analytic functions of a complex angle, so that
// a complex step differentiates them to rounding.
using Complex = std::complex<double>;
struct Reduced {
  std::function<std::pair<Complex, Complex>(Complex)> mass_and_potential;
  double angle, rate;

  [[nodiscard]] double acceleration(double a, double w) const {
    constexpr double h = 1e-30;
    const auto [m, V] = mass_and_potential({a, h});
    return -(0.5 * m.imag() / h * w * w + V.imag() / h) / m.real();
  }
  void run(double t, int steps) {  // Runge and Kutta's method of order 4
    const double h = t / steps;
    for (int i = 0; i < steps; ++i) {
      const double k1 = acceleration(angle, rate);
      const double k2 = acceleration(angle + h / 2 * rate, rate + h / 2 * k1);
      const double k3 = acceleration(angle + h / 2 * rate + h * h / 4 * k1, rate + h / 2 * k2);
      const double k4 = acceleration(angle + h * rate + h * h / 2 * k2, rate + h * k3);
      angle += h * rate + h * h / 6 * (k1 + k2 + k3);
      rate += h / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
  }
};

struct Plane {
  Complex x, y;
};
Plane unit(Complex a) { return {std::cos(a), std::sin(a)}; }
Plane operator+(Plane a, Plane b) { return {a.x + b.x, a.y + b.y}; }
Plane operator-(Plane a, Plane b) { return {a.x - b.x, a.y - b.y}; }
Plane operator*(Complex s, Plane a) { return {s * a.x, s * a.y}; }
Plane turned(Plane a) { return {-a.y, a.x}; }
Complex cross(Plane a, Plane b) { return a.x * b.y - a.y * b.x; }
Complex square(Plane a) { return a.x * a.x + a.y * a.y; }

Reduced slider_crank() {
  return {[](Complex a) {
            const double r = 0.2, l = 0.5;
            const Plane e = unit(a);
            const Complex sine = -r / l * e.y, cosine = std::sqrt(1.0 - sine * sine);
            const Plane f{cosine, sine};
            const Complex turn = -r * e.x / (l * cosine);  // of the rod
            const Plane rod = r * turned(e) + 0.25 * turn * turned(f);
            const Complex piston = -r * e.y - l * sine * turn;
            const Complex m =
                1.0 * 0.01 + 0.01 + 0.8 * square(rod) + 0.02 * turn * turn + 1.5 * piston * piston;
            return std::pair(m, 9.81 * (1.0 * 0.1 * e.y + 0.8 * (r * e.y + 0.25 * sine)));
          },
          0, 8};
}

Reduced four_bar() {  // angles from x to z, against the joints' about y
  return {[](Complex a) {
            const double r = 0.3, l = 0.9, s = 0.8;
            const Plane e = unit(a), A = r * e, B{1, 0};
            const Complex d2 = square(B - A), d = std::sqrt(d2);
            const Complex along = (l * l - s * s + d2) / (2.0 * d);
            const Plane u = (1.0 / d) * (B - A);
            const Plane C = A + along * u + std::sqrt(l * l - along * along) * turned(u);
            const Plane f = (1.0 / l) * (C - A), g = (1.0 / s) * (C - B);
            const Complex coupler = -r * cross(e, g) / (l * cross(f, g));
            const Complex rocker = r * cross(e, f) / (s * cross(g, f));
            const Complex m = 0.12 + 4 * 0.04 * 0.04 + 0.1352 * coupler * coupler +
                              2.0 * square(r * turned(e) + 0.45 * coupler * turned(f)) +
                              (0.0802 + 1.5 * 0.16) * rocker * rocker;
            return std::pair(m, 9.81 * (4 * 0.04 * e.y + 2.0 * (A + 0.45 * f).y + 1.5 * 0.4 * g.y));
          },
          pi / 2, -6};
}

// Error of the crank's angle at 2 s, and its order, against the reduced equation.
void compare(const std::string& scene, Reduced exact, double sign, double tolerance) {
  Reduced coarse = exact;
  exact.run(2, 40000);
  coarse.run(2, 20000);
  EXPECT_LT(std::abs(exact.angle - coarse.angle), 1e-10) << "the reference";
  for (const std::string set : {"minimal", "maximal"}) {
    double last = 0;
    for (const double dt : {4e-3, 2e-3, 1e-3, 5e-4}) {
      Played p(scene, dt, set);
      p.run_until(2);
      const double error = std::abs(sign * p.coordinate("crank") - exact.angle);
      fmt::print("    {} {} dt = {}: angle {:.8f}, error {:.2e}", scene, set, dt,
                 p.coordinate("crank"), error);
      if (last > 0) fmt::print(", order {:.2f}", std::log2(last / error));
      fmt::print("\n");
      if (last > 0 && dt < 2e-3) { EXPECT_NEAR(std::log2(last / error), 2, 0.25); }
      if (dt == 1e-3) { EXPECT_LT(error, tolerance); }
      last = error;
    }
  }
}

TEST(Loops, SliderCrankFollowsItsReducedEquation) {
  compare("slider-crank", slider_crank(), 1, 1e-3);
}
TEST(Loops, FourBarFollowsItsReducedEquation) { compare("four-bar", four_bar(), -1, 1e-3); }

// The joint angles of this linkage alternate, a, b, a, b ..., and (1 + cos a)(1 + cos b) = 1 where
// angles are zero for rods in line.
TEST(Loops, BricardsAnglesObeyTheirRelation) {
  Played p("bricard", 1e-3);
  double worst = 0, spread = 0, least = 10, most = -10;
  while (p.state.t < 10 - 1e-9) {
    p.step();
    if (HasFatalFailure()) return;
    double angle[6];
    const char* const names[] = {"A", "B", "C", "D", "E", "F"};
    // At the start every two rods stand at right angles, by turns of either sense.
    for (int i = 0; i < 6; ++i) angle[i] = p.coordinate(names[i]);
    least = std::min(least, angle[0]);
    most = std::max(most, angle[0]);
    spread = std::max({spread, std::abs(std::abs(angle[2]) - std::abs(angle[4])),
                       std::abs(std::abs(angle[1]) - std::abs(angle[3]))});
    worst = std::max(worst, std::abs((1 - std::sin(angle[1])) * (1 - std::sin(angle[2])) - 1) *
                                std::abs((1 + std::sin(angle[1])) * (1 + std::sin(angle[2])) - 1) *
                                std::abs((1 - std::sin(angle[1])) * (1 + std::sin(angle[2])) - 1) *
                                std::abs((1 + std::sin(angle[1])) * (1 - std::sin(angle[2])) - 1));
  }
  fmt::print("    A from {:.4f} to {:.4f} rad, relation kept to {:.1e}\n", least, most, worst);
  EXPECT_GT(most - least, 1);
  EXPECT_LT(spread, 1e-9);
  EXPECT_LT(worst, 1e-9);
}

TEST(Loops, BricardConvergesInBothCoordinateSets) {
  Played fine("bricard", 1.25e-4);
  fine.run_until(2);
  const Vec3 exact = fine.point("BC", {0, -1, 0});
  for (const std::string set : {"minimal", "maximal"}) {
    double last = 0;
    for (const double dt : {4e-3, 2e-3, 1e-3}) {
      Played p("bricard", dt, set);
      p.run_until(2);
      const double error = (p.point("BC", {0, -1, 0}) - exact).norm();
      fmt::print("    bricard {} dt = {}: error {:.2e} m", set, dt, error);
      if (last > 0) fmt::print(", order {:.2f}", std::log2(last / error));
      fmt::print("\n");
      if (last > 0) { EXPECT_NEAR(std::log2(last / error), 2, 0.3); }
      last = error;
    }
  }
}

// --- what acts on a loop's own coordinate
// ---------------------------------------------------------

// The four-bar hung on its rocker: now the crank's bearing closes the loop, and drives it.
Scene driven_by_its_loop(const std::string& between, double sign) {
  const std::string text = fmt::format(R"(saltus: 1
bodies:
  - name: rocker
    mass: 1.5
    com: [0.4, 0, 0]
    inertia: [0.0003, 0.0802, 0.0802]
    joint: {{type: revolute, axis: [0, 1, 0], at: {{position: [1, 0, 0]}}}}
  - name: coupler
    mass: 2
    com: [0.45, 0, 0]
    inertia: [0.0004, 0.1352, 0.1352]
    joint: {{type: revolute, parent: rocker, axis: [0, 1, 0], at: {{position: [0.8, 0, 0]}}, in_body: {{position: [0.9, 0, 0]}}}}
  - name: crank
    mass: 4
    com: [0.04, 0, 0]
    inertia: [0.06, 0.12, 0.06]
    joint: {{type: revolute, parent: coupler, axis: [0, 1, 0], in_body: {{position: [0.3, 0, 0]}}}}
loops:
  - name: bearing
    between: [{}]
    type: revolute
    axis: [0, 1, 0]
    prescribed: {{type: table, times: [0, 10], values: [{}, {}]}}
initial: {{rocker: -1.8626, coupler: 1.3181, crank: -1.0263}}
time: {{step: 1e-3, end: 3}}
)",
                                       between, -sign * pi / 2, sign * (60 - pi / 2));
  return read_scene(Document::from_text(text, "bearing"));
}

TEST(Loops, ALoopMayBeDrivenAndCountsItsTurns) {
  for (const auto& [between, sign] : {std::pair("world, crank", 1.0), {"crank, world", -1.0}}) {
    Played p(driven_by_its_loop(between, sign));
    EXPECT_LT(p.system.closure.gap_left, 1e-12);
    p.run_until(3);
    EXPECT_LT(p.joint_gap, 1e-9);
    expect_figure(fmt::format("bearing [{}], about three turns", between), p.coordinate("bearing"),
                  sign * (18 - pi / 2), 1e-9);
  }
}

TEST(Loops, TheStartKeepsWhatIsGiven) {
  const Played p("four-bar", 1e-3);
  const System& s = p.system;
  EXPECT_GT(s.closure.gap, 1e-6);  // five digits
  EXPECT_LT(s.closure.gap_left, 1e-12);
  EXPECT_LT(s.closure.rate_left, 1e-12);
  const Coordinate& crank = s.model.coordinates[s.model.coordinate("crank")];
  EXPECT_NEAR(s.start.q[crank.q_index], -pi / 2, 1e-14);
  EXPECT_NEAR(s.start.v[crank.v_index], 6, 1e-14);
}

TEST(Loops, RedundantRowsGetWhatTheOthersImply) {
  Inclusion p;
  p.reserve(4, 2, 3);
  p.add(Bilateral{3}, 0, 1);
  p.add(Bilateral{1}, 0.5, 1);                            // behind the rows in question
  p.W.leftCols(4) << 1, 2, 0, 1, 0, 0, 1, 1, 0, 0, 0, 2;  // row 1 is twice row 0
  p.Y = p.W;
  SolverWorkspace w;
  w.reserve(4, 2, 3);
  factor_bilaterals(p, w);
  EXPECT_EQ(w.redundant, 1);
  Vec x(3);
  x << 3, -7, 5;
  imply_redundant(p, w, 3, x);
  EXPECT_NEAR((x - Vec3(3, 6, 5)).norm(), 0, 1e-14);
}

}  // namespace
}  // namespace saltus::test
