#include "saltus/control/actuation.h"

#include <fmt/format.h>

#include "saltus/base/error.h"

namespace saltus {

Signal serpenoid(const SerpenoidGait& gait, int i) {
  return Sine{gait.amplitude, gait.omega, (i - 1) * gait.delta, 0};
}

void check(const Model& model, const Actuation& actuation) {
  std::vector<int> drives(model.coordinates.size(), 0);
  for (const Prescribed& p : actuation.prescribed) {
    if (!model.coordinates[p.coordinate].dof.prescribed)
      throw InputError(fmt::format("coordinate '{}' has a prescribed motion but is free",
                                   model.coordinates[p.coordinate].name));
    ++drives[p.coordinate];
  }
  for (std::size_t i = 0; i < drives.size(); ++i) {
    const Coordinate& c = model.coordinates[i];
    if (c.dof.prescribed && drives[i] != 1)
      throw InputError(fmt::format("prescribed coordinate '{}' needs exactly one motion, has {}",
                                   c.name, drives[i]));
  }
  for (const Motor& m : actuation.motors)
    if (model.coordinates[m.coordinate].dof.prescribed)
      throw InputError(fmt::format("coordinate '{}' is prescribed and has a motor",
                                   model.coordinates[m.coordinate].name));
}

}  // namespace saltus
