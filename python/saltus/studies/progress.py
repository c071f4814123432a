"""A progress bar with the time that is left, on a terminal."""
from __future__ import annotations

import sys
import time


def duration(seconds: float) -> str:
    minutes, s = divmod(int(seconds + 0.5), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


class Progress:
    """total: how many rows there will be, at most; done: those of earlier sessions."""

    def __init__(self, total: int, done: int, draw: bool):
        self._total, self._before, self._rows, self._failed = total, done, 0, 0
        self._draw, self._began, self._drawn = draw, time.monotonic(), 0.0
        self._show()

    def row(self, failed: bool) -> None:
        self._rows += 1
        self._failed += failed
        self._show()

    def line(self) -> str:
        done, spent = self._before + self._rows, time.monotonic() - self._began
        filled = 40 * done // max(self._total, 1)
        text = f"[{'#' * filled}{'.' * (40 - filled)}] {done} of {self._total} runs"
        if self._failed:
            text += f", {self._failed} failed"
        if self._rows:
            text += f", {self._rows / spent:.3g}/s, {duration((self._total - done) * spent / self._rows)} left"
        return text

    def _show(self) -> None:
        if self._draw and time.monotonic() - self._drawn > 0.1:
            self._drawn = time.monotonic()
            sys.stderr.write(f"\r{self.line():100}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._draw:
            sys.stderr.write("\r" + " " * 110 + "\r")
            sys.stderr.flush()
