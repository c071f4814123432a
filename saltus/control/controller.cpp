#include "saltus/control/controller.h"

#include <cmath>

namespace saltus {

int memory_of(const Controller& c) {
  return 1 + c.memory() + static_cast<int>(c.coordinates().size());
}

const double* own_memory(const double* memory) { return memory + 1; }

const double* held_torques(const Controller& c, const double* memory) {
  return memory + 1 + c.memory();
}

const double* control(const Model& model, const Controller& c, const State& state, double* memory,
                      std::unique_ptr<ControllerScratch>& scratch) {
  double& next = memory[0];
  double* const own = memory + 1;
  double* const torque = own + c.memory();
  const double reached = state.t * c.rate() + 1e-6;
  if (next != 0 && reached < next - 1) return torque;
  c.tick({model, state, next == 0, own, torque}, scratch);
  next = std::floor(reached) + 2;
  return torque;
}

}  // namespace saltus
