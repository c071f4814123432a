"""Creatures whose shape moves them: what `saltus shape` says of a scene (docs/shape.md)."""
from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._core import Scene
from .errors import InputError


def shape(scene: Scene | str | os.PathLike[str],
          overrides: Mapping[str, object] | Iterable[str] | None = None, *,
          at: Iterable[float] = (), grid: int = 0) -> dict[str, Any]:
    """The net group and shape of a scene, its class and ranks at the shape `at` (default: its start), the
    local form A of its connection, and of each of its gaits the net displacement, the area rule and the
    torques, as `saltus shape --json` prints them. grid: cells a side of a grid over the scene's `shape.plane`,
    with class, ranks and height functions F at each. InputError: the scene is no such creature."""
    if not isinstance(scene, Scene):
        scene = Scene(scene, overrides)
    elif overrides is not None:
        scene = scene.with_overrides(overrides)
    cells = operator.index(grid)
    if not 0 <= cells <= 1000:
        raise InputError(f"grid: expected 0 to 1000 cells, got {cells}")
    return json.loads(_core._shape(scene, [float(x) for x in at], cells))
