// step_rate SCENE STEPS: steps a scene in C++ with nothing around it, and prints the seconds of
// processor time that took and the last q as one JSON object. bench/python_step.py sets Python
// beside it.
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "saltus/scene/scene.h"

int main(int argc, char** argv) {
  using namespace saltus;
  if (argc != 3) return 2;
  const Scene scene = load_scene(argv[1], {});
  const System system = build_system(scene);
  StepWorkspace work(system.model);
  State state = system.start;
  const long steps = std::atol(argv[2]);
  const std::clock_t start = std::clock();
  for (long i = 0; i < steps; ++i) {
    const StepReport report = step(system.model, system.actuation, state, work, scene.stepping);
    if (report.diverged || report.singular) return 1;
  }
  nlohmann::json result;
  result["seconds"] = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  result["q"] = std::vector<double>(state.q.data(), state.q.data() + state.q.size());
  std::cout << result.dump() << "\n";
}
