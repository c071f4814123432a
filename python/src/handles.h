// Who owns what. A Python State, Workspace or Simulation keeps its Model alive and knows it, so
// that parts of different models are told apart. What is being stepped (without the GIL) is leased:
// a second user gets a BusyError instead of a torn state. Leases change hands under the GIL.
#pragma once
#include <memory>
#include <optional>

#include "arrays.h"
#include "saltus/control/actuation.h"
#include "saltus/integrators/integrator.h"
#include "saltus/simulate/sensors.h"

namespace saltus::python {

using ModelPtr = std::shared_ptr<const Model>;

class Lease {
 public:
  Lease(bool& taken, const char* what);
  ~Lease() { taken_ = false; }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  bool& taken_;
};
void require_free(bool taken, const char* what);

struct StateHandle {
  ModelPtr model;
  State state;
  bool busy = false;
};

// What a Workspace has been filled with; each algorithm says what it needs.
struct Filled {
  bool kinematics = false, columns = false;
};

struct WorkspaceHandle {
  ModelPtr model;
  std::shared_ptr<Workspace> work;  // its own, or the one inside a StepWorkspace
  std::shared_ptr<bool> busy = std::make_shared<bool>(false);
  Filled filled;
};

struct StepWorkspaceHandle {
  ModelPtr model;
  std::shared_ptr<StepWorkspace> step;
  std::shared_ptr<WorkspaceHandle> work;
  bool contacts = false;  // of the last step, not of another state

  explicit StepWorkspaceHandle(ModelPtr model);
};

// The callback `force(t, q, v, tau, work)`, or with `sensors`; made with the GIL held.
struct ForceCallback {
  nb::object force;                             // the function
  bool reads_sensors = false;                   // it has a parameter of that name
  mutable const SensorBank* sensors = nullptr;  // of the run or simulation that calls it
  nb::object workspace;  // the `work` it is given: a copy of the step's kinematics
  WorkspaceHandle* own = nullptr;

  ForceCallback(const ModelPtr& model, const nb::object& force);  // InputError: not callable
  ~ForceCallback();
  ForceCallback(const ForceCallback&) = delete;
  ForceCallback& operator=(const ForceCallback&) = delete;
  void call(const Workspace& work, double t, VecIn q, VecIn v, VecRef tau,
            std::vector<Vec6>& external) const;
};
// What a step calls: takes the GIL once a step.
[[nodiscard]] UserForce bridge(std::shared_ptr<const ForceCallback> callback);

struct ActuationHandle {
  ModelPtr model;
  Actuation actuation;                         // its `user` calls `force`
  std::shared_ptr<const ForceCallback> force;  // the garbage collector looks into it
  bool busy = false;
};

// Throw InputError unless the part belongs to the model.
void require_model(const Model& model, const ModelPtr& of, const char* what);
// Finite numbers and unit quaternions.
void check_q(const Model& model, VecIn q, const char* name);
void check_state(const Model& model, const State& state);

using BodyName = std::variant<std::string, int>;
[[nodiscard]] BodyIndex body_of(const Model& model, const BodyName& name);
[[nodiscard]] CoordinateIndex coordinate_of(const Model& model, const BodyName& name);

// n steps without the GIL; Ctrl-C is heard. Figures of all n steps; the work terms are sums.
struct StepsReport {
  StepReport last;
  std::int64_t steps = 0, iterations = 0, unconverged = 0, impacts = 0;
  double worst_residual = 0;  // [m/s]
  double penetration = 0;     // [m]
  EnergyTerms energy;
  Place worst;
};
[[nodiscard]] StepsReport step_many(ActuationHandle& actuation, StateHandle& state,
                                    StepWorkspaceHandle& work, const MoreauMidpoint& options,
                                    std::int64_t n, SensorBank* sensors = nullptr);
// The same by any integrator: a step ends after its dt, whatever it meets in between. All that it
// remembers is in the state.
[[nodiscard]] StepsReport advance_many(ActuationHandle& actuation, StateHandle& state,
                                       StepWorkspaceHandle& work, const Integrator& integrator,
                                       std::int64_t n, SensorBank* sensors = nullptr);
// The latest readings by name.
[[nodiscard]] nb::dict readings_of(const SensorBank* sensors);

void bind_lie(nb::module_& m);
void bind_joints(nb::module_& m);
void bind_model(nb::module_& m);
void bind_flows(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_state(nb::module_& m);
void bind_workspace(nb::module_& m);
void bind_dynamics(nb::module_& m);
void bind_signals(nb::module_& m);
void bind_actuation(nb::module_& m);
void bind_impacts(nb::module_& m);
void bind_feasible(nb::module_& m);
void bind_capability(nb::module_& m);
void bind_shape(nb::module_& m);
void bind_step(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_rollout(nb::module_& m);
void bind_scene(nb::module_& m);
void bind_run(nb::module_& m);

}  // namespace saltus::python
