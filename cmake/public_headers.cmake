# The public headers: what a user of the installed library includes. They and what they include are
# installed, nothing else; they include no library but Eigen and fmt (tests/test_public_headers.py).
set(SALTUS_PUBLIC_HEADERS
  # building a model
  saltus/base/error.h
  saltus/model/builder.h
  saltus/model/snake.h
  saltus/model/state.h
  saltus/model/worm.h
  saltus/geometry/friction_map.h
  saltus/geometry/hull.h
  saltus/geometry/mesh.h
  saltus/geometry/terrain.h
  # groups, laws, solvers
  saltus/lie/inertia.h
  saltus/lie/se2.h
  saltus/lie/se3.h
  saltus/lie/so3.h
  saltus/laws/laws.h
  saltus/solvers/solve.h
  saltus/problems/problem_file.h
  # algorithms
  saltus/dynamics/algorithms.h
  saltus/dynamics/energy.h
  saltus/dynamics/kinematics.h
  # what acts
  saltus/control/actuation.h
  saltus/control/controller.h
  saltus/control/locomotion.h
  saltus/control/sensor.h
  saltus/control/shape_gait.h
  saltus/impacts/impact.h
  # stepping
  saltus/integrators/closure.h
  saltus/integrators/events/event_driven.h
  saltus/integrators/events/event_step.h
  saltus/integrators/integrator.h
  saltus/integrators/moreau/moreau.h
  saltus/integrators/rk4_projection.h
  # figures
  saltus/analysis/area_rule.h
  saltus/analysis/audit.h
  saltus/analysis/capability.h
  saltus/analysis/classify.h
  saltus/analysis/connection.h
  saltus/analysis/feasible.h
  saltus/analysis/metrics.h
  saltus/analysis/net_motion.h
  saltus/analysis/shape_dynamics.h
  saltus/analysis/modes.h
  # scenes, robots, runs
  saltus/scene/scene.h
  saltus/robots/robot.h
  saltus/runs/run_file.h
  saltus/runs/run_impacts.h
  saltus/runs/run_modes.h
  saltus/simulate/rollout.h
  saltus/simulate/run.h
  saltus/studies/capability_study.h
  saltus/studies/compare.h
  saltus/studies/local_check.h
  saltus/studies/next_impact.h
  saltus/version.h)
