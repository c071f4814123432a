"""saltus.run and Run: the bits of the command line, lazy reading, bad files."""
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import saltus

PEGS = saltus.scene_path("p0/pegs")


def datasets(path):
    found = {}
    with h5py.File(path, "r") as f:
        f.visititems(lambda n, o: found.update({n: o[()]}) if isinstance(o, h5py.Dataset) else None)
    return found


def without_wall(summary):
    return {k: v for k, v in summary.items() if k not in ("wall_s", "steps_per_s", "scene")}


@pytest.fixture(scope="module")
def pegs(tmp_path_factory):
    path = tmp_path_factory.mktemp("python") / "pegs.h5"
    return saltus.run(PEGS, {"time.end": 3}, output=path)


def test_same_bits_as_the_command_line(run, scenes, pegs, tmp_path):
    outcome = run("run", PEGS, "--set", "time.end=3", "-o", tmp_path / "cli.h5")
    assert outcome.code == 0, outcome.err
    a, b = datasets(tmp_path / "cli.h5"), datasets(pegs.path)
    assert a.keys() == b.keys()
    for name, x in a.items():
        if name == "summary":
            x, y = (without_wall(json.loads(bytes(s[name]))) for s in (a, b))
            assert x == y
        elif name != "steps/wall_s":
            assert x.tobytes() == b[name].tobytes(), name
    print(f"identical: {len(a['steps/t'])} steps, {len(a['frames/t'])} frames")


@pytest.mark.parametrize("name", saltus.scene_names())
def test_every_scene(name, scenes):
    assert saltus.scene_path(name).read_text() == (scenes / f"{name}.yaml").read_text()
    result = saltus.run(saltus.scene_path(name), ["time.end=0.1"], record=False)
    # Whole steps, the last of which ends after 0.1 s where they do not divide it (P4: 10.5 ms).
    assert result.status == "completed" and 0.1 - 1e-9 <= result.state.t < 0.1 + 0.011
    with pytest.raises(saltus.InputError, match="not recorded"):
        result["frames/q"]


def test_run_and_simulation_agree(pegs):
    sim = saltus.Simulation(saltus.Scene(PEGS))
    sim.step(3000)
    assert sim.state.q.tobytes() == pegs["frames/q"][-1].tobytes() == pegs.state.q.tobytes()


def test_series(pegs):
    whole = datasets(pegs.path)
    for name in pegs.keys():
        s = pegs[name]
        assert s.shape == whole[name].shape and s.dtype == whole[name].dtype, name
        assert np.array_equal(np.asarray(s), whole[name], equal_nan=whole[name].dtype.kind == "f")
    q = pegs["frames/q"]
    data = whole["frames/q"]
    for index in (0, -1, 17, slice(3, 9), slice(None, None, -1), slice(250, 10, -7), slice(5, 5),
                  (slice(None), 2), (slice(10, 20), slice(3)), (4, 5), (-3, slice(1, 4)),
                  np.array([1, 5, 3]), [0, 2], Ellipsis, (Ellipsis, 1), np.arange(len(data)) < 9):
        assert np.array_equal(q[index], data[index]), index
    assert np.array_equal(list(pegs["frames/t"]), whole["frames/t"])
    assert q.unit == "" and pegs["frames/t"].unit == "s" and len(q) == 301
    for bad in (301, -302):
        with pytest.raises(IndexError):
            q[bad]
    with pytest.raises(saltus.InputError, match="no series"):
        pegs["frames/nothing"]
    assert "frames/q" in pegs and "frames/nothing" not in pegs


def test_bodies_and_contacts(pegs):
    body = pegs.body("link6")
    assert body.shape == (301, 7) and body[-1, 0] > body[0, 0]
    with pytest.raises(saltus.InputError, match="no body"):
        pegs.body("link99")
    contacts = pegs.contacts(-1)
    supports = [c for c in contacts if c["kind"] == "support"]
    assert len(supports) == 11 and len(contacts) > 11
    push = next(c for c in contacts if c["kind"] == "contact")
    assert push["force"] @ push["normal"] > 0
    assert pegs.contacts(0) == []


def test_reading_a_series_does_not_read_the_file(tmp_path):
    """Bytes that the process reads (/proc/self/io) for one series of a large file."""
    path = tmp_path / "long.h5"
    saltus.run(PEGS, {"time.end": 12, "output.interval": 1e-3, "output.checkpoint": 100},
               output=path)
    script = """
import sys, saltus
def bytes_read():
    return int(open("/proc/self/io").readline().split()[1])
run = saltus.Run(sys.argv[1])
start = bytes_read()
x = run["frames/com"][:, 0]
series = bytes_read() - start
start = bytes_read()
row = run["frames/q"][6000]
print(series, bytes_read() - start, len(x))
"""
    out = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True,
                         check=True, timeout=120).stdout.split()
    series, row, rows = map(int, out)
    size = path.stat().st_size
    print(f"file {size / 1e6:.1f} MB; 12001 x 3 numbers: {series / 1e6:.2f} MB read, "
          f"one row of q: {row / 1e6:.3f} MB")
    assert rows == 12001 and size > 20e6
    assert series < 3 * 12001 * 24 and series < 0.05 * size
    assert row < 0.05 * size


def test_a_temporary_file_lives_as_long_as_the_run():
    result = saltus.run(PEGS, {"time.end": 0.1})
    path = result.path
    series = result["frames/q"]
    del result
    gc.collect()
    assert path.exists() and len(series[:]) == 11
    del series
    gc.collect()
    assert not path.parent.exists()


def test_overrides_and_text(tmp_path):
    scene = saltus.Scene(PEGS, {"time.step": 2e-3, "snake.friction": np.array([0.1, 0.3])})
    assert scene.dt == 2e-3 and scene.overrides[1] == "snake.friction=[0.1, 0.3]"
    again = scene.with_overrides("time.end=0.05")
    assert (again.dt, again.end) == (2e-3, 0.05)
    copy = saltus.Scene.from_text(again.text)
    assert (copy.dt, copy.end, copy.title) == (2e-3, 0.05, scene.title)
    a = saltus.run(again, record=False)
    b = saltus.run(copy, record=False)
    assert a.state.to_bytes() == b.state.to_bytes()
    assert saltus.run(scene, {"time.end": 0.05}, record=False).metrics == a.metrics
    assert json.loads(saltus.scene_schema())["title"] == "Saltus scene"


@pytest.mark.parametrize("text,expected", [
    ("", "expected a scene"), ("a: [", "expected YAML"), ("saltus: 1", "time"),
    ("saltus: 1\nbodies: [{name: a, mass: -1, joint: {type: fixed}}]\ntime: {end: 1}",
     "bodies[0].mass: expected a number"),
    ("saltus: 2\ntime: {end: 1}", "version"), ("\x00\xff", "expected"), ("x: 1", "x"),
])
def test_bad_scenes(text, expected):
    with pytest.raises(saltus.InputError) as e:
        saltus.Scene.from_text(text, "here")
    assert str(e.value).startswith("here:") and expected in str(e.value)


@pytest.mark.parametrize("overrides", [
    {"time.stop": 1}, {"time.step": float("nan")}, {"time.step": "1 mm"},
    {"time.step": object()}, {3: 4}, ["time.step"], [3], 7, "", {"bodies[9].mass": 1}, b"a=b",
])
def test_bad_overrides(overrides):
    with pytest.raises(saltus.InputError):
        saltus.Scene(PEGS, overrides)


def test_bad_files(tmp_path, pegs):
    with pytest.raises(saltus.InputError, match="No such file"):
        saltus.Run(tmp_path / "none.h5")
    with pytest.raises(saltus.InputError, match="No such file"):
        saltus.Scene(tmp_path / "none.yaml")
    text = tmp_path / "text.h5"
    text.write_text("hello" * 1000)
    with pytest.raises(saltus.InputError, match="not an HDF5 file"):
        saltus.Run(text)
    foreign = tmp_path / "foreign.h5"
    with h5py.File(foreign, "w") as f:
        f["x"] = np.arange(3)
    with pytest.raises(saltus.InputError):
        saltus.Run(foreign)
    newer = tmp_path / "newer.h5"
    newer.write_bytes(pegs.path.read_bytes())
    with h5py.File(newer, "r+") as f:
        f.attrs.modify("format_version", np.int32(99))
    with pytest.raises(saltus.InputError, match="newer"):
        saltus.Run(newer)
    with pytest.raises(saltus.InputError):
        saltus.Run(tmp_path)
    for bad in (3, None, "a\x00b", ""):
        with pytest.raises((saltus.InputError, TypeError)):
            saltus.Run(bad)


def test_truncated_files(tmp_path, pegs):
    """Cut anywhere, or with bytes turned over: a typed error or good numbers, never a crash."""
    whole = pegs.path.read_bytes()
    rng = np.random.default_rng(3)
    script = """
import sys, saltus
try:
    run = saltus.Run(sys.argv[1])
    for name in run.keys():
        run[name][:]
    run.contacts(5)
except (saltus.InputError, KeyError, IndexError, ValueError, TypeError, MemoryError) as e:
    print(type(e).__name__, str(e)[:150])
"""
    answers = []
    for i in range(12):
        data = bytearray(whole)
        if i < 8:
            data = data[:rng.integers(len(data))]
        else:
            for k in rng.integers(0, 4000, 3):
                data[k] = rng.integers(256)
        (tmp_path / "cut.h5").write_bytes(data)
        done = subprocess.run([sys.executable, "-c", script, tmp_path / "cut.h5"], text=True,
                              capture_output=True, timeout=60)
        assert done.returncode == 0, (i, done.stderr)
        answers.append(done.stdout)
        if i < 8:
            assert "InputError" in done.stdout or done.stdout == "", done.stdout
    print("".join(answers))


def test_bad_outputs(tmp_path):
    for output in (tmp_path, tmp_path / "no" / "such.h5", "/dev/null"):
        with pytest.raises(saltus.InputError):
            saltus.run(PEGS, {"time.end": 0.01}, output=output)
    scene = tmp_path / "scene.yaml"
    scene.write_text(PEGS.read_text())
    with pytest.raises(saltus.InputError, match="it is the scene"):
        saltus.run(scene, {"time.end": 0.01}, output=scene)
    assert scene.read_text() == PEGS.read_text()


def test_a_full_disk(tmp_path):
    """A failed write is an InputError, and Python ends well after it."""
    script = """
import resource, signal, saltus, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    saltus.run(sys.argv[1], {"time.end": 5, "output.interval": 1e-3}, output=sys.argv[2])
except saltus.InputError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", script, PEGS, tmp_path / "full.h5"], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "cannot write" in done.stdout


def test_progress(pegs):
    seen = []
    result = saltus.run(PEGS, {"time.end": 3}, record=False,
                        progress=lambda *x: seen.append(x))
    assert result.status == "completed" and len(seen) >= 2
    assert seen[0][1] == 3 and 0 < seen[0][0] <= 3 and seen[-1][2] > 100
    stopped = saltus.run(PEGS, {"time.end": 100}, progress=lambda t, end, speed: False)
    assert stopped.status == "stopped" and 0 < stopped.state.t < 100
    assert stopped["frames/t"][-1] <= stopped.state.t and "stopped" in stopped.message

    def fail(t, end, speed):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        saltus.run(PEGS, {"time.end": 100}, record=False, progress=fail)
    with pytest.raises(saltus.InputError):
        saltus.run(PEGS, progress=3)


def test_interrupt(tmp_path):
    script = f"""
import saltus, os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs
interrupt = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
def under_way(*_):  # before that, on a busy machine, an import could swallow the interrupt
    if not interrupt.ident:
        interrupt.start()
try:
    saltus.run({str(PEGS)!r}, {{"time.end": 1000}}, output={str(tmp_path / "cut.h5")!r},
               progress=under_way)
except KeyboardInterrupt:
    print("interrupted")
sim = saltus.Simulation(saltus.Scene({str(PEGS)!r}))
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    sim.step(100_000_000)
except KeyboardInterrupt:
    print("interrupted", sim.t > 0)
sim.step()
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True,
                          timeout=60)
    assert done.stdout.split("\n")[:2] == ["interrupted", "interrupted True"], done.stderr
    assert done.returncode == 0
    cut = saltus.Run(tmp_path / "cut.h5")
    assert cut.status == "running" and len(cut["frames/t"]) > 5


def test_resume(tmp_path, pegs):
    path = tmp_path / "stopped.h5"
    calls = []
    stopped = saltus.run(PEGS, {"time.end": 3, "output.checkpoint": 0.1}, output=path,
                         progress=lambda *x: calls.append(x) or len(calls) < 2)
    assert stopped.status == "stopped"
    stopped.close()
    whole = saltus.resume(path, output=tmp_path / "whole.h5")
    assert whole.status == "completed"
    for name in ("frames/q", "frames/v", "contacts/impulse", "steps/residual"):
        assert whole[name][:].tobytes() == pegs[name][:].tobytes(), name
    assert whole.metrics == pegs.metrics


def test_force_callback(tmp_path):
    seen = []

    def wind(t, q, v, tau, work):
        seen.append(t)
        work.external[:, 0] += 1.0

    path = tmp_path / "wind.h5"
    result = saltus.run(PEGS, {"time.end": 0.2}, output=path, force=wind)
    assert len(seen) == 200 and result.summary["resumable"] is False
    assert result.summary["energy"]["external"] != 0
    result.close()
    with pytest.raises(saltus.InputError, match="no checkpoint"):
        saltus.resume(path)

    def late(t, q, v, tau, work):
        if t > 0.1:
            raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        saltus.run(PEGS, {"time.end": 0.2}, force=late)


def test_failed_runs():
    bad = {"time.step": 1e-2, "integrator.motors": "explicit", "snake.motor.kd": 200}
    with pytest.raises(saltus.DivergenceError, match="diverged") as e:
        saltus.run(PEGS, bad)
    assert e.value.run.status == "diverged" and e.value.run.summary["steps"] >= 0
    assert saltus.run(PEGS, bad, check=False).status == "diverged"
    lazy = {"solver.max_iterations": 1, "solver.tolerance": 1e-14, "time.end": 0.2}
    with pytest.raises(saltus.UnconvergedError, match="missed the tolerance") as e:
        saltus.run(PEGS, lazy, record=False)
    assert e.value.run.status == "unconverged"
    assert issubclass(saltus.UnconvergedError, saltus.Error)


def test_a_run_that_gains_energy(tmp_path):
    """A free chain that spins far too fast for its step (tests/test_energy.py)."""
    scene = tmp_path / "spin.yaml"
    scene.write_text("""\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 1, solid: {shape: box, size: [0.3, 0.1, 0.05]}, joint: {type: floating}}
  - {name: b, mass: 1, solid: {shape: box, size: [0.3, 0.06, 0.05]},
     joint: {type: spherical, parent: a, at: {position: [0.2, 0, 0]}, in_body: {position: [-0.2, 0, 0]}}}
initial: {a: {q: [0, 0, 0, 1, 0, 0, 0], v: [0, 0, 0, 200, 450, 150]}}
time: {step: 0.025, end: 0.4}
""")
    with pytest.raises(saltus.EnergyError, match="gained") as e, \
            pytest.warns(saltus.SceneWarning, match="turns by .* rad a step"):
        saltus.run(scene, record=False)
    assert e.value.run.status == "gained"
    assert saltus.run(scene, record=False, check=False).status == "gained"


def test_runs_in_threads(tmp_path, pegs):
    """Four runs at once, with files, of one scene; the same bits as alone."""
    scene = saltus.Scene(PEGS, {"time.end": 3})
    results = {}

    def go(i):
        results[i] = saltus.run(scene, output=tmp_path / f"{i}.h5")

    threads = [threading.Thread(target=go, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        _ = pegs["frames/q"][:]  # and reading meanwhile
        time.sleep(0.01)
    for i in range(4):
        assert results[i]["frames/q"][:].tobytes() == pegs["frames/q"][:].tobytes()


def test_a_run_being_written(tmp_path, start):
    path = tmp_path / "live.h5"
    p = start("run", PEGS, "--set", "time.end=1000", "-o", path)
    while not path.exists():
        time.sleep(0.02)
    live = saltus.Run(path)
    before = len(live["frames/t"])
    deadline = time.time() + 20
    while len(live["frames/t"]) <= before and time.time() < deadline:
        time.sleep(0.05)
        live.refresh()
    assert len(live["frames/t"]) > before and live.status == "running"
    p.send_signal(signal.SIGKILL)
    p.wait()
    killed = saltus.Run(path)
    assert killed.status == "running"
    assert len(killed["frames/q"][:]) == len(killed["frames/t"][:])


def test_plot(pegs, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = pegs.plot()
    ax.figure.savefig(tmp_path / "a.png")
    ax = pegs.plot("frames/kinetic", "frames/com")
    assert len(ax.lines) == 4
    y = ax.lines[0].get_ydata()
    assert np.array_equal(y, pegs["frames/kinetic"][:])
    for name in ("bouncing-ball", "incline", "three-balls", "satellite", "tumbling-body"):
        saltus.run(saltus.scene_path(name), ["time.end=0.1"]).plot().figure.savefig(
            tmp_path / f"{name}.png")
    with pytest.raises(saltus.InputError):
        pegs.plot("frames/nothing")


def test_notebook(pegs, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SALTUS_BIN", raising=False)
    monkeypatch.setattr("saltus.notebook.command", lambda: None)
    page = pegs._repr_html_()
    assert page.startswith("<figure><svg") and page.count("<polygon") == 18
    assert "Snake among seven pegs" in page
    script = tmp_path / "saltus"
    script.write_text("#!/bin/sh\n[ \"$1\" = report ] && echo '<p>\"replay\"</p>' > \"$4\"\n")
    script.chmod(0o755)
    monkeypatch.setattr("saltus.notebook.command", lambda: str(script))
    assert 'srcdoc="&lt;p&gt;&quot;replay&quot;' in pegs._repr_html_()
    assert "&lt;Run: completed" in saltus.run(PEGS, ["time.end=0.01"], record=False)._repr_html_()
