"""Rods through the command line: scenes run, rests are found, bad input is named."""
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCENES = ROOT / "scenes/elements"

SMALL = """
saltus: 1
rods:
  - name: rod
    length: 1
    radius: 0.01
    material: {E: 1e6, nu: 0.5, rho: 1000}
time: {step: 0.01, end: 0.1}
"""


def rest(run, scene, *more):
    done = run("equilibrium", SCENES / scene, "--json", *more)
    assert done.code == 0, done.out + done.err
    return json.loads(done.out)


# VERIFY.md, to its eight digits; 14 functions and 80 stations leave less than its last.
@pytest.mark.parametrize("load, drop, back", [(1, .30172077, .05643324), (10, .81060902, .55499560)])
def test_elastica(run, load, drop, back):
    found = rest(run, "rod-elastica.yaml", "--set", f"springs[0].stiffness={load}e-9")
    x, y, _ = found["probes"]["tip"]
    print(f"    P = {load}: w/L {-y:.9f}, u/L {1 - x:.9f}, {found['iterations']} Newton steps")
    assert abs(-y - drop) < 2e-8 and abs(1 - x - back) < 2e-8
    assert found["stable"]


def test_tree_of_rods(run):
    """VERIFY-P4 section 11: weakly stable; ten digits."""
    found = rest(run, "rod-tree.yaml")
    print(f"    {found['iterations']} Newton steps, eigenvalue {found['least_eigenvalue']:.4g}")
    assert abs(found["q"][0] + math.pi / 4) < 1e-7
    assert math.dist(found["probes"]["arm0"][:2], (.7181943935, -.8321895527)) < 1e-7
    assert math.dist(found["probes"]["arm1"][:2], (.8422571844, .7058181587)) < 1e-7
    assert found["stable"]


def test_a_rod_lies_down(run):
    """Clamp moment sqrt(2 h); the reaction in all is R + w (L - l). Linear pieces of 0.2."""
    found = rest(run, "rod-lowered.yaml")
    reaction = sum(h["force"] for h in found["held"])
    print(f"    clamp moment {-found['q'][0]:.6f}, reaction {reaction:.6f}")
    assert abs(-found["q"][0] - math.sqrt(.2)) < 4e-3
    assert abs(reaction - (.5458491901 + 4 - 1.6396451952)) < 1e-2


@pytest.mark.parametrize("segments, functions", [(1, 14), (2, 9)])
def test_an_arch_is_pinned_by_a_loop(run, tmp_path, segments, functions):
    """Both ends on hinges 0.6 of the length apart, without weight: P L^2 = 4 K^2 EI, height k L/K, 2 E/K - 1 = 0.6."""
    special, optimize = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.optimize")
    m = optimize.brentq(lambda x: 2 * special.ellipe(x) / special.ellipk(x) - 1 - 0.6, 1e-6, 0.8, xtol=1e-15)
    K = special.ellipk(m)
    half = optimize.brentq(lambda x: math.sin(x) / x - 0.6, 0.5, 3)  # it begins as an arc that closes the loop
    arc = [-2 * half] + [0] * (functions - 1)
    names = ["arch"] if segments == 1 else ["arch.s1", "arch.s2"]
    scene = tmp_path / "scene.yaml"
    scene.write_text(f"""saltus: 1
planar: true
gravity: [0, 0, 0]
rods:
  - {{name: arch, joint: {{type: revolute}}, length: 1, segments: {segments}, components: [bend_z],
      functions: {functions}, points: {120 // segments}, stiffness: [0, 0, 0, 0, 0, 1], inertia: [1, 0, 0, 0]}}
loops: [{{name: pin, between: [world, arch.tip], type: revolute, at: {{position: [0.6, 0, 0]}}}}]
initial: {{arch.base: {half}, {", ".join(f"{n}: {{q: {arc}}}" for n in names)}}}
time: {{step: 0.01, end: 1}}
probes: [{{name: middle, body: {"arch.tip" if segments == 1 else "arch.s1.tip"}}}]
""")
    done = run("equilibrium", scene, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    pin, = found["held"]
    print(f"    P {pin['force']:.9f}, of elliptic integrals {4 * K * K:.9f}")
    assert abs(pin["force"] / (4 * K * K) - 1) < 5e-8
    assert found["stable"]
    if segments == 2:
        assert math.dist(found["probes"]["middle"][:2], (0.3, math.sqrt(m) / K)) < 1e-8


def test_two_pegs_between_stations(run):
    """By the lever rule 0.3 and 0.7 of the weight; without points between stations it falls through."""
    done = run("run", SCENES / "rod-pegs.yaml", "--json", timeout=120)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    print(f"    left {found['metrics']['left_force']:.6f}, right {found['metrics']['right_force']:.6f}, "
          f"penetration {found['max_penetration']:.1e} m")
    assert abs(found["metrics"]["left_force"] - 0.3) < 1e-3
    assert abs(found["metrics"]["right_force"] - 0.7) < 1e-3
    assert found["max_penetration"] <= 1e-6
    done = run("run", SCENES / "rod-pegs.yaml", "--json", "--set", "rods[0].touches=0", timeout=120)
    assert json.loads(done.out)["metrics"]["left_force"] < 0.01


def test_events_refuse_points_between_stations(run):
    scene = SCENES / "rod-pegs.yaml"
    done = run("run", scene, "--set", "integrator.type=event-driven", "--set", "rods[0].touches=2")
    assert done.code == 2 and "'rod' may touch between them" in done.err, done.err


def snake_of(segments):
    """scenes/elements/rod-snake.yaml cut otherwise: the same wave, its mean over each segment at the start."""
    yaml = pytest.importorskip("yaml")
    scene = yaml.safe_load((SCENES / "rod-snake.yaml").read_text())
    rod, = scene["rods"]
    wave, = rod["muscle_waves"]
    turn = 2 * math.pi / wave["wave_length"] * rod["length"] / segments
    mean = {}
    for i in range(segments):
        a = i * turn + wave["phase"]
        mean[f"snake.s{i + 1}"] = wave["amplitude"] * (math.cos(a) - math.cos(a + turn)) / turn
    if segments == rod["segments"]:
        assert all(abs(mean[k] - q) < 1e-6 for k, q in scene["initial"].items())
    rod["segments"], scene["initial"] = segments, mean
    scene["probes"][0]["body"] = "snake.17" if segments == 11 else f"snake.s{segments // 2}.tip"
    scene["time"]["end"] = 9
    del scene["metrics"][-1]
    return yaml.safe_dump(scene)


def test_the_snake_among_pegs_as_a_rod(run, scenes, tmp_path, soak):
    """Mass, gait, servo and skin of P0's snake: its speed on the track, and that it does not depend on the segments."""
    pytest.importorskip("yaml")
    done = run("run", scenes / "p0/pegs.yaml", "--json", "--set", "time.end=9", timeout=120)
    links = json.loads(done.out)["metrics"]["v2"]
    speeds = {}
    for segments in (11, 22, 44) if soak else (11, 22):
        scene = tmp_path / f"snake-{segments}.yaml"
        scene.write_text(snake_of(segments))
        done = run("run", scene, "--json", timeout=600)
        assert done.code == 0, done.err
        found = json.loads(done.out)
        speeds[segments] = found["metrics"]["v2"]
        print(f"    {segments} segments: {100 * speeds[segments]:.4f} cm/s, of links {100 * links:.4f} cm/s, "
              f"penetration {found['max_penetration']:.1e} m")
        assert found["max_penetration"] <= 1e-6
        assert abs(speeds[segments] / links - 1) < 2e-3
    assert abs(speeds[22] / speeds[11] - 1) < 1e-3
    if soak:
        assert abs(speeds[44] / speeds[22] - 1) < 1e-3


def test_many_functions_are_refused_at_once(run, tmp_path):
    """Before anything is made of them (docs/soak.md: 700 took longer than 38 s)."""
    scene = tmp_path / "scene.yaml"
    scene.write_text(SMALL.replace("length: 1", "length: 1\n    functions: 700"))
    begin = time.monotonic()
    done = run("run", scene)
    assert done.code == 2 and "at most 200 coefficients a segment, got 2100" in done.err, done.err
    assert time.monotonic() - begin < 20  # a busy machine; it is some milliseconds


def test_random_drops(run, binary, tmp_path, soak):
    """tools/random_rods.py: its scenes are read and begin apart; the long form drops ten thousand."""
    sys.path.insert(0, str(ROOT / "tools"))
    import random_rods
    assert random_rods.scene(7) == random_rods.scene(7) != random_rods.scene(8)
    for seed in range(12):
        path = tmp_path / f"seed-{seed}.yaml"
        path.write_text(random_rods.scene(seed))
        done = run("run", path, "--json", "--set", "time.end=0.002", timeout=120)
        assert done.code == 0, f"seed {seed}: {done.err}"
        assert json.loads(done.out)["max_penetration"] <= 1e-6, seed
    if soak:
        done = subprocess.run([sys.executable, ROOT / "tools/random_rods.py", "--count", "10000",
                               "--binary", binary], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]


def test_a_rod_that_lies_has_a_point_an_interval(binary, tmp_path):
    """Whole drops that sank by 4 to 26 um while a segment of a rod of several had two points between its stations."""
    sys.path.insert(0, str(ROOT / "tools"))
    import random_rods
    for seed in (5, 13, 21):
        wrong, summary = random_rods.judge(binary, seed, 1, 120, tmp_path)
        print(f"    seed {seed}: {summary['max_penetration']:.1e} m")
        assert not wrong, f"seed {seed}: {wrong}"


@pytest.mark.parametrize("scene", ["rod.yaml", "rod-on-ground.yaml"])
def test_scenes_run(run, scene):
    done = run("run", SCENES / scene, "--json", timeout=120)
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["max_penetration"] < 1e-6


def test_the_run_file_tells_of_rods(run, tmp_path):
    h5py = pytest.importorskip("h5py")
    scene = tmp_path / "scene.yaml"
    scene.write_text(SMALL)
    done = run("run", scene, "-o", tmp_path / "run.h5")
    assert done.code == 0, done.err
    with h5py.File(tmp_path / "run.h5") as f:
        header = json.loads(bytes(f["header"][...]).decode())
    rod, = header["rods"]
    assert rod["name"] == "rod" and rod["at"][0] == 0 and rod["at"][-1] == 1
    assert len(rod["bodies"]) == len(rod["at"]) == len(rod["radii"])
    # Strain = rest + values q; of a round section EI = E pi r^4/4.
    places = sum(len(s["values"]) for s in rod["segments"])
    assert places == len(rod["at"]) == len(rod["rest"]) == len(rod["stiffness"])
    assert rod["rest"][0] == [1, 0, 0, 0, 0, 0]
    assert abs(rod["stiffness"][0][4] / (1e6 * math.pi / 4 * 1e-8) - 1) < 1e-12
    assert rod["segments"][0]["component"] == [3] * 6 + [4] * 6 + [5] * 6
    assert header["bodies"][rod["bodies"][-1]]["name"] == "rod.tip"


@pytest.mark.parametrize("change, message", [
    (("radius: 0.01", "radius: -0.01"), "rods[0].radius: expected a"),
    (("radius: 0.01", "radius: .nan"), "rods[0].radius"),
    (("radius: 0.01", "radius: 0.01\n    rectangle: [0.1, 0.1]"), "one of radius, rectangle and moments"),
    (("    radius: 0.01\n", ""), "one of radius, rectangle and moments"),
    (("E: 1e6", "E: 0"), "rods[0].material.E"),
    (("nu: 0.5", "nu: 0.6"), "rods[0].material.nu: expected -1 < nu <= 0.5, got 0.6"),
    (("length: 1", "length: 1\n    components: [bending]"), "got 'bending'"),
    (("length: 1", "length: 1\n    components: [bend_y, bend_y]"), "linearly independent"),
    (("length: 1", "length: 1\n    functions: 100"), "at most 200 coefficients"),
    (("length: 1", "length: 1\n    components: [bend_z]\n    basis: free-modes\n    functions: 101"), "expected 1 to 100, got 101"),
    (("length: 1", "length: 1\n    theta: 0.3"), "rods[0].theta"),
    (("length: 1", "length: 1\n    parent: nobody"), "no body is called 'nobody'"),
    (("length: 1", "length: 1\n    prescribed: {bend_x.0: 1}"), "rods[0].prescribed"),
    (("length: 1", "length: 1\n    muscles: {bend_x.0: 1}"), "no coefficient 'bend_x.0'"),
    (("length: 1", "length: 1\n    points: 1"), "nothing with inertia moves"),
    (("length: 1", "length: 1\n    touches: -1"), "rods[0].touches"),
    (("length: 1", "length: 1\n    touches: 1"), "expected a sphere or a point among the rod's shapes"),
    (("length: 1", "length: 1\n    shapes: [{type: point}]\n    touches: 65"), "expected 0 to 64, got 65"),
    (("length: 1", "length: 1\n    stiffness: [1, 1, 1, 1, 1, 1]"), "either material or stiffness"),
])
def test_bad_input(run, tmp_path, change, message):
    scene = tmp_path / "scene.yaml"
    scene.write_text(SMALL.replace(*change))
    done = run("run", scene)
    assert done.code == 2, done.out
    assert message in done.err, done.err


def test_a_basis_too_poor_for_its_clamps(run, tmp_path):
    """Two functions cannot meet six conditions; six may, and a joint of the base would help."""
    scene = tmp_path / "scene.yaml"
    poor = SMALL.replace("length: 1", "length: 1\n    components: [bend_z]\n    functions: 2").replace(
        "time:", "loops: [{name: clamp, between: [world, rod.tip], type: fixed, at: {position: [1, 0, 0]}}]\ntime:")
    scene.write_text(poor)
    done = run("run", scene)
    assert done.code == 2 and "loops[0]: 'clamp' clamps a rod whose basis has 2 functions by 6 conditions" in done.err, done.err
    scene.write_text(poor.replace("functions: 2", "functions: 6"))
    done = run("run", scene)
    assert done.code == 0, done.err
