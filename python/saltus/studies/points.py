"""The points of a sweep, in an order that the study alone decides."""
from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import Error, InputError
from .document import nearest
from .study import Parameter, Study, Value


def latin_hypercube(count: int, width: int, seed: int) -> np.ndarray:
    """(count, width) in [0, 1): every column has one value in each of `count` equal intervals."""
    random = np.random.default_rng(seed)
    rows = np.stack([random.permutation(count) for _ in range(width)], axis=1)
    return (rows + random.random((count, width))) / count


def sobol(count: int, width: int, seed: int) -> np.ndarray:
    """(count, width) in [0, 1): a scrambled Sobol sequence."""
    try:
        from scipy.stats import qmc
    except ImportError as e:
        raise Error("Sobol points need SciPy: pip install 'saltus[studies]'") from e
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # balanced for powers of two only: docs/studies.md says so
        return qmc.Sobol(width, scramble=True, rng=np.random.default_rng(seed)).random(count)


def grid_values(p: Parameter) -> list[Value]:
    if p.values:
        return list(p.values)
    count = p.count or 1
    if p.integer:
        return [int(x) for x in np.unique(np.rint(np.linspace(p.lower, p.upper, count)))]
    values = (np.geomspace if p.log else np.linspace)(p.lower, p.upper, count)
    return [float(x) for x in values]


def points(study: Study) -> Iterator[dict[str, Value]]:
    """One mapping of parameter names to values a run."""
    names = [p.name for p in study.parameters]
    if study.design in ("latin-hypercube", "sobol"):
        sample = latin_hypercube if study.design == "latin-hypercube" else sobol
        for u in sample(study.points or 0, len(names), study.seed):
            yield {p.name: p.at(float(x)) for p, x in zip(study.parameters, u)}
        return
    values = [grid_values(p) for p in study.parameters]
    together = itertools.product(*values) if study.design == "grid" else zip(*values)
    for row in together:
        yield dict(zip(names, row))


def count(study: Study) -> int:
    if study.design in ("latin-hypercube", "sobol"):
        return study.points or 0
    lengths = [len(grid_values(p)) for p in study.parameters]
    return int(np.prod(lengths)) if study.design == "grid" else min(lengths)


def given_points(study: Study, table: Any) -> list[dict[str, Value]]:
    """The rows of a pandas table, or a list of mappings, as points: a column for every parameter."""
    rows = table.to_dict("records") if hasattr(table, "to_dict") else list(table)
    names = [p.name for p in study.parameters]
    found = []
    for i, row in enumerate(rows):
        for key in row:
            if key not in names:
                raise InputError(f"points[{i}]: no parameter is called '{key}'{nearest(str(key), names)}")
        for name in names:
            if name not in row:
                raise InputError(f"points[{i}]: expected a value of '{name}'")
        found.append({n: row[n].item() if hasattr(row[n], "item") else row[n] for n in names})
    return found
