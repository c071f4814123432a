#include "saltus/control/actuation.h"

#include <fmt/format.h>

#include <algorithm>

#include "saltus/base/error.h"

namespace saltus {

Signal serpenoid(const SerpenoidGait& gait, int i) {
  return Sine{gait.amplitude, gait.omega, (i - 1) * gait.delta, 0};
}

namespace {

// At its own place where everyone has a signal, else by bisection.
template <class T>
const T* entry_of(const std::vector<T>& all, int T::*index, int i) {
  if (i < static_cast<int>(all.size()) && all[i].*index == i) return &all[i];
  const auto at =
      std::lower_bound(all.begin(), all.end(), i, [&](const T& x, int k) { return x.*index < k; });
  return at != all.end() && (*at).*index == i ? &*at : nullptr;
}

template <class T, class Elements>
void check_order(const std::vector<T>& all, int T::*index, const Elements& elements,
                 const char* what) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int k = all[i].*index;
    if (k < 0 || k >= static_cast<int>(elements.size()))
      throw InputError(fmt::format("there is no {} with number {}", what, k));
    if (i > 0 && !(all[i - 1].*index < k))
      throw InputError(fmt::format("{} '{}' has two signals, or they are not in ascending order",
                                   what, elements[k].name));
  }
}

void check_defined(const Signal& signal, const std::string& what) {
  if (const char* which = undefined(signal))
    throw InputError(fmt::format("{} is undefined: expected finite numbers that make sense for {}",
                                 what, which));
}

}  // namespace

const Signal* steering_of(const Actuation& actuation, int runner) {
  const Steering* s = entry_of(actuation.steering, &Steering::runner, runner);
  return s ? &s->angle : nullptr;
}

const Signal* length_of(const Actuation& actuation, int spring) {
  const NaturalLength* s = entry_of(actuation.lengths, &NaturalLength::spring, spring);
  return s ? &s->length : nullptr;
}

double steering_angle(const Actuation& actuation, int runner, double t) {
  const Signal* s = steering_of(actuation, runner);
  return s ? value(*s, t) : 0;
}

double natural_length(const Model& model, const Actuation& actuation, int spring, double t) {
  const Signal* s = length_of(actuation, spring);
  return s ? value(*s, t) : model.springs[spring].length;
}

int memory_of(const Actuation& actuation) {
  return memory_of(actuation.motors) +
         (actuation.locomotion ? memory_of(*actuation.locomotion) : 0);
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
  check_order(actuation.steering, &Steering::runner, model.runners, "runner");
  check_order(actuation.lengths, &NaturalLength::spring, model.springs, "spring");
  for (const Motor& m : actuation.motors) {
    const std::string& name = model.coordinates[m.coordinate].name;
    check_defined(m.reference, fmt::format("the reference of the motor of '{}'", name));
    check_defined(m.torque, fmt::format("the torque of the motor of '{}'", name));
    if (const char* fault = fault_of(m))
      throw InputError(fmt::format("the motor of '{}': {}", name, fault));
  }
  for (const Prescribed& p : actuation.prescribed)
    check_defined(p.r, fmt::format("the motion of '{}'", model.coordinates[p.coordinate].name));
  for (const Steering& s : actuation.steering)
    check_defined(s.angle, fmt::format("the angle of runner '{}'", model.runners[s.runner].name));
  for (const NaturalLength& s : actuation.lengths)
    check_defined(s.length,
                  fmt::format("the natural length of spring '{}'", model.springs[s.spring].name));
}

}  // namespace saltus
