"""A study from its file to its tables: `sweep` and `optimise`, in Python and behind the command line."""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from ..errors import Error, InputError
from . import points as designs
from . import tables
from .bundle import Bundle, pack
from .cluster import Cluster
from .document import nearest
from .journal import Journal
from .optimisers import AskTell, Setting, maker
from .pool import Drive, Given, Point, Processes, Workers
from .progress import Progress
from .sources import Starts, Sweep, judge
from .study import Study, check_design, check_search, digest, read
from .task import TIMES, Job, engine, figures

if TYPE_CHECKING:
    import pandas

StudyLike = Study | str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What a study has found. Rows are read from its folder when they are asked for."""
    study: Study
    folder: Path
    count: int
    failures: int
    ended: tuple[str, ...] = ()          # of an optimisation: why each start ended; "": by itself
    best: Mapping[str, Any] | None = None  # of an optimisation: the best feasible row

    def __repr__(self) -> str:
        best = f", best {self.best['objective']:.9g} in run {self.best['run']}" if self.best else ""
        return f"<Result {self.folder}: {self.count} runs, {self.failures} failed{best}>"

    def rows(self) -> list[dict[str, Any]]:
        """The first table as a list, one mapping a run."""
        return list(self._read(tables.rows))

    def _read(self, kind: Callable[..., Iterable[dict[str, Any]]]) -> Iterable[dict[str, Any]]:
        journal = Journal(self.folder, None)
        try:
            yield from kind(self.study, journal) if kind is tables.rows else kind(journal)
        finally:
            journal.close()

    def frame(self) -> pandas.DataFrame:
        """The first table with pandas: parameters, metrics, status, message, command."""
        return self._frame(tables.rows, tables.columns(self.study))

    def places(self) -> pandas.DataFrame:
        """The second table with pandas: when and where each run was computed."""
        return self._frame(tables.places, tables.PLACES)

    def _frame(self, kind: Any, types: Mapping[str, type]) -> pandas.DataFrame:
        try:
            import pandas
        except ImportError as e:
            raise Error("frames need pandas: pip install 'saltus[studies]'") from e
        frame = pandas.DataFrame(self._read(kind), columns=list(types))
        return frame.astype({c: "float64" for c, t in types.items() if t is float})


def _check(study: Study, bundle: Bundle, values: Mapping[str, Any]) -> None:
    """Parameters reach the scene and metrics come out of it: said before anything runs."""
    error = study.document.error
    try:
        scene = bundle.load(list(study.fixed))
    except InputError as e:
        raise error("set" if study.fixed else "scene", str(e)) from None
    known = paths(scene)
    for i, p in enumerate(study.parameters):
        for path in p.paths:
            try:
                bundle.load([*study.fixed, *_only(p, path, values[p.name])])
            except InputError as e:
                close = "" if path in known else nearest(path, known)
                # A value that the scene refuses is a row that failed; a path that is not there is not.
                if close or "there is no" in str(e) or "unknown key" in str(e):
                    raise error(f"parameters[{i}].path", f"{e}{close}") from None
    names = figures(_shortest(scene))
    for i, m in enumerate(study.metrics):
        for name in m.value.names:
            if name in TIMES:
                raise error(f"metrics[{i}]", f"'{name}' differs from run to run: it is in the table of "
                                             f"places")
            if name not in names:
                raise error(f"metrics[{i}]", f"runs of {study.scene} have no '{name}'"
                                             f"{nearest(name, names)}; there are: {', '.join(names)}")


def _only(p: Any, path: str, value: Any) -> list[str]:
    return [o for o in p.overrides(value) if o.startswith(f"{path}=")]


def _shortest(scene: _core.Scene) -> dict[str, Any]:
    """The summary of a run of one step: every figure that a run has, not yet their values."""
    return json.loads(_core._summary(scene.with_overrides({"time.end": scene.dt}), None)[2])


def paths(scene: _core.Scene) -> list[str]:
    """Every path that --set reaches in a scene as it is written, list entries by name where they have one."""
    from .document import parse
    found: list[str] = []

    def walk(value: Any, path: str) -> None:
        if path:
            found.append(path)
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                walk(item, f"{path}[{i}]")
                if isinstance(item, dict) and isinstance(item.get("name"), str):
                    walk(item, f"{path}[{item['name']}]")

    walk(parse(scene.text, scene.name).data, "")
    return found


def _workers(workers: int | None, executor: Executor | None, cluster: str | None) -> Workers:
    if sum(x is not None for x in (workers, executor, cluster)) > 1:
        raise InputError("expected one of workers, executor and cluster")
    if cluster is not None:
        return Cluster(cluster)
    if executor is not None:
        if not isinstance(executor, Executor):
            raise InputError(f"executor: expected a concurrent.futures.Executor, got {executor!r}")
        return Given(executor)
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers: expected a number >= 1, got {workers!r}")
    return Processes(workers)


class _Session:
    """What sweeps and optimisations have in common."""

    def __init__(self, study: Study, output: str | os.PathLike[str] | None, more: Mapping[str, Any],
                 first: Mapping[str, Any]):
        self.study = study
        self.bundle = pack(study.scene_path)
        _check(study, self.bundle, first)
        stem = Path(study.document.name).stem
        self.folder = Path(output) if output is not None else Path(f"{stem}.study")
        header = {**study.decides(), **more, "scene with its files": self.bundle.digest,
                  "engine": str(engine())}
        self.journal = Journal(self.folder, header)
        self.job = Job(self.bundle, study.metrics, engine(), study.time_limit)

    def finish(self, source: Any, workers: Workers, total: int, draw: bool) -> None:
        progress = Progress(total, len(self.journal), draw)

        def finished(point: Point, answer: dict[str, Any]) -> None:
            found = judge(self.study, point.values, answer) if self.study.objective is not None else {}
            answer.update(found)
            self.journal.add(point.key, {"values": point.values, **answer})
            progress.row(answer["status"] != "completed")

        try:
            Drive(self.job, source, workers, finished).run()
        finally:
            progress.end()
            tables.write(self.study, self.journal, self.folder)

    def result(self, ended: tuple[str, ...] = ()) -> Result:
        failures, best, sign = 0, None, -1 if self.study.maximise else 1
        for i, (key, entry) in enumerate(self.journal.rows()):
            failures += entry["status"] != "completed"
            if entry.get("feasible") and (best is None or
                                          sign * entry["objective"] < sign * best["objective"]):
                best = tables.row(self.study, i, key, entry)
        return Result(self.study, self.folder, len(self.journal), failures, ended, best)


def sweep(study: StudyLike, *, output: str | os.PathLike[str] | None = None, points: Any = None,
          workers: int | None = None, executor: Executor | None = None, cluster: str | None = None,
          progress: bool = False) -> Result:
    """Runs every point of a study; see docs/studies.md for its keys.

    study: a study file, or the same keys as a mapping. output: the folder of its tables and its
    journal, `NAME.study` by default; a study that is there already goes on where it stopped.
    points: a pandas table or a list of mappings, a value for every parameter, instead of the design.
    workers: processes of this machine, one a core by default; or executor: any
    concurrent.futures.Executor; or cluster: the address of a Dask scheduler. The rows are the same."""
    study = read(study)
    if study.objective is not None:
        raise study.document.error("objective", "a sweep has none: use optimise")
    if points is None:
        check_design(study)
    given = None if points is None else designs.given_points(study, points)
    total = designs.count(study) if given is None else len(given)
    if total == 0:
        raise InputError("points: expected at least one")
    every = designs.points(study) if given is None else iter(given)
    first = next(designs.points(study)) if given is None else given[0]
    hands = _workers(workers, executor, cluster)
    session = _Session(study, output, {} if given is None else {"points": digest(given)}, first)
    try:
        session.finish(Sweep(study, every, session.journal), hands, total, progress)
        return session.result()
    finally:
        session.journal.close()


def optimise(study: StudyLike, *, output: str | os.PathLike[str] | None = None,
             optimiser: Callable[[Setting], AskTell] | None = None, workers: int | None = None,
             executor: Executor | None = None, cluster: str | None = None,
             progress: bool = False) -> Result:
    """Searches for the best point of a study that has an objective; see docs/studies.md for its keys.

    optimiser: instead of the study's, a function that makes an object with ask and tell of a Setting
    (the start in the unit box, its seed, how many evaluations), once a start. The rest as in sweep."""
    study = read(study)
    check_search(study)
    make = maker(optimiser or study.optimiser["type"])
    first = {p.name: p.at(0.5) for p in study.parameters}
    hands = _workers(workers, executor, cluster)
    named = {"optimiser": getattr(optimiser, "__qualname__", repr(optimiser))} if optimiser else {}
    session = _Session(study, output, named, first)
    starts = None
    try:
        starts = Starts(study, make, session.journal)
        o = study.optimiser
        session.finish(starts, hands, o["starts"] * o["evaluations"], progress)
        return session.result(tuple(s.ended or "" for s in starts.starts))
    finally:
        if starts is not None:
            starts.close()
        session.journal.close()
