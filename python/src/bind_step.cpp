#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "impacts.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

ProxOptions& prox_of(Solver& solver) {
  return std::visit([](auto& s) -> ProxOptions& { return s; }, solver);
}

MoreauMidpoint make_options(double dt, const std::string& solver, double tolerance,
                            int max_iterations, double alpha, const std::string& on,
                            const std::string& bilaterals, const ImpactArgument& impact,
                            const std::string& motors, const std::string& projection,
                            const std::string& storage) {
  MoreauMidpoint o;
  require_positive(dt, "dt");
  o.dt = dt;
  switch (choice("solver", solver, {"auto", "sor", "jor", "newton"})) {
    case 1: o.solver = ProxGaussSeidel{}; break;
    case 2: o.solver = ProxJacobi{}; break;
    case 3: o.solver = Newton{}; break;
    default: o.solver = AutoSolver{};
  }
  ProxOptions& p = prox_of(o.solver);
  require_positive(tolerance, "tolerance");
  if (max_iterations < 1) throw InputError("max_iterations: expected a number >= 1");
  if (!(alpha > 0 && alpha < 2)) throw InputError("alpha: expected a number between 0 and 2");
  p.tolerance = tolerance;
  p.max_iterations = max_iterations;
  p.alpha = alpha;
  p.on = static_cast<ProxOptions::On>(choice("on", on, {"delassus", "velocity"}));
  p.bilaterals =
      static_cast<ProxOptions::Bilaterals>(choice("bilaterals", bilaterals, {"direct", "prox"}));
  o.impact = law_of(impact);
  o.motors =
      static_cast<MotorScheme>(choice("motors", motors, {"implicit", "implicit-end", "explicit"}));
  o.projection =
      static_cast<Projection>(choice("projection", projection, {"mass", "root-fixed", "none"}));
  o.storage = static_cast<Storage>(choice("storage", storage, {"auto", "forest", "paths"}));
  return o;
}

}  // namespace

void bind_step(nb::module_& m) {
  nb::class_<MoreauMidpoint>(m, "MoreauMidpoint", "Moreau's midpoint stepper and its solver.")
      .def(
          "__init__",
          [](MoreauMidpoint* self, double dt, const std::string& solver, double tolerance,
             int max_iterations, double alpha, const std::string& on, const std::string& bilaterals,
             const ImpactArgument& impact, const std::string& motors, const std::string& projection,
             const std::string& storage) {
            new (self)
                MoreauMidpoint(make_options(dt, solver, tolerance, max_iterations, alpha, on,
                                            bilaterals, impact, motors, projection, storage));
          },
          "dt"_a = 1e-3, nb::kw_only(), "solver"_a = "auto", "tolerance"_a = 1e-10,
          "max_iterations"_a = 10000, "alpha"_a = 1.0, "on"_a = "delassus",
          "bilaterals"_a = "direct", "impact"_a = "capped", "motors"_a = "implicit",
          "projection"_a = "mass", "storage"_a = "auto",
          "dt [s]; solver: auto, sor, jor, newton; tolerance [m/s]; on: delassus, velocity; "
          "bilaterals: direct, "
          "prox; impact: capped, newton, moreau, poisson, chain, or an object of a law's class "
          "(ChainImpact(energetic=0.9)); motors: implicit, implicit-end, explicit; projection: "
          "mass, root-fixed, none; storage: auto, forest, paths.")
      .def_ro("dt", &MoreauMidpoint::dt, "[s]")
      .def_prop_ro("solver", [](const MoreauMidpoint& o) { return std::string(name_of(o.solver)); })
      .def_prop_ro(
          "tolerance", [](const MoreauMidpoint& o) { return options_of(o.solver).tolerance; },
          "[m/s]")
      .def_prop_ro(
          "impact", [](const MoreauMidpoint& o) { return std::string(name_of(o.impact)); },
          "name of the impact law")
      .def_prop_ro(
          "impact_law", [](const MoreauMidpoint& o) { return o.impact; }, "with its options")
      .def_prop_ro(
          "storage", [](const MoreauMidpoint& o) { return std::string(name_of(o.storage)); },
          "how the mechanism is kept: auto, forest or paths")
      .def("__repr__", [](const MoreauMidpoint& o) {
        return fmt::format("<MoreauMidpoint: dt = {:g} s, {} to {:g} m/s>", o.dt, name_of(o.solver),
                           options_of(o.solver).tolerance);
      });

  nb::class_<EnergyTerms>(m, "EnergyTerms",
                          "Energies now and the work done since the steps began, all [J].")
      .def_ro("kinetic", &EnergyTerms::kinetic)
      .def_ro("potential", &EnergyTerms::potential, "gravity and joint springs")
      .def_ro("motors", &EnergyTerms::motors)
      .def_ro("prescribed", &EnergyTerms::prescribed)
      .def_ro("external", &EnergyTerms::external, "the force callback")
      .def_ro("muscles", &EnergyTerms::muscles)
      .def_ro("dampers", &EnergyTerms::dampers)
      .def_ro("contacts", &EnergyTerms::contacts)
      .def_ro("friction", &EnergyTerms::friction)
      .def_ro("joints", &EnergyTerms::joints)
      .def_ro("correction", &EnergyTerms::correction)
      .def_ro("integrator", &EnergyTerms::integrator, "error of the scheme")
      .def_ro("impacts", &EnergyTerms::impacts, "part of the others: at impacts");

  nb::class_<StepsReport>(m, "StepReport", "What one call of step did.")
      .def_ro("steps", &StepsReport::steps)
      .def_ro("iterations", &StepsReport::iterations, "of the solver, all steps")
      .def_ro("unconverged", &StepsReport::unconverged, "steps that missed the tolerance")
      .def_prop_ro("converged", [](const StepsReport& r) { return r.unconverged == 0; })
      .def_ro("residual", &StepsReport::worst_residual, "the largest [m/s]")
      .def_prop_ro(
          "finished_by", [](const StepsReport& r) { return std::string(r.last.solve().solver); },
          "the solver that finished the last step (of its hardest island), empty where nothing "
          "acted")
      .def_prop_ro(
          "gave_up",
          [](const StepsReport& r) {
            const SolveReport& s = r.last.solve();
            if (s.gave_up != GaveUp::no) return fmt::format("{}: {}", s.solver, text_of(s.gave_up));
            return s.before.empty() ? std::string()
                                    : fmt::format("{}: {}", s.before, text_of(s.before_gave_up));
          },
          "the last solver that gave up in the last step, and why; empty where none did")
      .def_ro("impacts", &StepsReport::impacts, "steps in which a contact with restitution closed")
      .def_prop_ro(
          "storage", [](const StepsReport& r) { return std::string(name_of(r.last.storage)); },
          "that ran: forest or paths")
      .def_ro("penetration", &StepsReport::penetration, "the deepest after correction [m]")
      .def_prop_ro(
          "joint_gap", [](const StepsReport& r) { return r.last.projection.joint_gap; },
          "widest cut joint after the last step [m]")
      .def_ro("energy", &StepsReport::energy)
      .def("__repr__", [](const StepsReport& r) {
        return fmt::format("<StepReport: {} steps, {} iterations, residual {:.1e} m/s>", r.steps,
                           r.iterations, r.worst_residual);
      });

  m.def(
      "step",
      [](const Model& model, ActuationHandle& actuation, StateHandle& state,
         StepWorkspaceHandle& work, const MoreauMidpoint& options, std::int64_t n) {
        require_model(model, state.model, "state");
        return step_many(actuation, state, work, options, n);
      },
      "model"_a, "actuation"_a, "state"_a, "work"_a, "options"_a, "n"_a = 1,
      "n steps in place, without the GIL. DivergenceError leaves the last good state; a missed "
      "tolerance is an UnconvergedWarning.");
}

}  // namespace saltus::python
