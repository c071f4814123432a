"""P2's quadruped: the open-loop trot beside its truth, the stress tests, and the benchmark's messages.

The truth is that of the project's verification table (P2): trunk positions at t_trot = 0.4 and 0.8 s
for hard contact, from an independent event-driven code. `pytest -s` prints the figures. The random
falls are 10,000 with SALTUS_SOAK=1.
"""
import json
import math
import os
import subprocess

import pytest

TRUTH = {"0": (-0.02292540, 0, 0.34217831), "4": (-0.01931079, 0.00394309, 0.34192993),
         "8": (-0.08020061, 0.02237536, 0.33597224)}


def errors(metrics):
    """Distance of the trunk from the truth at t_trot = 0, 0.4 and 0.8 s [m]."""
    return {k: math.dist([metrics[a + k] for a in "xyz"], TRUTH[k]) for k in TRUTH}


@pytest.fixture(scope="module")
def trot(summary):
    return lambda *settings: summary("p2/trot", *settings)


def test_the_trot_of_time_stepping_converges_with_first_order(trot):
    steps = (1e-3, 5e-4, 2.5e-4, 1.25e-4)
    found = {dt: errors(trot(f"time.step={dt}")["metrics"]) for dt in steps}
    for dt, e in found.items():
        print(f"    dt = {dt:<8} off by {e['0']:.2e}, {e['4']:.2e}, {e['8']:.2e} m")
    assert found[1e-3]["4"] < 1e-4
    assert found[1e-3]["8"] < 1e-3
    # Touchdowns fall anywhere within a step, so that one halving of dt tells little: the slope of a
    # fit over all of them does, with a factor of 1.5 up or down of one point (0.3 in the slope).
    x = [math.log(dt) for dt in steps]
    for k in "048":
        y = [math.log(found[dt][k]) for dt in steps]
        mx, my = sum(x) / len(x), sum(y) / len(y)
        order = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
        print(f"    order at {k}: {order:.2f}")
        assert order > 0.6


def test_the_trot_event_driven(trot):
    e = errors(trot("integrator.type=event-driven", "time.step=10 ms")["metrics"])
    print(f"    event-driven: off by {e['0']:.2e}, {e['4']:.2e}, {e['8']:.2e} m")
    assert max(e.values()) < 1e-6


@pytest.fixture(scope="module")
def falls(binary, repo):
    def go(count, seed, seconds, *settings, scene=repo / "scenes/p2/fall.yaml"):
        tool = os.path.join(os.path.dirname(binary), "falls")
        threads = os.cpu_count() or 1
        args = [tool, scene, count, seed, threads, seconds, *settings]
        out = subprocess.run([str(a) for a in args], capture_output=True, text=True, check=True)
        return json.loads(out.stdout)

    return go


def test_random_falls(falls, soak):
    count = 10_000 if soak else 50
    worst = falls(count, 2026, 1.5)
    print("   ", worst)
    assert worst["fallen"] > 0.9 * count  # the pushes do what they are for
    assert worst["diverged"] == worst["not_finite"] == 0
    # No step is silent about its residual, and few miss the tolerance: docs/soak.md (7 or 8
    # contacts of boxes that lie flush, 1e-6 m/s).
    assert worst["silent"] == 0
    assert worst["unconverged"] <= 1e-5 * worst["steps"] and worst["worst_residual"] < 1e-3
    assert worst["penetration_reported"] <= 1e-6
    assert worst["penetration_measured"] <= 1e-6
    # Energy comes from motors and from what the ledger calls integrator and correction; contacts,
    # friction, dampers and limits take, in every single step. Works of up to 100 J cancel in a sum:
    # 1e-12 J is their rounding.
    assert worst["net_gain"] < 0
    assert max(worst["gain"], worst["impact_gain"]) < 1e-12
    assert worst["ledger"] < 1e-9
    # The correction lifts no more than what is in the ground: by so much the whole robot (27 kg)
    # would be lifted where all its weight is over the deepest point.
    lifted = worst["correction"]
    assert lifted["work"] < 27 * 9.81 * worst["raw_penetration"], lifted


LIMP = """\
saltus: 1
robots: [{file: %s, package_paths: [%s], base: floating, at: {position: [0, 0, 0.4]}}]
obstacles: [{name: ground, type: half-space}]
contacts: [{between: [ground, "*"], friction: 0.8}]
initial: {base: {v: [0, 2, 0, -4, 0, 0]}}
time: {step: 2.5 ms, end: 1.5}
"""


def lands_on_its_limits(worst, mass):
    """Legs between the ground, where feet stick, and their limits: a correction that does not know
    of limits near by turned a joint by half a radian and more (28 J for 0.1 um of penetration)."""
    print("   ", worst)
    assert worst["unconverged"] == worst["diverged"] == worst["not_finite"] == 0
    assert worst["penetration_reported"] <= 1e-6
    assert worst["correction"]["work"] < mass * 9.81 * worst["raw_penetration"], worst["correction"]


def test_a_limp_robot_falls_on_the_limits_of_its_joints(falls, repo):
    # The first of these falls took 8 J.
    worst = falls(10, 11 + 1000003 * 1062, 1.5, "motors=[]",
                  "contacts=[{between: [ground, '*'], friction: 0.8}]",
                  scene=repo / "scenes/robots/quadruped.yaml")
    lands_on_its_limits(worst, 9.4)


def test_a_limp_a1_falls_on_the_limits_of_its_joints(falls, repo, tmp_path):
    a1 = repo.parent / "shared/robots/urdf/unitree_a1.urdf"
    if not a1.is_file():
        pytest.skip(f"{a1} is not there: no robots of others")
    (tmp_path / "scene.yaml").write_text(LIMP % (a1, a1.parent))
    lands_on_its_limits(falls(30, 7, 1.5, scene=tmp_path / "scene.yaml"), 13.741)


def test_what_the_scheme_gains_in_a_fall_vanishes_with_dt(falls):
    """The integrator's term is an error: the largest gain of a step and that of a whole fall go with
    dt (theory.md, 32a). The worst of a hundred falls that part ways is no smooth function of dt: of
    the quarter that first order gives from 2.5 to 0.625 ms a half is asked."""
    steps = (2.5, 1.25, 0.625)
    found = [falls(100, 2026, 1.0, f"time.step={dt} ms") for dt in steps]
    for dt, worst in zip(steps, found):
        print(f"    dt = {dt} ms: a step gains at most {worst['integrator']['work']:.2e} J by the scheme and "
              f"{worst['correction']['work']:.2e} J by the correction, a fall {worst['net_integrator']:.2e} J")
        assert worst["gain"] < 1e-12
    assert found[-1]["integrator"]["work"] < 0.5 * found[0]["integrator"]["work"]


@pytest.mark.parametrize("scene", ["fall", "drop"])
def test_falls_that_ship(summary, scene):
    s = summary(f"p2/{scene}")
    assert s["status"] == "completed" and s["unconverged_steps"] == 0
    assert s["max_penetration"] <= 1e-6
    assert s["energy"]["kinetic"] < 1e-6  # it has come to rest
    assert s["metrics"]["height"] < 0.25


def test_ten_robots_stacked(run, scenes, soak):
    """They come down as a heap of 190 coordinates and up to 100 contacts; the whole fall is the long
    form. There a few steps of impacts among many boxes may miss the tolerance, and the summary says
    so; none leaves a penetration."""
    ends = "3" if soak else "0.5"
    done = run("run", scenes / "p2/stack.yaml", "--json", "--set", f"time.end={ends}",
               "--set", "metrics=[]", timeout=3000)
    s = json.loads(done.out)
    print("   ", {k: s[k] for k in ("status", "unconverged_steps", "worst_residual",
                                    "penetrating_steps", "max_penetration")})
    e = s["energy"]
    assert e["contacts"] + e["friction"] + e["dampers"] + e["joints"] < 0
    if soak:
        assert s["steps"] == 1200 and s["status"] in ("completed", "unconverged")
        assert s["unconverged_steps"] <= 5 and s["penetrating_steps"] == 0
        assert s["status"] == "completed" or str(s["unconverged_steps"]) in s["message"]
    else:
        assert done.code == 0 and s["status"] == "completed" and s["max_penetration"] <= 1e-6


def test_bench_says_what_is_missing(run, tmp_path):
    there = run("bench", "quadruped", "--folder", tmp_path)
    assert there.code == 1 and "quadruped_saltus" in there.err and "make bench-build" in there.err
    unknown = run("bench", "quadrupod")
    assert unknown.code != 0 and "quadruped" in unknown.err
