"""saltus sweep and saltus optimise as users type them; pictures, the page, the examples."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest

import saltus
from saltus.studies import read
from saltus.studies.pictures import pareto_front
from saltus.studies.progress import Progress, duration
from saltus.studies.report import chosen, write_report
from test_studies import BALL, OPTIMISE, SWEEP, here, table, write_study  # noqa: F401

EXAMPLES = sorted((Path(__file__).parents[2] / "examples/studies").glob("*.yaml"))


@pytest.fixture
def command(binary, here):  # noqa: F811
    def go(*args, python=sys.executable, **more):
        env = {**os.environ, "SALTUS_PYTHON": python}
        env.pop("SALTUS_BIN", None)
        return subprocess.run([binary, *map(str, args)], env={**env, **more}, capture_output=True,
                              text=True, timeout=120)
    return go


def test_sweep_and_optimise(here, command):  # noqa: F811
    done = command("sweep", write_study(here, {**SWEEP, "title": "Throws"}))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Throws\n  runs            6, 0 failed\n") and done.stderr == ""
    assert len(table(here / "study.study/runs.csv")) == 6
    done = command("optimise", write_study(here, OPTIMISE, "best.yaml"), "-j", 2)
    assert done.returncode == 0 and "  best            run " in done.stdout, done.stderr
    assert (here / "best.study/report.html").read_text().count("<iframe") == 1, "a replay of the best"
    quiet = command("sweep", "study.yaml", "-q", "--no-report", "-o", "quiet")
    assert quiet.stdout == quiet.stderr == "" and not (here / "quiet/report.html").exists()


def test_what_is_missing_is_named(here, command):  # noqa: F811
    study = write_study(here, SWEEP)
    done = command("sweep", study, python="/no/such/python")
    assert done.returncode == 2 and "cannot start '/no/such/python'" in done.stderr
    # A Python that has no saltus: this one, with nothing of its environment.
    done = command("sweep", study, python="/usr/bin/python3", PYTHONPATH="")
    assert done.returncode == 2 and re.search("studies need the Python package .*SALTUS_PYTHON", done.stderr)
    assert done.stderr.count("\n") == 1
    done = subprocess.run([sys.executable, "-m", "saltus", "sweep", study], capture_output=True, text=True,
                          env={**os.environ, "SALTUS_COMMAND_VERSION": "0.0.9"})
    assert done.returncode == 2 and "the command line is saltus 0.0.9, the Python package" in done.stderr


@pytest.mark.parametrize(("args", "message"), [
    (("sweep",), "the following arguments are required: study; see saltus sweep --help"),
    (("sweep", "none.yaml"), "none.yaml: cannot read: No such file or directory"),
    (("sweep", "study.yaml", "--fast"), "unrecognized arguments: --fast"),
    (("sweep", "study.yaml", "-j", "0"), "workers: expected a number >= 1, got 0"),
    (("sweep", "study.yaml", "--cluster", "host:1"), "--cluster: expected tcp://HOST:PORT or tls://"),
    (("sweep", "study.yaml", "-o", "ball.yaml"), "ball.yaml: cannot write"),
    (("optimise", "study.yaml"), "study.yaml: expected objective"),
])
def test_bad_input(here, command, args, message):  # noqa: F811
    write_study(here, SWEEP)
    done = command(*args)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_study_whose_runs_all_fail_fails(here, command):  # noqa: F811
    study = {**SWEEP, "parameters": [{"name": "m", "path": "bodies[ball].mass", "values": [-1, -2]}]}
    done = command("sweep", write_study(here, study))
    assert done.returncode == 1 and "runs            2, 2 failed" in done.stdout
    assert (here / "study.study/report.html").read_text().count('class="failed"') == 2


PLOTS = [{"type": "curve", "x": "v", "y": "x", "group": "w"}, {"type": "parallel"},
         {"type": "heat-map", "x": "v", "y": "w", "value": "twice"},
         {"type": "pareto", "x": "x", "y": "twice", "better": ["less", "more"]}]


def test_pictures_are_svg_and_repeat_themselves(here):  # noqa: F811
    found = []
    for out in ("a", "b"):
        result = saltus.sweep({**SWEEP, "plots": PLOTS, "replays": [3]}, output=out)
        write_report(result)
        pictures = sorted((here / out / "plots").iterdir())
        assert [p.name for p in pictures] == ["curve-x-v-w.svg", "heat-map-twice-w-v.svg", "parallel.svg",
                                              "pareto-twice-x.svg"]
        found.append([p.read_bytes() for p in pictures])
        for data in found[-1]:
            root = xml.fromstring(data)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
        page = (here / out / "report.html").read_text()
        assert page.count("<figure><svg") == 4 and "run 3: v = 2, w = 2" in page and "http" not in \
            re.sub(r"http://www.w3.org[\w./#-]*|srcdoc=\"[^\"]*\"|https?://(purl|creativecommons)[^\"]*", "", page)
    assert found[0] == found[1]
    curve = found[0][0].decode()
    assert "w = 0.5" in curve and "w = 2" in curve, "a legend of the groups"


def test_default_pictures(here):  # noqa: F811
    def names(study, run, out):
        write_report(run(study, output=out), replays=False)
        return {p.name for p in (here / out / "plots").iterdir()}
    one = {**SWEEP, "parameters": SWEEP["parameters"][:1]}
    assert names(one, saltus.sweep, "one") == {"curve-x-v.svg", "curve-twice-v.svg", "curve-energy-kinetic-v.svg"}
    assert names(SWEEP, saltus.sweep, "two") == {f"heat-map-{m}-w-v.svg" for m in ("x", "twice", "energy-kinetic")}
    assert names({**SWEEP, "design": "sobol", "points": 4}, saltus.sweep, "many") == {"parallel.svg"}
    assert names(OPTIMISE, saltus.optimise, "best") == {"convergence.svg", "parallel.svg"}


def test_the_pareto_front_is_what_nobody_beats():
    random = np.random.default_rng(5)
    for better in (("less", "less"), ("less", "more"), ("more", "more")):
        x, y = random.integers(0, 12, (2, 60)).astype(float)
        x[7] = np.nan
        a, b = (v if s == "less" else -v for v, s in zip((x, y), better))
        best = {(x[i], y[i]) for i in range(60) if not np.isnan(x[i]) and not any(
            a[j] <= a[i] and b[j] <= b[i] and (a[j] < a[i] or b[j] < b[i]) for j in range(60))}
        front = pareto_front(x, y, better)
        assert {(x[i], y[i]) for i in front} == best and len(front) == len(best)


def test_replays_are_chosen(here):  # noqa: F811
    result = saltus.optimise({**OPTIMISE, "replays": ["best", "worst", 0]}, output="out")
    rows = result.rows()
    best, worst, first = chosen(result, rows)
    assert best["run"] == result.best["run"] and first["run"] == 0
    assert worst["objective"] == max(r["objective"] for r in rows if r["feasible"])


def test_progress_says_how_long_it_takes():
    assert [duration(s) for s in (0, 59.4, 60, 3725)] == ["0:00", "0:59", "1:00", "1:02:05"]
    bar = Progress(10, 4, draw=False)
    bar._began -= 3.0
    bar.row(True)
    bar.row(False)
    # two rows in three seconds, four are left
    assert re.search(r"^\[#{24}\.{16}\] 6 of 10 runs, 1 failed, 0\.66\d?/s, 0:06 left$", bar.line()), bar.line()


def test_on_a_terminal_a_bar_is_drawn(here):  # noqa: F811
    import pty
    study = write_study(here, SWEEP)
    leader, follower = pty.openpty()
    p = subprocess.Popen([sys.executable, "-m", "saltus", "sweep", study, "--no-report"], stderr=follower,
                         stdout=subprocess.DEVNULL)
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 4096):
            seen += piece
    except OSError:
        pass  # the terminal is gone with the program
    assert p.wait(timeout=60) == 0 and b"of 6 runs" in seen


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path, here):  # noqa: F811
    """They are read, and their first run is one; what they find is in their first lines."""
    study = read(path)
    few = {**study.document.data, "scene": str((path.parent / study.scene).resolve())}
    few["set"] = {**few.get("set", {}), "time.end": 0.1}
    if study.objective is None:
        point = {p.name: p.values[0] if p.values else p.lower for p in study.parameters}
        result = saltus.sweep(few, output="out", points=[point])
    else:
        few["optimiser"] = {**few["optimiser"], "evaluations": 1, "starts": 1, "population": 2}
        result = saltus.optimise(few, output="out")
    # "no objective": a window of a metric has not come yet
    assert all(r["status"] in ("completed", "no objective") for r in result.rows()), result.rows()


def test_the_slope_holds_from_tan_20_on(here):  # noqa: F811
    path = next(p for p in EXAMPLES if p.stem == "incline-friction")
    frame = saltus.sweep(path, output="out").frame()
    slides = frame["friction"] < np.tan(np.radians(20))
    along, against = 3.3552175960, 9.2183847150  # as the scene prints gravity
    far = 0.5 * (along - frame["friction"] * against) * 5.0**2
    # A sum of 5000 steps, each exact but for rounding and the solver's 1e-10.
    np.testing.assert_allclose(frame["x_end"][slides], far[slides], rtol=1e-11)
    # What holds creeps by no more than the solver lets it: 1e-10 m/s for 5 s.
    assert (abs(frame["x_end"][~slides]) < 5e-10).all() and slides.sum() == 7


def test_the_page_s_study_is_read(repo, here):  # noqa: F811
    page = (repo / "docs/studies.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    (here / "slope.yaml").write_text(text.replace("scenes/incline.yaml", str(repo / "scenes/incline.yaml")))
    assert read(here / "slope.yaml").title.startswith("Friction")
