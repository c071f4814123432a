"""P3, the worms, by time stepping: the scenes the repository ships beside the closed forms of the
paper and the values of the project's verification table, and the slithering snake under its two
friction rules. `pytest -s tests/test_p3.py` prints the table.
"""

import math
import re

import h5py
import numpy as np
import pytest

MOREAU = "integrator.type=moreau"  # whatever the scene asks for


def figure(what, value, reference, tolerance):
    off = abs(value - reference)
    print(f"    {what:<44} {value:>15.9g}  reference {reference:>13.9g}  off {off:.1e} of {tolerance:g}")
    assert off <= tolerance, what


# Release and capture are found within a step: errors between first and second order, 1e-5 at 1 ms.
@pytest.mark.parametrize("scene,reference", [
    ("p3/fig-4-1", {"x1": 8.09996662, "x2": 7.23549028}),
    ("p3/fig-4-6", {"x1": 10.76417866, "x2": 10.09291715, "x3": 8.94055259}),
    ("p3/fig-6-1", {"x0": 0.97830366, "y0": 2.19593945, "theta": 1.68782144}),
])
def test_figures_and_order(summary, scene, reference):
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        m = summary(scene, MOREAU, f"time.step={dt}")["metrics"]
        errors.append(max(abs(m[k] - x) for k, x in reference.items()))
    m = summary(scene, MOREAU, "time.step=1e-3")["metrics"]
    for k, x in reference.items():
        figure(f"{scene} {k}, dt = 1 ms", m[k], x, 2e-5)
    order = math.log2(errors[0] / errors[2]) / 2
    print(f"    {scene}: {errors[0]:.1e}, {errors[1]:.1e}, {errors[2]:.1e} at 4, 2, 1 ms, order {order:.2f}")
    assert order > 0.9


def example1(t, tau):
    """x and v of P3 example 1 (w = l_o = 1, eps = -1/2) before tau, in closed form."""
    a, w = 0.5, math.sqrt(2)
    t1 = math.pi / 2
    s = t - t1
    v1, v2 = 0.5 * a * (1 - math.cos(w * s)), 0.5 * a * (1 + math.cos(w * s))
    assert t1 < t <= tau
    return 1 + 0.5 * a * (s - math.sin(w * s) / w), v1, a + 0.5 * a * (s + math.sin(w * s) / w), v2


@pytest.mark.parametrize("scene,phase", [("first", 1), ("second-odd", 0.5), ("second-even", 1.5)])
def test_example_1_up_to_the_switch(summary, scene, phase):
    tau = math.pi / 2 + phase * math.pi / math.sqrt(2)
    end = math.floor(tau * 1000) / 1000
    m = summary(f"p3/example1-{scene}", MOREAU, f"time.end={end}", "time.step=1e-3")["metrics"]
    for name, x in zip(("x1", "v1", "x2", "v2"), example1(end, tau)):
        figure(f"example 1, {scene} choice: {name}({end})", m[name], x, 1e-5)


def test_example_1_mean_speeds(summary):
    """After the switch of the 1st choice the mean speed is sqrt(2) times that before; of the 2nd
    choice, kappa even, it is unchanged; kappa odd, it has grown again."""
    mean = 0.25  # -l_o eps w/2
    speed = {}
    for scene in ("first", "second-even", "second-odd"):
        m = summary(f"p3/example1-{scene}", MOREAU)["metrics"]
        speed[scene] = (m["v1"] + m["v2"]) / 2
    figure("mean speed, 1st choice", speed["first"], math.sqrt(2) * mean, 1e-5)
    figure("mean speed, 2nd choice, kappa = 2", speed["second-even"], mean, 1e-5)
    assert speed["second-odd"] > 1.2 * mean


def test_front_mass_runs_on_its_circle(run, scenes, tmp_path):
    """Fig 6.1: the circle that fits the way of mass 0 best has the radius 1.6015, and the way stays on
    it to 1 %."""
    out = tmp_path / "run.h5"
    assert run("run", scenes / "p3/fig-6-1.yaml", "--set", MOREAU, "-o", out).code == 0
    with h5py.File(out) as f:
        q = f["frames/q"][:, :2]
    # x^2 + y^2 = 2 a x + 2 b y + c, each place on the way weighed once: by its length
    step = np.linalg.norm(np.diff(q, axis=0), axis=1)
    w = np.sqrt(step)[:, None]
    p = (q[1:] + q[:-1]) / 2
    A = np.hstack([2 * p, np.ones((len(p), 1))])
    a, b, c = np.linalg.lstsq(w * A, w[:, 0] * (p**2).sum(axis=1), rcond=None)[0]
    R = math.sqrt(c + a * a + b * b)
    off = np.abs(np.hypot(*(p - [a, b]).T) - R).max()
    figure("radius of the circle", R, 1.6015, 0.01 * R)
    figure("largest distance from it", off, 0, 0.01 * R)


def test_parallel_displacement(summary):
    m = summary("p3/fig-6-2", MOREAU)["metrics"]
    figure("Fig 6.2: Theta", m["theta"], 0, 0.02)
    figure("Fig 6.2: direction of mass 0", math.atan2(m["y0"], m["x0"]), math.pi / 6, 0.15)


def test_tube_keeps_its_energy(summary):
    s = summary("p3/tube", MOREAU, "time.step=1e-3")
    e = s["energy"]
    figure("energy [J]", e["kinetic"] + e["potential"], 0.5 * 4 * (0.25 + 0.04), 1e-6)
    figure("theta1 = theta2", s["metrics"]["theta1"], s["metrics"]["theta2"], 1e-15)


@pytest.mark.parametrize("scene", [f"fig-4-{i}" for i in range(1, 9)] + ["fig-6-1", "fig-6-2", "fig-6-3"])
def test_energy_balance(summary, scene):
    """What muscles feed in, dampers take or the masses have: nothing is left over but the scheme's
    error, of second order in the plane and of rounding size on the line."""
    e = summary(f"p3/{scene}", MOREAU)["energy"]
    bound = 1e-11 if scene.startswith("fig-4") else 1e-3
    assert abs(e["integrator"]) < bound * (1 + abs(e["muscles"]))
    total = sum(e[k] for k in ("muscles", "dampers", "contacts", "friction", "joints", "integrator"))
    assert abs(total - e["change"]) < 1e-12 * (1 + abs(e["muscles"]))


@pytest.mark.parametrize("rule,reference", [("convex", 0.2663), ("hu", 0.1370)])
def test_slithering(summary, rule, reference):
    m = summary(f"slithering-{rule}")["metrics"]
    figure(f"way in a period, {rule} [L]", m["travel"], reference, 0.01 * reference)


# --- bad input ------------------------------------------------------------------------------------

WORM = """\
saltus: 1
title: Worm
worm:
  masses: [1, 1]
  stiffness: 1
  velocities: [0, 0]
  lengths:
    - {type: sine, amplitude: 0.1, omega: 1, offset: 1}
time: {step: 1e-3, end: 0.01}
"""
SLEDGE = """\
saltus: 1
title: Sledge
planar: true
bodies:
  - {name: sledge, mass: 2, inertia: [0.1, 0.1, 0.1], joint: {type: planar}}
springs:
  - {name: rope, between: [world, sledge], stiffness: 2, length: 1}
drags:
  - {name: snow, body: sledge, coefficient: 0.5}
runners:
  - {name: rear, body: sledge, scales: true}
initial: {sledge: {v: [1, 0, 0]}}
time: {step: 1e-3, end: 0.01}
"""


def test_the_base_scenes_are_good(run, tmp_path):
    for text in (WORM, SLEDGE):
        (tmp_path / "scene.yaml").write_text(text)
        assert run("run", tmp_path / "scene.yaml").code == 0


@pytest.mark.parametrize("base,old,new,line,words", [
    (WORM, "velocities: [0, 0]", "velocities: [0, -1]", 6, "runner2.*no backward motion.*-1 m/s"),
    (WORM, "amplitude: 0.1", "amplitude: .nan", 8, "amplitude.*expected a number"),
    (WORM, "offset: 1", "offset: 1e999", 8, "offset.*expected a number"),
    (WORM, "masses: [1, 1]", "masses: [1, 0]", 4, r"masses\[1\].*> 0"),
    (WORM, "masses: [1, 1]", "masses: [1]", 4, "at least 2 numbers"),
    (WORM, "stiffness: 1", "stiffness: [1, 2]", 5, "one number or 1, got 2"),
    (WORM, "stiffness: 1", "scales: [0]", 5, "numbers of masses, 1 to 2, got 0"),
    (WORM, "stiffness: 1", "tube: [1]", 3, "a planar worm"),
    (SLEDGE, "v: [1, 0, 0]", "v: [-1, 0, 0]", 11, "runner 'rear'.*no backward motion"),
    (SLEDGE, "v: [1, 0, 0]", "v: [1, 0.5, 0]", 11, "runner 'rear'.*no side slip.*0.5 m/s"),
    (SLEDGE, "{name: rear, body: sledge", "{name: rear, body: slegde", 11, "no body is called 'slegde'"),
    (SLEDGE, "between: [world, sledge]", "between: [world, nobody]", 7, "no body is called 'nobody'"),
    (SLEDGE, "length: 1}", "length: .inf}", 7, "length.*expected a number"),
    (SLEDGE, "coefficient: 0.5", "coefficient: -1", 9, "coefficient.*>= 0"),
    (SLEDGE, "mass: 2, inertia: [0.1, 0.1, 0.1]", "mass: 0", 5, "nothing with mass or inertia"),
])
def test_bad_worms(run, tmp_path, base, old, new, line, words):
    assert base.count(old) == 1
    scene = tmp_path / "scene.yaml"
    scene.write_text(base.replace(old, new))
    done = run("run", scene, "-o", tmp_path / "out.h5")
    assert done.code == 2, done.err
    assert f"scene.yaml:{line}" in done.err, done.err
    assert re.search(words, done.err), done.err
    assert not (tmp_path / "out.h5").exists()
