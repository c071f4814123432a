#include "handles.h"
#include "saltus/version.h"

NB_MODULE(_core, m) {
  using namespace saltus::python;
  m.doc() = "Saltus: dynamics of locomotion with hard contact. SI units, radians.";
  m.attr("_version") = saltus::version;
  m.attr("_commit") = saltus::commit;
  translate_errors();
  bind_lie(m);
  bind_joints(m);
  bind_model(m);
  bind_flows(m);
  bind_builder(m);
  bind_state(m);
  bind_workspace(m);
  bind_dynamics(m);
  bind_signals(m);
  bind_actuation(m);
  bind_impacts(m);
  bind_step(m);
  bind_simulation(m);
  bind_rollout(m);
  bind_scene(m);
  bind_run(m);
  bind_feasible(m);
  bind_capability(m);
  bind_shape(m);
}
