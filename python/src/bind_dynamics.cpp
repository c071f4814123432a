// The algorithms as free functions with the names of C++. Each checks that its workspace belongs to
// the model and has been filled with what it needs.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "handles.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

Workspace& use(const Model& model, WorkspaceHandle& w) {
  require_model(model, w.model, "workspace");
  require_free(*w.busy, "workspace");
  return *w.work;
}

Workspace& use_kinematics(const Model& model, WorkspaceHandle& w) {
  Workspace& work = use(model, w);
  if (!w.filled.kinematics)
    throw InputError("the workspace is empty: call forward_kinematics first");
  return work;
}

void check_external(const Workspace& w) {
  for (const Vec6& f : w.external)
    if (!f.allFinite()) throw InputError("work.external: expected finite numbers");
}

const State& use(const Model& model, const StateHandle& s) {
  require_model(model, s.model, "state");
  require_free(s.busy, "state");
  check_state(model, s.state);
  return s.state;
}

void kinematics_of(const Model& model, const ArrayLike& q, const ArrayLike& v, WorkspaceHandle& w) {
  Workspace& work = use(model, w);
  const Vec x = vector_of(q, model.nq, "q");
  check_q(model, x, "q");
  const Vec y = vector_of(v, model.nv, "v");
  forward_kinematics(model, x, y, work);
  w.filled = {.kinematics = true};
}

Workspace& use_columns(const Model& model, WorkspaceHandle& w) {
  Workspace& work = use_kinematics(model, w);
  if (!w.filled.columns) world_columns(model, work);
  w.filled.columns = true;
  return work;
}

Array2 jacobian_at(const Model& model, WorkspaceHandle& w, BodyIndex body, const Vec3& point_I) {
  Workspace& work = use_columns(model, w);
  Mat6X J(6, model.nv);
  point_jacobian(model, work, body, point_I, J);
  return owned(Mat(J));
}

Vec finite_or_singular(const Vec& x) {
  if (!x.allFinite()) throw Divergence("the mass matrix is singular");
  return x;
}

void bind_kinematics(nb::module_& m) {
  m.def("forward_kinematics", &kinematics_of, "model"_a, "q"_a, "v"_a, "work"_a,
        "Fills work.R, r, V, S for the coordinates q [m, rad] and velocities v [m/s, rad/s].");
  m.def(
      "forward_kinematics",
      [](const Model& model, const StateHandle& s, WorkspaceHandle& w) {
        const State& state = use(model, s);
        forward_kinematics(model, state.q, state.v, use(model, w));
        w.filled = {.kinematics = true};
      },
      "model"_a, "state"_a, "work"_a, "The same for a state.");
  m.def(
      "world_columns", [](const Model& model, WorkspaceHandle& w) { (void)use_columns(model, w); },
      "model"_a, "work"_a, "Fills work.S0. Needs forward_kinematics.");
  m.def(
      "advance",
      [](const Model& model, const ArrayLike& q, const ArrayLike& v, double dt) {
        require_finite(dt, "dt");
        Vec x = vector_of(q, model.nq, "q");
        check_q(model, x, "q");
        advance(model, x, vector_of(v, model.nv, "v"), dt);
        return owned(x);
      },
      "model"_a, "q"_a, "v"_a, "dt"_a,
      "q (+) dt v on the configuration group: a new array [m, rad]; dt [s].");
  m.def(
      "jacobian",
      [](const Model& model, WorkspaceHandle& w, const BodyName& body, const ArrayLike& point) {
        const BodyIndex i = body_of(model, body);
        return jacobian_at(model, w, i, use_kinematics(model, w).X[i] * vec3_of(point, "point"));
      },
      "model"_a, "work"_a, "body"_a, "point"_a = nb::make_tuple(0.0, 0.0, 0.0),
      "Geometric Jacobian (6, nv) of a point of a body, given in the body's frame [m]: velocity of "
      "the point, then angular velocity, inertial frame. Needs forward_kinematics.");
  m.def(
      "point_jacobian",
      [](const Model& model, WorkspaceHandle& w, const BodyName& body, const ArrayLike& point_I) {
        return jacobian_at(model, w, body_of(model, body), vec3_of(point_I, "point_I"));
      },
      "model"_a, "work"_a, "body"_a, "point_I"_a,
      "The same for a point given in the inertial frame [m].");
  m.def(
      "point_velocity",
      [](const Model& model, WorkspaceHandle& w, const BodyName& body, const ArrayLike& point_I) {
        return owned(Vec(point_velocity(use_kinematics(model, w), body_of(model, body),
                                        vec3_of(point_I, "point_I"))));
      },
      "model"_a, "work"_a, "body"_a, "point_I"_a,
      "Velocity [m/s] of a point of a body, both in the inertial frame.");
  m.def(
      "coordinate_values",
      [](const Model& model, const StateHandle& s, WorkspaceHandle& w) {
        const State& state = use(model, s);
        const Workspace& work = use_kinematics(model, w);
        Vec x(static_cast<Eigen::Index>(model.coordinates.size()));
        for (int c = 0; c < x.size(); ++c)
          x[c] = coordinate_value(model, work, state.q, state.turns, CoordinateIndex(c));
        return owned(x);
      },
      "model"_a, "state"_a, "work"_a,
      "Values [rad, m] of the joint coordinates, tree or cut, in the order of model.coordinates.");
  m.def(
      "coordinate_rates",
      [](const Model& model, const StateHandle& s, WorkspaceHandle& w) {
        const State& state = use(model, s);
        const Workspace& work = use_kinematics(model, w);
        Vec x(static_cast<Eigen::Index>(model.coordinates.size()));
        for (int c = 0; c < x.size(); ++c)
          x[c] = coordinate_rate(model, work, state.v, CoordinateIndex(c));
        return owned(x);
      },
      "model"_a, "state"_a, "work"_a, "Their rates [rad/s, m/s].");
}

void bind_recursions(nb::module_& m) {
  m.def(
      "rnea",
      [](const Model& model, const ArrayLike& a, WorkspaceHandle& w) {
        Workspace& work = use_kinematics(model, w);
        check_external(work);
        Vec tau = Vec::Zero(model.nv);
        rnea(model, vector_of(a, model.nv, "a"), work, tau);
        return owned(tau);
      },
      "model"_a, "a"_a, "work"_a,
      "Inverse dynamics: joint forces tau [N m, N] for the acceleration a [m/s^2, rad/s^2]; "
      "M a + tau_bias = tau. Uses work.external. Needs forward_kinematics.");
  m.def(
      "bias_force",
      [](const Model& model, WorkspaceHandle& w) {
        Workspace& work = use_kinematics(model, w);
        check_external(work);
        bias_force(model, work);
        return owned(work.tau_bias);
      },
      "model"_a, "work"_a,
      "C(q, v) v - gravity - external [N m, N], also in work.tau_bias. Needs forward_kinematics.");
  m.def(
      "crba",
      [](const Model& model, WorkspaceHandle& w) {
        Workspace& work = use_kinematics(model, w);
        crba(model, work);
        return owned(work.M);
      },
      "model"_a, "work"_a,
      "Mass matrix (nv, nv) [kg, kg m, kg m^2], armature included; also in work.M. Needs "
      "forward_kinematics.");
  m.def(
      "aba",
      [](const Model& model, const ArrayLike& tau, WorkspaceHandle& w) {
        Workspace& work = use_kinematics(model, w);
        check_external(work);
        Vec a = Vec::Zero(model.nv);
        aba(model, vector_of(tau, model.nv, "tau"), work, a);
        return owned(finite_or_singular(a));
      },
      "model"_a, "tau"_a, "work"_a,
      "Forward dynamics in O(n): acceleration [m/s^2, rad/s^2] for the joint forces tau [N m, N]. "
      "Uses work.external. Needs forward_kinematics.");
  m.def(
      "solve_mass",
      [](const Model& model, const ArrayLike& x, WorkspaceHandle& w,
         const std::optional<ArrayLike>& extra_diagonal) {
        const Workspace& work = use_kinematics(model, w);
        const Vec b = vector_of(x, model.nv, "x");
        const Vec extra = extra_diagonal ? vector_of(*extra_diagonal, model.nv, "extra_diagonal")
                                         : Vec(Vec::Zero(model.nv));
        Forest mass;
        mass.resize(forest_shape(model));
        load_mass(work, extra, mass);
        if (!mass.factor()) throw Divergence("the mass matrix is singular");
        Vec y(model.nv);
        mass.solve(-1, b.data(), nullptr, y.data(), nullptr);
        return owned(y);
      },
      "model"_a, "x"_a, "work"_a, "extra_diagonal"_a = nb::none(),
      "(M + diag(extra))^-1 x in O(n), prescribed entries zero. Needs forward_kinematics.");
}

void bind_energies(nb::module_& m) {
  m.def(
      "kinetic_energy",
      [](const Model& model, const ArrayLike& v, WorkspaceHandle& w) {
        return kinetic_energy(model, vector_of(v, model.nv, "v"), use_kinematics(model, w));
      },
      "model"_a, "v"_a, "work"_a, "[J]; v as in forward_kinematics [m/s, rad/s].");
  m.def(
      "gravity_energy",
      [](const Model& model, WorkspaceHandle& w) {
        return gravity_energy(model, use_kinematics(model, w));
      },
      "model"_a, "work"_a, "[J], zero at the inertial origin. Needs forward_kinematics.");
  m.def(
      "potential_energy",
      [](const Model& model, const StateHandle& s, WorkspaceHandle& w) {
        const State& state = use(model, s);
        return potential_energy(model, state.q, state.turns, use_kinematics(model, w));
      },
      "model"_a, "state"_a, "work"_a, "Gravity and joint springs [J]. Needs forward_kinematics.");
  m.def(
      "centre_of_mass",
      [](const Model& model, WorkspaceHandle& w) {
        return owned(Vec(centre_of_mass(model, use_kinematics(model, w))));
      },
      "model"_a, "work"_a, "[m], inertial frame. Needs forward_kinematics.");
  m.def(
      "momentum",
      [](const Model& model, WorkspaceHandle& w) {
        const Momentum h = momentum(model, use_kinematics(model, w));
        return std::pair(owned(Vec(h.linear)), owned(Vec(h.angular)));
      },
      "model"_a, "work"_a,
      "Linear [N s] and angular momentum about the inertial origin [N m s]. Needs "
      "forward_kinematics.");
}

}  // namespace

void bind_dynamics(nb::module_& m) {
  bind_kinematics(m);
  bind_recursions(m);
  bind_energies(m);
}

}  // namespace saltus::python
