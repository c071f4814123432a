"""Good runs: summary, schema, --set, the run file, determinism, resume, failures of a run."""
import csv
import io
import itertools
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import h5py
import jsonschema
import numpy as np
import pytest
import yaml

from conftest import all_scenes

SUMMARY_KEYS = {"t", "steps", "wall_s", "steps_per_s", "unconverged_steps", "worst_residual",
                "max_penetration", "max_joint_gap", "energy", "metrics"}
WORKS = ["motors", "prescribed", "muscles", "external", "dampers", "contacts", "friction", "joints",
         "correction", "integrator"]
TABLES = {
    "contacts": {"kind": 1, "a": 1, "b": 1, "feature": 1, "mode": 1, "gap": 1, "point": 3,
                 "normal": 3, "impulse": 3, "normal_impulse": 1},
    "frames": {"t": 1, "step": 1, "q": "nq", "v": "nv", "pose": None, "com": 3, "coordinate": None,
               "motor": None, "contact_end": 1, "undetermined": 1, "kinetic": 1,
               "potential": 1,
               **{"work_" + w: 1 for w in [*WORKS, "impacts"]}},
    "steps": {"t": 1, "iterations": 1, "residual": 1, "converged": 1, "restitution_share": 1,
              "raw_penetration": 1, "penetration": 1, "raw_joint_gap": 1, "joint_gap": 1,
              "energy_error": 1, "wall_s": 1},
    "impact_contacts": {"kind": 1, "a": 1, "b": 1, "feature": 1, "before": 3, "after": 3,
                        "impulse": 3, "work_normal": 1, "work_tangential": 1, "restitution": 1,
                        "mu": 1, "feasible": 1},
    "impact_states": {"q": "nq", "v_before": "nv", "v_after": "nv"},
    "impacts": {"t": 1, "step": 1, "kinetic_before": 1, "kinetic_after": 1, "work_normal": 1,
                "work_tangential": 1, "work_joints": 1, "work_drives": 1, "work_forces": 1,
                "attenuated": 1, "accumulated": 1, "gained": 1, "slack": 1,
                "restitution_share": 1, "attenuation": 1, "bound": 1, "path": 1, "contacts": 1,
                "contact_end": 1},
}


def sets(**values) -> list[str]:
    """sets(time__end=3) -> ["--set", "time.end=3"]"""
    return [x for k, v in values.items() for x in ("--set", f"{k.replace('__', '.')}={v}")]


def summary_of(run, *args, code=0) -> dict:
    outcome = run("run", *args, "--json")
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


def text_of(dataset) -> str:
    return bytes(dataset[:]).decode()


def datasets(path) -> dict[str, np.ndarray]:
    found = {}
    with h5py.File(path, "r", swmr=True) as f:
        f.visititems(lambda name, o: found.update({name: o[()]}) if isinstance(o, h5py.Dataset)
                     else None)
    return found


def without_wall(summary: dict) -> dict:
    return {k: v for k, v in summary.items() if k not in ("wall_s", "steps_per_s", "scene")}


def assert_same_run(a, b, checkpoints=True):
    """Bit for bit, except for wall time."""
    first, second = datasets(a), datasets(b)
    assert first.keys() == second.keys()
    for name, x in first.items():
        y = second[name]
        if name == "steps/wall_s":
            assert x.shape == y.shape
        elif name == "summary":
            x, y = (without_wall(json.loads(bytes(z))) for z in (x, y))
            assert x == y
        elif name == "scene":
            continue  # a resumed run may hold the effective text
        elif name.startswith("checkpoint") and not checkpoints:
            continue
        else:
            assert x.shape == y.shape, name
            assert x.tobytes() == y.tobytes(), f"{name} differs"
    rows = {k: v.shape[0] for k, v in first.items()}
    print(f"identical: {rows['steps/t']} steps, {rows['frames/t']} frames, "
          f"{rows['contacts/kind']} contacts, {rows['checkpoints/step']} checkpoints")


@pytest.fixture(scope="module")
def pegs(run, scenes, tmp_path_factory):
    """The snake among the pegs for 6 s."""
    path = tmp_path_factory.mktemp("pegs") / "pegs.h5"
    outcome = run("run", scenes / "p0/pegs.yaml", *sets(time__end=6), "-o", path)
    assert outcome.code == 0, outcome.err
    return path


# --- summary


@pytest.mark.parametrize("scene", all_scenes(), ids=lambda p: p.stem)
def test_json(run, scene):
    outcome = run("run", scene, "--json", *sets(time__end=0.2))
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    summary = json.loads(outcome.out)
    assert SUMMARY_KEYS <= summary.keys(), SUMMARY_KEYS - summary.keys()
    text = yaml.safe_load(scene.read_text())
    asked = [m["name"] for m in text.get("metrics", [])]
    given = list(summary["metrics"])
    assert given[:len(asked)] == asked
    # Only a worm measures itself: its masses or joints.
    assert (len(given) > len(asked)) == ("worm" in text)
    assert isinstance(summary["steps"], int) and isinstance(summary["unconverged_steps"], int)
    # Whole steps: those of a gait may be parts of its period, and the last one ends after 0.2 s.
    assert summary["steps"] == math.ceil(0.2 / summary["dt"] - 1e-9)
    assert summary["t"] == pytest.approx(summary["steps"] * summary["dt"], abs=1e-12)
    assert summary["unconverged_steps"] == 0
    assert summary["max_penetration"] <= 1e-6 and summary["max_joint_gap"] <= 1e-9
    energy = summary["energy"]
    assert {"kinetic", "potential", "change", *WORKS} <= energy.keys()
    print(f"{scene.stem}: residual {summary['worst_residual']:.1e} m/s, penetration "
          f"{summary['max_penetration']:.1e} m, joint gap {summary['max_joint_gap']:.1e} m, "
          f"{summary['steps_per_s']:.0f} steps/s")
    assert "NaN" not in outcome.out and "nan" not in outcome.out.lower().replace("nano", "")


def test_summary_text(run, scenes, tmp_path):
    scene = scenes / "p0/flat.yaml"
    out = tmp_path / "out.h5"
    outcome = run("run", scene, *sets(time__end=0.5), "-o", out)
    assert outcome.code == 0 and outcome.err == ""
    print(outcome.out)
    lines = outcome.out.splitlines()
    assert lines[0] == yaml.safe_load(scene.read_text())["title"]
    assert max(map(len, lines)) < 250 and all(line.isprintable() for line in lines)
    for word in ("0.5 s", "500 steps", "wall time", "steps/s", "residual", "unconverged",
                 "penetration", "joint gap", "energy", str(out)):
        assert word in outcome.out, word
    summary = json.loads(text_of(h5py.File(out)["summary"]))
    for name, value in summary["metrics"].items():
        shown = next(line for line in lines if line.split()[0] == name)
        if value is None:
            assert shown.endswith("not reached")
        else:
            assert float(shown.split()[-1]) == pytest.approx(value, rel=1e-8)


def test_quiet(run, scenes):
    assert run("run", scenes / "p0/flat.yaml", *sets(time__end=0.05), "-q") == (0, "", "")


def test_version_and_help(run):
    outcome = run("--version")
    assert outcome.code == 0 and re.match(r"saltus \d+\.\d+\.\d+ \([0-9a-f]+", outcome.out)
    for command in ([], ["run"], ["info"], ["csv"], ["schema"]):
        outcome = run(*command, "--help")
        assert outcome.code == 0 and outcome.out and outcome.err == ""


def test_metrics_are_null_until_reached(run, scenes):
    metrics = summary_of(run, scenes / "p0/flat.yaml", *sets(time__end=1))["metrics"]
    assert metrics["v1"] is None and metrics["v2"] is None
    assert metrics["x6_9"] is None and metrics["y6_9"] is None
    assert metrics["work"] > 0 and metrics["x6_largest"] > 0
    metrics = summary_of(run, scenes / "p0/flat.yaml", *sets(time__end=4.5))["metrics"]
    assert metrics["v1"] is not None and metrics["v2"] is None
    metrics = summary_of(run, scenes / "p0/pegs.yaml", *sets(time__end=1))["metrics"]
    assert metrics["t_2m"] is None


@pytest.mark.parametrize("end", ["0.0504", "0.0506", "0.05", "0.0099"])
def test_a_window_to_the_end_is_reached(run, scenes, end):
    """Also when the end is no multiple of the step."""
    summary = summary_of(run, scenes / "tumbling-body.yaml", *sets(time__end=end))
    print(f"end {end} s: t = {summary['t']:g} s")
    assert summary["metrics"]["vx"] is not None
    assert abs(summary["t"] - float(end)) <= summary["dt"]


METRIC_SCENE = """\
saltus: 1
gravity: [0, 0, -10]
bodies:
  - name: ball
    mass: 2
    joint: {type: prismatic, axis: [0, 0, 1]}
    shapes: [{type: sphere, radius: 0.5}]
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball]}]
initial: {ball: {q: 0.5, v: 0}}
time: {step: 1e-3, end: 1}
probes:
  - {name: top, body: ball, point: [0, 0, 0.5]}
  - {name: com, body: centre-of-mass}
metrics:
  - {name: force, type: mean-force, objects: floor, from: 0.2, to: 0.8}
  - {name: force_ball, type: mean-force, objects: ball, from: 0.2}
  - {name: top, type: position, probe: top, axis: z, at: 0.5}
  - {name: vz, type: mean-velocity, probe: com, axis: z}
  - {name: high, type: largest, probe: com, axis: z}
  - {name: low, type: smallest, probe: com, axis: z}
  - {name: pass, type: first-pass, probe: top, axis: z, value: 2}
  - {name: work, type: work}
"""


def test_metrics_of_a_ball_at_rest_and_of_one_thrown(run, tmp_path):
    scene = tmp_path / "ball.yaml"
    scene.write_text(METRIC_SCENE)
    m = summary_of(run, scene)["metrics"]
    print("at rest", m)
    assert m["force"] == pytest.approx(20, rel=1e-9), "the weight, 2 kg at 10 m/s^2"
    assert m["force_ball"] == pytest.approx(20, rel=1e-9)
    assert m["top"] == pytest.approx(1, abs=1e-9)
    assert m["vz"] == pytest.approx(0, abs=1e-12)
    assert m["pass"] is None and m["work"] == 0
    m = summary_of(run, scene, *sets(initial__ball__v=8))["metrics"]
    print("thrown", m)
    # z = 1 + 8 t - 5 t^2 at the top; back after 1.6 s
    assert m["top"] == pytest.approx(1 + 4 - 1.25, abs=1e-3)
    assert m["pass"] == pytest.approx((8 - np.sqrt(44)) / 10, abs=1e-3)
    assert m["high"] == pytest.approx(0.5 + 3.2, abs=1e-3)
    assert m["low"] == pytest.approx(0.5, abs=1e-12)
    assert m["vz"] == pytest.approx(3, abs=1e-2)
    assert m["force"] == 0


# --- schema


@pytest.fixture(scope="module")
def schema(run):
    outcome = run("schema")
    assert outcome.code == 0
    s = json.loads(outcome.out)
    jsonschema.Draft202012Validator.check_schema(s)
    return s


@pytest.fixture(scope="module")
def validator(schema):
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("scene", all_scenes(), ids=lambda p: p.stem)
def test_scenes_obey_the_schema(validator, scene):
    errors = [e.message for e in validator.iter_errors(yaml.safe_load(scene.read_text()))]
    assert errors == []


def minimal(schema, root):
    """A value that the schema allows."""
    if "$ref" in schema:
        return minimal(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return minimal(schema["anyOf"][0], root)
    kind = schema["type"]
    if kind == "object":
        return {k: minimal(schema["properties"][k], root) for k in schema.get("required", [])}
    if kind == "array":
        return [minimal(schema["items"], root)] * schema.get("minItems", 1)
    if kind == "string":
        return "1 " if "pattern" in schema else "x"
    if kind == "boolean":
        return True
    return max(1, schema.get("minimum", 1))


def samples(schema, root, path="", depth=0):
    """(path, value): every alternative, every choice and every key once, the rest minimal."""
    if "$ref" in schema:
        if depth > 4:
            return
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "enum" in schema:
        for x in schema["enum"]:
            yield f"{path}={x}", x
    elif "anyOf" in schema:
        for x in schema["anyOf"]:
            yield from samples(x, root, path, depth + 1)
    elif schema.get("type") == "object":
        base = minimal(schema, root)
        if "type" in base:
            path += f"({base['type']})"
        yield path, base
        for key, inner in schema.get("properties", {}).items():
            for name, value in samples(inner, root, f"{path}.{key}", depth + 1):
                yield name, {**base, key: value}
        if isinstance(schema.get("additionalProperties"), dict):
            for name, value in samples(schema["additionalProperties"], root, f"{path}.*",
                                       depth + 1):
                yield name, {**base, "x": value}
    elif schema.get("type") == "array":
        for name, value in samples(schema["items"], root, path + "[]", depth + 1):
            yield name, [value] * schema.get("minItems", 1)
    else:
        yield path, minimal(schema, root)


# Complaints about what a key means are right here; complaints about the key or its type are not.
NOT_ACCEPTED = re.compile(
    r"unknown key|there is none|expected (a |an )?(number|whole|text|list|mapping|true|one of|\d+ )")


def test_every_key_of_the_schema_is_read(run, schema, validator, tmp_path):
    seen, refused, invalid, crashed = {}, [], [], []
    scene = tmp_path / "scene.yaml"
    body = {"name": "x", "mass": 1, "inertia": [1, 1, 1], "joint": {"type": "revolute"}}
    for key, inner in schema["properties"].items():
        for path, value in samples(inner, schema, key):
            # what every kind of joint has is looked at once
            if path in seen or re.search(r"joint\((?!revolute).*(at|in_body|prescribed)\W", path):
                continue
            whole = {"saltus": 1, "bodies": [body], "time": {"end": 0.002, "step": 0.001},
                     key: value}
            if key == "bodies":
                whole["bodies"] = value + [{**body, "name": "moving"}]
            if not validator.is_valid(whole):
                invalid.append((path, value))
            scene.write_text(json.dumps(whole))
            outcome = run("run", scene, "-q", timeout=20)
            seen[path] = outcome.code
            if outcome.code == 2 and NOT_ACCEPTED.search(outcome.err):
                refused.append((path, outcome.err.strip()))
            if outcome.code not in (0, 1, 2):
                crashed.append((path, value, outcome))
    print(f"{len(seen)} keys and choices, {sum(c == 0 for c in seen.values())} of them ran")
    print(*refused, sep="\n")
    print(*crashed, sep="\n")
    assert not crashed, crashed[:5]
    assert not invalid, invalid[:5]
    assert not refused, refused[:5]
    assert len(seen) > 200


@pytest.mark.parametrize("value", ["3", "0.3", "1e-3", "-2", "40 deg", "12.2 cm"])
def test_reader_and_schema_agree_on_numbers(run, validator, tmp_path, value):
    """A number where an object may stand: a constant signal, a start by number, a friction."""
    places = {
        "motors": f"[{{joints: b, kp: 1, reference: {value}}}]",
        "initial": f"{{b: {value}}}",
        "supports": f"[{{bodies: b, friction: {value}}}]",
        "gravity": f"[0, 0, {value}]",
    }
    for key, text in places.items():
        scene = tmp_path / "scene.yaml"
        scene.write_text("saltus: 1\nbodies: [{name: b, mass: 1, inertia: [1, 1, 1], "
                         f"joint: {{type: revolute}}}}]\ntime: {{end: 0.01}}\n{key}: {text}\n")
        read = run("run", scene, "-q").code == 0
        valid = validator.is_valid(yaml.safe_load(scene.read_text()))
        # what the reader takes, the schema allows; units and signs the schema leaves to the reader
        assert valid or not read, f"{key}: {text}: the reader takes it, the schema does not"
        if value in ("3", "0.3"):
            assert read and valid, f"{key}: {text}"


@pytest.mark.parametrize("place", ["", "time", "snake", "snake.motor", "solver", "metrics[0]",
                                   "probes[0]", "obstacles[0]", "obstacles[0].at", "contacts[0]"])
def test_an_unknown_key_fails_both(run, validator, scenes, tmp_path, place):
    whole = yaml.safe_load((scenes / "p0/pegs.yaml").read_text())
    at = whole
    for step in re.findall(r"\w+", place):
        at = at[int(step) if step.isdigit() else step]
    at["colour"] = "red"
    scene = tmp_path / "scene.yaml"
    scene.write_text(json.dumps(whole, indent=1))
    assert not validator.is_valid(whole)
    outcome = run("run", scene, "-q")
    assert outcome.code == 2 and "colour: unknown key" in outcome.err
    assert (place + ".colour" if place else ": colour") in outcome.err


# --- --set


@pytest.fixture(scope="module")
def flat(run, scenes):
    def go(**values):
        return summary_of(run, scenes / "p0/flat.yaml", *sets(**{"time__end": 0.3, **values}))

    return go


@pytest.fixture(scope="module")
def flat_base(flat):
    return flat()


@pytest.mark.parametrize(
    "values, key, value",
    [
        ({"snake__friction": 0.3}, None, None),
        ({"snake__friction": "[0.1, 0.3]"}, None, None),
        ({"time__step": 5e-4}, "steps", 600),
        ({"time__step": "2 ms"}, "steps", 150),
        ({"coordinates": "minimal"}, "coordinates", 13),
        ({"integrator__projection": "root-fixed"}, None, None),
        ({"integrator__projection": "none"}, None, None),
        ({"integrator__motors": "implicit-end"}, None, None),
        ({"snake__motor__kp": 400}, None, None),
        ({"snake__motor__kd": 4}, None, None),
        ({"snake__motor__limit": 1}, None, None),
        ({"snake__gait__amplitude": "30 deg"}, None, None),
        ({"snake__gait__delta": -0.6}, None, None),
        ({"snake__links": 12}, "coordinates", 36),
        ({"snake__mass": "700 g"}, None, None),
        ({"title": "other"}, "title", "other"),
    ],
    ids=str,
)
def test_set_reaches(flat, flat_base, values, key, value):
    summary = flat(**values)
    if key:
        assert summary[key] == value
    if key != "title":
        works = summary["energy"]["motors"], flat_base["energy"]["motors"]
        print(f"{values}: work {works[0]:.9g} J, was {works[1]:.9g} J")
        assert works[0] != works[1]


def test_set_reaches_the_explicit_motors(flat):
    """They are stable below 0.5 ms only."""
    work = [flat(time__step=2.5e-4, integrator__motors=m)["energy"]["motors"]
            for m in ("implicit", "implicit-end", "explicit")]
    print("work at 0.25 ms: implicit, at the end, explicit:", work)
    assert len(set(work)) == 3
    assert work == pytest.approx([work[0]] * 3, rel=0.02)


@pytest.mark.parametrize("values", [
    {"solver__type": "jor"}, {"solver__iterate": "velocity"}, {"solver__bilaterals": "prox"},
    {"solver__type": "jor", "solver__iterate": "velocity"}, {"solver__tolerance": 1e-12},
    {"solver__alpha": 0.7}], ids=str)
def test_set_reaches_the_solver(flat, flat_base, values):
    """Another way to the same answer."""
    summary = flat(**values, solver__max_iterations=100000)
    assert summary["solver"] == values.get("solver__type", "sor")
    assert without_wall(summary) != without_wall(flat_base)
    if "solver__iterate" not in values:  # the same iteration in other words
        assert summary["mean_iterations"] != flat_base["mean_iterations"]
    gap = abs(summary["energy"]["motors"] / flat_base["energy"]["motors"] - 1)
    print(f"{values}: {summary['mean_iterations']:.1f} iterations (was "
          f"{flat_base['mean_iterations']:.1f}), work differs by {gap:.1e}")
    assert gap < 1e-6


def test_set_of_a_list_entry_by_name_and_by_number(run, scenes):
    by_name = summary_of(run, scenes / "p0/pegs.yaml",
                         *sets(time__end=0.5), "--set", "obstacles[peg3].radius=0.1")
    by_number = summary_of(run, scenes / "p0/pegs.yaml",
                           *sets(time__end=0.5), "--set", "obstacles[2].radius=0.1")
    plain = summary_of(run, scenes / "p0/pegs.yaml", *sets(time__end=0.5))
    assert without_wall(by_name) == without_wall(by_number) != without_wall(plain)


def test_the_last_set_counts(run, scenes):
    args = [*sets(time__end=5), *sets(time__end=0.02)]
    assert summary_of(run, scenes / "tumbling-body.yaml", *args)["steps"] == 20


def test_a_whole_section_and_a_missing_one(run, scenes):
    args = ["--set", "time={step: 2e-3, end: 0.1}", "--set", "output.interval=0.05"]
    assert summary_of(run, scenes / "incline.yaml", *args)["steps"] == 50


# --- the run file


def test_tables(pegs, scenes, run):
    with h5py.File(pegs, "r") as f:
        attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in f.attrs.items()}
        print(attributes)
        assert attributes["format"] == "saltus-run" and attributes["format_version"] == 2
        version = f"saltus {attributes['saltus_version']} ({attributes['commit']})"
        assert run("--version").out.strip() == version
        header = json.loads(text_of(f["header"]))
        scene = yaml.safe_load(text_of(f["scene"]))
        original = yaml.safe_load((scenes / "p0/pegs.yaml").read_text())
        original["time"]["end"] = 6
        assert float(scene["time"].pop("end")) == original["time"].pop("end")
        assert scene == original
        assert text_of(f["scene"]).startswith("# ") and "--set time.end=6" in text_of(f["scene"])
        for table, columns in TABLES.items():
            assert set(f[table]) == set(columns)
            rows = {f[table][c].shape[0] for c in columns}
            assert len(rows) == 1
            for name, width in columns.items():
                column = f[table][name]
                width = header[width] if isinstance(width, str) else width
                if width == 1:
                    assert column.ndim == 1
                elif width:
                    assert column.shape[1:] == (width,)
                assert column.chunks and column.maxshape[0] is None, "streams"
                assert {"unit", "about"} <= column.attrs.keys()
        assert f["frames/pose"].shape[1] == 7 * len(header["bodies"])
        assert f["frames/coordinate"].shape[1] == len(header["coordinates"])
        assert f["steps/t"].shape[0] == 6000 and f["frames/t"].shape[0] == 601
        np.testing.assert_allclose(f["frames/t"], np.arange(601) * 0.01, atol=1e-12)
        np.testing.assert_array_equal(f["frames/step"], np.arange(601) * 10)
        np.testing.assert_array_equal(f["checkpoints/step"], np.arange(7) * 1000)
        units = {c: f[c].attrs["unit"].decode() for c in
                 ("frames/t", "steps/residual", "contacts/impulse", "frames/kinetic")}
        assert units == {"frames/t": "s", "steps/residual": "m/s", "contacts/impulse": "N s",
                         "frames/kinetic": "J"}
        for table, columns in TABLES.items():
            for name in columns:
                if name == "feasible":  # nan: the law computes none
                    continue
                assert np.all(np.isfinite(f[table][name][()])), f"{table}/{name}"
        summary = json.loads(text_of(f["summary"]))
        assert summary["worst_residual"] == f["steps/residual"][()].max()
        assert summary["max_penetration"] == f["steps/penetration"][()].max()
        assert summary["max_joint_gap"] == f["steps/joint_gap"][()].max()
        assert summary["max_iterations"] == f["steps/iterations"][()].max()
        assert np.all(np.diff(f["steps/wall_s"]) >= 0)


def test_the_scene_inside_is_the_text_that_was_read(run, scenes, tmp_path):
    scene = scenes / "three-balls.yaml"
    assert run("run", scene, "-o", tmp_path / "out.h5", "-q").code == 0
    with h5py.File(tmp_path / "out.h5") as f:
        assert bytes(f["scene"][:]) == scene.read_bytes()


def test_the_scene_inside_runs_again_to_the_same_bits(run, scenes, tmp_path, pegs):
    scene = tmp_path / "again.yaml"
    with h5py.File(pegs) as f:
        scene.write_text(text_of(f["scene"]))
    assert run("run", scene, "-o", tmp_path / "again.h5", "-q").code == 0
    assert_same_run(pegs, tmp_path / "again.h5")


def test_contacts(pegs):
    with h5py.File(pegs, "r") as f:
        end = f["frames/contact_end"][:]
        c = {k: f["contacts"][k][:] for k in TABLES["contacts"]}
        header = json.loads(text_of(f["header"]))
    assert end[0] >= 0 and np.all(np.diff(end) >= 0)
    assert end[-1] == len(c["kind"])
    length = np.linalg.norm(c["normal"], axis=1)
    print(f"{end[-1]} contacts in {len(end)} frames; |normal| - 1 up to {abs(length - 1).max():.1e}")
    assert abs(length - 1).max() < 1e-12
    assert set(np.unique(c["mode"][c["kind"] == 0])) == {3}, "pegs without friction"
    assert set(np.unique(c["mode"][c["kind"] == 1])) <= {1, 2}
    assert set(np.unique(c["kind"])) == {0, 1}
    contact, support = c["kind"] == 0, c["kind"] == 1
    names = [s["name"] for s in header["shapes"]]
    touching = {(names[a], names[b]) for a, b in zip(c["a"][contact], c["b"][contact])}
    assert all(a.startswith("peg") and b.startswith("link") for a, b in touching), touching
    assert (c["feature"][contact] >= 0).all() and header["contact_laws"] > 0
    assert (c["a"][support] == -1).all() and header["supports"] == len(header["bodies"])
    assert set(c["b"][support]) == set(range(len(header["bodies"])))
    assert (c["feature"][support] == 0).all(), "one support a link"
    # pegs are frictionless: the impulse is along the normal, and pushes
    normal = np.einsum("ij,ij->i", c["impulse"], c["normal"])
    np.testing.assert_allclose(normal[contact], c["normal_impulse"][contact], atol=1e-12)
    assert c["normal_impulse"][contact].min() >= 0
    tangential = c["impulse"] - normal[:, None] * c["normal"]
    assert np.linalg.norm(tangential[contact], axis=1).max() < 1e-12
    # supports: Coulomb's disc of mu m g dt, in the plane
    size = np.linalg.norm(c["impulse"][support], axis=1)
    load = 0.2 * 0.6818181818181818 * 9.81 * 1e-3
    print(f"friction up to {size.max():.9g} N s, allowed {load:.9g} N s")
    assert size.max() <= load * (1 + 1e-6)
    slipping = c["mode"][support] == 2
    np.testing.assert_allclose(size[slipping], load, rtol=1e-5)
    assert (size[c["mode"][support] == 1] <= load * (1 + 1e-6)).all()
    # within a frame a contact occurs once; contacts first, in the order of their keys
    keys = list(zip(*(c[k].tolist() for k in ("kind", "a", "b", "feature"))))
    for a, b in zip(np.r_[0, end[:-1]], end):
        assert len(set(keys[a:b])) == b - a
        assert keys[a:b] == sorted(keys[a:b])


def test_peg_contacts_lie_on_the_pegs(pegs):
    with h5py.File(pegs, "r") as f:
        header = json.loads(text_of(f["header"]))
        kind, a, point, gap = (f["contacts"][k][:] for k in ("kind", "a", "point", "gap"))
    worst = 0
    for k, i, x, g in zip(kind, a, point, gap):
        if k == 0:
            peg = header["shapes"][i]
            assert peg["type"] == "peg"
            distance = np.linalg.norm(x[:2] - np.array(peg["pose"][:2])) - peg["radius"]
            worst = max(worst, abs(distance) - abs(g))
    assert (kind == 0).any()
    print(f"contact points off the pegs' surface by up to {worst:.1e} m beyond the gap")
    assert worst < 1e-3


@pytest.mark.parametrize("scene, end", [
    ("p0/pegs", 6), ("p0/anisotropic", 1), ("bouncing-ball", 2), ("incline", 1),
    ("three-balls", 1), ("satellite", 4), ("tumbling-body", 3)])
def test_energy_closes(run, scenes, tmp_path, scene, end):
    out = tmp_path / "out.h5"
    assert run("run", scenes / f"{scene}.yaml", *sets(time__end=end), "-o", out, "-q").code == 0
    with h5py.File(out, "r") as f:
        total = f["frames/kinetic"][:] + f["frames/potential"][:]
        works = {w: f[f"frames/work_{w}"][:] for w in WORKS}
        summary = json.loads(text_of(f["summary"]))["energy"]
    gap = total - total[0] - sum(works.values())
    scale = max(abs(total).max(), max(abs(w).max() for w in works.values()))
    own = abs(works["integrator"]).max()
    print(f"{scene}: {scale:.4g} J at most, the ledger closes to {abs(gap).max():.1e} J, "
          f"the integrator's own share {own:.1e} J")
    assert abs(gap).max() <= 1e-11 * scale
    assert own <= 1e-6 * scale
    change = summary["change"]
    assert change == pytest.approx(sum(summary[w] for w in WORKS), abs=1e-11 * scale)
    assert change == pytest.approx(total[-1] - total[0], abs=1e-11 * scale)
    for w in WORKS:
        assert summary[w] == pytest.approx(works[w][-1], abs=1e-14 * scale), w
    assert (np.diff(works["friction"]) <= 1e-12 * scale).all(), "friction only takes"


def test_frames_and_poses_agree(pegs):
    """q of a planar body in maximal coordinates is x, y, angle of its pose; com is their mean."""
    with h5py.File(pegs, "r") as f:
        header = json.loads(text_of(f["header"]))
        q, pose, com = f["frames/q"][:], f["frames/pose"][:], f["frames/com"][:]
        x6_9 = json.loads(text_of(f["summary"]))["metrics"]["x6_9"]
    assert x6_9 is None
    pose = pose.reshape(len(pose), -1, 7)
    for i, body in enumerate(header["bodies"]):
        k = body["q0"]
        np.testing.assert_allclose(pose[:, i, :2], q[:, k : k + 2], atol=1e-14)
        angle = 2 * np.arctan2(pose[:, i, 6], pose[:, i, 3])
        np.testing.assert_allclose(np.sin(angle - q[:, k + 2]), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(pose[:, :, 3:], axis=2), 1, atol=1e-12)
    mass = np.array([b["mass"] for b in header["bodies"]])
    np.testing.assert_allclose(np.einsum("tij,i->tj", pose[:, :, :3], mass) / mass.sum(), com,
                               atol=1e-13)


@pytest.mark.parametrize("table", TABLES)
def test_csv(run, pegs, table, tmp_path):
    outcome = run("csv", pegs, "-t", table)
    assert outcome.code == 0 and outcome.err == ""
    rows = list(csv.reader(io.StringIO(outcome.out)))
    values = np.array(rows[1:], dtype=float)
    with h5py.File(pegs, "r") as f:
        group = f[table]
        wide = [(c, group[c][:].reshape(group[c].shape[0], -1)) for c in TABLES[table]]
        units = {c: group[c].attrs["unit"].decode() for c in TABLES[table]}
    names = []
    for c, x in wide:
        unit = f" ({units[c]})" if units[c] else ""
        names += [f"{c}[{i}]{unit}" for i in range(x.shape[1])] if x.shape[1] > 1 else [c + unit]
    assert rows[0] == names
    expected = np.hstack([x.astype(float) for _, x in wide])
    assert values.shape == expected.shape
    assert values.tobytes() == expected.tobytes(), "to the last bit"
    print(f"{table}: {values.shape[0]} rows of {values.shape[1]} values")
    assert run("csv", pegs, "-t", table, "-o", tmp_path / "x.csv") == (0, "", "")
    assert (tmp_path / "x.csv").read_text() == outcome.out


def test_csv_columns(run, pegs):
    outcome = run("csv", pegs, "-c", "t", "com")
    rows = list(csv.reader(io.StringIO(outcome.out)))
    assert rows[0] == ["t (s)", "com[0] (m)", "com[1] (m)", "com[2] (m)"]
    assert len(rows) == 602
    assert run("csv", pegs, "-c", "t,com").out == outcome.out


def test_info(run, pegs):
    outcome = run("info", pegs)
    assert outcome.code == 0
    assert outcome.out.startswith("Snake among seven pegs (P0)\n")
    for word in ("frames: 601 rows", "steps: 6000 rows", "checkpoints: 7", '"metrics"', "0.1"):
        assert word in outcome.out


def test_a_text_with_line_breaks_survives(run, scenes, tmp_path):
    """--set of a title of two lines: the file can still be read and resumed."""
    out = tmp_path / "out.h5"
    args = ["--set", 'title="one\n\n  two: ["', *sets(time__end=0.05)]
    outcome = run("run", scenes / "tumbling-body.yaml", *args, "-o", out, "-q")
    assert outcome == (0, "", "")
    with h5py.File(out) as f:
        assert yaml.safe_load(text_of(f["scene"]))["title"] == "one\ntwo: ["
    assert run("info", out).code == 0
    assert run("run", "--resume", out, "-q") == (0, "", "")


def test_rare_frames(run, scenes, tmp_path):
    """An interval beyond the end: the first and the last frame."""
    for interval in ("100", "1e30"):
        out = tmp_path / "out.h5"
        args = sets(time__end=0.05, output__interval=interval, output__checkpoint=interval)
        assert run("run", scenes / "tumbling-body.yaml", *args, "-o", out, "-q").code == 0
        with h5py.File(out) as f:
            assert list(f["frames/step"][:]) == [0, 50]
            assert list(f["checkpoints/step"][:]) == [0]


def test_frames_every_step_where_the_interval_is_short(run, scenes, tmp_path):
    out = tmp_path / "out.h5"
    args = sets(time__end=0.05, output__interval=1e-9, output__checkpoint=1e-9)
    assert run("run", scenes / "tumbling-body.yaml", *args, "-o", out, "-q").code == 0
    with h5py.File(out) as f:
        assert list(f["frames/step"][:]) == list(range(51)) == list(f["checkpoints/step"][:])


def test_an_older_run_is_replaced(run, scenes, tmp_path):
    out = tmp_path / "out.h5"
    for end in (0.05, 0.02):
        assert run("run", scenes / "tumbling-body.yaml", *sets(time__end=end), "-o", out,
                   "-q").code == 0
    with h5py.File(out) as f:
        assert f["steps/t"].shape[0] == 20
    assert [p.name for p in tmp_path.iterdir()] == ["out.h5"]


# --- the same bits

VARIANTS = {
    "pegs": ("p0/pegs", {"time__end": 3, "output__checkpoint": 0.1}),
    "minimal": ("p0/pegs", {"time__end": 3, "output__checkpoint": 0.1, "coordinates": "minimal"}),
    "jor-velocity": ("p0/small-pegs", {"time__end": 1.5, "output__checkpoint": 0.1,
                                       "solver__type": "jor", "solver__iterate": "velocity"}),
    "root-fixed": ("p0/pegs", {"time__end": 0.5, "time__step": 2.5e-4, "output__checkpoint": 0.05,
                               "integrator__projection": "root-fixed",
                               "integrator__motors": "explicit"}),
    "anisotropic": ("p0/anisotropic", {"time__end": 0.5, "output__checkpoint": 0.05}),
    "bouncing-ball": ("bouncing-ball", {"time__end": 2, "output__checkpoint": 0.05}),
    "incline": ("incline", {"time__end": 5, "output__checkpoint": 0.1,
                            "contacts[0].friction": 0.3}),
    "three-balls": ("three-balls", {"time__step": 2e-5, "output__checkpoint": 0.05}),
    "satellite": ("satellite", {"time__step": 2e-4, "output__checkpoint": 0.1}),
    "tumbling-body": ("tumbling-body", {"time__step": 2e-4, "output__checkpoint": 0.1}),
}


@pytest.fixture(scope="module")
def whole(run, scenes, tmp_path_factory):
    """A variant's run without interruption, made once."""
    made = {}
    folder = tmp_path_factory.mktemp("whole")

    def go(name):
        if name not in made:
            made[name] = folder / f"{name}.h5"
            scene, values = VARIANTS[name]
            outcome = run("run", scenes / f"{scene}.yaml", *sets(**values), "-o", made[name], "-q")
            assert outcome.code == 0, outcome.err
        return made[name]

    return go


@pytest.mark.parametrize("name", VARIANTS)
def test_same_scene_twice_same_bits(run, scenes, whole, tmp_path, name):
    scene, values = VARIANTS[name]
    args = [scenes / f"{scene}.yaml", *sets(**values)]
    assert run("run", *args, "-o", tmp_path / "b.h5", "-q").code == 0
    assert_same_run(whole(name), tmp_path / "b.h5")
    with h5py.File(whole(name)) as f:
        kept = json.loads(text_of(f["summary"]))
    plain = summary_of(run, *args)
    assert without_wall(plain) == without_wall(kept), "with and without a file"


def interrupt(start, args, out, how, after_checkpoints=2):
    """Runs until a few checkpoints are there, then sends the signal; tries again if it came late."""
    for attempt in range(20):
        p = start("run", *args, "-o", out, "-q")
        while p.poll() is None:
            try:
                with h5py.File(out, "r", swmr=True) as f:
                    if f["checkpoints/step"].shape[0] >= max(1, after_checkpoints - attempt):
                        break
            except OSError:
                pass
            time.sleep(0.001)
        p.send_signal(how)
        _, err = p.communicate(timeout=20)
        if p.returncode != 0:
            return p.returncode, err.decode()
        out.unlink()
    pytest.fail("the run always ended before the signal")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
@pytest.mark.parametrize("name", VARIANTS)
def test_resume(run, start, scenes, whole, tmp_path, name, how):
    scene, values = VARIANTS[name]
    part = tmp_path / "part.h5"
    code, err = interrupt(start, [scenes / f"{scene}.yaml", *sets(**values)], part, how)
    with h5py.File(part, "r", swmr=True) as f:
        last, rows = int(f["checkpoints/step"][-1]), f["steps/t"].shape[0]
    if how == signal.SIGKILL:
        assert code == -signal.SIGKILL and err == ""
    else:
        print(err.strip())
        assert code == 1 and re.match(r"saltus: stopped at t = [\d.e-]+ s\b.*\n$", err)
        assert last == rows, "the moment of the interrupt is a checkpoint"
        assert '"status": "stopped"' in run("info", part).out
    before = part.read_bytes()
    outcome = run("run", "--resume", part, "-o", tmp_path / "end.h5", "--json")
    assert outcome.code == 0, outcome.err
    assert part.read_bytes() == before, "the source is only read"
    summary = json.loads(outcome.out)
    print(f"{name}: {rows} steps in the file, resumed from step {last} of {summary['steps']}")
    assert 0 < last < summary["steps"]
    assert_same_run(whole(name), tmp_path / "end.h5", checkpoints=how == signal.SIGKILL)
    # in place, without a file name
    assert run("run", "--resume", part, "-q").code == 0
    assert_same_run(whole(name), part, checkpoints=how == signal.SIGKILL)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["end.h5", "part.h5"]


def test_resume_many_times(run, start, scenes, whole, tmp_path):
    """Interrupted again and again it is still the same run."""
    scene, values = VARIANTS["pegs"]
    part = tmp_path / "part.h5"
    # Two: the last may be half written when the signal comes.
    interrupt(start, [scenes / f"{scene}.yaml", *sets(**values)], part, signal.SIGKILL)
    stops = []
    for i in range(200):
        p = start("run", "--resume", part, "-q")
        try:
            p.communicate(timeout=0.12)
        except subprocess.TimeoutExpired:
            p.send_signal([signal.SIGINT, signal.SIGKILL][i % 2])
            p.communicate()
        with h5py.File(part, "r", swmr=True) as f:
            stops.append(int(f["checkpoints/step"][-1]))
        if p.returncode == 0:
            break
    print("resumed from steps", stops)
    assert p.returncode == 0 and stops == sorted(stops) and len(stops) > 2
    assert_same_run(whole("pegs"), part, checkpoints=False)


def test_resume_of_a_run_that_ended(run, whole, tmp_path):
    copy = tmp_path / "copy.h5"
    shutil.copy(whole("three-balls"), copy)
    outcome = run("run", "--resume", copy, "--json")
    assert outcome.code == 0
    assert_same_run(whole("three-balls"), copy)


def test_the_uninterrupted_run_is_faithful_to_its_state(run, scenes, tmp_path):
    """Resuming does not depend on where checkpoints lie: other intervals, the same motion."""
    frames = []
    for interval in (0.05, 1):
        out = tmp_path / f"{interval}.h5"
        assert run("run", scenes / "p0/pegs.yaml", "-q", "-o", out,
                   *sets(time__end=1, output__checkpoint=interval)).code == 0
        frames.append(datasets(out)["frames/q"])
    assert frames[0].tobytes() == frames[1].tobytes()


# --- the terminal


def on_terminal(binary, args, **more):
    """Standard error on a terminal, standard output in a pipe."""
    master, slave = pty.openpty()
    p = subprocess.Popen([binary, *map(os.fspath, args)], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=slave, **more)
    os.close(slave)
    shown = b""
    while True:
        ready, _, _ = select.select([master], [], [], 30)
        assert ready, "silence on the terminal"
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    out = p.stdout.read()
    p.stdout.close()
    assert p.wait(timeout=20) == 0
    return out.decode(), shown.decode()


def test_progress_bar_only_on_a_terminal(binary, run, scenes):
    args = ["run", scenes / "p0/pegs.yaml", *sets(time__end=5)]
    out, shown = on_terminal(binary, args)
    drawn = [x for x in shown.split("\r") if x.strip()]
    print(*drawn[:2], "...", sep="\n")
    assert len(drawn) >= 3, "about ten times a second"
    last = -1.0
    for line in drawn:
        match = re.match(r"\[(#*)(\.*)\] t = ([\d.]+) of 5 s, (\d+) steps/s", line)
        assert match, line
        assert len(match[1]) + len(match[2]) == 40
        assert abs(len(match[1]) - 40 * float(match[3]) / 5) <= 1
        assert float(match[3]) >= last
        last = float(match[3])
    assert shown.endswith("\r") and shown.split("\r")[-2].strip() == "", "wiped at the end"
    assert out.startswith("Snake among seven pegs")
    assert run(*args).err == "", "no terminal, no bar"
    for option in ("-q", "--json"):
        assert on_terminal(binary, [*args[:2], *sets(time__end=1), option])[1] == ""


# --- which solver did it


SOLVERS = {"stick", "warm start", "sor", "jor", "newton", "interior point", "none"}


def test_the_summary_counts_who_solved_the_steps(run, scenes, tmp_path):
    outcome = run("run", scenes / "contact/arch.yaml", *sets(time__end=0.2), "--json")
    summary = json.loads(outcome.out)
    finished, gave_up = summary["solved_by"]["finished"], summary["solved_by"]["gave_up"]
    print(summary["solved_by"])
    assert set(finished) <= SOLVERS and sum(finished.values()) == summary["steps"]
    assert set(gave_up) <= SOLVERS
    text = run("run", scenes / "contact/arch.yaml", *sets(time__end=0.2)).out
    for name, steps in finished.items():
        assert f"{name} {steps}" in text
    for name, reasons in gave_up.items():
        for why, steps in reasons.items():
            assert f"{name} gave up in {steps}: {why}" in text


def test_the_summary_says_why_a_solver_gave_up(run, scenes):
    few = sets(time__end=0.1, solver__type="sor", solver__max_iterations=2,
               allow_unconverged="true")
    summary = json.loads(run("run", scenes / "contact/arch.yaml", *few, "--json").out)
    missed = summary["unconverged_steps"]
    assert missed > 0, "two sweeps are too few for an arch"
    assert summary["solved_by"] == {"finished": {"sor": summary["steps"]},
                                    "gave_up": {"sor": {"most iterations": missed}}}


# --- runs that fail


def test_a_missed_tolerance(run, scenes, tmp_path):
    out = tmp_path / "out.h5"
    args = [scenes / "p0/flat.yaml", *sets(time__end=0.5, solver__type="jor",
                                           solver__max_iterations=1, solver__tolerance=1e-14)]
    outcome = run("run", *args, "-o", out)
    print(outcome.err.strip())
    assert outcome.code == 1
    match = re.match(r"saltus: (\d+) of 500 steps missed the tolerance of 1\.0e-14 m/s; the worst, "
                     r"step (\d+) at t = ([\d.e-]+) s, has a residual of ([\d.e-]+) m/s", outcome.err)
    assert match and outcome.err.count("\n") == 1
    with h5py.File(out) as f:
        residual, converged = f["steps/residual"][:], f["steps/converged"][:]
        summary = json.loads(text_of(f["summary"]))
    worst = int(residual.argmax())
    assert int(match[1]) == (converged == 0).sum() == summary["unconverged_steps"] > 0
    assert int(match[2]) == worst + 1
    assert float(match[3]) == pytest.approx((worst + 1) * 1e-3, rel=1e-5)
    assert float(match[4]) == pytest.approx(residual.max(), rel=1e-2)
    assert summary["status"] == "unconverged" and summary["worst_residual"] == residual.max()
    assert re.search(rf"unconverged +{match[1]} steps", outcome.out), "the summary says so"
    # the scene may allow it
    outcome = run("run", *args, *sets(allow_unconverged="true"))
    assert outcome.code == 0 and outcome.err == ""
    assert re.search(rf"unconverged +{match[1]} steps", outcome.out), "and still says so"
    summary = summary_of(run, *args, *sets(allow_unconverged="true"))
    assert summary["unconverged_steps"] == int(match[1])
    # --json says it too, and quiet does not hide it
    summary = summary_of(run, *args, code=1)
    assert summary["unconverged_steps"] == int(match[1])
    outcome = run("run", *args, "-q")
    assert outcome.code == 1 and outcome.out == "" and outcome.err.startswith("saltus: ")


DIVERGING = {
    "maximal, 2 ms": {"time__step": 2e-3, "time__end": 2},
    "maximal, 10 ms": {"time__step": 1e-2},
    "minimal, 2 ms": {"time__step": 2e-3, "coordinates": "minimal"},
}


@pytest.mark.parametrize("name", DIVERGING)
def test_divergence(run, scenes, tmp_path, name):
    """Explicit motors are not stable at this step: the snake flies apart."""
    out = tmp_path / "out.h5"
    args = [scenes / "p0/flat.yaml", *sets(**DIVERGING[name], integrator__motors="explicit")]
    outcome = run("run", *args, "-o", out, "-q")
    print(outcome.err.strip())
    assert outcome.code == 1 and outcome.out == ""
    match = re.match(r"saltus: .*diverged at t = ([\d.e-]+) s, body '(link\d+)'.*step (\d+).*"
                     rf"checkpoint in {re.escape(str(out))}; a shorter time.step may do(;.*)?\n$", outcome.err)
    assert match, "expected the time, the body, the checkpoint and what to try"
    step = int(match[3])
    assert float(match[1]) == pytest.approx(step * DIVERGING[name]["time__step"], rel=1e-5)
    with h5py.File(out, "r") as f:
        assert f["checkpoints/step"][-1] == step == f["steps/t"].shape[0]
        for table, columns in TABLES.items():
            for column in columns:
                assert np.isfinite(f[table][column][()]).all(), f"{table}/{column}"
        summary = json.loads(text_of(f["summary"]))
    assert summary["status"] == "diverged" and summary["steps"] == step
    assert run("info", out).code == 0 and run("csv", out, "-t", "steps").code == 0
    assert run("run", *args, "-q").code == 1, "also without a file"
    # the last good state is where it goes on from, and there it diverges again
    again = run("run", "--resume", out, "-o", tmp_path / "again.h5", "-q")
    assert again.code == 1
    assert again.err.replace("again.h5", "out.h5") == outcome.err
    # one step less is a good run up to the same state
    if step > 1:
        end = step * DIVERGING[name]["time__step"]
        good = tmp_path / "good.h5"
        run("run", *args, *sets(time__end=end), "-o", good, "-q")
        assert datasets(good)["steps/residual"].tobytes() == datasets(out)[
            "steps/residual"].tobytes()


def test_a_singular_mass_matrix_is_no_silent_success(run, tmp_path):
    """A free body without inertia: either refused, or a failed run that says so."""
    scene = tmp_path / "scene.yaml"
    scene.write_text("saltus: 1\nbodies: [{name: b, mass: 1, joint: {type: floating}}]\n"
                     "initial: {b: {v: [0, 0, 0, 1, 0, 0]}}\ntime: {end: 0.1}\n")
    outcome = run("run", scene, "-q")
    print(outcome)
    assert outcome.code in (1, 2)
    assert re.match(r"saltus: .*(inertia|singular)", outcome.err)


def test_a_scene_in_which_nothing_moves(run, tmp_path):
    """It runs or it is refused; it does not crash."""
    scene = tmp_path / "scene.yaml"
    scene.write_text("saltus: 1\nbodies: [{name: b, mass: 1, joint: {type: fixed}}]\n"
                     "time: {end: 0.01}\n")
    outcome = run("run", scene, "-q")
    assert outcome.code in (0, 2), outcome


def test_a_run_that_cannot_be_resumed_says_so(run, scenes, tmp_path, whole):
    """A file that was cut, or whose checkpoints are gone."""
    bad = tmp_path / "bad.h5"
    shutil.copy(whole("three-balls"), bad)
    with h5py.File(bad, "r+") as f:
        f["checkpoints/end"].resize(0, axis=0)
        f["checkpoints/step"].resize(0, axis=0)
    outcome = run("run", "--resume", bad, "-o", tmp_path / "x.h5")
    print(outcome.err.strip())
    assert outcome.code == 2 and outcome.err.startswith(f"saltus: {bad}: ")
    assert "checkpoint" in outcome.err and not (tmp_path / "x.h5").exists()


def test_a_damaged_checkpoint_is_no_crash(run, whole, tmp_path):
    for fill, seed in itertools.product((0, 255), range(3)):
        bad = tmp_path / "bad.h5"
        shutil.copy(whole("three-balls"), bad)
        with h5py.File(bad, "r+") as f:
            begin, end = f["checkpoints/end"][-2:]
            size = end - begin
            f["checkpoint_data/bytes"][begin + seed * size // 3 : begin + (seed + 1) * size // 3] = fill
        outcome = run("run", "--resume", bad, "-o", tmp_path / "x.h5", "-q", timeout=20)
        assert outcome.code in (0, 1, 2), outcome


def test_a_checkpoint_counts_when_its_bytes_are_there(run, whole, tmp_path):
    """The last checkpoints lost bytes: the run goes on from the one before, to the same end."""
    part = tmp_path / "part.h5"
    shutil.copy(whole("pegs"), part)
    with h5py.File(part, "r+") as f:
        step, end = f["checkpoints/step"][:], f["checkpoints/end"][:]
        assert len(step) > 9 and (np.diff(end) > 0).all() and end[-1] == len(f["checkpoint_data/bytes"])
        assert len(set(np.diff(end))) > 1, "they are as long as they need"
        f["checkpoint_data/bytes"].resize(end[-3] + 5, axis=0)
    info = run("info", part)
    assert f"  checkpoints: {len(step) - 2}\n" in info.out, info
    assert run("run", "--resume", part, "-o", tmp_path / "end.h5", "-q").code == 0
    assert_same_run(whole("pegs"), tmp_path / "end.h5")


def test_checkpoints_that_overlap_are_damage(run, whole, tmp_path):
    for value in (0, -1, -(2**62)):
        bad = tmp_path / "bad.h5"
        shutil.copy(whole("three-balls"), bad)
        with h5py.File(bad, "r+") as f:
            f["checkpoints/end"][-1] = value
        outcome = run("run", "--resume", bad, "-o", tmp_path / "x.h5", "-q", timeout=20)
        assert outcome.code == 2 and "damaged" in outcome.err, outcome


def test_a_run_of_the_old_format_is_refused(run, whole, tmp_path):
    old = tmp_path / "old.h5"
    shutil.copy(whole("three-balls"), old)
    with h5py.File(old, "r+") as f:
        f.attrs["format_version"] = np.int32(1)
    for command in (["info", old], ["csv", old], ["run", "--resume", old]):
        outcome = run(*command)
        assert outcome.code == 2, outcome
        assert f"{old}: run format 1 is older than this saltus understands (2)" in outcome.err
