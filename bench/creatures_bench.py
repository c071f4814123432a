"""Creatures in full contact: snakes of scenes/heaps/make.py and the ragdoll of scenes/energy, in Saltus and in MuJoCo.

    python bench/creatures_bench.py [creatures]      as `saltus bench creatures` calls it

MuJoCo's model is made of our own scene: the same bodies, joints, shapes and friction, floors as planes, position actuators with
joint damping for our PD. "mujoco" has its defaults, "mujoco-accurate" what bench/quadruped_mujoco.cpp calls so: implicitfast,
elliptic cones, Newton to 1e-12, contacts with a time constant of two steps and impratio 100. Times are processor time of a step
from the start of the scene to its end, ours less the start of the program; the least of the repetitions. Prints the JSON of the
other programs, with the deepest penetration of a run [m].
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIM_END, REPEATS = 2.0, 2
# Case: arguments of scenes/heaps/make.py, or a scene.
CASES = {"snake of 10": ("snake", "10"), "snake of 20": ("snake", "20"), "snake of 40": ("snake", "40"),
         "snake of 100": ("snake", "100"), "snake of 20 boxes": ("box-snake", "20"), "ragdoll": "scenes/energy/ragdoll.yaml"}
ACCURATE = ('integrator="implicitfast" cone="elliptic" solver="Newton" tolerance="1e-12" iterations="100" impratio="100"')


def binary():
    """Of the build that this script is linked into, else of the release build."""
    beside = Path(__file__).absolute().parent.parent / "bin" / "saltus"
    return os.environ.get("SALTUS_BIN") or str(beside if beside.exists() else ROOT / "build/release/bin/saltus")


def text_of(case):
    if isinstance(case, str):
        return (ROOT / case).read_text()
    return subprocess.run([sys.executable, ROOT / "scenes/heaps/make.py", *case], capture_output=True, text=True, check=True).stdout


def saltus(text):
    """Processor time of a step [ns], steps, unconverged ones, the worst residual [m/s], the deepest penetration [m]."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "scene.yaml"
        scene.write_text(text)

        def run(end):
            child = subprocess.Popen([binary(), "run", str(scene), "--json", "--allow-gain", "--set", f"time.end={end}",
                                      "--set", f"output.interval={end}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            out = child.stdout.read()
            _, _, used = os.wait4(child.pid, 0)
            return used.ru_utime + used.ru_stime, json.loads(out)

        short, _ = run(1e-3)
        whole, found = run(SIM_END)
    steps = found["steps"]
    return 1e9 * (whole - short) / steps, steps, found["unconverged_steps"], found["worst_residual"], found["max_penetration"]


def numbers(x):
    return " ".join(f"{v:.17g}" for v in x)


def degrees(x):
    return math.radians(float(str(x).split()[0])) if str(x).endswith("deg") else float(x)


def rotation(frame):
    """The euler angles of a frame [rad] as MuJoCo's attribute; ours turn about x, y, z of what stays."""
    return f' euler="{numbers(degrees(x) for x in frame["rpy"])}"' if "rpy" in frame else ""


def solid_inertia(m, s):
    if s["shape"] == "box":
        x, y, z = s["size"]
        return m / 12 * (y * y + z * z), m / 12 * (x * x + z * z), m / 12 * (x * x + y * y)
    if s["shape"] == "sphere":
        return (0.4 * m * s["radius"] ** 2,) * 3
    r, length = s["radius"], s["length"]  # a cylinder along x
    across = m * (r * r / 4 + length * length / 12)
    return m * r * r / 2, across, across


def geom(shape, mu):
    at = shape.get("at", {})
    place = f'pos="{numbers(at.get("position", [0, 0, 0]))}"'
    common = f'friction="{mu} 0.005 0.0001" contype="1" conaffinity="2"'
    if shape["type"] == "capsule":  # MuJoCo's lies along z
        turn = at.get("rpy", [0, 0, 0])
        c, s = math.cos(degrees(turn[2])), math.sin(degrees(turn[2]))
        assert degrees(turn[0]) == degrees(turn[1]) == 0, "capsules are turned about z alone"
        end = [shape["half_length"] * c, shape["half_length"] * s, 0]
        p = at.get("position", [0, 0, 0])
        line = numbers([a - b for a, b in zip(p, end)] + [a + b for a, b in zip(p, end)])
        return f'<geom type="capsule" size="{shape["radius"]}" fromto="{line}" {common}/>'
    if shape["type"] == "box":
        size = numbers(0.5 * x for x in shape["size"])
        return f'<geom type="box" size="{size}" {place}{rotation(at)} {common}/>'
    return f'<geom type="sphere" size="{shape["radius"]}" {place} {common}/>'


def mjcf(scene, option, contact, dt):
    """The scene in MuJoCo's words: joints at the origin of the child's frame less `in_body`."""
    mu = scene["contacts"][0]["friction"]
    motors = {m["joints"]: m for m in scene.get("motors", [])}
    children = {}
    for b in scene["bodies"]:
        children.setdefault(b["joint"].get("parent"), []).append(b)
    drives = []

    def body(b):
        j, hang = b["joint"], b["joint"].get("in_body", {}).get("position", [0, 0, 0])
        place = j.get("at", {}).get("position", [0, 0, 0])
        if j["type"] == "floating":
            place, joint = scene["initial"][b["name"]]["q"][:3], "<freejoint/>"
        elif j["type"] == "spherical":
            joint = f'<joint type="ball" pos="{numbers(hang)}"/>'
        else:
            name, drive = j.get("name", b["name"]), motors.get(j.get("name"))
            limits = f' limited="true" range="{numbers(degrees(x) for x in j["limits"])}"' if "limits" in j else ""
            joint = (f'<joint name="{name}" type="hinge" axis="{numbers(j["axis"])}" pos="{numbers(hang)}"{limits} '
                     f'damping="{drive["kd"] if drive else 0}"/>')
            if drive:
                drives.append((f'<position joint="{name}" kp="{drive["kp"]}"/>', drive["reference"]))
        at = [p - h for p, h in zip(place, hang)]
        return (f'<body name="{b["name"]}" pos="{numbers(at)}">{joint}<inertial pos="0 0 0" mass="{b["mass"]}" '
                f'diaginertia="{numbers(solid_inertia(b["mass"], b["solid"]))}"/>'
                + "".join(geom(s, mu) for s in b["shapes"]) + "".join(body(c) for c in children.get(b["name"], [])) + "</body>")

    bodies = "".join(body(b) for b in children[None])
    return (f'<mujoco><compiler angle="radian" autolimits="false" eulerseq="XYZ"/><option timestep="{dt}" {option}/>'
            f'<size memory="512M"/><default><geom {contact}/></default><worldbody><geom type="plane" size="0 0 1" '
            f'friction="{mu} 0.005 0.0001" contype="2" conaffinity="1"/>{bodies}</worldbody><actuator>'
            + "".join(d for d, _ in drives) + "</actuator></mujoco>"), [r for _, r in drives]


def mujoco(text, option, stiff):
    import mujoco as mj
    import numpy as np
    import yaml
    scene, dt = yaml.safe_load(text), 1e-3
    xml, references = mjcf(scene, option, f'solref="{2 * dt} 1"' if stiff else "", dt)
    model = mj.MjModel.from_xml_string(xml)
    data = mj.MjData(model)
    for name, start in scene["initial"].items():
        joint = model.body(name).jntadr[0]
        q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if not isinstance(start, dict):  # a hinge
            data.qpos[q] = start
            continue
        data.qpos[q:q + 7] = np.array(start["q"]) / np.array([1, 1, 1] + [np.linalg.norm(start["q"][3:])] * 4)
        if "v" in start:
            data.qvel[v:v + 6] = start["v"]
    wave = np.array([[r["amplitude"], r["omega"], r["phase"]] for r in references]).reshape(-1, 3).T
    steps, used, deep = round(SIM_END / dt), 0, 0.0
    for _ in range(steps):
        data.ctrl[:] = wave[0] * np.sin(wave[1] * data.time + wave[2])
        start = time.process_time_ns()
        mj.mj_step(model, data)
        used += time.process_time_ns() - start
        deep = max(deep, -data.contact.dist.min(initial=0.0))
    return used / steps, steps, 0, None, deep


def main():
    rows = []
    for name, case in CASES.items():
        text = text_of(case)
        engines = {"saltus": lambda: saltus(text), "mujoco": lambda: mujoco(text, "", False),
                   "mujoco-accurate": lambda: mujoco(text, ACCURATE, True)}
        for engine, run in engines.items():
            try:
                found = [run() for _ in range(REPEATS)]
            except ImportError:  # MuJoCo, or PyYAML, which reads the scene for it
                continue
            _, steps, missed, residual, deep = found[-1]
            run_name = f"creatures/{name}/{engine}"
            counters = {"problems": steps, "unconverged": missed, "penetration": deep}
            if residual is not None:
                counters["residual"] = residual
            for aggregate in ("min", "max"):
                rows.append({"name": f"{run_name}_{aggregate}", "run_name": run_name, "aggregate_name": aggregate,
                             "cpu_time": min(f[0] for f in found), "time_unit": "ns", **counters})
    print(json.dumps({"benchmarks": rows}))


main()
