"""The scenes of scenes/contact: redundant contacts at rest, and a rope round a peg.

At rest means: every step converged, nothing moves. SALTUS_SOAK=1 runs the full 10 s instead of 1 s."""
import json
import math

import h5py
import numpy as np
import pytest
import yaml

AT_REST = [(name, None) for name in ("tower", "arch", "card-house", "wedge", "corner")]
AT_REST += [("mass-ratio", ratio) for ratio in ("1", "1e2", "1e4", "1e6")]


def name_of(case):
    return case[0] if case[1] is None else f"{case[0]}-{case[1]}"


def moved(path, since):
    """How far any body went after `since` [m] and turned [rad]."""
    with h5py.File(path, "r") as f:
        t, pose = f["frames/t"][:], f["frames/pose"][:]
    pose = pose.reshape(len(t), -1, 7)
    late = pose[np.searchsorted(t, since - 1e-9):]
    shift = np.abs(late[:, :, :3] - late[0, :, :3]).max()
    turn = 2 * np.abs(late[:, :, 3:] - late[0, :, 3:]).max()
    return shift, turn


@pytest.mark.parametrize("case", AT_REST, ids=name_of)
def test_at_rest(run, scenes, soak, tmp_path, case):
    name, ratio = case
    end = 10 if soak else 1
    more = ["--set", f"bodies[top].mass={ratio}"] if ratio else []
    out = tmp_path / "run.h5"
    done = run("run", scenes / f"contact/{name}.yaml", "--json", "-o", out, "--set",
               f"time.end={end}", *more, timeout=600)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    creep = {k: v for k, v in s["metrics"].items() if k.startswith("creep")}
    shift, turn = moved(out, 0.1)
    print(f"    {name_of(case):16} {end} s: residual {s['worst_residual']:.1e} m/s, creep "
          + " ".join(f"{x:.1e}" for x in creep.values())
          + f" m, all bodies {shift:.1e} m {turn:.1e} rad, penetration {s['max_penetration']:.1e} "
          f"({s['max_raw_penetration']:.1e}) m, {s['mean_iterations']:.1f} iterations (most "
          f"{s['max_iterations']}), {1e3 * s['wall_s'] / s['steps']:.2f} ms a step")
    assert s["unconverged_steps"] == 0
    assert s["worst_residual"] <= 1e-8
    assert s["max_penetration"] < 1e-9
    assert creep and max(creep.values()) < 1e-9
    assert shift < 1e-9 and turn < 1e-9


@pytest.mark.parametrize("name", ["tower", "mass-ratio", "card-house", "wedge", "corner"])
def test_dropped(run, scenes, tmp_path, name):
    """Every body starts 0.1 mm above where it lies, each further than the one below: all of them
    land on each other, the correction parts them to 1e-9 m, and then they lie still."""
    scene = yaml.safe_load((scenes / f"contact/{name}.yaml").read_text())
    for k, body in enumerate(scene["bodies"]):
        start = scene.setdefault("initial", {}).setdefault(body["name"],
                                                           {"q": [0, 0, 0, 1, 0, 0, 0]})
        start["q"][2] += 1e-4 * (k + 1)
    for m in scene["metrics"]:
        m["from"] = 0.8
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(scene))
    done = run("run", path, "--json", "--set", "time.end=1", "--set", "solver.tolerance=1e-9",
               timeout=120)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    creep = max(v for k, v in s["metrics"].items() if k.startswith("creep"))
    print(f"    {name:12} penetration {s['max_penetration']:.1e} m after the correction, "
          f"{s['max_raw_penetration']:.1e} before; moves {creep:.1e} m after 0.8 s")
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-8
    assert s["max_penetration"] < 1e-9 < s["max_raw_penetration"]
    assert creep < 1e-8


def test_light_links_under_a_heavy_load(run, scenes, tmp_path):
    """100 sticking contacts on links of 1e-5 kg under 1 kg: the tree route stands still in the first
    step, and the dense fallback ends it."""
    path = tmp_path / "capstan.yaml"
    path.write_text((scenes / "contact/capstan.yaml").read_text().replace("mass: 1e-4", "mass: 1e-5"))
    done = run("run", path, "--json", "--set", "time.end=0.005", timeout=120)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-9
    assert s["max_iterations"] > 1000, "the tree route solves it by itself now: pick a harder rope"


@pytest.mark.parametrize("friction, stays", [(0.088, True), (0.087, False)])
def test_the_wedge_locks_itself(run, scenes, friction, stays):
    """Of 10 degrees with friction on both faces: it locks if mu > tan(5 deg) = 0.08749."""
    done = run("run", scenes / "contact/wedge.yaml", "--json", "--set", "time.end=0.3", "--set",
               f"contacts[0].friction={friction}")
    assert done.code == 0, done.err
    creep = json.loads(done.out)["metrics"]["creep"]
    print(f"    mu {friction}: moved {creep:.1e} m")
    assert creep < 1e-9 if stays else creep > 1e-3


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5])
def test_capstan(run, scenes, mu):
    """T2 = exp(mu pi) T1: the pull is the drive's work over its way."""
    done = run("run", scenes / "contact/capstan.yaml", "--json", "--set",
               f"contacts[0].friction={mu}", timeout=300)
    assert done.code == 0, done.err
    s = json.loads(done.out)
    m = s["metrics"]
    ratio = m["work"] / (-m["pulled"] * 0.1) / 9.81  # window of 0.1 s, weight of 1 kg
    exact = math.exp(mu * math.pi)
    print(f"    mu {mu}: T2/T1 {ratio:.5f}, exp(mu pi) {exact:.5f}, off {ratio / exact - 1:+.2e}; "
          f"residual {s['worst_residual']:.1e} m/s, {1e3 * s['wall_s'] / s['steps']:.1f} ms a step")
    assert s["unconverged_steps"] == 0 and s["worst_residual"] <= 1e-8
    assert m["lifted"] == pytest.approx(-m["pulled"], rel=1e-2), "it slips, all of it"
    assert ratio == pytest.approx(exact, rel=1e-2)
