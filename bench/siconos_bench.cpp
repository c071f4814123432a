// Siconos' NSGS on the problems of solver_bench: cold start, its own relative error to 1e-8, at
// most 1000 sweeps (its default).
#include <memory>

#include "bench/siconos_solver.h"
#include "bench/solver_problems.h"

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (ProblemSet& each : problem_sets()) {
    const auto set = std::make_shared<const ProblemSet>(std::move(each));
    add("solvers/" + set->name + "/siconos", [set](benchmark::State& timer) {
      std::vector<std::unique_ptr<SiconosProblem>> theirs;
      for (const auto& p : set->problems) theirs.push_back(std::make_unique<SiconosProblem>(p));
      time_set(timer, *set, [&](int k, saltus::VecRef Lambda) {
        return theirs[k]->nsgs(Lambda, 1e-8, 1000).success;
      });
    })->Iterations(20);
  }
  return run_registered(argc, argv);
}
