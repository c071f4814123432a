// Time of a step of P0's snake, dt = 1 ms, converged to 1e-8 m/s.
#include <fmt/format.h>

#include "bench/register.h"
#include "bench/snake_scene.h"
#include "saltus/integrators/moreau/moreau.h"

namespace saltus::bench {
namespace {

void run(benchmark::State& timer, int links) {
  SnakeScene scene(links);
  StepWorkspace work(scene.model);
  MoreauMidpoint options;
  AutoSolver solver;
  solver.tolerance = 1e-8;
  options.solver = solver;
  int missed = 0;
  for (int i = 0; i < 20; ++i)  // past the start
    (void)step(scene.model, scene.actuation, scene.state, work, options);
  for (auto _ : timer)
    missed += !step(scene.model, scene.actuation, scene.state, work, options).solve().converged;
  timer.counters["problems"] = static_cast<double>(timer.iterations());
  timer.counters["unconverged"] = missed;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (const int links : {11, 50, 200, 1000})
    add(fmt::format("snake/N={}/saltus", links),
        [links](benchmark::State& timer) { run(timer, links); });
  return run_registered(argc, argv);
}
