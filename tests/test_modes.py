"""saltus modes: the sequence, the totals and the transition graph of what held and slipped."""
import json
import math
import xml.etree.ElementTree as xml

import pytest

# VERIFY.md, Fig 4.1: {1} to the first time, {2} between the next two and the last two, else free;
# printed there to 1e-6.
FIG_4_1 = [("{1}", 0), ("{}", 1.570796), ("{2}", 4.027405), ("{}", 4.682574), ("{2}", 12.963180),
           ("{}", 13.073134)]


@pytest.fixture(scope="module")
def make(run, scenes, tmp_path_factory):
    """make("p3/fig-4-1", *settings) -> the run file."""
    folder = tmp_path_factory.mktemp("modes")

    def go(scene, *settings):
        path = folder / f"{scene.replace('/', '-')}-{abs(hash(settings))}.h5"
        sets = [x for s in settings for x in ("--set", s)]
        done = run("run", "-q", scenes / f"{scene}.yaml", *sets, "-o", path)
        assert done.code == 0, done.err
        return path

    return go


@pytest.fixture(scope="module")
def worm(make):
    return make("p3/fig-4-1", "integrator.type=event-driven", "time.step=0.01")


@pytest.fixture(scope="module")
def ball(make):
    return make("bouncing-ball", "integrator.type=event-driven", "time.step=0.01")


def of(run, path):
    done = run("modes", path, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_worm_s_sequence(run, worm):
    found = of(run, worm)
    assert [s["mode"] for s in found["sequence"]] == [name for name, _ in FIG_4_1]
    for stretch, (_, t) in zip(found["sequence"], FIG_4_1):
        assert abs(stretch["from"] - t) < 1e-6
    assert abs(found["sequence"][1]["from"] - math.pi / 2) < 1e-10
    assert found["sequence"][-1]["to"] == 24
    first = found["modes"][0]
    assert (first["name"], first["holds"], first["slips"]) == \
        ("{1}", ["runner runner1"], ["runner runner2"])
    assert [(e["causes"][0]["cause"], e["causes"][0]["at"]) for e in found["events"][:3]] == \
        [("start", None), ("stick", "runner runner1"), ("slip", "runner runner2")]
    assert found["labels"] == {"1": "runner runner1", "2": "runner runner2"}


def test_totals_add_up(run, worm):
    found = of(run, worm)
    count = {m["name"]: m["count"] for m in found["modes"]}
    assert count == {"{1}": 1, "{}": 3, "{2}": 2}
    assert abs(sum(m["duration"] for m in found["modes"]) - 24) < 1e-12
    held = next(m for m in found["modes"] if m["name"] == "{2}")
    assert abs(held["duration"] - (4.682574 - 4.027405 + 13.073134 - 12.963180)) < 4e-6
    arrows = {(t["from"], t["to"]): t["count"] for t in found["transitions"]}
    assert arrows == {("{1}", "{}"): 1, ("{}", "{2}"): 2, ("{2}", "{}"): 2}


def test_the_text_says_the_same(run, worm):
    done = run("modes", worm)
    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines() if line]
    rows = [line for line in lines if line[0][0].isdigit() and "." in line[0]]
    assert [row[2] for row in rows] == [name for name, _ in FIG_4_1]
    for row, (_, t) in zip(rows, FIG_4_1):
        assert abs(float(row[0]) - t) < 1e-6
    assert "1: runner runner1" in done.out


def test_time_stepping_records_them_on_request(run, make):
    """Moreau at 1 ms: within 2 steps of the events, and it may see short ones that are not there."""
    path = make("p3/fig-4-1", "output.modes=true")
    found = of(run, path)
    for name, t in FIG_4_1:
        assert any(s["mode"] == name and abs(s["from"] - t) < 2e-3 for s in found["sequence"]), name


def test_impacts_of_the_ball_are_a_loop(run, ball):
    found = of(run, ball)
    impacts = [e for e in found["events"] if e["impact"]]
    assert [e["mode"] for e in impacts[:10]] == ["{}"] * 10
    for e in impacts[:10]:  # restitution 0.5
        assert abs(e["kinetic_after"] / e["kinetic_before"] - 0.25) < 1e-9
    loop = next(t for t in found["transitions"] if t["from"] == t["to"] == "{}")
    assert loop["count"] == loop["impacts"] >= 10
    assert [m["name"] for m in found["modes"]] == ["{}", "{floor-ball}"]
    last = found["events"][-1]
    assert [c["cause"] for c in last["causes"]] == ["gap", "accumulation"]
    # Heights fall by 1/4: the bounces end at 3 times the first fall (VERIFY.md: to 1e-9).
    first = impacts[0]["t"]
    assert abs(last["causes"][1]["end"] - 3 * first) < 1e-9


def test_the_picture(run, worm, ball, tmp_path):
    for path, nodes, arrows in ((worm, 3, 3), (ball, 2, 2)):
        picture = tmp_path / "graph.svg"
        done = run("modes", path, "-o", picture)
        assert done.code == 0, done.err
        tree = xml.parse(picture)
        svg = "{http://www.w3.org/2000/svg}"
        assert tree.getroot().tag == f"{svg}svg"
        groups = tree.findall(f".//{svg}g")
        assert sum(g.find(f"{svg}circle") is not None for g in groups) == nodes
        assert sum(g.find(f"{svg}path") is not None for g in groups) == arrows
    names = {t.text for t in tree.iter(f"{svg}text")}
    assert {"{}", "{floor-ball}"} <= names
    assert any("Circle: a mode" in (n or "") for n in names)


def test_a_title_cannot_break_the_picture(run, scenes, tmp_path):
    path = tmp_path / "run.h5"
    done = run("run", "-q", scenes / "bouncing-ball.yaml", "--set", "output.modes=true", "--set",
               "time.end=0.1", "--set", "metrics=[]", "--set", "title=a <b> & \"c\"", "-o", path)
    assert done.code == 0, done.err
    assert run("modes", path, "-o", tmp_path / "g.svg").code == 0
    assert "a <b> & \"c\"" in [t.text for t in xml.parse(tmp_path / "g.svg").iter()]
    dot = run("modes", path, "--dot").out
    assert 'label="a <b> & \\"c\\""' in dot


def test_dot(run, worm, tmp_path):
    text = run("modes", worm, "--dot").out
    assert text.startswith("digraph modes {") and text.rstrip().endswith("}")
    assert text.count(" -> ") == 3 and "peripheries=2" in text
    assert run("modes", worm, "--dot", "-o", tmp_path / "g.dot").code == 0
    assert (tmp_path / "g.dot").read_text() == text


def test_a_run_without_modes_says_how_to_record_them(run, make, tmp_path):
    done = run("modes", make("p3/fig-4-1", "time.end=0.1", "integrator.type=moreau"))
    assert done.code == 2
    assert "output: {modes: true}" in done.err and "event-driven" in done.err
    assert not done.out


def test_refusals(run, worm, tmp_path):
    assert run("modes", tmp_path / "no.h5").code == 2
    (tmp_path / "text.h5").write_text("no run")
    assert run("modes", tmp_path / "text.h5").code == 2
    assert run("modes").code == 2
    done = run("modes", worm, "-o", worm)
    assert done.code == 2 and "it is the run" in done.err
    assert run("modes", worm, "-o", tmp_path / "no" / "g.svg").code == 2
    assert run("info", worm).code == 0


def test_a_report_holds_the_strip(run, worm, make, tmp_path):
    def info(path):
        page = tmp_path / "page.html"
        done = run("report", path, "-o", page)
        assert done.code == 0, done.err
        text = page.read_text()
        start = text.index('id="saltus-run">') + len('id="saltus-run">')
        return json.loads(text[start:text.index("</script>", start)])

    strip = info(worm)
    assert [strip["modes"]["modes"][m]["name"] for m in strip["modes"]["mode"]] == \
        [name for name, _ in FIG_4_1]
    assert "members" not in [t["name"] for t in strip["tables"]]
    assert info(make("p3/fig-4-1", "time.end=0.1", "integrator.type=moreau"))["modes"] is None
