"""More machines, by Dask: `--cluster tcp://...`. Scheduling, retries and transport are Dask's own."""
from __future__ import annotations

import time
import warnings
from concurrent.futures import Future
from typing import Any

from ..errors import Error, InputError
from .task import Job, run_point


class ClusterWarning(UserWarning):
    """Something about the cluster that its user should know."""


class Cluster:
    """The workers of a Dask scheduler; those that refuse for their version get no more points."""

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError as e:
            raise Error("a cluster needs Dask: pip install 'saltus[cluster]'") from e
        if not address.startswith(("tcp://", "tls://")):
            raise InputError(f"--cluster: expected tcp://HOST:PORT or tls://HOST:PORT, got '{address}'")
        if address.startswith("tcp://"):
            warnings.warn(f"the cluster at {address} has no TLS: whoever reaches it can run programs on "
                          f"its machines, and change rows", ClusterWarning, stacklevel=3)
        try:
            # Certificates of tls:// are those of Dask's own configuration (distributed.comm.tls).
            self._client = Client(address, set_as_default=False)
        except (OSError, TimeoutError, RuntimeError, ValueError) as e:
            raise Error(f"--cluster: no scheduler answers at {address}: {e}") from e
        self._banned: set[str] = set()
        self._executor = self._client.get_executor(pure=False)
        self._asked, self._window = 0.0, 2

    def _workers(self) -> list[str]:
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    @property
    def window(self) -> int:
        """Two points a thread that there is now: workers may come and go."""
        if time.monotonic() - self._asked > 2:
            self._asked = time.monotonic()
            self._window = max(2, 2 * sum(self._client.nthreads().values()))
            if self._banned:
                self._choose()
        return self._window

    def _choose(self) -> None:
        good = [w for w in self._workers() if w not in self._banned]
        if not good:
            raise Error(f"no worker of the cluster has the version that is asked for; refused: "
                        f"{', '.join(sorted(self._banned))}")
        self._executor = self._client.get_executor(pure=False, workers=good, allow_other_workers=False)

    def submit(self, job: Job, overrides: list[str]) -> Future:
        return self._executor.submit(run_point, job, overrides)

    def renew(self) -> None:
        raise Error("the connection to the cluster broke; finished rows are kept")

    def refuse(self, answer: dict[str, Any]) -> None:
        address = answer["place"]["worker"]
        if address not in self._banned:
            self._banned.add(address)
            warnings.warn(f"worker {address} on {answer['place']['host']} gets no more points: "
                          f"{answer['refused']}", ClusterWarning, stacklevel=2)
        self._choose()

    def close(self, wait_for_workers: bool) -> None:
        self._client.close()
