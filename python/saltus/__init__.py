"""Saltus: dynamics of animals and robots that move by hard contact.

SI units and radians throughout; twists and wrenches are linear part first; quaternions are
w, x, y, z; z is up.

    import saltus
    run = saltus.run("scenes/p0/pegs.yaml")        # a snake among pegs, 12 s
    run.summary["metrics"]["v2"]                   # [m/s]
    run["frames/com"][:, 0]                        # x of the centre of mass [m]

    sim = saltus.Simulation(saltus.Scene("scenes/p0/pegs.yaml"))
    sim.step(1000)
    sim.state.q                                    # a view
"""
from ._core import *  # noqa: F403
from ._core import _commit as __commit__, _version as __version__
from .capability import capability
from .errors import (BusyError, DivergenceError, EnergyError, Error, InputError, SceneWarning,
                     UnconvergedError, UnconvergedWarning)
from .impacts import feasible
from .packaged import scene_names, scene_path
from .rods import Rod
from .rollouts import Rollout, rollout
from .runs import Readings, Run, Series, resume, run
from .studies import optimise, sweep
from .shapes import shape
