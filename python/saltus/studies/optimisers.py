"""Optimisers that only ask and tell, over the unit box of the parameters' ranges; all of them minimise.

Anything with `ask() -> list of points` and `tell(points, values)` serves; `stop()`, where there is one, says when it
has ended, and so does an empty list. NLopt calls back instead, so it runs in a thread of its own that waits."""
from __future__ import annotations

import contextlib
import importlib
import math
import queue
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import Error, InputError
from .document import nearest


class AskTell(Protocol):
    def ask(self) -> Sequence[np.ndarray]: ...
    def tell(self, points: Sequence[np.ndarray], values: Sequence[float]) -> None: ...


@dataclass(frozen=True)
class Setting:
    """What a start is made of."""
    start: np.ndarray            # in the unit box
    seed: int
    evaluations: int
    tolerance: float             # of the points, in the unit box
    step: float                  # the first, in the unit box
    constraints: int             # how many values must become <= 0
    algorithm: str = ""
    population: int | None = None


@dataclass(frozen=True)
class Value:
    """What a run says: to be minimised, and what must be <= 0."""
    objective: float
    violations: tuple[float, ...] = ()


class Nlopt:
    """Derivative-free algorithms of NLopt (LN_COBYLA, LN_BOBYQA, GN_CRS2_LM, GN_ISRES, ...)."""

    def __init__(self, setting: Setting):
        self._nlopt = _module("nlopt")
        self._setting, self.ended = setting, ""
        self._asked: queue.SimpleQueue = queue.SimpleQueue()
        self._told: queue.SimpleQueue = queue.SimpleQueue()
        self._known: dict[bytes, Value] = {}
        self._optimiser = self._make()
        threading.Thread(target=self._run, daemon=True, name="saltus-nlopt").start()

    def _make(self) -> Any:
        n, s = self._nlopt, self._setting
        names = [a for a in dir(n) if a[:3] in ("LN_", "GN_")]
        if s.algorithm not in names:
            raise InputError(f"optimiser.algorithm: expected one that needs no derivatives, got "
                             f"'{s.algorithm}'{nearest(s.algorithm, names)}; there are: {', '.join(names)}")
        made = n.opt(getattr(n, s.algorithm), len(s.start))
        made.set_lower_bounds(0.0)
        made.set_upper_bounds(1.0)
        made.set_min_objective(lambda x, gradient: self._value(x).objective)
        try:
            for i in range(s.constraints):
                made.add_inequality_constraint(
                    lambda x, gradient, i=i: self._value(x).violations[i], 1e-9)
        except (ValueError, n.invalid_argument):
            raise InputError(f"optimiser.algorithm: {s.algorithm} takes no constraints; LN_COBYLA, "
                             f"GN_ISRES and GN_ORIG_DIRECT do") from None
        made.set_maxeval(s.evaluations)
        made.set_xtol_abs(s.tolerance)
        made.set_initial_step(s.step)
        if s.population:
            made.set_population(s.population)
        return made

    def _run(self) -> None:
        try:
            self._nlopt.srand(self._setting.seed + 1)  # of this thread
            self._optimiser.optimize(self._setting.start)
        except (self._nlopt.ForcedStop, self._nlopt.RoundoffLimited):
            pass
        except Exception as e:
            self.ended = f"{type(e).__name__}: {e}"
        self._asked.put(None)

    def _value(self, x: np.ndarray) -> Value:
        key = x.tobytes()
        if key not in self._known:
            self._asked.put(x.copy())
            told = self._told.get()
            if told is None:
                raise self._nlopt.ForcedStop
            self._known[key] = told
        return self._known[key]

    def ask(self) -> list[np.ndarray]:
        x = self._asked.get()
        return [] if x is None else [x]

    def tell(self, points: Sequence[np.ndarray], values: Sequence[Value]) -> None:
        self._told.put(values[0])

    def close(self) -> None:
        self._told.put(None)


class Cma:
    """CMA-ES of the package `cma`; constraints by its augmented Lagrangian."""

    def __init__(self, setting: Setting):
        cma = _module("cma")
        self._left, self._values = setting.evaluations, {}
        options = {"bounds": [0, 1], "seed": setting.seed + 1, "verbose": -9, "tolx": setting.tolerance,
                   "maxfevals": setting.evaluations}
        if setting.population:
            options["popsize"] = setting.population
        self._random = np.random.RandomState(setting.seed).get_state()
        with self._own_random(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of packages that would draw its progress
            # Its augmented Lagrangian logs into a folder of the current directory; this is its own switch.
            cma.constraints_handler._Logger = cma.logger.LoggerDummy
            self._strategy = cma.CMAEvolutionStrategy(setting.start, setting.step, options)
            self._fitness = cma.ConstrainedFitnessAL(
                lambda x: self._values[np.asarray(x).tobytes()].objective,
                lambda x: list(self._values[np.asarray(x).tobytes()].violations)) \
                if setting.constraints else None

    @contextlib.contextmanager
    def _own_random(self) -> Iterator[None]:
        """The package draws from NumPy's global generator: every start has its own state of it."""
        before = np.random.get_state()
        np.random.set_state(self._random)
        try:
            yield
        finally:
            self._random = np.random.get_state()
            np.random.set_state(before)

    def ask(self) -> list[np.ndarray]:
        if self._left <= 0 or self._strategy.stop():
            return []
        with self._own_random():
            points = self._strategy.ask()
        self._left -= len(points)
        return points

    def tell(self, points: Sequence[np.ndarray], values: Sequence[Value]) -> None:
        with self._own_random():
            if self._fitness is None:
                self._strategy.tell(points, [v.objective for v in values])
                return
            self._values = {np.asarray(x).tobytes(): v for x, v in zip(points, values)}
            self._strategy.tell(points, [self._fitness(x) for x in points])
            self._fitness.update(self._strategy)


class Foreign:
    """Somebody else's ask/tell object, told plain numbers; NumPy's global generator is not touched."""

    def __init__(self, made: AskTell, setting: Setting):
        for name in ("ask", "tell"):
            if not callable(getattr(made, name, None)):
                raise InputError(f"optimiser: expected an object with ask and tell, got {made!r}")
        if setting.constraints:
            raise InputError("constraints: an ask/tell object of one's own takes none; put them into the "
                             "objective, or choose nlopt or cma")
        self._made, self._left, self._width = made, setting.evaluations, len(setting.start)

    def ask(self) -> list[np.ndarray]:
        stop = getattr(self._made, "stop", None)
        if self._left <= 0 or callable(stop) and stop():
            return []
        points = [np.asarray(x, float) for x in self._made.ask()]
        for x in points:
            if x.shape != (self._width,) or not np.isfinite(x).all() or (abs(x - 0.5) > 0.5).any():
                raise Error(f"the optimiser asked for {x}: expected {self._width} numbers from 0 to 1")
        self._left -= len(points)
        return points

    def tell(self, points: Sequence[np.ndarray], values: Sequence[Value]) -> None:
        self._made.tell(points, [v.objective for v in values])


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise Error(f"the optimiser needs {name}: pip install 'saltus[studies]'") from e


def maker(kind: str | Callable[[Setting], AskTell]) -> Callable[[Setting], Any]:
    """nlopt, cma, "module:function" or a function: called with a Setting, it makes the ask/tell object
    of one start."""
    if kind == "nlopt":
        return Nlopt
    if kind == "cma":
        return Cma
    function = kind
    if isinstance(kind, str):
        module, _, name = kind.partition(":")
        try:
            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as e:
            raise InputError(f"optimiser.type: '{kind}' cannot be imported: {e}") from e
    return lambda setting: Foreign(function(setting), setting)


def worst(failure: float | None, maximise: bool) -> float:
    """What a failed run counts as; nan: its start ends."""
    return math.nan if failure is None else -failure if maximise else failure
