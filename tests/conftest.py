"""Fixtures of the tests of the command line: the binary, a way to run it, the soak flag."""
import functools
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCENES = ROOT / "scenes"

# A shell that starts tests in the background has them ignore Ctrl-C, and programs they start inherit that;
# a handler of our own is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Outcome(NamedTuple):
    code: int  # negative: killed by that signal
    out: str
    err: str


@pytest.fixture(scope="session")
def soak() -> bool:
    return os.environ.get("SALTUS_SOAK") == "1"


@pytest.fixture(scope="session")
def repo() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def binary() -> str:
    path = Path(os.environ.get("SALTUS_BIN", ROOT / "build/release/bin/saltus"))
    if not path.is_absolute():
        path = ROOT / path
    assert path.is_file(), f"{path}: build the command line first, or set SALTUS_BIN"
    return str(path)


@pytest.fixture(scope="session")
def saltus_bin(binary) -> str:
    return binary


@pytest.fixture(scope="session")
def run(binary):
    """run("run", scene, "--json") -> Outcome(code, out, err); undecodable bytes become U+FFFD."""

    def go(*args, timeout=60, cwd=None, **more) -> Outcome:
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        p = subprocess.run([binary, *map(os.fspath, args)], timeout=timeout, cwd=cwd, **more)
        text = [(s or b"").decode("utf-8", "replace") for s in (p.stdout, p.stderr)]
        return Outcome(p.returncode, *text)

    return go


@pytest.fixture(scope="session")
def summary(run, scenes):
    """summary("p0/flat", "time.end=1") -> the summary of a run of a scene; kept for the session."""

    @functools.lru_cache(maxsize=None)
    def go(scene, *settings):
        sets = [x for s in settings for x in ("--set", s)]
        done = run("run", scenes / f"{scene}.yaml", "--json", *sets, timeout=600)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return go


@pytest.fixture
def start(binary):
    """start("run", ...) -> Popen; whatever is left at the end of the test is killed."""
    started = []

    def go(*args, **more) -> subprocess.Popen:
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        p = subprocess.Popen([binary, *map(os.fspath, args)], **more)
        started.append(p)
        return p

    yield go
    for p in started:
        if p.poll() is None:
            p.send_signal(signal.SIGKILL)
        p.communicate()


@pytest.fixture(scope="session")
def scenes() -> Path:
    return SCENES


def all_scenes() -> list[Path]:
    return sorted(SCENES.rglob("*.yaml"))
