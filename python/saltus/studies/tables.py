"""The tables of a study: what came out, one row a run, and when and where that was. CSV, Parquet, HDF5.

Rows are read from the journal in the order of their keys and written in pieces; a table is there whole or not at
all. The first table depends on the study alone, byte for byte in CSV; all that differs between two computations of
it is in the second."""
from __future__ import annotations

import csv
import datetime
import itertools
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Error
from .journal import Journal, Key
from .study import Parameter, Study

_PIECE = 4096  # rows
PLACES = {"run": int, "host": str, "worker": str, "pid": int, "began": str, "wall_s": float,
          "steps": int, "stepping_s": float, "engine": str, "processor": str}


def type_of(p: Parameter) -> type:
    if not p.values:
        return int if p.integer else float
    kinds = {type(v) for v in p.values}
    return int if kinds == {int} else float if kinds <= {int, float} else str


def columns(study: Study) -> dict[str, type]:
    """Names and types of the first table."""
    optimised = study.objective is not None
    found: dict[str, type] = {"run": int}
    if optimised:
        found |= {"start": int, "evaluation": int}
    found |= {p.name: type_of(p) for p in study.parameters}
    found |= {m.name: float for m in study.metrics}
    if optimised:
        found |= {"objective": float, "feasible": bool}
    return found | {"status": str, "message": str, "command": str}


def command(study: Study, values: dict[str, Any]) -> str:
    """Repeats the run, in the folder of the study file."""
    sets = [part for o in study.overrides(values) for part in ("--set", o)]
    return shlex.join(["saltus", "run", study.scene, *sets, "--json"])


def row(study: Study, number: int, key: Key, entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"run": number}
    if study.objective is not None:
        found |= {"start": key[0], "evaluation": key[1]}
    found |= entry["values"]
    found |= {m.name: entry["metrics"].get(m.name) for m in study.metrics}
    if study.objective is not None:
        found |= {"objective": entry["objective"], "feasible": entry["feasible"]}
    return found | {"status": entry["status"], "message": entry["message"],
                    "command": command(study, entry["values"])}


def place(number: int, entry: dict[str, Any]) -> dict[str, Any]:
    where = entry["place"]
    began = where.get("began")
    if began is not None:
        began = datetime.datetime.fromtimestamp(began, datetime.timezone.utc).isoformat()
    return {"run": number, **{k: where.get(k) for k in PLACES if k not in ("run", "began")},
            "began": began}


def rows(study: Study, journal: Journal) -> Iterator[dict[str, Any]]:
    return (row(study, i, key, entry) for i, (key, entry) in enumerate(journal.rows()))


def places(journal: Journal) -> Iterator[dict[str, Any]]:
    return (place(i, entry) for i, (_, entry) in enumerate(journal.rows()))


def write(study: Study, journal: Journal, folder: Path) -> list[Path]:
    """runs.* and places.* in every format that the study asks for."""
    written = []
    for name, types, source in (("runs", columns(study), lambda: rows(study, journal)),
                                ("places", PLACES, lambda: places(journal))):
        for format in study.tables:
            suffix, writer = _WRITERS[format]
            path = folder / f"{name}{suffix}"
            with _whole(path) as part:
                writer(part, types, source())
            written.append(path)
    return written


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else value


def _csv(path: Path, types: dict[str, type], source: Iterator[dict[str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(types)
        for r in source:
            out.writerow([_cell(r[c]) for c in types])


def _pieces(source: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while piece := list(itertools.islice(source, _PIECE)):
        yield piece


def _typed(kind: type, value: Any) -> Any:
    return None if value is None else kind(value)


def _parquet(path: Path, types: dict[str, type], source: Iterator[dict[str, Any]]) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as e:
        raise Error("Parquet needs pyarrow: pip install 'saltus[studies]'") from e
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    schema = arrow.schema([(c, kinds[t]) for c, t in types.items()])
    with parquet.ParquetWriter(path, schema) as out:
        for piece in _pieces(source):
            out.write_table(arrow.table({c: arrow.array([_typed(t, r[c]) for r in piece], kinds[t])
                                         for c, t in types.items()}, schema))


def _hdf5(path: Path, types: dict[str, type], source: Iterator[dict[str, Any]]) -> None:
    """A dataset a column; what has no value is nan, -1 or an empty text."""
    try:
        import h5py
    except ImportError as e:
        raise Error("HDF5 tables need h5py: pip install 'saltus[studies]'") from e
    kinds = {int: "int64", float: "float64", bool: "int8", str: h5py.string_dtype()}
    nothing = {int: -1, float: float("nan"), bool: -1, str: ""}
    with h5py.File(path, "w", track_order=True) as f:
        sets = {c: f.create_dataset(c, (0,), kinds[t], maxshape=(None,), chunks=(_PIECE,))
                for c, t in types.items()}
        for piece in _pieces(source):
            for c, t in types.items():
                first = len(sets[c])
                sets[c].resize((first + len(piece),))
                sets[c][first:] = [nothing[t] if r[c] is None else t(r[c]) for r in piece]


_WRITERS = {"csv": (".csv", _csv), "parquet": (".parquet", _parquet), "hdf5": (".h5", _hdf5)}
