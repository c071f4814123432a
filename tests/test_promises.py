"""Sentences of docs/scenes.md, run-format.md and step.md that no other test tries; each test quotes its own."""

import csv
import io
import json
import re

import h5py
import numpy as np
import pytest
import yaml
from conftest import ROOT, SCENES


def body(name, **more):
    """A ball of 10 cm that floats."""
    return {"name": name, "mass": 1, "solid": {"shape": "sphere", "radius": 0.1}, "joint": {"type": "floating"},
            "shapes": [{"name": name, "type": "sphere", "radius": 0.1}], **more}


def start(x=0.0, z=0.1, v=(0, 0, 0)):
    return {"q": [x, 0, z, 1, 0, 0, 0], "v": [*v, 0, 0, 0]}


FLOOR = {"name": "floor", "type": "half-space"}
REST = {"saltus": 1, "bodies": [body("ball")], "obstacles": [FLOOR], "contacts": [{"between": ["floor", "ball"]}],
        "initial": {"ball": start()}, "time": {"step": 1e-3, "end": 0.1}}


@pytest.fixture
def go(run, tmp_path):
    """go(scene, *sets) -> the summary and the columns of its frames."""
    def simulate(scene, *sets):
        path, file = tmp_path / "scene.yaml", tmp_path / "run.h5"
        path.write_text(scene if isinstance(scene, str) else yaml.safe_dump(scene, sort_keys=False))
        done = run("run", path, "--json", "-o", file, *(a for s in sets for a in ("--set", s)))
        assert done.code == 0, done.err
        with h5py.File(file) as f:
            return json.loads(done.out), {k: np.array(f["frames"][k]) for k in f["frames"]}
    return simulate


# --- scenes.md: numbers and units ------------------------------------------------------------------

SI = {"m": 1, "cm": 1e-2, "mm": 1e-3, "rad": 1, "deg": np.pi / 180, "s": 1, "ms": 1e-3, "us": 1e-6, "min": 60,
      "kg": 1, "g": 1e-3, "N": 1, "kN": 1e3, "mN": 1e-3, "m/s": 1, "cm/s": 1e-2, "mm/s": 1e-3, "rad/s": 1,
      "deg/s": np.pi / 180, "Hz": 2 * np.pi, "rpm": 2 * np.pi / 60}
# where a number of each quantity goes, and what moves by it
PLACES = {"m": "bodies[ball].joint.at.position=[0, {}, 0]", "rad": "motors[0].reference.phase={}", "s": "time.end={}",
          "kg": "bodies[ball].mass={}", "N": "supports[0].load={}", "rad/s": "motors[0].reference.omega={}",
          "m/s": "obstacles[belt].surface_velocity=[{}, 0, 0]"}
EVERY_QUANTITY = {
    "saltus": 1,
    "bodies": [{"name": "arm", "mass": 1, "inertia": [1, 1, 1], "joint": {"type": "revolute"}},
               {"name": "ball", "mass": 1, "inertia": [1, 1, 1], "joint": {"type": "planar", "at": {}}},
               body("parcel")],
    "supports": [{"bodies": ["ball"], "friction": 0.01, "load": 1}],
    "obstacles": [{"name": "belt", "type": "half-space", "surface_velocity": [0, 0, 0]}],
    "contacts": [{"between": ["belt", "parcel"], "friction": 0.9}],
    "motors": [{"joints": "arm", "kp": 10, "reference": {"type": "sine", "amplitude": 1, "omega": 1}}],
    "initial": {"ball": {"v": [1, 0, 0]}, "parcel": start()},
    "time": {"step": 1e-3, "end": 0.05}}


def units():
    """(quantity, unit) of every row of the table."""
    text = (ROOT / "docs/scenes.md").read_text().split("## Numbers and units")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.M)[1:]
    return [(quantity, unit) for quantity, known in rows for unit in known.split(", ")]


def test_the_table_of_units_is_read():
    assert {u for _, u in units()} == set(SI) and {q for q, _ in units()} == set(PLACES)


@pytest.mark.parametrize("quantity, unit", units())
def test_units(go, quantity, unit):
    """'A number may carry one of these'; `Hz` and `rpm` are turned into rad/s."""
    value = {"s": 0.004, "rad/s": 3}.get(quantity, 0.7)  # the same in SI, whatever the unit
    told = go(EVERY_QUANTITY, PLACES[quantity].format(f"{value / SI[unit]!r} {unit}"))[1]
    plain = go(EVERY_QUANTITY, PLACES[quantity].format(repr(value)))[1]
    other = go(EVERY_QUANTITY, PLACES[quantity].format(repr(2 * value)))[1]
    for key in ("t", "pose", "v", "kinetic"):
        np.testing.assert_allclose(told[key], plain[key], rtol=1e-10, atol=1e-12)
    assert any(a.shape != b.shape or abs(a - b).max() > 1e-6 for a, b in zip(plain.values(), other.values())), \
        "this place does not tell one number from another"


# --- scenes.md: what touches what ------------------------------------------------------------------

def slides(go, contacts, **more):
    """How far a ball slides in 0.1 s at 1 m/s without turning: 0.1 without friction."""
    scene = {**REST, "contacts": contacts, "initial": {"ball": start(v=(1, 0, 0))}, **more}
    return go(scene)[1]["pose"][-1, 0]


def test_where_two_entries_match_the_first_counts(go):
    smooth, rough = {"between": ["floor", "b*"]}, {"between": ["floor", "ball"], "friction": 0.5}
    assert abs(slides(go, [smooth, rough]) - 0.1) < 1e-9
    assert slides(go, [rough, smooth]) < 0.099
    assert slides(go, [rough, smooth]) == slides(go, [rough])


def test_only_shapes_that_a_contact_names_touch(go):
    fallen = go({**REST, "bodies": [body("ball"), body("other")], "initial": {"ball": start(), "other": start(1)}})[1]
    assert abs(fallen["pose"][-1, 2] - 0.1) < 1e-9
    assert abs(fallen["pose"][-1, 9] - (0.1 - 9.81 * 0.1 ** 2 / 2)) < 1e-9  # the mid-point is exact here


def overlapping(go, joint, **more):
    """Two balls 15 cm apart that want 20: how far the second is moved. No gravity."""
    bodies = [body("ball"), body("second", joint=joint)]
    scene = {**REST, "gravity": [0, 0, 0], "bodies": bodies, "obstacles": [],
             "contacts": [{"between": ["*", "*"], "friction": 0.1}], "initial": {"ball": start()}, **more}
    pose = go(scene)[1]["pose"]
    return abs(pose[-1, 7:10] - pose[0, 7:10]).max()


def test_bodies_joined_directly_never_touch_and_those_excluded(go):
    """'Two bodies joined directly never do'; exclusions: 'of which none touches another'."""
    slide = {"type": "prismatic", "parent": "ball", "at": {"position": [0.15, 0, 0]}}
    assert overlapping(go, slide) == 0
    floating = {"initial": {"ball": start(), "second": start(0.15)}}
    assert overlapping(go, {"type": "floating"}, **floating) > 0.01
    assert overlapping(go, {"type": "floating"}, **floating, exclusions=[{"bodies": ["*"]}]) == 0
    assert overlapping(go, {"type": "floating"}, **floating, exclusions=[{"bodies": ["ball", "second"]}]) == 0


def test_visuals_are_only_seen(go):
    seen = {**REST, "visuals": [{"name": "hat", "body": "ball", "type": "box", "size": [1, 1, 1]}]}
    one, two = go(REST)[1], go(seen)[1]
    assert all(one[k].tobytes() == two[k].tobytes() for k in one)


# --- scenes.md: bodies, start, drives --------------------------------------------------------------

def pendulum():
    """The page's double pendulum."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/scenes.md").read_text(), re.M | re.S)
    scene, = (yaml.safe_load(b) for b in blocks if "Double pendulum" in b)
    return {**scene, "time": {"step": 1e-3, "end": 0.05}}


def test_bodies_may_come_in_any_order(go):
    scene = pendulum()
    there, back = go(scene), go({**scene, "bodies": scene["bodies"][::-1]})
    assert all(there[1][k].tobytes() == back[1][k].tobytes() for k in there[1])


SIGNALS = {  # of the table of signals: what a prescribed joint does, by the formula there
    "sine": ({"amplitude": 0.3, "omega": 7, "phase": 0.4, "offset": 0.1},
             lambda t: 0.1 + 0.3 * np.sin(7 * t + 0.4)),
    "move": ({"from": 0.2, "to": 0.5, "start": 0.1, "duration": 0.3},
             lambda t: 0.2 + 0.3 * (lambda s: s - np.sin(2 * np.pi * s) / (2 * np.pi))(np.clip((t - 0.1) / 0.3, 0, 1))),
    "table": ({"times": [0.1, 0.2, 0.4], "values": [0.5, 0.9, 0.3]},
              lambda t: np.interp(t, [0.1, 0.2, 0.4], [0.5, 0.9, 0.3])),
    "sum": ({"terms": [0.25, {"type": "sine", "amplitude": 0.1, "omega": 5}]}, lambda t: 0.25 + 0.1 * np.sin(5 * t)),
}


@pytest.mark.parametrize("kind", SIGNALS)
def test_prescribed_joints_start_on_their_motion_and_follow_it(go, kind):
    keys, formula = SIGNALS[kind]
    scene = {"saltus": 1, "bodies": [{"name": "arm", "mass": 1, "inertia": [1, 1, 1], "joint": {
        "type": "revolute", "prescribed": {"type": kind, **keys}}}], "time": {"step": 1e-3, "end": 0.5}}
    frames = go(scene)[1]
    np.testing.assert_allclose(frames["coordinate"].ravel(), formula(frames["t"]), atol=1e-9)


def test_start_values_are_the_joint_s_in_every_coordinate_set(go):
    """'Values are those of the joint itself even if it is cut, so one scene serves every coordinate set.'"""
    scene = {**pendulum(), "initial": {"upper": {"q": 0.3, "v": 1.1}, "elbow": {"q": 0.5, "v": -0.7}}}
    tree = go({**scene, "coordinates": "minimal"})[1]
    cut = go({**scene, "coordinates": "maximal"})[1]
    np.testing.assert_allclose(cut["pose"][0], tree["pose"][0], atol=1e-12)
    np.testing.assert_allclose(cut["coordinate"][0], [0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(cut["kinetic"][0], tree["kinetic"][0], rtol=1e-12)
    assert tree["v"].shape[1] == 2 and cut["v"].shape[1] == 12


# --- scenes.md: the command line -------------------------------------------------------------------

def test_an_exported_scene_needs_no_other_file_and_moves_the_same(run, go, tmp_path):
    scene = SCENES / "robots/quadruped.yaml"
    alone = tmp_path / "alone" / "scene.yaml"
    alone.parent.mkdir()
    assert "robots:" in scene.read_text()
    assert run("export", scene, "-o", alone).code == 0
    ends = ("--set", "time.end=0.05")
    for i, path in enumerate((scene, alone)):
        done = run("run", path, *ends, "-q", "-o", tmp_path / f"{i}.h5")
        assert done.code == 0, done.err
    with h5py.File(tmp_path / "0.h5") as a, h5py.File(tmp_path / "1.h5") as b:
        for key in ("q", "v", "pose", "kinetic"):
            assert a["frames"][key][()].tobytes() == b["frames"][key][()].tobytes(), key


def test_csv_is_all_columns_of_frames_by_default(run, go, tmp_path):
    frames = go(REST)[1]
    done = run("csv", tmp_path / "run.h5")
    head, *rows = csv.reader(io.StringIO(done.out))
    assert len(rows) == len(frames["t"])
    assert len(head) == sum(1 if c.ndim == 1 else c.shape[1] for c in frames.values())


# --- run-format.md ---------------------------------------------------------------------------------

def test_every_column_has_unit_and_about_and_a_type_of_the_page(go, tmp_path):
    go({**REST, "output": {"modes": True}, "sensors": [{"name": "imu", "type": "imu", "body": "ball"}]})
    with h5py.File(tmp_path / "run.h5") as f:
        tables = [g for g in f.values() if isinstance(g, h5py.Group)]
        assert {"frames", "steps", "contacts", "modes", "sensor_imu"} <= set(f)
        for table in tables:
            if table.name in ("/checkpoints", "/checkpoint_data"):
                continue
            for column in table.values():
                assert {"unit", "about"} <= set(column.attrs), column.name
                assert column.dtype in ("<f8", "<i4", "<i8", "u1"), column.name


def test_a_force_is_the_impulse_divided_by_dt(go, tmp_path):
    go(REST)
    with h5py.File(tmp_path / "run.h5") as f:
        header = json.loads(f["header"][()].tobytes())
        end = f["frames/contact_end"][()]
        assert end[0] == 0  # "frame 0 has none"
        names = [s["name"] for s in header["shapes"]]
        normal, impulse = f["contacts/normal"][-1], f["contacts/impulse"][-1]
        a, b = names[f["contacts/a"][-1]], names[f["contacts/b"][-1]]
        sign = {("floor", "ball"): 1, ("ball", "floor"): -1}[a, b]  # "from a to b", "on b"
        np.testing.assert_allclose(sign * impulse / header["dt"], [0, 0, 9.81], atol=1e-8)
        np.testing.assert_allclose(sign * normal, [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("end, interval, last", [(0.1, 0.03, 0.1), (0.1, 0.05, 0.1), (0.0105, 0.002, 0.011)])
def test_frames_are_from_the_start_to_the_end(go, end, interval, last):
    """'One row every output.interval, the first at t = 0, the last at the end'; the end in whole steps."""
    t = go({**REST, "time": {"step": 1e-3, "end": end}, "output": {"interval": interval}})[1]["t"]
    assert t[0] == 0 and abs(t[-1] - last) < 1e-12
    np.testing.assert_allclose(np.diff(t)[:-1], interval, rtol=1e-9)


def test_checkpoints_are_one_at_the_start_and_one_every_interval(go, tmp_path):
    go({**REST, "output": {"checkpoint": 0.03}})
    with h5py.File(tmp_path / "run.h5") as f:
        steps, ends = f["checkpoints/step"][()], f["checkpoints/end"][()]
        assert steps.tolist()[:4] == [0, 30, 60, 90]
        assert len(f["checkpoint_data/bytes"]) == ends[-1] and np.all(np.diff(ends) > 0)


# --- step.md ---------------------------------------------------------------------------------------

NOT_ALONG_PATHS = {  # "PathStorage::holds says which models can be kept along paths"
    "planar": {"planar": True, "bodies": [{"name": "ball", "mass": 1, "inertia": [1, 1, 1],
                                           "joint": {"type": "planar"}}],
               "contacts": [], "obstacles": [], "initial": {}},
    "cuts": {"coordinates": "maximal", "bodies": [body("ball", joint={"type": "revolute"})], "initial": {}},
    "springs": {"springs": [{"name": "s", "between": ["world", "ball"], "from": [0, 0, 2], "stiffness": 1}]},
    "drags": {"drags": [{"name": "d", "body": "ball", "coefficient": 1}]},
    "runners": {"runners": [{"name": "r", "body": "ball"}]},
    "prescribed": {"bodies": [body("ball", joint={"type": "revolute", "prescribed": {"type": "sine", "amplitude": 1,
                                                                                     "omega": 1}})], "initial": {}},
    "compliant": {"contacts": [{"between": ["floor", "ball"], "friction": 0.1, "compliant": {"stiffness": 1e4}}]},
    "rolling": {"contacts": [{"between": ["floor", "ball"], "friction": 0.1, "rolling": 1e-3}]},
    "drilling": {"contacts": [{"between": ["floor", "ball"], "friction": 0.1, "drilling": 1e-3}]},
    "two that move": {"bodies": [body("ball"), body("other")], "contacts": [{"between": ["ball", "other"]}],
                      "initial": {"ball": start(), "other": start(1)}},
    "57 velocities": {"bodies": [body("ball")] + [body(f"b{i}", joint={
        "type": "spherical", "parent": f"b{i - 1}" if i else "ball", "at": {"position": [0.3, 0, 0]}}, shapes=[])
        for i in range(17)], "initial": {}, "gravity": [0, 0, 0]},
}


@pytest.mark.parametrize("what", NOT_ALONG_PATHS)
def test_what_paths_do_not_hold_is_refused_and_auto_takes_the_forest(run, go, tmp_path, what):
    scene = {**REST, **NOT_ALONG_PATHS[what], "time": {"step": 1e-3, "end": 0.002}}
    assert go(scene)[0]["storage"] == "forest"
    done = run("run", tmp_path / "scene.yaml", "--set", "integrator.storage=paths")
    assert done.code == 2 and "integrator.storage" in done.err, done.err


def test_what_paths_hold_they_take(go):
    assert go(REST)[0]["storage"] == "paths"


# --- fuzz/README.md: "words of each format in *.dict" ------------------------------------------------

def words(schema) -> set[str]:
    """Keys and values that a schema names."""
    if isinstance(schema, list):
        return set().union(*map(words, schema))
    if not isinstance(schema, dict):
        return set()
    named = [*schema.get("properties", ()), schema.get("const"), *schema.get("enum", ())]
    return {w for w in named if isinstance(w, str)}.union(*map(words, schema.values()))


def test_the_fuzzer_knows_every_word_of_scenes():
    """Else it never gets behind a key: rods, cables, wheels and fluids were unknown to it for a while."""
    schema = json.loads((ROOT / "docs/schema/scene.schema.json").read_text())
    known = set(re.findall(r'^"([\w-]+): "$', (ROOT / "tests/fuzz/scene.dict").read_text(), re.M))
    assert len(known) > 300 and not words(schema) - known
    seeds = "\n".join(p.read_text() for p in (ROOT / "tests/fuzz/corpus/scene").glob("*.yaml"))
    sections = {k for k in schema["properties"] if not re.search(rf"^{k}:", seeds, re.M)}
    assert sections <= {"title", "description", "robots"}, "no seed has these"  # robots are files: targets of their own


@pytest.mark.parametrize("seed", ["base", "cables", "ground", "legs", "loops", "rods", "swimmer", "worm"])
def test_seeds_of_the_fuzzer_are_good_scenes(run, seed):
    """Mutations of what is refused would be refused for the same reason."""
    done = run("export", ROOT / f"tests/fuzz/corpus/scene/{seed}.yaml")
    assert done.code == 0, done.err
