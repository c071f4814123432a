"""A controller in Python: computed torque leads an arm with two joints along a wave.

The callback is called once a step; it computes its own inverse dynamics."""
import numpy as np

import saltus

LENGTH, MASS, OMEGA = 0.4, 0.8, 3.0  # [m], [kg], [rad/s]


def arm() -> saltus.Model:
    link = saltus.RigidInertia(MASS, about_com=saltus.solid_cylinder(MASS, 0.02, LENGTH))
    axis = saltus.Revolute([0, 1, 0])
    near, far = saltus.SE3([-LENGTH / 2, 0, 0]), saltus.SE3([LENGTH / 2, 0, 0])
    builder = saltus.ModelBuilder()
    builder.body("upper", link, saltus.JointSpec(axis, in_body=near))
    builder.body("lower", link, saltus.JointSpec(axis, "upper", placement=far, in_body=near))
    return builder.build()


def wanted(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles [rad], rates [rad/s] and accelerations [rad/s^2]."""
    size, phase = np.array([0.6, 0.9]), OMEGA * t + np.array([0.0, 1.0])
    return (size * np.sin(phase), OMEGA * size * np.cos(phase), -OMEGA**2 * size * np.sin(phase))


model = arm()


def computed_torque(t, q, v, tau, work):
    x, dx, ddx = wanted(t)
    tau += saltus.rnea(model, ddx + 100 * (x - q) + 20 * (dx - v), work)


actuation = saltus.Actuation(model)
actuation.force = computed_torque
sim = saltus.Simulation(model, actuation)
sim.step(3000)
error = abs(sim.state.q - wanted(sim.t)[0]).max()
print(f"after {sim.t:g} s the joints miss their path by {error:.1e} rad")
assert error < 1e-3
