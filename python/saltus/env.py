"""Gymnasium environments. `import saltus.env` registers them:

    import gymnasium, saltus.env
    env = gymnasium.make("Saltus/SnakePegs-v0")
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._core import (Constant, Scene, Simulation, Sine, Sum, Table, centre_of_mass, coordinate_rates,
                    coordinate_values, forward_kinematics)
from .errors import DivergenceError, Error, InputError
from .packaged import scene_path

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as e:
    raise Error("environments need gymnasium: pip install 'saltus[env]'") from e


class SnakePegs(gymnasium.Env):
    """The 11-link snake of P0 among seven pegs, to be driven forwards (along x).

    Action (10, in [-1, 1]): of each joint, with control="reference" an offset to the reference of
    the scene's gait and PD motor, times `action_scale` [rad], reached at a constant rate within the
    control period; with control="torque" the joint torque times `action_scale` [N m].

    Observation (51): joint angles (10) [rad] and rates (10) [rad/s]; the head's position x, y [m],
    the direction it looks at x, y, its velocity x, y [m/s] and turning rate [rad/s] (7); the
    contact force on each link, in the head's frame (22) [N]; sine and cosine of the gait's
    phase (2).

    Reward: metres that the centre of mass has moved along x, minus `control_cost` times the mean
    square of the action. An episode is cut (truncated) after `duration` [s], and ends (terminated)
    if the dynamics diverge.

    `scene`: another scene of this snake, say with sensors; their latest readings are info["sensors"],
    by name.

    reset(seed) moves the joints by up to `start_noise` [rad] each; the same seed and actions give
    the same trajectory, bit for bit."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, *, control: str = "reference", action_scale: float | None = None,
                 control_cost: float = 1e-3, period: float = 0.05, duration: float = 12.0,
                 start_noise: float = 0.02, time_step: float = 2e-3,
                 scene: str | os.PathLike[str] | None = None):
        if control not in ("reference", "torque"):
            raise InputError(f"control: expected 'reference' or 'torque', got {control!r}")
        for name, x in (("period", period), ("duration", duration), ("time_step", time_step)):
            if not (np.isfinite(x) and x > 0):
                raise InputError(f"{name}: expected a number > 0, got {x}")
        self.render_mode = None
        self.control, self.control_cost = control, control_cost
        self.action_scale = action_scale or (0.3 if control == "reference" else 5.0)
        self.start_noise = start_noise
        chosen = Scene(scene or scene_path("p0/pegs"),
                       {"coordinates": "minimal", "time.step": time_step})
        self.sim = Simulation(chosen)
        model = self.sim.model
        self._start = self.sim.state.copy()
        self._joints = [c.name for c in model.coordinates if c.name.startswith("joint")]
        self._slice = slice(len(model.coordinates) - len(self._joints), None)
        self._head = model.body_index("link1")
        self._substeps = max(1, round(period / time_step))
        self._most = max(1, round(duration / (self._substeps * time_step)))
        self._gait = [self.sim.actuation.reference(j) for j in self._joints]
        first = self._gait[0]
        assert isinstance(first, Sine)  # the scene's serpenoid gait
        self._omega, self._phase = first.omega, first.phase
        n = len(self._joints)
        self.action_space = spaces.Box(-1.0, 1.0, (n,), np.float64)
        size = 2 * n + 7 + 2 * len(model.bodies) + 2
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self._drive(np.zeros(n), np.zeros(n))

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset(self._start)
        n = len(self._joints)
        noise = self.np_random.uniform(-self.start_noise, self.start_noise, n)
        self.sim.state.q[-n:] += noise  # minimal coordinates: the root's three, then the joints
        self._count = 0
        self._offset = np.zeros(n)
        self._drive(self._offset, self._offset)
        forward_kinematics(self.sim.model, self.sim.state, self.sim.work)
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        a = np.asarray(action, float)
        if a.shape != self.action_space.shape or not np.all(np.isfinite(a)):
            raise InputError(f"action: expected {len(self._joints)} finite numbers")
        a = np.clip(a, -1.0, 1.0)
        offset = self.action_scale * a
        self._drive(self._offset, offset)
        self._offset = offset
        before = self._progress()
        failed = False
        try:
            self.sim.step(self._substeps)
        except DivergenceError:
            failed = True
            forward_kinematics(self.sim.model, self.sim.state, self.sim.work)
        self._count += 1
        cost = self.control_cost * float(np.mean(a * a))
        reward = self._progress() - before - cost
        return self._observe(), reward, failed, self._count >= self._most, self._info()

    def _drive(self, old: np.ndarray, new: np.ndarray) -> None:
        """Leads every joint's drive from its old offset to the new one within the period."""
        t, end = self.sim.t, self.sim.t + self._substeps * self.sim.dt
        for i, joint in enumerate(self._joints):
            if self.control == "torque":
                self.sim.actuation.motor(joint, torque=Constant(new[i]))
            else:
                self.sim.actuation.set_reference(
                    joint, Sum([self._gait[i], Table([t, end], [old[i], new[i]])]))

    def _progress(self) -> float:
        return float(centre_of_mass(self.sim.model, self.sim.work)[0])

    def _observe(self) -> np.ndarray:
        sim, work = self.sim, self.sim.work
        angles = coordinate_values(sim.model, sim.state, work)[self._slice]
        rates = coordinate_rates(sim.model, sim.state, work)[self._slice]
        R, r, V = work.R[self._head], work.r[self._head], work.V[self._head]
        velocity = R @ V[:3]
        looks = -R[:2, 0]  # a link's x-axis points to the next: the head looks the other way
        frame = np.array([[looks[0], looks[1]], [-looks[1], looks[0]]])
        forces = sim.contact_forces()[:, :2] @ frame.T
        phase = self._omega * sim.t + self._phase
        return np.concatenate([angles, rates, r[:2], looks, velocity[:2], V[5:6], forces.ravel(),
                               [np.sin(phase), np.cos(phase)]])

    def _info(self) -> dict[str, Any]:
        info = {"t": self.sim.t, "x": self._progress()}
        readings = self.sim.sensors
        return info | {"sensors": readings} if readings else info


gymnasium.register("Saltus/SnakePegs-v0", entry_point="saltus.env:SnakePegs")
