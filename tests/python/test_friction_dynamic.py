"""Static and dynamic friction from Python: builder calls, errors, one closed form."""
import math

import pytest

import saltus


def test_a_block_slides_with_mu_d():
    """On an incline of tan = 0.6: mu_s = 0.5 does not hold it, and it slides with mu_d = 0.3."""
    angle = math.atan(0.6)
    builder = saltus.ModelBuilder([9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)])
    builder.body("block", saltus.RigidInertia(2.0, about_com=saltus.solid_box(2.0, [1, 1, 1])),
                 saltus.JointSpec(saltus.Carrier()))
    builder.shape("block", "block", saltus.Sphere(0.1)).shape("floor", "world", saltus.HalfSpace())
    builder.contact("floor", "block", saltus.ContactLaw(0.5, friction_dynamic=0.3))
    model = builder.build()
    state = saltus.State(model)
    state.q[2] = 0.1
    sim = saltus.Simulation(model, state=state)
    sim.step(1000)
    exact = 0.5 * 9.81 * (math.sin(angle) - 0.3 * math.cos(angle))
    # One step with mu_s: (mu_s - mu_d) g cos dt t less.
    assert sim.state.q[0] == pytest.approx(exact, abs=2e-3)


def test_joint_friction():
    dof = saltus.JointDof(friction=2.0, friction_dynamic=0.5, limits=(-1, 3))
    assert dof.friction == 2 and dof.friction_dynamic == 0.5 and dof.limits == (-1, 3)
    assert saltus.JointDof(friction=2.0).friction_dynamic == 2


@pytest.mark.parametrize("make, words", [
    (lambda: saltus.ContactLaw(0.5, friction_dynamic=0.7),
     ["friction_dynamic", "expected at most friction (0.5), got 0.7"]),
    (lambda: saltus.ContactLaw(0.0, friction_dynamic=0.0), ["friction beside it"]),
    (lambda: saltus.ContactLaw([0.2, 0.4], friction_dynamic=0.1), ["same share"]),
    (lambda: saltus.JointDof(friction=1.0, friction_dynamic=2.0), ["at most friction (1), got 2"]),
    (lambda: saltus.ModelBuilder().support("a", 0.5, 1.0, friction_dynamic=0.6),
     ["at most friction (0.5), got 0.6"]),
])
def test_refused(make, words):
    with pytest.raises(saltus.InputError) as e:
        make()
    for word in words:
        assert word in str(e.value)


def test_the_same_share_in_every_direction_is_taken():
    saltus.ContactLaw([0.2, 0.4], friction_dynamic=[0.1, 0.2])
    saltus.ContactLaw([0.2, 0.5, 0.4], friction_dynamic=[0.1, 0.25, 0.2])
