"""P1's jumping leg (scenes/p1/leg*.yaml) against recomputed values, and computed torque."""
import json
import math

import pytest

G = 9.81
PENDULUM = """saltus: 1
title: Two links follow
bodies:
  - {name: a, mass: 1, com: [0, 0, -0.2], inertia: [0.02, 0.02, 0.001], joint: {type: revolute, axis: [0, 1, 0]}}
  - {name: b, mass: 0.5, com: [0, 0, -0.2], inertia: [0.01, 0.01, 0.001],
     joint: {type: revolute, axis: [0, 1, 0], parent: a, at: {position: [0, 0, -0.4]}}}
computed_torque:
  joints: ["*"]
  rate: 1000
  follow:
    - {joint: a, reference: {type: sine, amplitude: 0.5, omega: 3, phase: 90 deg}, kp: 100, kd: 20}
    - {joint: b, reference: {type: sine, amplitude: 0.3, omega: 5, phase: 90 deg}, kp: 100, kd: 20}
initial: {a: 0.5, b: 0.3}
metrics: [{name: a, type: coordinate, joints: a, at: 2}, {name: b, type: coordinate, joints: b, at: 2}]
time: {step: 0.5 ms, end: 2}
"""


def summary(run, tmp_path, scene, *more):
    done = run("run", scene, "--json", "-o", tmp_path / "run.h5", *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_jump_from_the_guess(run, scenes, tmp_path):
    """Torques (0, 0.4, 1.2) N m from rest: values of a recomputation with the foot pinned until it lifts off."""
    found = summary(run, tmp_path, scenes / "p1/leg-jump.yaml")
    modes = json.loads(run("modes", tmp_path / "run.h5", "--json").out)
    lift_off = modes["sequence"][0]["to"]
    m = found["metrics"]
    rate = (m["com_end"] - m["com_middle"]) / 0.01 + G / 2 * 0.01  # in flight, at 0.01 s
    speed = rate + G * (0.01 - lift_off)
    rise = m["com_middle"] + rate**2 / (2 * G) - m["com_start"]
    print(f"lift-off {lift_off:.8f} (0.00534470) s, v2 {speed:.7f} (0.8086744) m/s, rise {rise:.7f} (0.0358109) m")
    # Friction 1e5 for a pinned foot: where the load vanishes the foot slips, 1/mu.
    assert lift_off == pytest.approx(0.00534470, rel=1e-5)
    assert speed == pytest.approx(0.8086744, rel=1e-5)
    assert rise == pytest.approx(0.0358109, rel=1e-5)
    assert abs(found["energy"]["integrator"]) < 1e-9


def test_the_foot_slips_when_the_cone_says_so(run, scenes, tmp_path):
    """A foot that sticks is asked for 1.8415986 N along the ground under a load of 34.1755752 N at the start: with one per
    cent less friction than that it slips at once, with one per cent more it stays for the first half millisecond."""
    asked = 1.8415986 / 34.1755752

    def foot(friction):
        found = summary(run, tmp_path, scenes / "p1/leg-jump.yaml", "--set", f"contacts[0].friction={friction}", "--set",
                        "time.end=0.001", "--set",
                        "metrics=[{name: x, type: position, probe: foot, axis: x, at: 0.0005}]")
        return found["metrics"]["x"]

    start = 0.03 + 0.0646 * math.sin(0.09) + 0.09 * math.sin(0.09 - 0.61)  # where it stands
    # The integrator keeps its tolerances, far below a nanometre.
    assert foot(1e5) == pytest.approx(start, abs=1e-12)
    assert foot(1.01 * asked) == pytest.approx(start, abs=1e-12)
    # What friction is short of, 0.01 mu N/m of the foot, acts for 0.5 ms: nanometres, and more the less there is.
    slips = [abs(foot(share * asked) - start) for share in (0.99, 0.95, 0.9)]
    assert slips[0] > 1e-9 and slips[0] < slips[1] < slips[2]


@pytest.mark.parametrize("posture, direction, directional, free", [
    ("guess", "-1,1,0", 112.93271340, 233.43681685),
    ("guess", "0,1,0", 265.37402916, 379.06885745),
    ("optimum", "-1,1,0", 268.13124865, 910.92762478),
])
def test_capability_from_the_command_line(run, scenes, posture, direction, directional, free):
    """Table 6.2's postures, the foot pinned: two recomputations agree to 1e-7 m/s^2, the digits printed."""
    change = []
    if posture == "optimum":
        s1, s2, s3 = (math.sin(a / 2) for a in (0.52, -0.5, -0.46))
        c1, c2, c3 = (math.cos(a / 2) for a in (0.52, -0.5, -0.46))
        q = [0, 1, 0, c3 * c2 * c1 + s3 * s2 * s1, c3 * c2 * s1 - s3 * s2 * c1, c3 * s2 * c1 + s3 * c2 * s1,
             s3 * c2 * c1 - c3 * s2 * s1]  # R3 R2 R1; the height changes nothing
        for key, value in (("body.q", q), ("coxa", 0.15), ("femur", 0.03), ("tibia", 0.67)):
            change += ["--set", f"initial.{key}={value}"]
    else:
        change = ["--set", "initial.body.q=[0,1,0,1,0,0,0]"]  # the pin holds, not the ground
    done = run("capability", scenes / "p1/leg-jump.yaml", "--point", "body", "--pin", "tibia:0,-0.09,0",
               "--direction", direction, "--json", *change)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    print(f"{posture} {direction}: directional {found['directional']['value']:.8f} ({directional}), "
          f"free {found['free']['value']:.8f} ({free}) m/s^2")
    assert found["directional"]["value"] == pytest.approx(directional, abs=1e-7)
    assert found["free"]["value"] == pytest.approx(free, abs=1e-7)


def test_cables_do_what_motors_do(run, scenes, tmp_path):
    motors = summary(run, tmp_path, scenes / "p1/leg.yaml")
    cables = summary(run, tmp_path, scenes / "p1/leg-cables.yaml")
    # Both work for the first 5 ms only.
    assert cables["energy"]["motors"] == pytest.approx(motors["energy"]["motors"], rel=1e-9)


@pytest.mark.parametrize("scene", ["leg", "leg-springs"])
def test_landing_gains_no_energy(run, scenes, tmp_path, scene):
    found = summary(run, tmp_path, scenes / f"p1/{scene}.yaml")
    assert found["impacts_that_gained"] == 0
    assert found["energy"]["contacts"] + found["energy"]["friction"] <= 1e-9
    assert found["metrics"]["apex"] > found["metrics"]["com_start"] + 0.02


def test_a_pendulum_follows(run, tmp_path):
    scene = tmp_path / "pendulum.yaml"
    scene.write_text(PENDULUM)
    off = []
    for rate in (1000, 2000):
        m = summary(run, tmp_path, scene, "--set", f"computed_torque.rate={rate}")["metrics"]
        off.append(math.hypot(m["a"] - 0.5 * math.cos(6), m["b"] - 0.3 * math.cos(10)))
    # Torques are held from tick to tick: of first order in its length.
    assert off[0] < 4e-4 and 1.8 < off[0] / off[1] < 2.2


def test_the_leg_follows_while_its_foot_holds(run, scenes, tmp_path):
    """Three torques hold the centre of the body and none is left for its attitude; after some 15 ms the foot lifts."""
    text = (scenes / "p1/leg-jump.yaml").read_text()
    head, rest = text.split("motors:", 1)
    start = rest[rest.index("initial:"):rest.index("time:")]
    scene = tmp_path / "leg.yaml"
    scene.write_text(head + """computed_torque:
  joints: [coxa, femur, tibia]
  limit: 2.5
  rate: 4000
  feet: [{body: tibia, point: [0, -0.09, 0]}]
  follow:
    - {body: body, x: 0, z: 0, kp: 2500, kd: 100,
       y: {type: sine, amplitude: 0.002, omega: 20, phase: 90 deg, offset: 0.17044227372356333}}
""" + start + """time: {step: 0.05 ms, end: 0.01}
probes: [{name: centre, body: body}]
metrics: [{name: y, type: position, probe: centre, axis: y, at: 0.01}, {name: x, type: position, probe: centre, axis: x, at: 0.01}]
""")
    off = []
    for rate in (2000, 4000):
        m = summary(run, tmp_path, scene, "--set", f"computed_torque.rate={rate}")["metrics"]
        off.append(math.hypot(m["x"], m["y"] - 0.17044227372356333 - 0.002 * math.cos(0.2)))
    print(off)
    # Torques are held from tick to tick: of first order in its length.
    assert off[0] < 2e-6 and 1.7 < off[0] / off[1] < 2.3


def test_a_quadruped_follows(run, scenes, tmp_path):
    m = summary(run, tmp_path, scenes / "p2/follow.yaml")["metrics"]
    assert m["low"] == pytest.approx(0.31, abs=2e-5) and m["high"] == pytest.approx(0.35, abs=2e-5)


@pytest.mark.parametrize("change, message", [
    ("computed_torque.follow[0].joint=c", "no joint coordinate is called 'c'"),
    ("computed_torque.joints=[zz]", "expected joints that are driven"),
])
def test_bad_input(run, tmp_path, change, message):
    scene = tmp_path / "pendulum.yaml"
    scene.write_text(PENDULUM)
    done = run("run", scene, "--set", change)
    assert done.code == 2 and message in done.err
