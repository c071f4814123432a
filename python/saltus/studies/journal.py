"""The journal of a study: one line a finished run, appended at once. It alone decides what is done.

A line is in the kernel's hands before the next task is handed out, so a killed driver loses no row that it had;
the line that a kill cut short is dropped when the journal is opened again, and its run is run again. The first
line says what the rows depend on: with another study, scene or engine they do not go on."""
from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError

Key = tuple[int, int]  # start (0 in a sweep) and number of the run


class Journal:
    """header: what rows depend on, by name; a journal with another one is refused by what differs."""

    def __init__(self, folder: Path, header: dict[str, Any] | None):
        """header None: to read what there is, also while another process writes."""
        self.path, self._reads = folder / "journal.jsonl", header is None
        try:
            if not self._reads:
                folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "rb" if self._reads else "a+b", buffering=0)
        except OSError as e:
            raise InputError(f"{folder}: cannot {'read' if self._reads else 'write'}: {e.strerror}") from e
        self._places: dict[Key, tuple[int, int]] = {}  # offset and length of its line
        self._synced = time.monotonic()
        try:
            if not self._reads:
                self._lock(folder)
            self._open(header)
        except BaseException:
            self._file.close()
            raise

    def _lock(self, folder: Path) -> None:
        try:
            # Of the process, not of the file: workers that are forked do not hold it.
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{folder}: another study is writing here") from None

    def _open(self, header: dict[str, Any] | None) -> None:
        self._file.seek(0)
        data = self._file.read()
        end = data.rfind(b"\n") + 1
        if not self._reads and data.count(b"\n") == 1:
            end = 0  # nothing is finished: whatever has changed may change
        if not self._reads:
            self._file.truncate(end)
        self._end = end
        offset = 0
        for number, line in enumerate(data[:end].splitlines(keepends=True)):
            try:
                entry = json.loads(line)
                if number == 0:
                    if not self._reads:
                        self._compare(entry["study"], header)
                else:
                    self._places[tuple(entry["key"])] = (offset, len(line))
            except (ValueError, KeyError, TypeError) as e:
                if isinstance(e, InputError):
                    raise
                raise InputError(f"{self.path}:{number + 1}: the journal is damaged; its other rows "
                                 f"are kept: remove this line to go on") from e
            offset += len(line)
        if end == 0 and not self._reads:
            self._append({"study": header})

    def _compare(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        changed = [k for k in {**before, **now} if before.get(k) != now.get(k)]
        if changed:
            raise InputError(
                f"{self.path}: the study has changed since its {max(0, self._lines() - 1)} finished rows "
                f"were computed ({', '.join(changed)}): they are kept; choose another output for the "
                f"changed study, or undo the change to go on")

    def _lines(self) -> int:
        self._file.seek(0)
        return self._file.read().count(b"\n")

    def _append(self, entry: dict[str, Any]) -> tuple[int, int]:
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        at, left = self._end, memoryview(line)
        try:
            while left:
                left = left[self._file.write(left):]
        except OSError:
            self._file.truncate(at)  # a full disk: no half line before the next one
            raise
        self._end += len(line)
        if time.monotonic() - self._synced > 1:  # a power cut may cost a second of rows, a kill none
            os.fdatasync(self._file.fileno())
            self._synced = time.monotonic()
        return at, len(line)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def add(self, key: Key, entry: dict[str, Any]) -> None:
        self._places[key] = self._append({"key": list(key), **entry})

    def get(self, key: Key) -> dict[str, Any]:
        offset, length = self._places[key]
        return json.loads(os.pread(self._file.fileno(), length, offset))

    def rows(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """In the order of the keys, read one by one: nothing grows with their number but the keys."""
        for key in sorted(self._places):
            yield key, self.get(key)

    def close(self) -> None:
        if not self._file.closed and not self._reads:
            os.fdatasync(self._file.fileno())
        self._file.close()
