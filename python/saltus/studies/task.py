"""What a worker does: check the versions, run one point, measure it. Nothing is printed, nothing is raised."""
from __future__ import annotations

import functools
import json
import os
import platform
import socket
import time
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..errors import Error
from .bundle import Bundle
from .expressions import Missing
from .study import Metric

# Figures of a summary that differ from run to run; they are in the table of places.
TIMES = ("wall_s", "steps_per_s")


@dataclass(frozen=True)
class Engine:
    """What must be the same on every worker for rows to be comparable."""
    version: str
    commit: str

    def __str__(self) -> str:
        return f"saltus {self.version} ({self.commit})"


def engine() -> Engine:
    return Engine(_core._version, _core._commit)


@dataclass(frozen=True)
class Job:
    """All that every run of a study shares: sent with each point, for any executor will do."""
    bundle: Bundle
    metrics: tuple[Metric, ...]
    engine: Engine
    time_limit: float | None = None


@functools.cache
def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def figures(summary: dict[str, Any]) -> dict[str, float | None]:
    """Every number of a summary by its dotted name; metrics of the scene by their own."""
    found: dict[str, float | None] = {}

    def walk(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{name}.{key}" if name else key)
        elif value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
            found[name] = value

    walk({k: v for k, v in summary.items() if k != "metrics" and k not in TIMES}, "")
    return {**found, **summary.get("metrics", {})}


def measure(metrics: tuple[Metric, ...], summary: dict[str, Any]) -> tuple[dict[str, float | None], str]:
    known, values, why = figures(summary), {}, ""
    for metric in metrics:
        try:
            values[metric.name] = metric.value.value(known.get)
        except Missing as e:
            values[metric.name] = None
            why = why or f"{metric.name}: {e}"
    return values, why


def run_point(job: Job, overrides: list[str]) -> dict[str, Any]:
    """{"status", "message", "metrics", "place"}, or {"refused": ..., "place"} by another version."""
    place = {"host": socket.gethostname(), "pid": os.getpid(), "worker": _worker(),
             "engine": str(engine()), "processor": processor(), "began": time.time()}
    if engine() != job.engine:
        return {"refused": f"expected {job.engine}, the worker has {engine()}", "place": place}
    began = time.perf_counter()
    status, message, metrics = "failed", "", {m.name: None for m in job.metrics}
    try:
        scene = job.bundle.load(overrides)
        status, message, summary = _simulate(scene, job.time_limit, began)
        metrics, why = measure(job.metrics, summary)
        message = message or why
        place["steps"], place["stepping_s"] = summary.get("steps"), summary.get("wall_s")
    except (Error, ValueError, RuntimeError, MemoryError, OSError) as e:
        status, message = "failed", f"{e}" or type(e).__name__
    place["wall_s"] = time.perf_counter() - began
    return {"status": status, "message": message, "metrics": metrics, "place": place}


def _simulate(scene: _core.Scene, limit: float | None, began: float) -> tuple[str, str, dict[str, Any]]:
    late = None
    if limit is not None:
        def late(t: float, end: float, speed: float) -> bool:
            return time.perf_counter() - began < limit
    status, message, summary = _core._summary(scene, late)
    if status == "stopped":
        status, message = "late", f"stopped after the time limit of {limit:g} s"
    return status, message, json.loads(summary)


def _worker() -> str:
    """The address of a Dask worker; elsewhere nothing."""
    import sys
    if "distributed" not in sys.modules:
        return ""
    try:
        return sys.modules["distributed"].get_worker().address
    except (ValueError, AttributeError):
        return ""
