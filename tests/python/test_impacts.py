"""Impact laws from Python: names, objects, closed forms, errors; the feasible set of an impact."""
import math

import numpy as np
import pytest

import saltus

LAWS = ("capped", "newton", "moreau", "poisson", "chain")
CLASSES = (saltus.CappedImpact, saltus.NewtonImpact, saltus.MoreauImpact, saltus.PoissonImpact,
           saltus.ChainImpact)
WEDGE = saltus.scene_path("p1/bicycle-4-2-alpha-15")


def ball(**law):
    """A ball of 1 kg that touches a floor."""
    builder = saltus.ModelBuilder(gravity=(0, 0, 0))
    builder.body("ball", saltus.RigidInertia(1.0, about_com=saltus.solid_sphere(1.0, 0.1)),
                 saltus.JointSpec(saltus.Floating()))
    builder.shape("ball", "ball", saltus.Sphere(0.1))
    builder.shape("floor", "world", saltus.HalfSpace())
    builder.contact("floor", "ball", saltus.ContactLaw(**law))
    return builder.build()


def strike(impact, v, dt=1e-3, **law):
    """Velocity after one step of a ball that arrives at the floor with v, twist (linear, angular)."""
    model = ball(**law)
    state = saltus.State(model)
    state.q = [0, 0, 0.1 - 1e-9, 1, 0, 0, 0]
    state.v = v
    sim = saltus.Simulation(model, None, state, saltus.MoreauMidpoint(dt, impact=impact))
    report = sim.step()
    return np.array(sim.state.v), report


@pytest.mark.parametrize("name, cls", list(zip(LAWS, CLASSES)))
def test_names_and_objects(name, cls):
    for impact in (name, cls()):
        options = saltus.MoreauMidpoint(impact=impact)
        assert options.impact == name and type(options.impact_law) is cls
        assert eval(f"saltus.{options.impact_law!r}").__repr__() == repr(cls())
    v, report = strike(name, [0, 0, -2, 0, 0, 0], restitution=0.5)
    assert v == pytest.approx([0, 0, 1, 0, 0, 0], abs=1e-9)
    assert report.impacts == 1 and report.converged
    object_v, _ = strike(cls(), [0, 0, -2, 0, 0, 0], restitution=0.5)
    assert np.array_equal(v, object_v)


def test_moreau_has_one_coefficient_for_all_rows():
    # Sticks in the sense of the law: xi = v+ + eps v- = 0 also along the floor, where the ball's
    # surface moves with v_t: v_t+ = -eps v_t-, m_t = 2/7 m (solid sphere).
    eps = 0.25
    v, _ = strike(saltus.MoreauImpact(eps), [1, 0, -2, 0, 0, 0], friction=5.0, restitution=0.9)
    slide = v[0] - 0.1 * v[4]
    assert v[2] == pytest.approx(2 * eps, abs=1e-9) and slide == pytest.approx(-eps, abs=1e-9)
    assert saltus.MoreauImpact(eps).restitution == eps and saltus.MoreauImpact().restitution is None


def test_tangential_restitution():
    v, _ = strike("newton", [1, 0, -2, 0, 0, 0], friction=5.0, restitution=0.5,
                  restitution_tangential=0.75)
    assert v[2] == pytest.approx(1, abs=1e-9)
    assert v[0] - 0.1 * v[4] == pytest.approx(-0.75, abs=1e-9)


def test_energetic_restitution():
    # e_n = 1 would keep all energy; e* = 0.64 leaves 0.64 of it: all velocities times 0.8.
    for control in (None, "attenuation"):
        law = saltus.ChainImpact(energetic=0.64, control=control)
        assert law.control == "attenuation" and law.energetic == 0.64
        v, _ = strike(law, [0, 0, -2, 0, 0, 0], restitution=1.0)
        assert v[2] == pytest.approx(1.6, abs=1e-9)
    assert saltus.ChainImpact().control == "none"
    v, _ = strike(saltus.ChainImpact(energetic=0.64, control="none"), [0, 0, -2, 0, 0, 0],
                  restitution=1.0)
    assert v[2] == pytest.approx(2, abs=1e-9)


@pytest.mark.parametrize("method", ["automatic", "exact", "nlp"])
def test_the_chain_slides_where_sticking_needs_too_much(method):
    # m (v_t+ - v_t-) = -mu p_n: 3 m/s less mu (1 + e) 2 m/s; to stick it would need 2/7 3 / 3 = 0.286.
    law = saltus.ChainImpact(method=method)
    v, _ = strike(law, [3, 0, -2, 0, 0, 0], friction=0.1, restitution=0.5)
    assert v[2] == pytest.approx(1, abs=1e-6)
    assert math.hypot(v[0] - 3, v[1]) <= 0.1 * 3 + 1e-6  # the impulse is in the cone
    # It takes the least slip: all the friction there is, against the motion.
    assert v[0] == pytest.approx(3 - 0.1 * 3, abs=1e-5)


@pytest.mark.parametrize("make, said", [
    (lambda: saltus.MoreauMidpoint(impact="elastic"),
     "impact: expected one of capped, newton, moreau, poisson, chain, got 'elastic'"),
    (lambda: saltus.MoreauImpact(1.5), r"restitution: expected a number in \[0, 1\]"),
    (lambda: saltus.MoreauImpact(-0.5), "restitution"),
    (lambda: saltus.MoreauImpact(math.nan), "restitution"),
    (lambda: saltus.ChainImpact(energetic=-1), "energetic: expected a number >= 0, got -1"),
    (lambda: saltus.ChainImpact(energetic=math.inf), "energetic"),
    (lambda: saltus.ChainImpact(control="hope"),
     "control: expected one of none, attenuation, constraint, got 'hope'"),
    (lambda: saltus.ChainImpact(method="hope"), "method: expected one of automatic, exact, nlp"),
    (lambda: saltus.ChainImpact(v_s=0), "v_s"),
    (lambda: saltus.ChainImpact(exponent=math.nan), "exponent"),
    (lambda: ball(restitution_tangential=-1.1), r"restitution_tangential: expected a number in \[-1"),
    (lambda: ball(restitution_tangential=math.nan), "restitution_tangential"),
    (lambda: saltus.Simulation(ball(friction=0.1, rolling=0.01),
                               options=saltus.MoreauMidpoint(impact="chain")),
     "impact: P1's chain knows Coulomb friction"),
    (lambda: setattr(saltus.Simulation(ball(friction=0.1, rolling=0.01)), "options",
                     saltus.MoreauMidpoint(impact="chain")), "impact: P1's chain"),
])
def test_bad_laws(make, said):
    with pytest.raises(saltus.InputError, match=said):
        make()


def test_step_refuses_a_law_that_does_not_know_the_contact():
    model = ball(friction=0.1, rolling=0.01)
    with pytest.raises(saltus.InputError, match="impact: P1's chain"):
        saltus.step(model, saltus.Actuation(model), saltus.State(model),
                    saltus.StepWorkspace(model), saltus.MoreauMidpoint(impact="chain"))


def test_no_law_is_no_law():
    with pytest.raises(TypeError):
        saltus.MoreauMidpoint(impact=3)


def test_a_law_of_a_scene():
    scene = saltus.Scene(WEDGE, {"integrator.type": "moreau"})
    law = scene.options.impact_law
    assert isinstance(law, saltus.ChainImpact) and law.v_s == 1.4e-4
    assert law.control == "attenuation"


def test_feasible():
    found = saltus.feasible(WEDGE, restitution=[0, 0.5], samples=1001, reach=20)
    assert found["title"].startswith("P1 4.2") and 1 < found["t"] < 2
    assert [c["restitution"] for c in found["curves"]] == [0, 0.5]
    for c in found["curves"]:
        v, mu, p_n = c["v"], c["mu"], c["p_n"]
        assert v.shape == mu.shape == p_n.shape and (v[0], v[-1]) == (-20, 20)
        # Between two samples |p_t| / p_n hardly bends; and where it sticks it is mu_f.
        assert np.interp(0, v, mu) == pytest.approx(c["mu_f"], abs=1e-3)
        assert c["path"] == "stick" and abs(c["chosen_v"]) < 1e-9
        assert c["chosen_mu"] == pytest.approx(c["mu_f"]) and c["mu_f"] < c["mu_s"]
    again = saltus.feasible(saltus.Scene(WEDGE), {"contacts[0].friction": 0.3}, restitution=[0.5])
    c, = again["curves"]
    assert c["mu_f"] > 0.3 and c["path"] == "dissipation (exact)"
    assert c["chosen_mu"] == pytest.approx(0.25, abs=1e-6)
    later = saltus.feasible(WEDGE, skip=1)
    assert later["t"] > found["t"] and len(later["curves"]) % 5 == 0


@pytest.mark.parametrize("arguments, said", [
    ({"restitution": [2]}, r"restitution: expected numbers in \[0, 1\], got 2"),
    ({"restitution": []}, "restitution: expected"), ({"restitution": ["a"]}, "restitution"),
    ({"skip": -1}, "skip"), ({"skip": 10000}, "expected 10001 impacts before its end at 5 s"),
    ({"reach": 0}, "reach: expected a speed > 0"), ({"reach": math.nan}, "reach"),
    ({"samples": 1}, "samples"),
    ({"overrides": ["contacts[0]={between: [ground, wheel-*], restitution: 0.5}"]}, "frictionless"),
])
def test_bad_feasible(arguments, said):
    with pytest.raises(saltus.InputError, match=said):
        saltus.feasible(WEDGE, **arguments)


def test_the_picture_of_a_feasible_set():
    pytest.importorskip("matplotlib").use("Agg")
    from saltus import plotting
    found = saltus.feasible(WEDGE, restitution=[0, 0.5])
    name = found["curves"][0]["contact"]
    for contact in (None, name):
        ax = plotting.feasible(found, contact)
        labels = [t.get_text() for t in ax.get_legend().get_texts()]
        assert labels == ["e = 0", "e = 0.5", "mu_s", "mu_d"] and "m/s" in ax.get_xlabel()
        assert name in ax.get_title()
    with pytest.raises(saltus.InputError, match="contact: expected one of contact ground"):
        plotting.feasible(found, "nobody")
