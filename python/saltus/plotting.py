"""Pictures of runs with matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import outlines as shapes
from .errors import Error, InputError

if TYPE_CHECKING:
    from .runs import Run


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise Error("plots need matplotlib: pip install 'saltus[plot]'") from e
    return pyplot.subplots(layout="constrained")[1]


def plot(run: Run, names: tuple[str, ...], ax: Any) -> Any:
    ax = _axes(ax)
    return series(run, names, ax) if names else picture(run, ax)


def series(run: Run, names: tuple[str, ...], ax: Any) -> Any:
    """Named series over their table's time."""
    units = set()
    for name in names:
        s = run[name]
        t = run[f"{s.table}/t"][:] if f"{s.table}/t" in run else np.arange(len(s))
        data = np.asarray(s)
        lines = ax.plot(t, data)
        units.add(s.unit)
        for i, line in enumerate(lines):
            line.set_label(name if len(lines) == 1 else f"{name}[{i}]")
    ax.set_xlabel("t [s]")
    ax.set_ylabel(", ".join(f"[{u}]" for u in sorted(units) if u))
    if len(ax.lines) <= 12:
        ax.legend(fontsize="small")
    return ax


def picture(run: Run, ax: Any) -> Any:
    """Paths, the first posture (faint) and the last, and what stands around."""
    for frame, alpha in ((0, 0.25), (-1, 1.0)):
        for o in shapes.outlines(run, frame):
            if o.fixed and frame == 0:
                continue
            if len(o.points) == 2:
                ax.plot(*o.points.T, color="0.4", lw=1.5)
            else:
                ax.fill(*o.points.T, facecolor="0.8" if o.fixed else "#d9a441", alpha=alpha,
                        edgecolor="0.3", lw=0.6)
    for name, path in shapes.paths(run).items():
        ax.plot(*path.T, lw=1.2, color="#a23b2a", label=f"path: {name}")
    a, b = shapes.axes_of(run)
    ax.set_xlabel(f"{'xyz'[a]} [m]")
    ax.set_ylabel(f"{'xyz'[b]} [m]")
    ax.set_title(run.header.get("title", ""))
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(fontsize="small")
    return ax


def modes(run: Run, ax: Any) -> Any:
    """A row for everything that held or slipped, in the order of its first appearance."""
    changes = run.modes()
    ax = _axes(ax)
    ends = [c["t"] for c in changes[1:]] + [max(run["frames/t"][-1], changes[-1]["t"])]
    rows: dict[str, int] = {}
    for change in changes:
        for name in change["holds"] + change["slips"]:
            rows.setdefault(name, len(rows))
    for status, colour in (("slips", "#e8b8ae"), ("holds", "#2f6fe0")):
        for name, row in rows.items():
            spans = [(c["t"], end - c["t"]) for c, end in zip(changes, ends) if name in c[status]]
            label = status if not any(b.get_label() == status for b in ax.collections) else None
            ax.broken_barh(spans, (row - 0.4, 0.8), facecolors=colour, label=label)
    for i, change in enumerate(c for c in changes if c["impact"]):
        ax.axvline(change["t"], color="0.2", lw=0.8, label=None if i else "impacts")
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(changes[0]["t"], ends[-1])
    ax.set_xlabel("t [s]")
    ax.set_title(run.header.get("title", ""))
    ax.legend(fontsize="small")
    return ax


def impacts(run: Run, ax: Any) -> Any:
    """Energy bars: T before as an outline, T after as its filling, a gain in red."""
    found = run.impacts()
    ax = _axes(ax)
    t, before, after = ([i[k] for i in found] for k in ("t", "kinetic_before", "kinetic_after"))
    end = float(run["frames/t"][-1])
    width = max(end, 1e-12) / 100
    ax.bar(t, [min(a, b) for a, b in zip(before, after)], width, color="#2f6fe0", label="T after")
    gains = [i for i in found if i["gained"] > 0]
    if gains:
        ax.bar([i["t"] for i in gains], [i["kinetic_after"] - i["kinetic_before"] for i in gains],
               width, [i["kinetic_before"] for i in gains], color="#d11f1f", label="gained")
    ax.bar(t, before, width, fill=False, edgecolor="0.3", lw=0.8, label="T before")
    ax.set_xlim(float(run["frames/t"][0]), end)
    ax.set_xlabel("t [s]")
    ax.set_ylabel("kinetic energy [J]")
    ax.set_title(run.header.get("title", ""))
    ax.legend(fontsize="small")
    return ax


def feasible(found: dict[str, Any], contact: str | None = None, ax: Any = None) -> Any:
    """The feasible set of an impact (saltus.feasible) at one contact, the first by default: mu over
    the tangential velocity after, a curve for each restitution; dotted where the normal impulse
    would pull; mu_s and mu_d as lines, and as points what P1's chain chooses. Returns the axes."""
    names = list(dict.fromkeys(c["contact"] for c in found["curves"]))
    if contact is None:
        contact = names[0]
    if contact not in names:
        raise InputError(f"contact: expected one of {', '.join(names)}, got {contact!r}")
    curves = [c for c in found["curves"] if c["contact"] == contact]
    ax = _axes(ax)
    needed = [c["mu_f"] for c in curves if np.isfinite(c["mu_f"]) and not c["sticking_pulls"]]
    top = max(2.0, 1.5 * max([curves[0]["mu_s"], *needed]))
    for i, c in enumerate(curves):
        colour, presses = f"C{i}", c["p_n"] >= 0
        seen = np.where(np.isfinite(c["mu"]) & (c["mu"] <= 2 * top), c["mu"], np.nan)
        ax.plot(c["v"], np.where(presses, seen, np.nan), color=colour,
                label=f"e = {c['restitution']:g}")
        ax.plot(c["v"], np.where(presses, np.nan, seen), color=colour, ls=":", lw=1)
        if np.isfinite(c["chosen_mu"]):
            ax.plot(c["chosen_v"], c["chosen_mu"], "o", color=colour, mec="k", zorder=3)
    ax.axhline(curves[0]["mu_s"], color="0.4", lw=0.8, ls="--", label="mu_s")
    if curves[0]["mu_d"] != curves[0]["mu_s"]:
        ax.axhline(curves[0]["mu_d"], color="0.4", lw=0.8, ls="-.", label="mu_d")
    ax.set_xlim(curves[0]["v"][0], curves[0]["v"][-1])
    ax.set_ylim(0, top)
    ax.set_xlabel("tangential velocity after [m/s]")
    ax.set_ylabel("mu")
    ax.set_title(f"{found['title']}: {contact} at {found['t']:.6g} s", fontsize="medium")
    ax.legend(fontsize="small")
    return ax
