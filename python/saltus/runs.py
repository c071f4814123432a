"""Running scenes, and reading run files piece by piece."""
from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._core import Scene, State, _RunReader
from .errors import DivergenceError, EnergyError, InputError, SceneWarning, UnconvergedError
from .rods import Rod

Progress = Callable[[float, float, float], object]
Force = Callable[..., None]


class Series:
    """A column of a table of a run: an array that is read when it is sliced.

    `series[a:b]` reads the rows a to b and nothing else; `np.asarray(series)` reads all rows."""

    def __init__(self, run: Run, table: str, column: str):
        spec = run.tables[table][column]
        self._run, self.table, self.column = run, table, column
        self.dtype = np.dtype(spec[0])
        self.width: int = spec[1]
        self.unit: str = spec[2]
        self.about: str = spec[3]

    def __len__(self) -> int:
        return self._run.rows(self.table)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self),) if self.width == 1 else (len(self), self.width)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def read(self, first: int = 0, count: int | None = None) -> np.ndarray:
        """Rows first ... first + count."""
        rows = len(self)
        if first < 0 or first > rows:
            raise InputError(f"{self.table}/{self.column}: expected a row from 0 to {rows}, "
                             f"got {first}")
        count = rows - first if count is None else max(0, min(count, rows - first))
        raw = self._run._file().read(self.table, self.column, first, count)
        data = np.frombuffer(raw, self.dtype)
        return data if self.width == 1 else data.reshape(-1, self.width)

    def __getitem__(self, index: Any) -> Any:
        row, rest = index, ()
        if isinstance(index, tuple):
            row, rest = (index[0], index[1:]) if index else (slice(None), ())
        n = len(self)
        if isinstance(row, (int, np.integer)):
            i = int(row) + (n if row < 0 else 0)
            if not 0 <= i < n:
                raise IndexError(f"{self.table}/{self.column} has {n} rows, no row {row}")
            one = self.read(i, 1)[0]
            return one[rest] if rest else one
        if isinstance(row, slice):
            start, stop, step = row.indices(n)
            picked = range(start, stop, step)
            if not picked:
                block = self.read(0, 0)
            else:
                first, last = min(picked[0], picked[-1]), max(picked[0], picked[-1])
                block = self.read(first, last - first + 1)[::step]
            return block[(slice(None), *rest)] if rest else block
        return self.read()[index]  # arrays of rows, masks

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self), 4096):
            yield from self.read(first, 4096)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        data = self.read()
        return data if dtype is None else data.astype(dtype)

    def __repr__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        return f"<Series {self.table}/{self.column}{unit}: {self.shape}, {self.dtype}>"


class Readings:
    """Readings of a sensor: `t, values = run.sensor("imu")`.

    t: when they were measured [s]; arrived: when they were known; values (rows, n): all groups side
    by side; `readings["specific_force"]` is one group."""

    def __init__(self, run: Run, name: str, groups: list[str]):
        table = f"sensor_{name}"
        count = run.rows(table)
        self.name, self.groups = name, groups
        self.t = run[f"{table}/t"].read(0, count)
        self.arrived = run[f"{table}/arrived"].read(0, count)
        self._group = {g: run[f"{table}/{g}"].read(0, count) for g in groups}
        self.values = np.hstack([x.reshape(count, -1) for x in self._group.values()])

    def __getitem__(self, group: str) -> np.ndarray:
        if group not in self._group:
            raise InputError(f"sensor '{self.name}' has no '{group}'; there are: "
                             f"{', '.join(self.groups)}")
        return self._group[group]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.t, self.values))

    def __len__(self) -> int:
        return len(self.t)


class Run:
    """A run: its summary and, where it was recorded, its file, read in pieces.

    Run(path) opens a run file, also one that is still being written (`refresh()` then sees new
    rows) or whose writer was killed. `run["frames/q"]` is a Series; see docs/run-format.md for the
    tables. InputError: no such file, no run, cut off, of another format."""

    def __init__(self, path: str | os.PathLike[str]):
        self._reader: _RunReader | None = _RunReader(path)
        self.path: Path | None = Path(path)
        self.state: State | None = None  # where the run ended, if it was run here
        self._status: str | None = None
        self._load()

    @classmethod
    def _of(cls, outcome: tuple[str, str, str, State], path: Path | None) -> Run:
        self = cls.__new__(cls)
        self._status, self.message, summary, self.state = outcome
        self.path, self._reader = path, None
        if path is not None:
            self._reader = _RunReader(path)
            self._load()
        else:
            self.header, self.tables, self.scene = {}, {}, ""
        self.summary = json.loads(summary)
        return self

    def _load(self) -> None:
        reader = self._file()
        try:
            self.header: dict[str, Any] = json.loads(reader.header())
            text = reader.summary()
            self.summary: dict[str, Any] = json.loads(text) if text else {}
        except ValueError as e:
            raise InputError(f"{self.path}: the run is damaged: {e}") from e
        if not isinstance(self.header, dict) or not isinstance(self.summary, dict):
            raise InputError(f"{self.path}: the run is damaged: expected a header and a summary")
        self.scene: str = reader.scene()
        self.tables: dict[str, dict[str, tuple[str, int, str, str]]] = reader.tables()
        self.message: str = self.summary.get("message", "")

    def _file(self) -> _RunReader:
        if self._reader is None:
            raise InputError("the run was not recorded: give an output, or record=True")
        return self._reader

    @property
    def status(self) -> str:
        """completed, unconverged, diverged, gained, stopped; running: not ended yet, or killed."""
        return self._status or self.summary.get("status", "running")

    @property
    def metrics(self) -> dict[str, float | None]:
        """The figures that the scene asks for; None: not reached."""
        return self.summary.get("metrics", {})

    def refresh(self) -> None:
        """Sees what has been written since."""
        self._file().refresh()
        self._load()

    def close(self) -> None:
        """Closes the file; what was read stays."""
        self._reader = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, table: str) -> int:
        """Complete rows of a table."""
        return self._file().rows(table)

    def keys(self) -> list[str]:
        """The names of all series."""
        return [f"{t}/{c}" for t, columns in self.tables.items() for c in columns]

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> Series:
        table, _, column = str(name).partition("/")
        if column not in self.tables.get(table, {}):
            self._file()
            raise InputError(f"no series is called '{name}'; there are: {', '.join(self.keys())}")
        return Series(self, table, column)

    def body(self, name: str) -> np.ndarray:
        """Poses of a body at the frames, (rows, 7): x y z [m], qw qx qy qz."""
        names = [b["name"] for b in self.header.get("bodies", [])]
        self._file()
        if name not in names:
            raise InputError(f"no body is called '{name}'; there are: {', '.join(names)}")
        i = 7 * names.index(name)
        return self["frames/pose"][:, i:i + 7]

    @property
    def rods(self) -> dict[str, Rod]:
        """The rods of the run, by name."""
        return {r["name"]: Rod(self, r) for r in self.header.get("rods", [])}

    def sensor(self, name: str) -> Readings:
        """The readings of a sensor, in the order in which they arrived."""
        self._file()
        sensors = {s["name"]: s["values"] for s in self.header.get("sensors", [])}
        if name not in sensors:
            raise InputError(f"no sensor is called '{name}'; there are: {', '.join(sensors) or '-'}")
        return Readings(self, name, sensors[name])

    def contacts(self, frame: int) -> list[dict[str, Any]]:
        """Contacts and supports of a frame: kind, a, b (shapes; of a support "world" and its
        body), feature, mode, gap, point, normal, force [N]."""
        end = self["frames/contact_end"]
        last = int(end[frame])
        k = frame if frame >= 0 else len(end) + frame
        first = int(end[k - 1]) if k else 0
        shapes, bodies = ([x["name"] for x in self.header[k]] for k in ("shapes", "bodies"))
        columns = [self[f"contacts/{c}"][first:last] for c in
                   ("kind", "a", "b", "feature", "mode", "gap", "point", "normal", "impulse")]
        return [{"kind": "support" if kind else "contact",
                 "a": "world" if kind else shapes[a],
                 "b": bodies[b] if kind else shapes[b],
                 "feature": int(feature),
                 "mode": ("open", "stick", "slip", "closed")[mode],
                 "gap": gap, "point": point, "normal": normal,
                 "force": impulse / self.header["dt"]}
                for kind, a, b, feature, mode, gap, point, normal, impulse in zip(*columns)]

    def _place(self, kind: int, a: int, b: int, feature: int) -> str | None:
        if kind == 1:
            return self.header["elements"][a]
        shapes = self.header["shapes"]
        point = f"#{feature}" if feature else ""
        return f"contact {shapes[a]['name']} - {shapes[b]['name']}{point}" if kind == 0 else None

    def impacts(self) -> list[dict[str, Any]]:
        """The impacts, in their order: t [s], kinetic_before, kinetic_after (of the trees that take
        part), work_normal, work_tangential, work_joints, work_drives, work_forces, attenuated,
        accumulated [J], whose sum is the change; gained: by the law beyond its claim [J];
        restitution_share, attenuation, bound (the claim T+ <= bound T-), path, contact_count and
        contacts (at, before, after, impulse: N, T1, T2; work_normal, work_tangential, restitution,
        mu, feasible), of which the 32 with the largest impulses are kept; and of the first ones
        (output.impacts) the states q, v_before, v_after. InputError: a run of an older saltus."""
        if "impacts" not in self.tables:
            self._file()
            raise InputError("the run has no table of impacts: an older saltus wrote it; run the "
                             "scene again")

        def rows(table: str, count: int | None = None) -> list[dict[str, Any]]:
            names = list(self.tables[table])
            columns = [self[f"{table}/{c}"].read(0, count) for c in names]
            return [dict(zip(names, row)) for row in zip(*columns)]

        # Of a run that is being written the impacts first: their contacts and states are there.
        found, first = rows("impacts"), 0
        contacts, states = rows("impact_contacts"), rows("impact_states", len(found))
        for k, impact in enumerate(found):
            end = int(impact.pop("contact_end"))
            impact["path"] = self.header["impact_paths"][impact["path"]]
            impact["contact_count"] = int(impact.pop("contacts"))
            impact["contacts"] = [
                {"at": self._place(*(int(c.pop(x)) for x in ("kind", "a", "b", "feature"))), **c}
                for c in contacts[first:end]]
            impact |= states[k] if k < len(states) else {}
            first = end
        return found

    def plot_impacts(self, ax: Any = None) -> Any:
        """With matplotlib: at each impact the kinetic energy before as an outline, after as its
        filling, and what was gained in red. Returns the axes."""
        from . import plotting
        return plotting.impacts(self, ax)

    def modes(self) -> list[dict[str, Any]]:
        """Changes of mode and impacts, in their order: t [s], causes (dicts of cause, at: a name
        or None, and of an accumulation its end [s]), holds and slips (names of what does from then
        on), impact, kinetic_before, kinetic_after [J], restitution_share. InputError: not recorded
        (`output: {modes: true}`, or an event-driven run)."""
        if "modes" not in self.tables:
            self._file()
            raise InputError("the run has no modes: record them with output.modes=true, or run "
                             "with integrator.type=event-driven")
        words, name = self.header["causes"], self._place

        def rows(table: str, *columns: str) -> list[tuple[Any, ...]]:
            return list(zip(*(self[f"{table}/{c}"][:].tolist() for c in columns)))

        # Of a run that is being written the modes first: their causes and members are there.
        changes = rows("modes", "t", "impact", "kinetic_before", "kinetic_after",
                       "restitution_share", "cause_end", "member_end")
        causes = rows("causes", "kind", "a", "b", "feature", "cause", "value")
        members = rows("members", "kind", "a", "b", "feature", "status")
        found, c, m = [], 0, 0
        for t, impact, before, after, share, cause_end, member_end in changes:
            found.append({
                "t": t,
                "causes": [{"cause": words[cause], "at": name(*place),
                            **({"end": value} if words[cause] == "accumulation" else {})}
                           for *place, cause, value in causes[c:cause_end]],
                "holds": [name(*place) for *place, status in members[m:member_end] if status == 1],
                "slips": [name(*place) for *place, status in members[m:member_end] if status == 2],
                "impact": bool(impact), "kinetic_before": before, "kinetic_after": after,
                "restitution_share": share})
            c, m = cause_end, member_end
        return found

    def plot_modes(self, ax: Any = None) -> Any:
        """With matplotlib: for each element and contact when it held (dark) and slipped (light),
        impacts as lines. Returns the axes."""
        from . import plotting
        return plotting.modes(self, ax)

    def plot(self, *names: str, ax: Any = None) -> Any:
        """With matplotlib: the paths and the last posture seen from above (from the side where the
        model is not planar), or the named series over time. Returns the axes."""
        from . import plotting
        return plotting.plot(self, names, ax)

    def _repr_html_(self) -> str:
        from . import notebook
        return notebook.html(self)

    def __repr__(self) -> str:
        where = f" {self.path}" if self.path else ""
        t = self.summary.get("t")
        at = f", t = {t:g} s" if t is not None else ""
        return f"<Run{where}: {self.status}{at}>"


def _draw(t: float, end: float, speed: float) -> None:
    filled = int(40 * t / end)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (40 - filled)}] t = {t:.3f} of {end:g} s, "
                     f"{speed:.0f} steps/s ")
    sys.stderr.flush()


def _temporary() -> tuple[Path, Callable[[], None]]:
    folder = tempfile.mkdtemp(prefix="saltus-")

    def remove() -> None:
        import shutil
        shutil.rmtree(folder, ignore_errors=True)

    return Path(folder) / "run.h5", remove


def run(scene: Scene | str | os.PathLike[str],
        overrides: Mapping[str, object] | Iterable[str] | None = None, *,
        output: str | os.PathLike[str] | None = None, record: bool = True,
        progress: bool | Progress = False, force: Force | None = None,
        flow: Any = None, check: bool = True) -> Run:
    """Simulates a scene to its end, without the GIL, as `saltus run` does: the same bits.

    overrides: {"time.step": 2e-3} or ["time.step=2e-3"].
    output: the run file (HDF5); without one, a temporary file that lives as long as the Run.
    record: False writes nothing: the Run has a summary and the last state only.
    progress: True draws a bar on stderr; or a function of t [s], end [s] and steps/s, called about
        ten times a second, that may return False to stop.
    force: force(t, q, v, tau, work), called once a step (see Actuation.force); such a run cannot
        be resumed.
    flow: a Flow, three numbers [m/s] or a function of x and t that every fluid and wing of the scene moves in,
        instead of its own (see Flow.field); such a run cannot be resumed.
    check: DivergenceError, UnconvergedError and EnergyError (with the run as `.run`) where the command line
        would exit with 1 or 3.
    SceneWarning: of the start, or of a step that is too long for its speeds.
    Ctrl-C stops the run (KeyboardInterrupt); what was recorded stays readable."""
    if not isinstance(scene, Scene):
        scene = Scene(scene, overrides)
    elif overrides is not None:
        scene = scene.with_overrides(overrides)
    if output is not None and os.path.exists(output) and os.path.exists(scene.name) \
            and os.path.samefile(output, scene.name):
        raise InputError(f"{os.fspath(output)}: cannot write: it is the scene")
    return _finish(lambda path, call: _core._run(scene, path, call, force, flow), output, record,
                   progress, check)


def resume(path: str | os.PathLike[str], *, output: str | os.PathLike[str] | None = None,
           progress: bool | Progress = False, check: bool = True) -> Run:
    """Continues a run file from its last checkpoint to the end of its scene, in place or into
    another file: the same bits as the uninterrupted run."""
    return _finish(lambda to, call: _core._resume(path, to, call), output or path, True, progress,
                   check)


def _finish(go: Callable[[Path | None, Any], tuple[str, str, str, State]],
            output: str | os.PathLike[str] | None, record: bool, progress: bool | Progress,
            check: bool) -> Run:
    if progress is not True and progress is not False and not callable(progress):
        raise InputError(f"progress: expected a bool or a function, got {progress!r}")
    call = _draw if progress is True else progress or None
    remove = None
    path = Path(output) if output is not None else None
    if path is None and record:
        path, remove = _temporary()
    try:
        result = Run._of(go(path, call), path)
    except BaseException:
        if remove:
            remove()
        raise
    finally:
        if progress is True:
            sys.stderr.write("\r" + " " * 90 + "\r")
    if remove:
        weakref.finalize(result, remove)
    for line in result.summary.get("warnings", []):
        warnings.warn(line, SceneWarning, stacklevel=3)
    failures = {"diverged": DivergenceError, "unconverged": UnconvergedError, "gained": EnergyError}
    if check and result.status in failures:
        error = failures[result.status](result.message)
        error.run = result
        raise error
    return result
