// Our solvers on assembled contact problems: cold start, tolerance 1e-8 m/s.
#include <memory>

#include "bench/solver_problems.h"

namespace saltus::bench {
namespace {

template <class Options>
void add_solver(const std::shared_ptr<const ProblemSet>& set) {
  add("solvers/" + set->name + "/saltus-" + std::string(Options::name),
      [set](benchmark::State& timer) {
        Options options;
        options.tolerance = 1e-8;
        std::vector<SolverWorkspace> work(set->problems.size());
        for (std::size_t k = 0; k < work.size(); ++k) {
          const Inclusion& p = set->problems[k];
          work[k].reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
        }
        time_set(timer, *set, [&](int k, VecRef Lambda) {
          return solve(set->problems[k], Lambda, options, work[k]).converged;
        });
      })
      ->Iterations(20 * (set->problems.size() > 1 ? 1 : 10));
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (ProblemSet& each : problem_sets()) {
    const auto set = std::make_shared<const ProblemSet>(std::move(each));
    add_solver<saltus::AutoSolver>(set);
    add_solver<saltus::Newton>(set);
    add_solver<saltus::ProxGaussSeidel>(set);
    add_solver<saltus::ProxJacobi>(set);
  }
  return run_registered(argc, argv);
}
