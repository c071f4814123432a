#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "locomotion.h"
#include "signals.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

Actuation& change(ActuationHandle& a) {
  require_free(a.busy, "actuation");
  return a.actuation;
}

Motor* find_motor(Actuation& a, CoordinateIndex c) {
  for (Motor& motor : a.motors)
    if (motor.coordinate == c) return &motor;
  return nullptr;
}

using Range = std::optional<std::pair<double, double>>;
using Curve = std::optional<std::pair<std::vector<double>, std::vector<double>>>;

// Adds a motor, or replaces the coordinate's.
ActuationHandle& set_motor(ActuationHandle& a, const BodyName& name, double kp, double kd,
                           const SignalLike& reference, const SignalLike& torque, double limit,
                           const std::string& servo, double gear, const Range& limits,
                           const Curve& curve, double lag, double backlash) {
  const CoordinateIndex c = coordinate_of(*a.model, name);
  if (!(kp >= 0 && kd >= 0 && std::isfinite(kp + kd)))
    throw InputError("kp, kd: expected numbers >= 0");
  if (!(limit > 0)) throw InputError(fmt::format("limit: expected a number > 0, got {}", limit));
  if (servo != "position" && servo != "velocity")
    throw InputError(fmt::format("servo: expected 'position' or 'velocity', got '{}'", servo));
  if (a.model->coordinates[c].dof.prescribed)
    throw InputError(fmt::format("coordinate '{}' is prescribed", a.model->coordinates[c].name));
  Motor motor;
  motor.coordinate = c;
  motor.kp = kp;
  motor.kd = kd;
  motor.reference = signal_of(reference);
  motor.torque = signal_of(torque);
  motor.limit = limit;
  motor.servo = servo == "velocity" ? Servo::velocity : Servo::position;
  motor.gear = gear;
  if (limits) std::tie(motor.lower, motor.upper) = *limits;
  if (curve) std::tie(motor.speeds, motor.torques) = *curve;
  motor.lag = lag;
  motor.backlash = backlash;
  if (const char* fault = fault_of(motor))
    throw InputError(fmt::format("the motor of '{}': {}", a.model->coordinates[c].name, fault));
  if (Motor* old = find_motor(change(a), c))
    *old = motor;
  else
    a.actuation.motors.push_back(motor);
  return a;
}

Motor& existing_motor(ActuationHandle& a, const BodyName& name) {
  const CoordinateIndex c = coordinate_of(*a.model, name);
  Motor* motor = find_motor(change(a), c);
  if (!motor)
    throw InputError(
        fmt::format("joint coordinate '{}' has no motor", a.model->coordinates[c].name));
  return *motor;
}

ActuationHandle& set_prescribed(ActuationHandle& a, const BodyName& name, const SignalLike& r) {
  const CoordinateIndex c = coordinate_of(*a.model, name);
  if (!a.model->coordinates[c].dof.prescribed)
    throw InputError(fmt::format("coordinate '{}' is free: prescribed=True in its JointDof",
                                 a.model->coordinates[c].name));
  for (Prescribed& p : change(a).prescribed)
    if (p.coordinate == c) {
      p.r = signal_of(r);
      return a;
    }
  a.actuation.prescribed.push_back({c, signal_of(r)});
  return a;
}

// Puts a signal at its place in the ascending list, or replaces the one that is there.
template <class T, class Elements>
ActuationHandle& put(ActuationHandle& a, std::vector<T> Actuation::*list, int T::*index,
                     const Elements& elements, const std::string& name, const char* what,
                     const SignalLike& signal) {
  const auto at =
      std::find_if(elements.begin(), elements.end(), [&](const auto& e) { return e.name == name; });
  if (at == elements.end()) throw InputError(fmt::format("no {} is called '{}'", what, name));
  const int i = static_cast<int>(at - elements.begin());
  std::vector<T>& all = change(a).*list;
  auto place = std::find_if(all.begin(), all.end(), [&](const T& x) { return x.*index >= i; });
  if (place != all.end() && (*place).*index == i)
    *place = T{i, signal_of(signal)};
  else
    all.insert(place, T{i, signal_of(signal)});
  return a;
}

ActuationHandle& set_length(ActuationHandle& a, const std::string& spring, const SignalLike& l) {
  return put(a, &Actuation::lengths, &NaturalLength::spring, a.model->springs, spring, "spring", l);
}
ActuationHandle& set_steering(ActuationHandle& a, const std::string& runner,
                              const SignalLike& angle) {
  return put(a, &Actuation::steering, &Steering::runner, a.model->runners, runner, "runner", angle);
}

void set_force(ActuationHandle& a, const nb::object& force) {
  change(a).user = nullptr;
  a.force.reset();
  if (force.is_none()) return;
  a.force = std::make_shared<const ForceCallback>(a.model, force);
  a.actuation.user = bridge(a.force);
}

// A callback that refers back to its simulation must not keep both alive for ever.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* a = nb::inst_ptr<ActuationHandle>(self);
  if (a->force) Py_VISIT(a->force->force.ptr());
  return 0;
}
int clear(PyObject* self) {
  auto* a = nb::inst_ptr<ActuationHandle>(self);
  a->actuation.user = nullptr;
  a->force.reset();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {0, nullptr}};

}  // namespace

void bind_actuation(nb::module_& m) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<ActuationHandle> actuation(
      m, "Actuation", nb::type_slots(slots),
      "Who drives what: motors on joint coordinates, prescribed coordinates, a locomotion "
      "controller, pushes and a force callback.");
  bind_locomotion(m, actuation);
  actuation
      .def(
          "__init__",
          [](ActuationHandle* self, const ModelPtr& model) {
            new (self) ActuationHandle{model, {}, {}};
          },
          "model"_a)
      .def_prop_ro("model", [](const ActuationHandle& a) { return a.model; })
      .def("motor", &set_motor, "coordinate"_a, nb::kw_only(), "kp"_a = 0.0, "kd"_a = 0.0,
           "reference"_a = 0.0, "torque"_a = 0.0, "limit"_a = infinity, "servo"_a = "position",
           "gear"_a = 1.0, "limits"_a.none() = nb::none(), "curve"_a.none() = nb::none(),
           "lag"_a = 0.0, "backlash"_a = 0.0, inside,
           "tau = kp (reference - x) + kd (its rate - dx/dt) + gear torque; kp [N m/rad or N/m], "
           "kd [N m s/rad or N s/m], torque and limit [N m or N] of the motor, before its gear. "
           "servo: 'position', or 'velocity': then the reference is a speed and kp is 0. limits: "
           "(lower, upper) of the torque; curve: (speeds, torques), what is available at a speed; "
           "lag [s]: time constant of the torque; backlash [rad or m]: width of the play. "
           "docs/actuators.md has the equations. Replaces the coordinate's motor.")
      .def(
          "set_reference",
          [](ActuationHandle& a, const BodyName& c, const SignalLike& r) {
            existing_motor(a, c).reference = signal_of(r);
          },
          "coordinate"_a, "reference"_a, "Of a motor that is there: a signal or a number [rad, m].")
      .def(
          "set_torque",
          [](ActuationHandle& a, const BodyName& c, const SignalLike& torque) {
            existing_motor(a, c).torque = signal_of(torque);
          },
          "coordinate"_a, "torque"_a, "Feed-forward of a motor that is there [N m, N].")
      .def("prescribe", &set_prescribed, "coordinate"_a, "r"_a, inside,
           "The motion r(t) [rad, m] of a prescribed coordinate.")
      .def("length", &set_length, "spring"_a, "length"_a, inside,
           "The natural length [m] of a spring: a signal or a number. The muscle of P3.")
      .def("steer", &set_steering, "runner"_a, "angle"_a, inside,
           "The steering angle [rad] of a runner: a signal or a number.")
      .def_prop_ro(
          "motors",
          [](const ActuationHandle& a) {
            nb::list names;
            for (const Motor& k : a.actuation.motors)
              names.append(text(a.model->coordinates[k.coordinate].name));
            return names;
          },
          "names of the coordinates that have a motor")
      .def(
          "reference",
          [](ActuationHandle& a, const BodyName& c) -> SignalLike {
            return std::visit([](const auto& s) -> SignalLike { return s; },
                              existing_motor(a, c).reference);
          },
          "coordinate"_a, "The reference signal of a motor.")
      .def_prop_rw(
          "force", [](const ActuationHandle& a) { return a.force ? a.force->force : nb::none(); },
          &set_force, nb::for_setter(nb::arg("force").none()),
          "force(t, q, v, tau, work) or force(t, q, v, tau, work, sensors), called once a step at "
          "its mid-point: adds joint forces to "
          "tau (nv) [N m, N] and wrenches to work.external (n, 6) in the bodies' frames [N, N m]. "
          "q, v are copies, work holds the kinematics there, sensors the latest readings by name. "
          "None: no callback.");
}

}  // namespace saltus::python
