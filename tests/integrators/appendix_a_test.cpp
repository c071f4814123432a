// P1's appendix A: the mass-spring-friction system by RK4 with projection of zero crossings and by
// the event-driven integrator.
#include "saltus/integrators/rk4_projection.h"
#include "saltus/scene/scene.h"
#include "tests/support/events.h"

using namespace saltus;
using namespace saltus::test;

namespace {

const std::string folder = SALTUS_SOURCE_DIR "/scenes/p1/";
constexpr double landing = 0.01, end = 2;  // [s]

struct Trace {
  std::vector<double> dZ, dVs;                   // at multiples of `landing`
  std::vector<std::pair<double, bool>> changes;  // when, and whether it sticks from then on
  EnergyTerms ledger;
  double scale = 0;  // largest energy [J]

  void add(const State& s) {
    dZ.push_back(s.q[1]);
    dVs.push_back(s.v[1]);
  }
  void note(double t, bool sticks) {
    if (changes.empty() || changes.back().second != sticks) changes.emplace_back(t, sticks);
  }
  [[nodiscard]] double amplitude() const {  // over the last second
    double most = 0;
    for (std::size_t i = dZ.size() / 2; i < dZ.size(); ++i) most = std::max(most, std::abs(dZ[i]));
    return most;
  }
};

Trace event_driven(double tolerance) {
  System system = build_system(load_scene(folder + "appendix-a.yaml", {}));
  EventIntegrator integrator(system.model, system.actuation, {.tolerance = tolerance});
  State& s = system.start;
  Trace trace;
  for (int i = 1; s.t < end - 1e-9; ++i) {
    const EventReport r = integrator.advance(s, i * landing, landing);
    EXPECT_EQ(r.failure, "");
    if (!r.failure.empty()) break;
    trace.ledger.add_work(r.energy);
    trace.scale = std::max(trace.scale, r.energy.total());
    for (const ModeChange& c : integrator.take_changes())
      trace.note(c.t, c.after.front().status == Status::holds);
    trace.add(s);
  }
  return trace;
}

Trace rk4(double dt) {
  System system = build_system(load_scene(folder + "appendix-a-rk4.yaml", {}));
  Rk4Integrator integrator(system.model, system.actuation);
  State& s = system.start;
  Trace trace;
  int slot = 0;
  while (system.model.slots[slot].kind != BlockKind::joint_friction) ++slot;
  const auto every = std::llround(landing / dt), steps = std::llround(end / dt);
  for (long i = 1; i <= steps; ++i) {
    EnergyTerms energy;
    const double t = s.t;
    EXPECT_TRUE(integrator.step(s, dt, energy));
    trace.ledger.add_work(energy);
    trace.note(t, static_cast<Mode>(s.mode[slot]) == Mode::stick);
    if (i % every == 0) trace.add(s);
  }
  return trace;
}

using Changes = std::vector<std::pair<double, bool>>;

// Without those sticks that last a single step, and their number.
std::pair<Changes, int> without_forced(const Changes& all, double dt) {
  Changes kept;
  int forced = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].second && i + 1 < all.size() && all[i + 1].first - all[i].first < 1.5 * dt) {
      ++forced;
      ++i;
    } else {
      kept.push_back(all[i]);
    }
  return {kept, forced};
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : infinity;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

}  // namespace

TEST(AppendixA, EventTimesDoNotDependOnTheTolerance) {
  const Trace best = event_driven(1e-13);
  for (const auto& [t, sticks] : best.changes)
    fmt::print("      {:<7} t = {:.15g}\n", sticks ? "sticks" : "slips", t);
  // It slips, sticks, slips ... twice a period of 0.39 s.
  ASSERT_GE(best.changes.size(), 18U);
  for (const double tolerance : {1e-8, 1e-10, 1e-12}) {
    const Trace trace = event_driven(tolerance);
    ASSERT_EQ(trace.changes.size(), best.changes.size());
    double worst = 0;
    for (std::size_t i = 0; i < best.changes.size(); ++i) {
      EXPECT_EQ(trace.changes[i].second, best.changes[i].second);
      worst = std::max(worst, std::abs(trace.changes[i].first - best.changes[i].first));
    }
    // Positions of 1e-2 m to the tolerance of a length of 1 m, velocities of 0.1 m/s: of a time
    // scale of 0.1 s the tolerance, and friction forgets.
    expect_figure(fmt::format("event times, tolerance {:.0e} [s]", tolerance), worst, 0,
                  std::max(10 * tolerance, 1e-13));
  }
}

TEST(AppendixA, EnergyBalanceCloses) {
  const Trace trace = event_driven(1e-12);
  const EnergyTerms& e = trace.ledger;
  fmt::print("      energy {:.6g} J at most; drive {:.6g} J, friction {:.6g} J\n", trace.scale,
             e.prescribed, e.friction);
  EXPECT_LT(e.friction, -trace.scale);  // there is something to balance
  expect_figure("what is left of the balance [J]", e.integrator, 0, 1e-11 * -e.friction);
}

// At a zero crossing that mu_s does not hold the damper turns over without sticking; the projection
// holds it for one step all the same (A.4: it "enforces that the velocity become zero for at least
// one integrator step"). These sticks of a single step are left out of the comparison.
TEST(AppendixA, BothIntegratorsAgree) {
  const Trace reference = event_driven(1e-12);
  constexpr double steps[] = {0.01, 0.005, 0.0025, 1.25e-3, 6.25e-4, 3.125e-4, 1.5625e-4};
  std::vector<double> offs;
  for (const double dt : steps) {
    const Trace trace = rk4(dt);
    const auto [changes, forced] = without_forced(trace.changes, dt);
    offs.push_back(difference(trace.dZ, reference.dZ));
    const std::size_t n = offs.size();
    fmt::print(
        "      dt = {:<10.4g} dZ off {:.2e} m, dVs off {:.2e} m/s, amplitude {:.6f} ({:.6f}) m, {} "
        "changes ({}), {} forced sticks, integrator {:.1e} J, order {:.2f}\n",
        dt, offs.back(), difference(trace.dVs, reference.dVs), trace.amplitude(),
        reference.amplitude(), changes.size(), reference.changes.size(), forced,
        trace.ledger.integrator, n > 1 ? std::log2(offs[n - 2] / offs[n - 1]) : 0.0);
    // The same sequence of sticking and slipping, each of its changes within a step or two.
    EXPECT_EQ(forced, 2);
    ASSERT_EQ(changes.size(), reference.changes.size());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      EXPECT_EQ(changes[i].second, reference.changes[i].second);
      EXPECT_NEAR(changes[i].first, reference.changes[i].first, 2 * dt);
    }
    // A capture or a release off by a step: at 0.1 m/s, and 0.1 dt of the amplitude.
    EXPECT_LT(offs.back(), 0.2 * dt);
    EXPECT_NEAR(trace.amplitude(), reference.amplitude(), 0.05 * dt);
  }
  const double order = std::log(offs[3] / offs[6]) / std::log(8.0);
  fmt::print("      order {:.2f} over the last four\n", order);
  EXPECT_GT(order, 0.8);
  EXPECT_LT(order, 1.3);
}

TEST(AppendixA, RestartsToTheSameBits) {
  const System system = build_system(load_scene(folder + "appendix-a-rk4.yaml", {}));
  Rk4Integrator a(system.model, system.actuation);
  State s = system.start, copy = s;
  EnergyTerms energy;
  for (int i = 1; i <= 200; ++i) {
    ASSERT_TRUE(a.step(s, landing, energy));
    Rk4Integrator fresh(system.model, system.actuation);
    ASSERT_TRUE(fresh.step(copy, landing, energy));
    ASSERT_TRUE(to_bytes(s) == to_bytes(copy)) << i;
  }
}

TEST(AppendixA, RefusesOtherSetValuedElements) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {});
  const Model model = b.build();
  try {
    Rk4Integrator r(model, Actuation{});
    FAIL() << "contacts were not refused";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("got contacts"), std::string::npos) << e.what();
  }
}
