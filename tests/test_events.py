"""The event-driven integrator from scene files: P0's snake, restarts, and starts that cannot be."""

import json
import os
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

EVENTS = "integrator.type=event-driven"


def figure(what, value, reference, tolerance):
    print(f"    {what:<44} {value:>17.10g}  reference {reference:>14.8g}  off "
          f"{abs(value - reference):.1e} of {tolerance:.0e}")
    assert abs(value - reference) <= tolerance, what


def test_snake_of_p0_agrees_with_the_limit_of_time_stepping(summary):
    """VERIFY.md: v1, v2 as dt -> 0. The supports stick and slip in two directions; a tolerance of
    1e-8 is far below the 0.1 % asked for."""
    s = summary("p0/flat", EVENTS, "coordinates=minimal", "time.step=0.01",
                "integrator.tolerance=1e-8")
    figure("v1 [m/s]", s["metrics"]["v1"], -0.010417, 1e-5)
    figure("v2 [m/s]", s["metrics"]["v2"], -0.010523, 1e-5)
    # The ledger closes to the integrator's tolerance.
    assert abs(s["energy"]["integrator"]) < 1e-8


def frames(path):
    with h5py.File(path, "r") as run:
        return {k: run["frames"][k][()] for k in ("t", "q", "v")} | {
            "modes": run["modes/t"][()], "status": run["members/status"][()]}


def test_a_killed_run_goes_on_to_the_same_bits(binary, scenes, tmp_path):
    scene = [binary, "run", str(scenes / "p0/flat.yaml"), "--set", EVENTS, "--set", "time.step=0.01",
             "--set", "coordinates=minimal", "--set", "integrator.tolerance=1e-8", "--set",
             "time.end=2", "--set", "output.checkpoint=0.1", "-q"]
    whole, cut = tmp_path / "whole.h5", tmp_path / "cut.h5"
    subprocess.run([*scene, "-o", whole], check=True, timeout=300)
    with subprocess.Popen([*scene, "-o", cut]) as run:
        while not cut.exists():
            time.sleep(0.01)
        time.sleep(0.3)
        run.send_signal(signal.SIGKILL)
    subprocess.run([binary, "run", "--resume", str(cut), "-q"], check=True, timeout=300)
    a, b = frames(whole), frames(cut)
    for key in a:
        assert a[key].tobytes() == b[key].tobytes(), key
    assert len(a["modes"]) > 5


@pytest.fixture
def refused(run, tmp_path):
    def go(text, *expected, output=True):
        scene = tmp_path / "scene.yaml"
        scene.write_text(text)
        out = tmp_path / "run.h5"
        done = run("run", scene, "-o", out)
        assert done.code in (1, 2), done.out
        for word in expected:
            assert word in done.err, done.err
        if done.code == 1 and output:
            with h5py.File(out, "r") as kept:
                assert len(kept["frames/t"]) >= 1
        return done
    return go


BALL = """
saltus: 1
bodies:
  - {{name: ball, mass: 1, solid: {{shape: sphere, radius: 0.1}}, joint: {{type: floating}},
     shapes: [{{type: sphere, radius: 0.1}}]}}
obstacles: [{{name: floor, type: half-space}}]
contacts: [{{between: [floor, ball]}}]
initial: {{ball: {{q: [0, 0, {z}, 1, 0, 0, 0]}}}}
time: {{step: 0.01, end: 1}}
integrator: {{type: event-driven}}
"""


def test_a_start_in_penetration_is_refused(refused):
    refused(BALL.format(z=0.09), "t = 0 s", "floor - ball", "penetration")


@pytest.mark.parametrize("change,told", [
    ((", ball]}]", ", ball], compliant: {stiffness: 3e4}}]"),
     ":10: integrator.type: expected time stepping: event-driven knows hard contacts only, a contact of the scene is"),
    (("contacts:", "pushes: [{body: ball, at: 0.1, impulse: [1, 0, 0]}]\ncontacts:"),
     ":7: pushes: expected time stepping (integrator moreau), got event-driven"),
    (("contacts:", "cables: [{name: rope, through: [{point: [0, 0, 1]}, {body: ball, point: [0, 0, 0.1]}], length: 1}]\n"
      "contacts:"),
     ":7: cables: expected time stepping (integrator moreau), got event-driven")])
def test_what_it_cannot_take_is_said_at_reading(run, tmp_path, change, told):
    scene = tmp_path / "scene.yaml"
    text = BALL.format(z=0.2).replace(*change)
    assert text != BALL.format(z=0.2)
    scene.write_text(text)
    done = run("run", scene, "-q")
    assert done.code == 2
    assert told in done.err, done.err


def test_controllers_are_refused_at_reading(run, scenes):
    done = run("run", scenes / "p2/push.yaml", "-q", "--set", "integrator.type=event-driven")
    assert done.code == 2
    assert "locomotion: expected time stepping (integrator moreau), got event-driven" in done.err


def test_a_scale_that_starts_backwards_is_refused(refused):
    refused("""
saltus: 1
gravity: [0, 0, 0]
worm: {masses: [1, 1], stiffness: [1], velocities: [0.1, -0.2]}
time: {step: 0.01, end: 1}
integrator: {type: event-driven}
""", "-0.2", output=False)


def test_a_prescribed_motion_that_jumps_is_refused(refused):
    refused("""
saltus: 1
bodies:
  - {name: cart, mass: 1, joint: {type: prismatic}}
  - {name: arm, mass: 1, inertia: [1, 1, 1], joint: {type: revolute, parent: cart, axis: [0, 1, 0]}}
motors: []
time: {step: 0.01, end: 1}
integrator: {type: event-driven}
""".replace("joint: {type: prismatic}", "joint: {type: prismatic, prescribed: {type: bang-bang, "
            "times: [0, 0.5], values: [0, 1]}}"), "t = 0.5 s", "cart", "jumps")


def test_painleve_rod_jams_and_goes_on(run, tmp_path):
    """A uniform rod at tan theta = 2, mu = 2 > 4/3, its tip sliding so that friction digs it in: no
    force is consistent, and an impact without collision is taken and named."""
    (tmp_path / "rod.yaml").write_text("""
saltus: 1
planar: true
gravity: [0, -9.81, 0]
bodies:
  - name: rod
    mass: 1
    inertia: [1, 1, 0.3333333333333333]
    joint: {type: planar}
    shapes: [{name: tip, type: sphere, radius: 1e-3, at: {position: [-1, 0, 0]}}]
obstacles: [{name: floor, type: half-space, at: {rpy: [-90 deg, 0, 0]}}]
contacts: [{between: [floor, tip], friction: 2}]
initial: {rod: {q: [0.4472135955, 0.8954271910, 1.1071487178], v: [-1, 0, 0]}}
time: {step: 0.01, end: 1}
integrator: {type: event-driven}
""")
    assert run("run", tmp_path / "rod.yaml", "-o", tmp_path / "rod.h5", "-q").code == 0
    modes = json.loads(run("modes", tmp_path / "rod.h5", "--json").out)
    causes = [c for event in modes["events"] for c in event["causes"]]
    assert any(c["cause"] == "jam" and "floor - tip" in c["at"] for c in causes), causes


def test_two_runs_are_the_same_bits(run, scenes, tmp_path):
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path in paths:
        assert run("run", scenes / "p3/fig-4-7.yaml", "-o", path).code == 0
    a, b = (frames(p) for p in paths)
    assert all(np.array_equal(a[k], b[k]) for k in a)


@pytest.mark.skipif(os.environ.get("SALTUS_SOAK") != "1", reason="long: make soak")
def test_a_thousand_masses(run, tmp_path):
    """Cost of an event from 50 to 1000 masses: no steeper than linear."""
    costs = []
    for n in (50, 1000):
        lengths = [f"{{type: half-sine, amplitude: -0.5, omega: 2, phase: {-0.7 * i}, offset: 1}}"
                   for i in range(n - 1)]
        (tmp_path / "worm.yaml").write_text(
            "saltus: 1\ngravity: [0, 0, 0]\n"
            f"worm: {{masses: [{', '.join(['1'] * n)}], stiffness: [{', '.join(['4'] * (n - 1))}],\n"
            f"  damping: [{', '.join(['0.5'] * (n - 1))}],\n  lengths: [{', '.join(lengths)}]}}\n"
            "time: {step: 0.01, end: 0.5}\nintegrator: {type: event-driven, tolerance: 1e-9}\n")
        s = json.loads(run("run", tmp_path / "worm.yaml", "--json", timeout=600).out)
        costs.append(s["wall_s"] / s["events"])
    exponent = np.log(costs[1] / costs[0]) / np.log(1000 / 50)
    figure("exponent of the cost of an event", exponent, 0.7, 0.3)
