"""Bad input: exit 2, one line that names file, line, path and what was expected, nothing written."""
import math
import os
import random
import re
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import all_scenes

BASE = """\
# A ball that carries an arm, above a floor.
saltus: 1
title: Base
bodies:
  - name: ball
    mass: 1
    inertia: [1, 1, 1]
    joint: {type: floating}
    shapes: [{type: sphere, radius: 0.1}]
  - name: arm
    mass: 2
    inertia: [1, 2, 2.5]
    joint:
      type: revolute
      parent: ball
      axis: [0, 0, 1]
obstacles:
  - {name: floor, type: half-space}
contacts:
  - between: [floor, ball]
    friction: 0.3
initial:
  ball: {q: [0, 0, 1, 1, 0, 0, 0]}
motors:
  - joints: arm
    kp: 1
    kd: 0.1
    reference: {type: sine, amplitude: 0.2, omega: 3}
probes:
  - {name: tip, body: arm, point: [0.1, 0, 0]}
metrics:
  - {name: v, type: mean-velocity, probe: tip, axis: x}
time: {step: 1e-3, end: 0.05}
integrator: {motors: implicit}
solver: {type: sor}
output: {interval: 0.01, checkpoint: 0.02}
"""


def edit(old: str, new: str) -> tuple[str, int]:
    """BASE with `old` replaced, and the line of `new`, or of the mark @@ in it."""
    assert BASE.count(old) == 1, f"{old!r} must occur once"
    text = BASE.replace(old, new if "@@" in new else "@@" + new)
    line = text[: text.index("@@")].count("\n") + 1
    return text.replace("@@", ""), line


def leftovers(folder) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.suffix != ".yaml")


def refused(outcome, folder):
    """Exit 2, one line, nothing left behind; the line without its prefix."""
    print(outcome.err.rstrip())
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("saltus: ")
    assert outcome.err.endswith("\n") and outcome.err.count("\n") == 1, "one line"
    assert leftovers(folder) == []
    return outcome.err[len("saltus: ") : -1]


def refuse(run, folder, text, *args, output="out.h5"):
    (folder / "scene.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return refused(run("run", "scene.yaml", "-o", output, *args, cwd=folder, timeout=20), folder)


def test_the_base_scene_is_good(run, tmp_path):
    (tmp_path / "scene.yaml").write_text(BASE)
    outcome = run("run", "scene.yaml", "-o", "out.h5", cwd=tmp_path)
    assert outcome.code == 0, outcome
    assert leftovers(tmp_path) == ["out.h5"]


# id: what is replaced, by what (@@ marks the line to be named), the path, words of the message
CASES = {
    # unknown keys
    "unknown-top": ("title: Base", "titel: Base", "titel", ["unknown key", "title"]),
    "unknown-nested": ("    mass: 2\n", "    mass: 2\n@@    mas: 3\n", "bodies[1].mas",
                       ["unknown key", "mass"]),
    "unknown-in-joint": ("      axis: [0, 0, 1]", "      axis: [0, 0, 1]\n@@      axes: 3",
                         "bodies[1].joint.axes", ["unknown key", "axis"]),
    "unknown-in-flow": ("shapes: [{type: sphere,", "shapes: [{type: sphere, colour: red,",
                        "bodies[0].shapes[0].colour", ["unknown key", "radius"]),
    "unknown-in-time": ("{step: 1e-3,", "{stop: 3, step: 1e-3,", "time.stop",
                        ["unknown key", "end"]),
    "unknown-in-solver": ("{type: sor}", "{type: sor, tol: 3}", "solver.tol",
                          ["unknown key", "tolerance"]),
    "unknown-in-signal": ("{type: sine,", "{type: sine, phi: 3,", "motors[0].reference.phi",
                          ["unknown key", "phase"]),
    "unknown-in-metric": ("type: mean-velocity,", "type: mean-velocity, at: 3,", "metrics[0].at",
                          ["unknown key", "from"]),
    "unknown-in-initial": ("ball: {q:", "ball: {p: 1, q:", "initial.ball.p", ["unknown key", "q"]),
    "unknown-in-contact": ("friction: 0.3", "law: hertz", "contacts[0].law",
                           ["unknown key", "friction"]),
    "unknown-in-many-lines": ("time: {step: 1e-3, end: 0.05}",
                              "time: {step: 1e-3,\n  end: 0.05,\n@@  dt: 3}", "time.dt",
                              ["unknown key", "step"]),
    # a required key under a wrong name: it is missing, and what stands there is named
    "misspelt-mass": ("    mass: 2\n", "    mas: 2\n", None, ["bodies[1].mass", "'mas'"]),
    "misspelt-end": ("end: 0.05}", "ende: 0.05}", None, ["time.end", "'ende'"]),
    # wrong type
    "text-for-number": ("mass: 2", "mass: heavy", "bodies[1].mass", ["number", "'heavy'", "kg"]),
    "list-for-number": ("mass: 2", "mass: [2]", "bodies[1].mass", ["number", "a list"]),
    "map-for-number": ("mass: 2", "mass: {kg: 2}", "bodies[1].mass", ["number", "a mapping"]),
    "bool-for-number": ("mass: 2", "mass: true", "bodies[1].mass", ["number", "'true'"]),
    "hex-for-number": ("mass: 2", "mass: 0x10", "bodies[1].mass", ["number", "'0x10'"]),
    "two-numbers": ("mass: 2", "mass: 2 3", "bodies[1].mass", ["number", "'2 3'"]),
    "nothing-for-number": ("mass: 2", "mass:", "bodies[1].mass", ["expected"]),
    "number-for-list": ("inertia: [1, 2, 2.5]", "inertia: 3", "bodies[1].inertia", ["3", "numbers"]),
    "short-list": ("inertia: [1, 2, 2.5]", "inertia: [1, 2]", "bodies[1].inertia",
                   ["3", "numbers", "2"]),
    "four-of-inertia": ("inertia: [1, 2, 2.5]", "inertia: [1, 2, 2.5, 0]", "bodies[1].inertia",
                        ["3 or 6 numbers"]),
    "long-vector": ("axis: [0, 0, 1]", "axis: [0, 0, 1, 0]", "bodies[1].joint.axis",
                    ["3 numbers"]),
    "list-for-map": ("{step: 1e-3, end: 0.05}", "[1e-3, 0.05]", "time", ["mapping"]),
    "text-for-map": ("joint: {type: floating}", "joint: floating", "bodies[0].joint", ["mapping"]),
    "map-for-list": ("obstacles:\n  - {name", "@@obstacles:\n  {name", "obstacles", ["list"]),
    "number-for-entry": ("  - {name: floor, type: half-space}", "  - 3", "obstacles[0]",
                         ["mapping"]),
    "list-for-text": ("title: Base", "title: [Base]", "title", ["text", "list"]),
    "no-boolean": ("title: Base", "planar: maybe", "planar", ["true or false", "'maybe'"]),
    "no-integer": ("solver: {type: sor}", "solver: {max_iterations: 2.5}", "solver.max_iterations",
                   ["whole number", "'2.5'"]),
    "zero-iterations": ("solver: {type: sor}", "solver: {max_iterations: 0}",
                        "solver.max_iterations", ["whole number >= 1", "'0'"]),
    "version": ("saltus: 1", "saltus: 2", "saltus", ["version 1"]),
    "no-version": ("saltus: 1", "saltus: one", "saltus", ["whole number", "'one'"]),
    # unit
    "unit-of-mass": ("mass: 2", "mass: 3 m", "bodies[1].mass", ["kg", "'3 m'"]),
    "unit-of-length": ("radius: 0.1", "radius: 3 kg", "bodies[0].shapes[0].radius",
                       ["m", "'3 kg'"]),
    "unit-of-time": ("step: 1e-3", "step: 1 m", "time.step", ["s", "'1 m'"]),
    "unit-of-angle": ("omega: 3", "omega: 3 deg", "motors[0].reference.omega",
                      ["rad/s", "'3 deg'"]),
    "unit-of-point": ("point: [0.1, 0, 0]", "point: [10 cm, 0, 3 s]", "probes[0].point[2]",
                      ["m", "'3 s'"]),
    "unit-of-nothing": ("friction: 0.3", "friction: 0.3 N", "contacts[0].friction",
                        ["number", "'0.3 N'"]),
    # values out of range
    "negative-mass": ("mass: 2", "mass: -2", "bodies[1].mass", ["'-2'"]),
    "zero-mass": ("mass: 2", "mass: 0", "bodies[1].mass", ["0"]),
    "triangle": ("inertia: [1, 2, 2.5]", "inertia: [1, 2, 3.5]", "bodies[1].inertia",
                 ["triangle inequality", "3.5"]),
    "triangle-6": ("inertia: [1, 2, 2.5]", "inertia: [2, 2, 2, 1.9, 0, 0]", "bodies[1].inertia",
                   ["triangle inequality"]),
    "negative-inertia": ("inertia: [1, 2, 2.5]", "inertia: [-1, 2, 2.5]", "bodies[1].inertia",
                         ["expected", "-1"]),
    "negative-friction": ("friction: 0.3", "friction: -0.3", "contacts[0].friction",
                          [">= 0", "'-0.3'"]),
    "three-frictions": ("friction: 0.3", "friction: [1, 2, 3]", "contacts[0].friction",
                        ["1 to 2 numbers"]),
    "dynamic-above-static": ("friction: 0.3", "friction: 0.3\n@@    friction_dynamic: 0.4",
                             "contacts[0].friction_dynamic",
                             ["expected at most friction (0.3), got 0.4"]),
    "dynamic-negative": ("friction: 0.3", "friction: 0.3\n@@    friction_dynamic: -0.1",
                         "contacts[0].friction_dynamic", [">= 0", "'-0.1'"]),
    "dynamic-alone": ("friction: 0.3", "friction_dynamic: 0", "contacts[0].friction_dynamic",
                      ["expected friction beside it"]),
    "dynamic-shares": ("friction: 0.3", "friction: [0.2, 0.4]\n@@    friction_dynamic: 0.1",
                       "contacts[0].friction_dynamic", ["same share", "0.5 and 0.25"]),
    "dynamic-hu": ("friction: 0.3", "friction: 0.3\n@@    friction_dynamic: 0\n    rule: hu",
                   "contacts[0].friction_dynamic", ["Hu's rule", "> 0"]),
    "joint-dynamic": ("axis: [0, 0, 1]", "axis: [0, 0, 1]\n@@      friction_dynamic: 1",
                      "bodies[1].joint.friction_dynamic", ["at most friction (0), got 1"]),
    "rk4-with-contacts": ("{motors: implicit}", "{type: rk4-projection}", "integrator.type",
                          ["joints with dry friction and nothing else", "got contacts"]),
    "restitution": ("friction: 0.3", "restitution: 1.5", "contacts[0].restitution",
                    ["[0, 1]", "'1.5'"]),
    "negative-radius": ("radius: 0.1", "radius: -0.1", "bodies[0].shapes[0].radius",
                        ["> 0", "'-0.1'"]),
    "flat-ellipsoid": ("{type: sphere, radius: 0.1}", "{type: ellipsoid, semi_axes: [1, 1, 0]}",
                       "bodies[0].shapes[0].semi_axes", ["positive"]),
    "gap-of-no-joint": ("probes:", """gaps:
  - name: stop
    terms: [@@{joint: wheel, gap: 1}]
probes:""", "gaps[0].terms[0].joint", ["'wheel'"]),
    "gap-that-never-changes": ("probes:", """gaps:
  - name: stop
@@    terms: [{joint: arm, slide: 1}]
probes:""", "gaps[0].terms", ["never changes"]),
    "negative-gain": ("kp: 1", "kp: -1", "motors[0].kp", [">= 0", "'-1'"]),
    "zero-axis": ("axis: [0, 0, 1]", "axis: [0, 0, 0]", "bodies[1].joint.axis", ["direction"]),
    "limits-turned": ("axis: [0, 0, 1]", "axis: [0, 0, 1]\n@@      limits: [1, 0]",
                      "bodies[1].joint.limits", ["lower < upper"]),
    "alpha": ("{type: sor}", "{type: sor, alpha: 3}", "solver.alpha", ["2", "'3'"]),
    "zero-tolerance": ("{type: sor}", "{type: sor, tolerance: 0}", "solver.tolerance", ["> 0"]),
    # NaN, infinities
    "nan": ("mass: 2", "mass: .nan", "bodies[1].mass", ["number", "'.nan'"]),
    "nan-plain": ("mass: 2", "mass: nan", "bodies[1].mass", ["number", "'nan'"]),
    "inf": ("mass: 2", "mass: .inf", "bodies[1].mass", ["number", "'.inf'"]),
    "minus-inf": ("kp: 1", "kp: -inf", "motors[0].kp", ["number", "'-inf'"]),
    "overflow": ("mass: 2", "mass: 1e400", "bodies[1].mass", ["number", "'1e400'"]),
    "nan-in-list": ("inertia: [1, 2, 2.5]", "inertia: [1, 2, .nan]", "bodies[1].inertia[2]",
                    ["number", "'.nan'"]),
    "nan-in-block-list": ("    inertia: [1, 2, 2.5]",
                          "    inertia:\n      - 1\n      - 2\n@@      - .nan",
                          "bodies[1].inertia[2]", ["number", "'.nan'"]),
    "nan-in-initial": ("q: [0, 0, 1, 1,", "q: [0, .nan, 1, 1,", "initial.ball.q[1]",
                       ["number", "'.nan'"]),
    "nan-in-gravity": ("title: Base", "gravity: [0, 0, nan]", "gravity[2]", ["number", "'nan'"]),
    # names
    "parent-loop-self": ("parent: ball", "parent: arm", "bodies[1].joint.parent", ["loop", "'arm'"]),
    "parent-loop-two": ("joint: {type: floating}", "joint: {type: floating, parent: arm}",
                        "bodies[0].joint.parent", ["loop", "'ball'"]),
    "parent-unknown": ("parent: ball", "parent: bal", "bodies[1].joint.parent",
                       ["no body", "'bal'"]),
    "joint-type": ("type: revolute", "type: revolut", "bodies[1].joint.type",
                   ["one of fixed, revolute", "'revolut'"]),
    "shape-type": ("shapes: [{type: sphere,", "shapes: [{type: torus,",
                   "bodies[0].shapes[0].type", ["one of sphere, capsule", "'torus'"]),
    "solid-type": ("    inertia: [1, 2, 2.5]", "    solid: {shape: torus}",
                   "bodies[1].solid.shape", ["one of box, sphere", "'torus'"]),
    "solver-type": ("{type: sor}", "{type: admm}", "solver.type",
                    ["one of auto, sor, jor, newton", "'admm'"]),
    "integrator-type": ("{motors: implicit}", "{type: euler}", "integrator.type",
                        ["one of moreau", "'euler'"]),
    "impact-law": ("{motors: implicit}", "{impact: elastic}", "integrator.impact",
                   ["one of capped, newton, moreau, poisson, chain", "'elastic'"]),
    "impact-law-of-object": ("{motors: implicit}", "{impact: {law: elastic}}",
                             "integrator.impact.law",
                             ["one of capped, newton, moreau, poisson, chain", "'elastic'"]),
    "impact-no-law": ("{motors: implicit}", "{impact: {}}", "integrator.impact.law", ["expected"]),
    "impact-list": ("{motors: implicit}", "{impact: [chain]}", "integrator.impact",
                    ["one of capped", "a list"]),
    "impact-restitution-of-capped": ("{motors: implicit}",
                                     "{impact: {law: capped, restitution: 0.3}}",
                                     "integrator.impact.restitution", ["unknown key", "law"]),
    "impact-restitution": ("{motors: implicit}", "{impact: {law: moreau, restitution: 1.3}}",
                           "integrator.impact.restitution", ["[0, 1]", "'1.3'"]),
    "impact-energetic": ("{motors: implicit}", "{impact: {law: chain, energetic: -1}}",
                         "integrator.impact.energetic", [">= 0", "'-1'"]),
    "impact-control": ("{motors: implicit}", "{impact: {law: chain, control: hope}}",
                       "integrator.impact.control",
                       ["one of none, attenuation, constraint", "'hope'"]),
    "impact-method": ("{motors: implicit}", "{impact: {law: chain, method: hope}}",
                      "integrator.impact.method", ["one of automatic, exact, nlp", "'hope'"]),
    "impact-v_s": ("{motors: implicit}", "{impact: {law: chain, v_s: 0}}",
                   "integrator.impact.v_s", ["> 0", "m/s"]),
    "tangential-restitution": ("friction: 0.3", "restitution_tangential: -1.1",
                               "contacts[0].restitution_tangential", ["[-1, 1]", "'-1.1'"]),
    "projection": ("{motors: implicit}", "{projection: all}", "integrator.projection",
                   ["one of mass, root-fixed, none", "'all'"]),
    "coordinates": ("title: Base", "coordinates: many", "coordinates",
                    ["one of as-marked, minimal, maximal", "'many'"]),
    "signal-type": ("{type: sine,", "{type: cosine,", "motors[0].reference.type",
                    ["one of constant, sine", "'cosine'"]),
    "metric-type": ("type: mean-velocity,", "type: average,", "metrics[0].type",
                    ["one of mean-velocity, ", "'average'"]),
    "metric-axis": ("axis: x}", "axis: w}", "metrics[0].axis", ["one of x, y, z", "'w'"]),
    "metric-probe": ("probe: tip", "probe: top", "metrics[0].probe", ["no probe", "'top'"]),
    "metric-no-probe": ("probe: tip, ", "", "metrics[0].probe", ["expected"]),
    "metric-window": ("axis: x}", "axis: x, from: 3, to: 2}", "metrics[0].to", ["after 'from'"]),
    "metric-force": ("type: mean-velocity, probe: tip, axis: x",
                     "type: mean-force, objects: nobody",
                     "metrics[0].objects", ["nobody"]),
    "metric-twice": ("metrics:\n", "metrics:\n  - {name: v, type: work}\n@@", "metrics[1].name",
                     ["'v'", "taken"]),
    "probe-body": ("body: arm", "body: leg", "probes[0].body", ["no body", "'leg'"]),
    "probe-twice": ("probes:\n", "probes:\n  - {name: tip, body: ball}\n@@", "probes[1].name",
                    ["'tip'", "taken"]),
    "body-twice": ("name: arm", "name: ball", "bodies[1].name", ["'ball'", "taken"]),
    "obstacle-twice": ("obstacles:\n", "obstacles:\n  - {name: floor, type: half-space}\n@@",
                       "obstacles[1].name", ["'floor'", "taken"]),
    "body-world": ("name: arm", "name: world", "bodies[1].name", ["'world'"]),
    "body-without-name": ("- name: arm\n    mass", "- mass", "bodies[1].name", ["expected"]),
    "body-without-joint": ("name: ball\n    mass: 1\n    inertia: [1, 1, 1]\n"
                           "    joint: {type: floating}\n",
                           "name: ball\n    mass: 1\n    inertia: [1, 1, 1]\n",
                           "bodies[0].joint", ["expected"]),
    "joint-without-type": ("joint: {type: floating}", "joint: {cut: true}", "bodies[0].joint.type",
                           ["expected"]),
    "contact-pattern": ("between: [floor, ball]", "between: [floor, 'leg*']",
                        "contacts[0].between", ["no two shapes", "'leg*'"]),
    "contact-one": ("between: [floor, ball]", "between: [floor]", "contacts[0].between",
                    ["two patterns"]),
    "motor-joint": ("joints: arm", "joints: 'leg*'", "motors[0].joints", ["no joint", "leg*"]),
    "support-body": ("motors:\n  - joints", "supports: [{bodies: 'leg*'}]\nmotors:\n  - joints",
                     "supports[0].bodies", ["leg*"]),
    "initial-joint": ("ball: {q:", "bowl: {q:", "initial.bowl", ["no joint", "'bowl'"]),
    "initial-length": ("q: [0, 0, 1, 1, 0, 0, 0]", "q: [0, 0, 1]", "initial.ball.q",
                       ["7 numbers", "floating", "3"]),
    "initial-v-length": ("q: [0, 0, 1, 1, 0, 0, 0]", "v: [0, 0, 1]", "initial.ball.v",
                         ["6 numbers", "floating", "3"]),
    "initial-quaternion": ("q: [0, 0, 1, 1, 0, 0, 0]", "q: [0, 0, 1, 1, 1, 0, 0]", "initial.ball.q",
                           ["unit quaternion"]),
    "frame-quaternion": ("axis: [0, 0, 1]",
                         "axis: [0, 0, 1]\n@@      at: {quaternion: [1, 1, 0, 0]}",
                         "bodies[1].joint.at.quaternion", ["unit quaternion"]),
    "frame-both": ("axis: [0, 0, 1]",
                   "axis: [0, 0, 1]\n@@      at: {quaternion: [1, 0, 0, 0], rpy: [0, 0, 1]}",
                   "bodies[1].joint.at.rpy", ["either rpy or quaternion"]),
    "inertia-and-solid": ("    inertia: [1, 2, 2.5]",
                          "    inertia: [1, 2, 2.5]\n    solid: {shape: sphere, radius: 1}",
                          "bodies[1].inertia", ["either inertia or solid"]),
    "table-lengths": ("{type: sine, amplitude: 0.2, omega: 3}",
                      "{type: table, times: [0, 1], values: [0]}", "motors[0].reference.values",
                      ["as many"]),
    "table-order": ("{type: sine, amplitude: 0.2, omega: 3}",
                    "{type: table, times: [1, 0], values: [0, 1]}", "motors[0].reference.times",
                    ["ascending"]),
    "prescribed-floating": ("{type: floating}", "{type: floating, prescribed: {type: sine}}",
                            "bodies[0].joint", ["floating"]),
    # time
    "zero-step": ("step: 1e-3", "step: 0", "time.step", ["> 0", "'0'"]),
    "negative-step": ("step: 1e-3", "step: -1e-3", "time.step", ["> 0", "'-1e-3'"]),
    "negative-end": ("end: 0.05", "end: -1", "time.end", ["> 0", "'-1'"]),
    "step-beyond-end": ("step: 1e-3", "step: 1", "time.end", ["step"]),
    "endless": ("end: 0.05", "end: 1e30", "time.end", ["steps"]),
    "tiny-step": ("step: 1e-3", "step: 1e-300", "time.end", ["steps"]),
    "no-end": ("{step: 1e-3, end: 0.05}", "{step: 1e-3}", "time.end", ["expected"]),
    "zero-interval": ("interval: 0.01", "interval: 0", "output.interval", ["> 0"]),
    # the same key twice
    "key-twice-top": ("title: Base", "title: Base\n@@title: Other", "title", ["twice"]),
    "key-twice-nested": ("    mass: 2\n", "    mass: 2\n@@    mass: 3\n", "bodies[1].mass",
                         ["twice"]),
    "key-twice-flow": ("end: 0.05", "end: 0.05, end: 1", "time.end", ["twice"]),
    "name-with-bracket": ("ball: {q:", "'a[': {q:", "initial.a[", ["no joint", "'a['"]),
    "name-with-dot": ("ball: {q:", "a.b: {q:", "initial.a.b", ["no joint", "'a.b'"]),
    "map-as-key": ("title: Base", "{a: b}: Base", "", ["plain key"]),
}


@pytest.mark.parametrize("case", CASES)
def test_scene(run, tmp_path, case):
    old, new, path, words = CASES[case]
    text, line = edit(old, new)
    message = refuse(run, tmp_path, text)
    if path is not None:
        head = f"scene.yaml:{line}: " + (path + ": " if path else "")
        assert message.startswith(head), f"expected the message to begin with {head!r}"
    for word in words:
        assert word in re.sub(r"^scene\.yaml:\d+: ", "", message), f"expected {word!r}"


@pytest.mark.parametrize("key", ["bodies[0].mass", "time"])
def test_a_missing_key_is_named_with_its_parent(run, tmp_path, key):
    if key == "time":
        text, line = "".join(x for x in BASE.splitlines(True) if not x.startswith("time:")), 2
    else:
        text, line = edit("    mass: 1\n", "")
        line = 5
    message = refuse(run, tmp_path, text)
    assert re.match(rf"scene\.yaml:\d+: {re.escape(key)}: expected", message)
    if key != "time":
        assert message.startswith(f"scene.yaml:{line}: ")


def test_no_bodies(run, tmp_path):
    message = refuse(run, tmp_path, "saltus: 1\ntime: {end: 1}\n")
    assert message.startswith("scene.yaml:1: ") and "bodies, bends, rods, robots, a snake or a worm" in message


def test_line_numbers_with_windows_line_ends_and_a_byte_order_mark(run, tmp_path):
    text, line = edit("mass: 2", "mass: -2")
    for name, data in {
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
    }.items():
        message = refuse(run, tmp_path, data)
        assert message.startswith(f"scene.yaml:{line}: bodies[1].mass: "), name


def test_line_numbers_after_a_folded_text(run, tmp_path):
    folded = "description: >\n  one\n\n  two\n  three\n\n# four\n"
    text, line = edit("mass: 2", "mass: -2")
    message = refuse(run, tmp_path, folded + text)
    assert message.startswith(f"scene.yaml:{line + folded.count(chr(10))}: bodies[1].mass: ")


# --- the snake, whose keys are its own

SNAKE = """\
saltus: 1
planar: true
snake:
  links: 3
  mass: 0.5
  friction: 0.2
  motor: {kp: 800, kd: 2}
  gait: {amplitude: 40 deg, omega: 80 deg/s, delta: -50 deg}
obstacles:
  - {name: peg1, type: peg, radius: 0.1, at: {position: [0, 3, 0]}}
contacts:
  - {between: ['peg*', 'link*']}
time: {end: 0.01}
"""


@pytest.mark.parametrize(
    "old, new, path, words",
    [
        ("links: 3", "links: 1", "snake.links", ["whole number >= 2", "'1'"]),
        ("mass: 0.5", "mass: -0.5", "snake.mass", ["> 0"]),
        ("mass: 0.5", "mass: 3 m", "snake.mass", ["kg", "'3 m'"]),
        ("friction: 0.2", "frction: 0.2", "snake.frction", ["unknown key", "friction"]),
        ("kp: 800", "kp: high", "snake.motor.kp", ["number", "'high'"]),
        ("amplitude: 40 deg", "amplitude: 40 deg/s", "snake.gait.amplitude", ["rad", "deg"]),
        ("radius: 0.1", "radius: 0", "obstacles[0].radius", ["> 0"]),
        ("position: [0, 3, 0]", "position: [0, 3]", "obstacles[0].at.position", ["3 numbers"]),
        ("'link*'", "'lnk*'", "contacts[0].between", ["'lnk*'"]),
    ],
)
def test_snake(run, tmp_path, old, new, path, words):
    assert SNAKE.count(old) == 1
    line = SNAKE[: SNAKE.index(old)].count("\n") + 1
    message = refuse(run, tmp_path, SNAKE.replace(old, new))
    assert message.startswith(f"scene.yaml:{line}: {path}: ")
    assert all(word in message for word in words)


def test_a_thick_snake_runs(run, tmp_path):
    """Its inertia about its own axis, which no motion uses, once was impossible: a crash."""
    (tmp_path / "scene.yaml").write_text(SNAKE.replace("mass: 0.5", "mass: 0.5\n  radius: 4"))
    assert run("run", tmp_path / "scene.yaml", "--set", "obstacles=[]", "--set", "contacts=[]").code == 0


# --- files that are no scene


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("", 1, ["a scene", "mapping"]),
        ("# nothing but a comment\n", 1, ["a scene", "mapping"]),
        ("hello\n", 1, ["a scene", "mapping"]),
        ("- a\n- b\n", 1, ["a scene", "mapping"]),
        ("saltus: 1\ntitle: [1, 2\ntime: {\n", None, ["YAML"]),
        ("saltus: 1\ntitle: 'open\n", None, []),
        ("saltus: 1\ntime:\n\tend: 1\n", 3, ["YAML"]),
        ("saltus: 1\ntime: a: b\n", 2, ["YAML"]),
        ("saltus: 1\ntitle: *nobody\n", 2, ["YAML", "anchor"]),
        ("saltus: 1\ntitle: &a [*a]\n", 2, []),
        ("saltus: 1\ntitle: " + "[" * 100000, 2, []),
        ("saltus: 1\ntitle: " + "[" * 1000 + "]" * 1000, 2, []),
        ("saltus: 1\n---\nsaltus: 1\n", None, []),
        (BASE + "---\n" + BASE, None, ["one"]),
        (",: 1\n", 1, []),
        (",: 1\nsaltus: 1\n", 1, []),
        ("saltus: 1\n...\n]: 2\n", None, []),
    ],
    ids=["empty", "comment", "word", "list", "open-list", "open-quote", "tab", "two-values",
         "no-anchor", "alias-of-itself", "deep-open", "deep", "two-short", "two-documents", "comma", "comma-and-more", "stray-bracket"],
)
def test_not_a_scene(run, tmp_path, text, line, words):
    message = refuse(run, tmp_path, text)
    match = re.match(r"scene\.yaml:(\d+): ", message)
    assert match, "expected file and line"
    assert 1 <= int(match[1]) <= text.count("\n") + 1
    assert line is None or int(match[1]) == line
    assert all(word in message for word in words)


def test_aliases_that_multiply(run, tmp_path):
    text = "saltus: 1\na: &a [x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 15):
        last, name = chr(96 + i), chr(97 + i)
        text += f"{name}: &{name} [{', '.join(['*' + last] * 9)}]\n"
    message = refuse(run, tmp_path, text)
    assert re.match(r"scene\.yaml:\d+: ", message)


def test_control_characters_do_not_reach_the_terminal(run, tmp_path):
    for text in ('saltus: 1\ntitle: "\\\n"\nx: "\\\x07"\n', BASE + 'x: "\\e[31m\\n"\n',
                 BASE + '"a\\nb\\e[31m": 3\n'):
        message = refuse(run, tmp_path, text)
        assert message.isprintable()


@pytest.mark.parametrize("seed", range(8))
def test_garbage(run, tmp_path, seed):
    data = random.Random(seed).randbytes(2000)
    print("seed", seed)
    message = refuse(run, tmp_path, data)
    assert re.match(r"scene\.yaml:\d+: ", message)


def test_a_run_file_as_a_scene(run, tmp_path):
    (tmp_path / "scene.yaml").write_text(BASE)
    assert run("run", "scene.yaml", "-o", "out.h5", cwd=tmp_path).code == 0
    os.rename(tmp_path / "out.h5", tmp_path / "run.yaml")
    message = refused(run("run", "run.yaml", "-o", "out.h5", cwd=tmp_path), tmp_path)
    assert message.startswith("run.yaml:")


def test_missing_file(run, tmp_path):
    message = refused(run("run", "nope.yaml", "-o", "out.h5", cwd=tmp_path), tmp_path)
    assert message.startswith("nope.yaml: cannot read") and "No such file" in message


def test_directory_as_scene(run, tmp_path):
    (tmp_path / "dir.yaml").mkdir()
    message = refused(run("run", "dir.yaml", "-o", "out.h5", cwd=tmp_path), tmp_path)
    assert message.startswith("dir.yaml: cannot read") and "irectory" in message


@pytest.fixture
def stranger(run):
    """A folder that is not ours, and how to run as one who may not write in it: root may."""
    who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        try:
            assert run("--version", cwd=folder, **who).code == 0
        except OSError:
            pytest.skip("another user cannot run the binary")
        yield folder, lambda *args: run(*args, cwd=folder, **who)
        folder.chmod(0o755)


def put(path, text, mode):
    folder = path.parent
    folder.chmod(0o755)
    path.write_text(text)
    path.chmod(mode)
    folder.chmod(0o555)


def test_unreadable_file(stranger):
    folder, run = stranger
    put(folder / "scene.yaml", BASE, 0o000)
    message = refused(run("run", "scene.yaml"), folder)
    assert message.startswith("scene.yaml: cannot read") and "denied" in message


# --- --set

SETS = [
    ("nosuch=1", ["nosuch", "unknown key", "time"]),
    ("time.stepp=1", ["time.stepp", "unknown key", "step"]),
    ("time.step.x=1", ["time.step.x"]),
    ("nosuch.deep.path=1", ["nosuch"]),
    ("bodies[7].mass=1", ["bodies[7]"]),
    ("bodies[-1].mass=1", ["bodies[-1]"]),
    ("bodies[leg].mass=1", ["bodies[leg]"]),
    ("bodies.arm.mass=1", ["bodies.arm"]),
    ("title[0]=1", ["title[0]"]),
    ("bodies[0=1", ["expected a path"]),
    ("bodies[]=1", ["expected a path"]),
    ("bodies[0]mass=1", ["expected a path"]),
    ("time..step=1e-3", ["expected a path"]),
    (".time.step=1e-3", ["expected a path"]),
    ("time.step.=1e-3", ["expected a path"]),
    (".=1", ["expected a path"]),
    ("[0]=1", ["[0]"]),
    ("time.step", ["path=value"]),
    ("=1", ["path=value"]),
    ("", ["path=value"]),
    ("time.step=", ["value"]),
    ("time.step=fast", ["time.step", "number", "'fast'"]),
    ("time.step=3 m", ["time.step", "[s", "'3 m'"]),
    ("time.step=nan", ["time.step", "number", "'nan'"]),
    ("time.step=0", ["time.step", "> 0"]),
    ("time.step=[1, 2]", ["time.step", "number", "a list"]),
    ("time.step={", ["YAML"]),
    ("time.step=*x", ["YAML"]),
    ("time=1", ["time", "mapping"]),
    ("time={step: 1e-3, end: 1, stop: 2}", ["time.stop", "unknown key"]),
    ("time={step: 1e-3, end: 1, end: 2}", ["time.end", "twice"]),
    ("solver.type=admm", ["solver.type", "one of auto, sor, jor, newton", "'admm'"]),
    ("bodies[arm].mass=-1", ["bodies[1].mass", "'-1'"]),
    ("bodies[1].joint.parent=arm", ["bodies[1].joint.parent", "loop"]),
    ("metrics[v].probe=top", ["metrics[0].probe", "'top'"]),
    ("contacts[0].between=[floor, leg]", ["contacts[0].between", "'leg'"]),
    ("initial.ball.q=[1, 2]", ["initial.ball.q", "7 numbers"]),
    ("initial.leg.q=1", ["initial.leg", "no joint"]),
    ("snake.friction=0.1", ["snake"]),
    ("saltus=2", ["saltus", "version 1"]),
]


@pytest.mark.parametrize("assignment, words", SETS, ids=[s[0] or "nothing" for s in SETS])
def test_set(run, tmp_path, assignment, words):
    message = refuse(run, tmp_path, BASE, "--set", assignment)
    assert message.startswith(f"--set {assignment}: "), "the message names the assignment"
    rest = message[len(f"--set {assignment}: ") :]
    assert all(word in rest for word in words), words


def test_set_names_the_file_when_the_fault_is_there(run, tmp_path):
    text, line = edit("mass: 2", "mass: -2")
    message = refuse(run, tmp_path, text, "--set", "bodies[0].mass=3")
    assert message.startswith(f"scene.yaml:{line}: bodies[1].mass: ")


def test_set_of_many_the_faulty_one_is_named(run, tmp_path):
    message = refuse(run, tmp_path, BASE, "--set", "time.end=0.02", "--set", "kp=3")
    assert message.startswith("--set kp=3: ")


# --- output that cannot be written


def test_output_in_a_missing_folder(run, tmp_path):
    message = refuse(run, tmp_path, BASE, output="no/such/out.h5")
    assert message.startswith("no/such/out.h5: cannot write") and "No such file" in message


def test_output_is_a_folder(run, tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    message = refuse(run, tmp_path, BASE, output="folder.yaml")
    assert message.startswith("folder.yaml: cannot write") and "directory" in message
    assert list((tmp_path / "folder.yaml").iterdir()) == []


def test_output_in_a_read_only_folder(stranger):
    folder, run = stranger
    put(folder / "scene.yaml", BASE, 0o444)
    assert run("run", "scene.yaml", "-q").code == 0
    message = refused(run("run", "scene.yaml", "-o", "out.h5"), folder)
    assert message.startswith("out.h5: cannot write") and "denied" in message


def test_a_scene_without_end(run, tmp_path):
    outcome = run("run", "/dev/zero", cwd=tmp_path, timeout=60)
    assert outcome.code == 2 and outcome.err == "saltus: /dev/zero: expected at most 256 MiB\n"


def test_output_would_replace_a_pipe(run, tmp_path):
    """As root, -o /dev/null must not turn the machine's /dev/null into a run file."""
    os.mkfifo(tmp_path / "pipe.yaml")
    message = refuse(run, tmp_path, BASE, output="pipe.yaml")
    assert message.startswith("pipe.yaml: cannot write")
    assert (tmp_path / "pipe.yaml").is_fifo()


def test_output_would_replace_the_scene(run, tmp_path):
    message = refuse(run, tmp_path, BASE, output="./scene.yaml")
    assert message.startswith("./scene.yaml: cannot write")
    assert (tmp_path / "scene.yaml").read_text() == BASE


def test_a_refused_scene_keeps_an_older_run(run, tmp_path):
    (tmp_path / "old.yaml").write_bytes(b"an older run")
    refuse(run, tmp_path, BASE, "--set", "kp=1", output="old.yaml")
    assert (tmp_path / "old.yaml").read_bytes() == b"an older run"


@pytest.mark.parametrize("limit", [1000, 60_000, 1_200_000, 2_000_000])
def test_full_disk(run, tmp_path, scenes, limit):
    """A file-size limit fails writes as a full disk does: exit 2, what was written stays readable."""

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    outcome = run("run", scenes / "p0/pegs.yaml", "-o", "out.h5", cwd=tmp_path, preexec_fn=small,
                  restore_signals=False)  # Python ignores SIGXFSZ: a write returns an error
    print(limit, "bytes:", outcome.code, outcome.err)
    assert outcome.code == 2
    assert outcome.err.startswith("saltus: out.h5: cannot write: ") and outcome.err.count("\n") == 1
    assert [x for x in leftovers(tmp_path) if x != "out.h5"] == []
    if (tmp_path / "out.h5").exists():
        info = run("info", "out.h5", cwd=tmp_path)
        assert info.code == 0, info.err
        print(*(x.strip() for x in info.out.splitlines() if "rows" in x or "checkpoints" in x))


# --- the other commands and the command line itself


@pytest.fixture(scope="module")
def good_run(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    (folder / "scene.yaml").write_text(BASE)
    assert run("run", "scene.yaml", "-o", "out.h5", cwd=folder).code == 0
    return folder / "out.h5"


def test_the_chain_and_rolling_friction(run, tmp_path):
    text = BASE.replace("friction: 0.3", "friction: 0.3\n    rolling: 0.01")
    message = refuse(run, tmp_path, text.replace("motors: implicit}", "impact: chain}"))
    line = text[: text.index("integrator:")].count("\n") + 1
    assert message.startswith(f"scene.yaml:{line}: integrator.impact: ")
    assert "contact law 1 has rolling" in message


# A rod on a ball joint whose tip is pushed into the floor: an impulse along the rod moves nothing,
# and with friction above the tangent of its angle (0.75) none that presses lifts it again.
JAM = """\
saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: rod, mass: 1, solid: {shape: sphere, radius: 0.3}, joint: {type: spherical},
     shapes: [{type: sphere, radius: 0.1, at: {position: [0.6, 0, -0.8]}}]}
obstacles: [{name: floor, type: half-space, at: {position: [0, 0, -0.95]}}]
contacts: [{between: [floor, rod], friction: 0.9, restitution: 0.5}]
initial: {rod: {q: [1, 0, 0, 0], v: [0, 1, 0]}}
time: {step: 1 ms, end: 0.3}
integrator: {type: event-driven, impact: newton}
"""


def test_an_impact_without_a_solution(run, tmp_path):
    (tmp_path / "jam.yaml").write_text(JAM)
    done = run("run", "jam.yaml", cwd=tmp_path)
    print(done.err)
    assert done.code == 1
    # The tip at radius 1 and 36.87 degrees from below; it touches where cos = 0.85 at 1 rad/s.
    t = math.atan2(0.6, 0.8) - math.acos(0.85)
    said = re.search(r"at t = ([\d.]+) s the impact has no solution \(residual \S+ m/s at contact "
                     r".*rod\); the last good state is step (\d+)", done.err)
    assert said and float(said[1]) == pytest.approx(t, abs=1e-9) and int(said[2]) == int(t / 1e-3)
    # The same impact has one where friction is below that tangent.
    assert run("run", "jam.yaml", "--set", "contacts[0].friction=0.3", cwd=tmp_path).code == 0


HOP = """\
saltus: 1
bodies:
  - {name: ball, mass: 5, solid: {shape: sphere, radius: 10 cm}, joint: {type: floating},
     shapes: [{type: sphere, radius: 10 cm}]}
obstacles: [{name: floor, type: half-space}]
contacts: [{between: [floor, ball], friction: 0.2, restitution: 0.5}]
initial: {ball: {q: [0, 0, 0.5, 1, 0, 0, 0], v: [1, 0, 0, 0, 0, 0]}}
time: {step: 1 ms, end: 1}
"""


@pytest.mark.parametrize(
    "args, words",
    [
        (["--set", "gravity=[0, 0, 0]"], ["hop.yaml", "expected 1 impact before its end at 1 s"]),
        (["--set", "contacts[0].friction=0"], ["hop.yaml", "the impact at 0.285569 s is frictionless"]),
        (["--set", "contacts[0].rolling=1 mm"], ["hop.yaml: contacts", "rolling"]),
        (["--skip", "-1"], ["skip: expected a number >= 0, got -1"]),
        (["--skip", "100"], ["hop.yaml", "expected 101 impacts before its end"]),
        (["--reach", "0"], ["reach: expected a speed > 0, got 0"]),
        (["--reach", "nan"], ["reach: expected a speed > 0"]),
        (["--restitution", "2"], ["restitution: expected numbers in [0, 1], got 2"]),
        (["--restitution", "0.5,-1"], ["restitution: expected numbers in [0, 1], got -1"]),
        (["--restitution", "nan"], ["restitution: expected numbers in [0, 1]"]),
        (["--restitution", "high"], ["--restitution", "high"]),
        (["-o", "x.pdf"], ["x.pdf: expected a name that ends in .svg or .csv"]),
        (["-o", "no/x.svg"], ["no/x.svg: cannot write"]),
    ],
)
def test_feasible(run, tmp_path, args, words):
    (tmp_path / "hop.yaml").write_text(HOP)
    message = refused(run("feasible", "hop.yaml", *args, cwd=tmp_path), tmp_path)
    assert all(word in message for word in words), words


@pytest.mark.parametrize("damage", ["position", "quaternion", "place", "sensor", "short"])
def test_a_damaged_checkpoint_is_refused(run, tmp_path, damage):
    """Numbers that no state has are not read into a run (what else may be damaged, tests/fuzz/run_fuzz.cpp tries)."""
    import h5py
    import numpy as np

    (tmp_path / "scene.yaml").write_text(BASE + "sensors: [{name: turn, type: encoder, joints: arm, rate: 100}]\n")
    assert run("run", "scene.yaml", "-o", "x.yaml", "-q", cwd=tmp_path).code == 0
    with h5py.File(tmp_path / "x.yaml", "r+") as f:
        ends, data = f["checkpoints/end"][:], f["checkpoint_data/bytes"]
        begin = int(ends[-2])
        state = np.frombuffer(data[begin:int(ends[-1])].tobytes(), dtype=np.uint8).copy()
        odd = len(state) % 8  # modes are bytes: what follows them is aligned with the end
        numbers, memory = state[:len(state) - odd].view(np.float64), state[odd:].view(np.float64)
        q = f["frames/q"][list(f["frames/step"]).index(f["checkpoints/step"][-1])]
        at = state.tobytes().find(q.tobytes()) // 8
        assert at > 0 and np.array_equal(numbers[at:at + len(q)], q)
        if damage == "position":
            numbers[at] = np.nan
        elif damage == "quaternion":
            numbers[at + 3:at + 7] = 0
        elif damage == "place":  # the totals lead; places are integers, -1 where there is none
            whole = state[:8 * at].view(np.int32)
            whole[whole == -1] = 1000
        elif damage == "sensor":  # readings taken, of which the place in the ring of two follows
            assert memory[-10] == memory[-9] > 0
            memory[-10] = -7
        elif damage == "short":
            f["checkpoints/end"][-1] = begin + 80
        data[begin:begin + len(state)] = state
    message = refused(run("run", "-o", "out.h5", "--resume", "x.yaml", cwd=tmp_path), tmp_path)
    assert message.startswith("x.yaml: "), message
    assert ("sensors" if damage == "sensor" else "checkpoint") in message


@pytest.mark.parametrize("command", [["info"], ["csv"], ["audit"], ["run", "-o", "out.h5", "--resume"]])
@pytest.mark.parametrize("kind", ["missing", "folder", "text", "empty", "hdf5", "cut"])
def test_no_run_file(run, tmp_path, good_run, command, kind):
    import h5py

    path = tmp_path / "x.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("hello\n")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "hdf5":
        with h5py.File(path, "w") as f:
            f["a"] = 3
    elif kind == "cut":
        data = good_run.read_bytes()
        path.write_bytes(data[: len(data) // 3])
    message = refused(run(*command, "x.yaml", cwd=tmp_path), tmp_path)
    assert message.startswith("x.yaml: ")


@pytest.mark.parametrize(
    "args, words",
    [
        (["csv", "RUN", "-t", "nope"], ["'nope'", "contacts", "frames", "steps"]),
        (["csv", "RUN", "-c", "nope"], ["'nope'", "frames"]),
        (["csv", "RUN", "-o", "no/such.csv"], ["no/such.csv: cannot write"]),
        (["csv", "RUN", "-o", "pipe.yaml"], ["pipe.yaml: cannot write"]),
        (["run"], ["a scene"]),
        (["run", "scene.yaml", "--resume", "RUN"], ["either a scene or --resume"]),
        (["run", "--resume", "RUN", "--set", "time.end=3"], ["--set"]),
        (["run", "scene.yaml", "--nope"], ["--nope"]),
        (["run", "scene.yaml", "other.yaml"], ["other.yaml"]),
        (["run", "scene.yaml", "--set"], ["--set"]),
        (["nope"], ["nope"]),
        ([], ["subcommand"]),
    ],
)
def test_command_line(run, tmp_path, good_run, args, words):
    os.mkfifo(tmp_path / "pipe.yaml")
    before = good_run.read_bytes()
    args = [str(good_run) if a == "RUN" else a for a in args]
    message = refused(run(*args, cwd=tmp_path), tmp_path)
    assert all(word in message for word in words), words
    assert good_run.read_bytes() == before
    assert (tmp_path / "pipe.yaml").is_fifo()


@pytest.mark.parametrize(
    "args", [["csv", "RUN"], ["info", "RUN"], ["schema"], ["run", "SCENE"],
             ["run", "SCENE", "--json"]], ids=" ".join)
def test_standard_output_is_full(run, good_run, args):
    args = [{"RUN": str(good_run), "SCENE": str(good_run.parent / "scene.yaml")}.get(a, a)
            for a in args]
    with open("/dev/full", "w") as full:
        outcome = run(*args, stdout=full)
    assert outcome.code not in (0, -signal.SIGSEGV), "what was asked for did not arrive"
    assert outcome.err.startswith("saltus: ") and outcome.err.count("\n") == 1, outcome.err


def test_csv_on_a_full_disk(run, tmp_path, good_run):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    for columns in (["t"], []):  # one that fails when the file is closed, one before
        extra = ["-c", *columns] if columns else []
        outcome = run("csv", good_run, "-t", "steps", "-o", "out.csv", *extra, cwd=tmp_path,
                      preexec_fn=small, restore_signals=False)
        print(outcome.err)
        assert outcome.code in (1, 2)
        assert outcome.err.startswith("saltus: ") and outcome.err.count("\n") == 1
        assert leftovers(tmp_path) == []


# --- names that are not UTF-8: a file name is bytes


def test_a_scene_whose_name_is_not_utf8(run, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.yaml"
    with open(name, "w") as f:
        f.write(BASE)
    outcome = run("run", name, "-o", "out.h5", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    outcome = run("run", name, "--json", cwd=tmp_path)
    assert outcome.code == 0, outcome.err


def test_a_title_that_is_not_utf8(run, tmp_path):
    """Either it is refused as bad input or it runs; it is no failed run."""
    data = BASE.encode().replace(b"title: Base", b'title: "B\xffse"')
    (tmp_path / "scene.yaml").write_bytes(data)
    outcome = run("run", "scene.yaml", "--json", "-o", "out.h5", cwd=tmp_path)
    if outcome.code != 0:
        assert refused(outcome, tmp_path).startswith("scene.yaml:3: ")


# --- fuzz

POOL = ["nan", ".inf", "-1", "0", "1e308", "1e-308", "1e999", "''", '""', "[]", "{}", "[[]]", "{a: b}",
        "null", "~", "*a", "&a x", "!!int x", "|", ">", "- -", "? a", "true", "world", "arm", "link1",
        "3 m", "40 deg", "\t", "\0", "\u00e9", "\U0001f40d", "[1, 2, 3]", "[0, 0, 0]", "x" * 300, ":", "#",
        "@", "%", "`", "'", '"', "{", "}", "[", "]", ",", "1e-3", "0x1F", "1_000", "2024-01-01", "-0.0",
        "type", "name", "joint", "revolute", "floating", "sphere", "box", "half-space", "prescribed",
        "maximal", "jor", "prox", "velocity", "explicit", "none", "newton", "root-fixed", "carrier"]


def mutate(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    if len(data) < 10:
        data = BASE.encode() + data
    kind = rng.choice(["token", "token", "token", "delete", "swap", "line", "lines", "byte", "insert",
                       "cut", "indent"])
    if kind in ("token", "delete", "swap"):
        parts = re.split(rb"([\w.*'/+-]+)", data)
        words = range(1, len(parts), 2) or [0]
        i = rng.choice(words)
        if kind == "token":
            parts[i] = rng.choice(POOL).encode()
        elif kind == "delete":
            parts[i] = b""
        else:
            j = rng.choice(words)
            parts[i], parts[j] = parts[j], parts[i]
        return b"".join(parts), kind
    if kind in ("line", "lines", "indent"):
        lines = data.splitlines(True)
        i = rng.randrange(len(lines))
        if kind == "line":
            del lines[i]
        elif kind == "lines":
            lines.insert(rng.randrange(len(lines)), lines[i])
        else:
            lines[i] = b" " * rng.randrange(5) + lines[i].lstrip(b" ")
        return b"".join(lines), kind
    i = rng.randrange(len(data))
    if kind == "byte":
        return data[:i] + bytes([rng.randrange(256)]) + data[i + 1 :], kind
    if kind == "insert":
        return data[:i] + rng.randbytes(rng.randrange(1, 5)) + data[i:], kind
    return data[:i], kind


# Few bytes that ask for much: refused at once, before anything is made of them.
BODY = "bodies: [{name: b, mass: 1, inertia: [1, 1, 1], joint: {type: floating}}]\ntime: {end: 1}\n"
FIELD = "{name: a, type: height-field, spacing: 1, generator: {type: noise, amplitude: 1, points: [1000, 1000]}}"
COSTLY = {
    "links": ("saltus: 1\nsnake:\n  links: 1000000000\ntime: {end: 1}\n",
              "scene.yaml:3: snake.links: expected at most 10000 links"),
    "points": ("saltus: 1\n" + BODY + "obstacles:\n- " + FIELD.replace("1000, 1000", "16384, 16384"),
               "scene.yaml:5: obstacles[0].generator.points: expected generators that make at most"),
    "aliases": ("saltus: 1\n" + BODY + "obstacles:\n- &a " + FIELD + "\n- *a" * 100,
                "expected generators that make at most 4194304 values in all"),
    "squares": ("saltus: 1\n" + BODY + "obstacles:\n- {name: a, type: half-space, friction_map: {generator: "
                "{type: checkerboard, length: 1, factors: [0, 1], points: [16384, 16384]}}}",
                "expected generators that make at most"),
    "stars": ("saltus: 1\n" + BODY + "exclusions: [{bodies: ['" + "*b" * 200 + "']}]\nvisuals:\n- {body: b, "
              "type: point}\n", "exclusions[0].bodies: no two bodies match"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_few_bytes_cost_little(run, tmp_path, name):
    text, message = COSTLY[name]
    if name == "stars":
        text = text.replace("name: b,", "name: " + "b" * 150 + "c,").replace("body: b", "body: world")
    assert message in refuse(run, tmp_path, text)


def too_large(data: bytes) -> bool:
    """A snake of a thousand links is slow, not wrong."""
    return any(len(x) > 2 for x in re.findall(rb"links\W+(\d+)", data))


def test_fuzz(run, tmp_path, soak, binary):
    count = 5000 if soak else 200
    seed = int(os.environ.get("SALTUS_SEED", random.SystemRandom().randrange(10**6) if soak else 1))
    print(f"seed {seed}, {count} mutations (SALTUS_SEED to repeat)")
    originals = [p.read_bytes() for p in all_scenes()] + [BASE.encode(), SNAKE.encode()]
    codes = {0: 0, 1: 0, 2: 0}
    bad = []
    for i in range(count):
        rng = random.Random(f"{seed}/{i}")
        data, kind = rng.choice(originals), ""
        for _ in range(rng.choice([1, 1, 2, 4])):
            data, how = mutate(rng, data)
            kind += how + " "
        if too_large(data):
            continue
        scene, out = tmp_path / "scene.yaml", tmp_path / "out.h5"
        scene.write_bytes(data)
        args = ["run", scene, "-o", out, "-q", "--set", "time.end=0.01", "--set", "time.step=1e-3"]
        try:
            outcome = run(*args, timeout=20)
        except subprocess.TimeoutExpired:
            outcome = None
        complaint = fuzz_complaint(outcome, tmp_path)
        if complaint:
            keep = tmp_path.parent / f"fuzz-{seed}-{i}.yaml"
            keep.write_bytes(data)
            bad.append(f"mutation {i} ({kind.strip()}), kept as {keep}: {complaint}")
        else:
            codes[outcome.code] += 1
        for p in tmp_path.iterdir():
            p.unlink()
    print("exit status:", codes)
    print(*bad, sep="\n")
    assert not bad
    assert codes[0] > 0 and codes[2] > count // 4, "the mutations are neither all good nor all bad"


def fuzz_complaint(outcome, folder) -> str:
    if outcome is None:
        return "no end after 20 s"
    if outcome.code not in (0, 1, 2):
        return f"exit status {outcome.code}: {outcome.err[-300:]}"
    if outcome.code == 2:
        if not outcome.err.startswith("saltus: ") or outcome.err.count("\n") != 1:
            return f"not one line: {outcome.err!r}"
        if not re.match(r"saltus: (.*scene\.yaml(:\d+)?: |--set )", outcome.err):
            return f"no file and line: {outcome.err!r}"
        if leftovers(folder):
            return f"left behind: {leftovers(folder)}"
    if outcome.code == 1 and not re.match(r"saltus: .*(diverged|singular|missed the tolerance)",
                                          outcome.err):
        return f"no failed run: {outcome.err!r}"
    if outcome.code == 0 and leftovers(folder) != ["out.h5"]:
        return f"left behind: {leftovers(folder)}"
    return ""




HUGE = """saltus: 1
bodies: [{name: ball, mass: MASS, solid: {shape: sphere, radius: 0.1}, joint: {type: floating}}]
initial: {ball: {v: [SPEED, 0, 0, 0, 0, 0]}}
time: {end: 0.01}
"""


@pytest.mark.parametrize("mass, speed, message", [
    ("1e308", "0", "bodies[0].mass: expected at most 1e+100 kg, got 1e+308"),
    ("1", "-1e308", "initial.ball.v: expected numbers of at most 1e+100 in size, got -1e+308")])
def test_numbers_whose_products_are_none_are_named(run, tmp_path, mass, speed, message):
    scene = tmp_path / "huge.yaml"
    scene.write_text(HUGE.replace("MASS", mass).replace("SPEED", speed))
    done = run("run", scene)
    assert done.code == 2 and message in done.err, done.err


@pytest.mark.parametrize("mass, size, message", [
    ("1e308", "0.1", "expected numbers of at most 1e+100 in size, got 1e+308"),
    ("1", "1e200", "expected numbers of at most 1e+100 in size, got 1e+200")])
def test_huge_numbers_of_robot_files_are_named(run, tmp_path, mass, size, message):
    (tmp_path / "r.urdf").write_text(f'''<robot name="r"><link name="a"><inertial><mass value="{mass}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>''')
    (tmp_path / "r.xml").write_text(f'''<mujoco><worldbody><body><freejoint/>
<geom size="{size}" mass="{mass}"/></body></worldbody></mujoco>''')
    for name in ("r.urdf", "r.xml") if mass != "1" else ("r.xml",):
        done = run("import", tmp_path / name)
        assert done.code == 2 and message in done.err and f"{name}:" in done.err, done.err
