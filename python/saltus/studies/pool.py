"""Points in, rows out, through any concurrent.futures executor: a window of points is under way, no more.

A worker that dies costs the points it was running: they are run again, alone, and one that kills its worker twice
while it is alone becomes a row that says so."""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import (FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future,
                                ProcessPoolExecutor, wait)
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import Error
from .journal import Key
from .task import Job, run_point

_DEATHS = 2  # of workers that had a point for themselves, until it is given up


@dataclass
class Point:
    key: Key
    values: dict[str, Any]
    overrides: list[str]
    deaths: int = field(default=0, compare=False)


class Source(Protocol):
    """Where points come from: a sweep has them all, an optimiser makes them of what it is told."""

    def take(self) -> Point | None:
        """The next point; None: none before the next answer, or none any more."""

    def give(self, point: Point, answer: dict[str, Any]) -> None:
        """The answer to a point that was taken."""


class Workers(Protocol):
    """An executor that can be made anew, and what to do about a worker of another version."""
    window: int

    def submit(self, job: Job, overrides: list[str]) -> Future: ...
    def renew(self) -> None: ...
    def refuse(self, answer: dict[str, Any]) -> None: ...
    def close(self, wait_for_workers: bool) -> None: ...


def _worker_start() -> None:
    """Ctrl-C is the driver's to hear; a worker whose driver was killed ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        def watch() -> None:
            parent.join()
            os._exit(1)
        threading.Thread(target=watch, daemon=True, name="saltus-driver-watch").start()


class Processes:
    """Processes of this machine."""

    def __init__(self, count: int | None = None):
        self.count = count or len(os.sched_getaffinity(0))
        self.window = 2 * self.count  # one runs, one waits
        self._executor: ProcessPoolExecutor | None = None

    def submit(self, job: Job, overrides: list[str]) -> Future:
        if self._executor is None:
            # Forked: a script needs no guard around its main part, and the engine starts no threads.
            self._executor = ProcessPoolExecutor(self.count, multiprocessing.get_context("fork"),
                                                 _worker_start)
        return self._executor.submit(run_point, job, overrides)

    def renew(self) -> None:
        self.close(True)

    def refuse(self, answer: dict[str, Any]) -> None:
        raise Error(f"worker {answer['place']['host']}: {answer['refused']}")

    def close(self, wait_for_workers: bool) -> None:
        if self._executor is None:
            return
        processes = list((self._executor._processes or {}).values())
        self._executor.shutdown(wait=wait_for_workers, cancel_futures=True)
        if not wait_for_workers:
            for p in processes:
                p.terminate()
        self._executor = None


class Given:
    """An executor of the user's, who also ends it."""

    def __init__(self, executor: Executor, window: int | None = None):
        self._executor = executor
        self.window = window or 2 * (getattr(executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, job: Job, overrides: list[str]) -> Future:
        return self._executor.submit(run_point, job, overrides)

    def renew(self) -> None:
        raise Error("the executor is broken: a worker of it died; finished rows are kept")

    def refuse(self, answer: dict[str, Any]) -> None:
        raise Error(f"worker {answer['place']['host']}: {answer['refused']}")

    def close(self, wait_for_workers: bool) -> None:
        pass


def died(point: Point, why: str) -> dict[str, Any]:
    return {"status": "died", "message": why, "metrics": {}, "place": {}}


class Drive:
    """The loop of every study."""

    def __init__(self, job: Job, source: Source, workers: Workers,
                 finished: Callable[[Point, dict[str, Any]], None]):
        self._job, self._source, self._workers, self._finished = job, source, workers, finished
        self._flying: dict[Future, Point] = {}
        self._suspects: deque[Point] = deque()  # were under way when a worker died
        self._again: deque[Point] = deque()     # were refused by a worker of another version

    def run(self) -> None:
        try:
            while self._launch():
                done, _ = wait(self._flying, return_when=FIRST_COMPLETED)
                for future in done:
                    if future in self._flying:  # not one of a pool that broke meanwhile
                        self._land(future)
        except BaseException:
            self._workers.close(False)
            raise
        self._workers.close(True)

    def _launch(self) -> bool:
        """Hands out what the window has room for; False: nothing is under way, nothing is left."""
        if self._suspects:
            if not self._flying:
                self._submit(self._suspects.popleft())
            return True
        while len(self._flying) < self._workers.window:
            point = self._again.popleft() if self._again else self._source.take()
            if point is None:
                break
            self._submit(point)
        return bool(self._flying)

    def _submit(self, point: Point) -> None:
        try:
            self._flying[self._workers.submit(self._job, point.overrides)] = point
        except BrokenExecutor:
            self._broken()
            self._suspects.append(point)

    def _broken(self) -> None:
        self._suspects.extend(sorted(self._flying.values(), key=lambda p: p.key))
        self._flying.clear()
        self._workers.renew()

    def _land(self, future: Future) -> None:
        try:
            answer = future.result()
        except BrokenExecutor as e:
            point = self._flying[future]
            if len(self._flying) > 1:
                return self._broken()  # whose fault it was shows when they run alone
            del self._flying[future]
            self._workers.renew()
            point.deaths += 1
            if point.deaths < _DEATHS:
                return self._suspects.appendleft(point)
            answer = died(point, f"its worker died {_DEATHS} times: {e}")
        except (CancelledError, Exception) as e:
            point = self._flying.pop(future)
            if not _lost(e):
                raise
            answer = died(point, f"its workers died: {e}")
        else:
            point = self._flying.pop(future)
        if "refused" in answer:
            self._workers.refuse(answer)
            return self._again.append(point)
        self._finished(point, answer)
        self._source.give(point, answer)


def _lost(error: BaseException) -> bool:
    """Dask's word for a point whose workers died more often than its scheduler allows."""
    return type(error).__name__ == "KilledWorker"
