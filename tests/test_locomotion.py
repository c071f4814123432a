"""The locomotion controller from scenes: it stands, walks, trots, turns, stops, pronks and recovers,
on flat and on rough ground, on robots of other proportions; falls are named; bad input is told."""
import csv
import io
import json
import math
import re
from pathlib import Path

import pytest
import yaml

ROBOTS = Path(__file__).resolve().parent.parent.parent / "shared/robots"


@pytest.fixture(scope="module")
def trot(scenes):
    return yaml.safe_load((scenes / "p2/trot-controlled.yaml").read_text())


@pytest.fixture
def walked(run, scenes, tmp_path):
    """walked(scene, ...) -> the summary of a scene that is a mapping, beside P2's robot."""
    def go(scene, code=0, timeout=300):
        for robot in scene.get("robots", []):
            if not Path(robot["file"]).is_absolute():
                copy = tmp_path / robot["file"]
                copy.write_text((scenes / "p2" / robot["file"]).read_text())
        path = tmp_path / "scene.yaml"
        path.write_text(yaml.safe_dump(scene))
        done = run("run", path, "--json", timeout=timeout)
        assert done.code == code, done.err
        return json.loads(done.out) if code == 0 else done.err
    return go


def upright(summary, forward=None, yaw_rate=None, lateral=0.0):
    """The robot has not fallen, every step was solved, and it moves as it is told."""
    told = summary["locomotion"]
    print({k: told[k] for k in ("forward", "lateral", "yaw_rate", "height", "largest_tilt",
                                "saturated")})
    assert told["fell"] is None, told["fell"]
    assert summary["unconverged_steps"] == 0
    assert summary["max_penetration"] < 1e-6
    assert told["infeasible"] == 0
    # A trot's mean velocity is the commanded one but for what the stance gives way: 10 %.
    if forward is not None:
        assert told["forward"]["wanted"] == pytest.approx(forward, abs=1e-9)
        assert told["forward"]["mean"] == pytest.approx(forward, abs=0.1 * abs(forward) + 0.01)
        assert told["lateral"]["mean"] == pytest.approx(lateral, abs=0.03)
    if yaw_rate is not None:
        assert told["yaw_rate"]["wanted"] == pytest.approx(yaw_rate, abs=1e-9)
        assert told["yaw_rate"]["mean"] == pytest.approx(yaw_rate, abs=0.1 * abs(yaw_rate) + 0.01)
    return told


# --- P2's robot -----------------------------------------------------------------------------------

def test_stands(summary):
    told = upright(summary("p2/stand-controlled"))
    assert told["height"]["mean"] == pytest.approx(0.35, abs=2e-3)
    assert told["largest_tilt"] < 0.02


def test_follows_0_4_m_s(summary):
    upright(summary("p2/trot-controlled", "time.end=7"), forward=0.4, yaw_rate=0)


def test_stops(run, scenes, tmp_path):
    out = tmp_path / "run.h5"
    assert run("run", scenes / "p2/trot-controlled.yaml", "-q", "-o", out, timeout=300).code == 0
    rows = csv.reader(io.StringIO(run("csv", out, "-t", "frames", "-c", "t,com").out))
    next(rows)
    at = {round(float(t), 6): float(x) for t, x, *_ in rows}
    assert at[7.0] - at[0.0] > 1.8  # it has come far, and then stands
    assert abs(at[10.0] - at[9.7]) < 2e-3


def test_turns_at_0_5_rad_s(summary):
    upright(summary("p2/turn"), forward=0, yaw_rate=0.5)


@pytest.mark.parametrize("at", [3.1, 3.3, 3.5, 3.7])
@pytest.mark.parametrize("side", [13.5, -13.5])
def test_survives_a_push(summary, at, side):
    """0.5 m/s times 27 kg at the trunk, in any phase and from either side."""
    upright(summary("p2/push", f"pushes[0].at={at}", f"pushes[0].impulse=[0, {side}, 0]"),
            forward=0.4, yaw_rate=0)


@pytest.mark.parametrize("seed", [3, 5, 7])
def test_rough_ground_of_3_cm(summary, seed):
    """Before the push it follows; it stays on its legs after it."""
    field = f"obstacles[0].generator.seed={seed}"
    told = upright(summary("p2/rough", field, "time.end=6"))
    assert told["forward"]["wanted"] == pytest.approx(0.4)
    assert told["forward"]["mean"] == pytest.approx(0.4, abs=0.04)
    upright(summary("p2/rough", field))


def test_rough_ground_turning(summary):
    told = upright(summary("p2/rough", "locomotion.velocity={yaw_rate: 0.5}"), yaw_rate=0.5)
    assert math.hypot(told["forward"]["mean"], told["lateral"]["mean"]) < 0.1


def test_walks(summary):
    upright(summary("p2/walk"), forward=0.08)


def test_pronks(summary):
    upright(summary("p2/pronk"), forward=0.2)


@pytest.mark.parametrize("dt", ["2.5e-3", "1e-3", "0.5e-3"])
def test_any_step(summary, dt):
    upright(summary("p2/trot-controlled", f"time.step={dt}", "time.end=6"), forward=0.4, yaw_rate=0)


def test_resumes_bit_for_bit(run, scenes, tmp_path):
    """From a checkpoint in the middle of the trot and between two ticks, summary and all."""
    whole, resumed = tmp_path / "whole.h5", tmp_path / "resumed.h5"
    sets = ["--set", "output.checkpoint=1.234", "--set", "time.end=2"]
    first = run("run", scenes / "p2/trot-controlled.yaml", "--json", "-o", whole, *sets)
    again = run("run", "--resume", whole, "--json", "-o", resumed)
    assert first.code == 0 and again.code == 0, first.err + again.err
    frames = [run("csv", path, "-t", "frames").out for path in (whole, resumed)]
    assert frames[0] == frames[1]
    told = [json.loads(done.out)["locomotion"] for done in (first, again)]
    assert told[0] == told[1]


# --- other robots ---------------------------------------------------------------------------------

def quadruped(length=0.3, width=0.2, upper=0.25, lower=0.22, offset=0.06, mass=10.0, foot=0.015):
    """A robot of our own as bodies of a scene, knees backwards, hips that lie outside the trunk."""
    bodies = [{"name": "body", "mass": mass, "solid": {"shape": "box", "size": [length, width, 0.08]},
               "joint": {"type": "floating"},
               "shapes": [{"type": "box", "name": "body", "size": [length, width, 0.08]}]}]
    initial = {"body": {"q": [0, 0, 0.8 * (upper + lower) + foot, 1, 0, 0, 0]}}
    # Foot below the hip: by the cosine rule.
    reach = 0.8 * (upper + lower)
    knee = math.acos((reach**2 - upper**2 - lower**2) / (2 * upper * lower))
    hip = math.atan2(lower * math.sin(knee), upper + lower * math.cos(knee))
    for x, fore in ((1, "front"), (-1, "rear")):
        for y, side in ((1, "left"), (-1, "right")):
            leg = f"{fore}_{side}"
            m = mass / 10
            bodies += [
                {"name": f"{leg}_a", "mass": m, "solid": {"shape": "sphere", "radius": 0.04},
                 "joint": {"type": "revolute", "name": f"{leg}_1", "parent": "body",
                           "axis": [1, 0, 0], "at": {"position": [x * length / 2, y * width / 2, 0]}}},
                {"name": f"{leg}_b", "mass": m, "com": [0, 0, -upper / 2],
                 "solid": {"shape": "box", "size": [0.04, 0.04, upper]},
                 "joint": {"type": "revolute", "name": f"{leg}_2", "parent": f"{leg}_a",
                           "axis": [0, 1, 0], "at": {"position": [0, y * offset, 0]}}},
                {"name": f"{leg}_c", "mass": m / 3, "com": [0, 0, -lower / 2],
                 "solid": {"shape": "box", "size": [0.02, 0.02, lower]},
                 "joint": {"type": "revolute", "name": f"{leg}_3", "parent": f"{leg}_b",
                           "axis": [0, 1, 0], "at": {"position": [0, 0, -upper]}},
                 "shapes": [{"type": "sphere", "name": f"{leg}_foot", "radius": foot,
                             "at": {"position": [0, 0, -lower]}}]}]
            initial[f"{leg}_2"], initial[f"{leg}_3"] = hip, -knee
    return bodies, initial


def own_scene(forward=0.3, gait="trot", end=6.0, **proportions):
    bodies, initial = quadruped(**proportions)
    return {"saltus": 1, "bodies": bodies, "obstacles": [{"name": "ground", "type": "half-space"}],
            "contacts": [{"between": ["ground", "*"], "friction": 0.7}],
            "locomotion": {"gaits": [{"type": "stand"}, {"type": gait, "from": 0.5}],
                           "velocity": {"forward": {"type": "table", "times": [1, 2],
                                                    "values": [0, forward]}},
                           "measured_from": 3.0},
            "initial": initial, "time": {"step": 1e-3, "end": end}}


@pytest.mark.parametrize("proportions", [{}, {"length": 0.7, "width": 0.3, "mass": 40.0},
                                         {"upper": 0.12, "lower": 0.12, "length": 0.25,
                                          "width": 0.12, "mass": 3.0, "offset": 0.03}])
def test_other_proportions(walked, proportions):
    upright(walked(own_scene(**proportions)), forward=0.3, yaw_rate=0)


def a1(kind, **changes):
    file = ROBOTS / {"urdf": "urdf/unitree_a1.urdf", "mjcf": "mjcf/unitree_a1.xml"}[kind]
    if not file.exists():
        pytest.skip(f"{file} is not there")
    joints = {f"{leg}_{joint}_joint": angle for leg in ("FR", "FL", "RR", "RL")
              for joint, angle in (("hip", 0.0), ("thigh", 0.9), ("calf", -1.8))}
    robot = {"file": str(file), "package_paths": [str(ROBOTS)], "base": "floating", "at": {"position": [0, 0, 0.28 if kind == "urdf" else -0.15]}}
    scene = {"saltus": 1, "robots": [robot],
             "obstacles": [{"name": "ground", "type": "half-space"}],
             "contacts": [{"between": ["ground", "*"], "friction": 0.8}],
             "locomotion": {"gaits": [{"type": "stand"}, {"type": "trot", "from": 0.5}],
                            "velocity": {"forward": {"type": "table", "times": [1, 2],
                                                     "values": [0, 0.4]}},
                            "height": 0.27, "measured_from": 3.0},
             "initial": joints, "time": {"step": 1e-3, "end": 8.0}}
    scene["locomotion"].update(changes.pop("locomotion", {}))
    scene.update(changes)
    return scene


@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_the_a1_trots(walked, kind):
    upright(walked(a1(kind)), forward=0.4)


def test_the_a1_turns(walked):
    upright(walked(a1("urdf", locomotion={"velocity": {"yaw_rate": 0.5}})), yaw_rate=0.5)


# --- falls ----------------------------------------------------------------------------------------

def test_a_fall_is_named(run, scenes):
    done = run("run", scenes / "p2/push.yaml", "--set", "pushes[0].impulse=[0, 90, 0]", timeout=300)
    assert done.code == 0, done.err
    assert "the robot fell at t = 3." in done.out, done.out


def test_weak_motors_are_named(summary):
    """They reach their limits, or the robot falls; the summary says which."""
    told = summary("p2/trot-controlled", "locomotion.limit=16",
                   "locomotion.velocity.forward=1.5", "time.end=6")["locomotion"]
    if told["fell"] is None:
        assert told["saturated"] > 0
    else:
        assert told["fell"]["t"] > 0 and told["fell"]["why"]


# --- bad input ------------------------------------------------------------------------------------

@pytest.mark.parametrize("change, message", [
    ("locomotion.limit=3", r"locomotion.limit: standing takes \S+ N m at joint '\w+_\w+', its limit "
                           r"is 3 N m"),
    ("locomotion.height=0.5", r"locomotion.height: leg LF cannot reach the ground"),
    ("locomotion.gaits[1].duty=0", r"gaits\[1\].duty: expected a number"),
    ("locomotion.gaits[1].duty=1.5", r"gaits\[1\].duty"),
    ("locomotion.gaits[1].phases=[0, 0.5, 1.5, 0]", r"gaits\[1\].*expected phases"),
    ("locomotion.gaits[1].phases=[0, 0.5]", r"gaits\[1\].phases: expected four numbers"),
    ("locomotion.gaits[1].frequency=50", r"gaits\[1\]: expected a swing and a stance"),
    ("locomotion.gaits[1].frequency=0.1", None),
    ("locomotion.gaits[2].from=0.2", r"gaits\[2\].from: expected a time after"),
    ("locomotion.gaits[1]={type: pronk, from: 1, frequency: 0.8, duty: 0.3}", r"gaits\[1\]: flights"),
    ("locomotion.trunk=LF_hip", r"locomotion.trunk: expected a body that floats"),
    ("locomotion.trunk=nobody", r"locomotion.trunk: no body is called 'nobody'"),
    ("locomotion.feet=[LF_foot, RF_foot]", r"locomotion.feet: expected four names"),
    ("locomotion.feet=[LF_foot, LF_shank, LH_foot, RH_foot]", r"are of one leg"),
    ("contacts[0].friction=0", r"expected contacts with friction"),
    ("integrator.type=event-driven", r"locomotion: expected time stepping"),
    ("gravity=[0, 0, 0]", r"expected gravity"),
    ("gravity=[1, 0, -9]", r"expected gravity against z"),
    ("coordinates=maximal", r"expected a robot on a floating trunk, in minimal coordinates"),
])
def test_bad_input(run, scenes, change, message):
    done = run("run", scenes / "p2/trot-controlled.yaml", "--set", change, "--set", "time.end=0.01")
    if message is None:
        assert done.code == 0, done.err
        return
    assert done.code == 2, done.err
    assert re.search(message, done.err), done.err
    assert len(done.err.strip().splitlines()) == 1


def test_three_legs_are_refused_with_the_line(run, tmp_path):
    scene = own_scene()
    scene["bodies"] = [b for b in scene["bodies"] if "rear_left" not in b["name"]]
    scene["initial"] = {k: v for k, v in scene["initial"].items() if "rear_left" not in k}
    path = tmp_path / "three.yaml"
    path.write_text(yaml.safe_dump(scene))
    done = run("run", path)
    line = 1 + path.read_text().splitlines().index("locomotion:")
    assert done.code == 2
    assert f"three.yaml:{line}" in done.err or f"three.yaml:{line + 1}" in done.err, done.err
    assert "expected four legs" in done.err and "it has 3: front_left_foot" in done.err, done.err


def test_legs_of_two_joints_are_refused(run, scenes, tmp_path):
    scene = yaml.safe_load((scenes / "robots/quadruped.yaml").read_text())
    scene["locomotion"] = {}
    (tmp_path / "quadruped.urdf").write_text((scenes / "robots/quadruped.urdf").read_text())
    path = tmp_path / "two.yaml"
    path.write_text(yaml.safe_dump(scene))
    done = run("run", path)
    assert done.code == 2 and "has 2 joints: expected 3 to 6" in done.err, done.err


def test_no_robot_is_refused(run, tmp_path):
    path = tmp_path / "ball.yaml"
    path.write_text("saltus: 1\nbodies: [{name: b, mass: 1, solid: {shape: sphere, radius: 1}, "
                    "joint: {type: floating}}]\ntime: {end: 1}\nlocomotion: {}\n")
    done = run("run", path)
    assert done.code == 2 and "no floating body has joints" in done.err, done.err


def test_a_push_needs_a_body(run, scenes):
    done = run("run", scenes / "p2/push.yaml", "--set", "pushes[0].body=cat")
    assert done.code == 2 and "pushes[0].body: no body is called 'cat'" in done.err, done.err
