#!/usr/bin/env python3
"""Every robot file of four public packages: does it import, with the dynamics it states?

    tools/accept_robots.py                 # install what is missing, import all, compare, report
    tools/accept_robots.py --write         # the manifest anew, from what is installed
    tools/accept_robots.py --only panda    # files whose path has this in it
    tools/accept_robots.py --only-stand --resume --limit 300   # the five seconds alone, those not yet done

The files are those of tools/robots.json, with their hashes: URDF, SDF and MJCF that has a body. A
file that MuJoCo itself refuses, or that states no link, is no robot: it is in the manifest with that
reason and does not count. Mass matrix and bias are compared with MuJoCo (MJCF) or with a sum over the
links of the file (URDF), at a random state. Every robot then stands for 5 s in its default pose, its base fixed,
each joint held by a motor, and must not creep; what came of it is written to build/robots-stands.jsonl as it
comes, a line a robot, so that a run that was cut off goes on with --resume. Fails below 95 % in all or 90 % of
a package.
"""
import argparse
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "tools/robots.json"
VENV = ROOT / "build/robots-venv"
SALTUS = Path(os.environ.get("SALTUS_BIN", ROOT / "build/release/bin/saltus"))
STANDS = ROOT / "build/robots-stands.jsonl"
PACKAGES = {"dm_control": "1.0.50", "example-robot-data": "6.0.0", "robosuite": "1.5.2",
            "gymnasium": "1.4.0"}
NEEDED = ["mujoco==4.0.0", "numpy==2.4.6"]
TOLERANCE = 1e-9
WALL = 20  # times the limit of the processor's time
CREEP = 1e-6  # [m] that a body may move in the fifth second


def install():
    """A virtual environment of its own with the files, MuJoCo and NumPy."""
    python = VENV / "bin/python"
    wanted = "\n".join(f"{p}=={v}" for p, v in PACKAGES.items())
    stamp = VENV / "robots.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", *wanted.split()], check=True)
    subprocess.run([*pip, *NEEDED], check=True)
    stamp.write_text(wanted)
    return python


def site():
    return next((VENV / "lib").glob("python*/site-packages"))


def folders():
    """The folder of each package's files, which --package-path names."""
    return {"dm_control": site() / "dm_control", "robosuite": site() / "robosuite",
            "gymnasium": site() / "gymnasium",
            "example-robot-data": site() / "cmeel.prefix/share/example-robot-data"}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def why_no_robot(path):
    """Empty for a robot."""
    import mujoco

    try:
        root = ET.parse(path).getroot()
    except ET.ParseError as e:
        return f"no XML: {e}"
    if root.tag in ("robot", "sdf"):
        return "" if root.find(".//link") is not None else "no link"
    if root.tag != "mujoco":
        return f"<{root.tag}>"
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as e:
        return "MuJoCo: " + " ".join(str(e).split())
    return "" if model.nbody > 1 else "no body"


def write_manifest():
    files = {}
    for package, folder in folders().items():
        for path in sorted(p for end in ("urdf", "sdf", "xml") for p in folder.rglob(f"*.{end}")):
            why = why_no_robot(path)
            if path.suffix == ".xml" and why.startswith(("<", "no XML")):
                continue
            entry = {"sha256": digest(path)}
            if why:
                entry["no robot"] = why.replace(str(folder), "").replace(str(ROOT), "")
            files[f"{package}:{path.relative_to(folder)}"] = entry
    MANIFEST.write_text(json.dumps({"packages": PACKAGES, "files": files}, indent=1) + "\n")


# --- figures to compare with ---------------------------------------------------------------------


def of_mujoco(path, q, v):
    import mujoco
    import numpy as np

    model = mujoco.MjModel.from_xml_path(str(path))
    if model.nq != len(q):
        raise ValueError(f"MuJoCo has {model.nq} coordinates, Saltus {len(q)}")
    # What is no part of M and the bias: compensation of gravity and fluids are forces of their own.
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return M, data.qfrc_bias.copy()


def vector(element, key, usual="0 0 0"):
    import numpy as np

    text = usual if element is None else element.get(key, usual)
    return np.array([float(x) for x in text.split()])


def turn(axis, angle):
    import numpy as np

    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def frame(element):
    import numpy as np

    x, y, z = np.eye(3)
    roll, pitch, yaw = vector(element, "rpy")
    return turn(z, yaw) @ turn(y, pitch) @ turn(x, roll), vector(element, "xyz")


def sum_over_links(path, report, q, v):
    """M = sum m Jv'Jv + Jw'J Jw and bias = sum Jv'm (a - g) + Jw'(J alpha + w x J w), link by link
    from the file on a fixed base. Inertias that the report names as changed are the report's."""
    import numpy as np

    robot = ET.parse(path).getroot()
    ours = {b["name"]: b for b in report["bodies"]}
    index = {j["body"]: (j["q0"], j["v0"], j["nv"]) for j in report["dynamics"]["joints"]}
    changed = {n["line"] for n in report["changed"]} | {n["line"] for n in report["assumed"]
                                                       if "triangle" in n["message"]}
    lines = inertia_lines(path)
    above = {j.find("child").get("link"): j for j in robot.findall("joint")}
    n = len(report["dynamics"]["v"])
    gravity = np.array([0, 0, -9.81])
    seen = {}

    def motion(link):  # R, r, w, velocity, alpha, acceleration, Jw, Jr
        if link in seen:
            return seen[link]
        if link not in above:
            zero = np.zeros(3)
            seen[link] = (np.eye(3), zero, zero, zero, zero, zero, np.zeros((3, n)),
                          np.zeros((3, n)))
            return seen[link]
        j = above[link]
        R, r, w, u, alpha, a, Jw, Jr = motion(j.find("parent").get("link"))
        turned, moved = frame(j.find("origin"))
        d = R @ moved
        r, u, a = r + d, u + np.cross(w, d), a + np.cross(alpha, d) + np.cross(w, np.cross(w, d))
        Jr = Jr + np.cross(Jw.T, d).T
        R, kind = R @ turned, j.get("type")
        if kind in ("revolute", "continuous", "prismatic"):
            q0, v0, _ = index[link]
            axis = vector(j.find("axis"), "xyz", "1 0 0")
            axis = axis / np.linalg.norm(axis)
            world = R @ axis
            if kind == "prismatic":
                s = world * q[q0]
                r, Jr = r + s, Jr + np.cross(Jw.T, s).T
                a = a + np.cross(alpha, s) + np.cross(w, np.cross(w, s)) + 2 * np.cross(
                    w, world * v[v0])
                u = u + np.cross(w, s) + world * v[v0]
                Jr[:, v0] += world
            else:
                R = R @ turn(axis, q[q0])
                alpha = alpha + np.cross(w, world * v[v0])
                w = w + world * v[v0]
                Jw = Jw.copy()
                Jw[:, v0] += world
        elif kind != "fixed":
            raise ValueError(f"a joint of type {kind}")
        seen[link] = (R, r, w, u, alpha, a, Jw, Jr)
        return seen[link]

    M, bias = np.zeros((n, n)), np.zeros(n)
    sys.setrecursionlimit(100000)
    for link in robot.findall("link"):
        name = link.get("name")
        inertial = link.find("inertial")
        if name not in ours:
            continue
        R, r, w, _, alpha, a, Jw, Jr = motion(name)
        if inertial is None or lines.get(name, set()) & changed:
            m, c = ours[name]["mass"], np.array(ours[name]["com"])
            xx, yy, zz, xy, xz, yz = ours[name]["inertia"]
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            turned, c = frame(inertial.find("origin"))
            get = inertial.find("inertia").get
            J = np.array([[float(get("i" + "".join(sorted(p + s)), 0)) for p in "xyz"]
                          for s in "xyz"])
            J, m = turned @ J @ turned.T, float(inertial.find("mass").get("value"))
        J, d = R @ J @ R.T, R @ c
        Jv = Jr + np.cross(Jw.T, d).T
        centre = a + np.cross(alpha, d) + np.cross(w, np.cross(w, d))
        M += m * Jv.T @ Jv + Jw.T @ J @ Jw
        bias += Jv.T @ (m * (centre - gravity)) + Jw.T @ (J @ alpha + np.cross(w, J @ w))
    return M, bias


def inertia_lines(path):
    """Of each link: the lines its element and its <inertia> start in."""
    from xml.parsers import expat

    lines, now = {}, [None]
    parser = expat.ParserCreate()

    def start(tag, attributes):
        if tag == "link" and "name" in attributes:
            now[0] = attributes["name"]
            lines.setdefault(now[0], set()).add(parser.CurrentLineNumber)
        elif tag == "inertia" and now[0]:
            lines[now[0]].add(parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.Parse(path.read_bytes(), True)
    return lines


# --- one file ------------------------------------------------------------------------------------


def saltus(*args):
    return subprocess.run([str(SALTUS), *map(str, args)], capture_output=True, text=True)


def random_state(start, joints):
    import numpy as np

    r = np.random.default_rng(7)
    q, v = np.array(start["q"]), np.array(start["v"])
    for j in joints:
        if j["nq"] == j["nv"]:
            q[j["q0"]:j["q0"] + j["nq"]] += r.uniform(-0.3, 0.3, j["nq"])
        else:
            p = r.normal(size=4)
            at = j["q0"] + j["nq"] - 4
            q[at:at + 4] = p / np.linalg.norm(p)
    v[:] = r.uniform(-1, 1, len(v))
    return q, v


def stand_scene(path, folder, report, end=5):
    """The robot on a fixed base in its default pose, a joint whose limits leave that out at the nearer of them; a motor a
    joint. Their inertias R are the sums of the rows of M there, without signs, so that R >= M: with kd = 2 R w and
    kp = R w^2 + d w/2, d the joint's own damping, no motion oscillates, and the slowest dies by w/2, w that of 5 Hz."""
    d, omega = report["dynamics"], 2 * math.pi * 5
    joint_of = {b["name"]: b["joint"] for b in report["bodies"]}
    q, initial, single = list(d["q"]), {}, [j for j in d["joints"] if j["nq"] == 1 and j["nv"] == 1]
    for j in single:
        joint = joint_of[j["body"]]
        lower, upper = joint.get("limits") or (None, None)
        at = q[j["q0"]]
        at = at if lower is None else max(at, lower)
        at = at if upper is None else min(at, upper)
        if at != q[j["q0"]]:
            q[j["q0"]] = initial[joint["name"]] = at
    if initial:
        d = json.loads(saltus("import", path, "--json", "--base", "fixed", "--package-path", folder,
                              "--q=" + ",".join(f"{x:.17g}" for x in q)).stdout)["dynamics"]
    motors = []
    for j in single:
        inertia = max(sum(abs(x) for x in d["M"][j["v0"]]), 1e-9)
        joint = joint_of[j["body"]]
        motors.append({"joints": [joint["name"]], "kp": inertia * omega**2 + joint.get("damping", 0) * omega / 2,
                       "kd": 2 * inertia * omega, "reference": q[j["q0"]]})
    bodies = [b["name"] for b in report["bodies"]][-8:]
    return {"saltus": 1, "robots": [{"file": str(path.resolve()), "base": "fixed", "package_paths": [str(folder)]}],
            "motors": motors, "initial": initial, "time": {"step": 1e-3, "end": end}, "allow_unconverged": False,
            "probes": [{"name": f"p{i}", "body": b} for i, b in enumerate(bodies)],
            "metrics": [{"name": f"m{i}", "type": "travel", "probe": f"p{i}", "from": end - 1, "to": end}
                        for i in range(len(bodies))]}


def stand(path, folder, limit):
    """What came of five seconds: "wrong" is empty where it stands; "nv", "moved" in the fifth second [m], "cpu" [s]."""
    imported = saltus("import", path, "--json", "--dynamics", "--base", "fixed", "--package-path", folder)
    if imported.returncode:
        return {"wrong": imported.stderr.strip()}
    report = json.loads(imported.stdout)
    result = {"wrong": "", "nv": len(report["dynamics"]["v"])}
    if not result["nv"]:
        return result  # nothing that could fall
    with tempfile.TemporaryDirectory() as at:
        file = Path(at) / "stand.yaml"
        file.write_text(json.dumps(stand_scene(path, folder, report)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            done = subprocess.run([str(SALTUS), "run", str(file), "--json", "-o", str(Path(at) / "run.h5")],
                                  capture_output=True, text=True, timeout=WALL * limit, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit))))
        except subprocess.TimeoutExpired:
            done = None
            result["wrong"] = f"takes more than {WALL * limit:g} s of wall time"
        result["cpu"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 2)
    if done and done.returncode == -signal.SIGKILL:
        result["wrong"] = f"takes more than {limit:g} s of the processor"
    elif done and done.returncode:
        result["wrong"] = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
    elif done:
        moved = [x for x in json.loads(done.stdout)["metrics"].values() if x is not None]
        result["moved"] = max(moved, default=0)
        if result["moved"] > CREEP:
            result["wrong"] = f"creeps by {result['moved']:.1e} m in a second"
    return result


class Stands:
    """What came of each robot, by its path and hash, in a file that grows line by line."""

    def __init__(self, resume, retry):
        self.done = {}
        if (resume or retry) and STANDS.exists():
            for line in STANDS.read_text().splitlines():
                entry = json.loads(line)
                if resume or not entry["wrong"]:
                    self.done[entry["file"], entry["sha256"]] = entry
        STANDS.parent.mkdir(parents=True, exist_ok=True)
        STANDS.write_text("".join(json.dumps(e) + "\n" for e in self.done.values()))

    def of(self, key, sha256, path, folder, limit):
        entry = self.done.get((key, sha256))
        if not entry:
            entry = self.done[key, sha256] = {"file": key, "sha256": sha256, "limit": limit,
                                              **stand(path, folder, limit)}
            with STANDS.open("a") as log:
                log.write(json.dumps(entry) + "\n")
        return entry


def check(path, folder):
    """(imported, reason, seconds, figures)"""
    import numpy as np

    args = ["import", path, "--json", "--package-path", folder]
    urdf = path.suffix == ".urdf"
    if urdf:
        args += ["--base", "fixed"]
    begin = time.monotonic()
    first = saltus(*args, "--dynamics")
    seconds = time.monotonic() - begin
    if first.returncode:
        return False, first.stderr.strip().removeprefix("saltus: "), seconds, {}
    report = json.loads(first.stdout)
    figures = {"mass": report["mass"], "matters": sum(n["matters"] for n in report["unused"]),
               "changed": len(report["changed"])}
    d = report["dynamics"]
    if path.suffix == ".sdf" or not d["v"]:
        return True, "", seconds, figures
    q, v = random_state(d, d["joints"])
    comma = [",".join(f"{x:.17g}" for x in y) for y in (q, v)]
    at = saltus(*args, f"--q={comma[0]}", f"--v={comma[1]}")
    if at.returncode:
        return False, at.stderr.strip(), seconds, figures
    report = json.loads(at.stdout)
    d = report["dynamics"]
    try:
        M, bias = sum_over_links(path, report, q, v) if urdf else of_mujoco(path, q, v)
    except ValueError as e:
        figures["not compared"] = str(e)
        return True, "", seconds, figures
    figures["M"] = float(np.abs(np.array(d["M"]) - M).max() / np.abs(M).max())
    # A bias of 0 has no size: what motion and weight could make of M is one.
    size = max(np.abs(bias).max(), np.abs(M).max() * np.abs(v).max() ** 2)
    figures["bias"] = float(np.abs(np.array(d["bias"]) - bias).max() / size)
    return True, "", seconds, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the manifest")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--no-stand", action="store_true", help="leave out the five seconds")
    parser.add_argument("--only-stand", action="store_true", help="the five seconds alone")
    parser.add_argument("--limit", type=float, default=300, metavar="S",
                        help="processor time of one stand (300); its wall time is 20 times that")
    parser.add_argument("--resume", action="store_true", help="keep what build/robots-stands.jsonl has")
    parser.add_argument("--retry", action="store_true", help="of that what stood; the rest again")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if not a.inside:  # again with the environment's Python, which has MuJoCo
        python = install()
        sys.exit(subprocess.run([python, __file__, "--inside", *sys.argv[1:]]).returncode)
    if a.write:
        write_manifest()
    manifest = json.loads(MANIFEST.read_text())
    at = folders()
    counts, failed, off, fallen, stood, spent = {}, [], [], [], {}, 0.0
    stands = None if a.no_stand else Stands(a.resume, a.retry)
    for key, entry in manifest["files"].items():
        package, relative = key.split(":")
        if a.only not in key:
            continue
        path = at[package] / relative
        if not path.exists() or digest(path) != entry["sha256"]:
            failed.append((key, "not the file of the manifest"))
            counts.setdefault(package, []).append(False)
            continue
        if "no robot" in entry:
            continue
        if not a.only_stand:
            imported, why, seconds, figures = check(path, at[package])
            spent += seconds
            counts.setdefault(package, []).append(imported)
            worst = max(figures.get("M", 0), figures.get("bias", 0))
            if not imported:
                failed.append((key, why))
            elif worst > TOLERANCE or "not compared" in figures:
                off.append((key, figures))
        if stands:
            entry = stands.of(key, entry["sha256"], path, at[package], a.limit)
            stood.setdefault(package, []).append(not entry["wrong"])
            if entry["wrong"]:
                fallen.append((key, entry))
    enough = report_stands(stood, fallen) if stands else True
    if not a.only_stand:
        enough = report_imports(counts, failed, off, spent) and enough
    sys.exit(0 if enough else 1)


def table(counts):
    """Prints parts of wholes; whether they are 90 % of each and 95 % of all."""
    everything = [x for c in counts.values() for x in c]
    for package, c in [*counts.items(), ("all", everything)]:
        print(f"{package:20} {sum(c):3} of {len(c):3}, {100 * sum(c) / max(len(c), 1):.1f} %")
    return all(sum(c) >= 0.9 * len(c) for c in counts.values()) and sum(everything) >= 0.95 * len(everything)


def report_stands(stood, fallen):
    print("do not stand for 5 s:")
    for key, entry in fallen:
        print(f"  {key}: {entry['wrong']} ({entry.get('nv', '?')} degrees of freedom, {entry.get('cpu', 0)} s of the processor)")
    return table(stood)


def report_imports(counts, failed, off, spent):
    print("not imported:")
    for key, why in failed:
        print(f"  {key}: {why}")
    print(f"imported with other figures (beyond {TOLERANCE}), or not compared:")
    for key, figures in off:
        print(f"  {key}: {figures}")
    print(f"{spent:.1f} s")
    return table(counts)


if __name__ == "__main__":
    main()
