"""Closed loops: the scenes of scenes/loops keep closed and keep their energy; bad loops are refused."""
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

BASE = (ROOT / "scenes/loops/slider-crank.yaml").read_text()


@pytest.mark.parametrize("coordinates", ["as-marked", "maximal"])
@pytest.mark.parametrize("name, redundant", [("four-bar", 3), ("slider-crank", 0), ("bricard", 1)])
def test_loops_stay_closed_and_keep_their_energy(run, name, redundant, coordinates):
    done = run("run", ROOT / f"scenes/loops/{name}.yaml", "--json", "--set",
               f"coordinates={coordinates}")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    metrics = summary["metrics"]
    print(f"    {name}, {coordinates}: gap {metrics['max_joint_gap']:.1e} m, "
          f"drift {metrics['energy_drift']:.1e}")
    assert metrics["max_joint_gap"] < 1e-9
    assert metrics["energy_drift"] < 1e-4
    assert summary["redundant_rows"] == redundant
    assert summary["open_joint_steps"] == 0


def test_the_summary_tells_what_was_assembled(run):
    done = run("run", ROOT / "scenes/loops/four-bar.yaml", "--set", "time.end=0.1")
    assert "loop closing was 9.8e-06 m open at the start" in done.out.replace("9.77", "9.8")
    assert "3 redundant rows" in done.out


def test_a_motor_and_a_spring_act_on_the_loop_itself(run, tmp_path):
    """The same spring in the loop's joint or, with the tree hung otherwise, in a body's joint."""
    loop = BASE.replace("at: {position: [0.5, 0, 0]}}",
                        "at: {position: [0.5, 0, 0]}, stiffness: 3, damping: 0.1}")
    # The rod hangs on the piston, and the crank's tip closes the loop.
    tree = loop.replace("joint: {type: revolute, parent: crank, at: {position: [0.2, 0, 0]}}",
                        "joint: {type: revolute, name: pin, parent: piston, stiffness: 3, "
                        "damping: 0.1, in_body: {position: [0.5, 0, 0]}}")
    tree = tree.replace("  - {name: pin, between: [rod, piston], type: revolute, "
                        "at: {position: [0.5, 0, 0]}, stiffness: 3, damping: 0.1}",
                        "  - {name: tip, between: [crank, rod], type: revolute, "
                        "at: {position: [0.2, 0, 0]}}")
    tree = tree.replace("rod: 0,", "pin: 0,")
    ends = []
    for text in (loop, tree):
        path = tmp_path / "scene.yaml"
        path.write_text(text)
        done = run("run", path, "--json", "--set", "time.end=2", "--set", "metrics[x_end].at=2",
                   "--set", "time.step=2.5e-4")
        assert done.code == 0, done.err
        ends.append(json.loads(done.out)["metrics"]["x_end"])
    assert abs(ends[0] - ends[1]) < 1e-4, ends


def test_a_step_has_no_memory_outside_the_state(run, tmp_path):
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    for out, end in ((whole, 0.4), (part, 0.2)):
        assert run("run", ROOT / "scenes/loops/bricard.yaml", "-q", "-o", out, "--set",
                   f"time.end={end}", "--set", "output.checkpoint=0.1", "--set",
                   "metrics[P3_x_end].at=0").code == 0
    # Up to 0.2 s the same bits: a step has no memory outside the state.
    rows = [run("csv", f, "-c", "t,q,v").out.splitlines()[:21] for f in (whole, part)]
    assert rows[0] == rows[1]


# what is replaced, by what, the path, words of the message
CASES = {
    "unknown-body": ("[rod, piston]", "[rod, pistol]", "loops[0].between", ["'pistol'"]),
    "same-body": ("[rod, piston]", "[rod, rod]", "loops[0].between", ["two bodies", "'rod' twice"]),
    "one-body": ("[rod, piston]", "rod", "loops[0].between", ["two names"]),
    "no-between": ("between: [rod, piston], ", "", "loops[0].between", ["there is none"]),
    "taken-name": ("{name: pin", "{name: crank", "loops[0].name", ["'crank'", "taken"]),
    "no-name": ("{name: pin, ", "{", "loops[0].name", ["there is none"]),
    "spherical-in-the-plane": ("piston], type: revolute", "piston], type: spherical", "loops[0]",
                               ["planar model", "spherical"]),
    "tilted-in-the-plane": ("piston], type: revolute", "piston], type: revolute, axis: [0, 1, 0]",
                            "loops[0].axis", ["z only"]),
    "floating": ("piston], type: revolute", "piston], type: floating", "loops[0].type",
                 ["no loop"]),
    "unknown-key": ("piston], type: revolute", "piston], type: revolute, parent: rod",
                    "loops[0].parent", ["unknown key"]),
    "open": ("rod: 0,", "rod: 0.3,", "loops[0]", ["'pin'", "open by 0.14"]),
    "start-of-a-loop": ("rod: 0,", "pin: 0,", "initial.pin", ["follows"]),
    "rates": ("piston: 0.7}", "piston: {q: 0.7, v: 5}}", "initial", ["'piston'", "rate of 5"]),
    "root-fixed": ("time: {step: 1 ms, end: 10}",
                   "integrator: {projection: root-fixed}\ntime: {step: 1 ms, end: 10}",
                   "integrator.projection", ["cannot close loops"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_loops(run, tmp_path, case):
    old, new, path, words = CASES[case]
    assert BASE.count(old) == 1
    text = BASE.replace(old, new)
    (tmp_path / "scene.yaml").write_text(text)
    done = run("run", "scene.yaml", cwd=tmp_path)
    print(done.err.rstrip())
    assert done.code == 2 and done.err.count("\n") == 1
    assert done.err.startswith("saltus: scene.yaml:") and f": {path}: " in done.err
    for word in words:
        assert word in done.err
