"""saltus shape: the creatures of scenes/p4 as a user sees them, and what is refused.

Reference values: VERIFY-P4.md, the section in each test."""
import json
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
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
    square = gait(three, "square")
    assert square["area_rule"]["area"] == pytest.approx(4, abs=1e-12)
    # VERIFY.md, swimming: Purcell's square, and three ellipses on a circle.
    assert math.hypot(*square["position"][:2]) == pytest.approx(0.180562563, abs=1e-9)
    ellipses = gait(shape("ellipses", "--set", "gaits[circle].radius=0.5"), "circle")
    assert math.hypot(*ellipses["position"][:2]) == pytest.approx(0.794681450, abs=1e-9)


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


@pytest.mark.parametrize("name", ["free-chain", "ellipses", "snakeboard", "leaning-disc"])
def test_the_engine_goes_the_same_way(run, shape, scenes, name):
    """Connection or reduced dynamics against the full equations with multipliers, event-driven."""
    gaits = {"free-chain": "aside", "ellipses": "circle", "snakeboard": "drive", "leaning-disc": "roll"}
    end = gait(shape(name, *(["--set", "gaits[roll].duration=1.7"] if name == "leaning-disc" else [])), gaits[name])
    done = run("run", scenes / f"p4/{name}.yaml", "--json", "--set", "integrator.type=event-driven",
               "--set", "integrator.tolerance=1e-11", "--set", f"time.step={end['duration'] / 600}",
               "--set", f"time.end={end['duration']}")
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


def test_a_grid_of_shapes(shape):
    """A wheeled snake is singular where its two joints are equal (section 3); A, B and F elsewhere as at single shapes."""
    grid = shape("acm-3", "--grid", "--cells", "7")["grid"]
    assert grid["variables"] == ["r1", "r2"] and len(grid["x"]) == len(grid["y"]) == 7
    for j, y in enumerate(grid["y"]):
        for i, x in enumerate(grid["x"]):
            equal = abs(x - y) < 1e-9
            assert grid["rank"][j][i] == (2 if equal else 3)
            assert grid["class"][j][i] == ("under-constrained" if equal else "fully constrained")
            assert (grid["F"]["Om"][j][i] is None) == equal
    j, i = 1, 4
    at = shape("acm-3", "--at", f"{grid['x'][i]},{grid['y'][j]}")
    for k, name in enumerate(at["eta"]):
        assert grid["B"]["r1"][name][j][i] == pytest.approx(-at["A"][k][0], abs=1e-12)
        assert grid["B"]["r2"][name][j][i] == pytest.approx(-at["A"][k][1], abs=1e-12)


def test_a_picture_through_singular_shapes_says_so(run, scenes, tmp_path):
    done = run("shape", scenes / "p4/acm-3.yaml", "-o", tmp_path / "a.svg", "--cells", "5")
    assert done.code == 0 and "5 of 25 shapes of the picture are singular: gray" in done.out


def test_a_shape_outside_its_limits(run, scenes, tmp_path):
    text = (scenes / "p4/acm-3.yaml").read_text().replace("type: revolute", "type: revolute, limits: [-1, 1]")
    limited = tmp_path / "limited.yaml"
    limited.write_text(text.replace("shape: {plane: [r1, r2]}\n", ""))
    done = run("shape", limited, "--at", "0.1,1.2")
    assert done.code == 2
    assert "--at: 'r2' is limited to -1 .. 1, got 1.2" in done.err


def test_a_grid_needs_a_plane_and_json(run, scenes):
    done = run("shape", scenes / "p4/acm-5.yaml", "--json", "--grid", "--set", "shape={}")
    assert done.code == 2 and "a grid of shapes needs two shape variables" in done.err
    done = run("shape", scenes / "p4/acm-3.yaml", "--grid")
    assert done.code == 2 and "expected --json" in done.err


def test_a_disc_that_leans(shape):
    """Rolls and does not slip sideways: two rows of three; the third ties height to lean, dh = -R sin(.4) d(lean)."""
    found = shape("leaning-disc")
    assert found["class"] == "under-constrained" and found["rank"] == 2
    assert found["rows"] == ["disc", "disc sideways", "disc height"]
    rates = np.array(found["compatible_rates"])
    assert rates.shape == (3, 2)
    assert rates[0] == pytest.approx(-0.2 * math.sin(0.4) * rates[1], abs=1e-12)


def test_a_continuous_snake_by_its_edges(run, scenes):
    """The shape of a rod: 20 coefficients. Its twelve edges agree as far as Legendre functions fit the wave, and it says so."""
    done = run("shape", scenes / "p4/continuous-snake.yaml", "--json", timeout=120)
    assert done.code == 1
    found = json.loads(done.out)
    assert found["connection"] == "kinematic" and found["rank"] == 3 and len(found["variables"]) == 20
    wave = gait(found, "prescribed")
    assert not wave["done"] and 0 < wave["obstruction"]["residual"] < 2e-6


def test_what_is_not_looked_at_is_said(run, scenes, shape):
    assert shape("free-chain")["not_looked_at"] == []
    done = run("shape", scenes / "water/lamprey.yaml")
    assert "not looked at here: quadratic drag of fluids; wings, wakes and surfaces of fluids" in done.out


def test_text_says_the_class(run, scenes):
    out = run("shape", scenes / "p4/acm-5.yaml").out
    assert "class           over-constrained: 5 axles, rank 3 of 3, 5 with the rates" in out
    assert "compatible rates" in out


@pytest.mark.parametrize("held, kind, rows, rank", [
    ([], "free", 0, 0),
    (["lf"], "under-constrained", 3, 3),
    (["lf", "rh"], "under-constrained", 6, 5),
    (["lf", "rf", "lh"], "over-constrained", 9, 6),
    (["lf", "rf", "lh", "rh"], "over-constrained", 12, 6),
])
def test_a_quadruped_on_its_feet(shape, held, kind, rows, rank):
    """P4's remark on walking: flight, single, double and full support."""
    report = shape("quadruped", "--set", f"shape.held={held}", "--set", "gaits=[]")
    assert (report["class"], len(report["rows"]), report["rank"]) == (kind, rows, rank)
    if len(held) == 2:  # what is left: a turn about the line between both feet
        V, Om = np.array(report["reduced_twist"])[:3, 0], np.array(report["reduced_twist"])[3:, 0]
        feet = [np.array([x, y, 0]) + foot for x, y in ((0.25, 0.15), (-0.25, -0.15))
                for foot in [np.array([-0.2 * math.sin(0.6) + 0.22 * math.sin(0.6), 0, -0.42 * math.cos(0.6)])]]
        for foot in feet:
            assert V + np.cross(Om, foot) == pytest.approx([0, 0, 0], abs=1e-12)


def test_supports_that_change_without_impact(run, scenes, shape):
    crawl = gait(shape("inchworm"), "crawl")
    expect_pose(crawl, 0.4, 0, 0)  # 0.2 m a round
    assert [p["held"] for p in crawl["phases"]] == [["rear-foot"], ["front-foot"]] * 2
    done = run("shape", scenes / "p4/inchworm.yaml", "--set", "shape.holds[1].during=[[0.9, 2], [3, 4]]",
               "--set", "shape.holds[0].during=[[0, 0.9], [2, 3]]")
    assert done.code == 1
    speed = 0.1 * math.pi * math.sin(0.9 * math.pi)
    assert f"at t = 0.900000000 s front-foot.x would strike at {speed:.3g} m/s" in done.out


def test_supports_hold_all_the_way(run, scenes):
    """Both feet are held while the body stretches by a sine that rests at 0 and 4 s: only in between it is not possible."""
    both = [x for i in (0, 1) for x in ("--set", f"shape.holds[{i}].during=[[0, 4]]")]
    done = run("shape", scenes / "p4/inchworm.yaml", "--json", *both)
    assert done.code == 1
    crawl = json.loads(done.out)["gaits"][0]
    assert not crawl["done"] and 0 < crawl["obstruction"]["t"] < 0.2
    assert all("foot" in row for row in crawl["obstruction"]["rows"])


def test_the_start_need_not_keep_the_axles(run, shape, scenes):
    """Shape is asked for how to start: it must not want to be told. A run by dynamics does."""
    dynamic = ("--set", "integrator.type=event-driven")
    assert gait(shape("acm-3", *dynamic), "G1") == gait(shape("acm-3"), "G1")
    assert "no side slip" in run("run", scenes / "p4/acm-3.yaml", *dynamic).err


def test_added_mass_of_solids(shape):
    """The ellipses of the plane as cylinders across it, semi-axes along y and, turned, along x; and a body about another point."""
    solid = "{shape: elliptic-cylinder, semi_axes: [0.1, 1], length: 1, density: 1, at: {rpy: [0, 90 deg, 0]}}"
    sets = [x for i in range(3) for x in ("--set", f"bodies[{i}].added_mass={solid}")]
    expect_pose(gait(shape("ellipses", *sets), "circle"), *gait(shape("ellipses"), "circle")["position"][:2], 0, 1e-11)
    ball = "{shape: sphere, radius: 0.5, density: 1, at: {position: [0.3, 0, 0]}}"
    m = math.pi / 12  # half of what it displaces; 0.3 m before the joint of planar motion
    matrix = [[0.0] * 6 for _ in range(6)]
    for i in range(3):
        matrix[i][i] = m
    matrix[4][4] = matrix[5][5] = m * 0.09
    matrix[1][5] = matrix[5][1] = m * 0.3
    matrix[2][4] = matrix[4][2] = -m * 0.3
    given = "[" + ", ".join(repr(x) for row in matrix for x in row) + "]"
    a, b = (gait(shape("ellipses", "--set", f"bodies[0].added_mass={x}"), "circle")["position"] for x in (ball, given))
    assert a == pytest.approx(b, abs=1e-12)


def test_a_snake_pressed_between_pegs(shape):
    """lambda_kin carries the weight by friction alone; the least stress that presses enough (closed form for a thin snake)."""
    stress = shape("peg-snake")["stress"]
    assert stress["balanced"] and stress["feasible"]
    for p in stress["points"]:
        assert p["missing_kin"] > 1 and p["missing"] == pytest.approx(0, abs=1e-9)
    # 3 m g = mu (N + 2N + N), each hinge carries N L/2 and, of the skin at r, friction times r.
    N = 3 * 0.5 * 9.81 / (4 * 0.4)
    for tau in stress["tau"]:
        assert abs(tau) == pytest.approx(N * 0.15, rel=0.25)
    weak = shape("peg-snake", "--set", "shape.stress.limit=0.5")["stress"]
    assert not weak["feasible"] and weak["room"] < 0


def test_from_the_centre_of_mass(shape):
    report = shape("free-chain", "--set", "shape.reference=centre-of-mass")
    assert report["reference"] == "centre-of-mass"
    for row in report["A"][:2]:
        assert row == pytest.approx([0] * len(row), abs=1e-14)
    g = gait(report, "aside")  # it only turns
    assert g["position"] == pytest.approx([0, 0, 0], abs=1e-12)
    assert g["turn"] == pytest.approx(-0.0564793909203, abs=1e-12)


@pytest.mark.parametrize("name, odd, even", [("ellipses", (2,), (0,)), ("free-chain", (2,), ())])
def test_symmetries_of_height_functions(shape, name, odd, even):
    """Reflection in the creature's axis, a -> -a, keeps what goes along it and reverses its turn. By small loops."""
    def loop(x, y):
        sets = ["--set", f"gaits=[{{name: small, joints: [a1, a2], type: circle, centre: [{x}, {y}], radius: 0.05, omega: 1}}]"]
        area = gait(shape(name, *sets), "small")["area_rule"]
        return area["F"]

    for x, y in ((0.3, 0.9), (-0.7, 0.5)):
        here, there = loop(x, y), loop(-x, -y)
        for k in odd:
            assert there[k] == pytest.approx(-here[k], abs=1e-12)
        for k in even:
            assert there[k] == pytest.approx(here[k], abs=1e-12)


@pytest.mark.parametrize("scene, sets, message", [
    ("p4/quadruped.yaml", ["shape.held=[tail]"], "no hold is called 'tail'"),
    ("p4/quadruped.yaml", ["shape.holds[0].body=tail", "shape.held=[lf]"], "tail"),
    ("p4/quadruped.yaml", ["shape.holds[0].friction=0"], "shape.holds[0].friction"),
    ("p4/quadruped.yaml", ["shape.held=[lf]", "shape.connection=mechanical"], "expected auto or kinematic"),
    ("p4/inchworm.yaml", ["shape.holds[0].during=[[1, 0]]"], "expected pairs of times"),
    ("p4/inchworm.yaml", ["shape.holds[0].name=front-foot"], "shape.holds: two holds are called 'front-foot'"),
    ("p4/peg-snake.yaml", ["shape.holds[0].normal=[0, 0, 1]"], "expected a normal in the plane of the creature, got (0, 0, 1)"),
    ("p4/free-chain.yaml", ["shape.stress={press: 1}"], "expected holds, there are none"),
    ("water/vortex-fish.yaml", ["shape.reference=centre-of-mass"], "no frame at the centre of mass"),
    ("p4/free-chain.yaml", ["shape.reference=link9"], "link9"),
    ("p4/free-chain.yaml", ["shape.connection=kinematic"], "kinematic needs runners with an edge or wheels"),
    ("p4/free-chain.yaml", ["shape.plane=[a1, a1]"], "expected two different variables"),
    ("p4/free-chain.yaml", ["gaits[aside].centre=[1, 1, 1]"], "expected one number a joint, 2 in all, got 3"),
    ("p4/purcell.yaml", ["shape.resistance[0].bodies=[fin*]"], "no body matches fin*"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass=[1, 1, 1, 1, 1, -1]"], "expected no negative eigenvalue"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass=[1, 1, 1, 1, 1, 1, 1]"], "expected 6 or 36 numbers"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: ellipsoid, semi_axes: [1, 0, 1]}"], "bodies[0].added_mass.semi_axes: expected positive lengths"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: ellipsoid, semi_axes: [1, 1e-9, 1]}"], "expected lengths within a factor of 1e6"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: cylinder, radius: -1, length: 1}"], "bodies[0].added_mass.radius: expected a number > 0"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: elliptic-cylinder, semi_axes: [1], length: 1}"], "bodies[0].added_mass.semi_axes"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: sphere, radius: 1e200}"], "bodies[0].added_mass"),
    ("p4/ellipses.yaml", ["bodies[0].added_mass={shape: cube, size: 1}"], "cube"),
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
