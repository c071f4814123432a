"""A run in a notebook: the replay of `saltus report` where that is at hand, else a picture."""
from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import outlines as shapes
from .errors import Error

if TYPE_CHECKING:
    from .runs import Run

_WIDTH = 720  # of the picture [px]


def html(run: Run) -> str:
    if run._reader is None:
        return f"<pre>{escape(repr(run))}</pre>"
    page = report(run)
    if page is not None:
        return (f'<iframe srcdoc="{escape(page, quote=True)}" width="100%" height="620" '
                f'sandbox="allow-scripts allow-downloads" style="border:0"></iframe>')
    return f"<figure>{svg(run)}<figcaption>{caption(run)}</figcaption></figure>"


def command() -> str | None:
    """The command line: $SALTUS_BIN, beside Python, or on the path."""
    beside = Path(sysconfig.get_path("scripts")) / "saltus"
    for candidate in (os.environ.get("SALTUS_BIN"), str(beside), "saltus"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    return None


def report(run: Run) -> str | None:
    """The self-contained page of `saltus report`; None: no such command, or it failed."""
    program = command()
    if program is None or run.path is None:
        return None
    with tempfile.TemporaryDirectory(prefix="saltus-") as folder:
        page = Path(folder) / "page.html"
        try:
            subprocess.run([program, "report", str(run.path), "-o", str(page)], check=True,
                           timeout=120, stdin=subprocess.DEVNULL, capture_output=True)
            return page.read_text(encoding="utf-8")
        except (OSError, subprocess.SubprocessError, UnicodeError):
            return None


def caption(run: Run) -> str:
    parts = [run.header.get("title") or "run", run.status]
    if "t" in run.summary:
        parts.append(f"t = {run.summary['t']:g} s")
    parts += [f"{k} = {v:.5g}" for k, v in run.metrics.items() if v is not None][:4]
    return escape(", ".join(parts))


def svg(run: Run) -> str:
    """Paths and the last posture as a static picture."""
    try:
        drawn = shapes.outlines(run)
        paths = shapes.paths(run)
    except (Error, IndexError, KeyError, ValueError):
        return f"<pre>{escape(repr(run))}</pre>"
    solid = [o.points for o in drawn if len(o.points) > 2]
    points = np.concatenate([*solid, *paths.values()])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.05 * max(1e-3, float((high - low).max()))
    low, high = low - margin, high + margin
    scale = _WIDTH / (high[0] - low[0])

    def place(p: np.ndarray) -> str:
        xy = np.stack([p[:, 0] - low[0], high[1] - p[:, 1]], axis=1) * scale
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in xy)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" '
             f'height="{(high[1] - low[1]) * scale:.0f}" role="img">']
    for o in drawn:
        style = ('fill="none" stroke="#666"' if len(o.points) == 2 else
                 f'fill="{"#ccc" if o.fixed else "#d9a441"}" stroke="#444"')
        lines.append(f'<polygon points="{place(o.points)}" {style}>'
                     f"<title>{escape(o.name)}</title></polygon>")
    for name, path in paths.items():
        thin = path[:: max(1, len(path) // 1000)]
        lines.append(f'<polyline points="{place(thin)}" fill="none" stroke="#a23b2a" '
                     f'stroke-width="1.5"><title>{escape(name)}</title></polyline>')
    return "\n".join([*lines, "</svg>"])
