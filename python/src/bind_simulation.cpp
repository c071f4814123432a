#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "locomotion.h"
#include "saltus/dynamics/kinematics.h"
#include "scenes.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

// A model with all that stepping it takes. The parts are Python objects, so that views of them
// and callbacks that refer to them live as long as they must.
struct Simulation {
  ModelPtr model;
  nb::object actuation_object, state_object, work_object;
  ActuationHandle* actuation = nullptr;
  StateHandle* state = nullptr;
  StepWorkspaceHandle* work = nullptr;
  MoreauMidpoint options;
  std::optional<Integrator> other;  // of a scene that is not stepped by Moreau
  State start;
  std::unique_ptr<SensorBank> bank;  // of a scene that has sensors

  Simulation(const ModelPtr& m, nb::object act, StateHandle s, const MoreauMidpoint& o,
             const std::vector<Sensor>& sensors = {}, std::optional<Integrator> another = {})
      : model(m),
        actuation_object(std::move(act)),
        options(o),
        other(std::move(another)),
        start(s.state) {
    actuation = nb::cast<ActuationHandle*>(actuation_object);
    require_model(*model, actuation->model, "actuation");
    require_model(*model, s.model, "state");
    check(*model, actuation->actuation);
    check_state(*model, start);
    check_supported(other ? *other : options, *model, actuation->actuation, "");
    state_object = nb::cast(std::move(s));
    state = nb::cast<StateHandle*>(state_object);
    work_object = nb::cast(StepWorkspaceHandle(model));
    work = nb::cast<StepWorkspaceHandle*>(work_object);
    if (sensors.empty()) return;
    bank =
        std::make_unique<SensorBank>(*model, sensors, options.dt, memory_of(actuation->actuation));
    read_start();
  }

  // Sensors at a state that no step of this simulation has made.
  void read_start() {
    if (!bank) return;
    Workspace kinematics(*model);
    forward_kinematics(*model, state->state.q, state->state.v, kinematics);
    bank->start(kinematics, state->state);
  }

  StepsReport step(std::int64_t n) {
    if (bank && options.dt != bank->dt())
      throw InputError("options.dt: the sensors of this simulation count steps of the scene's dt");
    return other ? advance_many(*actuation, *state, *work, *other, n, bank.get())
                 : step_many(*actuation, *state, *work, options, n, bank.get());
  }

  void reset(const StateHandle* to) {
    require_free(state->busy, "simulation");
    if (to) {
      require_model(*model, to->model, "state");
      require_free(to->busy, "state");
      check_state(*model, to->state);
    }
    state->state = to ? to->state : start;
    work->work->filled = {};
    work->contacts = false;
    read_start();
  }
};

struct Contact {
  std::string a, b;
  int body_a = -1, body_b = -1;
  int feature = 0;
  int mode = 0;
  double gap = 0;
  Vec3 point, normal, force;
};

// Closed contacts of the last step; forces are its impulses over dt, as in run files.
std::vector<Contact> contacts_of(const Simulation& sim) {
  std::vector<Contact> all;
  require_free(sim.state->busy, "simulation");
  if (!sim.work->contacts) return all;
  const Model& m = *sim.model;
  for (const saltus::Contact& c : sim.work->step->result.assembly.contacts) {
    if (c.mode == 0) continue;
    const ContactPoint& p = c.point;
    const Vec3 impulse =
        c.Lambda[0] * p.normal + c.Lambda[1] * c.tangent + c.Lambda[2] * p.normal.cross(c.tangent);
    const ContactShape &a = m.shapes[c.key.a], &b = m.shapes[c.key.b];
    all.push_back({a.name, b.name, a.body.value, b.body.value, c.key.feature, c.mode, p.gap,
                   0.5 * (p.on_a + p.on_b), p.normal, impulse / sim.options.dt});
  }
  return all;
}

Array2 contact_forces_of(const Simulation& sim) {
  Mat sum = Mat::Zero(sim.model->body_count(), 3);
  for (const Contact& c : contacts_of(sim)) {
    if (c.body_b >= 0) sum.row(c.body_b) += c.force.transpose();
    if (c.body_a >= 0) sum.row(c.body_a) -= c.force.transpose();
  }
  return owned(sum);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<Simulation>(self)->actuation_object.ptr());
  return 0;
}
// No clear: that of Actuation breaks every cycle, and a simulation is never half alive.
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {0, nullptr}};

void bind_contact(nb::module_& m) {
  nb::class_<Contact>(m, "Contact", "A closed contact of the last step.")
      .def_prop_ro(
          "a", [](const Contact& c) { return text(c.a); }, "name of the first shape")
      .def_prop_ro(
          "b", [](const Contact& c) { return text(c.b); }, "name of the second")
      .def_ro("body_a", &Contact::body_a, "index of its body; -1: the world")
      .def_ro("body_b", &Contact::body_b)
      .def_ro("feature", &Contact::feature, "which of the points of the two shapes")
      .def_ro("mode", &Contact::mode, "1 stick, 2 slip, 3 closed (no friction)")
      .def_ro("gap", &Contact::gap, "at the mid-point of the step [m]")
      .def_prop_ro(
          "point", [](const Contact& c) { return owned(Vec(c.point)); }, copied,
          "inertial frame [m]")
      .def_prop_ro(
          "normal", [](const Contact& c) { return owned(Vec(c.normal)); }, copied, "from a to b")
      .def_prop_ro(
          "force", [](const Contact& c) { return owned(Vec(c.force)); }, copied,
          "on b, mean over the step, inertial frame [N]")
      .def("__repr__", [](const Contact& c) {
        return text(fmt::format("<Contact {} - {}: {:.4g} N>", c.a, c.b, c.force.norm()));
      });
}

}  // namespace

void bind_simulation(nb::module_& m) {
  bind_contact(m);
  nb::class_<Simulation>(
      m, "Simulation", nb::type_slots(slots),
      "A model with its actuation, state, workspace and stepper. The start state "
      "is copied; the actuation is the one given.")
      .def(
          "__init__",
          [](Simulation* self, const SceneHandle& scene, const nb::object& flow) {
            BuiltSystem b = build(scene.scene, given_flow(flow));
            std::optional<Integrator> other;
            if (scene.scene.method != Method::moreau) other = integrator_of(scene.scene);
            new (self) Simulation(b.model, nb::cast(std::move(b.actuation)), std::move(b.start),
                                  scene.scene.stepping, b.sensors, std::move(other));
          },
          "scene"_a, nb::kw_only(), "flow"_a.none() = nb::none(),
          "flow: a Flow, three numbers or a function that every fluid and wing of the scene moves "
          "in, "
          "instead of its own.")
      .def(
          "__init__",
          [](Simulation* self, const ModelPtr& model, const nb::object& actuation,
             const StateHandle* state, const MoreauMidpoint& options) {
            nb::object act = actuation;
            if (act.is_none()) act = nb::cast(ActuationHandle{model, {}, {}});
            if (!nb::isinstance<ActuationHandle>(act))
              throw InputError("actuation: expected an Actuation");
            if (state) require_free(state->busy, "state");
            StateHandle start{state ? state->model : model,
                              state ? state->state : make_state(*model)};
            if (!state)
              impose_prescribed(*model, nb::cast<ActuationHandle*>(act)->actuation, start.state);
            new (self) Simulation(model, act, std::move(start), options);
          },
          "model"_a, "actuation"_a.none() = nb::none(), "state"_a.none() = nb::none(),
          "options"_a = MoreauMidpoint{})
      .def_prop_ro("model", [](const Simulation& s) { return s.model; })
      .def_prop_ro(
          "actuation", [](const Simulation& s) { return s.actuation_object; },
          nb::sig("def actuation(self) -> Actuation"))
      .def_prop_ro(
          "state", [](const Simulation& s) { return s.state_object; },
          nb::sig("def state(self) -> State"))
      .def_prop_ro(
          "step_work", [](const Simulation& s) { return s.work_object; },
          nb::sig("def step_work(self) -> StepWorkspace"))
      .def_prop_ro(
          "work", [](const Simulation& s) { return s.work->work; },
          "Workspace: after a step, the kinematics of the state")
      .def_prop_rw(
          "options", [](const Simulation& s) { return s.options; },
          [](Simulation& s, const MoreauMidpoint& o) {
            require_free(s.state->busy, "simulation");
            if (s.other)
              throw InputError(fmt::format(
                  "options: this simulation's integrator is {}, which has no MoreauMidpoint: load "
                  "the scene with other values",
                  integrator_name(*s.other)));
            check_supported(o, *s.model, s.actuation->actuation, "");
            s.options = o;
          },
          "MoreauMidpoint; of a scene with another integrator its dt and impact law")
      .def_prop_ro(
          "integrator",
          [](const Simulation& s) {
            return std::string(integrator_name(s.other ? *s.other : Integrator(s.options)));
          },
          "moreau, event-driven, rk4 or connection: what the scene says")
      .def_prop_ro(
          "t", [](const Simulation& s) { return s.state->state.t; }, "[s]")
      .def_prop_ro(
          "dt", [](const Simulation& s) { return s.options.dt; }, "[s]")
      .def(
          "step", [](Simulation& s, std::int64_t n) { return s.step(n); }, "n"_a = 1,
          "n steps without the GIL, by the scene's integrator. DivergenceError leaves the last "
          "good "
          "state; a missed tolerance is an UnconvergedWarning.")
      .def("reset", &Simulation::reset, "state"_a.none() = nb::none(),
           "Back to the start, or to a checkpoint; in place, so views stay valid.")
      .def_prop_ro(
          "sensors",
          [](const Simulation& s) {
            require_free(s.state->busy, "simulation");
            return readings_of(s.bank.get());
          },
          nb::sig("def sensors(self) -> dict[str, numpy.ndarray]"),
          "The latest readings of the scene's sensors by name, delayed and noisy; nan: none has "
          "arrived, or before the first step no force is known.")
      .def_prop_ro(
          "locomotion",
          [](const Simulation& s) {
            require_free(s.state->busy, "simulation");
            return locomotion_dict(s.actuation->actuation, s.state->state);
          },
          nb::sig("def locomotion(self) -> dict[str, object] | None"),
          "Of a scene with a locomotion controller, after its first step: when the robot fell "
          "(None: it has not) and why, mean velocities, height, largest tilt.")
      .def("contacts", &contacts_of, "Closed contacts of the last step; none after a reset.")
      .def("contact_forces", &contact_forces_of,
           "Sum of the contact forces on each body, (n, 3), inertial frame [N].")
      .def("__repr__", [](const Simulation& s) {
        return fmt::format("<Simulation: t = {:.6g} s, dt = {:g} s, {} bodies>", s.state->state.t,
                           s.options.dt, s.model->body_count());
      });
}

}  // namespace saltus::python
