#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <thread>

#include "handles.h"
#include "saltus/simulate/rollout.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

using Array3 = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

// copies x rows x columns, not a number where nothing is written.
Array3 trajectories(std::size_t copies, std::size_t rows, std::size_t columns) {
  const std::size_t n = copies * rows * columns;
  auto* data = new double[n];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::fill_n(data, n, std::numeric_limits<double>::quiet_NaN());
  return {data, {copies, rows, columns}, owner};
}

// Copies of `from` at the rows (q, v) of an array; or States, each with its impulses and its time.
std::vector<State> start_states(const StateHandle& from, const nb::object& given) {
  const Model& m = *from.model;
  std::vector<State> states;
  if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given)) {
    for (const nb::handle one : given) {
      if (!nb::isinstance<StateHandle>(one)) break;
      const StateHandle& s = nb::cast<const StateHandle&>(one);
      require_model(m, s.model, "states");
      require_free(s.busy, "state");
      states.push_back(s.state);
    }
    if (!states.empty() && states.size() == nb::len(given)) return states;
    states.clear();
  }
  const Mat rows = matrix_of(given, -1, m.nq + m.nv, "states");
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    State s = from.state;
    s.q = rows.row(i).head(m.nq).transpose();
    s.v = rows.row(i).tail(m.nv).transpose();
    states.push_back(std::move(s));
  }
  return states;
}

void check_all(const Model& m, std::vector<State>& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    try {
      check_state(m, states[i]);
    } catch (const InputError& e) { throw InputError(fmt::format("states[{}]: {}", i, e.what())); }
  }
}

// Contiguous, copies x steps x nv; none: an empty one.
std::vector<double> forces_of(const nb::object& given, std::size_t copies, std::int64_t steps,
                              int nv) {
  if (given.is_none()) return {};
  const auto all = nb::cast<nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>>(
      nb::module_::import_("numpy").attr("ascontiguousarray")(given, "dtype"_a = "float64"));
  if (all.shape(0) != copies || all.shape(1) != static_cast<std::size_t>(steps) ||
      all.shape(2) != static_cast<std::size_t>(nv))
    throw InputError(
        fmt::format("forces: expected an array of shape ({}, {}, {}), got ({}, {}, {})", copies,
                    steps, nv, all.shape(0), all.shape(1), all.shape(2)));
  std::vector<double> forces(all.data(), all.data() + all.size());
  for (const double x : forces) require_finite(x, "forces");
  return forces;
}

template <class F>
Array1 column(const std::vector<RolloutReport>& reports, F&& of) {
  Vec x(static_cast<Eigen::Index>(reports.size()));
  for (std::size_t i = 0; i < reports.size(); ++i) x[static_cast<Eigen::Index>(i)] = of(reports[i]);
  return owned(x);
}

nb::dict run(ActuationHandle& actuation, const StateHandle& from, const MoreauMidpoint& options,
             const nb::object& given, std::int64_t steps, std::int64_t every,
             const nb::object& forces, int threads) {
  const Model& m = *from.model;
  require_model(m, actuation.model, "actuation");
  if (steps < 1) throw InputError(fmt::format("steps: expected a number >= 1, got {}", steps));
  if (every < 1) throw InputError(fmt::format("every: expected a number >= 1, got {}", every));
  if (threads < 0)
    throw InputError(fmt::format("threads: expected a number >= 0, got {}", threads));
  require_free(from.busy, "simulation");
  const Lease a(actuation.busy, "actuation");
  check(m, actuation.actuation);
  check_supported(options, m, actuation.actuation, "");
  std::vector<State> states = start_states(from, given);
  check_all(m, states);
  const std::vector<double> added = forces_of(forces, states.size(), steps, m.nv);
  for (State& s : states) s.t0 = s.t - static_cast<double>(s.step) * options.dt;
  RolloutPlan plan;
  plan.steps = steps;
  plan.every = every;
  plan.threads = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
  plan.forces = added.empty() ? nullptr : added.data();
  bool interrupted = false;
  plan.go_on = [&] {
    const nb::gil_scoped_acquire gil;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return !interrupted;
  };
  const auto rows = static_cast<std::size_t>(plan.rows());
  const Array3 q = trajectories(states.size(), rows, m.nq),
               v = trajectories(states.size(), rows, m.nv);
  std::vector<RolloutReport> reports;
  {
    const nb::gil_scoped_release release;
    reports = rollout(m, actuation.actuation, states, options, plan, q.data(), v.data());
  }
  if (interrupted) nb::raise_python_error();
  nb::list ends;
  for (State& s : states) ends.append(nb::cast(StateHandle{from.model, std::move(s)}));
  nb::dict result;
  result["q"] = q;
  result["v"] = v;
  result["states"] = ends;
  result["steps"] = column(reports, [](const auto& r) { return static_cast<double>(r.steps); });
  result["unconverged"] =
      column(reports, [](const auto& r) { return static_cast<double>(r.unconverged); });
  result["residual"] = column(reports, [](const auto& r) { return r.residual; });
  result["penetration"] = column(reports, [](const auto& r) { return r.penetration; });
  result["diverged"] = column(reports, [](const auto& r) { return r.diverged ? 1.0 : 0.0; });
  return result;
}

}  // namespace

void bind_rollout(nb::module_& m) {
  m.def("_rollout", &run, "actuation"_a, "state"_a, "options"_a, "states"_a, "steps"_a, "every"_a,
        "forces"_a.none(), "threads"_a);
}

}  // namespace saltus::python
