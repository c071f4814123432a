"""Swimmers and flyers through the command line: scenes meet their references, bad input is named."""
import json
import math
import resource

import h5py
import numpy as np
import pytest


def summary(run, scenes, scene, *sets):
    done = run("run", scenes / scene, "--json", *[x for s in sets for x in ("--set", s)], timeout=120)
    assert done.code == 0, done.out + done.err
    return json.loads(done.out)


def metrics(run, scenes, scene, *sets):
    return summary(run, scenes, scene, *sets)["metrics"]


def test_eel(run, scenes):
    """VERIFY-P4 section 10, after 1 s and 2 s."""
    for end, x, y in ((1, -0.0451533, -0.0001065), (2, -0.3306576, -0.0132373)):
        found = metrics(run, scenes, "water/eel.yaml", f"time.end={end}", f"metrics[0].at={end}", f"metrics[1].at={end}")
        print(f"    {end} s: x {found['x']:.7f} ({x}), y {found['y']:.7f} ({y})")
        assert abs(found["x"] - x) < 1e-5 and abs(found["y"] - y) < 1e-5
        assert found["work"] > 0


def test_lamprey_of_links(run, scenes):
    """20 links and 2 ms: the tail's direction is off by half a link, O(l) (eel_test.cpp): 2.2 % of the way."""
    found = metrics(run, scenes, "water/lamprey.yaml")
    print(f"    x {found['x']:.5f}, y {found['y']:.5f}")
    assert abs(found["x"] + 1.6807583) < 0.03 * 1.68


def test_dead_fish_goes_upstream(run, scenes):
    found = metrics(run, scenes, "water/vortex-fish.yaml")
    print(f"    nose at {found['x']:.7f}")
    assert abs(found["x"] + 1.5636671) < 1e-6


def test_wing_pitches_by_itself(run, scenes):
    found = metrics(run, scenes, "water/wing.yaml")
    assert abs(found["pitch"] * 180 / 3.141592653589793 + 40.42962) < 5e-3


def test_earthworm_moves_against_its_wave(run, scenes):
    """VERIFY-P4 section 10: 40 bristles are next to the most contracted section by 1/80 of the wave, 0.3 %."""
    found = metrics(run, scenes, "p4/earthworm.yaml")
    print(f"    x(.5) {found['x_quarter']:.6f} (-.0818309886), x(2) {found['x']:.6f} (-.2)")
    assert abs(found["x"] + 0.2) < 0.003 * 0.2 and abs(found["x_quarter"] + .0818309886) < 0.01 * .0818


def test_dead_fish_without_its_tail_term_is_carried_away(run, scenes, tmp_path):
    text = (scenes / "water/vortex-fish.yaml").read_text()
    scene = tmp_path / "fish.yaml"
    scene.write_text("\n".join(line for line in text.splitlines() if not line.strip().startswith("tail:")))
    assert metrics(run, scenes, scene)["x"] > 0


def test_continuous_snake_retraces_its_head(run, scenes):
    """VERIFY-P4 section 10, closed form by J0. Edges hold at the end of a step with directions of its middle: first order."""
    end = (1.7186677755, 0.1822128372, math.pi)
    found = []
    for step in (0.004, 0.002, 0.001):
        m = metrics(run, scenes, "p4/continuous-snake.yaml", f"time.step={step}")
        found.append([m["x"], m["y"], m["turn"]])
    off = [math.dist(m, end) for m in found]
    print(f"    off by {off}")
    for coarse, fine in zip(off, off[1:]):
        assert math.log2(coarse / fine) == pytest.approx(1, abs=0.05)
    limit = [2 * b - a for a, b in zip(found[1], found[2])]
    assert math.dist(limit, end) < 2e-4  # what is left is of second order


def test_amphibious_snake_leaves_the_water(run, scenes, tmp_path):
    """Swims by drag, crawls by friction, one wave: books closed, every step converged."""
    out = tmp_path / "snake.h5"
    done = run("run", scenes / "water/amphibious-snake.yaml", "-o", out, timeout=400)
    assert done.code == 0, done.out + done.err
    frames, steps = h5py.File(out)["frames"], h5py.File(out)["steps"]
    com, t = frames["com"][:], frames["t"][:]
    assert com[-1][0] < -2 and com[-1][2] > 0.1  # the shore is at x = -0.9
    assert steps["converged"][:].all()
    pose = frames["pose"][:].reshape(len(t), -1, 7)
    assert pose[-1, :, 2].min() > 0.05  # all of it on land
    speed = np.gradient(com[:, 0], t)
    swims, crawls = speed[(t > 2) & (t < 3)].mean(), speed[t > 7].mean()
    print(f"    swims at {swims:.3f}, crawls at {crawls:.3f} m/s")
    assert swims < -0.2 and crawls < -0.2
    summary = json.loads(bytes(h5py.File(out)["summary"][:]))
    energy = summary["energy"]
    assert abs(energy["integrator"]) < 1e-4 * energy["prescribed"]
    assert abs(energy["correction"]) < 1e-4 * energy["prescribed"]


def test_caterpillar_walks_with_its_wave(run, scenes):
    """(l/T)(1 + k r - J0(k l/(2 pi))) = 0.0348 m/s if only crests touched; some slip and sag."""
    m = metrics(run, scenes, "water/caterpillar.yaml")
    print(f"    {m['speed']:.4f} m/s")
    assert m["speed"] == pytest.approx(0.0348, rel=0.1)


def test_octopus_crawls_and_swims(run, scenes):
    crawls = metrics(run, scenes, "water/octopus.yaml")
    swims = metrics(run, scenes, "water/octopus.yaml", "gravity=[0, 0, 0]", "initial.mantle.q=[0, 0, 1, 1, 0, 0, 0]")
    print(f"    crawls {crawls}, swims {swims}")
    for m in (crawls, swims):
        assert m["x"] < -0.15 and abs(m["y"]) < 0.05 * abs(m["x"])


def test_soft_eel_of_60_coefficients_is_faster_than_real_time(run, scenes):
    """Of a core's own time: the clock counts what others do, too. Of two runs, so that reading and writing drop out."""
    used = []
    for end in (0.2, 2.2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary(run, scenes, "water/eel-soft.yaml", f"time.end={end}", f"metrics[0].at={end}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"    {2 / (used[1] - used[0]):.2f} times real time")
    assert used[1] - used[0] < 2


def test_the_run_file_has_forces_and_flows_of_fluids(run, scenes, tmp_path):
    """What the viewer shows: of each section the force, at its place the velocity of the street's closed form."""
    out = tmp_path / "fish.h5"
    assert run("run", scenes / "water/vortex-fish.yaml", "-o", out, "--set", "time.end=0.3", "--set", "metrics=[]").code == 0
    file = h5py.File(out)
    header = json.loads(bytes(file["header"][:]))
    force, flow = (file["frames"][k][-1].reshape(-1, 3) for k in ("fluid_force", "flow"))
    assert len(header["fluids"]) == len(force) == len(flow) and header["fluids"][-1]["wake"]
    street, = header["streets"]
    assert street["period"] == 1 and [row["circulation"] for row in street["rows"]] == [-0.565, 0.565]
    pose, t = file["frames/pose"][-1].reshape(-1, 7), file["frames/t"][-1]
    for place, u in zip(header["fluids"], flow):
        th = 2 * math.atan2(pose[place["body"], 6], pose[place["body"], 3])
        x, y = pose[place["body"], :2] + place["point"][0] * np.array([math.cos(th), math.sin(th)])
        expected = np.array([1.0, 0.0])
        for row in street["rows"]:
            k = 2 * math.pi / street["period"]
            X, Y = k * (x - street["carried"] * t - row["x"]), k * (y - row["y"])
            D, q = math.cosh(Y) - math.cos(X) + 0.1, row["circulation"] / 2
            expected += [-q * math.sinh(Y) / D, q * math.sin(X) / D]
        assert u[:2] == pytest.approx(expected, abs=1e-10)
    assert np.abs(force).max() > 1e-3


def test_momentum_with_given_vortices(run, scenes, tmp_path):
    """P4 eq. 24: without drag and wake the momentum of fish and flow along the rail changes by what the given street
    does not take up, and by nothing else."""
    text = (scenes / "water/vortex-fish.yaml").read_text()
    scene, out = tmp_path / "fish.yaml", tmp_path / "fish.h5"
    scene.write_text("\n".join(line for line in text.splitlines() if not line.strip().startswith("tail:")))
    drag = json.dumps({"added_mass": [0, 0.0314159265, 0], "displaced": 0.0125663706, "length": 0.1666666666666667, "points": 1})
    done = run("run", scene, "-o", out, "--set", "time.end=0.5", "--set", "metrics=[]", "--set", "time.step=0.002", "--set", "output.interval=0.002",
               "--set", f"fluids[0].along={drag}", timeout=120)
    assert done.code == 0, done.err
    frames = h5py.File(out)["frames"]
    t, parts, missing = frames["t"][:], frames["momentum"][:].reshape(-1, 3, 6), frames["momentum_missing"][:]
    total = parts.sum(axis=1)[:, 0]
    taken = np.concatenate([[0], np.cumsum(0.5 * (missing[1:, 0] + missing[:-1, 0]) * np.diff(t))])
    print(f"    momentum changes by {np.ptp(total):.6f}, with what is missing by {np.ptp(total + taken):.2e} N s")
    assert np.ptp(total + taken) < 2e-3 * np.ptp(total)  # trapezia of 2 ms: 6e-4
    assert np.abs(parts[:, 0]).max() > 0 and np.abs(parts[:, 1]).max() > 0  # both shape and net motion


SWIMMER = """
saltus: 1
planar: true
gravity: [0, 0, 0]
rods:
  - name: eel
    joint: {type: planar}
    length: 1
    components: [bend_z]
    stiffness: [0, 0, 0, 0, 0, 1]
    inertia: [4.7, 1e-3, 1e-3, 1e-3]
bodies:
  - {name: ball, mass: 1, inertia: [1, 1, 1], joint: {type: planar}}
fluids:
  - rods: [eel]
    along: {ellipse: [0.06, 0.1], drag: [2.5, 50]}
    tail: {}
time: {step: 0.01, end: 0.05}
"""


def test_the_small_swimmer_runs(run, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(SWIMMER)
    assert run("run", scene).code == 0


@pytest.mark.parametrize("change, message", [
    (("ellipse: [0.06, 0.1]", "ellipse: [0, 0.1]"), "fluids[0].along.ellipse"),
    (("ellipse: [0.06, 0.1]", "added_mass: [0, -1]"), "fluids[0].along.added_mass"),
    (("drag: [2.5, 50]", "drag: [2.5]"), "fluids[0].along.drag"),
    (("rods: [eel]", "rods: [ell]"), "no rod is called 'ell'"),
    (("rods: [eel]", "bodies: [ball]"), "expected the length of the bodies"),
    (("    along: {ellipse: [0.06, 0.1], drag: [2.5, 50]}\n", ""), "expected `along`"),
    (("tail: {}", "tail: {outward: [0, 0, 0]}"), "fluids[0].tail.outward: expected a direction"),
    (("tail: {}", "tail: {body: nobody}"), "nobody"),
    (("tail: {}", "surface: {half: 0.1}"), "no added mass at a surface"),
    (("tail: {}", "flow: {type: river}"), "river"),
    (("tail: {}", "flow: {type: uniform, velocity: [.nan, 0, 0]}"), "fluids[0].flow.velocity"),
    (("tail: {}", "flow: {type: wave, amplitude: 1, length: 2}"), "expected a wave that does not break"),
    (("tail: {}", "flow: {type: street, period: 0, rows: []}"), "fluids[0].flow.period"),
    (("tail: {}", "flow: {type: linear, gradient: [[1, 0], [0, 1], [0, 0]]}"), "flow.gradient[0]: expected a row of 3 numbers"),
    (("length: 1", "length: 1\n    waves: [{component: bend_y, amplitude: 1, wave_length: 1, period: 1}]"), "bend_y is rigid"),
    (("length: 1", "length: 1\n    waves: [{amplitude: 1, wave_length: 1, period: 0}]"), "period"),
    (("length: 1", "length: 1\n    waves: [{amplitude: 1, wave_length: 1e-3, period: 1}]"), "waves[0].wave_length: the basis of bend_z misses"),
    (("length: 1", "length: 1\n    functions: 12\n    waves: [{amplitude: 50, wave_length: 1, period: 2, ramp: 1}]"), "waves[0].amplitude: expected a wave that does not turn the body through itself: at t = "),
    (("fluids:", "wings: [{body: ball, length: 1, width: 1, chord: [1, 0, 0]}]\nfluids:"), "wings[0].chord"),
    (("fluids:", "wings: [{body: bird, length: 1, width: 1}]\nfluids:"), "no body matches bird"),
])
def test_bad_input(run, tmp_path, change, message):
    scene = tmp_path / "scene.yaml"
    assert change[0] in SWIMMER
    scene.write_text(SWIMMER.replace(*change))
    done = run("run", scene)
    assert done.code == 2, done.out
    assert message in done.err, done.err


@pytest.mark.parametrize("key, value, message", [
    ("wave_length", "0.05", "gaits[0].wave_length: expected a wave of at least two links"),
    ("amplitude", "1000", "gaits[0].amplitude: expected a wave that does not turn the body through itself: at t = "),
])
def test_waves_that_a_chain_cannot_make(run, scenes, key, value, message):
    done = run("run", scenes / "water/lamprey.yaml", "--set", f"gaits[0].{key}={value}")
    assert done.code == 2, done.out
    assert message in done.err, done.err


def test_added_mass_a_million_times_the_body(run, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(SWIMMER.replace("ellipse: [0.06, 0.1]", "added_mass: [0, 4.7e6]"))
    assert run("run", scene).code == 0
