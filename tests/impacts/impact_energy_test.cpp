// The default impact law never raises the kinetic energy: random impacts on random models. A
// million with SALTUS_SOAK=1.
#include <cstdlib>

#include "saltus/impacts/impact.h"
#include "tests/support/check.h"
#include "tests/support/random_impact.h"

namespace saltus {
namespace {

using namespace test;

struct Gains {
  double largest = 0;
  int impacts = 0, gained = 0, unconverged = 0, capped = 0;
  std::uint64_t seed = 0;
};

Gains gains_of(const ImpactLaw& law, int impacts, bool tangential) {
  Gains all;
  for (std::uint64_t seed = 1; all.impacts < impacts; ++seed) {
    Random random(seed);
    RandomImpact p(random, seed % 3 == 0);
    if (!p.regular) continue;
    std::vector<IslandProblem> problems;
    for (int repeat = 0; repeat < 20 && all.impacts < impacts; ++repeat) {
      p.renew(10, tangential);
      AutoSolver options;  // as the event-driven integrator has it
      options.tolerance = 1e-13 * p.state.v.lpNorm<Eigen::Infinity>();
      const Solver solver = options;
      while (static_cast<int>(problems.size()) < p.islands.count()) problems.emplace_back();
      bool solved = true;
      std::vector<double> factor(p.model.nv, 1.0);  // P1's e~
      for (int i = 0; i < p.islands.count(); ++i) {
        const Solver form = is_dense(law) ? Solver{ProxGaussSeidel{}} : solver;
        form_island(p.model, p.rows, p.islands[i], form, p.state.v, p.mass, problems[i]);
        problems[i].at_impact = true;
        const ImpactReport r = resolve(law, solver, p.mass, problems[i]);
        store_impulses(p.islands[i], problems[i], p.rows);
        for (const int t : p.islands[i].trees)
          for (int k = p.model.tree_v[t]; k < p.model.tree_v[t + 1]; ++k) factor[k] = r.attenuation;
        solved = solved && r.solve.residual <= 1e3 * options.tolerance;
        all.capped += r.s < 1;
      }
      ++all.impacts;
      all.unconverged += !solved;
      // By name a law may have no solution, and says so; the default may not gain even then.
      if (!solved && !std::holds_alternative<CappedImpact>(law)) continue;
      Vec v = p.after();
      for (int k = 0; k < p.model.nv; ++k) v[k] *= factor[k];
      const double before = p.kinetic(p.state.v), after = p.kinetic(v);
      const double gain = after / before - 1;
      all.gained += gain > 1e-10;
      if (gain > all.largest) {
        all.largest = gain;
        all.seed = seed;
      }
    }
  }
  std::printf(
      "[  ENERGY  ] %-8s %d impacts, largest relative gain %.2e (seed %llu), %d gained, "
      "%d capped, %d without a solution\n",
      std::string(name_of(law)).c_str(), all.impacts, all.largest,
      static_cast<unsigned long long>(all.seed), all.gained, all.capped, all.unconverged);
  return all;
}

int many(int few) { return std::getenv("SALTUS_SOAK") ? 1000000 : few; }

TEST(ImpactEnergy, TheDefaultNeverRaisesIt) {
  const Gains gains = gains_of(CappedImpact{}, many(6000), false);
  EXPECT_LT(gains.largest, 1e-10);
  EXPECT_GT(gains.capped, 0) << "nothing had to be capped: the impacts are too easy";
}

TEST(ImpactEnergy, NorWithTangentialRestitution) {
  EXPECT_LT(gains_of(CappedImpact{}, 1500, true).largest, 1e-10);
}

TEST(ImpactEnergy, MoreauNeverRaisesItEither) {
  EXPECT_LT(gains_of(MoreauImpact{0.7}, 1500, false).largest, 1e-10);
}

// The known gain of Newton's law with friction, and Poisson's; only by name.
TEST(ImpactEnergy, NewtonAndPoissonMayRaiseIt) {
  EXPECT_GT(gains_of(NewtonImpact{}, 1500, false).gained, 0);
  (void)gains_of(PoissonImpact{}, 500, false);
}

TEST(ImpactEnergy, TheChainKeepsItsBound) {
  ChainImpact law;
  law.control = EnergyControl::attenuation;
  EXPECT_LT(gains_of(law, 500, false).largest, 1e-10);
  // As printed, without control, the stick trial gains (P1 section 5.2.1).
  law.control = EnergyControl::none;
  EXPECT_GT(gains_of(law, 500, false).gained, 0);
}

}  // namespace
}  // namespace saltus
