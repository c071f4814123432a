"""saltus feasible: the friction that every velocity after an impact needs, and P1's choice.

On the wedges of P1 section 4.2: the curve at v = 0 is mu_f, what is chosen lies in the feasible set,
and picture and table are readable by other programs."""
import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

ANGLES = (0, 15, 30, 45)
RESTITUTION = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]


@pytest.fixture(scope="module")
def feasible(run, scenes):
    def go(angle, *args):
        done = run("feasible", scenes / f"p1/bicycle-4-2-alpha-{angle}.yaml", "--json",
                   "--restitution", ",".join(map(str, RESTITUTION)), *args)
        assert done.code == 0, done
        return json.loads(done.out)

    return go


def value_at(c, name, v):
    """A series at a velocity between samples, straight between its neighbours."""
    return np.interp(v, c["v"], np.array([np.nan if x is None else x for x in c[name]], float))


@pytest.mark.parametrize("angle", ANGLES)
def test_the_chosen_point_is_feasible(feasible, angle):
    found = feasible(angle)
    assert found["t"] > 0
    seen = {(c["contact"], c["restitution"]) for c in found["curves"]}
    assert len(seen) == len(found["curves"]) and {e for _, e in seen} == set(RESTITUTION)
    slipped = 0
    for c in found["curves"]:
        assert (c["mu_s"], c["mu_d"]) == (0.5, 0.25)
        assert len(c["v"]) == len(c["mu"]) == len(c["p_n"]) and c["v"][0] < 0 < c["v"][-1]
        assert c["sticking_pulls"] == (value_at(c, "p_n", 0) < 0)
        # The curve passes mu_f where the contact sticks.
        assert c["mu"][c["v"].index(0)] == pytest.approx(c["mu_f"], abs=1e-9)
        # Nothing is gained: e* = 1.
        assert c["energy_ratio"] <= 1 + 1e-9
        if c["path"] == "stick":
            assert abs(c["chosen_v"]) < 1e-9 and c["chosen_mu"] <= 0.5 + 1e-9
            assert c["mu_f"] <= 0.5 + 1e-9 and not c["sticking_pulls"]
            assert c["chosen_mu"] == pytest.approx(c["mu_f"], abs=1e-9)
        elif abs(c["chosen_v"]) > 1e-3:  # far above v_s = 1.4e-4: all of Karnopp's fall is done
            slipped += 1
            # mu is an upper bound of |p_t| / p_n, reached where less friction would slide faster.
            assert c["chosen_mu"] <= min(0.25, c["mu_f"]) + 1e-6
            if sum(o["restitution"] == c["restitution"] for o in found["curves"]) == 1:
                # One contact: the point is on its curve, where the impulse presses.
                assert value_at(c, "p_n", c["chosen_v"]) >= 0
                assert c["chosen_mu"] == pytest.approx(value_at(c, "mu", c["chosen_v"]), abs=0.01)
                assert c["chosen_mu"] == pytest.approx(min(0.25, c["mu_f"]), abs=1e-6)
    print(f"alpha = {angle}: {len(found['curves'])} curves, {slipped} slip")
    # It slips where sticking needs more than mu_s, and only there.
    needs_more = sum(c["sticking_pulls"] or c["mu_f"] > 0.5 for c in found["curves"])
    assert slipped == needs_more
    assert (slipped > 0) == (angle == 30)


def test_skip_shows_later_impacts(feasible, run, scenes):
    times = [feasible(15, "--skip", str(n))["t"] for n in range(4)]
    assert times == sorted(times) and len(set(times)) == 4
    done = run("feasible", scenes / "p1/bicycle-4-2-alpha-15.yaml", "--skip", "100000")
    assert done.code == 2 and "expected 100001 impacts before its end at 5 s" in done.err


@pytest.mark.parametrize("option", ["--restitution", "--skip", "--reach"])
def test_an_empty_number_is_refused(run, scenes, option):
    """The parser of the command line would take it as 0."""
    done = run("feasible", scenes / "p1/bicycle-4-2-alpha-15.yaml", option, "")
    assert done.code == 2 and f"{option}: expected a number, got ''" in done.err
    assert done.out == ""


def test_reach_bounds_the_velocities(feasible):
    for c in feasible(30, "--reach", "3")["curves"]:
        assert c["v"][0] == -3 and c["v"][-1] == 3


def test_picture_and_table(feasible, run, scenes, tmp_path):
    scene = scenes / "p1/bicycle-4-2-alpha-45.yaml"
    for name in ("f.svg", "f.csv"):
        assert run("feasible", scene, "-o", tmp_path / name).code == 0
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    assert root.tag.endswith("}svg")
    words = " ".join(root.itertext())
    for word in ("contact ground - wheel-", "e = 0.25", "e = 1", "mu_s", "mu_d", "m/s"):
        assert word in words
    assert not re.search("nan|inf", " ".join(p.get("d") for p in root.iter() if p.get("d")))
    with open(tmp_path / "f.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert list(rows[0]) == ["contact", "restitution", "v_t (m/s)", "mu", "p_n (N s)"]
    curves = json.loads(run("feasible", scene, "--json").out)["curves"]
    assert len(rows) == sum(len(c["v"]) for c in curves)
    assert float(rows[0]["v_t (m/s)"]) == curves[0]["v"][0]


def test_the_table_names_every_column(run, scenes):
    out = run("feasible", scenes / "p1/bicycle-4-2-alpha-15.yaml").out
    for word in ("impact at t =", "e_n", "mu_f", "v_t chosen", "T+/T-", "stick"):
        assert word in out


def test_twice_the_same(feasible):
    assert feasible(45) == feasible(45)
