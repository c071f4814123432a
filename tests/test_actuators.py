"""Motors from scenes: what the keys do, by closed forms, and what bad ones are told."""
import json
import math

import numpy as np
import pytest

from test_events_resume import cut_back, steps_of
from test_runs import assert_same_run

WHEEL = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: wheel, mass: 1, inertia: [0.02, 0.02, 0.02], joint: {type: revolute, axis: [0, 0, 1]%s}}
motors:
  - {joints: wheel, %s}
time: {step: 1e-3, end: %g}
metrics:
  - {name: x, type: coordinate, joints: wheel}
  - {name: w, type: rate, joints: wheel}
"""
J = 0.02


@pytest.fixture
def motor(run, tmp_path):
    def go(keys, joint="", end=1.0, *more):
        scene = tmp_path / "wheel.yaml"
        scene.write_text(WHEEL % (joint, keys, end))
        done = run("run", scene, "--json", *more)
        assert done.code == 0, done.err
        j = json.loads(done.out)
        e = j["energy"]
        work = sum(e[k] for k in ("motors", "dampers", "joints", "friction"))
        assert abs(e["change"] - work) < 1e-10, "the ledger closes"
        return j["metrics"]

    return go


def test_speed_torque_curve_spins_up(motor):
    T = J * 40 / 0.5
    m = motor("type: torque, torque: 9, curve: {stall_torque: 0.5, no_load_speed: 40}")
    assert m["w"] == pytest.approx(40 * (1 - math.exp(-1 / T)), rel=1e-6)
    same = motor("type: torque, torque: 9, curve: {speeds: [0, 40], torques: [0.5, 0]}")
    assert same == m


def test_gear_rotor_and_limit(motor):
    m = motor("type: torque, torque: 0.5, gear: 10, rotor: 3e-4, limit: 0.04")
    assert m["w"] == pytest.approx(10 * 0.04 / (J + 100 * 3e-4), rel=1e-10)
    m = motor("type: torque, torque: 0.5, gear: 10, rotor: 3e-4, limits: [-1, 0.03]")
    assert m["w"] == pytest.approx(10 * 0.03 / (J + 100 * 3e-4), rel=1e-10)


def test_velocity_servo(motor):
    m = motor("type: velocity, kd: 0.5, reference: 6", ", friction: 0.3", 2.0)
    assert m["w"] == pytest.approx(6 - 0.3 / 0.5, abs=1e-9)


def test_lag(motor):
    T = 0.2
    m = motor("type: torque, torque: 0.3, lag: 200 ms")
    assert m["w"] == pytest.approx(0.3 / J * (1 + T * math.expm1(-1 / T)), rel=1e-11)


def test_backlash_is_half_its_width_behind(motor):
    m = motor("kp: 400, kd: 4, backlash: 3 deg, reference: {type: move, to: 0.5, duration: 1}",
              ", friction: 0.2", 2.0)
    # Friction stops the wheel where the flank pushes with no more than it.
    assert 0.5 - m["x"] <= math.radians(1.5) + 0.2 / 400 + 1e-6
    assert 0.5 - m["x"] >= math.radians(1.5) - 1e-6


def test_a_lagging_run_resumes_bit_by_bit(run, tmp_path):
    scene = tmp_path / "wheel.yaml"
    scene.write_text(WHEEL % ("", "kp: 2, kd: 0.2, lag: 0.02, limit: 0.5, reference: 1", 1)
                     + "output: {checkpoint: 0.3}\n")
    whole, again = tmp_path / "whole.h5", tmp_path / "again.h5"
    assert run("run", scene, "-q", "-o", whole).code == 0
    done = run("run", "--resume", whole, "-q", "-o", again)  # from its last checkpoint, at 0.9 s
    assert done.code == 0, done.err
    frames = [run("csv", p, "-t", "frames").out for p in (whole, again)]
    assert frames[0] == frames[1] and frames[0].count("\n") > 100


@pytest.mark.parametrize("keys,told", [
    ("kp: 1, gear: 0", ["motors[0].gear", "other than 0"]),
    ("kp: 1, rotor: -1", ["motors[0].rotor"]),
    ("kp: 1, lag: -1", ["motors[0].lag"]),
    ("kp: 1, backlash: -1 deg", ["motors[0].backlash"]),
    ("kd: 1, backlash: 1 deg", ["motors[0]", "kp > 0"]),
    ("kp: 1, backlash: 1 deg, lag: 0.1", ["motors[0]", "either backlash or lag"]),
    ("kp: 1, limits: [1, 2]", ["motors[0].limits", "one <= 0"]),
    ("kp: 1, limits: [1]", ["motors[0].limits"]),
    ("kp: 1, limit: -1", ["motors[0].limit"]),
    ("kp: 1, curve: {stall_torque: 1}", ["motors[0].curve", "no_load_speed"]),
    ("kp: 1, curve: {no_load_speed: 1}", ["motors[0].curve", "stall_torque"]),
    ("kp: 1, curve: {}", ["motors[0].curve", "stall_torque"]),
    ("kp: 1, curve: {speeds: [0, 1], torques: [1]}", ["motors[0].curve", "as many"]),
    ("kp: 1, curve: {speeds: [0, 1], torques: [1, 2]}", ["motors[0].curve", "do not rise"]),
    ("kp: 1, curve: {speeds: [1, 2], torques: [2, 1]}", ["motors[0].curve", "begins at speed 0"]),
    ("type: velocity, kp: 1", ["motors[0].kp", "velocity servo"]),
    ("type: torque, reference: 1", ["motors[0].reference", "only a torque"]),
    ("type: spring", ["motors[0].type"]),
])
def test_bad_motors(run, tmp_path, keys, told):
    scene = tmp_path / "wheel.yaml"
    scene.write_text(WHEEL % ("", keys, 1))
    done = run("run", scene, "-q")
    assert done.code == 2, done.err
    assert "wheel.yaml:6" in done.err, done.err
    for text in told:
        assert text in done.err, done.err


@pytest.mark.parametrize("keys,what", [("kp: 1, lag: 0.1", "a lag"),
                                       ("kp: 1, backlash: 0.1", "backlash")])
def test_rk4_refuses_memory_and_play(run, tmp_path, keys, what):
    scene = tmp_path / "wheel.yaml"
    scene.write_text(WHEEL % ("", keys, 1) + "integrator: {type: rk4-projection}\n")
    done = run("run", scene, "-q")
    assert done.code == 2
    for text in ("wheel.yaml:11", "integrator.type", what, "moreau or event-driven"):
        assert text in done.err, done.err



EXACT = ("--set", "integrator.type=event-driven", "--set", "time.step=0.1")


def test_lag_event_driven(motor):
    """The torque is a state: a constant command, and a servo of third order by its modes."""
    T, kp, kd = 0.2, 0.3, 0.02
    m = motor("type: torque, torque: 0.3, lag: 200 ms", "", 1.0, *EXACT)
    assert m["w"] == pytest.approx(0.3 / J * (1 + T * math.expm1(-1 / T)), rel=1e-11)
    m = motor("kp: 0.3, kd: 0.02, reference: 0.5, lag: 200 ms", "", 1.0, *EXACT)
    # J x'' = u, T u' = kp (r - x) - kd x' - u, from rest.
    A = np.array([[0, 1, 0], [0, 0, 1 / J], [-kp / T, -kd / T, -1 / T]])
    values, modes = np.linalg.eig(A)
    start = np.linalg.solve(modes, np.array([-0.5, 0, 0]))
    x, w, _ = (modes @ (np.exp(values) * start)).real
    assert m["x"] == pytest.approx(0.5 + x, rel=1e-10)
    assert m["w"] == pytest.approx(w, rel=1e-10)


def test_lag_hands_over_to_the_bits(run, tmp_path):
    """A run that is cut off and goes on has the torque, and the flank, that it had."""
    for keys in ("kp: 0.3, kd: 0.02, reference: 0.5, lag: 200 ms",
                 "kp: 4, kd: 0.05, backlash: 0.1, reference: {type: sine, amplitude: 0.6, omega: 7}"):
        scene = tmp_path / "wheel.yaml"
        scene.write_text(WHEEL % ("", keys, 2) + "output: {checkpoint: 1e-9}\n")
        whole, cut = tmp_path / "whole.h5", tmp_path / "cut.h5"
        assert run("run", scene, "-q", "-o", whole, *EXACT).code == 0
        steps = steps_of(whole)
        cut_back(whole, cut, steps[len(steps) // 2])
        done = run("run", "--resume", cut, "-q")
        assert done.code == 0, done.err
        assert_same_run(whole, cut)


def test_play_event_driven(run, tmp_path):
    """A wheel flies through the play, onto the flank, which pushes until its force would pull, and back."""
    width, v0, kp, kd, end = 0.2, 0.5, 40.0, 0.4, 1.0
    scene = tmp_path / "wheel.yaml"
    scene.write_text(WHEEL % ("", f"kp: {kp}, kd: {kd}, backlash: {width}", end) +
                     f"initial: {{wheel: {{q: 0, v: {v0}}}}}\n")
    done = run("run", scene, "--json", *EXACT)
    assert done.code == 0, done.err
    out = json.loads(done.out)
    w, s = math.sqrt(kp / J), kd / (2 * J)
    d = math.sqrt(w * w - s * s)

    def flank(t):  # J y'' + kd y' + kp y = 0 from y = 0, y' = v0
        e = v0 * math.exp(-s * t)
        return e / d * math.sin(d * t), e * (math.cos(d * t) - s / d * math.sin(d * t))

    leaves = math.atan2(kd * d, -(kp - kd * s)) / d  # kp y + kd y' = 0
    y, v = flank(leaves)
    assert abs(kp * y + kd * v) < 1e-12 and v < 0 < y
    arrives = 0.5 * width / v0
    back = arrives + leaves + (y + width) / -v  # at the other flank
    assert back > end
    assert out["metrics"]["w"] == pytest.approx(v, rel=1e-10)
    assert out["metrics"]["x"] == pytest.approx(0.5 * width + y + v * (end - arrives - leaves), abs=1e-10)
    assert out["energy"]["motors"] == pytest.approx(0.5 * J * (v * v - v0 * v0), abs=1e-12)


def test_time_stepping_tends_to_play_event_driven(run, tmp_path):
    """A servo that swings with friction in its joint, through both flanks, against time stepping: first order."""
    scene = tmp_path / "wheel.yaml"
    keys = "kp: 4, kd: 0.05, backlash: 0.1, limit: 2, reference: {type: sine, amplitude: 0.6, omega: 7}"
    scene.write_text(WHEEL % (", friction: 0.05", keys, 2))

    def x(*more):
        done = run("run", scene, "--json", *more)
        assert done.code == 0, done.err
        return json.loads(done.out)["metrics"]["x"]

    exact = x(*EXACT)
    assert x(*EXACT, "--set", "integrator.tolerance=1e-9") == pytest.approx(exact, abs=1e-7)
    off = [abs(x("--set", f"time.step={dt}") - exact) for dt in (4e-4, 1e-4)]
    assert off[1] < 1e-3 and off[1] < 0.5 * off[0], off
