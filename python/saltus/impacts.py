"""What an impact could do: the feasible set of a scene's next impact (P1 Figs 4.1 to 4.5)."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._core import Scene


def feasible(scene: Scene | str | os.PathLike[str],
             overrides: Mapping[str, object] | Iterable[str] | None = None, *,
             restitution: Iterable[float] = (0, 0.25, 0.5, 0.75, 1), skip: int = 0,
             reach: float | None = None, samples: int = 800) -> dict[str, Any]:
    """Runs a scene event-driven to its next impact (after `skip` others) and finds the friction
    coefficient that each tangential velocity after it would need, as `saltus feasible` does.

    Returns title, t [s] and curves: one dict for each contact and coefficient of restitution, with
    contact, restitution, mu_s, mu_d; mu_f: what sticking needs, and sticking_pulls: its normal
    impulse would pull, no coefficient does; v_before [m/s]; the arrays v (tangential velocity after
    [m/s]), mu and p_n (normal impulse [N s], negative: it would pull) with the other contacts
    sticking; and what P1's chain chooses: chosen_v, chosen_mu, energy_ratio T+/T-, path.
    reach: the largest |v| [m/s]; None: four times the fastest before. plotting.feasible draws it.
    InputError: no impact before the scene's end, or one without friction."""
    if not isinstance(scene, Scene):
        scene = Scene(scene, overrides)
    elif overrides is not None:
        scene = scene.with_overrides(overrides)
    return _core._feasible(scene, restitution if hasattr(restitution, "__len__")
                           else list(restitution), skip, reach, samples)
