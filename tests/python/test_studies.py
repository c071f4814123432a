"""Sweeps and optimisation: rows that depend on the study alone, nothing lost, nothing computed twice."""
import concurrent.futures
import csv
import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pandas
import pytest

import saltus
from saltus.studies import Study, read
from saltus.studies import points as designs
from saltus.studies.session import paths

# A ball that is thrown: without air x = v t and z = w t - g t^2/2, which metrics say exactly.
BALL = """saltus: 1
bodies: [{name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}}]
initial: {ball: {q: [0, 0, 0, 1, 0, 0, 0], v: [1, 0, 1, 0, 0, 0]}}
time: {step: 1 ms, end: 0.1}
probes: [{name: ball, body: ball}]
metrics:
  - {name: x, type: position, probe: ball, axis: x, at: 0.1}
  - {name: z, type: position, probe: ball, axis: z, at: 0.1}
  - {name: t_far, type: first-pass, probe: ball, axis: x, value: 1}
"""
SWEEP = {
    "saltus_study": 1, "scene": "ball.yaml",
    "parameters": [{"name": "v", "path": "initial.ball.v[0]", "from": 1, "to": 3, "count": 3},
                   {"name": "w", "path": "initial.ball.v[2]", "values": [0.5, 2]}],
    "metrics": ["x", {"name": "twice", "value": "2 * z"}, "energy.kinetic"]}
# sin of the angle of a throw that lands farthest is sqrt(1/2): the optimum is known.
OPTIMISE = {
    "saltus_study": 1, "scene": "ball.yaml", "seed": 3,
    "parameters": [{"name": "v", "path": "initial.ball.v[0]", "from": 0, "to": 3},
                   {"name": "w", "path": "initial.ball.v[2]", "from": 0, "to": 3}],
    "metrics": ["x", "z"],
    "objective": {"minimise": "(x - 0.12)**2 + (v - w)**2 / 100"},
    "optimiser": {"type": "nlopt", "algorithm": "LN_BOBYQA", "evaluations": 30, "starts": 3}}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.yaml").write_text(BALL)
    return tmp_path


def table(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def write_study(folder, study, name="study.yaml"):
    path = folder / name
    path.write_text(json.dumps(study))  # JSON is YAML
    return path


def slow(study, seconds=0.2, **more):
    """The same study with runs that last: about 10 us a step."""
    return {**study, "set": {"time.step": 1e-6 * 0.1 / seconds * 2, **more}}


def test_rows_are_closed_forms_in_the_order_of_the_grid(here):
    result = saltus.sweep(SWEEP, output="out")
    assert (result.count, result.failures) == (6, 0)
    rows = result.rows()
    assert [(r["v"], r["w"]) for r in rows] == [(v, w) for v in (1, 2, 3) for w in (0.5, 2)]
    for r in rows:
        # The step is exact for a free body but for rounding: 100 steps.
        assert r["x"] == pytest.approx(0.1 * r["v"], rel=1e-13)
        assert r["twice"] == pytest.approx(2 * (0.1 * r["w"] - 9.81 * 0.005), rel=1e-12)
        assert r["energy.kinetic"] == pytest.approx((r["v"]**2 + (r["w"] - 0.981)**2) / 2, rel=1e-12)
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["x"]) == [r["x"] for r in rows]
    assert set(result.places()["pid"]) and (result.places()["wall_s"] > 0).all()


def test_the_command_of_a_row_repeats_it(here, binary):
    result = saltus.sweep(SWEEP, output="out")
    for row in result.rows()[::2]:
        words = shlex.split(row["command"])
        done = subprocess.run([binary, *words[1:]], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["metrics"]["x"] == row["x"]


def test_one_core_and_two_give_the_same_bytes(here):
    found = []
    for workers in (1, 2):
        out = here / f"out{workers}"
        saltus.sweep({**SWEEP, "design": "latin-hypercube", "points": 40, "seed": 7}, output=out,
                     workers=workers)
        found.append((out / "runs.csv").read_bytes())
    assert found[0] == found[1] and found[0].count(b"\n") == 41
    by_threads = here / "threads"
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        saltus.sweep({**SWEEP, "design": "latin-hypercube", "points": 40, "seed": 7},
                     output=by_threads, executor=executor)
    assert (by_threads / "runs.csv").read_bytes() == found[0]


@pytest.mark.parametrize("kind", [{"type": "nlopt", "algorithm": "LN_BOBYQA"},
                                  {"type": "nlopt", "algorithm": "GN_CRS2_LM"}, {"type": "cma"}],
                         ids=lambda k: k.get("algorithm", k["type"]))
def test_an_optimisation_repeats_itself(here, kind):
    study = {**OPTIMISE, "optimiser": {**kind, "evaluations": 40, "starts": 3}}
    found = []
    for name, workers in (("a", 1), ("b", 2), ("c", 2)):
        saltus.optimise(study, output=name, workers=workers)
        found.append((here / name / "runs.csv").read_bytes())
    assert found[0] == found[1] == found[2]
    other = saltus.optimise({**study, "seed": 4}, output="d")
    assert (here / "d/runs.csv").read_bytes() != found[0] and other.best is not None


def test_nlopt_finds_the_known_optimum_from_every_start(here):
    result = saltus.optimise({**OPTIMISE, "optimiser": {**OPTIMISE["optimiser"], "evaluations": 80}},
                             output="out")
    assert result.ended == ("", "", "")
    frame = result.frame()
    for _, start in frame.groupby("start"):
        best = start.loc[start["objective"].idxmin()]
        # A square with a narrow valley: 1e-4 in the points is 1e-9 in the value.
        assert best["v"] == pytest.approx(1.2, abs=1e-3) and best["w"] == pytest.approx(1.2, abs=1e-3)
    assert result.best["objective"] < 1e-8


@pytest.mark.parametrize("kind", [{"type": "nlopt", "algorithm": "LN_COBYLA"}, {"type": "cma"}],
                         ids=lambda k: k["type"])
def test_constraints_hold_at_the_optimum(here, kind):
    # x = 0.1 v, z = 0.1 w - 0.04905: the farthest throw with v + w <= 3 and z >= 0.05.
    study = {**OPTIMISE, "objective": {"maximise": "x"}, "constraints": ["v + w <= 3", "z >= 0.05"],
             "optimiser": {**kind, "evaluations": 300, "starts": 1}}
    result = saltus.optimise(study, output="out")
    assert result.best["feasible"] and result.best["v"] + result.best["w"] <= 3
    # the optimum: w = 0.9905, v = 2.0095; an augmented Lagrangian comes near, COBYLA to its tolerance
    assert result.best["v"] == pytest.approx(2.0095, abs=1e-4 if kind["type"] == "nlopt" else 0.05)


@pytest.mark.parametrize("constraints", [[], ["v + w <= 3"]], ids=["free", "constrained"])
def test_cma_writes_nothing_beside_the_study(here, constraints):
    before = {p.name for p in here.iterdir()}
    saltus.optimise({**OPTIMISE, "constraints": constraints,
                     "optimiser": {"type": "cma", "evaluations": 30, "starts": 1}}, output="out")
    assert {p.name for p in here.iterdir()} == before | {"out"}


class Halving:
    """An ask/tell object of one's own: a batch of four corners around the best, closer and closer."""

    def __init__(self, setting):
        self.best, self.value, self.size, self.left = np.asarray(setting.start), np.inf, 0.25, 12

    def ask(self):
        self.left -= 1
        corners = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
        return [np.clip(self.best + self.size * np.array(c), 0, 1) for c in corners]

    def tell(self, points, values):
        if min(values) < self.value:
            self.best, self.value = points[int(np.argmin(values))], min(values)
        else:
            self.size /= 2

    def stop(self):
        return self.left == 0


def test_any_ask_tell_object_serves(here):
    result = saltus.optimise({**OPTIMISE, "optimiser": {"type": "cma", "evaluations": 100}},
                             output="out", optimiser=Halving)
    assert result.count == 48 and result.best["objective"] < 0.01
    with pytest.raises(saltus.InputError, match="ask and tell"):
        saltus.optimise(OPTIMISE, output="bad", optimiser=lambda setting: 3)


def test_points_from_pandas(here):
    table = pandas.DataFrame({"w": [1.0, 2.0], "v": [0.25, 4.0]})
    study = {**SWEEP, "parameters": [{"name": p["name"], "path": p["path"]} for p in SWEEP["parameters"]]}
    rows = saltus.sweep(study, output="out", points=table).rows()
    assert [(r["v"], r["w"]) for r in rows] == [(0.25, 1), (4, 2)]
    assert rows[1]["x"] == pytest.approx(0.4, rel=1e-13)
    with pytest.raises(saltus.InputError, match="no parameter is called 'vv'; nearest: 'v'"):
        saltus.sweep(SWEEP, output="bad", points=[{"vv": 1, "w": 1}])


def test_designs():
    study = read({**SWEEP, "design": "latin-hypercube", "points": 50, "seed": 1})
    values = np.array([p["v"] for p in designs.points(study)])
    # one in each of 50 equal intervals
    assert sorted(np.floor((values - 1) / 2 * 50).astype(int)) == list(range(50))
    sobol = read({**SWEEP, "design": "sobol", "points": 64, "seed": 1})
    values = np.array([p["v"] for p in designs.points(sobol)])
    # a scrambled net: 8 points in each eighth
    assert (np.bincount(np.floor((values - 1) / 2 * 8).astype(int)) == 8).all()
    assert list(designs.points(sobol)) == list(designs.points(sobol))
    zipped = read({**SWEEP, "design": "zip", "parameters": [
        {"name": "v", "path": "a", "from": 1, "to": 100, "count": 3, "scale": "log"},
        {"name": "w", "path": "b", "from": 2, "to": 6, "count": 3, "integer": True}]})
    assert [(round(p["v"], 9), p["w"]) for p in designs.points(zipped)] == [(1, 2), (10, 4), (100, 6)]


def test_formats(here):
    result = saltus.sweep({**SWEEP, "tables": ["csv", "parquet", "hdf5"]}, output="out")
    rows = result.rows()
    parquet = pandas.read_parquet(here / "out/runs.parquet")
    assert list(parquet["x"]) == [r["x"] for r in rows] and list(parquet["status"]) == ["completed"] * 6
    with h5py.File(here / "out/runs.h5") as f:
        assert list(f["x"]) == [r["x"] for r in rows]
        assert f["command"][0].decode() == rows[0]["command"]
    assert [float(r["x"]) for r in table(here / "out/runs.csv")] == [r["x"] for r in rows]
    assert (here / "out/places.parquet").exists() and (here / "out/places.h5").exists()


def test_failures_are_rows(here):
    study = {**SWEEP, "parameters": [{"name": "m", "path": "bodies[ball].mass", "values": [1, -1, 2]}]}
    result = saltus.sweep(study, output="out")
    rows = result.rows()
    assert [r["status"] for r in rows] == ["completed", "failed", "completed"] and result.failures == 1
    assert "mass: expected a number" in rows[1]["message"] and rows[1]["x"] is None
    # What is not reached is a row without that figure, and says so.
    far = saltus.sweep({**SWEEP, "metrics": ["t_far", "x"]}, output="far").rows()
    assert far[0]["t_far"] is None and "not reached" in far[0]["message"] and far[0]["x"] > 0


def test_a_run_that_takes_too_long_is_a_row(here):
    study = {**SWEEP, "time_limit": 0.3, "parameters": [
        {"name": "dt", "path": "time.step", "values": [1e-3, 1e-9]}]}
    rows = saltus.sweep(study, output="out").rows()
    assert [r["status"] for r in rows] == ["completed", "late"] and "0.3 s" in rows[1]["message"]


def test_nothing_is_computed_twice(here):
    study = {**SWEEP, "design": "latin-hypercube", "points": 12}
    saltus.sweep(study, output="whole")
    saltus.sweep(study, output="out")
    journal = here / "out/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 13
    # as a kill leaves it: some rows, the last one cut short
    journal.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    (here / "out/runs.csv").unlink()
    kept = table_of_places(here / "out/places.csv")
    result = saltus.sweep(study, output="out")
    assert (here / "out/runs.csv").read_bytes() == (here / "whole/runs.csv").read_bytes()
    assert journal.read_bytes().startswith(b"".join(lines[:6])) and result.count == 12
    done = {tuple(json.loads(line)["key"]) for line in lines[1:6]}
    now = table_of_places(here / "out/places.csv")
    for (_, run) in done:
        assert now[run] == kept[run], "a finished row was computed again"


def table_of_places(path):
    return {int(r["run"]): r for r in table(path)}


@pytest.mark.parametrize("command", ["sweep", "optimise"])
def test_killed_and_resumed(here, binary, command):
    """kill -9 of the driver, several times; then the same bytes as without, and no row twice."""
    study = {**SWEEP, "design": "sobol", "points": 32} if command == "sweep" else OPTIMISE
    path = write_study(here, slow(study, 0.03))
    args = [sys.executable, "-m", "saltus", command, path, "--no-report", "-q"]
    subprocess.run([*args, "-o", "whole"], check=True, timeout=120)
    seen = 0
    for _ in range(4):
        driver = subprocess.Popen([*args, "-o", "out"], start_new_session=True)
        journal = here / "out/journal.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and driver.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > seen + 4:
                break
            time.sleep(0.005)
        children = children_of(driver.pid)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        complete = journal.read_bytes().count(b"\n")
        assert complete > seen
        seen = complete
        # Its workers end by themselves.
        deadline = time.monotonic() + 10
        while any(alive(p) for p in children):
            assert time.monotonic() < deadline, "workers outlive their driver"
            time.sleep(0.01)
    before = journal.read_bytes()
    subprocess.run([*args, "-o", "out"], check=True, timeout=120)
    after = journal.read_bytes()
    keys = [tuple(json.loads(line)["key"]) for line in after.splitlines()[1:]]
    assert len(keys) == len(set(keys)) and after.startswith(before[:before.rfind(b"\n") + 1])
    assert (here / "out/runs.csv").read_bytes() == (here / "whole/runs.csv").read_bytes()


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_dead_worker_costs_its_points_only(here):
    """A worker is killed in the middle: every row is there once, as without."""
    study = slow({**SWEEP, "design": "sobol", "points": 16}, 0.1)
    path = write_study(here, study)
    args = [sys.executable, "-m", "saltus", "sweep", path, "--no-report", "-q", "-j", "2"]
    subprocess.run([*args, "-o", "whole"], check=True, timeout=120)
    driver = subprocess.Popen([*args, "-o", "out"])
    journal = here / "out/journal.jsonl"
    while driver.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        time.sleep(0.005)
    victims = children_of(driver.pid)
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    assert driver.wait(timeout=120) == 0
    assert (here / "out/runs.csv").read_bytes() == (here / "whole/runs.csv").read_bytes()
    assert (here / "out/journal.jsonl").read_bytes().count(b"\n") == 17


def poison(job, overrides):
    from saltus.studies.task import run_point
    if any("=2.0" in o for o in overrides):
        os.kill(os.getpid(), signal.SIGKILL)
    return run_point(job, overrides)


def test_a_point_that_kills_its_worker_is_a_row(here, monkeypatch):
    monkeypatch.setattr("saltus.studies.pool.run_point", poison)
    rows = saltus.sweep(SWEEP, output="out", workers=2).rows()
    assert [r["status"] for r in rows] == ["completed"] * 2 + ["died"] * 2 + ["completed"] * 2
    assert "died 2 times" in rows[2]["message"]


def test_interrupted(here):
    path = write_study(here, slow({**SWEEP, "design": "sobol", "points": 64}, 0.1))
    args = [sys.executable, "-m", "saltus", "sweep", path, "--no-report", "-o", "out"]
    driver = subprocess.Popen(args, stderr=subprocess.PIPE, text=True, start_new_session=True)
    journal = here / "out/journal.jsonl"
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        assert driver.poll() is None
        time.sleep(0.005)
    os.killpg(driver.pid, signal.SIGINT)  # as a terminal does, to the workers as well
    _, err = driver.communicate(timeout=30)
    assert driver.returncode == 1 and err.strip() == \
        "saltus: stopped; finished rows are kept, the same command goes on"
    rows = len(table(here / "out/runs.csv"))
    assert 3 <= rows == journal.read_bytes().count(b"\n") - 1 < 64


@pytest.mark.parametrize(("change", "named"), [
    ({"seed": 9}, "seed"),
    ({"metrics": ["x"]}, "metrics"),
    ({"parameters": [{"name": "v", "path": "initial.ball.v[0]", "values": [1]}]}, "parameters")])
def test_a_study_that_changed_half_way_is_named(here, change, named):
    saltus.sweep(SWEEP, output="out")
    before = (here / "out/journal.jsonl").read_bytes()
    with pytest.raises(saltus.InputError, match=rf"has changed since its 6 finished rows.*\({named}\)"):
        saltus.sweep({**SWEEP, **change}, output="out")
    assert (here / "out/journal.jsonl").read_bytes() == before
    # What rows do not depend on may change.
    assert saltus.sweep({**SWEEP, "title": "new", "tables": ["parquet"]}, output="out").count == 6


def test_a_scene_that_changed_half_way_is_named(here):
    saltus.sweep(SWEEP, output="out")
    (here / "ball.yaml").write_text(BALL.replace("mass: 1", "mass: 2"))
    with pytest.raises(saltus.InputError, match="scene with its files"):
        saltus.sweep(SWEEP, output="out")
    (here / "ball.yaml").write_text(BALL)
    assert saltus.sweep(SWEEP, output="out").count == 6


def test_another_engine_is_named(here, monkeypatch):
    saltus.sweep(SWEEP, output="out")
    from saltus.studies import session, task
    other = task.Engine("0.0.9", "feed")
    monkeypatch.setattr(session, "engine", lambda: other)
    with pytest.raises(saltus.InputError, match="engine"):
        saltus.sweep(SWEEP, output="out")
    with pytest.raises(saltus.Error, match=r"expected saltus 0.0.9 \(feed\), the worker has saltus"):
        saltus.sweep(SWEEP, output="fresh")


def test_two_drivers_do_not_share_a_folder(here):
    path = write_study(here, slow({**SWEEP, "design": "sobol", "points": 64}, 0.2))
    args = [sys.executable, "-m", "saltus", "sweep", path, "--no-report", "-o", "out"]
    first = subprocess.Popen(args, start_new_session=True)
    try:
        while not (here / "out/journal.jsonl").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        second = subprocess.run(args, capture_output=True, text=True, timeout=60)
        assert second.returncode == 2 and "out: another study is writing here" in second.stderr
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()


def test_a_metric_that_is_no_number_ends_its_start(here):
    # t_far is reached by fast throws only.
    study = {**OPTIMISE, "metrics": ["t_far", "z"], "objective": {"minimise": "t_far"},
             "optimiser": {"type": "nlopt", "evaluations": 10, "starts": 2}}
    result = saltus.optimise(study, output="out")
    assert result.best is None and all("no objective at evaluation 0" in e for e in result.ended)
    assert [r["status"] for r in result.rows()] == ["no objective"] * 2
    assert "'t_far' has no value" in result.rows()[0]["message"]
    # Said what a failure counts as, it goes on.
    study["optimiser"]["failure"] = 10
    assert saltus.optimise(study, output="on").count == 20


def test_scenes_travel_with_their_files(here, scenes):
    """A robot: the scene names a file; another folder, the same rows."""
    study = {"saltus_study": 1, "scene": str(scenes / "p2/stand-controlled.yaml"), "set": {"time.end": 0.05},
             "parameters": [{"path": "contacts[0].friction", "values": [0.5, 0.8]}],
             "metrics": ["energy.potential", "max_penetration"]}
    rows = saltus.sweep(study, output="out").rows()
    assert [r["status"] for r in rows] == ["completed"] * 2, rows
    run = saltus.run(scenes / "p2/stand-controlled.yaml",
                     {"time.end": 0.05, "contacts[0].friction": 0.8}, record=False)
    assert rows[1]["energy.potential"] == run.summary["energy"]["potential"]


def test_paths_of_a_scene(here):
    found = paths(saltus.Scene("ball.yaml"))
    assert {"bodies[0].mass", "bodies[ball].mass", "initial.ball.v[2]", "metrics[x].at"} <= set(found)


@pytest.mark.parametrize(("change", "message"), [
    ({"parameters": [{"path": "bodies[ball].mas", "values": [1]}]},
     r"parameters\[0\].path: .*unknown.*nearest: 'bodies\[ball\].mass'"),
    ({"parameters": [{"path": "bodies[boll].mass", "values": [1]}]},
     r"parameters\[0\].path: .*there is no bodies\[boll\]; nearest: 'bodies\[ball\].mass'"),
    ({"metrics": ["xx"]}, r"metrics\[0\]: runs of ball.yaml have no 'xx'; .*there are: "),
    ({"metrics": ["max_penetratio"]}, "nearest: 'max_penetration'"),
    ({"metrics": ["wall_s"]}, "wall_s' differs from run to run"),
    ({"metrics": [{"name": "y", "value": "__import__('os')"}]}, r"metrics\[0\].value: expected numbers, names"),
    ({"metrics": [{"name": "y", "value": "x +"}]}, "expected an expression like"),
    ({"metrics": ["x", "x"]}, "the name 'x' is taken"),
    ({"metrics": ["x", {"name": "status", "value": "x"}]}, "a column of every table"),
    ({"metrics": [{"name": "v", "value": "x"}]}, "is that of a parameter"),
    ({"metrics": []}, "expected at least one"),
    ({"design": "sobul"}, "design: expected grid, zip, latin-hypercube, sobol, got 'sobul'; nearest: 'sobol'"),
    ({"design": "sobol"}, "points: expected the number of runs"),
    ({"points": 3}, "points: belongs to latin-hypercube and sobol"),
    ({"metrcs": []}, "metrcs: unknown key; nearest: 'metrics', 'parameters'; there are"),
    ({"parametres": []}, "parametres: unknown key; nearest: 'parameters'"),
    ({"parameters": [{"path": "time.step", "from": 2, "to": 1, "count": 3}]}, "to: expected at least from"),
    ({"parameters": [{"path": "time.step", "from": 0, "to": 1, "scale": "log", "count": 2}]}, "number > 0"),
    ({"parameters": [{"path": "time.step", "from": 1, "to": 2}]}, r"parameters\[0\]: a grid needs its count"),
    ({"parameters": [{"path": "time.step"}]}, r"expected values: \[...\], or from and to"),
    ({"parameters": [{"values": [1]}]}, "expected path: a value of the scene"),
    ({"parameters": []}, "parameters: expected at least one"),
    ({"seed": -1}, "seed: expected an integer >= 0"),
    ({"scene": "bull.yaml"}, "bull.yaml: cannot read: No such file"),
    ({"set": {"time.stop": 1}}, "set: .*time.stop"),
    ({"tables": ["cvs"]}, r"tables\[0\]: expected csv, parquet, hdf5, got 'cvs'; nearest: 'csv'"),
    ({"plots": [{"type": "curve", "x": "v", "y": "xy"}]}, r"plots\[0\]: no parameter or metric .* 'xy'"),
    ({"plots": [{"type": "heat-map", "x": "v", "y": "w"}]}, "a heat-map needs value"),
    ({"replays": ["first"]}, r"replays\[0\]: expected best, worst or the number"),
    ({"objective": {"maximise": "x"}}, "objective: a sweep has none: use optimise"),
    ({"saltus_study": 2}, "saltus_study: expected 1, got 2"),
])
def test_bad_studies_are_named(here, change, message):
    with pytest.raises(saltus.InputError, match=message):
        saltus.sweep({**SWEEP, **change}, output="out")
    assert not (here / "out").exists(), "nothing is written"


@pytest.mark.parametrize(("change", "message"), [
    ({"objective": {"maximise": "q"}}, "objective: no parameter or metric of the study is called 'q'"),
    ({"objective": {"maximise": "x", "minimise": "x"}}, "expected either maximise or minimise"),
    ({"objective": None}, "expected objective"),
    ({"optimiser": None}, "expected optimiser"),
    ({"parameters": [{"name": "v", "path": "initial.ball.v[0]", "values": [1, 2]},
                     {"name": "w", "path": "initial.ball.v[2]", "from": 0, "to": 3}]},
     r"parameters\[0\]: an optimiser needs from and to"),
    ({"constraints": ["x < 1"]}, r"constraints\[0\]: expected a <= b"),
    ({"constraints": ["y <= 1"]}, r"constraints\[0\]: no parameter or metric .* 'y'"),
    ({"optimiser": {"type": "nlpt"}}, "type: expected nlopt, cma or module:function, got 'nlpt'; nearest"),
    ({"optimiser": {"algorithm": "LN_COBILA"}}, "got 'LN_COBILA'; nearest: 'LN_COBYLA'"),
    ({"optimiser": {"algorithm": "LD_SLSQP"}}, "needs no derivatives"),
    ({"optimiser": {"type": "no_such_module:Thing"}}, "cannot be imported"),
    ({"optimiser": {"algorithm": "LN_BOBYQA"}, "constraints": ["x <= 1"]}, "takes no constraints; LN_COBYLA"),
])
def test_bad_optimisations_are_named(here, change, message):
    with pytest.raises(saltus.InputError, match=message):
        saltus.optimise({**OPTIMISE, **change}, output="out")


def test_a_study_file_has_lines(here):
    (here / "s.yaml").write_text("saltus_study: 1\nscene: ball.yaml\nparameters:\n"
                                 "  - {path: time.step, values: [1e-3]}\nmetrics:\n  - x\n  - {name: y}\n")
    with pytest.raises(saltus.InputError, match=r"s.yaml:7: metrics\[1\]: expected value: an expression"):
        saltus.sweep("s.yaml")
    (here / "s.yaml").write_text("saltus_study: 1\nscene: [\n")
    with pytest.raises(saltus.InputError, match=r"s.yaml:3: expected YAML"):
        saltus.sweep("s.yaml")
    (here / "s.yaml").write_text("saltus_study: 1\nseed: 1\nseed: 2\n")
    with pytest.raises(saltus.InputError, match=r"s.yaml:3: expected a plain key, once"):
        saltus.sweep("s.yaml")
    assert isinstance(read(write_study(here, SWEEP)), Study)
    assert read(write_study(here, SWEEP)).seed == 0


def test_a_damaged_journal_is_named(here):
    saltus.sweep(SWEEP, output="out")
    journal = here / "out/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"{half\n", *lines[3:]]))
    with pytest.raises(saltus.InputError, match=r"journal.jsonl:4: the journal is damaged"):
        saltus.sweep(SWEEP, output="out")


def test_forked_workers_are_the_default_and_leave_nothing(here):
    saltus.sweep(SWEEP, output="out")
    assert not multiprocessing.active_children()
