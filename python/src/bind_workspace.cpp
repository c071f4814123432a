#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "handles.h"

namespace saltus::python {

using namespace nb::literals;

void bind_workspace(nb::module_& m) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<WorkspaceHandle>(
      m, "Workspace",
      "Everything computed from a state, sized once. Each field names the function that fills it. "
      "Fields are read-only views; body quantities are in the body's frame, linear part first.")
      .def(
          "__init__",
          [](WorkspaceHandle* self, const ModelPtr& model) {
            WorkspaceHandle w;
            w.model = model;
            w.work = std::make_shared<Workspace>(*model);
            new (self) WorkspaceHandle(std::move(w));
          },
          "model"_a)
      .def_prop_ro("model", [](const WorkspaceHandle& w) { return w.model; })
      .def_prop_ro(
          "R", [](const WorkspaceHandle& w) { return rotations(w.work->X); }, inside,
          "rotations of the bodies, (n, 3, 3), body to inertial <- forward_kinematics")
      .def_prop_ro(
          "r", [](const WorkspaceHandle& w) { return positions(w.work->X); }, inside,
          "positions of the bodies' origins, (n, 3), inertial frame [m] <- forward_kinematics")
      .def_prop_ro(
          "V", [](const WorkspaceHandle& w) { return view(std::as_const(w.work->V)); }, inside,
          "twists of the bodies, (n, 6) [m/s, rad/s] <- forward_kinematics")
      .def_prop_ro(
          "S", [](const WorkspaceHandle& w) { return view_of_matrix(w.work->S); }, inside,
          "joint columns, (6, ns): of each body from Body.s0 on <- forward_kinematics")
      .def_prop_ro(
          "S0", [](const WorkspaceHandle& w) { return view_of_matrix(w.work->S0); }, inside,
          "joint columns as twists of the inertial frame, (6, ns) <- world_columns")
      .def_prop_ro(
          "M", [](const WorkspaceHandle& w) { return view_of_matrix(w.work->M); }, inside,
          "mass matrix, (nv, nv) [kg, kg m, kg m^2] <- crba; empty before: a step does not need it")
      .def_prop_ro(
          "tau_bias",
          [](const WorkspaceHandle& w) { return view(std::as_const(w.work->tau_bias)); }, inside,
          "C(q, v) v - gravity - external, (nv) [N m, N] <- bias_force")
      .def_prop_ro(
          "external", [](WorkspaceHandle& w) { return view(w.work->external); }, inside,
          "input: wrenches on the bodies from outside, (n, 6), writable [N, N m]")
      .def("__repr__", [](const WorkspaceHandle& w) {
        return fmt::format("<Workspace: {} bodies, nv = {}>", w.model->body_count(), w.model->nv);
      });

  nb::class_<StepWorkspaceHandle>(m, "StepWorkspace", "Everything that a step computes.")
      .def(nb::init<ModelPtr>(), "model"_a)
      .def_prop_ro("model", [](const StepWorkspaceHandle& w) { return w.model; })
      .def_prop_ro(
          "work", [](const StepWorkspaceHandle& w) { return w.work; },
          "the Workspace of the step: after it, the kinematics of the new state")
      .def_prop_ro(
          "motor_force",
          [](const StepWorkspaceHandle& w) {
            return view(std::as_const(w.step->result.motor_force));
          },
          inside, "of each joint coordinate, mean over the last step, a view [N m, N]")
      .def_prop_ro(
          "drive",
          [](const StepWorkspaceHandle& w) { return view(std::as_const(w.step->result.drive)); },
          inside, "force of each prescribed velocity, mean over the last step, a view [N m, N]");
}

}  // namespace saltus::python
