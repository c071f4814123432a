"""Sensors and motors from Python: readings of runs, in callbacks, of simulations and environments."""
import math

import numpy as np
import pytest

import saltus

SCENE = """\
saltus: 1
bodies:
  - {name: rod, mass: 1, com: [0, 0, -0.5], inertia: [0.01, 0.01, 0.01], joint: {type: revolute, axis: [0, 1, 0]}}
initial: {rod: 1}
sensors:
  - {name: angle, type: encoder, joints: rod, rate: 100, delay: 20 ms}
  - {name: imu, type: imu, body: rod, noise: {std: 0.1, seed: 3}}
time: {step: 1e-3, end: 0.5}
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(SCENE)
    return path


def test_run_has_readings(scene):
    run = saltus.run(scene, record=True)
    t, values = run.sensor("angle")
    assert np.allclose(t, 0.01 * np.arange(len(t)), atol=1e-12) and values.shape == (len(t), 2)
    frames = np.asarray(run["frames/coordinate"]).ravel()
    assert np.array_equal(values[:, 0], frames[:len(t)]), "frames come every 10 ms, too"
    imu = run.sensor("imu")
    assert imu["specific_force"].shape == (501, 3) and np.isnan(imu["specific_force"][0]).all()
    assert np.allclose(imu.arrived, imu.t)
    with pytest.raises(saltus.InputError, match="no sensor is called 'nose'.*angle, imu"):
        run.sensor("nose")
    with pytest.raises(saltus.InputError, match="has no 'smell'"):
        imu["smell"]


def test_a_callback_sees_what_has_arrived(scene):
    seen = []

    def look(t, q, v, tau, work, sensors):
        seen.append((t, sensors["angle"].copy(), sensors["imu"]))

    run = saltus.run(scene, force=look, record=True)
    readings = run.sensor("angle")
    for t, angle, _ in seen:
        known = np.flatnonzero(readings.arrived <= t)
        if len(known):
            assert np.array_equal(angle, readings.values[known[-1]])
        else:
            assert np.isnan(angle).all()
    sim = saltus.Simulation(saltus.Scene(scene))
    before = list(seen)
    seen.clear()
    sim.actuation.force = look
    sim.step(500)
    for a, b in zip(before, seen):
        assert a[0] == b[0] and np.array_equal(a[1], b[1], equal_nan=True)
    assert np.array_equal(sim.sensors["angle"], readings.values[-1])


def test_a_reset_simulation_reads_the_same_again(scene):
    sim = saltus.Simulation(saltus.Scene(scene))
    sim.step(200)
    first = sim.sensors
    sim.reset()
    assert np.isnan(sim.sensors["angle"]).all()
    sim.step(200)
    for name, x in first.items():
        assert np.array_equal(x, sim.sensors[name])


def test_motor_of_all_parts():
    b = saltus.ModelBuilder([0, 0, 0])
    b.body("wheel", saltus.RigidInertia(1, [0, 0, 0], 0.02 * np.eye(3)),
           saltus.JointSpec(saltus.Revolute([0, 0, 1])))
    model = b.build()
    actuation = saltus.Actuation(model)
    actuation.motor("wheel", torque=9.0, gear=2.0, curve=([0.0, 40.0], [0.5, 0.0]))
    sim = saltus.Simulation(model, actuation)
    sim.step(1000)
    T = 0.02 * 40 / (4 * 0.5)
    assert sim.state.v[0] == pytest.approx(20 * (1 - math.exp(-1 / T)), rel=1e-5)
    for bad, told in (({"gear": 0.0}, "gear"), ({"lag": -1.0}, "lag"), ({"servo": "x"}, "servo"),
                      ({"limits": (1.0, 2.0)}, "around 0"), ({"backlash": 0.1}, "kp > 0"),
                      ({"curve": ([0.0, 1.0], [1.0])}, "as many")):
        with pytest.raises(saltus.InputError, match=told):
            actuation.motor("wheel", **bad)
