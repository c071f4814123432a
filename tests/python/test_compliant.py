"""Compliant contact from Python: the closed form of a ball at rest, of its oscillation, and errors."""
import math

import pytest

import saltus

MASS, GRAVITY, RADIUS, STIFFNESS = 2.0, 9.81, 0.1, 2000.0


def ball(damping, height):
    builder = saltus.ModelBuilder([0, 0, -GRAVITY])
    builder.body("ball", saltus.RigidInertia(MASS, about_com=saltus.solid_sphere(MASS, RADIUS)),
                 saltus.JointSpec(saltus.Carrier()))
    builder.shape("ball", "ball", saltus.Sphere(RADIUS)).shape("floor", "world", saltus.HalfSpace())
    law = saltus.ContactLaw(0.5, compliant=saltus.Compliance(STIFFNESS, damping))
    model = builder.contact("floor", "ball", law).build()
    state = saltus.State(model)
    state.q[2] = height
    return saltus.Simulation(model, state=state, options=saltus.MoreauMidpoint(dt=1e-4))


def test_a_ball_sinks_by_its_weight():
    # Critically damped: after 2 s (60 time constants of 2 m / d) nothing is left of the start.
    sim = ball(2 * math.sqrt(STIFFNESS * MASS), RADIUS)
    sim.step(20000)
    assert RADIUS - sim.state.q[2] == pytest.approx(MASS * GRAVITY / STIFFNESS, rel=1e-9)


def test_an_undamped_ball_oscillates():
    """It starts where it touches: z = -(m g / k) (1 - cos w t), at its lowest after half a period."""
    sim = ball(0.0, RADIUS)
    half = math.pi / math.sqrt(STIFFNESS / MASS)
    sim.step(round(half / 1e-4))
    # Second order: (w dt)^2 is 1e-5.
    assert RADIUS - sim.state.q[2] == pytest.approx(2 * MASS * GRAVITY / STIFFNESS, rel=2e-5)


def test_tangential_values_are_the_normal_ones_by_default():
    soft = saltus.Compliance(1e5, 30.0)
    assert (soft.tangential_stiffness, soft.tangential_damping) == (1e5, 30)
    soft = saltus.Compliance(1e5, 30.0, 4e4, 5.0)
    assert (soft.stiffness, soft.damping) == (1e5, 30)
    assert (soft.tangential_stiffness, soft.tangential_damping) == (4e4, 5)


@pytest.mark.parametrize("make, words", [
    (lambda: saltus.Compliance(0.0), ["stiffness", "> 0", "0"]),
    (lambda: saltus.Compliance(math.nan), ["stiffness", "> 0", "nan"]),
    (lambda: saltus.Compliance(1.0, -2.0), ["expected numbers >= 0, got -2"]),
    (lambda: build(saltus.ContactLaw([0.1, 0.2], compliant=saltus.Compliance(1.0))),
     ["one coefficient of friction"]),
    (lambda: build(saltus.ContactLaw(0.1, 0.5, compliant=saltus.Compliance(1.0))),
     ["restitution", "its damping does that"]),
])
def test_refused(make, words):
    with pytest.raises(saltus.InputError) as e:
        make()
    for word in words:
        assert word in str(e.value)


def build(law):
    builder = saltus.ModelBuilder()
    builder.body("ball", saltus.RigidInertia(1.0, about_com=saltus.solid_sphere(1.0, 0.1)),
                 saltus.JointSpec(saltus.Floating()))
    builder.shape("ball", "ball", saltus.Sphere(0.1)).shape("floor", "world", saltus.HalfSpace())
    return builder.contact("floor", "ball", law).build()
