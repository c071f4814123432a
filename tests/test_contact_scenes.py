"""The scenes of scenes/contact: redundant contacts at rest, and a rope round a peg.

At rest means: every step converged, nothing moves. SALTUS_SOAK=1 runs the full 10 s instead of 1 s."""
import json
import math

import h5py
import numpy as np
import pytest

AT_REST = [(name, None) for name in ("tower", "arch", "card-house", "wedge", "corner")]
AT_REST += [("mass-ratio", ratio) for ratio in ("1", "1e2", "1e4", "1e6")]


def name_of(case):
    return case[0] if case[1] is None else f"{case[0]}-{case[1]}"


def moved(path, since):
    """How far any corner of a box of 1 m about any body went after `since` [m]."""
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
