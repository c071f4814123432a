"""Many copies of one simulation, on all cores."""
from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .errors import UnconvergedWarning


@dataclass(frozen=True)
class Rollout:
    """Trajectories of N copies: row 0 is the start, one row follows after every `every` steps."""
    t: np.ndarray            # (rows,) [s], of an array of states; else since each one's start
    q: np.ndarray            # (N, rows, nq); nan from where a copy diverged
    v: np.ndarray            # (N, rows, nv)
    states: list             # the last State of each copy, to go on from
    steps: np.ndarray        # (N,) taken
    unconverged: np.ndarray  # (N,) steps that missed the solver's tolerance
    residual: np.ndarray     # (N,) the worst [m/s]
    penetration: np.ndarray  # (N,) the deepest after correction [m]
    diverged: np.ndarray     # (N,) bool


def rollout(simulation: _core.Simulation, states: ArrayLike | list, steps: int, *, every: int = 1,
            forces: ArrayLike | None = None, threads: int = 0) -> Rollout:
    """Steps N copies of a simulation from N states; the simulation itself stays as it is.

    states: an array (N, nq + nv) of q and v; a copy takes all else (time, impulses of the last step)
    from simulation.state. Or a list of State, each with its own. forces: joint forces (N, steps, nv)
    that are added in each step [N m, N]. threads: 0 for all cores. Every copy takes the same bits as
    `simulation.step(steps)` from its state, whatever the number of threads; the GIL is released.
    A copy that diverges ends in nan, and an UnconvergedWarning says so; it says so, too, where steps
    missed the tolerance.
    """
    found = _core._rollout(simulation.actuation, simulation.state, simulation.options, states,
                           steps, every, forces, threads)
    for name in ("steps", "unconverged"):
        found[name] = found[name].astype(np.int64)
    found["diverged"] = found["diverged"].astype(bool)
    rows = found["q"].shape[1]
    own_times = isinstance(states, (list, tuple)) and isinstance(states[0], _core.State)
    first = 0.0 if own_times else simulation.t
    result = Rollout(t=first + simulation.dt * every * np.arange(rows), **found)
    if result.diverged.any() or result.unconverged.any():
        warnings.warn(f"{int(result.diverged.sum())} of {len(result.steps)} copies diverged, "
                      f"{int(result.unconverged.sum())} steps missed the tolerance",
                      UnconvergedWarning, stacklevel=2)
    return result
