"""The test bed of docs/energy.md: random scenes by seed, the energy bound, the runner."""

import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml

TOOLS = Path(__file__).resolve().parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

import energy_bound  # noqa: E402
import energy_scenes  # noqa: E402
import random_scenes  # noqa: E402

# Of the texts of seeds 0 to 199, one after the other. It changes only with the generator, and then the figures
# of docs/energy.md are to be measured again.
HASH = "55193d51b8f0dff636360c6dda968e8f42ec0cb236ea4c741ab13ded0bb4c855"


def test_a_seed_is_the_same_text_everywhere():
    text = "".join(random_scenes.scene(seed) for seed in range(200))
    assert hashlib.sha256(text.encode()).hexdigest() == HASH


def test_only_chance_and_exact_arithmetic():
    """No function of the C library whose last bit may differ stands between the seed and the text."""
    text = (TOOLS / "random_scenes.py").read_text()
    assert "from math import sqrt\n" in text and "import math" not in text and "**" not in text
    assert text.count("random.Random(") == 2  # of the comment and of Chance


def test_seeds_cover_what_the_page_says():
    joints, shapes, ground, seen = set(), set(), set(), {k: [] for k in ("n", "mu", "e", "dt", "spin", "coordinates")}
    for seed in range(600):
        s = yaml.safe_load(random_scenes.scene(seed))
        n = len(s["bodies"]) + len(s.get("bends", []))
        joints |= {b["joint"]["type"] for b in s["bodies"]} | ({"bend"} if "bends" in s else set())
        shapes |= {x["type"] for b in s["bodies"] for x in b["shapes"]}
        ground |= {o["type"] for o in s["obstacles"]}
        for c in s["contacts"]:
            seen["mu"].append(c["friction"])
            seen["e"].append(c["restitution"])
        root = [b["name"] for b in s["bodies"] if b["joint"] == {"type": "floating"}]
        seen["spin"] += [np.linalg.norm(s["initial"][r]["v"][3:]) for r in root]
        seen["n"].append(n)
        seen["dt"].append(s["time"]["step"])
        seen["coordinates"].append(s["coordinates"])
        assert s["time"]["end"] == 2 and round(2 / s["time"]["step"]) * s["time"]["step"] == pytest.approx(2, abs=1e-12)
    assert joints == {"fixed", "revolute", "prismatic", "planar", "spherical", "floating", "carrier", "bend"}
    assert shapes == {"sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "point"}
    assert ground == {"half-space", "height-field", "peg", "box"}
    assert min(seen["n"]) == 2 and max(seen["n"]) == 30
    assert min(seen["mu"]) == 0 and 1.45 < max(seen["mu"]) <= 1.5
    assert min(seen["e"]) == 0 and max(seen["e"]) == 1
    assert min(seen["dt"]) == 5e-4 and max(seen["dt"]) == 5e-3
    assert 80 < max(seen["spin"]) <= 100
    assert set(seen["coordinates"]) == {"minimal", "maximal", "as-marked"}


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_scenes_are_accepted_and_start_as_drawn(run, tmp_path, soak, first):
    """A few steps: bodies are where the generator put them, and nothing began inside anything: what
    penetrates then came by its speed."""
    for seed in range(first, first + (100 if soak else 10)):
        drawn = random_scenes.Builder(seed)
        path, out = tmp_path / "s.yaml", tmp_path / "s.h5"
        path.write_text(random_scenes.scene(seed))
        done = run("run", path, "-q", "-o", out, "--set", f"time.end={drawn.dt}")
        assert done.code == 0, f"seed {seed}: {done.err}"
        with h5py.File(out) as f:
            names = [b["name"] for b in json.loads(f["header"][()].tobytes())["bodies"]]
            pose, raw = f["frames/pose"][0].reshape(-1, 7), f["steps/raw_penetration"][0]
        for body in drawn.placed:
            if body["name"] in names:
                assert pose[names.index(body["name"]), :3] == pytest.approx(body["pose"][0], abs=1e-7), seed
        assert raw <= 2 * 100 * drawn.dt, f"seed {seed}"


# --- the bound


def recorded(path, error, closed, kinetic, potential, correction=None):
    """A run file with what the bound looks at."""
    n = len(error)
    with h5py.File(path, "w") as f:
        for name, column in {"steps/t": np.arange(1, n + 1) * 1e-3, "steps/energy_error": error,
                             "steps/raw_penetration": np.zeros(n), "frames/step": np.arange(n + 1),
                             "frames/t": np.arange(n + 1) * 1e-3, "frames/kinetic": kinetic,
                             "frames/potential": potential,
                             "frames/work_correction": np.zeros(n + 1) if correction is None else correction,
                             "frames/contact_end": np.cumsum(np.r_[0, closed])}.items():
            f[name] = np.asarray(column)
    return str(path)


def test_episodes():
    closed = np.zeros(100, bool)
    closed[[20, 25]] = True  # chatter: a flight of four steps
    closed[40:60] = True
    assert energy_bound.stretches(closed) == [(False, 0, 20), (True, 20, 26), (False, 26, 40), (True, 40, 60),
                                              (False, 60, 100)]
    closed[:] = False
    assert energy_bound.stretches(closed) == [(False, 0, 100)]
    closed[5:] = True  # the first flight is one, however short
    assert energy_bound.stretches(closed) == [(False, 0, 5), (True, 5, 100)]


def test_the_bound_is_that_of_the_page(tmp_path):
    n = 50
    closed, error = np.zeros(n, int), np.zeros(n)
    closed[20:30] = 1
    kinetic, potential = np.full(n + 1, 2.0), np.zeros(n + 1)
    potential[25] = 1.0
    error[21], error[22], error[23] = 2e-3, -5e-3, 0.9e-3  # the loss does not pay
    v = energy_bound.judge(recorded(tmp_path / "a.h5", error, closed, kinetic, potential))
    assert v.held and (v.episodes, v.contacts, v.broken) == (3, 1, 0)
    assert v.worst.ratio == pytest.approx(2.9e-3 / 3, rel=1e-6) and v.worst.worst_t == pytest.approx(0.022)
    assert v.worst.rise == pytest.approx(2e-3)
    error[24] = 0.2e-3
    v = energy_bound.judge(recorded(tmp_path / "b.h5", error, closed, kinetic, potential))
    assert not v.held and v.broken == 1 and v.first_broken == v.worst
    error[21:25] = 0
    error[5] = 2.1e-3  # a flight: the potential energy of the contact does not count there
    v = energy_bound.judge(recorded(tmp_path / "c.h5", error, closed, kinetic, potential))
    assert not v.held and not v.worst.contact
    error[5] = np.nan
    assert not energy_bound.judge(recorded(tmp_path / "d.h5", error, closed, kinetic, potential)).held


def test_rest_is_no_gain(tmp_path):
    """Rounding of what lies still: no kinetic energy to measure by."""
    n = 2000
    error = np.full(n, 1e-16)
    v = energy_bound.judge(recorded(tmp_path / "rest.h5", error, np.ones(n, int), np.zeros(n + 1), np.full(n + 1, 0.5)))
    assert v.held and v.worst.ratio == 0


def test_a_run_that_cannot_be_judged_says_so(run, scenes, tmp_path):
    out = tmp_path / "sparse.h5"
    assert run("run", scenes / "bouncing-ball.yaml", "-q", "-o", out, "--set", "time.end=0.1",
               "--set", "integrator.type=moreau").code == 0
    done = subprocess.run([sys.executable, TOOLS / "energy_bound.py", out], capture_output=True, text=True)
    assert done.returncode == 2 and "no frame every step" in done.stderr


def test_a_tumbling_body_keeps_the_bound(run, scenes, tmp_path):
    out = tmp_path / "tumbling.h5"
    scene = scenes / "tumbling-body.yaml"
    dt = yaml.safe_load(scene.read_text())["time"]["step"]
    assert run("run", scene, "-q", "-o", out, "--set", f"output.interval={dt}").code == 0
    v = energy_bound.judge(str(out))
    assert v.held and v.episodes == 1 and not v.worst.contact


def test_the_energy_error_is_the_ledger_s(run, tmp_path):
    """What the bound sums is integrator + correction, in minimal coordinates."""
    path, out = tmp_path / "s.yaml", tmp_path / "s.h5"
    path.write_text(random_scenes.scene(4))
    run("run", path, "-q", "-o", out, "--set", f"output.interval={random_scenes.Builder(4).dt}")
    with h5py.File(out) as f:
        both = np.diff(f["frames/work_integrator"][()] + f["frames/work_correction"][()])
        assert f["steps/energy_error"][()] == pytest.approx(both, abs=1e-12)


# --- the runner


def test_the_runner_finds_good_and_bad(binary, scenes, tmp_path):
    table = tmp_path / "bed.csv"
    bed = lambda *more: subprocess.run([sys.executable, TOOLS / "energy_bed.py", "--binary", binary, "--csv", table, *more],
                                       capture_output=True, text=True)
    done = bed(scenes / "tumbling-body.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    done = bed(scenes / "tumbling-body.yaml", "--tolerance", "-1")
    assert done.returncode == 1 and "tumbling-body: bound" in done.stdout
    rows = list(csv.DictReader(table.open()))
    assert [r["verdict"] for r in rows] == ["bound"]
    broken = tmp_path / "broken.yaml"
    broken.write_text("saltus: 1\nbodies: []\n")
    done = bed(broken)
    assert done.returncode == 1 and "broken: refused" in done.stdout
    done = bed("--seeds", "3:5", "--set", "time.end=0.01", "--jobs", "2")
    assert "scenes" in done.stdout and len(list(csv.DictReader(table.open()))) == 2


# --- the named scenes


@pytest.mark.parametrize("name", sorted(energy_scenes.WRITTEN))
def test_generated_scenes_are_what_the_generator_writes(scenes, name):
    assert (scenes / "energy" / name).read_text() == energy_scenes.WRITTEN[name]()


@pytest.mark.parametrize("case", energy_scenes.cases(), ids=lambda c: c[0])
def test_named_cases_are_accepted(run, tmp_path, case):
    name, text, sets = case
    path = tmp_path / "s.yaml"
    path.write_text(text)
    done = run("run", path, "-q", *(x for s in sets for x in ("--set", s)), "--set", "time.end=0.01")
    assert done.code == 0, f"{name}: {done.err}"


def test_orders_are_printed(binary, scenes):
    """The box of hinges flies until 0.3 s: second order of position and energy (theory.md, section 16)."""
    done = subprocess.run([sys.executable, TOOLS / "energy_orders.py", scenes / "energy/hinges.yaml", "--end", "0.2",
                           "--step", "2e-3", "--halves", "3", "--binary", binary], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [[float(x) for x in part.split(";")[0].split(",")] for part in done.stdout.split("orders ")[1:]]
    assert len(found) == 2 and all(order == pytest.approx(2, abs=0.1) for orders in found for order in orders)
