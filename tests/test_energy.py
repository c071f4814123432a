"""What a run tells of its energy and of its start: status 3, overlaps, limits, turns a step (docs/energy.md,
docs/choosing.md)."""

import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import energy_bound  # noqa: E402
import energy_scenes  # noqa: E402

# A free chain that spins by two turns in a step, 0.2 rad in a 64th of it: all its energy is momentum, so that
# velocities cannot pay for what its shape gains.
SPIN = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 1, solid: {shape: box, size: [0.3, 0.1, 0.05]}, joint: {type: floating}}
  - {name: b, mass: 1, solid: {shape: box, size: [0.3, 0.06, 0.05]},
     joint: {type: spherical, parent: a, at: {position: [0.2, 0, 0]}, in_body: {position: [-0.2, 0, 0]}}}
initial: {a: {q: [0, 0, 0, 1, 0, 0, 0], v: [0, 0, 0, 200, 450, 150]}}
time: {step: 0.025, end: 0.4}
output: {interval: 0.025}
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
    # The first step that broke them, and what moved too far in it.
    assert f"the books broke first with step {j['books']['first_step']} to t = " in j["message"]
    assert "' turned most, " in j["message"]
    # The tool says the same of the file: gains count by whole steps, of pieces by their sum. (What moved may be a
    # little more between pieces than at the ends of steps, which are all that the file has.)
    verdict = energy_bound.judge(str(out))
    assert not verdict.held and verdict.broken == 1
    assert j["books"]["worst_share"] == pytest.approx(verdict.worst.ratio, rel=5e-3)
    with h5py.File(out) as f:
        gained = np.cumsum(np.maximum(f["steps/energy_error"][()], 0))
        T = np.maximum.accumulate(f["frames/kinetic"][()])[1:]
    assert j["books"]["first_step"] == 1 + np.flatnonzero(gained > 1e-3 * T)[0]  # without weight U does not change
    with h5py.File(out) as f:
        assert json.loads(f["summary"][()].tobytes())["status"] == "gained"


def test_a_run_that_diverges_names_the_first_step_whose_books_broke(run, scene):
    done = run("run", scene(SPIN), "--json", "--set", "time.step=0.04")
    j = json.loads(done.out)
    assert done.code == 1 and j["status"] == "diverged"
    assert "body '" in j["message"] and "; the books broke first with step " in j["message"]
    assert "turns by" in j["message"] and "a time.step of" in j["message"]


BULLET = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: bullet, mass: 1 g, solid: {shape: sphere, radius: 2 mm}, joint: {type: floating}, shapes: [{type: sphere, radius: 2 mm}]}
obstacles: [{name: plate, type: box, size: [0.01, 0.4, 0.4], at: {position: [0.5, 0, 0]}}]
contacts: [{between: [bullet, plate], friction: 0.3}]
initial: {bullet: {q: [0, 0, 0, 1, 0, 0, 0], v: [30, 0, 0, 0, 0, 0]}}
time: {step: 1e-3, end: 0.02}
"""


def test_a_step_that_may_miss_a_contact_is_told(run, scene):
    """30 mm a step, 4 mm and 10 mm thick: told before the first step, and with a step that is short enough the plate stops
    it, without a word."""
    j = json.loads(run("run", scene(BULLET), "--json").out)
    line = j["warnings"][0]
    assert line.startswith("shape 'bullet' moves by 0.03 m a step, more than it and 'plate' are thick together, 0.014 m")
    dt = float(re.search(r"time.step of (\S+) s", line)[1])
    j = json.loads(run("run", scene(BULLET), "--json", "--set", f"time.step={0.1 * dt}").out)
    assert "warnings" not in j and j["impacts"] == 1


def test_what_becomes_too_fast_on_the_way_is_told_at_the_end(run, scene):
    """A ball is thrown at a thin plate, a rod is spun up: how far it moves and turns in a step, how deep it comes."""
    text = BULLET.replace("gravity: [0, 0, 0]", "gravity: [2000, 0, 0]").replace("v: [30,", "v: [0,")
    j = json.loads(run("run", scene(text), "--json", "--set", "time.end=0.05").out)
    assert any(line.startswith("shape 'bullet' moved by ") and " in the step to t = " in line for line in j["warnings"])
    text = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: rotor, mass: 1, solid: {shape: box, size: [0.4, 0.05, 0.05]}, joint: {type: revolute, axis: [0, 0, 1]}}
motors: [{joints: rotor, type: torque, torque: 50}]
time: {step: 5e-3, end: 0.1}
"""
    j = json.loads(run("run", scene(text), "--json").out)
    assert any(re.match(r"body 'rotor' turned by \S+ rad in the step to t = ", line) for line in j["warnings"])
    text = BULLET.replace("v: [30,", "v: [12,").replace("end: 0.02", "end: 0.05")  # 12 mm a step are seen
    (line,) = json.loads(run("run", scene(text), "--json").out)["warnings"]
    assert line.startswith("contact bullet - plate was 0.005 m deep in the middle of the step to t = 0.042 s, of the 0.004 m ")


@pytest.mark.parametrize(("links", "self_contact", "coordinates", "end"),
                         [(20, False, "minimal", 0.6), (30, False, "minimal", 1.15), (10, True, "maximal", 1.2)])
def test_a_long_chain_is_corrected(run, scene, links, self_contact, coordinates, end):
    """On the peg links turn about their own axis by far more than gaps close: that is no reason to stop (theory.md, section
    14). Joints are closed to their own target, too."""
    text = energy_scenes.chain(links, self_contact, coordinates)
    done = run("run", scene(text), "--json", "--set", f"time.end={end}", "--set", "allow_unconverged=true")
    j = json.loads(done.out)
    assert done.code == 0, done.err
    assert j["max_raw_penetration"] > 1e-4 and j["max_penetration"] <= 1e-9 and j["max_joint_gap"] <= 1e-9
    # Velocities go along with it: left as they are, joints that turn would feed the motion, and velocities pay for that.
    assert j["books"]["paid"] <= 0.15 * abs(j["energy"]["change"])


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


def test_an_energetic_restitution_is_kept_in_steps(run, scenes, tmp_path):
    """Every impact of the box on the stairs leaves T+ <= 0.8 T-, T- before the forces of its step; summary and audit
    say the same."""
    out = tmp_path / "stairs.h5"
    done = run("run", scenes / "energy/stairs-energetic.yaml", "--json", "-o", out)
    j = json.loads(done.out)
    audit = json.loads(run("audit", out, "--json").out)["impacts"]
    assert done.code == 0 and j["impacts"] == audit["count"] >= 20
    assert j["impacts_that_gained"] == audit["gained"] == 0
    with h5py.File(out) as f:
        impacts = f["impacts"]
        own = impacts["bound"][()] < 1  # the others fell back to the capped law, and that is told
        before, after = impacts["kinetic_before"][()][own], impacts["kinetic_after"][()][own]
        assert impacts["bound"][()][own] == pytest.approx(0.8) and own.sum() >= 20
    assert (after <= 0.8 * before * (1 + 1e-10)).all()
    assert j["impact_fallbacks"] == audit["fallbacks"] == (~own).sum()


def test_what_the_first_step_lifts_is_no_start(run, scenes, tmp_path):
    """The rattleback begins a micrometre above the floor: what it sinks in the first step is its motion's, and the books
    of the run say what the file says."""
    out = tmp_path / "stone.h5"
    done = run("run", scenes / "energy/rattleback.yaml", "--json", "-o", out, "--set", "time.end=0.2", "--set",
               "output.interval=1e-3")
    j, verdict = json.loads(done.out), energy_bound.judge(str(out))
    assert done.code == 0 and "warnings" not in j
    assert verdict.held and j["books"]["worst_share"] == pytest.approx(verdict.worst.ratio, rel=1e-6)
    with h5py.File(out) as f:
        assert f["steps/raw_penetration"][0] > 1e-6
