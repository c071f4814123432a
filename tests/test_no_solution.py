"""Scenes whose contacts or joints have no solution say which, when and by how much; scenes whose
contacts do not determine their forces say so."""
import json

import h5py
import numpy as np
import pytest
import yaml

MOVE = "{type: move, from: %s, to: %s, duration: 1}"
WALL = ("{name: %s, mass: 1, inertia: [1, 1, 1], joint: {type: prismatic, axis: [%s], prescribed: "
        "%s}, shapes: [{type: box, size: [0.1, 0.5, 0.5]}]}")
BALL = ("{name: ball, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}, "
        "shapes: [{type: sphere, radius: 0.1}]}")


def scene(bodies, more=""):
    return ("saltus: 1\ngravity: [0, 0, 0]\nbodies:\n" + "".join(f"  - {b}\n" for b in bodies)
            + more + "time: {step: 1e-3, end: 0.6}\n")


SQUEEZED = scene([WALL % ("left", "1, 0, 0", MOVE % (-0.2, -0.05)),
                  WALL % ("right", "1, 0, 0", MOVE % (0.2, 0.05)), BALL],
                 'contacts: [{between: ["*", ball], friction: 0.3}]\n')
PRESS = scene([WALL % ("press", "0, 0, 1", MOVE % (0.3, 0.2))],
              'obstacles: [{name: floor, type: half-space}]\n'
              'contacts: [{between: [press, floor]}]\n')
SLIDES = scene(["{name: cart, mass: 1, inertia: [1, 1, 1], joint: {type: prismatic}}"],
               "loops:\n"
               "  - {name: one, between: [world, cart], type: prismatic, prescribed: %s}\n"
               "  - {name: two, between: [world, cart], type: prismatic, prescribed: %s}\n"
               % (MOVE % (0, 1), MOVE % (0, -1)))


def cycloid(t):
    """Of the signal `move`, and its rate."""
    return t - np.sin(2 * np.pi * t) / (2 * np.pi), 1 - np.cos(2 * np.pi * t)


def first_contact(travel, gap):
    """The first mid-point of a step of 1 ms where a wall of this travel has crossed the gap."""
    t = np.arange(0, 1000) * 1e-3
    return t[np.argmax(travel * cycloid(t + 5e-4)[0] >= gap)] + 1e-3


# Both walls close at the same speed and the ball stays: each is missed by that speed.
@pytest.mark.parametrize("text, blamed, time, speed", [
    (SQUEEZED, {"contact left - ball", "contact right - ball"}, first_contact(0.15, 0.05), 0.15),
    (PRESS, {"contact press - floor"}, first_contact(0.1, 0.05), 0.1),
    (SLIDES, {"joint coordinate one", "joint coordinate two"}, None, 1.0),
], ids=["squeezed", "press", "slides"])
def test_no_solution(run, tmp_path, text, blamed, time, speed):
    path, out, dump = tmp_path / "scene.yaml", tmp_path / "run.h5", tmp_path / "step.json"
    path.write_text(text)
    done = run("run", path, "--json", "-o", out, "--dump", dump, timeout=120)
    assert done.code == 1
    print(done.err)
    s = json.loads(done.out)
    found = s["no_solution"]
    assert set(found["at"]) == blamed and found["count"] == len(blamed)
    for name in blamed:
        assert name in done.err
    assert f"t = {found['t']:.6g} s" in done.err and "has no solution" in done.err
    if time:
        assert found["t"] == pytest.approx(time, abs=1.1e-3)
    # What the step asks for is the speed at its end, to the compliance of the proof.
    assert found["miss"] == pytest.approx(speed * cycloid(found["t"])[1], rel=1e-3)
    # The run file is whole, and the dumped step says the same.
    with h5py.File(out) as f:
        assert json.loads(bytes(f["summary"][()]))["no_solution"] == found
        assert len(f["steps/t"]) == s["steps"] == 600
    solved = run("solve", dump)
    assert solved.code == 1 and "has no solution" in solved.out
    for name in blamed:
        assert name in solved.out


def test_a_heap_without_a_solution_names_its_contacts(run, tmp_path):
    """Forty-two balls in a row between walls that close: no dense problem (docs/solvers.md)."""
    n = 42
    reach = 0.1 * n + 0.1
    walls = [WALL % (name, "1, 0, 0", MOVE % (side * (reach + 0.05), side * (reach - 0.1)))
             for name, side in (("left", -1), ("right", 1))]
    starts = "".join(f"  ball{i}: {{q: [{0.2 * i - 0.1 * (n - 1)}, 0, 0, 1, 0, 0, 0]}}\n" for i in range(n))
    path = tmp_path / "scene.yaml"
    path.write_text(scene(walls + [BALL.replace("name: ball", f"name: ball{i}") for i in range(n)],
                          'contacts: [{between: ["*", "ball*"], friction: 0.3}]\ninitial:\n' + starts))
    when = first_contact(0.15, 0.1)
    done = run("run", path, "--json", "--set", f"time.end={when + 2e-3}", timeout=120)
    assert done.code == 1
    found = json.loads(done.out)["no_solution"]
    assert found["t"] == pytest.approx(when, abs=1.1e-3)
    assert found["count"] == n + 1  # every contact from wall to wall
    assert found["at"][:2] == ["contact left - ball0", f"contact right - ball{n - 1}"]
    assert "contact left - ball0" in done.err and "has no solution" in done.err
    # The least violation: what the walls close by is shared in the ratio of the contacts' own 1/m, two for
    # balls that both give way and one for a ball at a wall.
    closing = 2 * 0.15 * cycloid(found["t"])[1]
    assert found["miss"] == pytest.approx(closing * 2 / (2 * (n - 1) + 2), rel=1e-3)


def test_an_unconverged_step_with_a_solution_is_not_called_so(run, scenes):
    done = run("run", scenes / "contact/tower.yaml", "--json", "--set", "solver.type=jor", "--set",
               "solver.max_iterations=2", "--set", "time.end=0.02")
    s = json.loads(done.out)
    assert done.code == 1 and s["unconverged_steps"] > 0 and "no_solution" not in s


def box_on_floor(n, friction):
    text = {"saltus": 1,
            "bodies": [{"name": f"box{i}", "mass": 1, "joint": {"type": "floating"},
                        "solid": {"shape": "box", "size": [0.2, 0.2, 0.2]},
                        "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]} for i in range(n)],
            "obstacles": [{"name": "floor", "type": "half-space"}],
            "contacts": [{"between": ["floor", "*"], "friction": friction}],
            "initial": {f"box{i}": {"q": [i, 0, 0.1, 1, 0, 0, 0]} for i in range(n)},
            "time": {"step": 1e-3, "end": 0.05}}
    return yaml.safe_dump(text)


# A box on four points: 12 rows that stick, or 4 normals, on six freedoms, of which normals close 3.
# With the smallest forces all points carry and none is at its cone; others may be as good.
@pytest.mark.parametrize("friction, left_open", [(0.5, 6), (0, 1)])
def test_undetermined_forces_are_reported(run, tmp_path, friction, left_open):
    path, out = tmp_path / "scene.yaml", tmp_path / "run.h5"
    path.write_text(box_on_floor(2, friction))
    least = ("--set", "solver.least_norm=true")
    done = run("run", path, "--json", "-o", out, *least)
    assert done.code == 0, done.err
    u = json.loads(done.out)["undetermined_steps"]
    assert u == {"examined": 5, "found": 5, "left_out": 0, "most": 2 * left_open, "first_step": 10,
                 "first_t": 0.01, "count": 2,
                 "at": ["contact floor - box0", "contact floor - box1"]}
    with h5py.File(out) as f:
        assert f["frames/undetermined"][:].tolist() == [0] + 5 * [2 * left_open]
        assert set(f["contacts/mode"][:]) == ({1} if friction else {3})
    text = run("run", path, *least).out
    assert "5 of 5 steps looked at leave impulses of contacts open" in text
    assert "contact floor - box0, contact floor - box1" in text


def test_determined_forces_are_not(run, scenes):
    s = json.loads(run("run", scenes / "bouncing-ball.yaml", "--json").out)
    assert s["undetermined_steps"]["found"] == 0 < s["undetermined_steps"]["examined"]


def test_least_norm_shares_evenly(run, tmp_path):
    """On request the forces of indeterminate contacts are the smallest: here a quarter each."""
    path, out = tmp_path / "scene.yaml", tmp_path / "run.h5"
    path.write_text(box_on_floor(1, 0.5))
    done = run("run", path, "-o", out, "--set", "solver.least_norm=true")
    assert done.code == 0, done.err
    with h5py.File(out) as f:
        load = f["contacts/normal_impulse"][:]
    assert len(load) == 20
    assert load == pytest.approx(9.81e-3 / 4, rel=1e-6)
