"""Sensors from scenes: closed forms, times, resumed runs, and what bad ones are told."""
import csv
import io

import pytest

SCENE = """\
saltus: 1
bodies:
  - name: ball
    mass: 2
    solid: {shape: sphere, radius: 0.1}
    joint: {type: floating}
    shapes: [{name: ball, type: sphere, radius: 0.1}]
  - {name: arm, mass: 1, inertia: [1, 1, 1], joint: {type: revolute, axis: [0, 1, 0]}}
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [ball, floor], friction: 0.5}]
initial: {ball: {q: [0, 0, 0.1, 1, 0, 0, 0]}, arm: {v: 1}}
time: {step: 1e-3, end: 0.5}
output: {checkpoint: 0.2}
sensors:
  - {name: imu, type: imu, body: ball, rate: 500}
  - {name: foot, type: wrench, shape: ball, rate: 100, delay: 25 ms}
  - {name: down, type: contact, body: ball}
  - {name: angle, type: encoder, joints: arm, rate: 130, delay: 43 ms, noise: {std: [0.01, 0.2], seed: 5}}
  - {name: torque, type: torque, joints: arm, rate: 10}
  - {name: com, type: com, rate: 10}
  - {name: pose, type: pose, body: ball, frame: {position: [0, 0, 0.1]}, rate: 10, noise: {std: 0.01}}
"""


def table(run, path, name):
    done = run("csv", path, "-t", f"sensor_{name}")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    return {k.split(" ")[0]: [float(r[k]) for r in rows] for k in rows[0]}


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    path = tmp_path_factory.mktemp("sensors") / "sensors.yaml"
    path.write_text(SCENE)
    return path


@pytest.mark.parametrize("integrator", ["moreau", "event-driven"])
def test_readings(run, scene, tmp_path, integrator):
    out = tmp_path / "run.h5"
    done = run("run", scene, "-q", "-o", out, "--set", f"integrator.type={integrator}")
    assert done.code == 0, done.err
    imu = table(run, out, "imu")
    assert imu["t"] == pytest.approx([2e-3 * k for k in range(251)], abs=1e-12)
    z = "specific_force[2]"
    assert imu[z][1:] == pytest.approx([9.81] * 250, abs=1e-8)
    assert imu[z][0] != imu[z][0], "no step, no acceleration"
    foot = table(run, out, "foot")
    assert foot["arrived"] == pytest.approx([t + 0.025 for t in foot["t"]], abs=1e-12)
    assert foot["t"] == pytest.approx([0.01 * k for k in range(48)], abs=1e-12)
    assert table(run, out, "down")["contact"][1:] == [1] * 500
    com = table(run, out, "com")
    assert len(com["t"]) == 6
    angle = table(run, out, "angle")
    x = angle["position"]
    assert any(abs(a - t) > 1e-4 for a, t in zip(x, angle["t"])), "noise"
    assert all(abs(a - t) < 0.06 for a, t in zip(x, angle["t"])), "the arm turns at 1 rad/s"


def test_the_same_bits_again_and_resumed(run, scene, tmp_path):
    runs = [tmp_path / f"{k}.h5" for k in "abc"]
    for path in runs[:2]:
        assert run("run", scene, "-q", "-o", path).code == 0
    text = [{n: run("csv", p, "-t", f"sensor_{n}").out for n in ("imu", "angle", "pose", "foot")}
            for p in runs[:2]]
    assert text[0] == text[1]
    # Resumed from its last checkpoint, at 0.4 s.
    done = run("run", "--resume", runs[0], "-q", "-o", runs[2])
    assert done.code == 0, done.err
    assert {n: run("csv", runs[2], "-t", f"sensor_{n}").out for n in text[0]} == text[0]


def test_another_seed_is_another_noise(run, scene, tmp_path):
    columns = []
    for seed in (5, 6):
        out = tmp_path / f"{seed}.h5"
        changed = tmp_path / f"{seed}.yaml"
        changed.write_text(SCENE.replace("seed: 5", f"seed: {seed}"))
        assert run("run", changed, "-q", "-o", out).code == 0
        columns.append(table(run, out, "angle")["position"])
    assert columns[0] != columns[1]


def test_info_lists_them(run, scene, tmp_path):
    out = tmp_path / "run.h5"
    assert run("run", scene, "-q", "-o", out).code == 0
    assert "sensor_imu" in run("info", out).out


@pytest.mark.parametrize("entry,told", [
    ("{name: a, type: encoder, joints: nope}", ["sensors[0].joints", "no joint matches nope"]),
    ("{name: a, type: imu, body: nope}", ["sensors[0].body", "no body is called 'nope'"]),
    ("{name: a, type: wrench, shape: nope}", ["sensors[0].shape", "no shape is called 'nope'"]),
    ("{name: a, type: wrench, shape: floor}", ["sensors[0].shape", "fixed in the world"]),
    ("{name: a, type: wrench}", ["sensors[0]", "either a body or a shape"]),
    ("{name: a, type: contact, body: ball, shape: ball}", ["either a body or a shape"]),
    ("{name: a, type: com, rate: -1}", ["sensors[0].rate"]),
    ("{name: a, type: com, rate: 2000}", ["sensors[0].rate", "up to 1000 Hz"]),
    ("{name: a, type: com, delay: 0.1}", ["sensors[0].delay", "expected a rate"]),
    ("{name: a, type: com, rate: 10, delay: -0.1}", ["sensors[0].delay"]),
    ("{name: a, type: com, noise: {std: -1}}", ["sensors[0].noise.std"]),
    ("{name: a, type: com, noise: {std: [1, 1, 1]}}", ["sensors[0].noise.std", "expected 2"]),
    ("{name: a, type: com, noise: {std: 1, seed: 0.5}}", ["sensors[0].noise.seed", "whole"]),
    ("{name: a, type: com, bias: [1]}", ["sensors[0].bias", "each of 6 values"]),
    ("{name: a, type: encoder, joints: arm, resolution: -1}", ["sensors[0].resolution"]),
    ("{name: a, type: com, resolution: 1}", ["sensors[0]", "resolution"]),
    ("{name: a b, type: com}", ["sensors[0].name", "letters"]),
    ("{name: '', type: com}", ["sensors[0].name"]),
    ("{type: com}", ["sensors[0]", "name"]),
    ("{name: a, type: sonar}", ["sensors[0].type"]),
])
def test_bad_sensors(run, tmp_path, entry, told):
    scene = tmp_path / "bad.yaml"
    head = SCENE[:SCENE.index("sensors:")]
    scene.write_text(head + f"sensors:\n  - {entry}\n")
    done = run("run", scene, "-q")
    assert done.code == 2, done.err
    line = head.count("\n") + 2
    assert f"bad.yaml:{line}" in done.err, done.err
    for text in told:
        assert text in done.err, done.err


def test_two_of_a_name(run, tmp_path):
    scene = tmp_path / "bad.yaml"
    scene.write_text(SCENE.replace("name: foot", "name: imu"))
    done = run("run", scene, "-q")
    assert done.code == 2 and "sensors[1].name" in done.err and "is taken" in done.err
