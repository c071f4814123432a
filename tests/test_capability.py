"""saltus capability: what the command line says, its pictures, bad input."""
import json
import math
import xml.etree.ElementTree as xml

import pytest

# A cart on a rail and a mass on a slide of it: a = F/m of the mass, whatever the cart does when it is held.
SLIDE = """saltus: 1
title: A slide
gravity: [0, 0, -10]
bodies:
  - {name: cart, mass: 3, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}}
  - {name: mass, mass: 2, solid: {shape: sphere, radius: 0.1}, joint: {type: prismatic, parent: cart, axis: [0, 0, 1]}}
motors: [{joints: [mass], limit: 60}]
time: {end: 1}
"""


@pytest.fixture
def slide(tmp_path):
    path = tmp_path / "slide.yaml"
    path.write_text(SLIDE)
    return path


def ask(run, *args):
    done = run("capability", *args, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_closed_forms(run, slide):
    # Held all ways: F/m - g. A pinned point lets the cart turn, but the force goes through it.
    up = ask(run, slide, "--point", "mass", "--pin", "cart")
    assert up["free"]["value"] == pytest.approx(60 / 2 - 10, rel=1e-12)
    assert up["held"]["value"] == pytest.approx(20, rel=1e-12)
    assert up["directional"]["value"] == pytest.approx(20, rel=1e-12)
    # Free: the cart gives way; relative motion does not matter, a = F/m - g again, and of the cart -F/m - g.
    loose = ask(run, slide, "--point", "cart", "--direction", "0,0,-1")
    assert loose["free"]["value"] == pytest.approx(60 / 3 + 10, rel=1e-12) and loose["held_at"] == []
    # A foot that pushes only: downwards the mass may pull until the cart lifts, F = -m_cart g.
    down = ask(run, slide, "--point", "mass", "--direction", "0,0,-1", "--foot", "cart", "--friction", "0.5")
    assert down["free"]["value"] == pytest.approx(60 / 2 + 10, rel=1e-12)
    assert down["held"]["value"] == pytest.approx(30 / 2 + 10, rel=1e-9)
    assert down["held"]["forces"][0] == pytest.approx(0, abs=1e-6)
    # Both are at rest to the side: no torque reaches there.
    side = ask(run, slide, "--point", "mass", "--direction", "1,0,0", "--pin", "cart")
    assert side["directional"]["value"] == pytest.approx(0, abs=1e-9)


def test_limits_and_joints(run, slide):
    assert ask(run, slide, "--point", "mass", "--pin", "cart", "--limit", "30")["free"]["value"] == pytest.approx(5)
    only = ask(run, slide, "--point", "mass", "--pin", "cart", "--joints", "m*", "--limit", "90")
    assert only["actuators"] == [{"joint": "mass", "lower": -90, "upper": 90}]
    assert only["free"]["value"] == pytest.approx(35)


def test_the_quadruped(run, scenes):
    found = ask(run, scenes / "p2/stand.yaml", "--point", "trunk", "--limit", "40")
    assert len(found["actuators"]) == 12 and len(found["held_at"]) == 4
    assert all("_foot" in place["name"] for place in found["held_at"])
    assert 0 < found["directional"]["value"] <= found["held"]["value"] <= found["free"]["value"]
    mass = 4 * 9.81  # its weight is some hundred newtons
    assert sum(found["held"]["forces"][p["row"]] for p in found["held_at"]) > mass
    for p in found["held_at"]:
        n, t1, t2 = found["held"]["forces"][p["row"]:p["row"] + 3]
        assert n >= -1e-6 and math.hypot(t1, t2) <= 0.8 * n + 1e-6
    text = run("capability", scenes / "p2/stand.yaml", "--point", "trunk", "--limit", "40")
    assert text.code == 0 and "m/s^2" in text.out and "held at 4 places" in text.out


def test_pictures(run, scenes, slide, tmp_path):
    done = run("capability", scenes / "p2/stand.yaml", "--point", "trunk", "--limit", "40", "-o", tmp_path / "a.svg")
    assert done.code == 0, done.err
    assert len(xml.parse(tmp_path / "a.svg").getroot().findall("{http://www.w3.org/2000/svg}svg")) == 3
    two = tmp_path / "two.yaml"
    two.write_text(SLIDE.replace("motors:", "  - {name: top, mass: 1, solid: {shape: sphere, radius: 0.1}, joint: "
                                 "{type: revolute, parent: mass, axis: [0, 1, 0], at: {position: [0, 0, 1]}}}\nmotors:"))
    done = run("capability", two, "--point", "top", "--pin", "cart", "--field", "mass=0:1:5", "--field", "top=-1:1:4",
               "-o", tmp_path / "b.svg")
    assert done.code == 0, done.err
    assert (tmp_path / "b.svg").read_text().count("<rect") > 2 * 20


@pytest.mark.parametrize(("args", "message"), [
    (["--point", "hand"], "--point: .*'hand'"),
    (["--point", "mass:1,2"], "--point: expected BODY or BODY:x,y,z, got 'mass:1,2'"),
    (["--point", "mass:1,2,c"], "--point: expected a number, got 'c'"),
    (["--direction", "0,0,0"], "--direction: expected x,y,z, not zero"),
    (["--direction", "1,0"], "--direction: expected x,y,z, got 2 numbers"),
    (["--foot", "cart"], "--foot: expected --friction"),
    (["--pin", "leg"], "--pin: .*'leg'"),
    (["--limit", "-1"], "--limit: expected a number > 0"),
    (["--joints", "knee", "--limit", "1"], "no joint is called 'knee'"),
    (["--joints", "mass"], "the motor of 'mass' has no torque limit"),
    (["-o", "x.png"], "x.png: expected a name that ends in .svg"),
    (["--field", "mass=0:1:5"], "--field: expected two"),
    (["--field", "mass=0:1", "--field", "mass=0:1:5", "-o", "x.svg"], "--field: expected JOINT=FROM:TO:COUNT"),
    (["--field", "mass=0:1:1", "--field", "mass=0:1:5", "-o", "x.svg"], "expected a count from 2 to 1000"),
    (["--field", "mass=0:1:3", "--field", "mass=0:1:5", "-o", "x.svg"], "needs one point of support"),
])
def test_bad_input(run, slide, args, message):
    import re
    done = run("capability", slide, *args)
    assert done.code == 2 and re.search(message, done.err) and done.err.count("\n") == 1, done.err


def test_a_scene_without_motors(run, scenes):
    done = run("capability", scenes / "incline.yaml")
    assert done.code == 2 and "nothing drives the model" in done.err
