"""What a run tells of its energy and of its start: status 3, overlaps, limits, turns a step (docs/energy.md,
docs/choosing.md)."""

import json
import sys
from pathlib import Path

import h5py
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import energy_bound  # noqa: E402

# A free chain that spins by half a turn in a 64th of its step: all its energy is momentum, so that velocities
# cannot pay for what its shape gains.
SPIN = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 1, solid: {shape: box, size: [0.3, 0.1, 0.05]}, joint: {type: floating}}
  - {name: b, mass: 1, solid: {shape: box, size: [0.3, 0.06, 0.05]},
     joint: {type: spherical, parent: a, at: {position: [0.2, 0, 0]}, in_body: {position: [-0.2, 0, 0]}}}
initial: {a: {q: [0, 0, 0, 1, 0, 0, 0], v: [0, 0, 0, 200, 450, 150]}}
time: {step: 0.02, end: 0.4}
output: {interval: 0.02}
"""

BOXES = """\
saltus: 1
bodies:
  - {name: low, mass: 1, solid: {shape: box, size: [0.2, 0.2, 0.2]}, joint: {type: floating},
     shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}
  - {name: high, mass: 1, solid: {shape: box, size: [0.2, 0.2, 0.2]}, joint: {type: floating},
     shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}
obstacles: [{name: floor, type: half-space}]
contacts: [{between: ["*", "*"], friction: 0.5}]
initial: {low: {q: [0, 0, 0.09, 1, 0, 0, 0]}, high: {q: [0, 0, 0.285, 1, 0, 0, 0]}}
time: {step: 1e-3, end: 0.05}
"""


@pytest.fixture
def scene(tmp_path):
    def write(text):
        path = tmp_path / "scene.yaml"
        path.write_text(text)
        return path
    return write


def test_a_run_whose_steps_gain_ends_with_status_3(run, scene, tmp_path):
    out = tmp_path / "out.h5"
    done = run("run", scene(SPIN), "--json", "-o", out)
    j = json.loads(done.out)
    assert done.code == 3 and j["status"] == "gained"
    assert j["books"]["broken_episodes"] == 1 and j["books"]["worst_share"] > 1e-3
    assert "gained" in j["message"] and "time.step" in j["message"] and j["message"] in done.err
    assert "turns by" in j["warnings"][0] and "rad a step" in j["warnings"][0]
    # The tool says the same of the file, which has whole steps: pieces of a step that gain and lose are one there.
    verdict = energy_bound.judge(str(out))
    assert not verdict.held and 1e-3 < verdict.worst.ratio <= j["books"]["worst_share"]
    with h5py.File(out) as f:
        assert json.loads(f["summary"][()].tobytes())["status"] == "gained"


def test_a_flag_for_those_who_want_to_go_on(run, scene):
    done = run("run", scene(SPIN), "--json", "--allow-gain")
    j = json.loads(done.out)
    assert done.code == 0 and j["status"] == "completed" and j["books"]["broken_episodes"] == 1


def test_a_shorter_step_helps(run, scene):
    done = run("run", scene(SPIN), "--json", "--set", "time.step=2e-4")
    j = json.loads(done.out)
    assert done.code == 0 and j["books"]["worst_share"] <= 1e-3


def test_overlaps_are_told(run, scene):
    done = run("run", scene(BOXES), "--json")
    j = json.loads(done.out)
    assert done.code == 0
    assert j["warnings"][0] == "contact low - floor begins 0.01 m inside"
    assert j["warnings"][1] == "contact low - high begins 0.005 m inside"
    assert "saltus: warning: contact low - floor begins 0.01 m inside" in done.err
    assert j["energy"]["kinetic"] < 1e-12, "pushed apart without kinetic energy"


def test_overlaps_are_moved_apart_or_refused(run, scene, tmp_path):
    out = tmp_path / "out.h5"
    done = run("run", scene(BOXES), "--json", "--set", "overlap=separate", "-o", out)
    j = json.loads(done.out)
    assert done.code == 0 and j["warnings"][0].endswith("moved apart") and j["max_raw_penetration"] < 1e-5
    with h5py.File(out) as f:  # from the first frame on
        pose = f["frames/pose"][0].reshape(-1, 7)
    assert pose[0, 2] == pytest.approx(0.1, abs=1e-9) and pose[1, 2] == pytest.approx(0.3, abs=1e-9)
    done = run("run", scene(BOXES), "--set", "overlap=refuse")
    assert done.code == 2 and "overlap: contact low - floor begins 0.01 m inside, and others" in done.err
    done = run("run", scene(BOXES), "--set", "overlap=push")
    assert done.code == 2 and "expected one of warn, separate, refuse" in done.err


def test_joints_beyond_their_limits_are_told(run, scene):
    text = """\
saltus: 1
bodies:
  - {name: arm, mass: 1, solid: {shape: box, size: [0.4, 0.05, 0.05]},
     joint: {type: revolute, axis: [0, 1, 0], limits: [-0.5, 0.5]}}
initial: {arm: 0.7}
time: {step: 1e-3, end: 0.01}
"""
    done = run("run", scene(text), "--json")
    j = json.loads(done.out)
    assert j["warnings"] == ["joint coordinate arm begins 0.2 rad beyond its limit"]
    assert done.code == 0, "what a start gives is no gain of the motion"


def test_shapes_that_nothing_touches_are_noted(run, scene):
    text = BOXES.replace('between: ["*", "*"]', "between: [floor, low]").replace("0.09", "0.1")
    done = run("run", scene(text), "--json")
    j = json.loads(done.out)
    assert j["note"] == "shape 'high' can touch nothing: no contact rule names it" and "warnings" not in j


def test_a_ball_that_is_lifted_is_slower(run, scenes, tmp_path):
    """An elastic ball keeps its height: what the correction lifts is paid by its speed (theory.md, section 15)."""
    out = tmp_path / "ball.h5"
    done = run("run", scenes / "bouncing-ball.yaml", "--json", "-o", out, "--set", "contacts[0].restitution=1",
               "--set", "integrator.type=moreau", "--set", "time.end=3", "--set", "time.step=2e-3", "--set",
               "output.interval=2e-3")
    j = json.loads(done.out)
    assert done.code == 0 and j["impacts"] >= 3
    assert abs(j["energy"]["change"]) <= 1e-3 * (abs(j["energy"]["kinetic"]) + abs(j["energy"]["potential"]))
