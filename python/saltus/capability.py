"""What actuators can do: the acceleration of a point of a scene that stands (P1 chapter 6)."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Scene


def capability(scene: Scene | str | os.PathLike[str],
               overrides: Mapping[str, object] | Iterable[str] | None = None, *,
               point: str = "centre-of-mass", direction: Sequence[float] = (0, 0, 1),
               pins: Iterable[str] = (), feet: Iterable[str] = (), friction: float | None = None,
               up: Sequence[float] | None = None, limit: float | None = None, joints: str = "",
               touch: float = 1e-6, outlines: bool = False) -> dict[str, Any]:
    """The acceleration [m/s^2] of a point that the actuators can give at the scene's start, at rest, as
    `saltus capability` says it: over all torques within their limits.

    point: "BODY", "BODY:x,y,z" (in its frame [m]) or "centre-of-mass". direction: of any length.
    What touches holds (nearer than `touch` [m]); beside that pins, points held all ways, and feet,
    points that push along `up` within `friction`, written like point. limit: of every torque besides
    the motors' own [N m, N]; joints: which are driven, a pattern, instead of those with motors.

    Returns actuators (joint, lower, upper), held_at (name, first row, rows), the arrays S, a0, Fs, F0
    and N of a = S tau + a0 and F = Fs tau + F0 + N z; and, None where infeasible, directional (the other
    accelerations zero), free (they float) and held (and the forces keep their laws), each with value,
    error, torques and forces. outlines: also {"xy": (free, held), ...}, corners of what can be reached."""
    if not isinstance(scene, Scene):
        scene = Scene(scene, overrides)
    elif overrides is not None:
        scene = scene.with_overrides(overrides)
    found = _core._capability(scene, point, [float(x) for x in direction], list(pins), list(feet), friction,
                              None if up is None else [float(x) for x in up], limit, joints, touch, outlines)
    rows, width = len(found["F0"]), len(found["actuators"])
    for name, shape in (("direction", 3), ("a0", 3), ("F0", rows), ("S", (3, width)), ("Fs", (rows, width)),
                        ("N", (rows, -1) if rows else (0, 0))):
        found[name] = np.array(found[name], float).reshape(shape)
    for kind in ("directional", "free", "held"):
        if found[kind] is not None:
            for name in ("torques", "forces"):
                found[kind][name] = np.array(found[kind][name], float)
    if outlines:
        found["outlines"] = {plane: tuple(np.array(c, float).reshape(-1, 2) for c in both)
                             for plane, both in found["outlines"].items()}
    return found
