"""Pictures of a study as SVG: curves, heat maps, parallel coordinates, Pareto fronts, convergence.

Drawn from the first table alone and without a date, so the same rows give the same bytes."""
from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import Error
from .study import Study

Rows = list[dict[str, Any]]


def default_plots(study: Study, rows: Rows) -> list[dict[str, Any]]:
    """What a study is drawn as that asks for nothing."""
    names, metrics = [p.name for p in study.parameters], [m.name for m in study.metrics]
    if study.objective is not None:
        return [_plot("convergence"), _plot("parallel")]
    if len(names) == 1:
        return [_plot("curve", x=names[0], y=m) for m in metrics]
    if len(names) == 2 and study.design == "grid":
        return [_plot("heat-map", x=names[0], y=names[1], value=m) for m in metrics]
    return [_plot("parallel")]


def _plot(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "x": "", "y": "", "value": "", "group": "", "columns": [], "better": [], **more}


def label(study: Study, name: str) -> str:
    unit = next((p.unit for p in study.parameters if p.name == name), "")
    return f"{name} [{unit}]" if unit else name


def numbers(rows: Rows, name: str) -> np.ndarray:
    """A column as numbers; nan where there is none, words by the order of their appearance."""
    values = [r.get(name) for r in rows]
    words = list(dict.fromkeys(v for v in values if isinstance(v, str)))
    return np.array([math.nan if v is None else words.index(v) if isinstance(v, str) else float(v)
                     for v in values])


def pareto_front(x: np.ndarray, y: np.ndarray, better: tuple[str, str]) -> np.ndarray:
    """Indices of the points that no other one beats in both, by ascending x."""
    a, b = (np.where(np.isnan(v), math.inf, v if sense == "less" else -v)
            for v, sense in zip((x, y), better))
    front, least = [], math.inf
    for i in np.lexsort((b, a)):
        if math.isfinite(a[i]) and b[i] < least:
            front.append(int(i))
            least = b[i]
    return np.array(sorted(front, key=lambda i: (x[i], i)), int)


def _curve(study: Study, rows: Rows, plot: Mapping[str, Any], ax: Any) -> None:
    groups = list(dict.fromkeys(r.get(plot["group"]) for r in rows)) if plot["group"] else [None]
    for g in groups:
        part = [r for r in rows if not plot["group"] or r.get(plot["group"]) == g]
        x, y = numbers(part, plot["x"]), numbers(part, plot["y"])
        order = np.argsort(x, kind="stable")
        ax.plot(x[order], y[order], "o-", ms=3, lw=1.2,
                label=f"{label(study, plot['group'])} = {g}" if plot["group"] else None)
    if plot["group"]:
        ax.legend(fontsize="small")
    ax.set(xlabel=label(study, plot["x"]), ylabel=label(study, plot["y"]))


def _heat_map(study: Study, rows: Rows, plot: Mapping[str, Any], ax: Any) -> None:
    """Where several rows share a place, their mean."""
    x, y, value = (numbers(rows, plot[k]) for k in ("x", "y", "value"))
    xs, ys = np.unique(x), np.unique(y)
    total, count = np.zeros((len(ys), len(xs))), np.zeros((len(ys), len(xs)))
    for i, j, v in zip(np.searchsorted(ys, y), np.searchsorted(xs, x), value):
        if not math.isnan(v):
            total[i, j] += v
            count[i, j] += 1
    with np.errstate(invalid="ignore"):
        mesh = ax.pcolormesh(xs, ys, total / count, shading="nearest", cmap="viridis")
    ax.figure.colorbar(mesh, ax=ax, label=label(study, plot["value"]))
    ax.set(xlabel=label(study, plot["x"]), ylabel=label(study, plot["y"]))


def _parallel(study: Study, rows: Rows, plot: Mapping[str, Any], ax: Any) -> None:
    from matplotlib import colormaps
    names = plot["columns"] or [*(p.name for p in study.parameters), *(m.name for m in study.metrics)]
    data = np.stack([numbers(rows, n) for n in names], axis=1)
    with np.errstate(invalid="ignore"):
        low, high = np.nanmin(data, axis=0), np.nanmax(data, axis=0)
    scaled = (data - low) / np.where(high > low, high - low, 1)
    for line in scaled:
        last = line[-1]
        ax.plot(line, lw=0.8, alpha=0.7,
                color="0.7" if math.isnan(last) else colormaps["viridis"](float(last)))
    ax.set_xticks(range(len(names)), [label(study, n) for n in names], rotation=15, fontsize="small")
    ax.set_yticks([])
    for k in range(len(names)):
        ax.axvline(k, color="0.3", lw=0.6)
        ax.text(k, -0.02, f"{low[k]:.4g}", ha="center", va="top", fontsize="x-small")
        ax.text(k, 1.02, f"{high[k]:.4g}", ha="center", va="bottom", fontsize="x-small")
    ax.set_ylim(-0.1, 1.1)


def _pareto(study: Study, rows: Rows, plot: Mapping[str, Any], ax: Any) -> None:
    x, y = numbers(rows, plot["x"]), numbers(rows, plot["y"])
    better = tuple(plot["better"]) or ("less", "less")
    front = pareto_front(x, y, better)
    ax.plot(x, y, "o", ms=3, color="0.6", label="runs")
    ax.plot(x[front], y[front], "o-", ms=4, color="#a23b2a", label="front")
    ax.set(xlabel=f"{label(study, plot['x'])} ({better[0]} is better)",
           ylabel=f"{label(study, plot['y'])} ({better[1]} is better)")
    ax.legend(fontsize="small")


def _convergence(study: Study, rows: Rows, plot: Mapping[str, Any], ax: Any) -> None:
    """The best feasible value so far, a line for each start."""
    best = np.fmax if study.maximise else np.fmin
    for start in dict.fromkeys(r["start"] for r in rows):
        part = [r for r in rows if r["start"] == start]
        value = np.array([r["objective"] if r["feasible"] else math.nan for r in part], float)
        ax.plot([r["evaluation"] for r in part], best.accumulate(value), lw=1, label=f"start {start}")
    if len({r["start"] for r in rows}) <= 10:
        ax.legend(fontsize="small")
    ax.set(xlabel="evaluation", ylabel=f"best {study.objective.text}")


_DRAW = {"curve": _curve, "heat-map": _heat_map, "parallel": _parallel, "pareto": _pareto,
         "convergence": _convergence}


def svg(study: Study, rows: Rows, plot: Mapping[str, Any]) -> str:
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as e:
        raise Error("plots need matplotlib: pip install 'saltus[studies]'") from e
    with matplotlib.rc_context({"svg.hashsalt": "saltus", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.add_subplot()
        _DRAW[plot["type"]](study, rows, plot, ax)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def file_name(plot: Mapping[str, Any]) -> str:
    parts = [plot["type"], *(plot[k] for k in ("value", "y", "x", "group") if plot[k])]
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in "-".join(parts)) + ".svg"
