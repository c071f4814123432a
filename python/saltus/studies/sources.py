"""Where points come from: a sweep, or many starts of an optimiser. What the journal has is not computed again."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import Error
from .expressions import Missing
from .journal import Journal
from .optimisers import Setting, Value, worst
from .points import latin_hypercube
from .pool import Point
from .study import Study


class Sweep:
    """All points, in the order of the study."""

    def __init__(self, study: Study, points: Iterable[dict[str, Any]], journal: Journal):
        self._left: Iterator[Point] = (Point((0, i), values, study.overrides(values))
                                       for i, values in enumerate(points) if (0, i) not in journal)

    def take(self) -> Point | None:
        return next(self._left, None)

    def give(self, point: Point, answer: dict[str, Any]) -> None:
        pass


def judge(study: Study, values: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """objective, violations and feasible of a row; a failed run has none, its message says why."""
    found: dict[str, Any] = {"objective": None, "violations": [], "feasible": None}
    if answer["status"] != "completed":
        return found
    known = {**values, **answer["metrics"]}
    try:
        found["violations"] = [e.value(known.get) for e, _ in study.constraints]
        found["objective"] = study.objective.value(known.get)
        found["feasible"] = all(v <= 0 for v in found["violations"])
    except Missing as e:
        answer["status"], answer["message"] = "no objective", str(e)
    return found


class Start:
    """One start of an optimiser: a batch of points at a time."""

    def __init__(self, number: int, study: Study, optimiser: Any):
        self.number, self._study, self._optimiser = number, study, optimiser
        self._batch: list[np.ndarray] = []
        self._values: list[Value | None] = []
        self._next = 0           # of the batch
        self._asked = 0          # evaluations before this batch
        self._failures: dict[int, str] = {}
        self.ended: str | None = None  # why; "" by itself

    def take(self) -> Point | None:
        if self.ended is not None:
            return None
        if self._next == len(self._batch):
            if None in self._values:
                return None  # answers are under way
            self._turn()
            if self.ended is not None:
                return None
        u = self._batch[self._next]
        values = {p.name: p.at(float(x)) for p, x in zip(self._study.parameters, u)}
        self._next += 1
        return Point((self.number, self._asked + self._next - 1), values, self._study.overrides(values))

    def _turn(self) -> None:
        """A batch is answered: tell it, ask for the next. A whole batch is run even where a run of it
        ends the start, so that the rows do not depend on which came back first."""
        if self._failures:
            self.ended = self._failures[min(self._failures)]
            return
        if self._batch:
            self._optimiser.tell(self._batch, self._values)
            self._asked += len(self._batch)
        self._batch = list(self._optimiser.ask())
        self._values, self._next = [None] * len(self._batch), 0
        if not self._batch:
            self.ended = getattr(self._optimiser, "ended", "")

    def give(self, point: Point, answer: dict[str, Any]) -> None:
        evaluation = point.key[1]
        if answer.get("objective") is not None:
            sign = -1 if self._study.maximise else 1
            value = Value(sign * answer["objective"], tuple(answer["violations"]))
        else:
            value = Value(worst(self._study.optimiser["failure"], self._study.maximise),
                          (0.0,) * len(self._study.constraints))
        if math.isnan(value.objective):
            self._failures[evaluation] = (
                f"no objective at evaluation {evaluation} ({answer['status']}: {answer['message']}); give "
                f"optimiser.failure, what a failed run counts as, to go on")
        self._values[evaluation - self._asked] = value

    def close(self) -> None:
        close = getattr(self._optimiser, "close", None)
        if callable(close):
            close()


class Starts:
    """Many starts side by side, each by itself: the rows of one do not depend on the others."""

    def __init__(self, study: Study, make: Any, journal: Journal):
        o, width = study.optimiser, len(study.parameters)
        first = np.array([0.5 if p.start is None else p.place(p.start) for p in study.parameters])
        others = latin_hypercube(max(o["starts"] - 1, 1), width, study.seed)
        self._journal = journal
        self.starts = [
            Start(i, study, make(Setting(first if i == 0 else others[i - 1], study.seed + i,
                                         o["evaluations"], o["tolerance"], o["step"],
                                         len(study.constraints), o["algorithm"], o["population"])))
            for i in range(o["starts"])]

    def take(self) -> Point | None:
        for start in self.starts:
            while (point := start.take()) is not None:
                if point.key not in self._journal:
                    return point
                row = self._journal.get(point.key)
                if row["values"] != point.values:
                    raise Error(f"start {point.key[0]}, evaluation {point.key[1]}: the optimiser asks for "
                                f"{point.values}, the journal has {row['values']}: it does not repeat "
                                f"itself, so it cannot be resumed; finished rows are kept")
                start.give(point, row)
        return None

    def give(self, point: Point, answer: dict[str, Any]) -> None:
        self.starts[point.key[0]].give(point, answer)

    def close(self) -> None:
        for start in self.starts:
            start.close()
