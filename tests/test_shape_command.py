"""saltus shape: the creatures of scenes/p4 as a user sees them, and what is refused.

Reference values: VERIFY-P4.md, the section in each test."""
import json
import math
import xml.etree.ElementTree as ElementTree

import pytest


@pytest.fixture(scope="module")
def shape(run, scenes):
    def go(name, *args):
        done = run("shape", scenes / f"p4/{name}.yaml", "--json", *args)
        assert done.code == 0, done
        return json.loads(done.out)

    return go


def gait(report, name):
    return next(g for g in report["gaits"] if g["name"] == name)


def expect_pose(g, x, y, turn, tolerance=1e-11):
    assert g["done"]
    assert g["position"][0] == pytest.approx(x, abs=tolerance)
    assert g["position"][1] == pytest.approx(y, abs=tolerance)
    assert g["turn"] == pytest.approx(turn, abs=tolerance)


def test_free_chain(shape):  # section 2
    report = shape("free-chain")
    assert (report["class"], report["connection"], report["group"]) == ("free", "mechanical", "SE(2)")
    expect_pose(gait(report, "aside"), -0.0171766214049, 0.0049064920844, -0.0564793909203)
    assert gait(report, "around zero")["turn"] == pytest.approx(0, abs=1e-12)


def test_falling_cat_turns_by_half(shape):  # section 2: flip by exactly 180 degrees
    R = gait(shape("falling-cat"), "flip")["rotation"]
    assert R[0][0] == pytest.approx(-1, abs=1e-11)
    assert R[1][1] == pytest.approx(-0.50864387757156, abs=1e-11)
    assert R[1][2] == pytest.approx(-0.86097700655068, abs=1e-11)


def test_wheeled_snakes(shape):  # section 3
    three = shape("acm-3", "--at", "0.3,-0.8")
    assert (three["class"], three["rank"]) == ("fully constrained", 3)
    assert three["A"][0] == pytest.approx([-0.369976551427, -0.5134586606261], abs=1e-12)
    expect_pose(gait(three, "G1"), -0.21717303612214, -0.12801531131089, 0)
    wave = gait(three, "serpenoid")
    expect_pose(wave, 3.8325578566662, -1.3680780745987, 0)
    assert wave["removable_singularities"] == pytest.approx([0.7 * math.pi, 1.7 * math.pi], abs=1e-8)
    five = shape("acm-5")
    assert (five["class"], five["rank"], five["rank_with_rates"]) == ("over-constrained", 3, 5)
    bent = shape("acm-5", "--at", "0.4,0.4,0.4,0.4")
    assert (bent["class"], bent["rank"], bent["rank_with_rates"]) == ("under-constrained", 2, 5)
    long = shape("acm-21")
    assert (long["class"], long["rank"], long["rank_with_rates"]) == ("over-constrained", 3, 21)


def test_snakeboard(shape):  # section 4: p with H = (1, 0, tan(phi)/l), and phi = 0 at 6 pi
    report = shape("snakeboard")
    assert (report["class"], report["rank"]) == ("under-constrained", 2)
    state = gait(report, "drive")["state"]
    assert state["P"][0] == pytest.approx(0.7045274430, abs=1e-9)


def test_swimmers(shape):  # section 6
    five = gait(shape("purcell-five"), "wave")
    expect_pose(five, -0.2939484379995, -0.0341027858900, 0)
    three = shape("purcell")
    assert three["connection"] == "stokes"
    circle = gait(three, "circle")
    assert circle["area_rule"]["F"][0] == pytest.approx(-0.1557543226283, abs=1e-11)
    assert circle["area_rule"]["dB"][0] == pytest.approx(-0.4007940712534, abs=1e-11)
    # An estimate: a few per cent off the motion itself.
    assert circle["position"][0] == pytest.approx(circle["area_rule"]["F"][0], rel=0.1)
    assert gait(three, "square")["area_rule"]["area"] == pytest.approx(4, abs=1e-12)


def test_satellite_of_the_root_folder(run, scenes):  # closed form in the scene's comment
    done = run("shape", scenes / "satellite.yaml", "--json")
    assert done.code == 0, done
    found = json.loads(done.out)["gaits"][0]
    k1, k2 = 9 * 0.05 / 0.88, 7 * 0.05 / 1.18

    def turn(a, axis):
        c, s = math.cos(a), math.sin(a)
        return ([[1, 0, 0], [0, c, -s], [0, s, c]] if axis == 0 else [[c, 0, s], [0, 1, 0], [-s, 0, c]])

    def times(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

    exact = times(times(turn(-k1, 0), turn(-k2, 1)), times(turn(k1, 0), turn(k2, 1)))
    for row, expected in zip(found["rotation"], exact):
        assert row == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("name", ["free-chain", "ellipses", "snakeboard"])
def test_the_engine_goes_the_same_way(run, shape, scenes, name):
    """Connection or reduced dynamics against the full equations with multipliers, event-driven."""
    end = gait(shape(name), "drive" if name == "snakeboard" else "aside" if name == "free-chain" else "circle")
    done = run("run", scenes / f"p4/{name}.yaml", "--json", "--set", "integrator.type=event-driven",
               "--set", "integrator.tolerance=1e-11", "--set", f"time.step={end['duration'] / 600}")
    assert done.code == 0, done
    found = json.loads(done.out)["metrics"]
    assert [found["x"], found["y"]] == pytest.approx(end["position"][:2], abs=1e-9)
    assert found["turn"] == pytest.approx(end["turn"], abs=1e-9)


def test_pictures(run, scenes, tmp_path):
    picture = tmp_path / "heights.svg"
    assert run("shape", scenes / "p4/purcell.yaml", "-o", picture, "--cells", "15").code == 0
    text = picture.read_text()
    ElementTree.fromstring(text)
    assert text.count("<rect") > 3 * 15 * 15
    assert "circle" in text and "square" in text


def test_text_says_the_class(run, scenes):
    out = run("shape", scenes / "p4/acm-5.yaml").out
    assert "class           over-constrained: 5 axles, rank 3 of 3, 5 with the rates" in out
    assert "compatible rates" in out


@pytest.mark.parametrize("scene, sets, message", [
    ("p4/free-chain.yaml", ["shape.reference=link9"], "link9"),
    ("p4/free-chain.yaml", ["shape.connection=kinematic"], "kinematic needs runners with an edge or wheels"),
    ("p4/free-chain.yaml", ["shape.plane=[a1, a1]"], "expected two different variables"),
    ("p4/free-chain.yaml", ["gaits[aside].centre=[1, 1, 1]"], "expected one number a joint, 2 in all, got 3"),
    ("p4/purcell.yaml", ["shape.resistance[0].bodies=[fin*]"], "no body matches fin*"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass=[1, 1, 1, 1, 1, -1]"], "expected no negative eigenvalue"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass=[1, 1, 1, 1, 1, 1, 1]"], "expected 6 or 36 numbers"),
    ("p0/flat.yaml", ["coordinates=maximal"], "expected minimal coordinates"),
    # found by mutation, both crashed: decompositions of what is not finite read what was never written
    ("p4/purcell.yaml", ["gaits[circle].centre=[0, 1e308]"], "'link3' has no finite place at the shape with a2 = 1e+308"),
    ("p4/purcell.yaml", ["shape.resistance[0].tangential=1e308"], "resistances of the creature overflow"),
    ("p4/free-chain.yaml", ["gaits[aside].centre=[0, 1e308]"], "no finite place"),
])
def test_bad_input(run, scenes, scene, sets, message):
    options = [x for s in sets for x in ("--set", s)]
    done = run("shape", scenes / scene, *options)
    assert done.code == 2
    assert message in done.err


def test_a_gait_that_leaves_its_limits(run, scenes, tmp_path):
    text = (scenes / "p4/acm-3.yaml").read_text().replace("type: revolute", "type: revolute, limits: [-0.3, 0.3]")
    limited = tmp_path / "limited.yaml"
    limited.write_text(text)
    done = run("shape", limited)
    assert done.code == 2
    assert "leaves its limits" in done.err and "gaits[0]" in done.err


def test_an_impossible_gait_is_named(run, scenes):
    # r1 meets r2 = .5 while r2 rests: no 0/0.
    done = run("shape", scenes / "p4/acm-3.yaml", "--set", "gaits[G1].sine=[0, 0]",
               "--set", "gaits[G1].centre=[0.3, 0.5]")
    assert done.code == 1
    assert "not possible: at t = " in done.out and "axle1, axle2, axle3 would slip" in done.out


def test_gaits_from_csv(run, scenes, tmp_path):
    rows = ["# t, a1, a2"] + [f"{k / 64 * 2 * math.pi},{math.cos(k / 64 * 2 * math.pi)},{math.sin(k / 64 * 2 * math.pi)}"
                              for k in range(65)]
    (tmp_path / "circle.csv").write_text("\n".join(rows) + "\n")
    text = (scenes / "p4/purcell.yaml").read_text()
    (tmp_path / "scene.yaml").write_text(text.replace(
        "gaits:\n", "gaits:\n  - {name: file, joints: [a1, a2], type: table, file: circle.csv}\n"))
    done = run("shape", tmp_path / "scene.yaml", "--json")
    assert done.code == 0, done
    report = json.loads(done.out)
    # A polygon of 64 corners instead of the circle: 1 - area ratio = 1.6e-3.
    assert gait(report, "file")["position"][0] == pytest.approx(gait(report, "circle")["position"][0], rel=3e-3)
