"""Gymnasium environments. `import saltus.env` registers them:

    import gymnasium, saltus.env
    env = gymnasium.make("Saltus/SnakePegs-v0")
    env = gymnasium.make("Saltus/Quadruped-v0")
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


class Quadruped(gymnasium.Env):
    """P2's quadruped on flat ground, to follow a velocity.

    Action, in [-1, 1]. With control="joint" (12) targets of the joints of the legs LF, RF, LH, RH,
    each from the trunk to the foot: the angle at the start plus `action_scale` [rad] times the
    action, kept by motors of `stiffness` [N m/rad] and `damping` [N m s/rad] within the scene's
    limits. With control="velocity" (3) the velocity that the scene's locomotion controller shall
    follow, over its command: `action_scale` times (forward, lateral [m/s], yaw rate [rad/s]).

    Observation (38 and the last action): height of the trunk [m]; gravity's direction, velocity
    [m/s] and angular velocity [rad/s] in its axes (9); the command: forward, lateral [m/s], yaw rate
    [rad/s] (3); joint angles less those of the start (12) [rad] and rates (12) [rad/s]; feet that
    touch (4, 0 or 1); the last action.

    Reward: the sum of info["reward_terms"], each a rate times the control period: "velocity" and
    "yaw_rate" for following the command, 1 and 0.5 at best; and against "vertical" motion, "tilting",
    "torque" and jerky "action"s. An episode ends (terminated) when the robot falls - its trunk
    touches, tilts by more than 1 rad or sinks below 0.4 of its height - or the dynamics diverge, and
    is cut (truncated) after `duration` [s].

    `command` is (forward, lateral, yaw rate); None: drawn anew by every reset, up to 0.5 and 0.2 m/s
    and 0.5 rad/s. `scene`: another scene with a quadruped and its `locomotion`. reset(seed) moves the
    joints by up to `start_noise` [rad] each; the same seed and actions give the same trajectory, bit
    for bit."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, *, control: str = "joint", command: Any = None,
                 action_scale: float | None = None, stiffness: float = 150.0,
                 damping: float = 4.0, period: float = 0.02, duration: float = 20.0,
                 start_noise: float = 0.02, time_step: float = 2.5e-3,
                 scene: str | os.PathLike[str] | None = None):
        if control not in ("joint", "velocity"):
            raise InputError(f"control: expected 'joint' or 'velocity', got {control!r}")
        for name, x in (("period", period), ("duration", duration), ("time_step", time_step)):
            if not (np.isfinite(x) and x > 0):
                raise InputError(f"{name}: expected a number > 0, got {x}")
        if command is not None and np.shape(command) != (3,):
            raise InputError("command: expected forward, lateral and yaw rate")
        self.render_mode = None
        self.control, self.start_noise = control, start_noise
        self.action_scale = action_scale or (0.25 if control == "joint" else 0.5)
        self._given = None if command is None else np.asarray(command, float)
        self.sim = Simulation(Scene(scene or scene_path("p2/trot-controlled"),
                                    {"time.step": time_step}))
        model, actuation = self.sim.model, self.sim.actuation
        self._start = self.sim.state.copy()
        self._joints = actuation.leg_joints
        names = [c.name for c in model.coordinates]
        self._columns = np.array([names.index(j) for j in self._joints])
        self._feet = actuation.feet
        self._trunks = {model.body_index(name) for name in actuation.trunk}
        self._trunk = model.body_index(actuation.trunk[0])
        self._height = actuation.trunk_height
        self._substeps = max(1, round(period / time_step))
        self._most = max(1, round(duration / (self._substeps * time_step)))
        self._period = self._substeps * time_step
        forward_kinematics(model, self.sim.state, self.sim.work)
        self._rest = coordinate_values(model, self.sim.state, self.sim.work)[self._columns]
        if control == "joint":
            limits = actuation.leg_limits
            actuation.release()
            for joint, angle, limit in zip(self._joints, self._rest, limits):
                actuation.motor(joint, kp=stiffness, kd=damping, reference=angle, limit=limit)
        n = len(self._joints) if control == "joint" else 3
        self.action_space = spaces.Box(-1.0, 1.0, (n,), np.float64)
        size = 1 + 9 + 3 + 2 * len(self._joints) + 4 + n
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset(self._start)
        noise = self.np_random.uniform(-self.start_noise, self.start_noise, len(self._joints))
        drawn = self.np_random.uniform(-1, 1, 3) * (0.5, 0.2, 0.5)
        self.command = drawn if self._given is None else self._given
        for joint, x in zip(self._joints, noise):
            self.sim.state.q[self.sim.model.coordinates[self._index(joint)].q_index] += x
        self._count = 0
        self._action = np.zeros(self.action_space.shape)
        self._drive(self._action)
        forward_kinematics(self.sim.model, self.sim.state, self.sim.work)
        self._touching = np.zeros(4)
        return self._observe(), self._info({})

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        a = np.asarray(action, float)
        if a.shape != self.action_space.shape or not np.all(np.isfinite(a)):
            raise InputError(f"action: expected {self.action_space.shape[0]} finite numbers")
        a = np.clip(a, -1.0, 1.0)
        self._drive(a)
        diverged = False
        try:
            self.sim.step(self._substeps)
        except DivergenceError:
            diverged = True
            forward_kinematics(self.sim.model, self.sim.state, self.sim.work)
        self._count += 1
        contacts = self.sim.contacts()
        self._touching = np.array([float(any(f in (c.a, c.b) for c in contacts))
                                   for f in self._feet])
        terms = self._terms(a)
        self._action = a
        fell = diverged or self._fallen(contacts)
        return (self._observe(), float(sum(terms.values())), fell, self._count >= self._most,
                self._info(terms))

    def _index(self, joint: str) -> int:
        return int(self._columns[self._joints.index(joint)])

    def _drive(self, action: np.ndarray) -> None:
        if self.control == "velocity":
            forward, lateral, yaw_rate = self.command + self.action_scale * action
            self.sim.actuation.command(forward=float(forward), lateral=float(lateral),
                                       yaw_rate=float(yaw_rate))
            return
        for joint, angle, a in zip(self._joints, self._rest, action):
            self.sim.actuation.set_reference(joint, float(angle + self.action_scale * a))

    def _fallen(self, contacts: Any) -> bool:
        R, r = self.sim.work.R[self._trunk], self.sim.work.r[self._trunk]
        touches = any(self._trunks & {c.body_a, c.body_b} for c in contacts)
        return bool(touches or R[2, 2] < np.cos(1.0) or r[2] < 0.4 * self._height)

    def _motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The trunk's rotation, and its twist in its own axes."""
        V = self.sim.work.V[self._trunk]
        return self.sim.work.R[self._trunk], V[:3], V[3:]

    def _terms(self, action: np.ndarray) -> dict[str, float]:
        R, v, w = self._motion()
        heading = np.array([R[0, 0], R[1, 0]]) / np.hypot(R[0, 0], R[1, 0])
        velocity = (R @ v)[:2]
        ahead = np.array([heading @ velocity, heading[0] * velocity[1] - heading[1] * velocity[0]])
        turn = (R @ w)[2]
        tau = self.sim.step_work.motor_force[self._columns]
        change = action - self._action
        rates = {"velocity": np.exp(-np.sum((ahead - self.command[:2]) ** 2) / 0.25),
                 "yaw_rate": 0.5 * np.exp(-(turn - self.command[2]) ** 2 / 0.25),
                 "vertical": -2.0 * (R @ v)[2] ** 2,
                 "tilting": -0.05 * np.sum(w[:2] ** 2),
                 "torque": -1e-5 * np.sum(tau ** 2),
                 "action": -0.01 * np.sum(change ** 2)}
        return {name: float(self._period * x) for name, x in rates.items()}

    def _observe(self) -> np.ndarray:
        sim = self.sim
        R, v, w = self._motion()
        angles = coordinate_values(sim.model, sim.state, sim.work)[self._columns] - self._rest
        rates = coordinate_rates(sim.model, sim.state, sim.work)[self._columns]
        return np.concatenate([sim.work.r[self._trunk][2:3], -R[2], v, w, self.command, angles,
                               rates, self._touching, self._action])

    def _info(self, terms: dict[str, float]) -> dict[str, Any]:
        info = {"t": self.sim.t, "command": self.command.copy(), "reward_terms": terms}
        readings = self.sim.sensors
        return info | {"sensors": readings} if readings else info


gymnasium.register("Saltus/Quadruped-v0", entry_point="saltus.env:Quadruped")
