"""Wheels, fluids and flows of a ModelBuilder, and a user's flow in a scene."""
import math

import numpy as np
import pytest

import saltus

I3 = np.eye(3)


def body(mass=1.0, inertia=0.1):
    return saltus.RigidInertia(mass, [0, 0, 0], inertia * I3)


def planar(**fluid):
    """A body on a planar joint, in a fluid."""
    builder = saltus.ModelBuilder([0, 0, 0]).body("body", body(), saltus.JointSpec(saltus.Planar()))
    return builder.fluid("body", **fluid).build()


def test_a_disc_rolls():  # as far as its angle times its radius
    hinge = saltus.JointSpec(saltus.Revolute([0, 1, 0]), "cart", placement=saltus.SE3([0.3, 0, 0.05]),
                             dofs=[saltus.JointDof(prescribed=True)])
    model = (saltus.ModelBuilder().body("cart", body(2), saltus.JointSpec(saltus.Planar()))
             .body("disc", body(0.1, 1e-4), hinge).wheel("disc", "disc", 0.05).build())
    turn = saltus.Actuation(model).prescribe("disc", saltus.Sine(1.0, 2.0, -math.pi / 2, 1.0))
    sim = saltus.Simulation(model, turn)
    sim.step(1000)
    assert sim.state.q[3] == pytest.approx(1 - math.cos(2.0), abs=1e-5)
    assert sim.state.q[0] == pytest.approx(0.05 * sim.state.q[3], abs=1e-6)


def test_drag_and_added_mass():  # m v' = -k v, m = 1 + 3
    sim = saltus.Simulation(planar(resistance=[2, 5, 5, 0, 0, 1], added_mass=np.diag([3.0, 7, 7, 0, 0, 0])))
    sim.state.v = [1, 0, 0]
    sim.step(1000)
    assert sim.state.v[0] == pytest.approx(math.exp(-2 / 4), rel=1e-6)


def test_quadratic_drag():  # 1/v grows by c t
    sim = saltus.Simulation(planar(quadratic=[2, 2, 2, 0, 0, 0]))
    sim.state.v = [1, 0, 0]
    sim.step(1000)
    assert sim.state.v[0] == pytest.approx(1 / 3, rel=1e-5)


def test_buoyancy():  # twice its mass displaced: it rises with g
    model = (saltus.ModelBuilder().body("ball", body(), saltus.JointSpec(saltus.Floating()))
             .fluid("ball", displaced=2).build())
    sim = saltus.Simulation(model)
    sim.step(100)
    assert sim.state.v[2] == pytest.approx(0.981, abs=1e-12)


def test_a_current_carries():
    sim = saltus.Simulation(planar(resistance=[1, 1, 1, 0, 0, 0], flow=[0.5, 0.2, 0]))
    sim.step(20000)
    assert sim.state.v[:2] == pytest.approx([0.5, 0.2], abs=1e-8)


def test_a_function_is_the_flow_it_says():  # the same bits as the street that is built in
    rows = [(0, 0.14, -0.5), (0.5, -0.14, 0.5)]
    street = saltus.Flow.street(rows, period=1, carried=0.8, stream=[1, 0, 0])
    asked = []

    def field(x, t):
        asked.append(t)
        return street.at(x, t)

    ends = []
    for flow in (street, field, saltus.Flow.field(field)):
        sim = saltus.Simulation(planar(resistance=[1, 2, 2, 0, 0, 0], displaced=0.5,
                                       added_mass=[1, 3, 3, 0, 0, 0.1], flow=flow))
        sim.step(200)
        ends.append(sim.state.q.tobytes())
    assert ends[0] == ends[1] == ends[2]
    assert len(asked) >= 400 and max(asked) < 0.2


def test_flows_are_consistent():  # gradient and rate are those of the velocity
    wave = saltus.Flow.wave(0.1, 2.0, phase=0.3)
    street = saltus.Flow.street([(0, 0.1, 1.0)], period=1, carried=0.3)
    shear = saltus.Flow.linear([1, 0, 0], [[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    x, t, e = np.array([0.2, -0.3, -0.1]), 0.4, 1e-6
    for flow in (wave, street, shear):
        _, gradient, rate = flow.at(x, t)
        for k in range(3):
            d = (flow.at(x + e * I3[k], t)[0] - flow.at(x - e * I3[k], t)[0]) / (2 * e)
            assert d == pytest.approx(gradient[:, k], abs=1e-8)
        assert (flow.at(x, t + e)[0] - flow.at(x, t - e)[0]) / (2 * e) == pytest.approx(rate, abs=1e-8)


def test_a_flow_that_is_not_finite_names_place_and_time():
    def broken(x, t):
        return [math.nan if t > 0.05 else 1, 0, 0], np.zeros((3, 3)), [0, 0, 0]

    sim = saltus.Simulation(planar(resistance=[1, 1, 1, 0, 0, 0], flow=broken))
    with pytest.raises(saltus.InputError, match=r"flow: expected finite numbers, got others at \(.*\) at t = 0\.05"):
        sim.step(100)
    assert sim.t == pytest.approx(0.05)
    assert np.isfinite(sim.state.q).all()


@pytest.mark.parametrize("answer, message", [
    (None, "expected the function to return"),
    ([1, 2, 3], "velocity of the flow"),
    (([1, 2], I3, [0, 0, 0]), "velocity of the flow: expected 3 numbers"),
    (([1, 2, 3], np.zeros(3), [0, 0, 0]), "gradient of the flow, a row"),
])
def test_answers_of_a_flow(answer, message):
    sim = saltus.Simulation(planar(resistance=[1, 1, 1, 0, 0, 0], flow=lambda x, t: answer))
    with pytest.raises(saltus.InputError, match=message):
        sim.step()


def test_an_exception_of_a_flow_comes_back():
    def flow(x, t):
        raise KeyError("mine")

    sim = saltus.Simulation(planar(resistance=[1, 1, 1, 0, 0, 0], flow=flow))
    with pytest.raises(KeyError, match="mine"):
        sim.step()


def links(section):  # a stiff plank of two Gauss points
    return (saltus.ModelBuilder([0, 0, 0]).body("plank", body(), saltus.JointSpec(saltus.Planar()))
            .fluid_along("plank", 1.0, section, middle=[0.5, 0, 0], tail=[1, 0, 0]).build())


def test_along_a_body():
    eel = saltus.FluidSection(ellipse=[0.06, 0.1], drag=[2.5, 50])
    same = saltus.FluidSection(added_mass=[0, 1000 * math.pi * 0.05**2], drag=[2.5, 50])
    ends = []
    for section in (eel, lambda X: eel, same):
        sim = saltus.Simulation(links(section))
        sim.state.v = [-0.3, 0.1, 1]
        sim.step(200)
        ends.append(sim.state.q.copy())
    assert (ends[0] == ends[1]).all()
    assert ends[2] == pytest.approx(ends[0], abs=1e-12)


@pytest.mark.parametrize("build, message", [
    (lambda: planar(resistance=[1, 2, 3]), "resistance"),
    (lambda: planar(added_mass=np.arange(36.0).reshape(6, 6)), "added_mass: expected a symmetric 6 x 6"),
    (lambda: planar(added_mass=[-1, 0, 0, 0, 0, 0]), "added_mass: expected no negative eigenvalue"),
    (lambda: planar(quadratic=[-1, 0, 0, 0, 0, 0]), "quadratic: expected numbers >= 0"),
    (lambda: planar(displaced=-1), "expected a number >= 0"),
    (lambda: planar(flow=3), "flow"),
    (lambda: planar(resistance=np.eye(6), surface=[0, 0.1], added_mass=np.eye(6)), "no added mass at a surface"),
    (lambda: links(saltus.FluidSection(added_mass=[0, -1])), "expected numbers >= 0, got 0, -1, -1 at X = "),
    (lambda: saltus.FluidSection(ellipse=[0, 1]), "ellipse"),
    (lambda: links(lambda X: X), "return a FluidSection, got float at X = "),
    (lambda: saltus.Flow.wave(1.0, 2.0), "expected a wave that does not break"),
    (lambda: saltus.Flow.field(3), "expected a function of x and t"),
    (lambda: saltus.ModelBuilder().wheel("w", "w", -1), "radius: expected a positive number"),
])
def test_bad_input(build, message):
    with pytest.raises(saltus.InputError, match=message):
        build()


WATER = """
saltus: 1
gravity: [0, 0, 0]
bodies: [{name: b, mass: 1, inertia: [1, 1, 1], joint: {type: planar}}]
fluids: [{bodies: [b], matrix: [1, 1, 1, 0, 0, 0], current: [1, 0, 0]}]
time: {step: 0.01, end: 1}
metrics: [{name: x, type: coordinate, joints: [b.x]}]
"""


@pytest.mark.parametrize("integrator", ["moreau", "event-driven"])
def test_the_flow_of_a_scene(integrator):  # x = U (t - 1 + e^-t) with U = 1, and three times that
    scene = saltus.Scene.from_text(WATER, overrides={"integrator.type": integrator})
    own = saltus.run(scene, record=False).metrics["x"]
    assert own == pytest.approx(math.exp(-1), abs=1e-5)
    zero = np.zeros(3)
    for flow in ([3, 0, 0], lambda x, t: ([3, 0, 0], np.zeros((3, 3)), zero)):
        run = saltus.run(scene, flow=flow, record=False)
        assert run.metrics["x"] == pytest.approx(3 * own, rel=1e-9)
        sim = saltus.Simulation(scene, flow=flow)
        sim.step(100)
        assert sim.state.q[0] == pytest.approx(run.metrics["x"], rel=1e-9)


def test_a_flow_of_a_scene_without_fluids():
    scene = saltus.Scene.from_text(WATER.replace("fluids", "#"))
    with pytest.raises(saltus.InputError, match="expected a model with fluids or wings"):
        saltus.run(scene, flow=[1, 0, 0], record=False)


def test_added_mass_of_solids():
    assert np.diag(saltus.ellipsoid_added_mass(1000, [0.1, 0.1, 0.1]))[:3] == pytest.approx(
        [1000 * 2 / 3 * math.pi * 1e-3] * 3, rel=1e-12)
    assert saltus.cylinder_added_mass(1, 0.1, 0.2, 3)[1, 1] == pytest.approx(math.pi * 0.04 * 3)
