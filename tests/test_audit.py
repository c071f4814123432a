"""saltus audit: the energy balance of runs and the books of their impacts."""
import csv
import io
import json
import math
import signal
import time

import h5py
import numpy as np
import pytest

EVENTS = ("integrator.type=event-driven", "time.step=0.01")
# A pendulum that a drive turns at a given rate, on a slide; it hits a wall, and the drive's impulse
# works, too.
DRIVEN = """
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: cart, mass: 2, joint: {type: prismatic, axis: [1, 0, 0]}}
  - name: arm
    mass: 1
    com: [0, 0, -0.5]
    inertia: [0.1, 0.1, 0.1]
    joint: {type: revolute, parent: cart, axis: [0, 1, 0], prescribed: {type: move, to: 3, duration: 1.5}}
    shapes: [{name: hand, type: sphere, radius: 0.1, at: {position: [0, 0, -1]}}]
obstacles: [{name: wall, type: sphere, radius: 0.2, at: {position: [-0.9, 0, -0.6]}}]
contacts: [{between: [wall, hand], restitution: 0.5, friction: 0.2}]
initial: {cart: {q: [0], v: [0]}}
time: {step: 1e-3, end: 1.5}
"""
IMPACT_WORKS = ["work_normal", "work_tangential", "work_joints", "work_drives", "work_forces",
                "attenuated", "accumulated"]


@pytest.fixture(scope="module")
def make(run, scenes, tmp_path_factory):
    """make("bouncing-ball", *settings) or make(text, ...) -> the run file."""
    folder = tmp_path_factory.mktemp("audit")

    def go(scene, *settings):
        number = len(list(folder.iterdir()))
        path = folder / f"{number}.h5"
        source = scenes / f"{scene}.yaml"
        if "\n" in scene:
            source = folder / f"{number}.yaml"
            source.write_text(scene)
        sets = [x for s in settings for x in ("--set", s)]
        done = run("run", "-q", source, *sets, "-o", path)
        assert done.code == 0, done.err
        return path

    return go


def audit(run, path, *args, code=0):
    done = run("audit", path, "--json", *args)
    assert done.code == code, done.err
    return json.loads(done.out)


def table(path, name):
    with h5py.File(path, "r", swmr=True) as f:
        return {c: f[name][c][:] for c in f[name]}


def assert_books_close(path):
    """T+ - T- of every impact is the sum of its works, and the contacts' that of their parts."""
    impacts, parts = table(path, "impacts"), table(path, "impact_contacts")
    change = impacts["kinetic_after"] - impacts["kinetic_before"]
    works = sum(impacts[w] for w in IMPACT_WORKS)
    scale = np.maximum(impacts["kinetic_after"], impacts["kinetic_before"])
    assert (abs(change - works) <= 1e-13 * scale).all()
    first = 0
    for k, end in enumerate(impacts["contact_end"]):
        for column in ("work_normal", "work_tangential"):
            mine = parts[column][first:end][parts["kind"][first:end] == 0].sum()
            assert abs(mine - impacts[column][k]) <= 1e-13 * scale[k]
        assert impacts["contacts"][k] == end - first  # none has more than are kept
        first = end
    assert first == len(parts["kind"])
    return impacts


def test_the_bouncing_ball(run, make):
    path = make("bouncing-ball", *EVENTS)
    impacts = assert_books_close(path)
    whole = impacts["accumulated"] == 0
    ratio = (impacts["kinetic_after"] / impacts["kinetic_before"])[whole]
    print(f"{len(ratio)} impacts, T+/T- off by {abs(ratio - 0.25).max():.1e}")
    assert whole.sum() >= 15 and abs(ratio - 0.25).max() < 1e-12
    assert (~whole).sum() == 1 and (impacts["gained"] == 0).all()
    found = audit(run, path, "--strict")
    assert found["impacts"]["count"] == len(whole) and found["impacts"]["gained"] == 0
    assert found["balance"]["closes"] and found["balance"]["error"] < 1e-12
    assert found["balance"]["works"]["contacts"] == pytest.approx(-9.81, abs=1e-10)
    assert found["balance"]["impacts"] == pytest.approx(-9.81, abs=1e-10)
    assert found["balance"]["sum"] == pytest.approx(found["balance"]["change"], abs=1e-12)
    assert found["impacts"]["losses"][0]["t"] == pytest.approx(math.sqrt(2 / 9.81), abs=1e-10)
    assert found["impacts"]["paths"] == {"inclusion": len(whole)}


def test_time_stepping_has_impacts_by_default(run, make):
    path = make("bouncing-ball", "time.step=1e-3")
    impacts = assert_books_close(path)
    ratio = impacts["kinetic_after"][:3] / impacts["kinetic_before"][:3]
    assert abs(ratio - 0.25).max() < 1e-9  # of the solver's tolerance
    # Gravity's part of the step stands apart; a ball at rest has no impacts.
    assert 5 < len(impacts["t"]) < 100
    assert audit(run, path, "--strict")["balance"]["closes"]


def test_three_balls(run, make):
    path = make("three-balls", *EVENTS)
    impacts, parts = assert_books_close(path), table(path, "impact_contacts")
    assert len(impacts["t"]) == 1 and impacts["contacts"][0] == 2
    assert impacts["kinetic_after"][0] == pytest.approx(impacts["kinetic_before"][0], abs=1e-13)
    # Momentum: 4/3 between the first two, 2/3 on to the third.
    assert np.allclose(parts["impulse"][:, 0], [4 / 3, 2 / 3], atol=1e-12)
    assert np.allclose(parts["before"][:, 0], [-1, 0]) and np.allclose(parts["after"][:, 0], [1, 0])
    v = table(path, "impact_states")
    assert np.allclose(v["v_before"][0], [1, 0, 0]) and \
        np.allclose(v["v_after"][0], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)


def test_the_rocking_block(run, make):
    """Housner: T+/T- = (1 - 1.5 sin^2 alpha)^2 at every impact, tan alpha = 1/4."""
    path = make("rocking-block")
    impacts = assert_books_close(path)
    first = slice(0, 20)
    ratio = impacts["kinetic_after"][first] / impacts["kinetic_before"][first]
    assert abs(ratio - (1 - 1.5 / 17) ** 2).max() < 1e-7  # as the events' own test
    assert (impacts["gained"] == 0).all() and audit(run, path)["balance"]["closes"]


@pytest.mark.parametrize("integrator", ["moreau", "event-driven"])
def test_newtons_law_gains_and_is_flagged(run, make, integrator):
    """The tip sticks and turns back: G Lambda = (2 v, -u), and the gain is Lambda_T u / 2."""
    r = np.array([-math.sqrt(0.5), -math.sqrt(0.5) - 0.001])  # to the contact: x, z
    G = np.array([[1 + 3 * r[0] ** 2, -3 * r[0] * r[1]], [-3 * r[0] * r[1], 1 + 3 * r[1] ** 2]])
    gain = np.linalg.solve(G, [2, -0.6])[1] * 0.6 / 2
    before = 0.5 * (1 + 0.36)
    for law in ("newton", "capped"):
        path = make("slanting-rod", f"integrator.type={integrator}", f"integrator.impact={law}")
        impacts = assert_books_close(path)
        assert len(impacts["t"]) == 1
        found = audit(run, path, "--strict", code=1 if law == "newton" else 0)
        worst = found["impacts"]["worst"][0]
        text = run("audit", path).out
        summary = run("run", "--resume", path).out
        if law == "newton":
            assert worst["gained"] == pytest.approx(gain, rel=1e-9)
            assert worst["relative_gain"] == pytest.approx(gain / before, rel=1e-9)
            assert "gains 16.6 %: newton's law promises" in text
            assert found["impacts"]["gained"] == 1 and worst["complaint"]
            assert "1 gained kinetic energy, the most 16.6 %" in summary
        else:
            assert worst["gained"] == 0 and worst["relative_gain"] < 1e-10
            assert worst["restitution_share"] < 1 and "gains" not in text
            assert found["impacts"]["gained"] == 0
            assert "no impact gained energy" in summary
        assert worst["contacts"][0]["at"] == "contact floor - tip"
        assert worst["contacts"][0]["mu"] == 1 and worst["contacts"][0]["feasible"] is None


@pytest.mark.parametrize("integrator", ["moreau", "event-driven"])
def test_drives_at_impacts(run, make, integrator):
    path = make(DRIVEN, f"integrator.type={integrator}")
    impacts = assert_books_close(path)
    assert len(impacts["t"]) >= 1 and abs(impacts["work_drives"][0]) > 1e-3
    found = audit(run, path)
    assert found["balance"]["closes"] and found["balance"]["works"]["prescribed"] != 0
    if integrator == "event-driven":
        assert found["balance"]["error"] < 1e-10


def test_pressed_contacts_are_no_gain(run, make):
    """The snake's plastic contacts do positive work in some steps; no impact law gains there."""
    path = make("p0/pegs", "time.end=8", "metrics=[]")
    impacts = table(path, "impacts")
    assert (impacts["work_normal"] + impacts["work_tangential"] > 0).any()
    assert audit(run, path, "--strict")["impacts"]["gained"] == 0


def test_csv_and_text(run, make):
    path = make("bouncing-ball", *EVENTS)
    done = run("csv", path, "-t", "impacts", "-c", "t,kinetic_before")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert float(rows[0]["t (s)"]) == pytest.approx(math.sqrt(2 / 9.81), abs=1e-10)
    text = run("audit", path, "--worst", "2").out
    print(text)
    for words in ("energy balance from 0 to 2 s", "contacts, normal", "integrator error",
                  "The balance closes", "impacts under the law 'capped'", "inclusion",
                  "contact floor - ball", "worst by relative gain", "largest losses"):
        assert words in text, words
    assert text.count("  t = ") == 4  # two worst, two losses


def test_states_of_the_first_impacts_only(run, make):
    path = make("bouncing-ball", *EVENTS, "output.impacts=3")
    assert len(table(path, "impact_states")["q"]) == 3 and len(table(path, "impacts")["t"]) > 15


def test_a_resumed_run_has_the_same_impacts(run, start, scenes, tmp_path):
    """Stopped after its third impact and resumed: the tables of the whole run, bit for bit."""
    sets = [x for s in ("time.step=1e-6", "output.checkpoint=0.1", "output.impacts=5", "metrics=[]")
            for x in ("--set", s)]
    scene, whole, part = scenes / "bouncing-ball.yaml", tmp_path / "a.h5", tmp_path / "b.h5"
    process = start("run", scene, *sets, "-q", "-o", part)
    for _ in range(600):
        if part.exists() and len(table(part, "impacts")["t"]) >= 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    seen = len(table(part, "impacts")["t"])
    assert run("run", "-q", "--resume", part, timeout=300).code == 0
    assert run("run", "-q", scene, *sets, "-o", whole, timeout=300).code == 0
    for name in ("impacts", "impact_contacts", "impact_states"):
        a, b = table(whole, name), table(part, name)
        for column in a:
            assert a[column].tobytes() == b[column].tobytes(), f"{name}/{column}"
    assert 3 <= seen < len(a["q"]) + 100 and len(a["q"]) == 5


def test_bad_input(run, make, tmp_path):
    missing = run("audit", tmp_path / "none.h5")
    assert missing.code == 2 and "none.h5" in missing.err
    old = make("bouncing-ball", *EVENTS)
    with h5py.File(old, "r+") as f:
        for name in ("impacts", "impact_contacts", "impact_states"):
            del f[name]
    for command in (("audit", old), ("audit", old, "--json")):
        done = run(*command)
        assert done.code == 2 and "has no table of impacts" in done.err, done.err
    # Everything else reads it as before.
    assert run("info", old).code == 0 and run("modes", old).code == 0
    assert run("report", old, "-o", tmp_path / "old.html").code == 0
    plain = make("bouncing-ball", *EVENTS)
    assert run("audit", plain, "--worst", "-1").code == 2
    assert run("audit", plain, "--tolerance", "0").code == 2
    loop = make("loops/bricard", "time.end=0.2", "metrics=[]")  # a second-order error
    assert run("audit", loop, "--strict").code == 0
    outcome = run("audit", loop, "--strict", "--tolerance", "1e-10")
    assert outcome.code == 1 and "DOES NOT CLOSE" in outcome.out


def test_damage_is_told(run, make):
    path = make("bouncing-ball", *EVENTS)
    with h5py.File(path, "r+") as f:
        f["impacts/path"][0] = 99
    done = run("audit", path)
    assert done.code == 2 and "damaged" in done.err
