#include "saltus/control/actuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/lie/so3.h"
#include "saltus/model/joint_traits.h"

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

void check_controller(const Model& model, const Controller& c) {
  if (!(c.rate() > 0) || !std::isfinite(c.rate()))
    throw InputError(fmt::format("{}: expected a rate > 0, got {}", c.name(), c.rate()));
  if (c.memory() < 0)
    throw InputError(fmt::format("{}: expected a memory >= 0, got {}", c.name(), c.memory()));
  const int n = static_cast<int>(model.coordinates.size());
  for (const CoordinateIndex i : c.coordinates()) {
    if (i < 0 || i >= n)
      throw InputError(
          fmt::format("{}: there is no coordinate with number {}", c.name(), static_cast<int>(i)));
    if (model.coordinates[i].dof.prescribed)
      throw InputError(
          fmt::format("{}: coordinate '{}' is prescribed", c.name(), model.coordinates[i].name));
  }
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

void strain_offsets(const Model& model, const Actuation& actuation, double t, VecRef a) {
  for (const StrainOffset& s : actuation.strains)
    a[model.coordinates[s.coordinate].v_index] = value(s.offset, t);
}

double natural_length(const Model& model, const Actuation& actuation, int spring, double t) {
  const Signal* s = length_of(actuation, spring);
  return s ? value(*s, t) : model.springs[spring].length;
}

int memory_of(const Actuation& actuation) {
  int n = memory_of(actuation.motors);
  for (const auto& c : actuation.controllers) n += memory_of(*c);
  return n;
}

namespace {

Vec3 rotation_vector(const PrescribedRotation& p, double t) {
  return {value(p.r[0], t), value(p.r[1], t), value(p.r[2], t)};
}
Vec3 rotation_rate(const PrescribedRotation& p, double t) {
  return {rate(p.r[0], t), rate(p.r[1], t), rate(p.r[2], t)};
}

void check_rotations(const Model& model, const Actuation& actuation) {
  std::vector<int> drives(model.bodies.size(), 0);
  for (const PrescribedRotation& p : actuation.rotations) {
    const std::string& name = model.bodies[p.body].name;
    if (!model.bodies[p.body].driven)
      throw InputError(
          fmt::format("the joint of '{}' has a prescribed rotation but is free", name));
    for (const Signal& s : p.r) check_defined(s, fmt::format("the rotation of '{}'", name));
    ++drives[p.body];
  }
  for (std::size_t i = 0; i < drives.size(); ++i)
    if (model.bodies[i].driven && drives[i] != 1)
      throw InputError(
          fmt::format("the prescribed joint of '{}' needs exactly one rotation, has {}",
                      model.bodies[i].name, drives[i]));
}

}  // namespace

void place_prescribed(const Model& model, const Actuation& actuation, double t, VecRef q) {
  for (const Prescribed& p : actuation.prescribed)
    if (const int i = model.coordinates[p.coordinate].q_index; i >= 0) q[i] = value(p.r, t);
  for (const PrescribedRotation& p : actuation.rotations) {
    const Quat turned = exp_quat(rotation_vector(p, t));
    q.segment<4>(model.bodies[p.body].q0) << turned.w(), turned.vec();
  }
}

void prescribe_rates(const Model& model, const Actuation& actuation, double t, VecRef v) {
  for (const Prescribed& p : actuation.prescribed)
    if (const int i = model.coordinates[p.coordinate].v_index; i >= 0) v[i] = rate(p.r, t);
  for (const PrescribedRotation& p : actuation.rotations)
    v.segment<3>(model.bodies[p.body].v0) = dexp_so3(rotation_vector(p, t)) * rotation_rate(p, t);
}

void prescribe_accelerations(const Model& model, const Actuation& actuation, double t, VecRef a) {
  for (const Prescribed& p : actuation.prescribed)
    if (const int i = model.coordinates[p.coordinate].v_index; i >= 0) a[i] = acceleration(p.r, t);
  for (const PrescribedRotation& p : actuation.rotations) {
    const Vec3 w = rotation_vector(p, t), d = rotation_rate(p, t);
    const Vec3 dd(acceleration(p.r[0], t), acceleration(p.r[1], t), acceleration(p.r[2], t));
    a.segment<3>(model.bodies[p.body].v0) = dexp_so3(w) * dd + dexp_bias_so3(w, d);
  }
}

void check(const Model& model, const Actuation& actuation) {
  check_rotations(model, actuation);
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
  for (const auto& c : actuation.controllers) check_controller(model, *c);
  check_order(actuation.steering, &Steering::runner, model.runners, "runner");
  check_order(actuation.lengths, &NaturalLength::spring, model.springs, "spring");
  check_order(actuation.strains, &StrainOffset::coordinate, model.coordinates, "coordinate");
  for (const StrainOffset& s : actuation.strains) {
    const Coordinate& k = model.coordinates[s.coordinate];
    if (!is_rod(model.bodies[k.body].joint))
      throw InputError(fmt::format("'{}' is no coefficient of a rod", k.name));
    check_defined(s.offset, fmt::format("the strain offset of '{}'", k.name));
  }
  check_order(actuation.cables, &CableDrive::cable, model.cables, "cable");
  for (const CableDrive& d : actuation.cables) {
    const Cable& c = model.cables[d.cable];
    if (!c.driven) throw InputError(fmt::format("cable '{}' has a drive but is passive", c.name));
    check_defined(d.pull, fmt::format("the pull of cable '{}'", c.name));
    if (d.length) check_defined(*d.length, fmt::format("the length of cable '{}'", c.name));
  }
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
