"""A study: a scene, what varies, what is measured and, for optimisation, what is wanted. Read and checked here."""
from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from .document import Document, Fields, nearest, parse
from .expressions import Expression, constraint

DESIGNS = ("grid", "zip", "latin-hypercube", "sobol")
TABLES = ("csv", "parquet", "hdf5")
PLOTS = ("curve", "heat-map", "parallel", "pareto", "convergence")
# Columns of the tables beside parameters and metrics.
RESERVED = ("run", "start", "evaluation", "objective", "feasible", "status", "message", "command")
Value = float | int | str | bool


@dataclass(frozen=True)
class Parameter:
    """What varies: one or more values of the scene, over a range or a list."""
    name: str
    paths: tuple[str, ...]
    lower: float | None = None
    upper: float | None = None
    count: int | None = None      # of a grid
    values: tuple[Value, ...] = ()
    unit: str = ""                # as in scenes; the table has plain numbers in it
    log: bool = False
    integer: bool = False
    start: float | None = None    # of the first start of an optimiser

    def at(self, u: float) -> Value:
        """The value at 0 <= u <= 1 of its range or list."""
        if self.values:
            return self.values[min(int(u * len(self.values)), len(self.values) - 1)]
        if self.integer:
            return int(min(self.lower + math.floor(u * (self.upper - self.lower + 1)), self.upper))
        if self.log:
            value = math.exp(math.log(self.lower) + u * math.log(self.upper / self.lower))
        else:
            value = self.lower + u * (self.upper - self.lower)
        return min(max(value, self.lower), self.upper)

    def place(self, value: float) -> float:
        """u of a value: the inverse of `at` for ranges."""
        if self.integer:
            return (value - self.lower + 0.5) / (self.upper - self.lower + 1)
        if self.upper == self.lower:
            return 0.5
        if self.log:
            return math.log(value / self.lower) / math.log(self.upper / self.lower)
        return (value - self.lower) / (self.upper - self.lower)

    def overrides(self, value: Value) -> list[str]:
        """As --set takes them; numbers with all their digits."""
        text = json.dumps(value) if not isinstance(value, str) else value
        return [f"{path}={text}{' ' if self.unit else ''}{self.unit}" for path in self.paths]


@dataclass(frozen=True)
class Metric:
    name: str
    value: Expression


@dataclass(frozen=True)
class Study:
    """What `read` makes of a study file or of a mapping with the same keys."""
    document: Document
    folder: Path                 # in which relative files are looked for
    scene: str                   # as written
    title: str = ""
    fixed: tuple[str, ...] = ()  # overrides of every run
    seed: int = 0
    parameters: tuple[Parameter, ...] = ()
    design: str = "grid"
    points: int | None = None
    metrics: tuple[Metric, ...] = ()
    objective: Expression | None = None
    maximise: bool = False
    constraints: tuple[tuple[Expression, str], ...] = ()
    optimiser: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None  # of one run [s]
    tables: tuple[str, ...] = ("csv",)
    plots: tuple[Mapping[str, Any], ...] = ()
    replays: tuple[Any, ...] = ()

    @property
    def scene_path(self) -> Path:
        return self.folder / self.scene

    def overrides(self, values: Mapping[str, Value]) -> list[str]:
        return [*self.fixed, *(o for p in self.parameters for o in p.overrides(values[p.name]))]

    def decides(self) -> dict[str, Any]:
        """All of the study that rows depend on; plots, replays and formats of tables are not."""
        keys = ("set", "seed", "parameters", "design", "points", "metrics", "objective", "constraints",
                "optimiser", "time_limit")
        return {"scene": self.scene, **{k: self.document.data[k] for k in keys
                                        if self.document.data.get(k) is not None}}


def digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def read(study: Study | str | os.PathLike[str] | Mapping[str, Any]) -> Study:
    """A study file (YAML), or the same keys as a mapping, whose files are looked for here."""
    if isinstance(study, Study):
        return study
    if isinstance(study, Mapping):
        return _study(Document("study", dict(study)), Path("."))
    path = Path(study)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as e:
        raise InputError(f"{path}: cannot read: {getattr(e, 'strerror', None) or e}") from e
    return _study(parse(text, str(path)), path.parent)


def _study(document: Document, folder: Path) -> Study:
    f = Fields(document, document.data, "")
    if f.required("saltus_study", "1, the version of this format") != 1:
        raise f.error("saltus_study", f"expected 1, got {document.data['saltus_study']!r}")
    parameters = _parameters(f)
    metrics = _metrics(f, parameters)
    objective, maximise = _objective(f)
    fixed = f.get("set", {})
    if not isinstance(fixed, Mapping):
        raise f.error("set", f"expected a mapping of path: value, got {fixed!r}")
    study = Study(
        document, folder, os.fspath(f.required("scene", "a scene file")), f.text("title"),
        tuple(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in fixed.items()),
        f.integer("seed", 0, 0), parameters, f.choice("design", DESIGNS, "grid"),
        f.integer("points"), metrics, objective, maximise, _constraints(f), _optimiser(f),
        f.positive("time_limit"), _list_of(f, "tables", TABLES) or ("csv",), _plots(f),
        tuple(f.items("replays")))
    f.finish()
    _check_names(f, study)
    return study


def _unique(f: Fields, key: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i] or name in RESERVED:
            taken = "a column of every table" if name in RESERVED else "taken"
            raise f.error(f"{key}[{i}]", f"the name '{name}' is {taken}: give another as name")


def _parameters(f: Fields) -> tuple[Parameter, ...]:
    f.required("parameters", "a list of what varies")
    found = []
    for i, item in enumerate(f.items("parameters")):
        g = Fields(f.document, item, f"parameters[{i}]")
        paths = g.required("path", "a value of the scene as --set takes it, or a list of them")
        paths = [paths] if isinstance(paths, str) else paths
        if not isinstance(paths, list) or not paths or not all(isinstance(p, str) and p for p in paths):
            raise g.error("path", f"expected a path like time.step or a list of them, got {paths!r}")
        values = g.items("values")
        if any(not isinstance(v, (int, float, str, bool)) for v in values):
            raise g.error("values", "expected numbers or words")
        lower, upper = g.number("from"), g.number("to")
        if values and lower is not None or (lower is None) != (upper is None):
            raise g.error("", "expected values: [...], or from and to")
        ranged = not values and lower is not None
        log = g.choice("scale", ("linear", "log"), "linear") == "log"
        integer, start = g.boolean("integer"), g.number("start")
        if ranged and not lower <= upper:
            raise g.error("to", f"expected at least from, {lower!r}, got {upper!r}")
        if log and ranged and not lower > 0:
            raise g.error("from", f"expected a number > 0 on a scale: log, got {lower!r}")
        if integer and ranged and not (lower.is_integer() and upper.is_integer()):
            raise g.error("integer", "expected integers as from and to")
        if start is not None and not (ranged and lower <= start <= upper):
            raise g.error("start", f"expected a number between from and to, got {start!r}")
        found.append(Parameter(g.text("name", paths[0]), tuple(paths), lower, upper,
                               g.integer("count"), tuple(values), g.text("unit"), log, integer, start))
        g.finish()
    if not found:
        raise f.error("parameters", "expected at least one")
    _unique(f, "parameters", [p.name for p in found])
    return tuple(found)


def _expression(f: Fields, key: str, text: Any) -> Expression:
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(text)
    if not isinstance(text, str):
        raise f.error(key, f"expected a name or an expression, got {text!r}")
    try:
        return Expression(text)
    except InputError as e:
        raise f.error(key, str(e)) from None


def _metrics(f: Fields, parameters: tuple[Parameter, ...]) -> tuple[Metric, ...]:
    f.required("metrics", "a list of figures of the run")
    found = []
    for i, item in enumerate(f.items("metrics")):
        if isinstance(item, str):
            found.append(Metric(item, _expression(f, f"metrics[{i}]", item)))
            continue
        g = Fields(f.document, item, f"metrics[{i}]")
        name = g.required("name", "the name of its column")
        found.append(Metric(str(name), _expression(g, "value", g.required("value", "an expression"))))
        g.finish()
    if not found:
        raise f.error("metrics", "expected at least one")
    _unique(f, "metrics", [m.name for m in found])
    for i, m in enumerate(found):
        if any(p.name == m.name for p in parameters):
            raise f.error(f"metrics[{i}]", f"the name '{m.name}' is that of a parameter")
    return tuple(found)


def _objective(f: Fields) -> tuple[Expression | None, bool]:
    if not f.has("objective"):
        return None, False
    g = Fields(f.document, f.get("objective"), "objective")
    if g.has("maximise") == g.has("minimise"):
        raise g.error("", "expected either maximise or minimise")
    key = "maximise" if g.has("maximise") else "minimise"
    found = _expression(g, key, g.get(key))
    g.finish()
    return found, key == "maximise"


def _constraints(f: Fields) -> tuple[tuple[Expression, str], ...]:
    found = []
    for i, text in enumerate(f.items("constraints")):
        try:
            found.append(constraint(text if isinstance(text, str) else repr(text)))
        except InputError as e:
            raise f.error(f"constraints[{i}]", str(e)) from None
    return tuple(found)


def _optimiser(f: Fields) -> dict[str, Any]:
    if not f.has("optimiser"):
        return {}
    g = Fields(f.document, f.get("optimiser"), "optimiser")
    found = {"type": g.text("type", "nlopt"), "algorithm": g.text("algorithm", "LN_COBYLA"),
             "evaluations": g.integer("evaluations", 200), "starts": g.integer("starts", 1),
             "tolerance": g.positive("tolerance", 1e-6), "step": g.positive("step", 0.25),
             "population": g.integer("population", None, 2), "failure": g.number("failure")}
    if found["type"] not in ("nlopt", "cma") and ":" not in found["type"]:
        raise g.error("type", f"expected nlopt, cma or module:function, got {found['type']!r}"
                              f"{nearest(found['type'], ('nlopt', 'cma'))}")
    g.finish()
    return found


def _list_of(f: Fields, key: str, options: tuple[str, ...]) -> tuple[str, ...]:
    found = f.items(key)
    for i, item in enumerate(found):
        if item not in options:
            raise f.error(f"{key}[{i}]", f"expected {', '.join(options)}, got {item!r}"
                                         f"{nearest(str(item), options)}")
    return tuple(found)


def _plots(f: Fields) -> tuple[dict[str, Any], ...]:
    found = []
    for i, item in enumerate(f.items("plots")):
        g = Fields(f.document, item, f"plots[{i}]")
        plot = {"type": g.choice("type", PLOTS, "curve"), "x": g.text("x"), "y": g.text("y"),
                "value": g.text("value"), "group": g.text("group"), "columns": g.items("columns"),
                "better": g.items("better")}
        needs = {"curve": "xy", "heat-map": ("x", "y", "value"), "pareto": "xy"}.get(plot["type"], "")
        for key in needs:
            if not plot[key]:
                raise g.error("", f"a {plot['type']} needs {key}: a column")
        if plot["better"] and (len(plot["better"]) != 2 or
                               any(b not in ("less", "more") for b in plot["better"])):
            raise g.error("better", "expected two of less, more: along x and y")
        found.append(plot)
        g.finish()
    return tuple(found)


def check_design(study: Study) -> None:
    """Its points can be made: of a sweep whose points are not given otherwise."""
    error, sampled = study.document.error, study.design in ("latin-hypercube", "sobol")
    if sampled and study.points is None:
        raise error("points", f"expected the number of runs of a {study.design}")
    if not sampled and study.points is not None:
        raise error("points", f"belongs to latin-hypercube and sobol, the design is {study.design}")
    for i, p in enumerate(study.parameters):
        if not p.values and p.lower is None:
            raise error(f"parameters[{i}]", "expected values: [...], or from and to")
        if not sampled and not p.values and p.count is None:
            raise error(f"parameters[{i}]", f"a {study.design} needs its count")
    lengths = {p.name: len(p.values) or p.count for p in study.parameters}
    if study.design == "zip" and len(set(lengths.values())) > 1:
        raise error("parameters", f"a zip needs lists of one length, got {lengths}")


def check_search(study: Study) -> None:
    """It says what an optimiser is to do."""
    error = study.document.error
    if study.objective is None:
        raise error("", "expected objective: {maximise: ...} or {minimise: ...}")
    if not study.optimiser:
        raise error("", "expected optimiser: {type: nlopt, cma or module:function}")
    for i, p in enumerate(study.parameters):
        if p.lower is None:
            raise error(f"parameters[{i}]", "an optimiser needs from and to")


def _check_names(f: Fields, study: Study) -> None:
    """Objective, constraints and plots speak of columns."""
    columns = [*(p.name for p in study.parameters), *(m.name for m in study.metrics)]

    def check(key: str, names: list[str], more: tuple[str, ...] = ()) -> None:
        for name in names:
            if name and name not in columns and name not in more:
                raise f.error(key, f"no parameter or metric of the study is called '{name}'"
                                   f"{nearest(name, columns)}; there are: {', '.join(columns)}")

    if study.objective is not None:
        check("objective", study.objective.names)
    for i, (expression, _) in enumerate(study.constraints):
        check(f"constraints[{i}]", expression.names)
    for i, plot in enumerate(study.plots):
        check(f"plots[{i}]", [plot[k] for k in ("x", "y", "value", "group")] + plot["columns"],
              ("objective", "run", "evaluation"))
    for i, replay in enumerate(study.replays):
        if replay not in ("best", "worst") and (isinstance(replay, bool) or not isinstance(replay, int)
                                                or replay < 0):
            raise f.error(f"replays[{i}]", f"expected best, worst or the number of a run, got {replay!r}")
